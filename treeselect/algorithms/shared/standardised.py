"""Columns for linear methods: standardised numbers, levels and missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.designs.design import CodedColumns
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.data.binning import OTHER
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


def standardised(values: FloatArray, share: FloatArray) -> FloatArray | None:
    """Mean 0 and variance 1; None for a constant."""
    # By a power of two, which is exact: squares of huge or tiny numbers overflow or vanish.
    values = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))
    centred = values - share @ values
    spread = float(np.sqrt(share @ centred**2))
    if spread <= _CONSTANT * np.abs(values).max():
        return None
    return np.asarray(centred / spread)
