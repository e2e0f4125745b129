"""The naive twins: what each fast kernel means, in a few lines of plain numpy.

The file is long because it holds the twins of all kernels that grow trees, also under monotone
constraints.

They take integer gradients, already multiplied by the rows' weights as packed moments are, so that
sums are exact and the comparison is for equality. Nothing in the package calls them; the tests do.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, Int8Array, IntArray
from treeselect.engine.columns import OTHER, BinnedData
from treeselect.engine.tree.nodes import Trees
from treeselect.engine.tree.target import ENTROPY, GINI, MEAN, NEWTON, VECTOR
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, BREADTH_FIRST, Growth


class Bounds(NamedTuple):
    """Bounds of the values of a node; the sign of a column, 0 without an order."""

    low: float = -np.inf
    high: float = np.inf
    sign: int = 0

    def move(self, value: float) -> float:
        """The value, moved into the bounds."""
        return float(min(max(value, self.low), self.high))


FREE = Bounds()
"""Nothing to observe."""


def bounded_gain(sums: list[tuple[float, float]], bounds: Bounds) -> float:
    """Decrease of the sum of squares by values that are moved into their bounds: of both sides, and
    of the node."""
    parts = [(2 * g - a * bounds.move(g / a)) * bounds.move(g / a) for g, a in sums]
    gain, size = parts[0] + parts[1] - parts[2], sums[2][1]
    return gain * size / size if gain > 1e-12 * sum(map(abs, parts)) else 0.0


def in_order(nodes: list[dict[str, Any]], monotone: Int8Array) -> None:
    """Move the values of the leaves of a tree so that it obeys the constraints."""

    def leaves(at: int) -> list[int]:
        if nodes[at]["column"] < 0:
            return [at]
        return leaves(nodes[at]["left"]) + leaves(nodes[at]["left"] + 1)

    before = [float(node["value"][0]) for node in nodes]

    def mean(at: int) -> tuple[float, int]:
        if nodes[at]["column"] < 0:
            return before[at], nodes[at]["weight"]
        (a, m), (b, n) = mean(nodes[at]["left"]), mean(nodes[at]["left"] + 1)
        return (a * m + b * n) / (m + n), m + n

    def move(at: int, bounds: Bounds) -> None:
        node = nodes[at]
        if node["column"] < 0:
            node["value"] = np.array([bounds.move(before[at])])
            return
        sides, sign = [node["left"], node["left"] + 1], int(monotone[node["column"]])
        below = [bounds, bounds]
        if sign != 0 and node["code"] > 0:
            sides = sides[::sign]
            a = bounds.move(max(before[i] for i in leaves(sides[0])))
            b = bounds.move(min(before[i] for i in leaves(sides[1])))
            between = a / 2 + b / 2
            if a > b:
                (a, m), (b, n) = mean(sides[0]), mean(sides[1])
                a, b = bounds.move(a), bounds.move(b)
                between = a / 2 + b / 2 if a <= b else (a * m + b * n) / (m + n)
            between = bounds.move(between)
            below = [bounds._replace(high=between), bounds._replace(low=between)]
        for side, own in zip(sides, below, strict=True):
            move(side, own)

    move(0, FREE)


class Rows(NamedTuple):
    """Packed rows before they are packed: whole numbers, times the rows' weights.

    ``gradient`` of a class target is the weight of the row in the impurity; that of several outputs
    has a column for each.
    """

    kind: int
    gradient: IntArray
    curvature: IntArray
    label: IntArray
    weight: IntArray
    n_classes: int = 1

    def take(self, rows: AnyArray) -> Rows:
        """Some of the rows."""
        return self._replace(
            gradient=self.gradient[rows], curvature=self.curvature[rows], label=self.label[rows],
            weight=self.weight[rows],
        )  # fmt: skip


def mean_rows(gradient: IntArray, weight: IntArray) -> Rows:
    """Rows of a mean; `gradient` is not yet multiplied by the weight."""
    zero = np.zeros_like(weight)
    return Rows(MEAN, gradient * weight, zero, zero, weight)


class Split(NamedTuple):
    """A split of one column; `gain` is the decrease of the criterion, not per unit of weight."""

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


def gain_of(left: BoolArray, rows: Rows, growth: Growth, bounds: Bounds = FREE) -> float:
    """Decrease of the criterion by a split; -1 if a side is too light, 0 if it is out of order."""
    sides = [rows.take(left), rows.take(~left)]
    if min(side.weight.sum() for side in sides) < growth.min_weight:
        return -1.0
    if bounds != FREE:
        a, b = (bounds.move(_value(side)[-1]) for side in sides)
        if bounds.sign * (b - a) < 0 or (rows.kind >= GINI and a == b):
            return 0.0
    if rows.kind == VECTOR:
        a, b = (float(side.weight.sum()) for side in sides)
        differences = sides[0].gradient.sum(axis=0) * b - sides[1].gradient.sum(axis=0) * a
        return float(sum(d * d for d in differences) / (a * b) / (a + b))
    if rows.kind >= GINI:
        return _impurity_decrease(sides, rows)
    g, g_other = (float(side.gradient.sum()) for side in sides)
    sizes = [side.weight if rows.kind == MEAN else side.curvature for side in sides]
    a, b = (float(size.sum()) for size in sizes)
    if rows.kind == NEWTON and min(a, b) < growth.min_curvature:
        return -1.0
    if (found := [g / a, g_other / b, (g + g_other) / (a + b)]) != [bounds.move(v) for v in found]:
        return bounded_gain([(g, a), (g_other, b), (g + g_other, a + b)], bounds)
    difference = g * b - g_other * a
    return difference * difference / (a * b) / (a + b)


def _impurity_decrease(sides: list[Rows], rows: Rows) -> float:
    counts = [
        np.bincount(r.label, weights=r.gradient, minlength=rows.n_classes) for r in (*sides, rows)
    ]
    left, right, every = counts
    a, b = left.sum(), right.sum()
    if rows.kind == GINI:
        differences = left * b - right * a
        squares = sum(d * d for d in differences)
        return float(squares / (a * b) / (a + b))
    parts = [n.sum() * _entropy(n / n.sum()) for n in counts]
    decrease = parts[2] - parts[0] - parts[1]
    return float(decrease) if decrease > 1e-12 * every.sum() else 0.0


def _entropy(shares: FloatArray) -> float:
    known = shares[shares > 0]
    return float(-(known * np.log(known)).sum())


def own_term(rows: Rows, level: float) -> float:
    """A node's own part of the un-centred criterion."""
    if rows.kind == VECTOR:
        return float(sum(float(g) ** 2 for g in rows.gradient.sum(axis=0)) / rows.weight.sum())
    if rows.kind >= GINI:
        counts = np.bincount(rows.label, weights=rows.gradient, minlength=rows.n_classes)
        squares = sum(n * n for n in counts)
        return float(squares / counts.sum())
    size = rows.weight if rows.kind == MEAN else rows.curvature
    g = float(rows.gradient.sum())
    a = float(size.sum())
    return g * g / a + level * a


