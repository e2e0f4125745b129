"""Sets that get better by exchanges of one unit for another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.algorithms.shared.judging import Judge, held_out_gains, some_rows
from treeselect.algorithms.shared.ranking import first_units, ranking
from treeselect.algorithms.shared.searched import Exchange, Rival, Trace, trace_of
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import falling, first_largest

_MOST_ROUNDS = 8
_CANDIDATES, _BEST = 6, 3
"""Units that may come in, and how many of them, of those that may go and of the exchanges are
looked at more closely."""

_QUICK_TREES = 25
_QUICK_ROWS, _SURE_ROWS = 2_000, 10_000


class Found(NamedTuple):
    """A set, and the exchanges that led to it."""

    selected: BoolArray
    exchanges: tuple[Exchange, ...] = ()

    @property
    def size(self) -> int:
        """Number of units."""
        return int(self.selected.sum())


class Search:
    """The search for one task: a ranking to begin with, a quick judge and a sure one.

    Parameters
    ----------
    task : Task
    n_trees : int
        Trees of the sure judge.
    margin : float
        Standard errors by which a set must be better than another to take its place.
    """

    def __init__(self, task: Task, *, n_trees: int, margin: float) -> None:
        self._task, self._margin = task, margin
        self._keep = task.problem.groups.keep
        self._rank = task.problem.groups.ranks(task.seed)
        self._weights = some_rows(task, _SURE_ROWS)
        self._sure = Judge(task, n_trees, "sure", self._weights)
        self._quick = Judge(task, _QUICK_TREES, "quick", some_rows(task, _QUICK_ROWS))
        gains = held_out_gains(task, self._sure.truth, self._weights, "ranking")
        self._order = ranking(gains, self._keep, self._rank)

    @property
    def n_able(self) -> int:
        """Units that can be selected: those that can split, and what is kept."""
        return len(self._order)

    def first(self, size: int) -> BoolArray:
        """The first units of the ranking."""
        return first_units(self._order, size, len(self._keep))

    def left(self, selected: BoolArray) -> float:
        """Share of the constant model's error that a set leaves."""
        whole = self._sure.error(np.zeros_like(selected))
        return self._sure.error(selected) / whole if whole > 0 else 1.0

    def is_better(self, selected: BoolArray, other: BoolArray) -> bool:
        """Whether the error of a set is lower than that of another by more than the margin."""
        mean, spread = self._sure.rise(other, selected)
        return mean < -self._margin * spread

    def best_of_size(self, size: int, smaller: BoolArray | None) -> Found:
        """The best set found, from the first units of the ranking, or, where that is better, from a
        smaller set with one more unit."""
        start = self.first(size)
        if smaller is not None:
            for unit in self._additions(smaller)[:1].tolist():
                other = _exchanged(smaller, None, unit)
                start = other if self.is_better(other, start) else start
        return self._improved(start)

    def trace(self, found: Found) -> Trace:
        """What the search has seen on its way to a set: see :class:`Trace`."""
        others = [
            other
            for other in self._sure.sets()
            if other.sum() == found.size and not np.array_equal(other, found.selected)
        ]
        near = []
        for other in others:
            rise, spread = self._share(found.selected, other)
            if rise <= spread:
                near.append(Rival(tuple(np.flatnonzero(other).tolist()), rise, spread))
        order = falling(-np.array([rival.rise for rival in near]))
        return trace_of(found.exchanges, [near[i] for i in order.tolist()], len(others))

    def worth(self, selected: BoolArray) -> FloatArray:
        """How much the error rises without each unit of a set, at least 0; shape (n_groups,)."""
        worth = np.zeros(len(selected))
        for unit in np.flatnonzero(selected).tolist():
            rise, _ = self._quick.rise(selected, _exchanged(selected, unit, None))
            worth[unit] = max(rise, 0.0)
        return worth

    def _share(self, before: BoolArray, after: BoolArray) -> tuple[float, float]:
        """The rise of the error as a share of what it was, with its standard error."""
        error = max(self._sure.error(before), np.finfo(np.float64).tiny)
        rise, spread = self._sure.rise(before, after)
        return rise / error, spread / error

    def _improved(self, selected: BoolArray) -> Found:
        """What becomes of a set by exchanges, until none helps any more."""
        found = Found(selected)
        for _ in range(_MOST_ROUNDS):
            better = self._exchange(found.selected)
            if better is None:
                break
            (out,) = np.flatnonzero(found.selected & ~better).tolist()
            (into,) = np.flatnonzero(better & ~found.selected).tolist()
            made = Exchange(out, into, *self._share(found.selected, better))
            found = Found(better, (*found.exchanges, made))
        return found

    def _exchange(self, selected: BoolArray) -> BoolArray | None:
        """The set after the best exchange, None if there is none that helps."""
        into, out = self._additions(selected)[:_BEST], self._removals(selected)[:_BEST]
        tried = [_exchanged(selected, a, b) for a in out.tolist() for b in into.tolist()]
        errors = np.array([self._quick.error(found) for found in tried])
        near = [tried[i] for i in falling(-errors)[:_BEST].tolist()]
        better = [found for found in near if self.is_better(found, selected)]
        if not better:
            return None
        return better[first_largest([-self._sure.error(found) for found in better])]

    def _additions(self, selected: BoolArray) -> IntArray:
        """Units that might come in, those first that lower the error most."""
        units = self._candidates(selected)
        return self._sorted(units, [_exchanged(selected, None, g) for g in units.tolist()])

    def _removals(self, selected: BoolArray) -> IntArray:
        """Units that might go, those first that are missed least."""
        units = np.flatnonzero(selected & ~self._keep)
        return self._sorted(units, [_exchanged(selected, g, None) for g in units.tolist()])

    def _sorted(self, units: IntArray, sets: list[BoolArray]) -> IntArray:
        errors = np.array([self._quick.error(found) for found in sets])
        return units[falling(-errors, self._rank[units])]

    def _candidates(self, selected: BoolArray) -> IntArray:
        """Units that tell most of what a set leaves to be told, and most of all, by turns."""
        left = held_out_gains(
            self._task, self._sure.residuals(selected), self._weights, "residuals"
        )
        orders = [ranking(left, np.zeros_like(self._keep), self._rank), self._order]
        outside = [order[~selected[order]][:_CANDIDATES] for order in orders]
        by_turns = [order[i] for i in range(_CANDIDATES) for order in outside if i < len(order)]
        return np.array(list(dict.fromkeys(by_turns))[:_CANDIDATES], dtype=np.int64)


def _exchanged(selected: BoolArray, out: int | None, into: int | None) -> BoolArray:
    """A set without one unit, with another, or both."""
    found = selected.copy()
    found[[g for g in (out,) if g is not None]] = False
    found[[g for g in (into,) if g is not None]] = True
    return found
