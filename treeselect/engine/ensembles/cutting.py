"""Forests cut back: nodes of few rows are not split any more.

How far a forest should grow is told by the rows outside its bags. A tree that is cut back to nodes
of at least so many rows is the tree that would have grown under that rule with the same draws, so
one forest, grown as far as it goes, holds those of all sizes: one walk of a row down a tree passes
the node that would be its leaf for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.cache import kernel
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.ensembles.forests import Sampling, bags_of, draw
from treeselect.engine.ensembles.out_of_bag import bag_room
from treeselect.engine.growing.nodes import LEAF, Nodes, Trees
from treeselect.engine.random import tree_seeds
from treeselect.engine.splitting.partition import code_of, goes_left


def out_of_bag_by_size(
    trees: Trees,
    data: BinnedData,
    weight: IntArray,
    sampling: Sampling,
    seed: int,
    sizes: Sequence[int],
) -> FloatArray:
    """Out-of-bag predictions of a forest, cut back to each of some sizes.

    Parameters
    ----------
    trees, data, weight, sampling, seed
        As for ``out_of_bag.out_of_bag``.
    sizes : sequence of int, falling
        Least weight of a node that is split, counting copies.

    Returns
    -------
    ndarray of float, shape (n_sizes, n_rows, n_outputs)
        Means over the trees that have not seen the row; NaN where all have, or where its weight
        is 0.
    """
    least = np.asarray(sizes, dtype=np.int64)
    assert (np.diff(least) < 0).all(), "sizes fall"
    total = np.zeros((len(least), data.n_rows, trees.nodes.value.shape[1]))
    count = np.zeros(data.n_rows, dtype=np.int64)
    bags = bags_of(weight, sampling, tree_seeds(seed, trees.n_trees))
    add_out_of_bag_by_size(trees, data, bags, bag_room(data.n_rows), least, total, count)
    known = np.where(count > 0, count, 1)[:, np.newaxis]
    return np.where(count[:, np.newaxis] > 0, total / known, np.nan)


@kernel
def add_out_of_bag_by_size(trees, data, bags, room, sizes, total, count):
    """Add the value of every tree, cut back to each size, to the rows that are not in its bag."""
    nodes, start, in_rows = trees.nodes, trees.start, bags.in_rows
    for tree in range(bags.seeds.shape[0]):
        draw(bags, tree, room.state, room.counts, room.spare)
        for r in range(in_rows.shape[0]):
            i = in_rows[r]
            if room.counts[i] > 0:
                continue
            count[i] += 1
            at, s = start[tree], 0
            while s < sizes.shape[0]:
                j = nodes.column[at]
                while s < sizes.shape[0] and (j < 0 or nodes.weight[at] < sizes[s]):
                    for k in range(total.shape[2]):
                        total[s, i, k] += nodes.value[at, k]
                    s += 1
                if j < 0:
                    break
                left = goes_left(
                    code_of(data, j, i), np.int64(nodes.code[at]), nodes.missing_left[at],
                    data.is_factor[j],
                )  # fmt: skip
                at = start[tree] + nodes.left[at] + (0 if left else 1)


def cut_back(trees: Trees, size: int) -> Trees:
    """The same trees without the splits of nodes whose weight is below `size`."""
    start = np.zeros_like(trees.start)
    place = np.empty(len(trees.nodes.column), dtype=np.int64)
    mark_kept(trees.nodes, trees.start, size, place, start)
    kept = place >= 0
    nodes = Nodes._make(array[kept] for array in trees.nodes)
    first = np.repeat(trees.start[:-1], np.diff(start))
    ends = (nodes.column >= 0) & (nodes.weight < size)
    nodes.column[ends], nodes.code[ends], nodes.missing_left[ends] = LEAF, 0, False
    nodes.gain[ends] = 0.0
    split = nodes.column >= 0
    nodes.left[~split] = 0
    nodes.left[split] = place[first[split] + nodes.left[split]]
    return Trees(nodes, start)


@kernel
def mark_kept(nodes, start, size, place, new_start):
    """Write the number that each node has in its tree after the cut, -1 for those that go."""
    for tree in range(start.shape[0] - 1):
        first, last = start[tree], start[tree + 1]
        for at in range(first, last):
            place[at] = -1
        place[first] = 0
        for at in range(first, last):  # children stand behind their parents
            if place[at] >= 0 and nodes.column[at] >= 0 and nodes.weight[at] >= size:
                place[first + nodes.left[at]] = 0
                place[first + nodes.left[at] + 1] = 0
        n = 0
        for at in range(first, last):
            if place[at] >= 0:
                place[at] = n
                n += 1
        new_start[tree + 1] = new_start[tree] + n
