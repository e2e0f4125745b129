"""The open leaves of a tree that grows best first, and the best split of each column in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.targets import Target
from treeselect.engine.growing.growth import Growth
from treeselect.engine.splitting.histograms import cell_size

ENOUGH_ROWS = 1024
"""Rows of a bag from which on histograms are kept: less costs more than it saves."""


MOST_MEMORY = 2**29
"""Most bytes of histograms."""


class LeafTable(NamedTuple):
    """The leaves of a tree that grows best first, at most `n` of them.

    Attributes
    ----------
    leaf : ndarray of int64, shape (n, 5)
        Number of the node, its first and last row, its depth, and the column of its best split,
        -1 if it has none.
    worth : ndarray of float64, shape (n,)
        Of the best split.
    base : ndarray of float64, shape (n,)
        The node's own term (see ``penalty``), 0 unless the criterion is un-centred.
    total : ndarray of int64, shape (n, max(n_classes, 2))
        Sums of the node.
    gain : ndarray of float64, shape (n, n_columns)
        Best gain of each column, -1 if there is none.
    code, missing_left : ndarray, shape (n, n_columns)
        The split that has it.
    histogram : ndarray of int64, shape (n, cells of all columns)
        Or (0, 0) if no histograms are kept.
    """

    leaf: IntArray
    worth: FloatArray
    base: FloatArray
    total: IntArray
    gain: FloatArray
    code: AnyArray
    missing_left: BoolArray
    histogram: IntArray


def leaf_table(data: BinnedData, target: Target, growth: Growth, n_rows: int) -> LeafTable:
    """Memory for trees on at most `n_rows` rows: 11 bytes for each leaf and column, so that wide
    data want a bound on the leaves, and histograms up to ``MOST_MEMORY``."""
    n = max(min(growth.max_leaves, n_rows), 1)
    n_columns = len(data.codes)
    width = 256 * 8 * len(data.blocks) * cell_size(target)
    keeps = (
        not target.has_outputs
        and n_rows >= ENOUGH_ROWS
        and growth.n_candidates >= data.n_groups
        and 8 * n * width <= MOST_MEMORY
    )
    return LeafTable(
        leaf=np.zeros((n, 5), dtype=np.int64),
        worth=np.zeros(n),
        base=np.zeros(n),
        total=np.zeros((n, max(target.n_classes, 2)), dtype=np.int64),
        gain=np.zeros((n, n_columns)),
        code=np.zeros((n, n_columns), dtype=np.uint16),
        missing_left=np.zeros((n, n_columns), dtype=np.bool_),
        histogram=np.zeros((n, width) if keeps else (0, 0), dtype=np.int64),
    )
