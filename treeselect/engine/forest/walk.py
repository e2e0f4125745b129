"""Prediction: rows walk through all trees, eight at a time.

A node is one word: ``column << 44 | low << 36 | span << 28 | left``. A row goes to ``left`` if its
code in the column is one of ``low, ..., low + span``, else to ``left + 1``: one comparison for
numbers, factors and missing values alike. A leaf leads to itself. Eight rows at a time keep the
processor busy while each waits for its next node (measured: 8 to 20 times faster than one row).
Many rows are first put in order of their codes, since rows that follow each other then meet nodes
that are in the cache: half the time for 200 trees of 17,000 nodes. Where there are wide columns,
whose codes do not fit, or over a million columns, rows walk one by one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import (
    FloatArray,
    Int32Array,
    IntArray,
    LeafArray,
    UInt32Array,
    UInt64Array,
)
from treeselect.engine.columns import BinnedData
from treeselect.engine.compiling import inner, kernel
from treeselect.engine.threads import each, n_parts
from treeselect.engine.tree.node import code_of, goes_left
from treeselect.engine.tree.nodes import Trees

_ROWS = 4096
"""Rows that are listed and go through all trees before the next ones: their codes, and leaves, stay
in the cache."""

_WORTH_ORDERING = 20_000
"""Rows from which on they are put in order."""

_KEY = (5, 5, 6)
"""Bits of the codes by which they are, in the columns that are tested most often: 16 together,
which are sorted by radix, twenty times as fast as 20."""

_WORTH_JOINING = 0.5
"""Share of distinct rows in a sample below which equal rows are joined first."""

_LEFT = np.uint64(2**28 - 1)
_BYTE = np.uint64(255)
_SEVEN = np.uint64(7)
_3, _28, _36, _44, _47 = (np.uint64(n) for n in (3, 28, 36, 44, 47))


@inner
def child_of(nodes, first, at, data, i):
    """Where a row goes from a node of the tree whose nodes begin at `first`."""
    j = nodes.column[at]
    left = goes_left(
        code_of(data, j, i), np.int64(nodes.code[at]), nodes.missing_left[at], data.is_factor[j]
    )
    return first + nodes.left[at] + (0 if left else 1)


@inner
def leaf_of(nodes, first, data, i):
    """Leaf of a row in the tree whose nodes begin at `first`."""
    at = first
    while nodes.column[at] >= 0:
        at = child_of(nodes, first, at, data, i)
    return at


@kernel
def pack_nodes(nodes, start, is_factor, packed):
    """Write the word of each node."""
    for tree in range(start.shape[0] - 1):
        for at in range(start[tree], start[tree + 1]):
            column = nodes.column[at]
            if column < 0:
                packed[at] = _BYTE << _28 | np.uint64(at - start[tree])
                continue
            code = np.uint64(nodes.code[at])
            low = np.uint64(0)
            if is_factor[column]:
                low = code
            elif not nodes.missing_left[at]:
                low = np.uint64(1)
            packed[at] = (
                np.uint64(column) << _44
                | low << _36
                | (code - low) << _28
                | np.uint64(nodes.left[at])
            )


@inner
def next_node(node, blocks, row):
    """Where a row goes from a node."""
    code = blocks[node >> _47, row] >> (((node >> _44) & _SEVEN) << _3) & _BYTE
    inside = (code - (node >> _36 & _BYTE)) & _BYTE <= (node >> _28 & _BYTE)
    return (node & _LEFT) + np.uint64(0 if inside else 1)


@inner
def walk_eight(tree, blocks, i, j, k, m, o, p, q, s):
    """Leaves of eight rows, which wait for memory together."""
    a = b = c = d = e = f = g = h = np.uint64(0)
    moved = True
    while moved:
        a_next, b_next = next_node(tree[a], blocks, i), next_node(tree[b], blocks, j)
        c_next, d_next = next_node(tree[c], blocks, k), next_node(tree[d], blocks, m)
        e_next, f_next = next_node(tree[e], blocks, o), next_node(tree[f], blocks, p)
        g_next, h_next = next_node(tree[g], blocks, q), next_node(tree[h], blocks, s)
        moved = (
            (a_next ^ a) | (b_next ^ b) | (c_next ^ c) | (d_next ^ d)
            | (e_next ^ e) | (f_next ^ f) | (g_next ^ g) | (h_next ^ h)
        ) != 0  # fmt: skip
        a, b, c, d = a_next, b_next, c_next, d_next
        e, f, g, h = e_next, f_next, g_next, h_next
    return a, b, c, d, e, f, g, h


class Room(NamedTuple):
    """Memory of one thread for bags that are drawn again and rows that walk: a random stream, how
    often each row is in the bag, and working memory; some rows, and their leaves, numbered from the
    root."""

    state: UInt64Array
    counts: IntArray
    spare: UInt32Array
    rows: IntArray
    leaf: IntArray


def room(n_rows: int = 0) -> Room:
    """Memory for a thread; for bags of so many rows."""
    return Room(
        np.zeros(1, dtype=np.uint64),
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(n_rows, dtype=np.uint32),
        *np.zeros((2, _ROWS), dtype=np.int64),
    )


def packed_for_walks(trees: Trees, data: BinnedData) -> UInt64Array:
    """The nodes as words; none if a column is wide, or 20 bits can't number the columns."""
    if len(data.wide) or len(data.codes) > 2**20:
        return np.zeros(0, dtype=np.uint64)
    packed = np.empty(len(trees.nodes.column), dtype=np.uint64)
    pack_nodes(trees.nodes, trees.start, data.is_factor, packed)
    return packed


