"""Nodes of trees, collections of trees, and checks of what they are grown on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from treeselect.engine.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    Int32Array,
    IntArray,
    UInt16Array,
)
from treeselect.engine.columns import BinnedData
from treeselect.engine.compiling import inner, kernel
from treeselect.engine.tree.target import MOST_CLASSES, Target
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, Growth
from treeselect.errors import DataError

LEAF = -1
"""Column of a node that is not split."""


class Nodes(NamedTuple):
    """Nodes of one or more trees, as parallel arrays of shape (n_nodes,), numbered from their
    tree's first node. The right child of a node is ``left + 1``. A leaf has column -1, left 0 and
    gain 0; the others a split (see ``node.goes_left``) and its unpenalised gain. `value` is
    (n_nodes, n_outputs); `weight` counts copies."""

    column: Int32Array
    code: UInt16Array
    missing_left: BoolArray
    left: Int32Array
    value: FloatArray
    gain: FloatArray
    weight: IntArray


def empty_nodes(capacity: int, n_outputs: int = 1) -> Nodes:
    """Room for `capacity` nodes. Zeroed, so that unused entries never differ between runs."""
    return Nodes(
        column=np.zeros(capacity, dtype=np.int32),
        code=np.zeros(capacity, dtype=np.uint16),
        missing_left=np.zeros(capacity, dtype=np.bool_),
        left=np.zeros(capacity, dtype=np.int32),
        value=np.zeros((capacity, n_outputs)),
        gain=np.zeros(capacity),
        weight=np.zeros(capacity, dtype=np.int64),
    )


@inner
def nodes_from(nodes, first):
    """The nodes of the tree that begins there, and all room behind it."""
    return Nodes(
        nodes.column[first:], nodes.code[first:], nodes.missing_left[first:], nodes.left[first:],
        nodes.value[first:], nodes.gain[first:], nodes.weight[first:],
    )  # fmt: skip


@inner
def write_leaf(nodes, at):
    """Make a node a leaf; its value and weight are written by the caller."""
    nodes.column[at] = LEAF
    nodes.code[at] = 0
    nodes.missing_left[at] = False
    nodes.left[at] = 0
    nodes.gain[at] = 0.0


@inner
def write_split(nodes, at, column, code, missing_left, left, gain):
    """Make a leaf a split."""
    nodes.column[at] = column
    nodes.code[at] = code
    nodes.missing_left[at] = missing_left
    nodes.left[at] = left
    nodes.gain[at] = gain


class Trees(NamedTuple):
    """Trees behind one another: tree ``i`` has the nodes ``start[i]`` to ``start[i + 1] - 1``."""

    nodes: Nodes
    start: IntArray

    @property
    def n_trees(self) -> int:
        return len(self.start) - 1

    def one(self, number: int) -> Trees:
        """One of them by itself, without a copy."""
        return self.some(number, number + 1)

    def some(self, first: int, last: int) -> Trees:
        """Those from one to before another, without a copy."""
        start = self.start[first : last + 1]
        nodes = Nodes._make(array[int(start[0]) : int(start[-1])] for array in self.nodes)
        return Trees(nodes, start - start[0])


def more_room(nodes: Nodes, n_used: int, capacity: int) -> Nodes:
    """The nodes that are used, taken from those given, with room for others. What is not used takes
    no memory yet."""
    larger = empty_nodes(capacity, nodes.value.shape[1])
    pairs: Iterable[tuple[AnyArray, AnyArray]] = zip(nodes, larger, strict=True)
    for old, new in pairs:
        new[:n_used] = old[:n_used]
        _resize(old, 0)
    return larger


def give_back(nodes: Nodes, n_used: int) -> None:
    """Shorten the arrays, of which there must be no views, to the nodes that are used."""
    for array in nodes:
        _resize(array, n_used)


def _resize(array: AnyArray, n: int) -> None:
    array.resize((n, *array.shape[1:]), refcheck=False)


def join_trees(parts: Sequence[Trees], *, taken: bool = False) -> Trees:
    """One collection from several, in order. Those that are taken are empty afterwards: the arrays
    of the first are lengthened, where the system need not copy them, and the others' given back one
    by one; there must be no views of them."""
    if len(parts) == 1:
        return parts[0]
    arrays: list[AnyArray] = []
    for same in zip(*(p.nodes for p in parts), strict=True):
        if not taken:
            arrays.append(np.concatenate(same))
            continue
        arrays.append(same[0])
        at = len(same[0])
        _resize(same[0], sum(map(len, same)))
        for array in same[1:]:
            same[0][at : at + len(array)] = array
            at += len(array)
            _resize(array, 0)
    sizes = np.concatenate([np.diff(p.start) for p in parts])
    return Trees(Nodes._make(arrays), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


@kernel
def add_gains(column, gain, start, group_of, gains):
    """Add the gain of each split to that of its group in its tree."""
    for tree in range(start.shape[0] - 1):
        for at in range(start[tree], start[tree + 1]):
            if column[at] >= 0:
                gains[tree, group_of[column[at]]] += gain[at]


def group_gains(trees: Trees, data: BinnedData) -> FloatArray:
    """Unpenalised gain of each group in each tree, shape (n_trees, n_groups)."""
    gains = np.zeros((trees.n_trees, data.n_groups))
    add_gains(trees.nodes.column, trees.nodes.gain, trees.start, data.group_of, gains)
    return gains


_MOST_WEIGHT = 2**40
"""Whole weights must leave bits for the gradients."""


def check_array(name: str, array: Any, dtype: DTypeLike, shape: tuple[int, ...]) -> None:
    """Refuse what is no contiguous array of this type and shape."""
    wanted = np.dtype(dtype)
    if not isinstance(array, np.ndarray):
        raise DataError(
            f"`{name}` must be an array of {wanted} of shape {shape}.\n"
            f"  Found: {type(array).__name__}."
        )
    contiguous = array.flags.c_contiguous
    if array.dtype != wanted or array.shape != shape or not contiguous:
        order = "" if contiguous else ", not contiguous"
        raise DataError(
            f"`{name}` must be a contiguous array of {wanted} of shape {shape}.\n"
            f"  Found: {array.dtype} of shape {array.shape}{order}.\n"
            f"  Convert it, for example with `numpy.ascontiguousarray({name}, dtype={wanted})`."
        )


def check_data(data: BinnedData) -> None:
    """Refuse binned data whose parts do not fit together."""
    if data.codes.ndim != 2 or data.codes.shape[0] == 0 or data.codes.shape[1] == 0:
        raise DataError(
            "`codes` must have at least one column and one row.\n"
            f"  Found: shape {data.codes.shape} (columns, rows)."
        )
    n_columns, n_rows = data.codes.shape
    check_array("codes", data.codes, np.uint8, (n_columns, n_rows))
    check_array("blocks", data.blocks, np.uint64, (-(-n_columns // 8), n_rows))
    check_array("n_codes", data.n_codes, np.int32, (n_columns,))
    check_array("is_factor", data.is_factor, np.bool_, (n_columns,))
    check_array("group_of", data.group_of, np.int32, (n_columns,))
    check_array("group_start", data.group_start, np.int64, (data.n_groups + 1,))
    n_wide = int((data.wide_at >= 0).sum())
    check_array("wide", data.wide, np.uint16, (n_wide, n_rows))
    check_array("wide_at", data.wide_at, np.int32, (n_columns,))
    check_array("monotone", data.monotone, np.int8, (n_columns if len(data.monotone) else 0,))
    if not np.array_equal(np.sort(data.wide_at[data.wide_at >= 0]), np.arange(n_wide)):
        raise DataError(
            "`wide_at` must hold the place of each wide column in `wide`, -1 for the others.\n"
            f"  Found: {data.wide_at[:8]}."
        )
    largest = data.codes.max(axis=1).astype(np.int64)
    if n_wide:
        is_wide = data.wide_at >= 0
        largest[is_wide] = data.wide.max(axis=1)[data.wide_at[is_wide]]
    if (largest >= data.n_codes).any():
        j = int(np.argmax(largest >= data.n_codes))
        raise DataError(
            f"`codes` must be below `n_codes`.\n  Found: {largest[j]} in column {j}, which has"
            f" {data.n_codes[j]} codes."
        )
    expected = np.searchsorted(data.group_of, np.arange(data.n_groups + 1))
    if (np.diff(data.group_of) < 0).any() or not np.array_equal(expected, data.group_start):
        raise DataError(
            "`group_of` must not decrease, and `group_start` say where each group begins.\n"
            f"  Found: {data.group_of[:8]} and {data.group_start[:8]}."
        )


def check_target(target: Target, n_rows: int) -> None:
    """Refuse a target of another length, or with values that can't be."""
    n_gradients = 0 if target.has_classes else n_rows * target.n_classes
    check_array("gradient", target.gradient, np.float64, (n_gradients,))
    n_curvatures = n_rows if target.has_classes or target.has_pairs else 0
    check_array("curvature", target.curvature, np.float64, (n_curvatures,))
    check_array("label", target.label, np.uint8, (n_rows if target.has_classes else 0,))
    for name, values in (("gradient", target.gradient), ("curvature", target.curvature)):
        odd = np.flatnonzero(~np.isfinite(values))
        if len(odd):
            raise DataError(f"`{name}` must be finite.\n  Found: {values[odd[0]]} in row {odd[0]}.")
    if (target.curvature < 0).any():
        row = int(np.argmin(target.curvature))
        raise DataError(
            f"`curvature` must be at least 0.\n  Found: {target.curvature[row]} in row {row}."
        )
    if target.has_outputs and not 2 <= target.n_classes <= MOST_CLASSES:
        raise DataError(
            f"`n_classes` must be from 2 to {MOST_CLASSES}.\n  Found: {target.n_classes}."
        )
    if target.has_classes and target.label.max(initial=0) >= target.n_classes:
        raise DataError(
            f"`label` must be below the number of classes, {target.n_classes}.\n"
            f"  Found: {target.label.max()}."
        )


