"""Rows that are held out to choose a method's own sizes by."""

from __future__ import annotations

import numpy as np

from treeselect.designs.problem import Problem
from treeselect.engine.arrays import IntArray, WeightArray

_SHARE = 5
"""One row in so many is held out."""


def hold_rows_out(problem: Problem, weight: WeightArray, seed: int) -> tuple[WeightArray, IntArray]:
    """Weights without a fifth of the rows, and these rows.

    A row is held out with all its copies; of each class a fifth, at least one row where there are
    two. Where that leaves none to hold out, the rows are judged that are learned from.
    """
    rows = np.flatnonzero(weight > 0)
    order = np.random.default_rng(seed).permutation(rows)
    place = np.arange(len(order))
    if problem.family.has_classes:
        order = order[np.argsort(problem.y[order], kind="stable")]
        counts = np.unique(problem.y[rows], return_counts=True)[1]
        place = np.concatenate([np.arange(n) for n in counts])
    held_out = np.sort(order[place % _SHARE == 1])
    train = weight.copy()
    train[held_out] = 0
    return train, held_out if len(held_out) else rows
