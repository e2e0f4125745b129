"""The leaf of a row, and other values for leaves."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray, Int32Array, WeightArray
from treeselect.engine.cache import inner, kernel
from treeselect.engine.data.binning import BinnedData
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


@kernel
def add_to_leaves(nodes, start, data, gradient, curvature, weight, sums, curvatures):
    """Add each weighted row's gradient and curvature to its leaf in every tree."""
    for i in range(weight.shape[0]):
        if weight[i] == 0:
            continue
        for tree in range(start.shape[0] - 1):
            at = leaf_of(nodes, start[tree], data, i)
            sums[at] += weight[i] * gradient[i]
            curvatures[at] += weight[i] * curvature[i]


def with_newton_steps(
    trees: Trees, data: BinnedData, gradient: FloatArray, curvature: FloatArray, weight: WeightArray
) -> Trees:
    """The same trees whose leaves hold the Newton step of all their rows.

    ``sum(w g) / (sum(w h) + mean(h))`` over the rows of the leaf, in the bag or not.
    """
    sums, curvatures = np.zeros((2, len(trees.nodes.column)))
    add_to_leaves(
        trees.nodes, trees.start, data, gradient, curvature,
        weight.astype(np.float64),
        sums, curvatures,
    )  # fmt: skip
    prior = float(np.average(curvature, weights=weight))
    value = sums / (curvatures + prior)
    return trees._replace(nodes=trees.nodes._replace(value=value[:, np.newaxis]))


def with_leaf_fits(
    trees: Trees,
    data: BinnedData,
    loss: Loss,
    y: FloatArray,
    base: FloatArray,
    weight: WeightArray,
    n_steps: int = 2,
) -> Trees:
    """The same trees after further Newton steps of each leaf on its own.

    A leaf's value then nearly minimises the loss of its rows, in the bag or not, beside their base,
    plus half its square times the mean curvature at the base, as of one more row that speaks for 0.

    Parameters
    ----------
    trees : Trees
        With the first step as values, shape (n_nodes, 1).
    base : ndarray of float, shape (n_rows,)
        Linear predictor without the tree.
    """
    rows = np.flatnonzero(weight)
    y, base, weight = y[rows], base[rows], weight[rows].astype(np.float64)
    prior = float(np.average(loss.curvature(y, base), weights=weight))
    value = trees.nodes.value.copy()
    for tree in range(trees.n_trees):
        own = value[trees.start[tree] : trees.start[tree + 1], 0]
        leaf = leaves_of(trees, tree, data)[rows]
        for _ in range(n_steps):
            eta = base + own[leaf]
            sums = np.bincount(leaf, weight * loss.negative_gradient(y, eta), len(own))
            curvatures = np.bincount(leaf, weight * loss.curvature(y, eta), len(own))
            own += (sums - prior * own) / (curvatures + prior)
    return trees._replace(nodes=trees.nodes._replace(value=value))
