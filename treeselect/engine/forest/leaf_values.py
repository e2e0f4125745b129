"""Other values for leaves: fitted, in the order of constraints, hazards, quantiles."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import AnyArray, FloatArray, Int8Array, WeightArray
from treeselect.engine.columns import BinnedData
from treeselect.engine.compiling import kernel
from treeselect.engine.forest.bagging import Forest, draw
from treeselect.engine.forest.walk import leaf_of, leaves_of, room
from treeselect.engine.losses import Loss
from treeselect.engine.rounding import PRECISION
from treeselect.engine.tree.bounds import within
from treeselect.engine.tree.nodes import Trees
from treeselect.engine.tree.target import are_copies

_FARTHEST = 30.0
"""Values of leaves are sought between minus this and this."""

_MOST_STEPS, _NEAR = 30, 1e-4

_CELLS = 200_000
"""Rows times trees that are fitted at once."""


def with_leaf_fits(
    trees: Trees, data: BinnedData, loss: Loss, y: FloatArray, base: FloatArray, weight: WeightArray
) -> Trees:
    """The same trees, each leaf with the value that minimises the loss of its rows beside their
    base, in the bag or not, and of one more row of mean curvature that speaks for 0; then in the
    order of the constraints. Newton steps; one that leaves the interval in which the minimum must
    lie is replaced by a bisection: beside a rare event the curvature is next to nothing."""
    rows = np.flatnonzero(weight)
    y, base, weight = y[rows], base[rows], weight[rows].astype(np.float64)
    of_rows = loss.of(y, weight)
    prior = mean_curvature(of_rows.curvature(base), weight)
    value = np.zeros_like(trees.nodes.value)
    at_once = max(_CELLS // len(rows), 1)
    for first in range(0, trees.n_trees, at_once):
        start = trees.start[first : first + at_once + 1]
        leaf = np.stack(
            [
                leaves_of(trees, first + i, data)[rows] + int(start[i] - start[0])
                for i in range(len(start) - 1)
            ]
        )
        begin, n_nodes = start[:-1] - start[0], int(start[-1] - start[0])
        own, least, most = np.outer([0.0, -_FARTHEST, _FARTHEST], np.ones(n_nodes))
        moves = np.ones(len(leaf), dtype=np.bool_)
        for _ in range(_MOST_STEPS):
            at = leaf[moves]
            eta = base + own[at]
            gradient, curve = (weight * part for part in of_rows.derivatives(eta))
            sums = np.bincount(at.ravel(), gradient.ravel(), n_nodes)
            slope = sums - prior * own
            curvature = np.bincount(at.ravel(), curve.ravel(), n_nodes) + prior
            least, most = np.where(slope > 0, own, least), np.where(slope > 0, most, own)
            found = own + slope / curvature
            inside = (found >= least) & (found <= most)  # equal where a leaf has arrived
            found = np.where(inside, found, (least + most) / 2)
            found = np.where(np.repeat(moves, np.diff(start)), found, own)
            moves &= np.maximum.reduceat(np.abs(found - own), begin) >= _NEAR
            own = found
            if not moves.any():
                break
        value[start[0] : start[-1], 0] = own
    fitted = trees._replace(nodes=trees.nodes._replace(value=value))
    return in_order_of(fitted, data.monotone)


def mean_curvature(curvature: FloatArray, weight: FloatArray) -> float:
    """Weighted mean, at least a thousandth, so that something can be divided by it."""
    return max(float(np.average(curvature, weights=weight)), 1e-3)


def in_order_of(trees: Trees, monotone: Int8Array) -> Trees:
    """The same trees of one output, the values of their leaves moved where one does not obey the
    constraints: leaves on both sides of a split on a constrained column are bounded by a value
    between the means of the sides, or by the mean of both if these are in the wrong order."""
    if not len(monotone):
        return trees
    value = trees.nodes.value.copy()
    n = len(value)
    nodes = trees.nodes._replace(value=value)
    order_leaves(nodes, trees.start, monotone, np.zeros((n, 4)), np.zeros((n, 2)))
    return trees._replace(nodes=nodes)


@kernel
def order_leaves(nodes, start, monotone, found, bounds):
    """Move the values of the leaves; `found` and `bounds` are working memory. ``found`` holds the
    least value, the greatest, the mean and the mass of the leaves below each node."""
    value = nodes.value[:, 0]
    for tree in range(start.shape[0] - 1):
        first, last = start[tree], start[tree + 1]
        for at in range(last - 1, first - 1, -1):  # children stand behind their parents
            if nodes.column[at] < 0:
                found[at, 0] = found[at, 1] = found[at, 2] = value[at]
                found[at, 3] = max(nodes.weight[at], 1)
                continue
            a = first + nodes.left[at]
            b = a + 1
            found[at, 0] = min(found[a, 0], found[b, 0])
            found[at, 1] = max(found[a, 1], found[b, 1])
            found[at, 3] = found[a, 3] + found[b, 3]
            found[at, 2] = (found[a, 2] * found[a, 3] + found[b, 2] * found[b, 3]) / found[at, 3]
        bounds[first, 0], bounds[first, 1] = -np.inf, np.inf
        for at in range(first, last):
            low, high = bounds[at, 0], bounds[at, 1]
            if nodes.column[at] < 0:
                value[at] = within(value[at], low, high)
                continue
            left = first + nodes.left[at]
            for child in range(left, left + 2):
                bounds[child, 0], bounds[child, 1] = low, high
            sign = monotone[nodes.column[at]]
            if sign == 0 or nodes.code[at] == 0:
                continue
            lower = left if sign > 0 else left + 1
            upper = 2 * left + 1 - lower
            a = within(found[lower, 1], low, high)
            b = within(found[upper, 0], low, high)
            if a > b:
                a = within(found[lower, 2], low, high)
                b = within(found[upper, 2], low, high)
            between = a / 2 + b / 2
            if a > b:
                mass = found[lower, 3] + found[upper, 3]
                between = (a * found[lower, 3] + b * found[upper, 3]) / mass
            bounds[lower, 1] = bounds[upper, 0] = within(between, low, high)


def hazard_trees(
    forest: Forest, weight: WeightArray, observed: FloatArray, expected: FloatArray
) -> Trees:
    """The same trees, each leaf with ``log((O + m) / (E + m))``, of the events O and those expected
    E of the rows in the bag and of one more row with the mean m of the expected ones (LeBlanc and
    Crowley 1992); then in the order of the constraints. Values are log relative hazards."""
    trees, data = forest.trees, forest.data
    mass = weight * (1.0 if are_copies(weight) else 1 / weight[weight > 0].mean())
    mean = float(np.average(expected, weights=weight))
    found = trees._replace(nodes=trees.nodes._replace(value=np.zeros_like(trees.nodes.value)))
    sums = np.zeros((2, len(trees.nodes.column)))
    put_hazards(
        found, data, forest.bags, room(data.n_rows), mass * observed, mass * expected, mean, sums
    )
    return in_order_of(found, data.monotone)


@kernel
def put_hazards(trees, data, bags, room, observed, expected, mean, sums):
    """Write the values of the leaves; `sums` and the values are 0 before."""
    nodes = trees.nodes
    for tree in range(bags.seeds.shape[0]):
        draw(bags, tree, room.state, room.counts, room.spare)
        first = trees.start[tree]
        for i in bags.in_rows:
            if room.counts[i] > 0:
                at = leaf_of(nodes, first, data, i)
                sums[0, at] += room.counts[i] * observed[i]
                sums[1, at] += room.counts[i] * expected[i]
        for at in range(first, trees.start[tree + 1]):
            if nodes.column[at] < 0:
                nodes.value[at, 0] = np.log((sums[0, at] + mean) / (sums[1, at] + mean))


def leaf_quantiles(
    trees: Trees,
    data: BinnedData,
    y: FloatArray,
    weight: AnyArray,
    new: BinnedData,
    shares: FloatArray,
) -> FloatArray:
    """Quantiles, of rising shares, of the response of the rows that share leaves with each new row,
    (n_new_rows, n_shares): Meinshausen (2006), equations 4 and 5. In each tree a row weighs ``w_i /
    sum w_j`` over the rows j of the leaf, in the bag or not; a quantile is the least response at
    which the mean weights add up to its share."""
    order = np.argsort(y, kind="stable")
    order = order[weight[order] > 0]
    mass = weight[order].astype(np.float64)
    members = np.empty((trees.n_trees, len(order)), dtype=np.uint32)
    begin = np.zeros(len(trees.nodes.column) + 1, dtype=np.int64)
    leaves = np.empty((trees.n_trees, new.n_rows), dtype=np.int32)
    for tree in range(trees.n_trees):
        first, last = trees.start[tree], trees.start[tree + 1]
        own = leaves_of(trees, tree, data)[order]
        members[tree] = np.argsort(own, kind="stable")
        begin[first:last] = np.searchsorted(own[members[tree]], np.arange(last - first))
        leaves[tree] = leaves_of(trees, tree, new)
    found = np.empty((new.n_rows, len(shares)))
    write_quantiles(
        trees.start, leaves, begin, members, mass, y[order], shares, np.empty(len(order)), found
    )
    return found


@kernel
def write_quantiles(start, leaves, begin, members, mass, y, shares, weight, found):
    """Write the quantiles of each new row; responses rise. The members of a leaf stand in their
    tree's row of `members` from ``begin`` of its node to that of the next one."""
    n_trees, n_rows = members.shape
    for i in range(found.shape[0]):
        for r in range(n_rows):
            weight[r] = 0.0
        for tree in range(n_trees):
            node = start[tree] + leaves[tree, i]
            end = begin[node + 1] if node + 1 < start[tree + 1] else n_rows
            total = 0.0
            for m in range(begin[node], end):
                total += mass[members[tree, m]]
            for m in range(begin[node], end):
                weight[members[tree, m]] += mass[members[tree, m]] / total
        r = 0
        below = weight[0]
        for s in range(shares.shape[0]):
            wanted = n_trees * (shares[s] - PRECISION)
            while below < wanted and r + 1 < n_rows:
                r += 1
                below += weight[r]
            found[i, s] = y[r]
