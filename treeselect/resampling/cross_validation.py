"""Cross-validated selection paths: the set of each size in each fold, and its held-out score."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treeselect.algorithms.method import Method, steps_of
from treeselect.algorithms.task import Step, Task, empty_step, full_step, step_of_size, step_within
from treeselect.brief import brief
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import OptionError, quoted
from treeselect.models.model import Model
from treeselect.resampling.folds import Folds, Split, mean_repeats
from treeselect.resampling.splitting import split_rows
from treeselect.running.parallel import ALONE, Workers, run_all


class Spared(NamedTuple):
    """Numbers of rows: those on which sets were searched, and those held out to score them."""

    n_searched: int
    n_held_out: int


@dataclass(frozen=True, slots=True)
class ScoreBySize:
    """Cross-validated scores by number of units.

    Attributes
    ----------
    scores : ndarray of float, shape (n_folds, max_size + 1)
        Held-out score of each fold's refitted model with s units, or with its last set if its path
        ends earlier; missing in all folds if fewer than half of the paths reach s. With all units,
        the score of `full` if the method can predict from any set. Below the number of units forced
        in, and if nothing is selected, the score of the constant model.
    full : ndarray of float, shape (n_folds,), or None
        Score of the model with all units, on the same held-out rows; None in files of older
        versions.
    repeats : float
        How often a row is held out, on average; folds are those of all repeats.
    spared : Spared or None
        If a single path was scored on rows that its search spared, the numbers of rows; its scores
        are those of parts of the held-out rows.
    of_halves : bool
        Whether the folds are random halves of the rows, each searched, and scored on the other;
        then tests on all rows chose the number of units, not these scores.
    """

    scores: FloatArray
    full: FloatArray | None = None
    repeats: float = 1.0
    spared: Spared | None = None
    of_halves: bool = False

    __repr__ = brief

    def words(self, folds: Folds) -> str:
        """How sets were scored: ``"5-fold cross-validation"``, ``"38,842 held-out rows in 5
        parts"``, ``"20 half-samples, each scored on other rows"``."""
        if self.of_halves:
            return f"{len(self.scores):,} half-samples, each scored on other rows"
        if self.spared is None:
            return folds.words(len(self.scores))
        return f"{self.spared.n_held_out:,} held-out rows in {len(self.scores)} parts"

    @property
    def chooser(self) -> str:
        """What chose the number of units: ``"the same folds"``, ``"the same parts"`` of the
        held-out rows, ``"tests on all rows"``."""
        if self.of_halves:
            return "tests on all rows"
        return "the same folds" if self.spared is None else "the same parts"

    @property
    def kind(self) -> str:
        """``"cross-validated"``, ``"on held-out rows"`` or ``"on held-out halves"``."""
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
    """Standard error over folds: their standard deviation over the square root of their number.

    Parameters
    ----------
    scores : ndarray of float, shape (n_folds, ...)
        Scores of the folds of all repeats.
    repeats : float
        How often a row is held out. The standard deviation is over the folds of all repeats. The
        number of folds is that of one repeat, as repeats split the same rows again and are not
        independent. Folds share training rows and are not independent either: no unbiased estimate
        of the variance exists (Bengio and Grandvalet 2004), and this one is an approximation.
    """
    return scores.std(axis=0, ddof=1) / np.sqrt(len(scores) / repeats)


@dataclass(frozen=True, slots=True)
class FoldPath:
    """Sets selected on the training rows of a fold, and their scores on the held-out rows.

    Attributes
    ----------
    scores : ndarray of float, shape (n_sizes,)
        Scores of the refitted set of each size. If the path skips the size, the next larger set is
        cut to it; if the path ends earlier, its last set is used. Below the number of units forced
        in, and if nothing is selected, the score of the constant model.
    units : tuple of ndarray of int64, length n_sizes
        These sets, most important units first.
    seconds : ndarray of float, shape (n_sizes,)
        Wall-clock time of the whole path and of the refitted model.
    warnings : tuple of str
        Warnings about how the sets were found.
    longest : int
        Number of units of the last set on the path.
    full : float
        Score of the model with all units; NaN if not wanted.
    """

    scores: FloatArray
    units: tuple[IntArray, ...]
    seconds: FloatArray
    warnings: tuple[str, ...]
    longest: int = 0
    full: float = float("nan")


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
    """Cross-validate the path: selection and refit are repeated inside each fold.

    Raises
    ------
    OptionError
        If the rows can't be split into the folds, or a score is not defined.
    """
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
        known_scores(scores, ends, full, problem, method), full, mean_repeats(splits)
    )


