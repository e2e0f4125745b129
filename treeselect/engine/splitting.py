"""The best split of a node on one column, and the partition of its rows.

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

from treeselect.engine._types import FloatArray, IntArray
from treeselect.engine.binning import OTHER
from treeselect.engine.cache import inner
from treeselect.engine.histograms import clear
from treeselect.engine.moments import moment_gradient, moment_weight
from treeselect.engine.targets import ENTROPY, NEWTON, VECTOR

_SAMPLE, _ENOUGH = 32, 512
"""Rows looked at to see whether hardly any goes to one side, and rows that are worth a look."""


class Scratch(NamedTuple):
    """Working memory for the scan of one column."""

    left: IntArray
    second: IntArray
    gradient: FloatArray
    weight: FloatArray
    score: FloatArray
    classes: IntArray


def scratch(n_classes: int) -> Scratch:
    """Working memory for `n_classes` classes."""
    return Scratch(
        np.zeros(256, dtype=np.int64), np.zeros(256, dtype=np.int64),
        np.zeros(256), np.zeros(256), np.zeros(256), np.zeros(n_classes, dtype=np.int64),
    )  # fmt: skip


class Rule(NamedTuple):
    """What each side of a split must have.

    Attributes
    ----------
    min_weight : int
        Rows, counting copies.
    min_curvature : float
        Sum of curvatures, in packed units; above 0.
    """

    min_weight: int
    min_curvature: float


@inner
def score_of(g, a, g_all, a_all):
    """Worth of a split, times the node's ``A``."""
    b = a_all - a
    difference = g * b - (g_all - g) * a
    return difference * difference / (a * b)


# --- means and Newton steps: all codes at once ---------------------------------------------------


@inner
def read_left(cells, n, cumulate, kind, total, total_second, shift, rule, scratch):
    """Sums of the left side of each of ``n`` candidates; those not allowed get a worth of 0.

    The left side of candidate i is cell i, or, if they cumulate, the cells 0 to i.
    """
    left, second = scratch.left, scratch.second
    pairs = kind == NEWTON
    if pairs:
        for c in range(n):
            left[c] = cells[2 * c]
            second[c] = cells[2 * c + 1]
    else:
        for c in range(n):
            left[c] = cells[c]
    if cumulate:
        for c in range(1, n):
            left[c] += left[c - 1]
        if pairs:
            for c in range(1, n):
                second[c] += second[c - 1]
    w_all = moment_weight(total, shift)
    g_all = np.float64(moment_gradient(total, shift))
    a_all = np.float64(total_second) if pairs else np.float64(w_all)
    if pairs:
        for c in range(n):
            w = moment_weight(left[c], shift)
            g = np.float64(moment_gradient(left[c], shift))
            a = np.float64(second[c])
            allowed = (
                (w >= rule.min_weight) & (w_all - w >= rule.min_weight)
                & (a >= rule.min_curvature) & (a_all - a >= rule.min_curvature)
            )  # fmt: skip
            scratch.gradient[c] = g if allowed else 0.5 * g_all
            scratch.weight[c] = a if allowed else 0.5 * a_all
    else:
        for c in range(n):
            w = moment_weight(left[c], shift)
            g = np.float64(moment_gradient(left[c], shift))
            allowed = (w >= rule.min_weight) & (w_all - w >= rule.min_weight)
            scratch.gradient[c] = g if allowed else 0.5 * g_all
            scratch.weight[c] = np.float64(w) if allowed else 0.5 * a_all
    return g_all, a_all


