"""Columns for linear methods: standardised numbers, levels and missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.designs.design import CodedColumns
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.data.binning import OTHER
from treeselect.engine.linear.columns import CodedColumns as LazyColumns
from treeselect.engine.linear.columns import Indicator, Number
from treeselect.engine.rounding import weighted_median

_CONSTANT = 1e-10
"""Standard deviation, relative to the largest value, up to which a column is constant."""


@dataclass(frozen=True, slots=True)
class LinearColumns:
    """Columns of the rows with weight, unit after unit.

    Attributes
    ----------
    x : ndarray of float, shape (n_used_rows, n_columns)
        Mean 0 and variance 1 under the weights, unless they were left as they are.
    start : ndarray of int64, shape (n_groups + 1,)
        Columns ``start[i]`` to ``start[i + 1] - 1`` belong to the i-th unit of `order`.
    order : ndarray of int64, shape (n_groups,)
        The units.
    """

    x: FloatArray
    start: IntArray
    order: IntArray


def linear_columns(
    coded: CodedColumns, weight: WeightArray, order: IntArray, *, standardise: bool = True
) -> LinearColumns:
    """Columns of the units in a given order, coded on the rows with positive weight.

    Missing values of a number are set to the median, with an indicator if there are any. A factor
    has an indicator for each level present, missing included. Constant columns are dropped. Without
    `standardise`, the others are left unchanged.
    """
    rows = np.flatnonzero(weight > 0)
    share = weight[rows] / weight[rows].sum()
    columns: list[FloatArray] = []
    ends = [0]
    for group in order:
        for j in np.flatnonzero(coded.groups.ids == group):
            values = coded.columns[j][rows]
            is_number = coded.n_levels[j] is None
            made = of_number(values, share) if is_number else _of_factor(values)
            for values in made:
                scaled = standardised(values, share)
                if scaled is not None:
                    columns.append(scaled if standardise else values)
        ends.append(len(columns))
    x = np.array(columns).T if columns else np.empty((len(rows), 0))
    return LinearColumns(np.asfortranarray(x), np.array(ends), np.asarray(order))


def lazy_columns(
    coded: CodedColumns, weight: WeightArray, order: IntArray
) -> tuple[LazyColumns, IntArray]:
    """The same columns, standardised, to be made block by block; and their `start`."""
    rows = np.flatnonzero(weight > 0)
    share = weight[rows] / weight[rows].sum()
    own = None if len(rows) == len(weight) else rows
    parts: list[Number | Indicator] = []
    ends = [0]
    for group in order:
        for j in np.flatnonzero(coded.groups.ids == group):
            values = coded.columns[j] if own is None else coded.columns[j][own]
            if coded.n_levels[j] is None:
                parts += _lazy_number(coded.columns[j], values, share)
            else:
                parts += _lazy_factor(coded.columns[j], values, share)
        ends.append(len(parts))
    return LazyColumns(parts, own, len(rows)), np.array(ends)


def _lazy_number(
    source: FloatArray, values: FloatArray, share: FloatArray
) -> list[Number | Indicator]:
    made = of_number(values, share)
    if not made:
        return []
    missing = np.isnan(values)
    fill = made[0][missing][0] if len(made) > 1 else np.nan
    scaling = scaling_of(made[0], share)
    found: list[Number | Indicator] = []
    if scaling is not None:
        found.append(Number(source, float(fill), *scaling))
    if len(made) > 1:
        found += _lazy_indicator(np.isnan(source), 1, float(share[missing].sum()))
    return found


def _lazy_factor(
    source: NDArray[Any], codes: NDArray[Any], share: FloatArray
) -> list[Number | Indicator]:
    none = OTHER if codes.dtype == np.uint8 else -1
    present = [int(code) for code in np.unique(codes) if code != none]
    if none in codes:  # sums by code need codes from 0 on
        source = np.where(source == none, max(present, default=0) + 1, source)
        codes = np.where(codes == none, max(present, default=0) + 1, codes)
    shares = np.bincount(codes, share)
    return [part for code in present for part in _lazy_indicator(source, code, shares[code])]


def _lazy_indicator(source: NDArray[Any], code: int, mean: float) -> list[Number | Indicator]:
    spread = float(np.sqrt(max(mean * (1 - mean), 0.0)))
    if spread <= _CONSTANT:
        return []
    return [Indicator(source, code, -mean / spread, (1 - mean) / spread)]


def of_number(values: FloatArray, share: FloatArray) -> list[FloatArray]:
    """A number with missing values set to the median, and their indicator if there are any; an
    empty list if all are missing."""
    missing = np.isnan(values)
    if not missing.any():
        return [values]
    if missing.all():
        return []
    filled = np.where(missing, weighted_median(values[~missing], share[~missing]), values)
    return [filled, missing.astype(np.float64)]


def _of_factor(codes: NDArray[Any]) -> list[FloatArray]:
    none = OTHER if codes.dtype == np.uint8 else -1
    return [(codes == code).astype(np.float64) for code in np.unique(codes) if code != none]


def scaling_of(values: FloatArray, share: FloatArray) -> tuple[int, float, float] | None:
    """Exponent, mean and standard deviation of values divided by two to the exponent; None for a
    constant."""
    # By a power of two, which is exact: squares of huge or tiny numbers overflow or vanish.
    exponent = int(np.frexp(np.abs(values).max())[1])
    values = np.ldexp(values, -exponent)
    mean = float(share @ values)
    spread = float(np.sqrt(share @ (values - mean) ** 2))
    if spread <= _CONSTANT * np.abs(values).max():
        return None
    return exponent, mean, spread


def standardised(values: FloatArray, share: FloatArray) -> FloatArray | None:
    """Mean 0 and variance 1; None for a constant."""
    scaling = scaling_of(values, share)
    if scaling is None:
        return None
    exponent, mean, spread = scaling
    return np.asarray((np.ldexp(values, -exponent) - mean) / spread)
