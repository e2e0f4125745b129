"""The naive twins: what each fast kernel means, in a few lines of plain numpy.

They take integer gradients, already multiplied by the rows' weights as packed moments are, so that
sums are exact and the comparison is for equality. Nothing in the package calls them; the tests do.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from treeselect.engine._types import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.binning import OTHER, BinnedData
from treeselect.engine.growing import Growth
from treeselect.engine.penalty import SplitPenalty


class Split(NamedTuple):
    """A split of one column; `gain` is the decrease of the sum of squares."""

    gain: float
    code: int
    missing_left: bool


NO_SPLIT = Split(0.0, -1, False)


def histogram(
    codes: AnyArray, gradient: IntArray, weight: IntArray, rows: AnyArray
) -> tuple[IntArray, IntArray]:
    """Sums of gradient and weight by code, each of shape (256,)."""
    sums, weights = np.zeros(256, dtype=np.int64), np.zeros(256, dtype=np.int64)
    for i in rows:
        sums[codes[i]] += gradient[i]
        weights[codes[i]] += weight[i]
    return sums, weights


def left_side(codes: AnyArray, code: int, missing_left: bool, is_factor: bool) -> BoolArray:
    """Rows that go left."""
    if is_factor:
        return np.asarray(codes == code)
    return np.asarray(np.where(codes == 0, missing_left, codes <= code))


def gain_of(left: BoolArray, gradient: IntArray, weight: IntArray, min_weight: int) -> float:
    """Decrease of the sum of squared deviations; -1 if a side is too light."""
    w_left, w_right = int(weight[left].sum()), int(weight[~left].sum())
    if w_left < min_weight or w_right < min_weight:
        return -1.0
    difference = gradient[left].sum() / w_left - gradient[~left].sum() / w_right
    return float(difference * difference * (w_left * w_right / (w_left + w_right)))


def best_split(
    codes: AnyArray, gradient: IntArray, weight: IntArray, min_weight: int, *, is_factor: bool
) -> Split:
    """Best split of one column over the given rows: try all, keep the first best."""
    present = np.unique(codes)
    if len(present) < 2:
        return NO_SPLIT
    candidates = []
    if is_factor:
        candidates = [(int(c), int(c) == 0) for c in present if c != OTHER]
    else:
        known = present[present > 0]
        has_missing = present[0] == 0
        if has_missing:
            candidates.append((0, True))
        for below, above in pairwise(known):
            middle = (int(below) + int(above) - 1) // 2
            heavier = 2 * weight[codes <= middle].sum() >= weight.sum()
            candidates.append((middle, bool(heavier) and not has_missing))
            if has_missing:
                candidates.append((middle, True))
    best = NO_SPLIT
    for code, missing_left in candidates:
        left = left_side(codes, code, missing_left, is_factor)
        gain = gain_of(left, gradient, weight, min_weight)
        if gain > best.gain:
            best = Split(gain, code, missing_left)
    return best


def grow(
    data: BinnedData,
    gradient: IntArray,
    weight: IntArray,
    growth: Growth,
    penalty: SplitPenalty,
    is_open: BoolArray,
    rank: IntArray,
) -> list[dict[str, Any]]:
    """One tree on the rows with positive weight, all groups tried; `is_open` is changed.

    Returns the nodes in the order in which the kernel numbers them.
    """
    tree_weight = int(weight.sum())
    nodes: list[dict[str, Any]] = [{}]
    waiting = [(0, np.flatnonzero(weight), 0)]
    while waiting:
        node, rows, depth = waiting.pop()
        g, w = gradient[rows], weight[rows]
        nodes[node] = {"column": -1, "value": g.sum() / w.sum(), "weight": int(w.sum())}
        if depth >= growth.max_depth or w.sum() < 2 * growth.min_weight:
            continue
        best: tuple[float, int, Split] | None = None
        for j in range(len(data.codes)):
            factor = bool(data.is_factor[j])
            split = best_split(data.codes[j, rows], g, w, growth.min_weight, is_factor=factor)
            if split.code < 0:
                continue
            group = data.group_of[j]
            gain = split.gain * (1.0 / tree_weight)
            worth = gain if is_open[group] else penalty.scale[j] * gain - penalty.cost[j]
            if worth <= growth.min_gain and best is None:
                continue
            if best is None or worth > best[0]:
                best = (worth, j, split)
            elif worth == best[0]:
                holder = data.group_of[best[1]]
                if (not is_open[group], rank[group]) < (not is_open[holder], rank[holder]):
                    best = (worth, j, split)
        if best is None:
            continue
        _, j, split = best
        is_open[data.group_of[j]] = True
        left = left_side(
            data.codes[j, rows], split.code, split.missing_left, bool(data.is_factor[j])
        )
        child = len(nodes)
        nodes += [{}, {}]
        nodes[node] |= {
            "column": j,
            "code": split.code,
            "missing_left": split.missing_left,
            "left": child,
            "gain": split.gain * (1.0 / tree_weight),
        }
        waiting += [(child + 1, rows[~left], depth + 1), (child, rows[left], depth + 1)]
    return nodes


def predict(nodes: list[dict[str, Any]], data: BinnedData, row: int) -> float:
    """Value of the leaf that a row falls into."""
    node = nodes[0]
    while node["column"] >= 0:
        j = node["column"]
        codes = data.codes[j, row : row + 1]
        left = left_side(codes, node["code"], node["missing_left"], bool(data.is_factor[j]))
        node = nodes[node["left"] + (0 if left[0] else 1)]
    return float(node["value"])


def correlate(columns: FloatArray, residual: FloatArray) -> FloatArray:
    """``A.T @ residual`` for columns of shape (n_rows, n_trees)."""
    return np.asarray(columns.T @ residual)


def non_negative_lasso(
    hessian: FloatArray, linear: FloatArray, price: FloatArray, n_sweeps: int
) -> FloatArray:
    """Minimise ``x'Hx / 2 - (linear - price)'x`` over x[1:] >= 0 by sweeps from 0."""
    x = np.zeros(len(linear))
    for _ in range(n_sweeps):
        for j in range(len(x)):
            rest = hessian[j] @ x - hessian[j, j] * x[j]
            best = (linear[j] - price[j] - rest) / hessian[j, j]
            x[j] = best if j == 0 else max(best, 0.0)
    return x