@inner
def best_candidate(n, g_all, a_all, scratch):
    """Worth of the best candidate and the first that has it; -1 if none is worth anything."""
    g, a, score = scratch.gradient, scratch.weight, scratch.score
    for c in range(n):
        score[c] = score_of(g[c], a[c], g_all, a_all)
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
def best_dense_split(
    cells, n_codes, is_factor, kind, total, total_second, shift, rule, scratch
):  # fmt: skip
    """Best split of a column by its whole histogram.

    Parameters
    ----------
    cells : ndarray of int64
        Histogram of the column from code 0 on.
    n_codes : int
        Codes that it may hold.
    is_factor : bool
        "Level c against the rest", missing being a level and code 255 none; else "at most c
        against above c" with missing rows on either side.
    kind, total, total_second, shift
        Of the target and of the node.
    rule : Rule
    scratch : Scratch

    Returns
    -------
    score : float
        Worth of the split times the node's ``A``; 0 if there is none.
    code : int
        Numbers: rows with ``1 <= code of the row <= code`` go left; halfway between the
        neighbouring codes of the node. 0: only the missing rows go left. Factors: rows of the
        level go left. -1 if there is no split.
    missing_left : bool
        Where missing rows go; where there are none, with the heavier side.
    """
    size = 2 if kind == NEWTON else 1
    score, code, missing_left = 0.0, -1, False
    for with_missing in range(2):  # missing rows on the right, then on the left
        if with_missing and (is_factor or cells[0] == 0):
            break
        skip = 0 if is_factor or with_missing else 1
        n = min(n_codes, OTHER) if is_factor else n_codes - 1 - skip
        g_all, a_all = read_left(
            cells[size * skip :], n, not is_factor, kind, total, total_second, shift, rule, scratch
        )
        found, at = best_candidate(n, g_all, a_all, scratch)
        if found > score or (found == score and 0 <= at + skip < code):
            score, code, missing_left = found, at + skip, with_missing == 1
            if cells[0] == 0:
                left = moment_weight(scratch.left[at], shift)
                missing_left = 2 * left >= moment_weight(total, shift)
    if is_factor:
        return score, code, code == 0
    if code > 0:
        above = code + 1
        while cells[size * above] == 0:
            above += 1
        code = (code + above - 1) // 2
    return score, code, missing_left


# --- means and Newton steps: the codes of a small node -------------------------------------------


@inner
def best_listed_split(
    histogram, present, n_present, is_factor, kind, total, total_second, shift, rule
):  # fmt: skip
    """As :func:`best_dense_split`, by the codes that ``present`` lists, of which code 0 is one."""
    pairs = kind == NEWTON
    w_all = moment_weight(total, shift)
    g_all = np.float64(moment_gradient(total, shift))
    a_all = np.float64(total_second) if pairs else np.float64(w_all)
    best, best_at, best_missing_left = 0.0, -1, False
    left = np.int64(0)
    second = np.int64(0)
    missing = histogram[0]
    missing_second = histogram[1] if pairs else np.int64(0)
    n = n_present if is_factor else n_present - 1
    for t in range(n):
        code = present[t]
        if is_factor:
            if code == OTHER:
                break
            left = np.int64(0)
            second = np.int64(0)
        if t > 0 or is_factor:
            left += histogram[2 * code] if pairs else histogram[code]
            second += histogram[2 * code + 1] if pairs else np.int64(0)
        for with_missing in range(1 if is_factor or missing == 0 else 2):
            here = left + missing if with_missing else left
            w = moment_weight(here, shift)
            if w < rule.min_weight or w_all - w < rule.min_weight:
                continue
            a = np.float64(w)
            if pairs:
                a = np.float64(second + missing_second if with_missing else second)
                if a < rule.min_curvature or a_all - a < rule.min_curvature:
                    continue
            score = score_of(np.float64(moment_gradient(here, shift)), a, g_all, a_all)
            if score > best:
                best, best_at = score, t
                best_missing_left = with_missing == 1 or (missing == 0 and 2 * w >= w_all)
    return best, *split_at(present, best_at, best_missing_left, is_factor)


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


# --- classes and vectors --------------------------------------------------------------------------


@inner
def entropy_part(weight):
    """``w log w``, 0 at 0."""
    return weight * np.log(weight) if weight > 0 else 0.0


@inner
def vector_gain(left, cell, total, n_outputs, shift, min_weight):
    """Decrease of the sum of squares, summed over the outputs; -1 if a side is too light."""
    w = moment_weight(left[0] + cell[0], shift)
    w_all = moment_weight(total[0], shift)
    if w < min_weight or w_all - w < min_weight:
        return -1.0
    a = np.float64(w)
    b = np.float64(w_all - w)
    gain = 0.0
    for k in range(n_outputs):
        here = moment_gradient(left[k] + cell[k], shift)
        there = moment_gradient(total[k], shift) - here
        difference = np.float64(here) * b - np.float64(there) * a
        gain += difference * difference
    return gain / (a * b) / np.float64(w_all)