def best_split(
    codes: AnyArray, rows: Rows, growth: Growth, *, is_factor: bool, bounds: Bounds = FREE
) -> Split:
    """Best split of one column over the given rows: try all, keep the first best."""
    present = np.unique(codes)
    if len(present) < 2:
        return NO_SPLIT
    candidates = []
    if is_factor:
        other = OTHER if codes.dtype == np.uint8 else -1
        candidates = [(int(c), int(c) == 0) for c in present if c != other]
    else:
        known = present[present > 0]
        has_missing = present[0] == 0
        if has_missing:
            candidates.append((0, True))
        for below, above in pairwise(known):
            middle = (int(below) + int(above) - 1) // 2
            heavier = 2 * rows.weight[codes <= middle].sum() >= rows.weight.sum()
            candidates.append((middle, bool(heavier) and not has_missing))
            if has_missing:
                candidates.append((middle, True))
    best = NO_SPLIT
    for code, missing_left in candidates:
        # Missing rows against all others have no order.
        own = bounds if code > 0 else bounds._replace(sign=0)
        gain = gain_of(left_side(codes, code, missing_left, is_factor), rows, growth, own)
        if gain > best.gain:
            best = Split(gain, code, missing_left)
    return best


class Stream:
    """Splitmix64 in Python's whole numbers."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, bound: int) -> int:
        """Random integer in [0, bound)."""
        self._state = (self._state + 0x9E3779B97F4A7C15) % 2**64
        z = self._state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return (((z ^ (z >> 31)) >> 32) * bound) >> 32


def can_split(data: BinnedData, weight: IntArray) -> BoolArray:
    """Groups with a column that varies where there is weight."""
    varies = [len(np.unique(data.column(j)[weight > 0])) > 1 for j in range(len(data.codes))]
    return np.bincount(data.group_of, varies, data.n_groups) > 0


class Candidates:
    """Which groups are tried at a node; the order of the groups goes on from node to node."""

    def __init__(self, able: BoolArray, is_open: BoolArray, growth: Growth, stream: Stream) -> None:
        self._growth, self._stream = growth, stream
        first = able & is_open if growth.all_open else np.zeros_like(able)
        self._first = [int(g) for g in np.flatnonzero(first)]
        self._rest = [int(g) for g in np.flatnonzero(able & ~first)]

    def draw(self) -> list[int]:
        """Groups tried at the next node."""
        n = min(self._growth.n_candidates, len(self._rest))
        if n < len(self._rest):
            for c in range(n):
                other = c + self._stream.below(len(self._rest) - c)
                self._rest[c], self._rest[other] = self._rest[other], self._rest[c]
        return self._first + self._rest[:n]

    def open(self, group: int) -> None:
        """Move a group to the open ones; the first of the others takes its place."""
        if self._growth.all_open and group not in self._first:
            at = self._rest.index(group)
            self._rest[at] = self._rest[0]
            self._rest = self._rest[1:]
            self._first.append(group)


class Leaf(NamedTuple):
    """A leaf that waits: its node, rows and depth, the best split of each tried column, and the
    bounds of its values."""

    node: int
    rows: IntArray
    depth: int
    splits: dict[int, Split]
    bounds: Bounds


def grow(
    data: BinnedData,
    rows: Rows,
    growth: Growth,
    penalty: SplitPenalty,
    is_open: BoolArray,
    rank: IntArray,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """One tree on the rows with positive weight; `is_open` is changed.

    Returns the nodes in the order in which the kernel numbers them. Whenever a leaf is chosen,
    all that wait are looked at again: none remembers what a split was worth.
    """
    has_classes = rows.kind in (GINI, ENTROPY)
    per_weight = 1.0 / (rows.gradient if has_classes else rows.weight).sum()
    cost = penalty.cost.copy()

    def discount(opened: int) -> None:
        for (f, g), factor in penalty.discounts.items():
            if f == opened:
                cost[data.group_of == g] *= factor

    def open_group(group: int) -> None:
        if not is_open[group]:
            discount(group)
        is_open[group] = True
        candidates.open(group)

    for group in np.flatnonzero(is_open):
        discount(int(group))
    candidates = Candidates(can_split(data, rows.weight), is_open, growth, Stream(seed))
    nodes: list[dict[str, Any]] = []

    signs = data.monotone if len(data.monotone) else np.zeros(len(data.codes), dtype=np.int8)

    def splits_of(own: IntArray, depth: int, bounds: Bounds) -> dict[int, Split]:
        inside = rows.take(own)
        least = max(2 * growth.min_weight, growth.min_split)
        if depth >= growth.max_depth or inside.weight.sum() < least:
            return {}
        tried = candidates.draw()
        return {
            j: best_split(
                data.column(j)[own], inside, growth, is_factor=bool(data.is_factor[j]),
                bounds=bounds._replace(sign=int(signs[j])),
            )
            for j in range(len(data.codes))
            if data.group_of[j] in tried
        }  # fmt: skip

    def new_leaf(own: IntArray, depth: int, bounds: Bounds) -> Leaf:
        inside = rows.take(own)
        value = _value(inside, bounds)
        nodes.append({"column": -1, "value": value, "weight": int(inside.weight.sum())})
        splits = splits_of(own, depth, bounds) if growth.order == BEST_FIRST else {}
        return Leaf(len(nodes) - 1, own, depth, splits, bounds)

    def choose(leaf: Leaf) -> tuple[float, int] | None:
        """Worth and column of the best split of a leaf under the groups that are open now."""
        base = (
            own_term(rows.take(leaf.rows), penalty.level) * per_weight if penalty.uncentred else 0.0
        )
        best: tuple[float, int] | None = None
        for j, split in leaf.splits.items():
            if split.code < 0:
                continue
            group = data.group_of[j]
            gain = split.gain * per_weight + base
            worth = gain if is_open[group] else penalty.scale[j] * gain - cost[j]
            tie = None if best is None else _takes(group, data.group_of[best[1]], is_open, rank)
            if worth > (growth.min_gain if best is None else best[0]) or (
                best is not None and worth == best[0] and tie
            ):
                best = (worth, j)
        return best

    waiting = [new_leaf(np.flatnonzero(rows.weight), 0, FREE)]
    n_leaves = 1
    while waiting and n_leaves < growth.max_leaves:
        at = 0 if growth.order == BREADTH_FIRST else len(waiting) - 1
        if growth.order == BEST_FIRST:
            worths = [(choose(leaf) or (-np.inf, 0))[0] for leaf in waiting]
            at = min(range(len(waiting)), key=lambda i: (-worths[i], waiting[i].node))
        leaf = waiting.pop(at)
        if growth.order != BEST_FIRST:
            leaf = leaf._replace(splits=splits_of(leaf.rows, leaf.depth, leaf.bounds))
        best = choose(leaf)
        if best is None:
            continue
        j, split = best[1], leaf.splits[best[1]]
        if not growth.opens_late:
            open_group(int(data.group_of[j]))
        left = left_side(
            data.column(j)[leaf.rows], split.code, split.missing_left, bool(data.is_factor[j])
        )
        nodes[leaf.node] |= {
            "column": j, "code": split.code, "missing_left": split.missing_left, "left": len(nodes),
            "gain": split.gain * per_weight,
        }  # fmt: skip
        n_leaves += 1
        below = [leaf.bounds, leaf.bounds]
        if split.code > 0 and signs[j] != 0:
            values = [
                leaf.bounds.move(_value(rows.take(leaf.rows[side]))[-1]) for side in (left, ~left)
            ]
            between = values[0] / 2 + values[1] / 2
            below = [leaf.bounds._replace(high=between), leaf.bounds._replace(low=between)]
        children = [
            new_leaf(leaf.rows[side], leaf.depth + 1, bounds)
            for side, bounds in zip((left, ~left), below[:: int(signs[j]) or 1], strict=True)
        ]
        waiting += children if growth.order == BREADTH_FIRST else children[::-1]
    for node in nodes:
        if growth.opens_late and node["column"] >= 0:
            open_group(int(data.group_of[node["column"]]))
    return nodes


def _takes(group: int, holder: int, is_open: BoolArray, rank: IntArray) -> bool:
    """Whether a group takes a tie from another one."""
    return (not is_open[group], rank[group]) < (not is_open[holder], rank[holder])


def _value(rows: Rows, bounds: Bounds = FREE) -> Any:
    """Value of a leaf, moved into its bounds; of two classes the share of the second one is."""
    if rows.kind == VECTOR:
        return rows.gradient.sum(axis=0) / rows.weight.sum()
    if rows.kind >= GINI:
        counts = np.bincount(rows.label, weights=rows.gradient, minlength=rows.n_classes)
        shares = counts / counts.sum()
        second = bounds.move(shares[1])
        if second == shares[1]:
            return shares
        return np.array([1 - second, second])
    size = rows.weight if rows.kind == MEAN else rows.curvature
    return np.array([bounds.move(rows.gradient.sum() / size.sum() if size.sum() else 0.0)])


def predictions(trees: Trees, data: BinnedData, size: int = 1) -> FloatArray:
    """Mean value of the leaves that each row falls into, shape (n_rows, n_outputs), if nodes of
    less weight than `size` are not split."""
    nodes, found = trees.nodes, np.zeros((data.n_rows, trees.nodes.value.shape[1]))
    for row in range(data.n_rows):
        for first in trees.start[:-1]:
            at = first
            while nodes.column[at] >= 0 and nodes.weight[at] >= size:
                j = nodes.column[at]
                code, missing_left = nodes.code[at], nodes.missing_left[at]
                own = data.column(j)[row : row + 1]
                left = left_side(own, code, missing_left, data.is_factor[j])
                at = first + nodes.left[at] + (0 if left[0] else 1)
            found[row] += nodes.value[at]
    return found / trees.n_trees


def leaf_quantile(
    leaves: IntArray, y: FloatArray, weight: IntArray, new: IntArray, share: float
) -> float:
    """Quantile of the responses of rows by the leaves, shape (n_trees, n_rows), that they share
    with a new row, of leaves ``new``."""
    shared = (leaves == new[:, np.newaxis]) * weight
    mass = (shared / shared.sum(axis=1, keepdims=True)).mean(axis=0)
    order = np.argsort(y)
    return float(y[order][np.cumsum(mass[order]) >= share - 1e-10][0])


def correlate(columns: FloatArray, residual: FloatArray) -> FloatArray:
    """``A.T @ residual`` for columns of shape (n_rows, n_trees)."""
    return np.asarray(columns.T @ residual)


def non_negative_lasso(
    hessian: FloatArray, linear: FloatArray, price: FloatArray, n_sweeps: int
) -> FloatArray:
    """Minimise ``x'Hx / 2 - (linear - price)'x`` over x[1:] >= 0 by sweeps from 0."""
    x = np.zeros(len(linear))
    for _ in range(n_sweeps):
        before = x.copy()
        for j in range(len(x)):
            rest = hessian[j] @ x - hessian[j, j] * x[j]
            best = (linear[j] - price[j] - rest) / hessian[j, j]
            x[j] = best if j == 0 else max(best, 0.0)
        if np.abs(x - before).max() < 1e-15:
            break
    return x