@inner
def list_rows(begin, end, rows):
    """List the rows from one to another, as many as there is room for; returns their number."""
    n = min(end - begin, rows.shape[0])
    for r in range(n):
        rows[r] = begin + r
    return n


@inner
def list_outside(in_rows, counts, begin, rows):
    """List rows that are not in the bag, from a place on; their number and the next place."""
    n = 0
    while begin < in_rows.shape[0] and n < rows.shape[0]:
        rows[n] = in_rows[begin]
        n += counts[in_rows[begin]] == 0
        begin += 1
    return n, begin


@inner
def walk_rows(trees, packed, tree, data, room, n):
    """Write the leaves of the first `n` listed rows."""
    first, rows, leaf = trees.start[tree], room.rows, room.leaf
    if packed.shape[0] == 0:
        for r in range(n):
            leaf[r] = leaf_of(trees.nodes, first, data, rows[r]) - first
        return
    own, blocks = packed[first : trees.start[tree + 1]], data.blocks
    for r in range(0, n, 8):  # behind the last are rows that were listed before, or the first one
        (
            leaf[r], leaf[r + 1], leaf[r + 2], leaf[r + 3],
            leaf[r + 4], leaf[r + 5], leaf[r + 6], leaf[r + 7],
        ) = walk_eight(
            own, blocks, rows[r], rows[r + 1], rows[r + 2], rows[r + 3],
            rows[r + 4], rows[r + 5], rows[r + 6], rows[r + 7],
        )  # fmt: skip


@kernel
def write_leaves(trees, packed, data, room, leaves):
    """Write the leaf of each row in the first tree."""
    for first in range(0, leaves.shape[0], room.rows.shape[0]):
        n = list_rows(first, leaves.shape[0], room.rows)
        walk_rows(trees, packed, 0, data, room, n)
        for r in range(n):
            leaves[first + r] = room.leaf[r]


