"""Cross-validated selection paths: the set of each size in each fold, and its held-out score."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treeselect.algorithms.method import Method, final_model, steps_of
from treeselect.algorithms.task import Step, Task, empty_step, step_of_size, step_within
from treeselect.brief import brief
from treeselect.designs.families import Family
from treeselect.designs.problem import Problem
from treeselect.designs.response import Response
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least, falling
from treeselect.engine.survival.times import EVENT
from treeselect.engine.tree.used_groups import can_split
from treeselect.errors import OptionError, quoted
from treeselect.models.model import TreeModel
from treeselect.resampling.folds import Folds, Split, mean_repeats, split_rows
from treeselect.running.parallel import ALONE, Workers, run_all


class Spared(NamedTuple):
    """Numbers of rows: those on which sets were searched, and those held out to score them."""

    n_searched: int
    n_held_out: int


@dataclass(frozen=True, slots=True)
class ScoreBySize:
    """Cross-validated scores by number of units."""

    # (n_folds, max_size + 1); held-out score of each fold's refitted model with s units, or with
    # its last set if its path ends earlier; missing in all folds if fewer than half of the paths
    # reach s. With all units, the score of `full` if the method can predict from any set. Below the
    # number of units forced in, and if nothing is selected, the score of the constant model.
    scores: FloatArray
    full: FloatArray | None = None  # (n_folds,); score of the model with all units, if there is one
    repeats: float = 1.0  # how often a row is held out, on average; folds are those of all repeats
    # If a single path was scored on rows that its search spared, the numbers of rows; its scores
    # are those of parts of the held-out rows
    spared: Spared | None = None
    # Whether the folds are random halves of the rows, each searched, and scored on the other; then
    # tests on all rows chose the number of units, not these scores
    of_halves: bool = False

    __repr__ = brief

    def words(self, folds: Folds) -> str:
        """How sets were scored, such as ``"5-fold cross-validation"``."""
        if self.of_halves:
            return f"{len(self.scores):,} half-samples, each scored on other rows"
        if self.spared is None:
            return folds.words(len(self.scores))
        return f"{self.spared.n_held_out:,} held-out rows in {len(self.scores)} parts"

    @property
    def chooser(self) -> str:
        """What chose the number of units, such as ``"the same folds"``."""
        if self.of_halves:
            return "tests on all rows"
        return "the same folds" if self.spared is None else "the same held-out rows"

    @property
    def kind(self) -> str:
        """On which rows the sets were scored, such as ``"cross-validated"``."""
        if self.of_halves:
            return "on held-out halves"
        return "cross-validated" if self.spared is None else "on held-out rows"

    @property
    def sizes(self) -> list[int]:
        """Sizes with a score."""
        found: list[int] = np.flatnonzero(np.isfinite(self.scores).all(axis=0)).tolist()
        return found

    @property
    def full_mean(self) -> float:
        """Mean score of the model with all units; NaN if there is none."""
        return float("nan") if self.full is None else float(self.full.mean())

    @property
    def mean(self) -> FloatArray:
        """Mean over the folds, shape (max_size + 1,)."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean, shape (max_size + 1,): see :func:`standard_error`."""
        return np.asarray(standard_error(self.scores, self.repeats))


def standard_error(scores: FloatArray, repeats: float) -> Any:
    """Standard error of the mean of scores of shape (n_folds, ...): their standard deviation over
    the folds of all repeats, divided by the square root of the number of folds in one repeat, as
    repeats split the same rows again and are not independent. Folds share training rows and are not
    independent either: no unbiased estimate of the variance exists (Bengio and Grandvalet 2004),
    and this one is an approximation."""
    return scores.std(axis=0, ddof=1) / np.sqrt(len(scores) / repeats)


@dataclass(frozen=True, slots=True)
class FoldPath:
    """Sets selected on the training rows of a fold, and their scores on the held-out rows."""

    # (n_sizes,); scores of the refitted set of each size (see ``step_of_size``); below the number
    # of units forced in, and if nothing is selected, the score of the constant model
    scores: FloatArray
    units: tuple[IntArray, ...]  # n_sizes; these sets, most important units first
    seconds: FloatArray  # (n_sizes,); wall-clock time of the whole path and of the refitted model
    warnings: tuple[str, ...]  # warnings about how the sets were found
    longest: int = 0  # number of units of the last set on the path
    full: float = float("nan")  # score of the model with all units; NaN if not wanted


