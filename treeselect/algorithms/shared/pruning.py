"""The backward pass: redundant units are dropped from a selection.

A method that goes forward keeps a unit once it has entered. Of x, y and their sum, it may select
the sum first and then x and y, and never drop the sum.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from treeselect.algorithms.shared.base import Step, best_of_each_size, shares
from treeselect.algorithms.shared.judged_rows import rows_to_judge
from treeselect.algorithms.shared.judging import Judge
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray
from treeselect.engine.rounding import falling

_TREES, _LEAST_TREES, _ROWS_TIMES_TREES = 200, 50, 600_000
"""Trees of the compared forests: 200 on up to 3,000 rows, and fewer on more, at least 50 (see
``exchanging.usual_trees``)."""

_ROWS = 20_000
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

    Parameters
    ----------
    task : Task
    judge : Judge, optional
        Judge of the sets; by default one of 200 trees, down to 50 on more than 3,000 rows.
    """

    def __init__(self, task: Task, judge: Judge | None = None) -> None:
        self._judge = judge or _judge(task)
        self._keep = task.problem.groups.keep
        self._rank = task.problem.groups.ranks(task.seed)
        self._chains: dict[bytes, list[tuple[BoolArray, float]]] = {}

    def chain(self, step: Step) -> list[Step]:
        """The step, and the step after each dropped unit, with their errors.

        A step of no units, or of more than 30, is returned unchanged.
        """
        if not 1 <= step.size <= MOST_UNITS:
            return [step]
        return [_reduced(step, selected, error) for selected, error in self.sets(step.selected)]

    def sets(self, selected: BoolArray) -> list[tuple[BoolArray, float]]:
        """The set, and the set after each dropped unit, with their errors.

        A set of no units, or of more than 30, is returned unchanged.
        """
        key = selected.tobytes()
        if key not in self._chains:  # depends only on the set, which steps of a path often share
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
        """Mean error without each of the units that may be dropped."""
        if selected.sum() == 1:
            return {}
        units = np.flatnonzero(selected & ~self._keep)
        return {int(g): self._judge.error(_without(selected, int(g))) for g in units}

    def _first_not_missed(self, selected: BoolArray, last: dict[int, float]) -> int | None:
        """The first redundant unit, in the order of the errors when last tried."""
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


def _judge(task: Task) -> Judge:
    n_rows = len(task.once(rows_to_judge, _ROWS).places)
    affordable = _ROWS_TIMES_TREES // max(n_rows, 1)
    return Judge(task, min(_TREES, max(_LEAST_TREES, affordable)), "prune", _ROWS)


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