@inner
def class_gain(left, cell, total, n_classes, shift, unit, kind, min_weight):
    """Decrease of the impurity, times the node's weight, by a left side of ``left + cell``.

    Gini: ``sum_k (L_k R - R_k L)**2 / (L R N)``, which equals the decrease of
    ``N (1 - sum_k p_k**2)`` and is exactly 0 for equal shares. -1 if a side is too light.
    """
    if kind == VECTOR:
        return vector_gain(left, cell, total, n_classes, shift, min_weight)
    rows = np.int64(0)
    rows_all = np.int64(0)
    w = np.int64(0)
    w_all = np.int64(0)
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
    if kind == ENTROPY:
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
def best_class_split(
    histogram, present, n_present, is_factor, kind, n_classes, total, shift, unit, rule, scratch
):  # fmt: skip
    """As :func:`best_listed_split` for classes or vectors; the first result is the gain itself.

    ``total`` has the node's sum for each class or output.
    """
    best, best_at, best_missing_left = 0.0, -1, False
    left = scratch.classes
    clear(left)
    nothing = scratch.left[:n_classes]
    clear(nothing)
    missing = histogram[:n_classes]
    n_missing = 0
    for k in range(n_classes):
        n_missing += moment_weight(missing[k], shift)
    n = n_present if is_factor else n_present - 1
    for t in range(n):
        code = present[t]
        cell = histogram[code * n_classes : (code + 1) * n_classes]
        if is_factor:
            if code == OTHER:
                break
            gain = class_gain(nothing, cell, total, n_classes, shift, unit, kind, rule.min_weight)
            if gain > best:
                best, best_at = gain, t
            continue
        if t > 0:
            for k in range(n_classes):
                left[k] += cell[k]
            gain = class_gain(left, nothing, total, n_classes, shift, unit, kind, rule.min_weight)
            if gain > best:
                best, best_at = gain, t
                rows = np.int64(0)
                rows_all = np.int64(0)
                for k in range(n_classes):
                    rows += moment_weight(left[k], shift)
                    rows_all += moment_weight(total[k], shift)
                best_missing_left = bool(n_missing == 0 and 2 * rows >= rows_all)
        if n_missing > 0:
            gain = class_gain(left, missing, total, n_classes, shift, unit, kind, rule.min_weight)
            if gain > best:
                best, best_at, best_missing_left = gain, t, True
    return best, *split_at(present, best_at, best_missing_left, is_factor)


# --- rows ----------------------------------------------------------------------------------------


@inner
def goes_left(code, split_code, missing_left, is_factor):
    """Side of a row: the one rule for growing and for predicting."""
    if is_factor:
        return code == split_code
    if code == 0:
        return missing_left
    return code <= split_code


@inner
def partition(codes, split_code, missing_left, is_factor, rows, spare, begin, end):
    """Order ``rows[begin:end]`` in place, left rows first.

    Returns where the right side begins. ``spare`` is working memory of the size of ``rows``.

    ::

        before   begin | l r l l r | end
        after    begin | l l l r r | end
                               ^ returned

    Each side keeps its order, which is that in memory, as far as it can be had for nothing: where
    hardly any row goes to one side, as with a level against the rest, only these are moved. No
    answer depends on the order, since sums are exact.
    """
    # One comparison for all: left are the codes `low` to `low + span`.
    low = np.uint8(split_code if is_factor else (0 if missing_left else 1))
    span = np.uint8(split_code - low)
    n_sampled = 0
    if end - begin >= _ENOUGH:
        for k in range(_SAMPLE):
            i = rows[begin + k * ((end - begin) // _SAMPLE)]
            n_sampled += int(np.uint8(codes[i] - low) <= span)
        if n_sampled <= 1:
            return take_left(codes, low, span, rows, begin, end)
        if n_sampled >= _SAMPLE - 1:
            return take_right(codes, low, span, rows, begin, end)
    middle = begin
    n_right = 0
    for r in range(begin, end):
        i = rows[r]
        left = int(np.uint8(codes[i] - low) <= span)
        # Written to both sides; the side that it does not belong to is overwritten.
        rows[middle] = i
        spare[n_right] = i
        middle += left
        n_right += 1 - left
    for r in range(n_right):
        rows[middle + r] = spare[r]
    return middle


@inner
def take_left(codes, low, span, rows, begin, end):
    """Let the left rows change places with those at the front."""
    middle = begin
    for r in range(begin, end):
        i = rows[r]
        if np.uint8(codes[i] - low) <= span:
            rows[r] = rows[middle]
            rows[middle] = i
            middle += 1
    return middle


@inner
def take_right(codes, low, span, rows, begin, end):
    """Let the right rows change places with those at the back."""
    middle = end
    for r in range(end - 1, begin - 1, -1):
        i = rows[r]
        if np.uint8(codes[i] - low) > span:
            middle -= 1
            rows[r] = rows[middle]
            rows[middle] = i
    return middle
