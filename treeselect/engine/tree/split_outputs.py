"""The best split of a node on one column, for classes and for several gradients at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import IntArray
from treeselect.engine.compiling import inlined, inner
from treeselect.engine.tree.bounds import orders_classes
from treeselect.engine.tree.histogram import clear
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


@inlined
def class_gain(left, cell, node, min_weight):
    """Decrease of the impurity, times the node's weight, by a left side of ``left + cell``. Gini:
    ``sum_k (L_k R - R_k L)**2 / (L R N)``, which equals the decrease of ``N (1 - sum_k p_k**2)``
    and is exactly 0 for equal shares; the same for several gradients, with the weights of the sides
    for L and R. -1 if a side is too light."""
    total, n_classes, shift, unit = node.total, node.n_outputs, node.shift, node.unit
    rows = np.int64(0)
    rows_all = np.int64(0)
    w = np.int64(0)
    w_all = np.int64(0)
    if is_vector(node.kind):  # the weight of a row stands beside each of its gradients
        rows = w = moment_weight(left[0] + cell[0], shift)
        rows_all = w_all = moment_weight(total[0], shift)
    else:
        for k in range(n_classes):
            here = left[k] + cell[k]
            rows += moment_weight(here, shift)
            rows_all += moment_weight(total[k], shift)
            w += moment_gradient(here, shift)
            w_all += moment_gradient(total[k], shift)
    if rows < min_weight or rows_all - rows < min_weight or w <= 0 or w >= w_all:
        return -1.0
    a = np.float64(w)
    b = np.float64(w_all - w)
    gain = 0.0
    if node.kind == ENTROPY:
        a, b = a / unit, b / unit
        gain = entropy_part(a + b) - entropy_part(a) - entropy_part(b)
        for k in range(n_classes):
            here = np.float64(moment_gradient(left[k] + cell[k], shift)) / unit
            everywhere = np.float64(moment_gradient(total[k], shift)) / unit
            gain += entropy_part(here) + entropy_part(everywhere - here) - entropy_part(everywhere)
        # Equal shares differ from 0 by rounding only.
        return gain * unit if gain > 1e-12 * (a + b) else 0.0
    for k in range(n_classes):
        here = moment_gradient(left[k] + cell[k], shift)
        there = moment_gradient(total[k], shift) - here
        difference = np.float64(here) * b - np.float64(there) * a
        gain += difference * difference
    return gain / (a * b) / np.float64(w_all)


@inner
def left_is_heavier(left, node):
    """Whether at least half of the rows go left."""
    rows = np.int64(0)
    rows_all = np.int64(0)
    for k in range(node.n_outputs):
        rows += moment_weight(left[k], node.shift)
        rows_all += moment_weight(node.total[k], node.shift)
    return 2 * rows >= rows_all


@inlined
def best_class_split(listed, node, rule, scratch, bounds):
    """As ``bounds.best_listed_split`` for classes or vectors, under bounds if any apply; the first
    result is the gain itself."""
    histogram, present, is_factor = listed.histogram, listed.present, listed.is_factor
    n_classes = node.n_outputs
    best, best_at, best_missing_left = 0.0, -1, False
    left = scratch.classes
    clear(left)
    nothing = scratch.left[:n_classes]
    clear(nothing)
    missing = histogram[:n_classes]
    n_missing = 0
    for k in range(n_classes):
        n_missing += moment_weight(missing[k], node.shift)
    n = listed.n_present if is_factor else listed.n_present - 1
    for t in range(n):
        code = present[t]
        cell = histogram[code * n_classes : (code + 1) * n_classes]
        if is_factor and code == listed.other:
            break
        if t > 0 and not is_factor:
            for k in range(n_classes):
                left[k] += cell[k]
        for with_missing in range(1 if is_factor or n_missing == 0 else 2):
            beside = nothing
            if is_factor:
                beside = cell
            elif with_missing:
                beside = missing
            gain = class_gain(left, beside, node, rule.min_weight)
            if gain > best and (
                not bounds.applies
                or orders_classes(left, beside, node, bounds, t > 0 and not is_factor)
            ):
                best, best_at = gain, t
                best_missing_left = with_missing == 1 or (
                    n_missing == 0 and left_is_heavier(left, node)
                )
    return best, *split_at(present, best_at, best_missing_left, is_factor)
