"""Quantiles of the response in the leaves of a forest (quantile regression forests)."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import AnyArray, FloatArray
from treeselect.engine.cache import kernel
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.ensembles.leaves import leaves_of
from treeselect.engine.growing.nodes import Trees
from treeselect.engine.rounding import PRECISION


def leaf_quantiles(
    trees: Trees,
    data: BinnedData,
    y: FloatArray,
    weight: AnyArray,
    new: BinnedData,
    shares: FloatArray,
) -> FloatArray:
    """Quantiles of the response of the rows that share leaves with each new row.

    In each tree, a row weighs ``w_i / sum w_j`` over the rows j of the leaf, and the mean over the
    trees is its weight for the new row: Meinshausen (2006), equations 4 and 5. All rows take part,
    in the bag or not. A quantile is the least response at which the weights add up to its share.

    Parameters
    ----------
    trees : Trees
    data : BinnedData
        The rows of the forest.
    y : ndarray of float64, shape (n_rows,)
    weight : ndarray, shape (n_rows,)
        Rows of weight 0 take no part.
    new : BinnedData
    shares : ndarray of float64, shape (n_shares,)
        Strictly between 0 and 1, rising.

    Returns
    -------
    ndarray of float64, shape (n_new_rows, n_shares)
    """
    order = np.argsort(y, kind="stable")
    order = order[weight[order] > 0]
    mass = weight[order].astype(np.float64)
    members = np.empty((trees.n_trees, len(order)), dtype=np.uint32)
    begin = np.zeros(len(trees.nodes.column) + 1, dtype=np.int64)
    leaves = np.empty((trees.n_trees, new.n_rows), dtype=np.int32)
    for tree in range(trees.n_trees):
        first, last = trees.start[tree], trees.start[tree + 1]
        own = leaves_of(trees, tree, data)[order]
        members[tree] = np.argsort(own, kind="stable")
        begin[first:last] = np.searchsorted(own[members[tree]], np.arange(last - first))
        leaves[tree] = leaves_of(trees, tree, new)
    found = np.empty((new.n_rows, len(shares)))
    write_quantiles(
        trees.start, leaves, begin, members, mass, y[order], shares, np.empty(len(order)), found
    )
    return found


@kernel
def write_quantiles(start, leaves, begin, members, mass, y, shares, weight, found):
    """Write the quantiles of each new row; responses rise, `weight` is working memory.

    The members of a leaf stand in their tree's row of `members` from ``begin`` of its node to that
    of the next one.
    """
    n_trees, n_rows = members.shape
    for i in range(found.shape[0]):
        for r in range(n_rows):
            weight[r] = 0.0
        for tree in range(n_trees):
            node = start[tree] + leaves[tree, i]
            end = begin[node + 1] if node + 1 < start[tree + 1] else n_rows
            total = 0.0
            for m in range(begin[node], end):
                total += mass[members[tree, m]]
            for m in range(begin[node], end):
                weight[members[tree, m]] += mass[members[tree, m]] / total
        r = 0
        below = weight[0]
        for s in range(shares.shape[0]):
            wanted = n_trees * (shares[s] - PRECISION)
            while below < wanted and r + 1 < n_rows:
                r += 1
                below += weight[r]
            found[i, s] = y[r]
