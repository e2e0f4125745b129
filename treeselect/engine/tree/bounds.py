"""Splits and values under monotone constraints.

A split on a constrained column must order the values of its children, and half their sum bounds
all values below: from above on the one side, from below on the other. Children inherit the bounds
of their parent, and every value is moved into its bounds, so that a tree is monotone in the column
whatever the other columns are: the "basic" method of LightGBM, and that of XGBoost. Missing rows
may go either way; they have no place in the order.

``work.bounds`` holds the bounds of each node of the tree that grows, in units of its values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.compiling import inlined, inner
from treeselect.engine.tree.node import sum_rows, write_value
from treeselect.engine.tree.splits import Listed, best_dense_split, moments_of, score_of, split_at
from treeselect.engine.tree.target import has_classes, has_outputs, moment_gradient, moment_weight

_ROUNDING = 1e-12
"""Share of the sums below which a gain is nothing but rounding."""


class Bounds(NamedTuple):
    """What a split of a node on one column must observe, if anything: 1 if values must not fall
    with the column, -1 if they must not rise, else 0; and bounds of the values of the node, in
    packed units."""

    applies: bool
    sign: np.int64
    low: float
    high: float


@inner
def bounds_of(monotone, bounds, pack, node, j):
    """The bounds of a split of a node on column j; `bounds` are those of the workspace."""
    if monotone.shape[0] == 0:
        return Bounds(False, np.int64(0), -np.inf, np.inf)
    sign, low, high = np.int64(monotone[j]), bounds[node, 0], bounds[node, 1]
    applies = sign != 0 or low > -np.inf or high < np.inf
    unit = 1.0 if has_outputs(pack.kind) else pack.unit / pack.second_unit
    return Bounds(applies, sign, low * unit, high * unit)


@inner
def within(value, low, high):
    """The value, moved into its bounds."""
    return min(max(value, low), high)


@inner
def bounded_score(g, a, node, bounds, is_ordered):
    """As ``splits.score_of``, for values that are moved into their bounds; 0 if they are out of
    order."""
    g_all, a_all = node.gradient, node.size
    h, b = g_all - g, a_all - a
    left, right, own = g / a, h / b, g_all / a_all
    v = within(left, bounds.low, bounds.high)
    w = within(right, bounds.low, bounds.high)
    u = within(own, bounds.low, bounds.high)
    if is_ordered and bounds.sign * (w - v) < 0:
        return 0.0
    if v == left and w == right and u == own:
        return score_of(g, a, g_all, a_all)
    here, there, before = (2 * g - a * v) * v, (2 * h - b * w) * w, (2 * g_all - a_all * u) * u
    gain = here + there - before
    if gain <= _ROUNDING * (abs(here) + abs(there) + abs(before)):
        return 0.0
    return gain * a_all


@inlined
def best_listed_split(listed, node, rule, bounds):
    """As ``splits.best_dense_split``, by the codes that are listed, under bounds if any apply."""
    histogram, present, is_factor = listed.histogram, listed.present, listed.is_factor
    shift, w_all, a_all = node.shift, node.weight, node.size
    best, best_at, best_missing_left = 0.0, -1, False
    left, second = np.int64(0), np.int64(0)
    missing, missing_second = moments_of(histogram, np.int64(0), node.pairs)
    n = listed.n_present if is_factor else listed.n_present - 1
    for t in range(n):
        code = present[t]
        if is_factor and code == listed.other:
            break
        if is_factor:
            left, second = moments_of(histogram, code, node.pairs)
        elif t > 0:
            here, here_second = moments_of(histogram, code, node.pairs)
            left += here
            second += here_second
        for with_missing in range(1 if is_factor or missing == 0 else 2):
            side = left + missing if with_missing else left
            w = moment_weight(side, shift)
            if w < rule.min_weight or w_all - w < rule.min_weight:
                continue
            a = np.float64(w)
            if node.pairs:
                a = np.float64(second + missing_second if with_missing else second)
                if a < rule.min_curvature or a_all - a < rule.min_curvature:
                    continue
            g = np.float64(moment_gradient(side, shift))
            if bounds.applies:
                score = bounded_score(g, a, node, bounds, t > 0 and not is_factor)
            else:
                score = score_of(g, a, node.gradient, a_all)
            if score > best:
                best, best_at = score, t
                best_missing_left = with_missing == 1 or (missing == 0 and 2 * w >= w_all)
    return best, *split_at(present, best_at, best_missing_left, is_factor)


@inner
def dense_split(cells, n_codes, is_factor, node, rule, scratch, bounds):
    """As ``splits.best_dense_split``, under bounds if any apply."""
    if not bounds.applies:
        return best_dense_split(cells, n_codes, is_factor, node, rule, scratch)
    present = scratch.left  # not otherwise in use here
    present[0] = 0
    n_present = 1
    for code in range(1, min(n_codes, 255) if is_factor else n_codes):
        if moments_of(cells, np.int64(code), node.pairs)[0] != 0:
            present[n_present] = code
            n_present += 1
    listed = Listed(cells, present, n_present, is_factor, -1)
    return best_listed_split(listed, node, rule, bounds)


@inner
def orders_classes(side, total, bounds, is_ordered):
    """Whether the shares of the second class on both sides differ, moved into the bounds, and are
    in order."""
    v = within(side[1] / (side[0] + side[1]), bounds.low, bounds.high)
    first, second = total[0] - side[0], total[1] - side[1]
    w = within(second / (first + second), bounds.low, bounds.high)
    return v != w and not (is_ordered and bounds.sign * (w - v) < 0)


@inner
def start_bounds(bounds):
    """No bounds for the root."""
    if bounds.shape[0] > 0:
        bounds[0, 0], bounds[0, 1] = -np.inf, np.inf


@inner
def bounded_value(bounds, kind, node, value):
    """Move the value of a node into its bounds; returns the one that is in order."""
    at = 1 if has_classes(kind) else 0
    if bounds.shape[0] > 0:
        moved = within(value[at], bounds[node, 0], bounds[node, 1])
        if moved != value[at]:
            value[at] = moved
            if at == 1:
                value[0] = 1.0 - moved
    return value[at]


@inner
def pass_bounds(pack, work, sign, node, split, rows):
    """Bound the children of a node by a split on a column of this sign, the code and the left child
    of which are in `split`; `rows` tells where the rows of the left child begin, those of the right
    one, and where these end."""
    code, left = split
    begin, middle, end = rows
    for child in range(left, left + 2):
        work.bounds[child, 0] = work.bounds[node, 0]
        work.bounds[child, 1] = work.bounds[node, 1]
    if sign == 0 or code == 0:  # code 0: missing rows against all others
        return
    sum_rows(pack, work, begin, middle, work.part)
    write_value(pack, work.part, work.value)
    first = bounded_value(work.bounds, pack.kind, left, work.value)
    sum_rows(pack, work, middle, end, work.part)
    write_value(pack, work.part, work.value)
    between = first / 2 + bounded_value(work.bounds, pack.kind, left + 1, work.value) / 2
    lower = left if sign > 0 else left + 1
    work.bounds[lower, 1] = min(work.bounds[lower, 1], between)
    work.bounds[2 * left + 1 - lower, 0] = max(work.bounds[2 * left + 1 - lower, 0], between)
