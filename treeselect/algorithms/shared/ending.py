"""Methods that revise their sets at the end: by a backward pass, by exchanges, or by cuts."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treeselect.algorithms.shared.base import Step, best_of_each_size, ranked_step
from treeselect.algorithms.shared.exchanging import usual_trees
from treeselect.algorithms.shared.judged_rows import rows_to_judge
from treeselect.algorithms.shared.judging import Judge
from treeselect.algorithms.shared.method import Method
from treeselect.algorithms.shared.options import check_flag
from treeselect.algorithms.shared.pruning import BackwardPass, prune_path
from treeselect.algorithms.shared.refining import NO_FURTHER, Refinement
from treeselect.algorithms.shared.scoring import score_of
from treeselect.algorithms.shared.sizes import step_of_size
from treeselect.algorithms.shared.task import Task
from treeselect.designs.nouns import noun_of
from treeselect.engine.rounding import at_least, falling

# --- sets of a path that give way to larger ones, cut to their size ----------------------------

# The first units of a path over a rising coefficient are the best of a few drawn at random: as long
# as none is in use, none competes. The most important units of a larger set are often better.

_ROWS = 10_000
"""Most rows on which sets are compared."""


def with_cuts(task: Task, steps: Sequence[Step]) -> tuple[Step, ...]:
    """A path whose sets give way to larger ones, cut to their size, that are clearly better.

    Of each size that is wanted, or below it was found, the first set (if there is none, the next
    larger one, cut) competes with all sets of at least that size, cut to their most important
    units. It gives way to the best of those that cost no more, and whose out-of-bag error is lower
    by more than the standard error of the difference (see ``Judge.rise``), with forests of 100
    trees, down to 30 on more than 3,000 rows.

    Parameters
    ----------
    task : Task
    steps : sequence of Step
        All that were found, in any order.

    Returns
    -------
    tuple of Step
        In order of increasing size, at most one of each.
    """
    groups, of_size = task.problem.groups, best_of_each_size(steps)
    keep = groups.keep
    own = [of_size[size] for size in sorted(of_size)]
    most = min(task.max_size, own[-1].size)
    wanted = range(int(keep.sum()) + 1, most + 1)
    sizes = wanted if task.every_size else [n for n in wanted if n in of_size or n == most]
    n_rows = len(task.once(rows_to_judge, _ROWS).places)
    judge = Judge(task, usual_trees(n_rows), "cut", _ROWS)
    for size in sizes:
        start = step_of_size(own, size, keep)
        cuts = [(step_of_size([step], size, keep), step) for step in steps if step.size >= size]
        budget = groups.costs[start.selected].sum()
        cuts = [pair for pair in cuts if at_least(budget, groups.costs[pair[0].selected].sum())]
        judge.learn([start.selected, *(cut.selected for cut, _ in cuts)])
        better = [pair for pair in cuts if _is_better(judge, pair[0], start)]
        if better:
            errors = np.array([judge.error(cut.selected) for cut, _ in better])
            cut, whole = better[falling(-errors)[0]]
            of_size[size] = _replaced(task, cut, whole, start)
    return tuple(of_size[size] for size in sorted(of_size))


def _is_better(judge: Judge, one: Step, other: Step) -> bool:
    rise, spread = judge.rise(other.selected, one.selected)
    return rise < -spread


def _replaced(task: Task, cut: Step, whole: Step, before: Step) -> Step:
    """The step of a set that replaces another, with the out-of-bag score of a forest on it."""
    score = score_of(task, cut.selected)
    step = ranked_step(cut.tuning, cut.selected, cut.importance, score)
    if whole.size == cut.size:
        return step
    one, own = (
        ("the most important one", "the one")
        if cut.size == 1
        else (f"the {cut.size} most important", f"the {cut.size}")
    )
    where = (
        "the path has at this size" if before.cut_from is None else f"cut from {before.cut_from}"
    )
    note = (
        f"Cut from {whole.size} {noun_of(task.problem.groups.terms)}: forests on {one} have a lower"
        f" out-of-bag error than on {own} {where}."
    )
    return dataclasses.replace(step, notes=(note,))


# --- a path over the tuning parameter, for methods that grow an ensemble at each value ---------

# The number of units in an ensemble increases with the parameter only roughly, since each ensemble
# is grown greedily, so sizes are found by search. Of several values with the same size, the most
# regularised is used.

_FIRST = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Positions that are always tried."""

_AT_ONCE = 4
"""Positions tried together afterwards, for any number of threads."""

_MOST_TRIALS = 33
_FINEST = 2.0**-8


