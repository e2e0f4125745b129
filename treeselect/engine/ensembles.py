"""Collections of trees, and the bagged forest."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from treeselect.engine._types import (
    FloatArray,
    IntArray,
    UInt64Array,
)
from treeselect.engine.binning import BinnedData
from treeselect.engine.cache import kernel
from treeselect.engine.growing import Growth, Nodes, empty_nodes, grow_tree, workspace
from treeselect.engine.moments import pack_moments, packing_for
from treeselect.engine.penalty import no_penalty
from treeselect.engine.random import draw_bag, tree_seeds
from treeselect.engine.splitting import goes_left

_ROOM = 400_000
"""Nodes for which a chunk of trees has room at least (about 16 MB)."""


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


@kernel
def grow_bagged_trees(
    data, target, weight, in_rows, seeds, growth, penalty, rank, work, counts, nodes, start
):  # fmt: skip
    """Grow one bagged tree per seed until the room in `nodes` may not suffice; returns how many.

    ``start[i + 1]`` receives the end of tree i. Each tree has its own open groups and stream.
    """
    largest = 0.0
    for i in in_rows:
        largest = max(largest, abs(target[i]))
    state = np.zeros(1, dtype=np.uint64)
    is_open = np.zeros(data.group_start.shape[0] - 1, dtype=np.bool_)
    for i in range(seeds.shape[0]):
        if nodes.column.shape[0] - start[i] < 2 * in_rows.shape[0]:
            return i
        state[0] = seeds[i]
        draw_bag(state, in_rows, counts)
        total = np.int64(0)
        for row in in_rows:
            total += weight[row] * counts[row]
        shift, unit = packing_for(largest, total)
        n_in = pack_moments(target, weight, counts, shift, unit, work.moments, work.rows)
        is_open[:] = False
        for g in range(work.order.shape[0]):
            work.order[g] = g
        n_nodes = grow_tree(
            data, n_in, shift, unit, growth, penalty, is_open, rank, state, work,
            nodes, start[i],
        )  # fmt: skip
        start[i + 1] = start[i] + n_nodes
    return seeds.shape[0]


def bagged_forest(
    data: BinnedData,
    target: FloatArray,
    weight: IntArray,
    *,
    n_trees: int,
    growth: Growth,
    seed: int,
    rank: IntArray,
    n_threads: int = 1,
) -> Trees:
    """Forest of trees grown on bootstrap bags of the distinct rows.

    Parameters
    ----------
    data : BinnedData
    target : ndarray of float, shape (n_rows,)
        Response; for two classes the indicator of one of them, whose leaf means are
        probabilities and whose gain is half the decrease of the Gini index.
    weight : ndarray of int64, shape (n_rows,)
        Copies of each row, 0 leaves it out.
    n_trees : int
        Number of trees, at least 1.
    growth : Growth
    seed : int
        Stream of the forest; tree i has a stream of its own.
    rank : ndarray of int64, shape (n_groups,)
        See ``growing.grow_tree``.
    n_threads : int
        Has no influence on the answer.

    Returns
    -------
    Trees
    """
    seeds = tree_seeds(seed, n_trees)
    in_rows = np.flatnonzero(weight).astype(np.int64)
    chunks = np.array_split(seeds, min(n_threads, n_trees))

    def grow(chunk: UInt64Array) -> Trees:
        return _grow_chunk(data, target, weight, in_rows, chunk, growth, rank)

    if len(chunks) == 1:
        return grow(seeds)
    with ThreadPoolExecutor(len(chunks)) as pool:
        return join_trees(list(pool.map(grow, chunks)))


def _grow_chunk(
    data: BinnedData,
    target: FloatArray,
    weight: IntArray,
    in_rows: IntArray,
    seeds: UInt64Array,
    growth: Growth,
    rank: IntArray,
) -> Trees:
    work = workspace(data.n_rows, data.n_groups)
    counts = np.zeros(data.n_rows, dtype=np.int64)
    penalty = no_penalty(len(data.n_codes))
    room = empty_nodes(max(_ROOM, 2 * len(in_rows)))
    parts = []
    while len(seeds):
        start = np.zeros(len(seeds) + 1, dtype=np.int64)
        done = grow_bagged_trees(
            data, target, weight, in_rows, seeds, growth, penalty,
            rank, work, counts, room, start,
        )  # fmt: skip
        used = Nodes._make(array[: start[done]].copy() for array in room)
        parts.append(Trees(used, start[: done + 1].copy()))
        seeds = seeds[done:]
    return join_trees(parts)


@kernel
def add_to_leaves(nodes, start, codes, is_factor, gradient, curvature, weight, sums, curvatures):
    """Add each weighted row's gradient and curvature to its leaf in every tree."""
    for i in range(weight.shape[0]):
        if weight[i] == 0:
            continue
        for tree in range(start.shape[0] - 1):
            at = start[tree]
            while nodes.column[at] >= 0:
                j = nodes.column[at]
                left = goes_left(codes[j, i], nodes.code[at], nodes.missing_left[at], is_factor[j])
                at = start[tree] + nodes.left[at] + (0 if left else 1)
            sums[at] += weight[i] * gradient[i]
            curvatures[at] += weight[i] * curvature[i]


def with_newton_steps(
    trees: Trees, data: BinnedData, gradient: FloatArray, curvature: FloatArray, weight: IntArray
) -> Trees:
    """The same trees whose leaves hold the Newton step of all their rows.

    ``sum(w g) / (sum(w h) + mean(h))`` over the rows of the leaf, in the bag or not.
    """
    sums, curvatures = np.zeros((2, len(trees.nodes.column)))
    add_to_leaves(
        trees.nodes, trees.start, data.codes, data.is_factor, gradient, curvature, weight,
        sums, curvatures,
    )  # fmt: skip
    prior = float(np.average(curvature, weights=weight))
    return trees._replace(nodes=trees.nodes._replace(value=sums / (curvatures + prior)))
