"""The leaf of a row, and other values for leaves."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray, Int32Array, WeightArray
from treeselect.engine.cache import inner, kernel
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.ensembles.ordering import in_order_of
from treeselect.engine.growing.nodes import Trees
from treeselect.engine.losses import Loss
from treeselect.engine.splitting.partition import code_of, goes_left


@inner
def leaf_of(nodes, first, data, i):
    """Leaf of a row in the tree whose nodes begin at `first`."""
    at = first
    while nodes.column[at] >= 0:
        j = nodes.column[at]
        left = goes_left(
            code_of(data, j, i), np.int64(nodes.code[at]), nodes.missing_left[at], data.is_factor[j]
        )
        at = first + nodes.left[at] + (0 if left else 1)
    return at


@kernel
def write_leaves(nodes, first, data, leaves):
    """Write the leaf of each row in the tree whose nodes begin at `first`."""
    for i in range(leaves.shape[0]):
        leaves[i] = leaf_of(nodes, first, data, i) - first


def leaves_of(trees: Trees, tree: int, data: BinnedData) -> Int32Array:
    """Node of one tree, numbered from its root, that is the leaf of each row."""
    leaves = np.empty(data.n_rows, dtype=np.int32)
    write_leaves(trees.nodes, trees.start[tree], data, leaves)
    return leaves


_FARTHEST = 30.0
"""Values of leaves are sought between minus this and this."""

_MOST_STEPS, _NEAR = 30, 1e-4


def with_leaf_fits(
    trees: Trees,
    data: BinnedData,
    loss: Loss,
    y: FloatArray,
    base: FloatArray,
    weight: WeightArray,
) -> Trees:
    """The same trees, each leaf with the value that minimises the loss of its rows beside their
    base, in the bag or not, plus half its square times the mean curvature at the base, as of one
    more row that speaks for 0.

    Newton steps from 0; one that leaves the interval in which the minimum is known to lie, at first
    -30 to 30, is replaced by a bisection: beside a rare event the curvature is next to nothing.
    Under monotone constraints the values are then put in order (``ordering.in_order_of``).

    Parameters
    ----------
    trees : Trees
    base : ndarray of float, shape (n_rows,)
        Linear predictor without the tree.
    """
    rows = np.flatnonzero(weight)
    y, base, weight = y[rows], base[rows], weight[rows].astype(np.float64)
    of_rows = loss.of(y, weight)
    prior = mean_curvature(of_rows.curvature(base), weight)
    value = np.zeros_like(trees.nodes.value)
    for tree in range(trees.n_trees):
        leaf = leaves_of(trees, tree, data)[rows]
        n_nodes = int(trees.start[tree + 1] - trees.start[tree])
        own, least, most = np.outer([0.0, -_FARTHEST, _FARTHEST], np.ones(n_nodes))
        for _ in range(_MOST_STEPS):
            eta = base + own[leaf]
            sums = np.bincount(leaf, weight * of_rows.negative_gradient(eta), n_nodes)
            slope = sums - prior * own
            curvature = np.bincount(leaf, weight * of_rows.curvature(eta), n_nodes) + prior
            least, most = np.where(slope > 0, own, least), np.where(slope > 0, most, own)
            found = own + slope / curvature
            inside = (found >= least) & (found <= most)  # equal where a leaf has arrived
            found = np.where(inside, found, (least + most) / 2)
            moved = np.abs(found - own).max(initial=0.0)
            own = found
            if moved < _NEAR:
                break
        value[trees.start[tree] : trees.start[tree + 1], 0] = own
    fitted = trees._replace(nodes=trees.nodes._replace(value=value))
    return in_order_of(fitted, data.monotone)


def mean_curvature(curvature: FloatArray, weight: FloatArray) -> float:
    """Weighted mean, at least a thousandth, so that something can be divided by it."""
    return max(float(np.average(curvature, weights=weight)), 1e-3)
