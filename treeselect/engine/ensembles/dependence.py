"""Partial dependence on binned codes: nothing is encoded again.

Friedman (2001), section 8.2: the mean prediction over the rows when some columns have a given
value. A point of the grid is a combination of codes of all columns of one group, or of two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, FloatArray, IntArray, UInt16Array
from treeselect.engine.data.binning import BinnedData, take_rows

_ROWS_AT_ONCE = 2**16
"""Rows that are predicted in one call: those of several points."""


class Dependence(NamedTuple):
    """Partial dependence of a model on one group or on two.

    Attributes
    ----------
    columns : ndarray of int64, shape (n_columns,)
        Columns of the groups, in the order of the groups.
    points : ndarray of uint16, shape (n_points, n_columns)
        Codes of these columns; for two groups all pairs, the first group's slowest.
    share : ndarray of float64, shape (n_points,)
        Share of the rows' weight at the point; of a thinned grid, in its cell.
    mean : ndarray of float64, shape (n_points, n_outputs)
        Weighted mean prediction.
    place : ndarray of int64, shape (n_rows with weight,)
        Point of the grid at which each row is, or, of a thinned grid, in whose cell.
    sizes : ndarray of int64, shape (n_groups,)
        Points of each group.
    """

    columns: IntArray
    points: UInt16Array
    share: FloatArray
    mean: FloatArray
    place: IntArray
    sizes: IntArray


def partial_dependence(
    predict: Callable[[BinnedData], FloatArray],
    data: BinnedData,
    weight: AnyArray,
    groups: Sequence[int],
    *,
    max_points: int = 50,
    along: Sequence[FloatArray | None] | None = None,
) -> Dependence:
    """Partial dependence on one or two groups.

    Parameters
    ----------
    predict : callable
        From data to predictions of shape (n_rows, n_outputs), for example
        ``lambda data: predict_mean(trees, data)``.
    data : BinnedData
        Rows to average over.
    weight : ndarray, shape (n_rows,)
        At least 0, some positive.
    groups : sequence of one or two different ints
    max_points : int
        Most points for each group, at least 2. Of a grid with more the first and the last point
        stay, and those between are put into cells of about the same weight, for which their
        weighted medians stand.
    along : sequence of (ndarray of float64, shape (n_rows,), or None), optional
        For each group a number that its codes are a function of, or None. Its points are then the
        codes at the values of that number, in their order, missing ones first: the codes of a
        spline's columns have no order of their own.

    Returns
    -------
    Dependence
    """
    numbers: Sequence[FloatArray | None] = along or [None] * len(groups)
    grids = [
        grid_of(data, weight, group, max_points, number)
        for group, number in zip(groups, numbers, strict=True)
    ]
    columns = np.concatenate([columns for columns, _, _ in grids])
    _, points, place = grids[0]
    if len(grids) == 2:
        second = grids[1][1]
        place = place * len(second) + grids[1][2]
        points = np.hstack(
            [np.repeat(points, len(second), axis=0), np.tile(second, (len(points), 1))]
        )
    rows = np.flatnonzero(weight)
    own = weight[rows] / weight[rows].sum()
    share = np.asarray(np.bincount(place, own, len(points)), dtype=np.float64)
    mean = mean_at(predict, data, weight, columns, points)
    sizes = np.array([len(grid[1]) for grid in grids], dtype=np.int64)
    return Dependence(columns, points, share, mean, place.astype(np.int64), sizes)


def mean_at(
    predict: Callable[[BinnedData], FloatArray],
    data: BinnedData,
    weight: AnyArray,
    columns: IntArray,
    points: UInt16Array,
) -> FloatArray:
    """Weighted mean predictions when some columns have given codes.

    Parameters
    ----------
    predict, data, weight
        As in :func:`partial_dependence`.
    columns : ndarray of int64, shape (n_columns,)
    points : ndarray of uint16, shape (n_points, n_columns)
        Codes of these columns, at least one point.

    Returns
    -------
    ndarray of float64, shape (n_points, n_outputs)
    """
    rows = np.flatnonzero(weight)
    own = weight[rows] / weight[rows].sum()
    at_once = max(1, _ROWS_AT_ONCE // len(rows))
    parts = []
    for first in range(0, len(points), at_once):
        some = points[first : first + at_once]
        here = take_rows(data, np.tile(rows, len(some)))
        for j, codes in zip(columns, some.T, strict=True):
            _set_codes(here, int(j), np.repeat(codes, len(rows)))
        parts.append(own @ predict(here).reshape(len(some), len(rows), -1))
    return np.concatenate(parts)


def codes_of(data: BinnedData, columns: IntArray) -> UInt16Array:
    """Codes of some columns, shape (n_rows, n_columns)."""
    return np.column_stack([data.column(int(j)) for j in columns]).astype(np.uint16)


def grid_of(
    data: BinnedData,
    weight: AnyArray,
    group: int,
    max_points: int,
    along: FloatArray | None,
) -> tuple[IntArray, UInt16Array, IntArray]:
    """Columns of a group, the combinations of their codes that occur, and the one of each row with
    weight."""
    columns = np.flatnonzero(data.group_of == group)
    rows = np.flatnonzero(weight)
    codes = codes_of(data, columns)[rows]
    if along is None:
        points, at = np.unique(codes, axis=0, return_inverse=True)
    else:
        ordered = np.where(np.isnan(along[rows]), -np.inf, along[rows])
        _, first, at = np.unique(ordered, return_index=True, return_inverse=True)
        points = codes[first]
    place = at.ravel().astype(np.int64)
    share = np.bincount(place, weights=weight[rows]) / weight[rows].sum()
    if len(points) > max_points:
        last = _ends_of_cells(share, max_points)
        cumulated = np.cumsum(share)
        middles = cumulated[last] - np.diff(cumulated[last], prepend=0.0) / 2
        points = points[np.searchsorted(cumulated, middles)]
        place = np.searchsorted(last, place)
    return columns, points, place


def _ends_of_cells(share: FloatArray, n: int) -> IntArray:
    """The last point of each of at most n cells: the first point alone, the last one alone, and of
    those between about the same share in each."""
    inner = np.cumsum(share[:-1])
    wanted = np.linspace(share[0], inner[-1], n - 1)[1:]
    ends = np.minimum(np.searchsorted(inner, wanted), len(inner) - 1)
    return np.unique([0, *ends.tolist(), len(inner)])


def _set_codes(data: BinnedData, column: int, codes: UInt16Array) -> None:
    """Give the rows their codes in a column, in both layouts."""
    data.column(column)[:] = codes
    if data.wide_at[column] >= 0:
        return
    shift = np.uint64(8 * (column % 8))
    data.blocks[column // 8] &= ~(np.uint64(255) << shift)
    data.blocks[column // 8] |= codes.astype(np.uint64) << shift
