"""The best split of a node on one column, for classes and for several gradients at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import IntArray
from treeselect.engine.compiling import inlined, inner
from treeselect.engine.tree.bounds import orders_classes
from treeselect.engine.tree.splits import split_at
from treeselect.engine.tree.target import ENTROPY, is_vector, moment_gradient, moment_weight


class OutputSums(NamedTuple):
    """The sums of a node with several outputs, classes or gradients: the moment of each, the low
    bits of a moment that hold the weight, and units per weight of a class."""

    kind: int
    n_outputs: int
    total: IntArray
    shift: int
    unit: float


@inner
def entropy_part(weight):
    """``w log w``, 0 at 0."""
    return weight * np.log(weight) if weight > 0 else 0.0


@inner
def add_outputs(cell, node, side):
    """Add the sums of the outputs of a cell to those of a side, floats that are exact; returns the
    rows and the weight of the cell, the same for several gradients, beside each of which it is."""
    for k in range(node.n_outputs):  # by halves, of which a processor turns several at once
        whole = moment_gradient(cell[k], node.shift)
        side[k] += np.float64(np.int32(whole >> 32)) * 2.0**32 + np.float64(np.uint32(whole))
    if is_vector(node.kind):
        weight = moment_weight(cell[0], node.shift)
        return weight, weight
    rows, weight = np.int64(0), np.int64(0)
    for k in range(node.n_outputs):
        rows += moment_weight(cell[k], node.shift)
        weight += moment_gradient(cell[k], node.shift)
    return rows, weight


@inlined
def side_gain(side, total, a, b, node):
    """Decrease of the impurity, times the node's weight, by a side of weight a beside one of weight
    b. Gini: ``sum_k (L_k R - R_k L)**2 / (L R N)``, which equals the decrease of ``N (1 - sum_k
    p_k**2)`` and is exactly 0 for equal shares; the same for several gradients, with the weights of
    the sides for L and R."""
    if node.kind == ENTROPY:
        a, b = a / node.unit, b / node.unit
        gain = entropy_part(a + b) - entropy_part(a) - entropy_part(b)
        for k in range(node.n_outputs):
            here, everywhere = side[k] / node.unit, total[k] / node.unit
            gain += entropy_part(here) + entropy_part(everywhere - here) - entropy_part(everywhere)
        # Equal shares differ from 0 by rounding only.
        return gain * node.unit if gain > 1e-12 * (a + b) else 0.0
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0  # sums that do not wait for each other
    n_fours = node.n_outputs // 4 * 4
    for k in range(0, n_fours, 4):
        first += (side[k] * b - (total[k] - side[k]) * a) ** 2
        second += (side[k + 1] * b - (total[k + 1] - side[k + 1]) * a) ** 2
        third += (side[k + 2] * b - (total[k + 2] - side[k + 2]) * a) ** 2
        fourth += (side[k + 3] * b - (total[k + 3] - side[k + 3]) * a) ** 2
    for k in range(n_fours, node.n_outputs):
        first += (side[k] * b - (total[k] - side[k]) * a) ** 2
    return (first + second + third + fourth) / (a * b) / (a + b)


@inlined
def best_class_split(listed, node, rule, scratch, bounds):
    """As ``bounds.best_listed_split`` for classes or vectors, under bounds if any apply; the first
    result is the gain itself."""
    histogram, present, is_factor = listed.histogram, listed.present, listed.is_factor
    size = node.n_outputs
    best, best_at, best_missing_left = 0.0, -1, False
    left, with_missing = scratch.sides[0], scratch.sides[1]
    total, missing = scratch.sides[2], scratch.sides[3]
    for k in range(size):
        left[k] = total[k] = missing[k] = 0.0
    rows_all, w_all = add_outputs(node.total, node, total)
    rows, w = np.int64(0), np.int64(0)
    n_missing, w_missing = add_outputs(histogram[:size], node, missing)
    n = listed.n_present if is_factor else listed.n_present - 1
    n_sides = 1 if is_factor or n_missing == 0 else 2
    for t in range(n):
        code = present[t]
        cell = histogram[code * size : (code + 1) * size]
        if is_factor:
            if code == listed.other:
                break
            for k in range(size):
                left[k] = 0.0
            rows, w = add_outputs(cell, node, left)
        elif t > 0:
            more, heavier = add_outputs(cell, node, left)
            rows += more
            w += heavier
        if n_sides == 2:
            for k in range(size):
                with_missing[k] = left[k] + missing[k]
        for s in range(n_sides):
            here, own = rows + s * n_missing, w + s * w_missing
            if here < rule.min_weight or rows_all - here < rule.min_weight:
                continue
            if own <= 0 or own >= w_all:
                continue
            side = scratch.sides[s]
            gain = side_gain(side, total, np.float64(own), np.float64(w_all - own), node)
            if gain > best and (
                not bounds.applies or orders_classes(side, total, bounds, t > 0 and not is_factor)
            ):
                best, best_at = gain, t
                best_missing_left = s == 1 or (n_missing == 0 and 2 * rows >= rows_all)
    return best, *split_at(present, best_at, best_missing_left, is_factor)