def known_scores(
    scores: FloatArray, ends: Sequence[int], full: FloatArray, problem: Problem, method: Method
) -> FloatArray:
    """The scores of sizes that at least half of the paths reach, and of all units; others are
    missing."""
    known = scores.copy()
    known[:, int(np.median(ends)) + 1 :] = np.nan
    n_units = problem.data.n_groups
    if method.predicts_any_set and n_units < known.shape[1]:
        known[:, n_units] = full
    return known


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
    """Score the steps of a path on rows that it did not use.

    Parameters
    ----------
    task : Task
        That of the path, whose rows the final models are fitted to; forests have 50 trees.
    weights : RowWeights
        Of all rows.
    splits : sequence of Split
        Parts of the held-out rows; all train on the rows of the task.

    Raises
    ------
    OptionError
        If a score is not defined.
    """
    problem = dataclasses.replace(task.problem, wants_scores=False)
    task = dataclasses.replace(
        task, problem=problem, wants_importance=False, n_final_trees=SCORED_TREES
    )
    keep, cut = problem.groups.keep, method.predicts_any_set
    of_size = [scored_step(steps, size, keep, cut) for size in range(task.max_size + 1)]
    own = {step.size: step for step in of_size}
    calls = [(task, method, step, weights, tuple(splits)) for step in (*own.values(), None)]
    *found, last = run_all(_score_step, calls, workers, "Scores by size", progress)
    scores, full = dict(zip(own, found, strict=True)), np.array(last)
    by_size = np.array([scores[step.size] for step in of_size]).T
    return ScoreBySize(
        known_scores(by_size, [steps[-1].size], full, problem, method),
        full,
        spared=Spared(len(splits[0].train), sum(len(split.test) for split in splits)),
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
    """Scores of a step's final model, or of that with all units, one for each part of the held-out
    rows."""
    task = dataclasses.replace(task, n_threads=n_threads)
    model = full_model(method, task) if step is None else method.final_model(task, step)
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
    """Compute the selection path of the training rows and score it on the held-out rows.

    Parameters
    ----------
    sizes : sequence of int or None
        Increasing; 0 is the constant model, also without the units forced in. None is the single
        size that the method's tuning parameter yields.
    ranked : bool
        Whether the units of each set are wanted in order of importance; otherwise they rise.
    with_full : bool
        Whether the model with all units is scored as well.

    Raises
    ------
    OptionError
        If a score is not defined for the held-out rows.
    """
    train, test = split.weights(weights)
    problem = dataclasses.replace(problem, wants_scores=False)
    most = problem.data.n_groups if sizes is None else max(sizes)
    task = Task(
        problem, train, max_size=most, seed=seed, n_threads=n_threads, wants_importance=ranked
    )
    start = time.perf_counter()
    steps = steps_of(method, task)
    path_seconds = time.perf_counter() - start
    keep, cut = problem.groups.keep, method.predicts_any_set
    chosen = (
        [steps[-1]] if sizes is None else [scored_step(steps, size, keep, cut) for size in sizes]
    )
    known: dict[int, tuple[float, IntArray, float]] = {}
    for step in chosen:
        if step.size not in known:
            start = time.perf_counter()
            model = method.final_model(task, step)
            seconds = path_seconds + time.perf_counter() - start
            units = np.flatnonzero(step.selected)
            if ranked:
                units = units[falling(model.importance[units])]
            known[step.size] = (
                held_out_score(problem, model, train, test, n_threads),
                units,
                seconds,
            )
    found = [known[step.size] for step in chosen]
    warned = [said for step in chosen for said in (step.warning, step.warned) if said]
    full = float("nan")
    if with_full:
        full = held_out_score(problem, full_model(method, task), train, test, n_threads)
    return FoldPath(
        scores=np.array([score for score, _, _ in found]),
        units=tuple(units for _, units, _ in found),
        seconds=np.array([seconds for _, _, seconds in found]),
        warnings=tuple(dict.fromkeys(warned)),
        longest=steps[-1].size,
        full=full,
    )


def full_model(method: Method, task: Task) -> Model:
    """The final model with all units; of methods that can't predict from any set, a forest."""
    step = full_step(task.problem.data.n_groups)
    if method.predicts_any_set:
        return method.final_model(task, step)
    return Method.final_model(method, task, step)


def scored_step(steps: Sequence[Step], size: int, keep: BoolArray, cut: bool) -> Step:
    """The step of a size (see ``step_of_size``) or, if larger steps are not to be cut, the last one
    of no more units; the empty step for size 0 and below the number of units forced in."""
    if size == 0 or size < keep.sum():
        return empty_step(len(keep))
    return step_of_size(steps, size, keep) if cut else step_within(steps, size)


def held_out_score(
    problem: Problem, model: Model, train: RowWeights, test: RowWeights, n_threads: int = 1
) -> float:
    """Score, on the rows in `test`, of a model fitted to the rows in `train`.

    Raises
    ------
    OptionError
        If the score is not defined for these rows.
    """
    if not problem.can_be_cut or problem.family.score_after is not None:
        return score_predictions(problem, model.predict(problem, n_threads), train, test)
    rows = test.rows
    part = problem.only(rows)
    return score_predictions(part, model.predict(part, n_threads), train.of(rows), test.of(rows))


def score_predictions(
    problem: Problem, prediction: FloatArray, train: RowWeights, test: RowWeights
) -> float:
    """The same for given predictions of all rows."""
    family = problem.family
    score = family.held_out_score(problem.y, prediction, test.values, train.values)
    if not np.isfinite(score):
        raise OptionError(
            "`scoring` must be a score that is defined for the held-out rows of every fold.\n"
            f"  Found: {quoted(family.score_name)} is {score:g} for {len(test.rows)} of them. Give"
            " another score, or fewer folds."
        )
    return score
