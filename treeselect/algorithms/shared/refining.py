"""Refinement: the sets of a method after exchanges that lower the out-of-bag error.

A method that follows a path seldom drops a unit, and misses pairs that are informative only
jointly.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from treeselect.algorithms.shared.base import Step, best_of_each_size, ranked_step
from treeselect.algorithms.shared.exchanging import Found, Search
from treeselect.algorithms.shared.pruning import MOST_UNITS, BackwardPass
from treeselect.algorithms.shared.scoring import score_of
from treeselect.algorithms.shared.sizes import step_of_size
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray
from treeselect.errors import listing

NO_FURTHER = ", or do not lower the out-of-bag error"
"""Continues a method's `left_out` for refined paths."""


class Refinement:
    """Improves the steps of one problem; units that are forced in stay.

    All sets are judged by the out-of-bag error of forests on them, with the same bags. A set of the
    method is replaced only if the error falls by more than its standard error, so the refined set
    never has a higher error.

    Parameters
    ----------
    task : Task
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

        Parameters
        ----------
        steps : sequence of Step
            In any order; the first of each size is used.
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
