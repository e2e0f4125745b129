"""Checks of the engine's input, as the kernels check nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from treeselect.engine.arrays import AnyArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.targets import MOST_CLASSES, Target
from treeselect.engine.growing.growth import BEST_FIRST, Growth
from treeselect.engine.splitting.penalty import SplitPenalty
from treeselect.errors import DataError

_MOST_WEIGHT = 2**40
"""Whole weights must leave bits for the gradients."""


def check_array(name: str, array: Any, dtype: DTypeLike, shape: tuple[int, ...]) -> None:
    """Refuse what is no contiguous array of this type and shape.

    Raises
    ------
    DataError
        With the type, the shape and the order that were found.
    """
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
