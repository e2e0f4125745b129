"""The backward pass: selected units that are not missed are dropped.

A method that goes forward keeps what it once took. Of x, y and their sum it may take the sum first
and then x and y, and never lets the sum go.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from treeselect.algorithms.shared.base import Step, best_of_each_size, shares
from treeselect.algorithms.shared.judging import Judge
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray
from treeselect.engine.rounding import falling

_TREES = 200
"""Trees of the forests that are compared."""

MOST_UNITS = 30
"""Larger selections are left as they are: each of their units costs some forests."""


class BackwardPass:
    """Drops units from the steps of one problem, one after the other, as long as none is missed.

    The unit goes whose removal leaves the least out-of-bag squared error (for classes Brier's
    score) of a forest on the others, cut back to the capacity of least error, if that is above the
    error with all of them by at most the standard error of the difference (see ``Judge.rise``).
    After the first removal units are tried by the error that their removal left when it was last
    tried, and the first that is not missed goes: ``2 s`` forests or so for s units instead of
    ``s ** 2 / 2``.
    Kept units stay.

    Parameters
    ----------
    task : Task
    judge : Judge, optional
        Of the sets; one of 200 trees by default.
    """

    def __init__(self, task: Task, judge: Judge | None = None) -> None:
        self._judge = judge or Judge(task, _TREES, "prune")
        self._keep = task.problem.groups.keep
        self._rank = task.problem.groups.ranks(task.seed)
        self._chains: dict[bytes, list[tuple[BoolArray, float]]] = {}

    def chain(self, step: Step) -> list[Step]:
        """The step and what it becomes with each unit that goes, with their errors; a step of none
        or of more than 30 units alone."""
        if not 1 <= step.size <= MOST_UNITS:
            return [step]
        return [_reduced(step, selected, error) for selected, error in self.sets(step.selected)]

    def sets(self, selected: BoolArray) -> list[tuple[BoolArray, float]]:
        """The sets from this one to what is left of it, and the errors with them; a set of none or
        of more than 30 units alone."""
        key = selected.tobytes()
        if key not in self._chains:  # depends on the set alone: steps of a path often share it
            self._chains[key] = self._pruned(selected)
        return self._chains[key]

    def _pruned(self, selected: BoolArray) -> list[tuple[BoolArray, float]]:
        if not 1 <= selected.sum() <= MOST_UNITS:
            return [(selected, self._judge.error(selected))]
        chain = [(selected, self._judge.error(selected))]
        last = self._each_left_out(selected)
        while (g := self._first_not_missed(selected, last)) is not None:
            selected = _without(selected, g)
            chain.append((selected, self._judge.error(selected)))
            del last[g]
        return chain

    def _each_left_out(self, selected: BoolArray) -> dict[int, float]:
        """Mean error without each of the units that can go."""
        if selected.sum() == 1:
            return {}
        units = np.flatnonzero(selected & ~self._keep)
        return {int(g): self._judge.error(_without(selected, int(g))) for g in units}

    def _first_not_missed(self, selected: BoolArray, last: dict[int, float]) -> int | None:
        """The first unit that can go, in the order of the errors when last tried."""
        if selected.sum() == 1:
            return None
        units = np.array(list(last), dtype=np.int64)
        for g in units[falling(-np.array(list(last.values())), self._rank[units])].tolist():
            rest = _without(selected, g)
            last[g] = self._judge.error(rest)
            rise, spread = self._judge.rise(selected, rest)
            if rise <= spread:
                return int(g)
        return None


def prune_path(task: Task, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps and what the :class:`BackwardPass` makes of them, of each size the one of least error.

    The pass is made from the steps of up to twice `max_size` and two units, and from the smallest
    of more units than `max_size`.
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


def _reduced(step: Step, selected: BoolArray, error: float) -> Step:
    if np.array_equal(selected, step.selected):
        return dataclasses.replace(step, error=error)
    importance = shares(np.where(selected, step.importance, 0.0))
    return dataclasses.replace(  # what was said and seen is of the larger set
        step, selected=selected, importance=importance, error=error, notes=(), trace=None
    )


def _without(selected: BoolArray, group: int) -> BoolArray:
    rest = selected.copy()
    rest[group] = False
    return rest
