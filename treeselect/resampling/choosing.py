"""The number of units: cross-validated scores, the one-standard-error rule, cutting to size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from treeselect.algorithms.method import Method, steps_along, steps_of
from treeselect.algorithms.task import Step, Task, full_step, step_of_size, step_within
from treeselect.arguments.checks import AUTO
from treeselect.designs.design import FeatureGroups
from treeselect.designs.problem import Problem
from treeselect.designs.strata import labels_of
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least, first_largest
from treeselect.models.model import Model
from treeselect.resampling.cross_validation import (
    ScoreBySize,
    full_model,
    score_by_size,
    score_steps,
    standard_error,
)
from treeselect.resampling.folds import Folds, Split
from treeselect.resampling.splitting import assign_folds
from treeselect.resampling.sufficiency import sufficient_step
from treeselect.running.machine import memory_is_told
from treeselect.running.parallel import ALONE, Workers

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


class SparedRows(NamedTuple):
    """Rows that are searched, and parts of the others.

    Attributes
    ----------
    searched : ndarray of int64
    splits : tuple of Split
        All train on the rows searched; the held-out rows have none in common.
    """

    searched: IntArray
    splits: tuple[Split, ...]


def spared_rows(
    problem: Problem, method: Method, weights: RowWeights, folds: Folds, seed: int
) -> SparedRows | None:
    """A sample of the rows to search on, and the others in as many parts as there are folds.

    The sample is stratified by class. None if sets are to be scored by cross-validation: on data
    that are not long or have clusters, for survival times, if the sample would hold fewer than 500
    rows of a class, if the method searches on all rows, and if the folds are repeated or no number.
    """
    most, rows = method.searches_on, weights.rows
    if most is None or len(rows) <= LONG * most or not isinstance(folds.folds, int):
        return None
    if folds.repeats > 1 or weights.groups is not None or problem.family.has_times:
        return None
    if not problem.can_be_cut:
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
    splits = [Split(searched, np.flatnonzero(piece == i)) for i in range(folds.folds)]
    return SparedRows(searched, tuple(splits))


# --- the number of units -----------------------------------------------------------------------

_BEYOND = 2
"""Sizes that the path goes beyond the one chosen by tests."""

MOST_UNITS = 30
"""Largest size that rules for `k` consider."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How the number of units is chosen.

    Attributes
    ----------
    k : int, "auto", "1se", "best" or None
        None leaves the number to the method's tuning parameter.
    folds : Folds
        Folds of the cross-validation behind ``"1se"`` and ``"best"``.
    """

    k: int | str | None = None
    folds: Folds = field(default_factory=Folds)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The result of a selection: see the attributes of ``SelectionResult``."""

    steps: tuple[Step, ...]
    step: Step
    scores: ScoreBySize | None
    p_values: FloatArray | None
    model: Model


@memory_is_told()
def run_selection(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    choice: Choice,
    *,
    seed: int,
    workers: Workers = ALONE,
    progress: bool | None = None,
) -> Chosen:
    """The whole selection on the rows with a positive weight: path, choice of k, final model.

    Raises
    ------
    OptionError
        If the rows can't be split into the folds.
    """
    left = choose(
        problem, method, weights, choice, seed=seed, workers=workers, progress=progress
    )  # fmt: skip
    task = Task(
        problem,
        weights,
        max_size=left.step.size,
        seed=stream_seed(seed, "fit"),
        n_threads=workers.n_threads,
    )
    return Chosen(*left, method.final_model(task, left.step))


class Left(NamedTuple):
    """A path and the chosen step: see :class:`Chosen`."""

    steps: tuple[Step, ...]
    step: Step
    scores: ScoreBySize | None
    p_values: FloatArray | None = None


