"""Importance of groups from out-of-bag rows.

The mean decrease of impurity of a forest (``nodes.group_gains``) is measured on the rows that the
splits were fitted to, so that it favours columns with many values. Both measures here use each
tree's out-of-bag rows instead.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray, UInt64Array
from treeselect.engine.compiling import inner, kernel
from treeselect.engine.forest.bagging import Forest, draw
from treeselect.engine.forest.walk import (
    child_of,
    leaf_of,
    list_outside,
    packed_for_walks,
    room,
    walk_rows,
)
from treeselect.engine.random import random_below, stream_seed, tree_seeds
from treeselect.engine.threads import each, n_parts
from treeselect.engine.tree.nodes import Trees
from treeselect.engine.tree.target import Target

_NONE, _ONE = np.uint64(0), np.uint64(1)


class Importance(NamedTuple):
    """Importance of each group: mean over the trees, in units of the gain, and its standard error,
    by their spread given the data, not that over samples."""

    mean: FloatArray
    standard_error: FloatArray


class Truth(NamedTuple):
    """What predictions of trees are compared with, (n_rows, n_outputs), and the weight of each row
    in averages over out-of-bag rows."""

    values: FloatArray
    weight: FloatArray


class Shuffling(NamedTuple):
    """Memory for permuting groups among the rows that are out of a tree's bag: stream of each tree;
    these rows, the same in another order, their leaves; see :func:`number_groups` and
    :func:`mark_ways`."""

    seeds: UInt64Array
    outside: IntArray
    shuffled: IntArray
    leaf: IntArray
    number: IntArray
    way: UInt64Array


_NODES = 1_000_000
"""Nodes that are packed for walks at a time."""


def permutation_importance(forest: Forest) -> Importance:
    """Increase of a tree's squared error when all columns of a group are permuted among its
    out-of-bag rows (Breiman 2001, section 10), 0 if it does not use the group. Rows are permuted
    one by one, also where bags hold whole groups of rows: on average a row gets the values of all
    rows outside the bag."""
    (nodes, start), data, truth = forest.trees, forest.data, _truth(forest)
    n_trees = forest.trees.n_trees
    permuting = tree_seeds(stream_seed(forest.seed, "permute"), n_trees)

    def measure(first: int, last: int, out: FloatArray) -> None:
        most = int(np.diff(start[first : last + 1]).max())
        used = -(-min(data.n_groups, most) // 64)  # as many units, 64 of them in a word
        outside, shuffled, leaf = np.zeros((3, data.n_rows), dtype=np.int64)
        shuffling = Shuffling(
            permuting[first:last], outside, shuffled, leaf,
            np.zeros(data.n_groups, dtype=np.int64), np.zeros((most, used), dtype=np.uint64),
        )  # fmt: skip
        bags = forest.bags._replace(seeds=forest.bags.seeds[first:last])
        trees = Trees(nodes, start[first : last + 1])
        add_permuted_losses(trees, data, bags, room(data.n_rows), shuffling, truth, out)

    return _over_trees(measure, forest, float(data.n_rows) * n_trees * data.n_groups)


def out_of_bag_gains(forest: Forest) -> Importance:
    """Mean decrease of impurity, debiased: MDI-oob of Li, Wang, Basu, Kumbier and Yu (2019). A
    split changes the prediction of the rows that pass it; the change times the response, centred by
    the tree's root, is summed by group. Over the rows of the bag that is the decrease of impurity
    itself; over the others it is about 0 without a signal, and can be negative."""
    data, truth, most = forest.data, _truth(forest), int(np.diff(forest.trees.start).max(initial=1))
    at_once = max(_NODES // most, 1)

    def measure(first: int, last: int, out: FloatArray) -> None:
        sums = np.zeros((most, truth.values.shape[1]))
        for begin in range(first, last, at_once):
            end = min(begin + at_once, last)
            trees = forest.trees.some(begin, end)
            bags = forest.bags._replace(seeds=forest.bags.seeds[begin:end])
            packed, own = packed_for_walks(trees, data), out[begin - first : end - first]
            add_out_of_bag_gains(trees, packed, data, bags, room(data.n_rows), sums, truth, own)

    return _over_trees(measure, forest, float(data.n_rows) * forest.trees.n_trees)


def _over_trees(
    measure: Callable[[int, int, FloatArray], None], forest: Forest, cells: float
) -> Importance:
    """Mean and standard error of what is measured for each tree and group."""
    n, n_groups = forest.trees.n_trees, forest.data.n_groups
    found = np.zeros((n, n_groups))
    edges = np.linspace(0, n, min(n_parts(forest.n_threads, cells), n) + 1).astype(int).tolist()
    each(lambda part: measure(*part, found[slice(*part)]), list(pairwise(edges)), cells)
    spread = found.std(axis=0, ddof=1) if n > 1 else np.full(n_groups, np.nan)
    return Importance(found.mean(axis=0), spread / np.sqrt(n))


def _truth(forest: Forest) -> Truth:
    """The response and the weights of the rows; with real weights the target holds these."""
    target, weight = forest.target, forest.weight
    own = weight * target.curvature if len(target.curvature) else weight.astype(np.float64)
    return Truth(_response(target), own)


def _response(target: Target) -> FloatArray:
    """The response as the trees predict it, shape (n_rows, n_outputs)."""
    if target.is_vector:
        return target.gradient.reshape(-1, target.n_classes)
    if target.has_classes:
        return np.eye(target.n_classes)[target.label]
    if len(target.curvature):  # a mean with real weights: gradients are products with them
        known = np.maximum(target.curvature, np.finfo(np.float64).tiny)
        return np.ascontiguousarray((target.gradient / known)[:, np.newaxis])
    return np.ascontiguousarray(target.gradient[:, np.newaxis])


@inner
def squared_error(nodes, at, truth, i):
    """Squared error of a leaf for a row, summed over the outputs."""
    error = 0.0
    for k in range(truth.shape[1]):
        difference = truth[i, k] - nodes.value[at, k]
        error += difference * difference
    return error


@inner
def leaf_if_moved(nodes, first, data, i, group, other):
    """Leaf of row `i` with the values of row `other` in the columns of a group."""
    at = first
    while nodes.column[at] >= 0:
        is_moved = data.group_of[nodes.column[at]] == group
        at = child_of(nodes, first, at, data, other if is_moved else i)
    return at


@inner
def number_groups(nodes, first, last, data, number):
    """Number the groups that a tree uses, in their order; -1 for the others."""
    for g in range(number.shape[0]):
        number[g] = -1
    for at in range(first, last):
        if nodes.column[at] >= 0:
            number[data.group_of[nodes.column[at]]] = 0
    n_used = 0
    for g in range(number.shape[0]):
        if number[g] == 0:
            number[g] = n_used
            n_used += 1


@inner
def mark_ways(nodes, first, last, data, number, way):
    """Write for each node the groups that the way to it asks for, a bit for each."""
    for w in range(way.shape[1]):
        way[0, w] = np.uint64(0)
    for at in range(first, last):  # children stand behind their parents
        if nodes.column[at] < 0:
            continue
        bit = number[data.group_of[nodes.column[at]]]
        for child in range(nodes.left[at], nodes.left[at] + 2):
            for w in range(way.shape[1]):
                way[child, w] = way[at - first, w]
            way[child, bit >> 6] |= _ONE << np.uint64(bit & 63)


@kernel
def add_permuted_losses(trees, data, bags, room, shuffling, truth, out):
    """Write what each tree loses by permuting each group, shape (n_trees, n_groups). A row that no
    split on its way asks for the group stays in its leaf."""
    nodes, start, in_rows, state = trees.nodes, trees.start, bags.in_rows, room.state
    outside, shuffled, leaf = shuffling.outside, shuffling.shuffled, shuffling.leaf
    number, way, values, weight = shuffling.number, shuffling.way, truth.values, truth.weight
    for tree in range(bags.seeds.shape[0]):
        draw(bags, tree, room.state, room.counts, room.spare)
        n = 0
        total = 0.0
        for r in range(in_rows.shape[0]):
            if room.counts[in_rows[r]] == 0:
                outside[n] = in_rows[r]
                total += weight[in_rows[r]]
                n += 1
        if total == 0:
            continue
        root = start[tree]
        number_groups(nodes, root, start[tree + 1], data, number)
        mark_ways(nodes, root, start[tree + 1], data, number, way)
        for r in range(n):
            leaf[r] = leaf_of(nodes, root, data, outside[r])
        state[0] = shuffling.seeds[tree]
        for g in range(number.shape[0]):
            if number[g] < 0:
                continue
            word, bit = number[g] >> 6, _ONE << np.uint64(number[g] & 63)
            for r in range(n):
                shuffled[r] = outside[r]
            for r in range(n - 1):
                other = r + random_below(state, n - r)
                shuffled[r], shuffled[other] = shuffled[other], shuffled[r]
            for r in range(n):
                plain = leaf[r]
                if way[plain - root, word] & bit == _NONE:
                    continue
                i = outside[r]
                moved = leaf_if_moved(nodes, root, data, i, g, shuffled[r])
                if moved != plain:
                    worse = squared_error(nodes, moved, values, i)
                    out[tree, g] += weight[i] * (worse - squared_error(nodes, plain, values, i))
            out[tree, g] /= total


@kernel
def add_out_of_bag_gains(trees, packed, data, bags, room, sums, truth, out):
    """Write the debiased decrease of impurity of each tree and group. `sums`, shape (n_nodes,
    n_outputs), is working memory for the nodes of one tree: what its rows have above the root is
    summed in each leaf and handed up."""
    nodes, values, weight, in_rows = trees.nodes, truth.values, truth.weight, bags.in_rows
    n_outputs = values.shape[1]
    for tree in range(bags.seeds.shape[0]):
        draw(bags, tree, room.state, room.counts, room.spare)
        root, n_nodes = trees.start[tree], trees.start[tree + 1] - trees.start[tree]
        sums[:n_nodes] = 0.0
        total = 0.0
        begin = 0
        while begin < in_rows.shape[0]:
            n, begin = list_outside(in_rows, room.counts, begin, room.rows)
            walk_rows(trees, packed, tree, data, room, n)
            for r in range(n):
                i, leaf = room.rows[r], room.leaf[r]
                total += weight[i]
                for k in range(n_outputs):
                    sums[leaf, k] += weight[i] * (values[i, k] - nodes.value[root, k])
        for at in range(n_nodes - 1, -1, -1):  # children stand behind their parents
            j = nodes.column[root + at]
            if j < 0:
                continue
            left = nodes.left[root + at]
            for k in range(n_outputs):
                sums[at, k] = sums[left, k] + sums[left + 1, k]
                for child in range(left, left + 2):
                    change = nodes.value[root + child, k] - nodes.value[root + at, k]
                    out[tree, data.group_of[j]] += change * sums[child, k]
        for g in range(out.shape[1]):
            out[tree, g] /= max(total, 1e-300)