def trace(
    try_at: Callable[[float], Step],
    task: Task,
    end: Callable[[Sequence[Step]], Sequence[Step]],
) -> tuple[Step, ...]:
    """Steps of sizes up to the largest that is wanted.

    Parameters
    ----------
    try_at : callable
        The step at a position between 0, where only units forced in are selected, and 1, the least
        regularised.
    task : Task
        The search goes on until an ensemble of `max_size` is found, or until the values on both
        sides of it are too close; then the next larger ensemble ends the path.
    end : callable
        Applied to all steps found, before one of each size is kept.

    Returns
    -------
    tuple of Step
        In order of increasing size.
    """
    trials: dict[float, Step] = {}
    with ThreadPoolExecutor(task.n_threads) as pool:
        positions: Sequence[float] = _FIRST
        while positions:
            trials |= zip(positions, pool.map(try_at, positions), strict=True)
            positions = _next_positions(trials, task.max_size, every_size=task.every_size)
    steps = [trials[position] for position in sorted(trials)]
    return rising(end(steps), task.max_size)


def _next_positions(trials: dict[float, Step], max_size: int, *, every_size: bool) -> list[float]:
    """Midpoints of the gaps in which sizes are missing, those around `max_size` first."""
    if len(trials) >= _MOST_TRIALS:
        return []
    found = {step.size for step in trials.values()}
    largest = max(found)
    least = min(found) + 1 if every_size else max_size
    missing = [s for s in range(least, min(max_size, largest) + 1) if s not in found]
    gaps = []
    for low, high in pairwise(sorted(trials)):
        sizes = sorted((trials[low].size, trials[high].size))
        inside = sum(sizes[0] < size < sizes[1] for size in missing)
        if inside and high - low >= 2 * _FINEST:
            holds_last = max_size in missing and sizes[0] < max_size < sizes[1]
            gaps.append((not holds_last, -inside, (low + high) / 2))
    return [middle for _, _, middle in sorted(gaps)[:_AT_ONCE]]


def rising(steps: Sequence[Step], max_size: int) -> tuple[Step, ...]:
    """One step of each size up to `max_size`; if that size is missing, also the next larger one."""
    by_size = best_of_each_size(steps)
    sizes = sorted(by_size)
    kept = [size for size in sizes if size <= max_size]
    if max_size not in by_size:
        kept += [size for size in sizes if size > max_size][:1]
    return tuple(by_size[size] for size in kept)


# --- methods that revise their sets at the end -------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PrunedMethod(Method):
    """A method with a backward pass that drops redundant units."""

    prune: bool = False

    def __post_init__(self) -> None:
        check_flag(self, "prune")

    def path_of(
        self,
        try_at: Callable[[float], Step],
        fixed: Step | None,
        task: Task,
    ) -> tuple[Step, ...]:
        """The step at a fixed tuning parameter, or a path, after the final revision.

        Parameters
        ----------
        try_at : callable
            See ``trace``.
        fixed : Step or None
            The step at the tuning parameter, if that is fixed.
        task : Task
        """
        if fixed is not None:
            return self.path_at(fixed, task)
        return trace(try_at, task, functools.partial(self._ended, task))

    def path_at(self, fixed: Step, task: Task) -> tuple[Step, ...]:
        """The step at a fixed tuning parameter, after the final revision."""
        return (self._ended_at(task, fixed),)

    def path_along(self, steps: Sequence[Step], task: Task) -> tuple[Step, ...]:
        """Given steps, after the final revision: one of each size, up to the largest that is
        wanted."""
        return rising(self._ended(task, steps), task.max_size)

    @property
    def begins_above(self) -> bool:
        """Whether the final revision starts from sets larger than wanted."""
        return self.prune

    def longest(self, task: Task) -> int:
        """Size up to which steps are needed."""
        most = 2 * task.max_size + 2 if self.begins_above else task.max_size
        return min(most, len(task.problem.groups.names))

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps of a path after the final revision."""
        return prune_path(task, steps) if self.prune else steps

    def _ended_at(self, task: Task, fixed: Step) -> Step:
        return BackwardPass(task).chain(fixed)[-1] if self.prune else fixed


@dataclass(frozen=True, kw_only=True)
class RefinedMethod(PrunedMethod):
    """A method whose sets can be refined by exchanges, which include the backward pass."""

    refine: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(self, "refine")

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether training scores are out of bag, as they are for refined sets."""
        return self.scores_out_of_bag or self.refine

    @property
    def why_left_out(self) -> str:
        """Why terms never enter the path, as a clause."""
        return self.left_out + (NO_FURTHER if self.refine else "")

    @property
    def begins_above(self) -> bool:
        """Whether the final revision starts from sets larger than wanted."""
        return self.prune or self.refine

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        return Refinement(task).path(steps) if self.refine else super()._ended(task, steps)

    def _ended_at(self, task: Task, fixed: Step) -> Step:
        return Refinement(task).at(fixed) if self.refine else super()._ended_at(task, fixed)


@dataclass(frozen=True, kw_only=True)
class DrawnMethod(RefinedMethod):
    """A method whose first units are the best of a few drawn at random.

    Small sets of its path give way to larger ones, cut to their size (``with_cuts``).
    """

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        return super()._ended(task, with_cuts(task, steps))
