"""Nodes of trees, and collections of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine._types import BoolArray, FloatArray, Int32Array, IntArray
from treeselect.engine.binning import BinnedData
from treeselect.engine.cache import inner

LEAF = -1
"""Column of a node that is not split."""


class Nodes(NamedTuple):
    """Nodes of one or more trees, as parallel arrays of shape (n_nodes,).

    Children stand side by side: the right child of a node is ``left + 1``. Numbers of nodes are
    relative to the tree's first node. A leaf has column -1 and left 0.

    Attributes
    ----------
    column, code, missing_left, left
        The split (see ``splitting.goes_left``).
    value : ndarray of float64, shape (n_nodes, n_outputs)
        Weighted mean of the target over the rows of the node, Newton step, or shares of classes.
    gain : float
        Unpenalised gain of the split, 0 for a leaf.
    weight : int
        Weight of the node's rows (how many they are, counting copies).
    """

    column: Int32Array
    code: IntArray
    missing_left: BoolArray
    left: Int32Array
    value: FloatArray
    gain: FloatArray
    weight: IntArray


def empty_nodes(capacity: int, n_outputs: int = 1) -> Nodes:
    """Room for `capacity` nodes. Zeroed, so that unused entries never differ between runs."""
    return Nodes(
        column=np.zeros(capacity, dtype=np.int32),
        code=np.zeros(capacity, dtype=np.int64),
        missing_left=np.zeros(capacity, dtype=np.bool_),
        left=np.zeros(capacity, dtype=np.int32),
        value=np.zeros((capacity, n_outputs)),
        gain=np.zeros(capacity),
        weight=np.zeros(capacity, dtype=np.int64),
    )


@inner
def write_leaf(nodes, at):
    """Make a node a leaf; its value and weight are written by the caller."""
    nodes.column[at] = LEAF
    nodes.code[at] = 0
    nodes.missing_left[at] = False
    nodes.left[at] = 0
    nodes.gain[at] = 0.0


@inner
def write_split(nodes, at, column, code, missing_left, left, gain):
    """Make a leaf a split."""
    nodes.column[at] = column
    nodes.code[at] = code
    nodes.missing_left[at] = missing_left
    nodes.left[at] = left
    nodes.gain[at] = gain


class Trees(NamedTuple):
    """Trees behind one another.

    Attributes
    ----------
    nodes : Nodes
        Nodes of all trees.
    start : ndarray of int64, shape (n_trees + 1,)
        Tree ``i`` has the nodes ``start[i]`` to ``start[i + 1] - 1``.
    """

    nodes: Nodes
    start: IntArray

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.start) - 1


def join_trees(parts: Sequence[Trees]) -> Trees:
    """One collection from several, in order."""
    nodes = Nodes._make(
        np.concatenate(arrays) for arrays in zip(*(p.nodes for p in parts), strict=True)
    )
    sizes = np.concatenate([np.diff(p.start) for p in parts])
    return Trees(nodes, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def group_gains(trees: Trees, data: BinnedData) -> FloatArray:
    """Unpenalised gain of each group in each tree, shape (n_trees, n_groups)."""
    gains = np.zeros((trees.n_trees, data.n_groups))
    split = np.flatnonzero(trees.nodes.column >= 0)
    tree = np.searchsorted(trees.start, split, side="right") - 1
    group = data.group_of[trees.nodes.column[split]]
    np.add.at(gains, (tree, group), trees.nodes.gain[split])
    return gains