def score_by_size(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    *,
    folds: Folds,
    max_size: int,
    seed: int,
    workers: Workers = ALONE,
    progress: bool | None = None,
) -> ScoreBySize:
    """Cross-validate the path: selection and refit are repeated inside each fold."""
    splits = split_rows(problem, weights, folds, seed)
    sizes = range(max_size + 1)
    calls = [
        (problem, method, weights, split, sizes, stream_seed(seed, "fold", number), False, True)
        for number, split in enumerate(splits)
    ]
    found = run_all(follow_fold, calls, workers, "Cross-validation", progress)
    ends, full = [fold.longest for fold in found], np.array([fold.full for fold in found])
    scores = np.array([fold.scores for fold in found])
    return ScoreBySize(
        known_scores(scores, ends, full, all_units(problem, weights), method),
        full,
        mean_repeats(splits),
    )


def known_scores(
    scores: FloatArray, ends: Sequence[int], full: FloatArray, units: BoolArray, method: Method
) -> FloatArray:
    """The scores of sizes that at least half of the paths reach, and of `units`, which are all."""
    known = scores.copy()
    known[:, sorted(ends)[len(ends) // 2] + 1 :] = np.nan
    n_units = int(units.sum())
    if method.predicts_any_set and n_units < known.shape[1]:
        known[:, n_units] = full
    return known


def all_units(problem: Problem, weights: RowWeights) -> BoolArray:
    """Units that can be selected, shape (n_groups,): that are not constant, or are forced in."""
    return can_split(problem.data, weights.values) | problem.groups.keep


SCORED_TREES = 50
"""Trees of a final forest that is only scored: on long data, and on half-samples."""


def score_steps(
    task: Task,
    method: Method,
    steps: Sequence[Step],
    weights: RowWeights,
    splits: Sequence[Split],
    *,
    workers: Workers = ALONE,
    progress: bool | None = None,
) -> ScoreBySize:
    """Score the steps of a path on rows that it did not use, in parts that share training rows."""
    problem = dataclasses.replace(task.problem, wants_scores=False)
    task = dataclasses.replace(
        task, problem=problem, wants_importance=False, n_final_trees=SCORED_TREES
    )
    of_size = _by_size(task, method, steps, range(task.max_size + 1))
    distinct = {step.size: step for step in of_size}
    calls = [(task, method, step, weights, tuple(splits)) for step in (*distinct.values(), None)]
    *found, last = run_all(_score_step, calls, workers, "Scores by size", progress)
    scores, full = dict(zip(distinct, found, strict=True)), np.array(last)
    by_size = np.array([scores[step.size] for step in of_size]).T
    others = np.concatenate([split.test for split in splits])
    return ScoreBySize(
        known_scores(by_size, [steps[-1].size], full, all_units(problem, weights), method),
        full,
        spared=Spared(*(int(weights.copies[rows].sum()) for rows in (splits[0].train, others))),
    )


def _score_step(
    task: Task,
    method: Method,
    step: Step | None,
    weights: RowWeights,
    splits: tuple[Split, ...],
    *,
    n_threads: int = 1,
) -> list[float]:
    """Score of the final model of a step, or with all units, on each part of the held-out rows."""
    task = dataclasses.replace(task, n_threads=n_threads)
    model = full_model(method, task) if step is None else final_model(method, task, step)
    return [
        held_out_score(task.problem, model, task.weights, split.weights(weights)[1], n_threads)
        for split in splits
    ]


def follow_fold(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    split: Split,
    sizes: Sequence[int] | None,
    seed: int,
    ranked: bool = True,
    with_full: bool = False,
    *,
    n_threads: int = 1,
) -> FoldPath:
    """Compute the selection path of the training rows, and score its sets of these sizes, or the
    single one of a tuning parameter (None), on the held-out rows; units are `ranked` or rise."""
    train, test = split.weights(weights)
    problem = dataclasses.replace(problem, wants_scores=False)
    most = problem.data.n_groups if sizes is None else max(sizes)
    task = Task(
        problem, train, max_size=most, seed=seed, n_threads=n_threads, wants_importance=ranked
    )
    start = time.perf_counter()
    steps = steps_of(method, task)
    seconds = time.perf_counter() - start
    return score_path(task, method, steps, sizes, test, with_full=with_full, seconds=seconds)


def score_path(
    task: Task,
    method: Method,
    steps: Sequence[Step],
    sizes: Sequence[int] | None,
    test: RowWeights,
    *,
    with_full: bool,
    seconds: float = 0.0,
) -> FoldPath:
    """Score the sets of a path, which took some seconds, on held-out rows: see `follow_fold`."""

    def score(model: TreeModel) -> float:
        return held_out_score(task.problem, model, task.weights, test, task.n_threads)

    chosen = [steps[-1]] if sizes is None else _by_size(task, method, steps, sizes)
    known: dict[int, tuple[float, IntArray, float]] = {}
    for step in chosen:
        if step.size not in known:
            start = time.perf_counter()
            model = final_model(method, task, step)
            taken = seconds + time.perf_counter() - start
            units = np.flatnonzero(step.selected)
            if task.wants_importance:
                units = units[falling(model.importance[units])]
            known[step.size] = score(model), units, taken
    scores, units_by_size, times = zip(*(known[step.size] for step in chosen), strict=True)
    warned = [text for step in chosen for text in (step.warning, step.warned) if text]
    return FoldPath(
        scores=np.array(scores),
        units=units_by_size,
        seconds=np.array(times),
        warnings=tuple(dict.fromkeys(warned)),
        longest=steps[-1].size,
        full=score(full_model(method, task)) if with_full else float("nan"),
    )


def full_model(method: Method, task: Task) -> TreeModel:
    """The final model with all units; of methods that can't predict from any set, a forest."""
    n = task.problem.data.n_groups
    step = Step(np.nan, np.ones(n, dtype=np.bool_), np.zeros(n), np.nan)
    return final_model(method, task, step, usual=not method.predicts_any_set)


def _by_size(task: Task, method: Method, steps: Sequence[Step], sizes: Sequence[int]) -> list[Step]:
    """The step of each size (see ``step_of_size``) or, if larger steps are not to be cut, the last
    one of no more units; the empty step for size 0 and below the number of units forced in."""
    keep = task.problem.groups.keep
    least = max(1, int(keep.sum()))
    return [
        empty_step(len(keep))
        if size < least
        else (step_of_size(steps, size, keep) if method.predicts_any_set
              else step_within(steps, size))
        for size in sizes
    ]  # fmt: skip


def held_out_score(
    problem: Problem, model: TreeModel, train: RowWeights, test: RowWeights, n_threads: int = 1
) -> float:
    """Score of a model on the rows in `test`; an OptionError if it is not defined for them."""
    if not problem.can_be_cut or problem.family.score_after is not None:
        return score_predictions(problem, model.predict(problem, n_threads), train, test)
    rows = test.rows
    part = problem.only(rows)
    return score_predictions(part, model.predict(part, n_threads), train.of(rows), test.of(rows))


def score_predictions(
    problem: Problem, prediction: FloatArray, train: RowWeights, test: RowWeights
) -> float:
    """The same for given predictions of all rows."""
    family, training = problem.family, train.values * problem.in_training
    score = family.held_out_score(problem.y, prediction, test.values, training)
    if not np.isfinite(score):
        raise OptionError(
            "`scoring` must be a score that is defined for the held-out rows of every fold.\n"
            f"  Found: {quoted(family.score_name)} is {score:g} for {len(test.rows)} of them. Give"
            " another score, or fewer folds."
        )
    return score


def known_score(
    family: Family,
    y: FloatArray,
    predicted: FloatArray,
    held_out: WeightArray,
    training: WeightArray,
) -> float:
    """Score of held-out rows; NaN where it is not defined, such as of one class."""
    with np.errstate(all="ignore"), contextlib.suppress(OptionError):
        return float(family.held_out_score(y, predicted, held_out, training))
    return float("nan")


# --- A 95% interval of a cross-validated score, from its held-out rows and its folds -------------

N_DRAWS = 200
"""Bootstrap samples of the held-out rows of a fold."""


def sampling_error(
    problem: Problem, predicted: FloatArray, train: RowWeights, test: RowWeights, seed: int
) -> float:
    """Standard error of the score of given predictions: half of the range of the central 68.3% of
    the scores of bootstrap samples of the held-out rows."""
    family, y, found = problem.family, problem.y, []
    rng, rows = np.random.default_rng(seed), train.rows[problem.in_training[train.rows]]
    for _ in range(N_DRAWS):
        drawn, weight = _drawn(test, rng)
        every, none = np.concatenate([rows, drawn]), np.zeros_like(weight, shape=len(rows))
        held_out = np.concatenate([none, weight])
        training = np.concatenate([train.values[rows], np.zeros_like(weight)])
        found.append(known_score(family, y[every], predicted[every], held_out, training))
    low, high = percentiles(found, (0.1587, 0.8413))
    return (high - low) / 2


def percentiles(scores: Sequence[float], ends: tuple[float, float]) -> tuple[float, float]:
    """Two quantiles of the scores of bootstrap samples; NaN if fewer than half have a score."""
    known = np.array(scores)[np.isfinite(scores)]
    if 2 * len(known) < len(scores):
        return float("nan"), float("nan")
    low, high = np.quantile(known, ends)
    return float(low), float(high)


def _drawn(weights: RowWeights, rng: np.random.Generator) -> tuple[IntArray, WeightArray]:
    """Rows of a bootstrap sample, repeated as they are drawn, and their weights."""
    rows, blocks = weights.rows, weights.blocks
    if blocks is None and weights.are_copies and not weights.are_constant:
        share = weights.values[rows] / weights.values.sum()
        copies = rng.multinomial(weights.n_observations, share)
        return rows[copies > 0], copies[copies > 0]
    _, unit = np.unique(rows if blocks is None else blocks[rows], return_inverse=True)
    n_units = int(unit.max()) + 1
    drawn = np.repeat(rows, rng.multinomial(n_units, np.full(n_units, 1 / n_units))[unit])
    return drawn, weights.values[drawn]


def n_cases(response: Response, weights: RowWeights) -> float:
    """Rows that tell most about a score: rows of numbers and counts, of all classes but the
    largest, or events; at most as many as clusters."""
    rows = weights.rows
    copies = weights.values[rows] if weights.are_copies else np.ones(len(rows))
    y, family = response.y[rows], response.family
    if family.has_times:
        found = copies[y[:, EVENT] > 0].sum()
    elif family.has_classes:
        found = copies.sum() - np.bincount(y.astype(np.int64), copies).max()
    else:
        found = copies.sum()
    return float(found if weights.blocks is None else min(found, weights.n_units))


def score_interval(
    scores: FloatArray,
    errors: FloatArray,
    n_cases: float,
    repeats: float,
    bounds: tuple[float, float],
) -> tuple[float, float]:
    """A 95% interval of the mean of scores over folds, by the larger of the variance between folds
    and the mean squared error of a fold's score (LeDell et al. 2015). Quantiles are those of t with
    one degree of freedom for ten cases, at least 4, for what overlapping training rows share (Bates
    et al. 2024). It is symmetric on the logit scale between finite bounds of the score."""
    from scipy.special import expit, logit
    from scipy.stats import t

    nothing = float("nan"), float("nan")
    known = errors[np.isfinite(errors)]
    if len(known) == 0 or len(scores) < 2:
        return nothing
    mean, within = float(scores.mean()), float((known**2).mean())
    spread = max(float(scores.var(ddof=1)), within)
    error = np.sqrt(spread / len(scores) * max(repeats, 1.0))
    if not error > 0:
        return nothing
    half = float(t.ppf(0.975, max(4.0, n_cases / 10.0)) * error)
    least, most = bounds
    if not least < mean < most:
        return max(mean - half, least), min(mean + half, most)
    with np.errstate(over="ignore"):  # next to its bound a score's interval has no other end
        if np.isfinite(least) and np.isfinite(most):
            share = (mean - least) / (most - least)
            step = np.array([-1, 1]) * half / (most - least) / share / (1 - share)
            low, high = least + (most - least) * expit(logit(share) + step)
        elif np.isfinite(most):
            low, high = most - (most - mean) * np.exp(np.array([1, -1]) * half / (most - mean))
        elif np.isfinite(least):
            low, high = least + (mean - least) * np.exp(np.array([-1, 1]) * half / (mean - least))
        else:
            low, high = mean - half, mean + half
    return float(low), float(high)


# --- paired comparison of models: differences of scores in the same folds ------------------------

_ROUNDING = 1e-12
"""Standard error, relative to the mean, that is due to the rounding of equal differences."""


class PairedDifference(NamedTuple):
    """A mean difference over folds with its interval."""

    mean: float  # the mean, and a 95% interval; NaN if the p-value is NaN
    low: float
    high: float
    # P-value of no difference; 1 if all differences are 0. NaN with fewer than two folds, and if
    # the differences are equal but not 0, as their variance can't be estimated then.
    p_value: float


def differences(scores: FloatArray, others: FloatArray) -> FloatArray:
    """Scores minus other scores of the same folds; 0 if they differ by rounding only."""
    same = at_least(scores, others) & at_least(others, scores)
    return np.where(same, 0.0, scores - others)


def test_share(n_train: IntArray, n_test: IntArray) -> float:
    """Mean over folds of the ratio of held-out to training rows, ``n_test / n_train``."""
    return float(np.mean(n_test / n_train))


def paired_difference(differences: FloatArray, test_share: float) -> PairedDifference:
    """Corrected resampled t interval and test: the variance of a mean of J differences is estimated
    by ``(1 / J + n_test / n_train) s**2`` (Nadeau and Bengio 2003; Bouckaert and Frank 2004)."""
    from scipy.stats import t

    n, nan = len(differences), float("nan")
    mean = float(differences.mean())
    if n < 2:
        return PairedDifference(mean, nan, nan, nan)
    error = float(np.sqrt((1 / n + test_share) * differences.var(ddof=1)))
    if mean == error == 0:
        return PairedDifference(0.0, 0.0, 0.0, 1.0)
    if error <= _ROUNDING * abs(mean):
        return PairedDifference(mean, nan, nan, nan)
    half = float(t.ppf(0.975, n - 1)) * error
    p_value = float(2 * t.sf(abs(mean) / error, n - 1))
    return PairedDifference(mean, mean - half, mean + half, p_value)
