"""The backward pass: selected units that are not missed are dropped.

A method that goes forward keeps what it once took. Of x, y and their sum it may take the sum first
and then x and y, and never lets the sum go.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from treeselect.algorithms.base import Problem, Step, best_of_each_size
from treeselect.design import BoolArray, FloatArray, WeightArray
from treeselect.engine.binning import select_groups
from treeselect.engine.forests import BOOTSTRAP, bagged_forest
from treeselect.engine.growth import UNBOUNDED, Growth
from treeselect.engine.out_of_bag import out_of_bag
from treeselect.engine.random import stream_seed
from treeselect.engine.targets import copies, target_of_classes, target_of_mean

_TREES = 200
"""Trees of the forests that are compared."""

_MOST_UNITS = 30
"""Larger selections are left as they are: each unit of each round costs a forest."""


def prune_step(problem: Problem, weight: WeightArray, step: Step, seed: int) -> Step:
    """Drop units from a step, one after the other, as long as none is missed.

    The unit goes whose removal leaves the least out-of-bag squared error (for classes Brier's
    score) of a forest on the others, if that is above the error with all of them by at most the
    standard error of the difference over the rows. Kept units stay.
    """
    selected = step.selected.copy()
    if not 1 <= step.size <= _MOST_UNITS:
        return step
    error = _errors(problem, weight, selected, seed)
    while selected.sum() > 1:
        others = [(int(g), _without(selected, int(g))) for g in np.flatnonzero(selected)]
        tried = [
            (float(_mean(found := _errors(problem, weight, rest, seed), weight)), g, found)
            for g, rest in others
            if not problem.groups.keep[g] and rest.any()
        ]
        if not tried:
            break
        _, g, left = min(tried, key=lambda one: (one[0], step.importance[one[1]]))
        if not _is_missed(error, left, weight):
            selected[g] = False
            error = left
        else:
            break
    importance = np.where(selected, step.importance, 0.0)
    total = importance.sum()
    return dataclasses.replace(
        step,
        selected=selected,
        importance=importance / total if total > 0 else importance,
        error=_mean(error, weight),
    )


def prune_path(
    problem: Problem, weight: WeightArray, steps: Sequence[Step], seed: int
) -> tuple[Step, ...]:
    """The steps after :func:`prune_step`, of rising size; the best of each."""
    best = best_of_each_size(prune_step(problem, weight, step, seed) for step in steps)
    return tuple(best[size] for size in sorted(best))


def _without(selected: BoolArray, group: int) -> BoolArray:
    rest = selected.copy()
    rest[group] = False
    return rest


def _errors(problem: Problem, weight: WeightArray, groups: BoolArray, seed: int) -> FloatArray:
    """Out-of-bag squared error of each row, shape (n_rows,); NaN where there is none."""
    part = select_groups(problem.data, groups)
    family, y = problem.family, problem.y
    if family.n_classes > 2:
        truth = np.eye(family.n_classes)[y.astype(np.int64)]
        target = target_of_classes(y, family.n_classes, weight)
    else:
        truth = family.loss.negative_gradient(y, problem.constant(weight))
        target = target_of_mean(truth, weight)
    counts = copies(weight)
    own_seed = stream_seed(seed, "prune")
    trees = bagged_forest(
        part, target, counts, n_trees=_TREES, seed=own_seed, sampling=BOOTSTRAP,
        growth=Growth(UNBOUNDED, family.min_leaf, part.n_groups, 0.0),
        rank=np.arange(part.n_groups),
    )  # fmt: skip
    fitted = out_of_bag(trees, part, counts, BOOTSTRAP, own_seed).prediction
    return np.asarray(((truth.reshape(fitted.shape) - fitted) ** 2).sum(axis=1))


def _mean(error: FloatArray, weight: WeightArray) -> float:
    known = ~np.isnan(error) & (weight > 0)
    return float(np.average(error[known], weights=weight[known]))


def _is_missed(before: FloatArray, after: FloatArray, weight: WeightArray) -> bool:
    """Whether the error rises by more than the standard error of its rise."""
    known = ~np.isnan(before) & ~np.isnan(after) & (weight > 0)
    rise, share = (after - before)[known], weight[known] / weight[known].sum()
    mean = float(share @ rise)
    spread = float(np.sqrt((share**2) @ (rise - mean) ** 2))
    return mean > spread
