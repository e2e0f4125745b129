"""The number of units: by scores, the one-standard-error rule, or tests that count the search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy

from treeselect.algorithms.method import Method, final_model, steps_along, steps_of
from treeselect.algorithms.search.exchange import sure_rows, usual_trees
from treeselect.algorithms.search.judging import Judge, rows_to_judge
from treeselect.algorithms.task import Step, Task, ranked_step, step_of_size, step_within
from treeselect.arguments.checks import AUTO
from treeselect.designs.problem import FeatureGroups, Problem
from treeselect.designs.row_sample import labels_of
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.linear.additive import fit_additive, score_test
from treeselect.engine.linear.additive_search import exchanged
from treeselect.engine.losses import SquaredLoss
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least, first_largest
from treeselect.engine.survival.times import STRATUM
from treeselect.engine.threads import one_thread
from treeselect.engine.tree.used_groups import can_split
from treeselect.models.model import TreeModel
from treeselect.resampling.cross_validation import (
    ScoreBySize,
    all_units,
    full_model,
    score_by_size,
    score_steps,
    standard_error,
)
from treeselect.resampling.folds import Folds, Split, assign_folds
from treeselect.running.machine import give_memory_back, memory_errors
from treeselect.running.parallel import ALONE, Workers


@dataclass(frozen=True, slots=True)
class Choice:
    """How the number of units is chosen."""

    k: int | str | None = None  # None leaves the number to the method's tuning parameter
    # Folds of the cross-validation behind ``"1se"`` and ``"best"``
    folds: Folds = field(default_factory=Folds)


class Procedure(NamedTuple):
    """A selection as it can be repeated: on other rows, with another seed."""

    problem: Problem
    method: Method
    weights: RowWeights  # 0 in rows that have no part in it
    choice: Choice

    def on(self, rows: IntArray) -> Procedure:
        """The same on some rows alone."""
        return self._replace(weights=self.weights.only(rows))


# --- rows that a search spares: on long data, they score its sets ------------------------------

# A method that judges sets on a sample of the rows leaves the others untouched. They are held-out
# rows of the very path that is reported, so the path need not be repeated in folds.

LONG = 2
"""Data are long if they have more than so many times the rows that the search uses."""

_LEAST_RARE = 500
"""Rows of the rarest class that a sample must have, on average."""

_MOST_HELD_OUT = 100_000
"""Rows that score sets, at most: their number bounds the precision of the scores, not of the
models."""


def spared_rows(asked: Procedure, seed: int) -> tuple[Split, ...] | None:
    """The rows that a search on a sample leaves, in as many parts as there are folds; None where
    sets are to be scored by cross-validation."""
    problem, method, weights, folds = *asked[:3], asked.choice.folds
    most, rows = method.searches_on, weights.rows
    if most is None or len(rows) <= LONG * most or not isinstance(folds.folds, int):
        return None
    alone = weights.groups is None and not problem.family.has_times and problem.can_be_cut
    if folds.repeats > 1 or not alone:
        return None
    n_parts = math.ceil(len(rows) / most)
    labels = labels_of(problem, rows)
    if labels is not None and np.unique(labels, return_counts=True)[1].min() < (
        _LEAST_RARE * n_parts
    ):
        return None
    part = assign_folds(problem, weights, n_parts, stream_seed(seed, "searched"))
    searched, others = np.flatnonzero(part == 0), np.flatnonzero(part > 0)
    n_pieces = folds.folds * math.ceil(len(others) / _MOST_HELD_OUT)
    piece = assign_folds(problem, weights.only(others), n_pieces, stream_seed(seed, "spared"))
    return tuple(Split(searched, np.flatnonzero(piece == i)) for i in range(folds.folds))


# --- the number of units -----------------------------------------------------------------------

MOST_UNITS = 30
"""Largest size that rules for `k` consider."""


class Chosen(NamedTuple):
    """The path of a selection and its chosen step: see the attributes of ``SelectionResult``."""

    steps: tuple[Step, ...]
    step: Step
    scores: ScoreBySize | None = None
    p_values: FloatArray | None = None


@memory_errors()
@one_thread()
def run_selection(
    asked: Procedure, seed: int, workers: Workers = ALONE, progress: bool | None = None
) -> tuple[Chosen, TreeModel]:
    """The whole selection on the rows with a positive weight: path, choice of k, final model."""
    give_memory_back(asked.problem.data.n_rows)
    found = choose(asked, seed, workers, progress)
    give_memory_back(asked.problem.data.n_rows)  # the final forest needs most
    task = Task(
        asked.problem, asked.weights, max_size=found.step.size, seed=stream_seed(seed, "fit"),
        n_threads=workers.n_threads,
    )  # fmt: skip
    return found, final_model(asked.method, task, found.step)


def choose(
    asked: Procedure, seed: int, workers: Workers = ALONE, progress: bool | None = None
) -> Chosen:
    """Compute the selection path of a method and choose a step."""
    problem, method, weights, choice = asked
    k, by_scores = choice.k, isinstance(choice.k, str)
    groups, most = problem.groups, most_units(problem.groups)
    own, n_threads = stream_seed(seed, "fit"), workers.n_threads
    if k == AUTO:
        task = Task(problem, weights, max_size=most, seed=own, n_threads=n_threads)
        found = choose_sufficient(task, method)
        shown = [step for step in found.steps if step.size < n_shown(found.step.size, groups)]
        return found._replace(steps=tuple(shown))
    scores, spared = None, spared_rows(asked, seed) if by_scores else None
    if by_scores and spared is None:
        scores = score_by_size(
            problem, method, weights, folds=choice.folds, max_size=most,
            seed=stream_seed(seed, "cross-validation"), workers=workers, progress=progress,
        )  # fmt: skip
    task = Task(
        problem,
        weights if spared is None else weights.only(spared[0].train),
        max_size=k if isinstance(k, int) else most,
        seed=own,
        every_size=by_scores,
        n_threads=n_threads,
    )
    steps = steps_of(method, task)
    if spared is not None:
        scores = score_steps(
            task, method, steps, weights, spared, workers=workers, progress=progress
        )
    size, cuts = wanted_size(k, scores, groups.keep), method.predicts_any_set
    every = all_units(problem, weights)
    if by_scores and cuts and size == every.sum() > steps[-1].size:
        importance = full_model(method, task).importance
        steps = (*steps, method.scored_step(task, np.nan, every, importance))
    if size is None:
        step = steps[-1]
    elif by_scores and not cuts:  # the one that was scored
        step = step_within(steps, size)
    else:
        step = step_of_size(steps, size, groups.keep)
    if by_scores:
        # A path that skips the last size has a larger step, which was not scored.
        steps = tuple(step for step in steps if step.size <= most)
    return Chosen(steps, step, scores)


def most_units(groups: FeatureGroups) -> int:
    """The largest size that scores may choose, at least the number of units forced in."""
    return min(len(groups.names), max(MOST_UNITS, int(groups.keep.sum())))


def n_shown(size: int, groups: FeatureGroups) -> int:
    """Number of sizes, from 0, that are shown of a path where tests chose a size."""
    return min(size + 2, most_units(groups)) + 1  # two beyond the one chosen


def wanted_size(k: int | str | None, scores: ScoreBySize | None, keep: BoolArray) -> int | None:
    """The number of units that `k` determines (see `Choice`), whether or not it is on the path;
    None if the method or tests determine it."""
    if not isinstance(k, str):
        return k
    if k == AUTO:
        return None
    assert scores is not None
    rule = best_size if k == "best" else one_standard_error_size
    return rule(scored_sizes(scores, keep), scores)


def scored_sizes(scores: ScoreBySize, keep: BoolArray) -> list[int]:
    """Sizes that scores may choose."""
    return [size for size in scores.sizes if size >= keep.sum()]


def best_size(sizes: Sequence[int], cv: ScoreBySize) -> int:
    """The size with the best mean score, the smallest if several are equal."""
    means = cv.mean[list(sizes)]
    return int(sizes[first_largest(means)])


def one_standard_error_size(sizes: Sequence[int], cv: ScoreBySize) -> int:
    """The smallest size whose mean score is within one standard error of the best (Breiman et al.
    1984, section 3.4.3) and, where paths end early, of that of all units; else the best size."""
    ends_early = cv.full is not None and (
        sizes[-1] - 1 not in sizes or not np.array_equal(cv.scores[:, sizes[-1]], cv.full)
    )
    searched = [size for size in sizes if not ends_early or size - 1 in sizes or size == sizes[0]]
    best = best_size(searched, cv)
    bound = cv.mean[best] - cv.standard_error[best]
    if cv.full is not None and ends_early:
        bound = max(bound, cv.full_mean - standard_error(cv.full, cv.repeats))
    return next((size for size in sizes if at_least(cv.mean[size], bound)), best)


# --- whether any larger set predicts better, by tests that count the search ----------------------

LEVEL = 0.032
"""Level of the test of single effects that a set is sufficient."""

_TIMES = 4
"""Times as small is the level of the test of sets that the search found."""

_WIDER = 1.5
"""Variance of the statistic of Clark and West if nothing is added, at most: it is then degenerate,
and wider than normal."""

_AHEAD = 3
"""Larger sets that a set is tested against, the next ones on the path."""

_NEGLIGIBLE = 0.005
"""Share of what a set explains that is not worth another unit."""

_TRIED = 3
"""Units that are tried for removal, those needed least."""


def choose_sufficient(task: Task, method: Method, to: int = 0) -> Chosen:
    """The first set along a path that none of the next three sizes beats, without units that it can
    do without; p-values are those by size. The path is followed to a size (`to`) at least."""
    path = (step for step in steps_along(method, task) if step.size <= task.max_size)
    tests, keep, steps = Sufficiency(task), task.problem.groups.keep, [next(path)]
    cuts = method.predicts_any_set

    def reaches(size: int) -> bool:
        while steps[-1].size < size and (step := next(path, None)) is not None:
            steps.append(step)
        return steps[-1].size >= size

    p_values, size = np.full(len(keep) + 1, np.nan), steps[0].size
    while True:
        found = step_of_size(steps, size, keep) if cuts else step_within(steps, size)
        reaches(size + _AHEAD)
        larger = [step.selected for step in steps if size < step.size <= size + _AHEAD]
        if found.size == size:
            p_values[size] = tests.p_value(found.selected, larger)
            if p_values[size] > LEVEL or (larger and tests.is_nearly_best(found.selected, larger)):
                break
        if not reaches(size + 1):
            break
        size += 1
    selected, p_value = found.selected, p_values[found.size]
    of_size = {step.size: step.selected for step in steps}
    while p_value > LEVEL and cuts and (less := tests.reduced(selected, keep, of_size)) is not None:
        selected, p_value = less
        p_values[selected.sum()] = p_value
    if selected is not found.selected:
        worth = np.zeros(len(selected))
        worth[selected] = tests.rises_without(selected)
        same = (step for step in steps if np.array_equal(step.selected, selected))
        tuning, score = next(((step.tuning, step.train_score) for step in same), (np.nan, np.nan))
        found = method.step_of_set(task, ranked_step(tuning, selected, worth, score))
    others = [step for step in steps if step.size != found.size]
    along = sorted([*others, found], key=lambda step: step.size)
    while along[-1].size < to and (step := next(path, None)) is not None:
        along.append(step)
    return Chosen(tuple(along), found, None, p_values[: found.size + 1])


class Sufficiency:
    """Tests that no larger set predicts better, for the sets of one task."""

    def __init__(self, task: Task) -> None:
        problem = task.problem
        rows = task.once(rows_to_judge, sure_rows(task))
        own = rows.weights
        n_trees = task.n_judge_trees or usual_trees(len(rows.places))
        self._judge = task.once(Judge, n_trees, "sure", sure_rows(task))
        self._family, self._tells = problem.family, problem.wants_scores
        y, loss = problem.y[rows.places], self._family.loss
        base = problem.constant(task.weight)[rows.places]
        self._ridits: FloatArray | None = None
        if self._family.is_ordered:
            n_classes, mass = self._family.n_classes, own.values.sum()
            share = np.bincount(y.astype(np.int64), own.values, n_classes) / mass
            # The share of the rows below each class, plus half of those in it.
            self._ridits = np.asarray(np.cumsum(share) - share / 2)
            y, loss = self._ridits[y.astype(np.int64)], SquaredLoss()
            base = np.full(len(y), np.average(y, weights=own.values))
        self._loss, self._has_constant = loss.of(y, own.values), loss.has_constant
        self._base = base.reshape(len(rows.places), -1)
        self._able = can_split(rows.data, (own.values > 0).astype(np.int64))
        stratum = problem.y[rows.places, STRATUM] if self._family.has_times else np.zeros(1)
        self._strata = stratum.astype(np.int64) if np.ptp(stratum) > 0 else None
        self._clusters = own.blocks if own.blocks is not None else own.error_groups
        if self._clusters is None and self._family.name == "poisson":
            # Counts may vary more than Poisson ones, and the more, the larger their means: their
            # residuals can't be exchanged between rows, but may have either sign (Wu 1986).
            self._clusters = np.arange(len(y))

    def p_value(self, selected: BoolArray, larger: Sequence[BoolArray]) -> float:
        """P-value of the hypothesis that no larger set predicts better: that of the score test,
        unless this is above the level, and the search found a set that rejects it. On noise it is
        thus nearly uniform. On parts of the rows, where only the decision is of interest, the set
        that was found is looked at first, since the score test takes far longer."""
        p_value = self.of_units(selected) if self._tells else 1.0
        if p_value > LEVEL:
            found = min((self._of_larger(selected, other) for other in larger), default=1.0)
            if found <= LEVEL:
                return found
        return p_value if self._tells else self.of_units(selected)

    def is_nearly_best(self, selected: BoolArray, larger: Sequence[BoolArray]) -> bool:
        """Whether no larger set explains more by a two-hundredth of what this one explains."""
        own, whole = self._judge.error(selected), self._judge.error(np.zeros_like(selected))
        least = min([own, *map(self._judge.error, larger)])
        return own - least <= _NEGLIGIBLE * (whole - own)

    def reduced(
        self, selected: BoolArray, keep: BoolArray, rejected: Mapping[int, BoolArray]
    ) -> tuple[BoolArray, float] | None:
        """The set without one unit that is not needed, with its p-value; None if all are. What is
        left must predict no worse than the set of that size that was `rejected`: where much is
        unexplained, tests find little."""
        units, other = np.flatnonzero(selected), rejected.get(int(selected.sum()) - 1)
        rises = np.where(keep[units], np.inf, self.rises_without(selected))
        best = None
        for unit in units[np.argsort(rises, kind="stable")][:_TRIED].tolist():
            if keep[unit]:
                continue
            rest = exchanged(selected, unit, None)
            if other is not None and self._judge.rise(other, rest)[0] > 0:
                continue
            if self._of_larger(rest, selected) <= LEVEL:
                continue
            p_value = self.p_value(rest, [selected])
            if p_value > LEVEL and (best is None or p_value > best[1]):
                best = rest, p_value
        return best

    def rises_without(self, selected: BoolArray) -> FloatArray:
        """How much worse the judge finds a set without each of its units, shape (n_selected,)."""
        units = np.flatnonzero(selected).tolist()
        return np.array(
            [self._judge.rise(selected, exchanged(selected, g, None))[0] for g in units]
        )

    def of_units(self, selected: BoolArray) -> float:
        """P-value of the score test that no unit adds to a set (``score_test.score_test``); of
        ordered classes that of their ridits (Bross 1958), the scores of proportional odds."""
        inside = np.flatnonzero(selected).tolist()
        others = np.flatnonzero(~selected & self._able).tolist()
        fit = fit_additive(
            self._judge.columns, inside, self._loss, self._base,
            has_constant=self._has_constant, ridges=[1.0],
        )  # fmt: skip
        explained = self._judge.of_trees(selected)
        if self._ridits is not None:
            explained = self._family.shares(explained, 0.0) @ self._ridits[:, np.newaxis]
        return score_test(
            self._judge.columns, inside, fit, self._loss, others, explained=explained,
            strata=self._strata, clusters=self._clusters,
        ).p_value  # fmt: skip

    def _of_larger(self, selected: BoolArray, larger: BoolArray) -> float:
        return self.of_set(selected, larger) * _TIMES

    def of_set(self, selected: BoolArray, larger: BoolArray) -> float:
        """P-value of the test of Clark and West (2007) that a larger set predicts no better out of
        bag, times the number of sets that could have been found (Bonferroni)."""
        smaller = self._judge.residuals(selected)
        gained = smaller - self._judge.residuals(larger)
        mean, error = self._judge.mean((smaller * gained).sum(axis=1))
        z = mean / error if error > 0 else 0.0
        n_more = int(larger.sum() - selected.sum())
        n_others = int((~selected & self._able).sum())
        log_sets = scipy.special.gammaln([n_others + 1, n_more + 1, max(n_others - n_more, 0) + 1])
        log_count = log_sets[0] - log_sets[1] - log_sets[2] + (n_more - 1) * np.log(2)
        log_p = scipy.special.log_ndtr(-z / np.sqrt(_WIDER)) + log_count
        return float(np.exp(min(log_p, 0.0)))


def path_is_short(steps: Sequence[Step], p_values: FloatArray) -> bool:
    """Whether the path ended, or was followed no further, before a set was sufficient."""
    return bool(steps[-1].size < len(p_values) and p_values[-1] <= LEVEL)


def sufficient_words(p_values: FloatArray, n_units: int, *, is_short: bool = False) -> str:
    """How the number of units was chosen, in words, by the p-values of the sizes up to it."""
    p_value, size = float(p_values[-1]), len(p_values) - 1
    if size == n_units:
        smaller = np.isfinite(p_values[:-1]).any()
        worse = "each smaller set on the path was found to predict worse"
        return worse if smaller else "there is no larger set"
    if is_short:
        return "the largest set considered, though larger ones were found to predict better"
    if np.isnan(p_value) or p_value <= LEVEL:
        return "no larger set on the path predicts notably better"
    better = "set was found to predict better than none"
    better = better if size == 0 else "larger set was found to predict better"
    level = level_words(p_value)
    return f"no {better} (p = {p_value:.{3 if level else 2}f}, counting the search{level})"


def reduced_words(step: Step, p_values: FloatArray | None, many: str) -> list[str]:
    """That tests reduced a larger set to one that is not on the path, in a sentence."""
    if p_values is None or not np.isnan(step.tuning):
        return []
    return [f"The selection is no step of the path: tests left out {many} of a larger one."]


def level_words(p_value: float) -> str:
    """The level, behind a p-value above it that a reader would take for a small one."""
    return f"; level {LEVEL:g}" if LEVEL < p_value < _USUAL else ""


_USUAL = 0.05
"""The level that a reader takes for granted."""
