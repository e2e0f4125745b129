"""The best split of a node on one column, for means and Newton steps.

Both sides of a split have two sums: ``g`` (of gradients) and ``a`` (of weights, or of curvatures).
With capitals for the node, a split is worth ``(g (A - a) - (G - g) a)**2 / (a (A - a) A)``: the
decrease of the sum of squares, or of the quadratic approximation of the loss, in packed units.
Written so, equal means give exactly 0, which the difference of sums of squares would miss by
rounding, a split and its mirror image tie exactly, and there is one division, which a processor
does for several codes at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import IntArray
from treeselect.engine.columns import OTHER
from treeselect.engine.compiling import inlined, inner
from treeselect.engine.tree.target import has_pairs, moment_gradient, moment_weight

_ONE = np.uint64(1)


class NodeSums(NamedTuple):
    """The sums of a node, in packed units: `weight` counts rows, `gradient` is ``G`` and `size` is
    ``A``; `pairs` tells whether a cell has the curvature behind the moment, `shift` counts the low
    bits of a moment that hold the weight. Splits that score less than `least` may be passed
    over."""

    pairs: bool
    shift: int
    weight: int
    gradient: float
    size: float
    least: float


class Listed(NamedTuple):
    """A column of a node by the codes that its rows have: its histogram from code 0 on, the codes,
    rising from 0, how many they are, and the code of a factor that is no level, -1 if there is
    none."""

    histogram: IntArray
    present: IntArray
    n_present: int
    is_factor: bool
    other: int


@inner
def sums_of_node(pack, total, least):
    """The sums of a node, of a mean or of Newton steps; splits that gain less than `least` are of
    no use."""
    pairs = has_pairs(pack.kind)
    weight = moment_weight(total[0], pack.shift)
    size = np.float64(total[1]) if pairs else np.float64(weight)
    gradient = np.float64(moment_gradient(total[0], pack.shift))
    return NodeSums(pairs, pack.shift, weight, gradient, size, least * size / pack.to_gain)


@inner
def moments_of(cells, code, pairs):
    """Moment and curvature of a code, the latter 0 if there is none."""
    if pairs:
        return cells[2 * code], cells[2 * code + 1]
    return cells[code], np.int64(0)


@inner
def score_of(g, a, g_all, a_all):
    """Worth of a split, times the node's ``A``."""
    b = a_all - a
    difference = g * b - (g_all - g) * a
    return difference * difference / (a * b)


@inner
def ceiling(moments, seconds, node, scratch):
    """Largest worth, as :func:`score_of`, of any division of at most 256 rows of a node in two. The
    rows of the best division are next to each other by their mean (Fisher 1958), so that it is
    found among one fewer than there are rows. Infinite if a row has no curvature."""
    g, a = scratch.gradient, scratch.weight
    for r in range(moments.shape[0]):
        own_g = np.float64(moment_gradient(moments[r], node.shift))
        own_a = np.float64(moment_weight(moments[r], node.shift))
        if node.pairs:
            own_a = np.float64(seconds[r])
        if own_a <= 0.0:
            return np.inf
        at = r
        while at > 0 and own_g * a[at - 1] < g[at - 1] * own_a:
            g[at] = g[at - 1]
            a[at] = a[at - 1]
            at -= 1
        g[at] = own_g
        a[at] = own_a
    best, left_g, left_a = 0.0, 0.0, 0.0
    for r in range(moments.shape[0] - 1):
        left_g += g[r]
        left_a += a[r]
        best = max(best, score_of(left_g, left_a, node.gradient, node.size))
    return best


# --- means and Newton steps: all codes at once ---------------------------------------------------


@inner
def sum_left(cells, n, cumulate, node, scratch):
    """Sums of the left side of each of ``n`` candidates: of cell i, or, if they cumulate, of the
    cells 0 to i."""
    left, second = scratch.left, scratch.second
    moments, seconds = np.int64(0), np.int64(0)
    if node.pairs:
        for c in range(n):
            moments = cells[2 * c] + (moments if cumulate else 0)
            seconds = cells[2 * c + 1] + (seconds if cumulate else 0)
            left[c], second[c] = moments, seconds
        return
    for c in range(n):
        moments = cells[c] + (moments if cumulate else 0)
        left[c], second[c] = moments, moment_weight(moments, node.shift)


@inner
def allows(w, a, node, rule):
    """Whether both sides of a split have what they must, by the weight and the size of the left
    one."""
    return (
        (w >= rule.min_weight) & (node.weight - w >= rule.min_weight)
        & (a >= rule.min_curvature) & (node.size - a >= rule.min_curvature)
    )  # fmt: skip


