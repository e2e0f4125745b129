"""Nodes of trees, and collections of trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    Int32Array,
    IntArray,
    UInt16Array,
)
from treeselect.engine.cache import inner, kernel
from treeselect.engine.data.binning import BinnedData

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
    code: UInt16Array
    missing_left: BoolArray
    left: Int32Array
    value: FloatArray
    gain: FloatArray
    weight: IntArray


def empty_nodes(capacity: int, n_outputs: int = 1) -> Nodes:
    """Room for `capacity` nodes. Zeroed, so that unused entries never differ between runs."""
    return Nodes(
        column=np.zeros(capacity, dtype=np.int32),
        code=np.zeros(capacity, dtype=np.uint16),
        missing_left=np.zeros(capacity, dtype=np.bool_),
        left=np.zeros(capacity, dtype=np.int32),
        value=np.zeros((capacity, n_outputs)),
        gain=np.zeros(capacity),
        weight=np.zeros(capacity, dtype=np.int64),
    )


@inner
def nodes_from(nodes, first):
    """The nodes of the tree that begins there, and all room behind it."""
    return Nodes(
        nodes.column[first:], nodes.code[first:], nodes.missing_left[first:], nodes.left[first:],
        nodes.value[first:], nodes.gain[first:], nodes.weight[first:],
    )  # fmt: skip


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


def more_room(nodes: Nodes, n_used: int, capacity: int) -> Nodes:
    """The nodes that are used, with room for others. What is not used takes no memory yet."""
    larger = empty_nodes(capacity, nodes.value.shape[1])
    pairs: Iterable[tuple[AnyArray, AnyArray]] = zip(nodes, larger, strict=True)
    for old, new in pairs:
        new[:n_used] = old[:n_used]
    return larger


def give_back(nodes: Nodes, n_used: int) -> None:
    """Shorten the arrays, of which there must be no views, to the nodes that are used."""
    for array in nodes:
        array.resize((n_used, *array.shape[1:]), refcheck=False)


def join_trees(parts: Sequence[Trees]) -> Trees:
    """One collection from several, in order."""
    if len(parts) == 1:
        return parts[0]
    nodes = Nodes._make(
        np.concatenate(arrays) for arrays in zip(*(p.nodes for p in parts), strict=True)
    )
    sizes = np.concatenate([np.diff(p.start) for p in parts])
    return Trees(nodes, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


@kernel
def add_gains(column, gain, start, group_of, gains):
    """Add the gain of each split to that of its group in its tree."""
    for tree in range(start.shape[0] - 1):
        for at in range(start[tree], start[tree + 1]):
            if column[at] >= 0:
                gains[tree, group_of[column[at]]] += gain[at]


def group_gains(trees: Trees, data: BinnedData) -> FloatArray:
    """Unpenalised gain of each group in each tree, shape (n_trees, n_groups)."""
    gains = np.zeros((trees.n_trees, data.n_groups))
    add_gains(trees.nodes.column, trees.nodes.gain, trees.start, data.group_of, gains)
    return gains