def check_weight(weight: AnyArray, n_rows: int) -> None:
    """Refuse weights that are negative, all 0, or too large to be counted."""
    check_array("weight", weight, np.int64, (n_rows,))
    if weight.min() < 0:
        row = int(np.argmin(weight))
        raise DataError(f"`weight` must be at least 0.\n  Found: {weight[row]} in row {row}.")
    total = float(weight.sum(dtype=np.float64))
    if not 0 < total < _MOST_WEIGHT:
        raise DataError(
            f"`weight` must sum to more than 0 and less than {_MOST_WEIGHT:,}.\n"
            f"  Found: {total:,.0f}."
        )


def check_growth(
    growth: Growth, data: BinnedData, rank: Any, is_open: Any, penalty: SplitPenalty
) -> None:
    """Refuse rules that no tree can follow."""
    n_columns = len(data.codes)
    check_array("rank", rank, np.int64, (data.n_groups,))
    check_array("is_open", is_open, np.bool_, (data.n_groups,))
    check_array("scale", penalty.scale, np.float64, (n_columns,))
    check_array("cost", penalty.cost, np.float64, (n_columns,))
    for (f, g), factor in penalty.discounts.items():
        if not (0 <= f < data.n_groups and 0 <= g < data.n_groups and 0 <= factor <= 1):
            raise DataError(
                "`discounts` must be factors from 0 to 1 for pairs of groups.\n"
                f"  Found: {factor} for {(f, g)}, of {data.n_groups} groups."
            )
    for name, least in (
        ("max_depth", 0),
        ("min_weight", 1),
        ("n_candidates", 0),
        ("max_leaves", 1),
        ("min_split", 1),
    ):
        value = getattr(growth, name)
        if value < least:
            raise DataError(f"`{name}` must be at least {least}.\n  Found: {value}.")
    if growth.random_ties and growth.order == BEST_FIRST:
        raise DataError(
            "`random_ties` must be False for trees that grow best first.\n"
            "  Grow them depth first or breadth first."
        )
