"""Rows out of a tree's bag walk to their leaves, eight at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import IntArray, UInt64Array
from treeselect.engine.cache import inner
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.ensembles.leaves import leaf_of
from treeselect.engine.ensembles.prediction import pack_nodes, walk_eight
from treeselect.engine.growing.nodes import Trees

_AT_ONCE = 4096
"""Rows that are listed before they walk: their numbers and leaves stay in the cache."""


class Walk(NamedTuple):
    """Memory of one thread for rows that walk.

    Attributes
    ----------
    rows : ndarray of int64, shape (4096,)
        Rows that are not in the bag.
    leaf : ndarray of int64, shape (4096,)
        Their leaves, numbered from the root.
    """

    rows: IntArray
    leaf: IntArray


def room_to_walk() -> Walk:
    """Memory for a thread."""
    return Walk(np.zeros(_AT_ONCE, dtype=np.int64), np.zeros(_AT_ONCE, dtype=np.int64))


def packed_for_walks(trees: Trees, data: BinnedData) -> UInt64Array:
    """The nodes as words (see ``prediction``); none if a column is wide."""
    if len(data.wide):
        return np.zeros(0, dtype=np.uint64)
    packed = np.empty(len(trees.nodes.column), dtype=np.uint64)
    pack_nodes(trees.nodes, trees.start, data.is_factor, packed)
    return packed


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
def walk_rows(trees, packed, tree, data, walk, n):
    """Write the leaves of the first `n` listed rows."""
    first, rows, leaf = trees.start[tree], walk.rows, walk.leaf
    if packed.shape[0] == 0:
        for r in range(n):
            leaf[r] = leaf_of(trees.nodes, first, data, rows[r]) - first
        return
    own, blocks = packed[first : trees.start[tree + 1]], data.blocks
    for r in range(0, n, 8):
        last = n - 1
        a, b, c, d, e, f, g, h = walk_eight(
            own, blocks, rows[r], rows[min(r + 1, last)], rows[min(r + 2, last)],
            rows[min(r + 3, last)], rows[min(r + 4, last)], rows[min(r + 5, last)],
            rows[min(r + 6, last)], rows[min(r + 7, last)],
        )  # fmt: skip
        # From the last to the first: rows behind the end stand for the last one.
        leaf[min(r + 7, last)] = h
        leaf[min(r + 6, last)] = g
        leaf[min(r + 5, last)] = f
        leaf[min(r + 4, last)] = e
        leaf[min(r + 3, last)] = d
        leaf[min(r + 2, last)] = c
        leaf[min(r + 1, last)] = b
        leaf[r] = a
