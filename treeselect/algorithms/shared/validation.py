"""Rows held out to choose the sizes of an ensemble."""

from __future__ import annotations

import numpy as np

from treeselect.designs.problem import Problem
from treeselect.designs.strata import units_of
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import IntArray, WeightArray

_SHARE = 5
"""One row in five is held out."""


def hold_rows_out(problem: Problem, weights: RowWeights, seed: int) -> tuple[WeightArray, IntArray]:
    """Weights without a held-out fifth of the rows, and the held-out rows.

    A row is held out with all its copies and with all rows of its cluster. A fifth of each class is
    held out, at least one row (or cluster) where there are two. If none can be held out, the
    training rows are used instead.
    """
    units, rows = units_of(problem, weights), weights.rows
    order = np.random.default_rng(seed).permutation(len(units.stratum))
    order = order[np.argsort(units.stratum[order], kind="stable")]
    place = np.concatenate([np.arange(n) for n in np.bincount(units.stratum)])
    held_out = rows[np.isin(units.of_row, order[place % _SHARE == 1])]
    train = weights.values.copy()
    train[held_out] = 0
    return train, held_out if len(held_out) else rows
