"""Out-of-bag predictions: of each row by the trees whose bag does not contain it.

How far a forest should grow is chosen by its out-of-bag error. A tree that is cut back to nodes of
at least so many rows is the tree that would have grown under that rule with the same draws, so one
forest, grown as far as it goes, holds those of all sizes: one walk of a row down a tree passes the
node that would be its leaf for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.compiling import inner, kernel
from treeselect.engine.forest.bagging import Forest, draw
from treeselect.engine.forest.walk import (
    child_of,
    list_outside,
    next_node,
    packed_for_walks,
    room,
    walk_rows,
)
from treeselect.engine.threads import each, n_parts
from treeselect.engine.tree.nodes import LEAF, Nodes, Trees

_AT_ONCE = 2048
"""Rows whose sums for all sizes are held at a time."""


class OutsideSums(NamedTuple):
    """Sums of the out-of-bag predictions of each row, above a `centre` near their mean, over its
    `n_trees`, for each of some sizes: `total`, (n_rows, n_sizes, n_outputs), and `square`, (n_rows,
    n_sizes), of their squares over the outputs."""

    total: FloatArray
    square: FloatArray
    n_trees: IntArray
    centre: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Predictions, shape (n_rows, n_sizes, n_outputs); NaN where all trees have seen the
        row."""
        known = np.where(self.n_trees > 0, self.n_trees, 1)[:, np.newaxis, np.newaxis]
        is_known = self.n_trees[:, np.newaxis, np.newaxis] > 0
        return np.where(is_known, self.centre + self.total / known, np.nan)

    def errors(self, truth: FloatArray) -> FloatArray:
        """Squared errors that a forest of infinitely many such trees would have, shape (n_rows,
        n_sizes); NaN where fewer than two trees have not seen the row. The variance of a tree, by
        how far trees differ, divided by their number is taken off: a row's error is then the mean
        product of the errors of two trees, and may be below 0."""
        several = self.n_trees > 1
        n = np.where(several, self.n_trees, 2)[:, np.newaxis]
        left = (truth - self.centre)[:, np.newaxis] - self.total / n[:, np.newaxis]
        return np.asarray((left**2).sum(axis=2) - self.variances / n)

    @property
    def variances(self) -> FloatArray:
        """Variance of the predictions of a tree for each row, summed over the outputs, shape
        (n_rows, n_sizes); NaN where fewer than two trees have not seen the row."""
        several = self.n_trees > 1
        n = np.where(several, self.n_trees, 2)[:, np.newaxis]
        above = self.total / n[:, np.newaxis]
        spread = np.maximum(self.square / n - (above**2).sum(axis=2), 0.0)
        return np.where(several[:, np.newaxis], spread * n / (n - 1), np.nan)


def out_of_bag(forest: Forest, centre: FloatArray | None = None) -> OutsideSums:
    """Out-of-bag predictions of a forest, above 0 or a centre; each thread has some of the rows."""
    trees, data, bags = forest.trees, forest.data, forest.bags
    found = _no_sums(data.n_rows, 1, trees, np.zeros(1) if centre is None else centre)
    cells = float(len(bags.in_rows)) * trees.n_trees
    packed = packed_for_walks(trees, data)
    parts = np.array_split(bags.in_rows, min(n_parts(forest.n_threads, cells), len(bags.in_rows)))
    each(
        lambda rows: add_out_of_bag(trees, packed, data, bags, room(data.n_rows), rows, found),
        parts, cells,
    )  # fmt: skip
    return found