def choose(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    choice: Choice,
    *,
    seed: int,
    workers: Workers = ALONE,
    progress: bool | None = None,
) -> Left:
    """Compute the selection path of a method and choose a step.

    Raises
    ------
    OptionError
        If the rows can't be split into the folds.
    """
    k, groups, most = choice.k, problem.groups, most_units(problem.groups)
    if k == AUTO:
        task = Task(
            problem,
            weights,
            max_size=most,
            seed=stream_seed(seed, "fit"),
            n_threads=workers.n_threads,
        )
        found = choose_sufficient(task, method)
        shown = [step for step in found.steps if step.size < n_shown(found.step.size, groups)]
        return found._replace(steps=tuple(shown))
    scores, spared = None, None
    if isinstance(k, str):
        spared = spared_rows(problem, method, weights, choice.folds, seed)
    if isinstance(k, str) and spared is None:
        scores = score_by_size(
            problem,
            method,
            weights,
            folds=choice.folds,
            max_size=most,
            seed=stream_seed(seed, "cross-validation"),
            workers=workers,
            progress=progress,
        )
    task = Task(
        problem,
        weights if spared is None else weights.only(spared.searched),
        max_size=k if isinstance(k, int) else most,
        seed=stream_seed(seed, "fit"),
        every_size=isinstance(k, str),
        n_threads=workers.n_threads,
    )
    steps = steps_of(method, task)
    if spared is not None:
        scores = score_steps(
            task, method, steps, weights, spared.splits, workers=workers, progress=progress
        )
    if isinstance(k, str) and method.predicts_any_set:
        size = wanted_size(k, scores, problem.groups.keep)
        if size == len(problem.groups.names) > steps[-1].size:
            steps = (*steps, _all_units(task, method))
    step = choose_step(steps, k, scores, problem.groups.keep, cuts=method.predicts_any_set)
    if isinstance(k, str):
        # A path that skips the last size has a larger step, which was not scored.
        steps = tuple(step for step in steps if step.size <= most)
    return Left(steps, step, scores)


def choose_sufficient(task: Task, method: Method, to: int = 0) -> Left:
    """The smallest sufficient set of a path (``sufficiency.sufficient_step``), which is followed
    to a size at least."""
    path = (step for step in steps_along(method, task) if step.size <= task.max_size)
    found = sufficient_step(task, method, path)
    steps = list(found.steps)
    while steps[-1].size < to and (step := next(path, None)) is not None:
        steps.append(step)
    return Left(tuple(steps), found.step, None, found.p_values)


def _all_units(task: Task, method: Method) -> Step:
    """The step of all units, for a path that ends earlier."""
    selected = full_step(len(task.problem.groups.names)).selected
    return method.scored_step(task, np.nan, selected, full_model(method, task).importance)


def most_units(groups: FeatureGroups) -> int:
    """The largest size that scores may choose, at least the number of units forced in."""
    return min(len(groups.names), max(MOST_UNITS, int(groups.keep.sum())))


def n_shown(size: int, groups: FeatureGroups) -> int:
    """Number of sizes, from 0, that are shown of a path where tests chose a size."""
    return min(size + _BEYOND, most_units(groups)) + 1


def choose_step(
    steps: Sequence[Step],
    k: int | str | None,
    scores: ScoreBySize | None,
    keep: BoolArray,
    *,
    cuts: bool,
) -> Step:
    """The step that `k` determines (see `Choice`).

    If the path skips the size, the next larger step is cut to it. If scores choose the size and
    steps can't be cut (`cuts`), it is the last step of no more units, which is the one scored.
    """
    size = wanted_size(k, scores, keep)
    if size is None:
        return steps[-1]
    if isinstance(k, str) and not cuts:
        return step_within(steps, size)
    return step_of_size(steps, size, keep)


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
    """The smallest size whose mean score is within one standard error of the best.

    The standard error is that at the best size (Breiman et al. 1984, section 3.4.3). Where paths
    end before all units are in, the score must be within one standard error of that of all units
    too; if no size is, and this is no size to choose, the best one is chosen.
    """
    ends_early = cv.full is not None and (
        sizes[-1] - 1 not in sizes or not np.array_equal(cv.scores[:, sizes[-1]], cv.full)
    )
    searched = [size for size in sizes if not ends_early or size - 1 in sizes or size == sizes[0]]
    best = best_size(searched, cv)
    bound = cv.mean[best] - cv.standard_error[best]
    if cv.full is not None and ends_early:
        bound = max(bound, cv.full_mean - standard_error(cv.full, cv.repeats))
    return next((size for size in sizes if at_least(cv.mean[size], bound)), best)
