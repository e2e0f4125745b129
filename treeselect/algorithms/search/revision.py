"""Refinement: the sets of a method after exchanges that lower the out-of-bag error.

A method that follows a path seldom drops a unit, and misses pairs that are informative only
jointly.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np

from treeselect.algorithms.forests.scoring import score_of
from treeselect.algorithms.method import Method
from treeselect.algorithms.options import flag
from treeselect.algorithms.search.exchange import Found, Search, usual_trees
from treeselect.algorithms.search.judging import Judge, rows_to_judge
from treeselect.algorithms.task import (
    Step,
    Task,
    best_of_each_size,
    first_units,
    part_of,
    ranked_step,
    step_of_size,
)
from treeselect.designs.problem import noun_of
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.linear.additive_search import exchanged
from treeselect.engine.rounding import at_least, falling
from treeselect.errors import listing

NO_FURTHER = ", or do not lower the out-of-bag error"
"""Continues a method's `left_out` for refined paths."""


class Refinement:
    """Improves the steps of one problem; units that are forced in stay.

    All sets are judged by the out-of-bag error of models of them, with the same bags. A set of the
    method is replaced only if the error falls by more than its standard error, so the refined set
    never has a higher error.
    """

    def __init__(self, task: Task) -> None:
        self._task, self._keep = task, task.problem.groups.keep
        self._search = Search(task)
        self._backward = BackwardPass(task, self._search.judge)

    def at(self, step: Step) -> Step:
        """One step after refinement: redundant units are dropped and others exchanged, until
        nothing changes."""
        found = Found(step.selected)
        while (found.selected & ~self._keep).any():
            rest, _ = self._backward.sets(found.selected)[-1]
            better = self._search.improved(rest)
            if np.array_equal(better.selected, found.selected):
                break
            found = Found(better.selected, (*found.exchanges, *better.exchanges))
        return self._step(step, found)

    def path(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """A path after refinement: a step for each size that is wanted, after the one with only the
        units forced in.

        The set of the method (if it has none of a size, the next larger one, cut) competes with the
        first units of a held-out ranking, with sets of the backward pass from more of these and
        from a larger step, and with the set of one unit fewer plus one. A path over all sizes ends
        when further units do not help.
        """
        of_size = best_of_each_size(steps)
        own = [of_size[size] for size in sorted(of_size)]
        n_kept, most = int(self._keep.sum()), min(self._task.max_size, own[-1].size)
        start = Found(step_of_size(own, n_kept, self._keep).selected)
        found = [start]
        if most > start.size:
            larger = functools.partial(self._of_size, own, self._backward_sets(own))
            every = self._task.every_size
            found += self._search.growing(start, most, larger) if every else [larger(most, None)]
        return tuple(self._step(step_of_size(own, one.size, self._keep), one) for one in found)

    def _backward_sets(self, own: Sequence[Step]) -> list[BoolArray]:
        """Sets of the backward pass, from the first units of the ranking and from the largest step.

        Both have at most twice the wanted size plus two units; if no step has, the next larger one.
        """
        most = min(2 * self._task.max_size + 2, MOST_UNITS)
        near = [step for step in own if step.size <= most]
        above = [step for step in own if step.size > self._task.max_size]
        some = sorted((*near, *above[:1]), key=lambda step: step.size)
        starts = [self._search.first(most), *(step.selected for step in some[-1:])]
        return [found for start in starts for found, _ in self._backward.sets(start)]

    def _of_size(
        self,
        own: Sequence[Step],
        backward: Sequence[BoolArray],
        size: int,
        smaller: BoolArray | None,
    ) -> Found:
        """The set of a size: the best of several candidates, after exchanges."""
        step = step_of_size(own, size, self._keep)
        others = [self._search.first(size), *backward]
        others += [] if smaller is None else self._search.grown(smaller)
        start = self._search.better_of(step.selected, [s for s in others if s.sum() == size])
        return self._search.improved(start)

    def _step(self, own: Step, found: Found) -> Step:
        """A step of the method with its set replaced; what holds for both sets is kept."""
        search, selected = self._search, found.selected
        is_same = np.array_equal(selected, own.selected)
        names = self._task.problem.groups.names
        before = listing(names[g] for g in np.flatnonzero(own.selected).tolist())
        step = ranked_step(
            own.tuning, selected, search.worth(selected), score_of(self._task, selected)
        )
        return dataclasses.replace(
            step,
            error=search.judge.error(selected),
            gap=own.gap if is_same else None,
            notes=own.notes if is_same else (f"Selected before refinement: {before}.",),
            trace=search.trace(found),
            warning=own.warning,
            warned=own.warned,
            decisions=own.decisions,
        )


# --- The backward pass: redundant units are dropped from a selection -----------------------------
# A method that goes forward keeps a unit once it has entered. Of x, y and their sum, it may
# select the sum first and then x and y, and never drop the sum.

_PRUNE_TREES, _LEAST_PRUNE_TREES, _PRUNE_ROWS_TIMES_TREES = 200, 50, 600_000
"""Trees of the compared forests: 200 on up to 3,000 rows, and fewer on more, at least 50 (see
``exchange.usual_trees``)."""

_PRUNE_ROWS = 20_000
"""Most rows on which sets are compared."""

MOST_UNITS = 30
"""Larger selections are not pruned: each unit takes several forests."""


class BackwardPass:
    """Drops redundant units from the steps of one problem, one at a time.

    The unit is dropped whose removal leaves the least out-of-bag squared error (for classes, the
    Brier score) of a forest on the others, cut back to the capacity of least error and grown on at
    most 20,000 rows, provided that the error rises by at most the standard error of the difference
    (see ``Judge.rise``). After the first removal, units are tried in order of the error that their
    removal left when last tried, and the first redundant one is dropped: this takes about ``2 s``
    forests for s units instead of ``s ** 2 / 2``. Units that are forced in stay.
    """

    def __init__(self, task: Task, judge: Judge | None = None) -> None:
        self._judge = judge or _prune_judge(task)
        self._keep = task.problem.groups.keep
        self._rank = task.problem.groups.ranks(task.seed)
        self._chains: dict[bytes, list[tuple[BoolArray, float]]] = {}

    def chain(self, step: Step) -> list[Step]:
        """The step, and the step after each dropped unit, with their errors."""
        if not 1 <= step.size <= MOST_UNITS:
            return [step]
        found: list[Step] = []
        for selected, error in self.sets(step.selected):
            is_same = np.array_equal(selected, step.selected)
            own = step if is_same else part_of(step, selected)
            found.append(dataclasses.replace(own, error=error))
        return found

    def sets(self, selected: BoolArray) -> list[tuple[BoolArray, float]]:
        """The set, and the set after each dropped unit, with their errors."""
        key = selected.tobytes()
        if key not in self._chains:  # depends only on the set, which steps of a path often share
            self._chains[key] = self._pruned(selected)
        return self._chains[key]

    def _pruned(self, selected: BoolArray) -> list[tuple[BoolArray, float]]:
        chain = [(selected, self._judge.error(selected))]
        if not 1 < selected.sum() <= MOST_UNITS:
            return chain
        units = np.flatnonzero(selected & ~self._keep).tolist()
        last = {g: self._judge.error(exchanged(selected, g, None)) for g in units}
        while selected.sum() > 1 and (g := self._first_not_missed(selected, last)) is not None:
            selected = exchanged(selected, g, None)
            chain.append((selected, self._judge.error(selected)))
            del last[g]
        return chain

    def _first_not_missed(self, selected: BoolArray, last: dict[int, float]) -> int | None:
        """The first redundant unit, in the order of the errors when last tried."""
        units = np.array(list(last), dtype=np.int64)
        for g in units[falling(-np.array(list(last.values())), self._rank[units])].tolist():
            rest = exchanged(selected, g, None)
            last[g] = self._judge.error(rest)
            rise, spread = self._judge.rise(selected, rest)
            if rise <= spread:
                return int(g)
        return None


def _prune_judge(task: Task) -> Judge:
    n_rows = len(task.once(rows_to_judge, _PRUNE_ROWS).places)
    affordable = _PRUNE_ROWS_TIMES_TREES // max(n_rows, 1)
    return Judge(task, min(_PRUNE_TREES, max(_LEAST_PRUNE_TREES, affordable)), "prune", _PRUNE_ROWS)


def prune_path(task: Task, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps and their backward passes; of each size, the one of least error.

    The pass starts from the steps of at most twice `max_size` plus two units, and from the smallest
    step above `max_size`.
    """
    max_size = task.max_size
    above = min((step.size for step in steps if step.size > max_size), default=0)
    backward = BackwardPass(task)
    found: list[Step] = []
    for step in steps:
        near = step.size <= max(2 * max_size + 2, above)
        found += backward.chain(step) if near else [step]
    best = best_of_each_size(found)
    return tuple(best[size] for size in sorted(best))


# --- sets of a path that give way to larger ones, cut to their size ----------------------------

# The first units of a path over a rising coefficient are the best of a few drawn at random: as long
# as none is in use, none competes. The most important units of a larger set are often better.

_CUT_ROWS = 10_000
"""Most rows on which sets are compared."""


def with_cuts(task: Task, steps: Sequence[Step]) -> tuple[Step, ...]:
    """A path whose sets give way to larger ones, cut to their size, that are clearly better.

    Of each size that is wanted, or below it was found, the first set (if there is none, the next
    larger one, cut) competes with all sets of at least that size, cut to their most important
    units. It gives way to the best of those that cost no more, and whose out-of-bag error is lower
    by more than the standard error of the difference (see ``Judge.rise``), with forests of 100
    trees, down to 30 on more than 3,000 rows.
    """
    groups, of_size = task.problem.groups, best_of_each_size(steps)
    keep = groups.keep
    own = [of_size[size] for size in sorted(of_size)]
    most = min(task.max_size, own[-1].size)
    wanted = range(int(keep.sum()) + 1, most + 1)
    sizes = wanted if task.every_size else [n for n in wanted if n in of_size or n == most]
    n_rows = len(task.once(rows_to_judge, _CUT_ROWS).places)
    judge = Judge(task, usual_trees(n_rows), "cut", _CUT_ROWS)
    for size in sizes:
        start = step_of_size(own, size, keep)
        cuts = [(step_of_size([step], size, keep), step) for step in steps if step.size >= size]
        budget = groups.costs[start.selected].sum()
        cuts = [pair for pair in cuts if at_least(budget, groups.costs[pair[0].selected].sum())]
        judge.learn([start.selected, *(cut.selected for cut, _ in cuts)])
        rises = [judge.rise(start.selected, cut.selected) for cut, _ in cuts]
        better = [own for own, (rise, spread) in zip(cuts, rises, strict=True) if rise < -spread]
        if better:
            errors = np.array([judge.error(cut.selected) for cut, _ in better])
            cut, whole = better[falling(-errors)[0]]
            of_size[size] = _replaced(task, cut, whole, start)
    return tuple(of_size[size] for size in sorted(of_size))


def _replaced(task: Task, cut: Step, whole: Step, before: Step) -> Step:
    """The step of a set that replaces another, with the out-of-bag score of a forest on it."""
    score = score_of(task, cut.selected)
    step = ranked_step(cut.tuning, cut.selected, cut.importance, score)
    if whole.size == cut.size:
        return step
    one, own = f"the {cut.size} most important", f"the {cut.size}"
    if cut.size == 1:
        one, own = "the most important one", "the one"
    n = before.cut_from
    where = "the path has at this size" if n is None else f"cut from {n}"
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


def trials(try_at: Callable[[float], Step], task: Task) -> list[Step]:
    """Steps at positions from 0 to 1, tried until the sizes that are wanted are found."""
    found: dict[float, Step] = {}
    with ThreadPoolExecutor(task.n_threads) as pool:
        positions: Sequence[float] = _FIRST
        while positions:
            found |= zip(positions, pool.map(try_at, positions), strict=True)
            positions = _next_positions(found, task.max_size, every_size=task.every_size)
    return [found[position] for position in sorted(found)]


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


class Ending:
    """How the path of a method with the options `prune` and `refine` ends."""

    __slots__ = ()

    prune: bool
    refine: bool
    left_out: ClassVar[str]
    scores_out_of_bag: ClassVar[bool]

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether training scores are out of bag, as they are for refined sets."""
        return self.scores_out_of_bag or self.refine

    @property
    def scored_before(self) -> str:
        """Training scores of pruned sets are those of the larger ones."""
        return ", before the backward pass" * (self.prune and not self.refine)

    @property
    def why_left_out(self) -> str:
        return self.left_out + (NO_FURTHER if self.refine else "")

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps of a path after the final revision; exchanges include the backward pass."""
        if self.refine:
            return Refinement(task).path(steps)
        return prune_path(task, steps) if self.prune else steps

    def _ended_at(self, task: Task, fixed: Step) -> Step:
        if self.refine:
            return Refinement(task).at(fixed)
        return BackwardPass(task).chain(fixed)[-1] if self.prune else fixed


@dataclass(frozen=True, kw_only=True)
class RefinedMethod(Ending, Method):
    """A method whose sets can end with a backward pass that drops redundant units, or be refined by
    exchanges, which include it."""

    prune: bool = field(default=False, metadata=flag())
    refine: bool = field(default=False, metadata=flag())

    def path_of(
        self, step_at: Callable[[float], Step], task: Task, value_at: Callable[[float], float]
    ) -> tuple[Step, ...]:
        """The step at a fixed tuning parameter, or a path over values at positions from 0 to 1."""
        fixed = self.tuning_value
        if fixed is None:
            return self.revised(trials(lambda at: step_at(value_at(at)), task), task)
        return self.revised([step_at(float(fixed))], task)

    def ranked_path(
        self,
        task: Task,
        order: IntArray,
        worth: FloatArray,
        tunings: FloatArray,
        score: Callable[[Task, BoolArray], float] = score_of,
    ) -> tuple[Step, ...]:
        """Path of the first units of an order, which begins with those forced in, by the falling
        tuning parameters of the others; a fixed one takes those whose own is at least as high."""
        fixed, n_kept = self.tuning_value, int(task.problem.groups.keep.sum())
        if fixed is None:
            most = self.longest(task) - n_kept
            sizes = list(enumerate([np.inf, *tunings.tolist()][: most + 1]))
        else:
            sizes = [(int((tunings >= float(fixed)).sum()), float(fixed))]
        steps = []
        for size, tuning in sizes:
            selected = first_units(order, n_kept + size, len(worth))
            steps.append(ranked_step(tuning, selected, worth, score(task, selected)))
        return self.revised(steps, task)

    def revised(self, steps: Sequence[Step], task: Task) -> tuple[Step, ...]:
        """Given steps after the final revision: one of each size, up to the largest that is
        wanted, or the last at a fixed tuning parameter."""
        if self.tuning_value is not None:
            return (self._ended_at(task, steps[-1]),)
        return rising(self._ended(task, steps), task.max_size)

    @property
    def begins_above(self) -> bool:
        return self.prune or self.refine

    def longest(self, task: Task) -> int:
        """Size up to which steps are needed."""
        most = 2 * task.max_size + 2 if self.begins_above else task.max_size
        return min(most, len(task.problem.groups.names))


@dataclass(frozen=True, kw_only=True)
class DrawnMethod(RefinedMethod):
    """A method whose first units are the best of a few drawn at random.

    Small sets of its path give way to larger ones, cut to their size (``with_cuts``).
    """

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        return super()._ended(task, with_cuts(task, steps))
