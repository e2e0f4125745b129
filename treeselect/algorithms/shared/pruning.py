"""The backward pass: selected units that are not missed are dropped.

A method that goes forward keeps what it once took. Of x, y and their sum it may take the sum first
and then x and y, and never lets the sum go.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from treeselect.algorithms.shared.base import Step, best_of_each_size, shares
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.data.binning import select_groups
from treeselect.engine.data.targets import copies, target_of_classes, target_of_mean
from treeselect.engine.ensembles.forests import BOOTSTRAP, bagged_forest
from treeselect.engine.ensembles.out_of_bag import out_of_bag
from treeselect.engine.growing.growth import UNBOUNDED, Growth
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling

_TREES = 200
"""Trees of the forests that are compared."""

_MOST_UNITS = 30
"""Larger selections are left as they are: each of their units costs some forests."""


class BackwardPass:
    """Drops units from the steps of one problem, one after the other, as long as none is missed.

    The unit goes whose removal leaves the least out-of-bag squared error (for classes Brier's
    score) of a forest on the others, if that is above the error with all of them by at most the
    standard error of the difference over the rows. After the first removal units are tried by the
    error that their removal left when it was last tried, and the first that is not missed goes:
    ``2 s`` forests or so for s units instead of ``s ** 2 / 2``. Kept units stay.

    Parameters
    ----------
    task : Task
    """

    def __init__(self, task: Task) -> None:
        self._problem, self._weight, self._seed = task.problem, task.weight, task.seed
        self._rank = task.problem.groups.ranks(task.seed)
        self._chains: dict[bytes, list[tuple[BoolArray, float]]] = {}

    def chain(self, step: Step) -> list[Step]:
        """The step and what it becomes with each unit that goes, with their errors; a step of none
        or of more than 30 units alone."""
        if not 1 <= step.size <= _MOST_UNITS:
            return [step]
        key = step.selected.tobytes()
        if key not in self._chains:  # depends on the set alone: steps of a path often share it
            self._chains[key] = self._prune(step.selected)
        return [_reduced(step, selected, error) for selected, error in self._chains[key]]

    def _prune(self, selected: BoolArray) -> list[tuple[BoolArray, float]]:
        """The sets from this one to what is left of it, and the errors with them."""
        error = self._errors(selected)
        chain = [(selected, self._mean(error))]
        last = self._each_left_out(selected)
        while (found := self._first_not_missed(selected, error, last)) is not None:
            g, error = found
            selected = _without(selected, g)
            chain.append((selected, self._mean(error)))
            del last[g]
        return chain

    def _each_left_out(self, selected: BoolArray) -> dict[int, float]:
        """Mean error without each of the units that can go."""
        if selected.sum() == 1:
            return {}
        units = np.flatnonzero(selected & ~self._problem.groups.keep)
        return {int(g): self._mean(self._errors(_without(selected, int(g)))) for g in units}

    def _first_not_missed(
        self, selected: BoolArray, error: FloatArray, last: dict[int, float]
    ) -> tuple[int, FloatArray] | None:
        """The first unit that can go, in the order of the errors when last tried, and the errors
        without it."""
        if selected.sum() == 1:
            return None
        units = np.array(list(last), dtype=np.int64)
        for g in units[falling(-np.array(list(last.values())), self._rank[units])].tolist():
            left = self._errors(_without(selected, g))
            last[g] = self._mean(left)
            if not self._is_missed(error, left):
                return g, left
        return None

    def _errors(self, selected: BoolArray) -> FloatArray:
        """Out-of-bag squared error of each row, shape (n_rows,); NaN where there is none."""
        problem, weight = self._problem, self._weight
        part = select_groups(problem.data, selected)
        family, y = problem.family, problem.y
        if family.n_classes > 2:
            truth = np.eye(family.n_classes)[y.astype(np.int64)]
            target = target_of_classes(y, family.n_classes, weight)
        else:
            truth = family.loss.negative_gradient(y, problem.constant(weight))
            target = target_of_mean(truth, weight)
        counts = copies(weight)
        seed = stream_seed(self._seed, "prune")
        trees = bagged_forest(
            part, target, counts, n_trees=_TREES, seed=seed, sampling=BOOTSTRAP,
            growth=Growth(UNBOUNDED, family.min_leaf, part.n_groups, 0.0),
            rank=np.arange(part.n_groups),
        )  # fmt: skip
        fitted = out_of_bag(trees, part, counts, BOOTSTRAP, seed).prediction
        return np.asarray(((truth.reshape(fitted.shape) - fitted) ** 2).sum(axis=1))

    def _mean(self, error: FloatArray) -> float:
        known = ~np.isnan(error) & (self._weight > 0)
        return float(np.average(error[known], weights=self._weight[known]))

    def _is_missed(self, before: FloatArray, after: FloatArray) -> bool:
        """Whether the error rises by more than the standard error of its rise."""
        weight = self._weight
        known = ~np.isnan(before) & ~np.isnan(after) & (weight > 0)
        rise, share = (after - before)[known], weight[known] / weight[known].sum()
        mean = float(share @ rise)
        spread = float(np.sqrt((share**2) @ (rise - mean) ** 2))
        return mean > spread


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
    importance = shares(np.where(selected, step.importance, 0.0))
    return dataclasses.replace(step, selected=selected, importance=importance, error=error)


def _without(selected: BoolArray, group: int) -> BoolArray:
    rest = selected.copy()
    rest[group] = False
    return rest
