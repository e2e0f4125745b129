"""Leaf values in the order of monotone constraints, after they have been estimated again."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import Int8Array
from treeselect.engine.cache import kernel
from treeselect.engine.growing.nodes import Trees
from treeselect.engine.splitting.bounds import within


def in_order_of(trees: Trees, monotone: Int8Array) -> Trees:
    """The same trees, the values of their leaves moved so that each tree obeys the constraints.

    Trees that obey them already keep their values. Elsewhere the leaves on both sides of a split on
    a constrained column are bounded by a value between the means of the two sides, or by the mean
    of both if these are in the wrong order.

    Parameters
    ----------
    trees : Trees
        With one output.
    monotone : ndarray of int8, shape (n_columns,) or (0,)
        See ``BinnedData``.
    """
    if not len(monotone):
        return trees
    value = trees.nodes.value.copy()
    n = len(value)
    nodes = trees.nodes._replace(value=value)
    order_leaves(nodes, trees.start, monotone, np.zeros((n, 4)), np.zeros((n, 2)))
    return trees._replace(nodes=nodes)


@kernel
def order_leaves(nodes, start, monotone, found, bounds):
    """Move the values of the leaves; `found` and `bounds` are working memory.

    ``found`` holds the least value, the greatest, the mean and the mass of the leaves below each
    node.
    """
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