@inner
def reaches(n, node, rule, scratch):
    """Whether a candidate that is allowed has the least score that is of use: without a division,
    so that most columns of many are done with at a fraction of the time."""
    left, second, shift = scratch.left, scratch.second, node.shift
    g_all, a_all = node.gradient, node.size
    n_found = np.int64(0)
    for c in range(n):
        w, a = moment_weight(left[c], shift), np.float64(second[c])
        g = np.float64(moment_gradient(left[c], shift))
        b = a_all - a
        difference = g * b - (g_all - g) * a
        is_of_use = difference * difference >= node.least * (a * b)
        n_found += allows(w, a, node, rule) & is_of_use
    return n_found > 0


@inner
def read_left(n, node, rule, scratch):
    """The sums of the left sides as floats; candidates that are not allowed get a worth of 0."""
    left, second, shift = scratch.left, scratch.second, node.shift
    for c in range(n):
        w, a = moment_weight(left[c], shift), np.float64(second[c])
        g = np.float64(moment_gradient(left[c], shift))
        allowed = allows(w, a, node, rule)
        scratch.gradient[c] = g if allowed else 0.5 * node.gradient
        scratch.weight[c] = a if allowed else 0.5 * node.size


@inner
def best_candidate(n, node, scratch):
    """Worth of the best candidate and the first that has it; -1 if none is worth anything."""
    g, a, score = scratch.gradient, scratch.weight, scratch.score
    for c in range(n):
        score[c] = score_of(g[c], a[c], node.gradient, node.size)
    # Floats that are not negative have the order of their bits, whose maximum is taken at once.
    bits = score.view(np.int64)
    largest = np.int64(0)
    for c in range(n):
        largest = max(largest, bits[c])
    if largest == 0:
        return 0.0, -1
    first = 0
    while bits[first] != largest:
        first += 1
    return score[first], first


@inner
def best_dense_split(cells, n_codes, is_factor, node, rule, scratch):
    """Best split of a column by its whole histogram: (score, code, missing_left). A factor is split
    "level c against the rest", missing being a level and code 255 none; a number "at most c against
    above c", halfway between codes of the node, 0 being the missing rows alone; these may go with
    either side, where there are none with the heavier one. The score is the worth times the node's
    ``A``; code -1 if there is no split."""
    size = 2 if node.pairs else 1
    n = min(n_codes, OTHER) if is_factor else n_codes
    score, code, missing_left = best_of_cells(cells, n, is_factor, node, rule, scratch)
    if is_factor:
        return score, code, code == 0
    if code > 0:
        above = code + 1
        while cells[size * above] == 0:
            above += 1
        code = (code + above - 1) // 2
    return score, code, missing_left


@inner
def best_of_cells(cells, n_cells, is_factor, node, rule, scratch):
    """Best split by a histogram: its score, the last cell on the left (of a factor the only one),
    -1 if there is no split, and the side of the missing rows, which are those of cell 0."""
    score, best, missing_left = 0.0, -1, False
    size = 2 if node.pairs else 1
    for with_missing in range(2):  # missing rows on the right, then on the left
        if with_missing and (is_factor or cells[0] == 0):
            break
        skip = 0 if is_factor or with_missing else 1
        n = n_cells if is_factor else n_cells - 1 - skip
        sum_left(cells[size * skip :], n, not is_factor, node, scratch)
        if node.least > 0.0 and not reaches(n, node, rule, scratch):
            continue
        read_left(n, node, rule, scratch)
        found, at = best_candidate(n, node, scratch)
        if found > score or (found == score and 0 <= at + skip < best):
            score, best, missing_left = found, at + skip, with_missing == 1
            if cells[0] == 0:
                left = moment_weight(scratch.left[at], node.shift)
                missing_left = 2 * left >= node.weight
    return score, best, missing_left


# --- means and Newton steps: the codes of a small node -------------------------------------------


@inlined
def best_short_split(listed, node, rule, scratch):
    """As :func:`best_dense_split`, by at most 256 codes that are listed, all of them at once; the
    histogram is 0 afterwards."""
    cells, histogram, present = scratch.cells, listed.histogram, listed.present
    n_present, is_factor = listed.n_present, listed.is_factor
    if node.pairs:
        for t in range(n_present):
            code = np.uint64(present[t])  # without a sign: no negative index to look for
            cells[2 * t] = histogram[code << _ONE]
            cells[2 * t + 1] = histogram[(code << _ONE) + _ONE]
            histogram[code << _ONE] = 0
            histogram[(code << _ONE) + _ONE] = 0
    else:
        for t in range(n_present):
            code = np.uint64(present[t])
            cells[t] = histogram[code]
            histogram[code] = 0
    n_cells = n_present
    if is_factor and present[n_present - 1] == listed.other:
        n_cells -= 1
    score, at, missing_left = best_of_cells(cells, n_cells, is_factor, node, rule, scratch)
    return score, *split_at(present, at, missing_left, is_factor)


@inner
def split_at(present, at, missing_left, is_factor):
    """Code and side of missing rows of the candidate at a position of ``present``."""
    if at < 0:
        return np.int64(-1), False
    if is_factor:
        return present[at], present[at] == 0
    if at == 0:
        return np.int64(0), True
    return (present[at] + present[at + 1] - 1) // 2, missing_left
