"""Trees of zeros and ones in a file: counts of their leaves, from which all else is computed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeselect.engine.arrays import IntArray
from treeselect.engine.growing.nodes import LEAF, Trees
from treeselect.modelfile.checks import check

_MOST = 2.0**53
"""Largest count that a double holds exactly."""


class Counted(NamedTuple):
    """Rows of each leaf, counting copies, and how many of them are ones; shape (n_leaves,)."""

    weight: IntArray
    ones: IntArray


def counts_of(trees: Trees) -> Counted | None:
    """What suffices to compute the weights, values and gains of trees, bit by bit; None for trees
    of other responses or weights."""
    nodes = trees.nodes
    if nodes.value.shape[1] != 1 or not ((nodes.value >= 0) & (nodes.value <= 1)).all():
        return None
    leaves = nodes.column == LEAF
    ones = np.rint(nodes.value[leaves, 0] * nodes.weight[leaves]).astype(np.int64)
    found = Counted(nodes.weight[leaves], ones)
    if not (nodes.weight > 0).all():
        return None
    back = with_counts(trees, found).nodes
    same = (
        np.array_equal(back.weight, nodes.weight)
        and np.array_equal(back.value, nodes.value)
        and np.array_equal(back.gain, nodes.gain)
    )
    return found if same else None


def with_counts(trees: Trees, counts: Counted) -> Trees:
    """Trees with the weights, values and gains that follow from the counts of their leaves.

    A node has the rows of its children. Its value is the share of ones. The gain of a split of N
    rows with S ones into A rows with R ones and B others is the decrease of the sum of squares,
    ``(S A - R N)**2 / (A B) / N``, per row of the tree.

    Raises
    ------
    ValueError
        If there are not as many counts as leaves, they are not counts, or two nodes share a child.
    """
    weight_of, ones_of = counts
    column, start = trees.nodes.column, trees.start
    leaves = column == LEAF
    check(
        weight_of.shape == ones_of.shape == (int(leaves.sum()),)
        and bool(((ones_of >= 0) & (ones_of <= weight_of) & (weight_of > 0)).all())
        and float(weight_of.astype(np.float64).sum()) < _MOST,
        "counts of leaves",
    )
    n = len(column)
    weight, ones = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    weight[leaves], ones[leaves] = weight_of, ones_of
    tree = np.repeat(np.arange(trees.n_trees), np.diff(start))
    left = start[tree] + trees.nodes.left
    for parents in reversed(_levels(left, ~leaves, start[:-1])):
        for total in (weight, ones):
            total[parents] = total[left[parents]] + total[left[parents] + 1]
    w, s = weight.astype(np.float64), ones.astype(np.float64)
    gain = np.zeros(n)
    inner = np.flatnonzero(~leaves)
    a, b, below = w[left[inner]], w[left[inner] + 1], s[left[inner]]
    excess = s[inner] * a - below * w[inner]
    gain[inner] = excess * excess / (a * b) / w[inner] * (1.0 / w[start[:-1]])[tree[inner]]
    return trees._replace(
        nodes=trees.nodes._replace(weight=weight, value=(s / w)[:, np.newaxis], gain=gain)
    )


def _levels(left: IntArray, is_split: NDArray[np.bool_], roots: IntArray) -> list[IntArray]:
    """Split nodes by depth."""
    found, n_seen = [], len(roots)
    parents = roots[is_split[roots]]
    while len(parents):
        found.append(parents)
        n_seen += 2 * len(parents)
        check(n_seen <= len(left), "nodes with the same child")  # they would multiply by depth
        below = np.concatenate([left[parents], left[parents] + 1])
        parents = below[is_split[below]]
    check(n_seen == len(left), "nodes that no other leads to")
    return found