def mean_errors_by_size(
    forest: Forest, sizes: Sequence[int], truth: FloatArray, row_weight: WeightArray
) -> FloatArray:
    """Mean, by the weights of rows, of the errors (``OutsideSums.errors``) of a forest, cut back to
    each of some sizes, which fall; shape (n_sizes,), NaN if no row is out of bag for two trees.
    Some thousand rows at a time: sums of all for all sizes would take hundreds of bytes a row."""
    trees, data, bags = forest.trees, forest.data, forest.bags
    least = np.asarray(sizes, dtype=np.int64)
    assert (np.diff(least) < 0).all(), "sizes fall"
    centre = np.average(truth, axis=0, weights=row_weight)
    packed = packed_for_walks(trees, data)
    outside = np.zeros((trees.n_trees, data.n_rows), dtype=np.bool_)

    def mark(numbers: IntArray) -> None:
        own = bags._replace(seeds=bags.seeds[numbers])
        mark_outside(own, room(data.n_rows), outside[numbers[0] : numbers[-1] + 1])

    def add(rows: IntArray) -> tuple[float, FloatArray]:
        sums = _no_sums(len(rows), len(least), trees, centre)
        add_out_of_bag_by_size(trees, packed, data, outside, rows, least, sums)
        errors = sums.errors(truth[rows])
        known = ~np.isnan(errors[:, 0])
        own = row_weight[rows][known].astype(np.float64)
        return float(own.sum()), own @ errors[known]

    cells = float(len(bags.in_rows)) * trees.n_trees
    n_threads = n_parts(forest.n_threads, cells)
    each(mark, np.array_split(np.arange(trees.n_trees), min(n_threads, trees.n_trees)), cells)
    parts = np.split(bags.in_rows, range(_AT_ONCE, len(bags.in_rows), _AT_ONCE))
    shares = [parts[begin::n_threads] for begin in range(min(n_threads, len(parts)))]
    added = each(lambda share: [add(part) for part in share], shares, cells)
    found = [added[i % len(shares)][i // len(shares)] for i in range(len(parts))]
    total = sum(own for own, _ in found)
    if total == 0:
        return np.full(len(least), np.nan)
    return np.asarray(np.sum([errors for _, errors in found], axis=0) / total)


def _no_sums(n_rows: int, n_sizes: int, trees: Trees, centre: FloatArray) -> OutsideSums:
    n_outputs = trees.nodes.value.shape[1]
    total, square = np.zeros((n_rows, n_sizes, n_outputs)), np.zeros((n_rows, n_sizes))
    of_outputs = np.ascontiguousarray(np.broadcast_to(centre, n_outputs))
    return OutsideSums(total, square, np.zeros(n_rows, dtype=np.int64), of_outputs)


@inner
def add_node(nodes, at, sums, i, s):
    """Add the value of a node to the sums of a row for a size."""
    for k in range(sums.total.shape[2]):
        above = nodes.value[at, k] - sums.centre[k]
        sums.total[i, s, k] += above
        sums.square[i, s] += above**2


@kernel
def add_out_of_bag(trees, packed, data, bags, room, rows, sums):
    """Add the value of every tree to those of some rows that are not in its bag."""
    for tree in range(bags.seeds.shape[0]):
        draw(bags, tree, room.state, room.counts, room.spare)
        begin = 0
        while begin < rows.shape[0]:
            n, begin = list_outside(rows, room.counts, begin, room.rows)
            walk_rows(trees, packed, tree, data, room, n)
            for r in range(n):
                i = room.rows[r]
                sums.n_trees[i] += 1
                add_node(trees.nodes, trees.start[tree] + room.leaf[r], sums, i, 0)


@kernel
def mark_outside(bags, room, outside):
    """Mark the rows that are not in the bag of each tree, shape (n_trees, n_rows)."""
    for tree in range(bags.seeds.shape[0]):
        draw(bags, tree, room.state, room.counts, room.spare)
        for i in bags.in_rows:
            outside[tree, i] = room.counts[i] == 0


@kernel
def add_out_of_bag_by_size(trees, packed, data, outside, rows, sizes, sums):
    """Add the value of every tree, cut back to each size, to those of some rows that are not in its
    bag; row r of `sums` is ``rows[r]``."""
    nodes = trees.nodes
    for tree in range(outside.shape[0]):
        first = trees.start[tree]
        for r in range(rows.shape[0]):
            i = rows[r]
            if not outside[tree, i]:
                continue
            sums.n_trees[r] += 1
            at, s = first, 0
            while s < sizes.shape[0]:
                j = nodes.column[at]
                while s < sizes.shape[0] and (j < 0 or nodes.weight[at] < sizes[s]):
                    add_node(nodes, at, sums, r, s)
                    s += 1
                if j < 0:
                    break
                if packed.shape[0] > 0:
                    at = first + np.int64(next_node(packed[at], data.blocks, i))
                else:
                    at = child_of(nodes, first, at, data, i)


def cut_back(trees: Trees, size: int) -> Trees:
    """The same trees without the splits of nodes whose weight is below `size`."""
    if not ((trees.nodes.column >= 0) & (trees.nodes.weight < size)).any():
        return trees
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