@kernel
def add_predictions(trees, packed, data, begin, end, room, out):
    """Add the value of every tree to ``out[begin:end]``, tree after tree for each row."""
    for first in range(begin, end, room.rows.shape[0]):
        n = list_rows(first, end, room.rows)
        for tree in range(trees.start.shape[0] - 1):
            walk_rows(trees, packed, tree, data, room, n)
            root = trees.start[tree]
            for r in range(n):
                for k in range(out.shape[1]):
                    out[first + r, k] += trees.nodes.value[root + room.leaf[r], k]


def leaves_of(trees: Trees, tree: int, data: BinnedData) -> Int32Array:
    """Node of one tree, numbered from its root, that is the leaf of each row."""
    own = trees.one(tree)
    leaves = np.empty(data.n_rows, dtype=np.int32)
    write_leaves(own, packed_for_walks(own, data), data, room(), leaves)
    return leaves


def mark_leaves(tree: Trees, data: BinnedData) -> tuple[Int32Array, FloatArray]:
    """Number of the leaf of a single tree that each row falls into, in order of the nodes, and the
    values of the leaves, shape (n_leaves, n_outputs)."""
    is_leaf = tree.nodes.column < 0
    ordinal = np.cumsum(is_leaf, dtype=np.int32) - 1
    return ordinal[leaves_of(tree, 0, data)], tree.nodes.value[is_leaf]


def narrow(leaf: Int32Array, n_leaves: int) -> LeafArray:
    """Numbers of leaves, of which there are so many, as narrow as they can be."""
    return leaf.astype(np.min_scalar_type(n_leaves - 1))


def predict_mean(trees: Trees, data: BinnedData, n_threads: int = 1) -> FloatArray:
    """Mean of the trees' predictions, shape (n_rows, n_outputs)."""
    return predict_sum(trees, data, n_threads) / trees.n_trees


def predict_sum(trees: Trees, data: BinnedData, n_threads: int = 1) -> FloatArray:
    """Sum of the trees' predictions, shape (n_rows, n_outputs)."""
    if _has_many_equal_rows(data):
        words, at = np.unique(data.blocks[0], return_inverse=True)
        return np.asarray(_sums(trees, data._replace(blocks=words[np.newaxis]), n_threads)[at])
    if data.n_rows < _WORTH_ORDERING or len(data.wide):
        return _sums(trees, data, n_threads)
    order = _order(trees, data)
    out = np.empty((data.n_rows, trees.nodes.value.shape[1]))
    ordered = data._replace(blocks=data.blocks.take(order, axis=1))
    out[order] = _sums(trees, ordered, n_threads)
    return out


def _has_many_equal_rows(data: BinnedData) -> bool:
    sample = data.blocks[:, :_ROWS]
    if len(sample) > 1 or sample.shape[1] < _ROWS or len(data.wide):
        return False
    return len(np.unique(sample)) < _WORTH_JOINING * sample.shape[1]


def _order(trees: Trees, data: BinnedData) -> IntArray:
    """Rows in order of their codes in the columns that training rows were tested on most often."""
    is_split = trees.nodes.column >= 0
    tests = np.bincount(trees.nodes.column[is_split], trees.nodes.weight[is_split])
    key = np.zeros(data.n_rows, dtype=np.uint16)
    for column, bits in zip(np.argsort(-tests, kind="stable"), _KEY, strict=False):
        key = key << bits | data.codes[column] >> (8 - bits)
    return np.argsort(key, kind="stable")


def _sums(trees: Trees, data: BinnedData, n_threads: int) -> FloatArray:
    """The sums, for the rows in ``data.blocks``, each thread some of them."""
    n_rows = data.blocks.shape[1]
    out = np.zeros((n_rows, trees.nodes.value.shape[1]))
    packed, cells = packed_for_walks(trees, data), n_rows * trees.n_trees
    edges = np.linspace(0, n_rows, n_parts(n_threads, cells) + 1).astype(int).tolist()
    each(
        lambda part: add_predictions(trees, packed, data, *part, room(), out),
        list(pairwise(edges)), cells,
    )  # fmt: skip
    return out
