"""Partial dependence on binned codes: nothing is encoded again.

Friedman (2001), section 8.2: the mean prediction over the rows when some columns have a given
value. A point of the grid is a combination of codes of all columns of one group, or of two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine._types import AnyArray, FloatArray, IntArray, UInt16Array
from treeselect.engine.binning import BinnedData


class Dependence(NamedTuple):
    """Partial dependence of a model on one group or on two.

    Attributes
    ----------
    columns : ndarray of int64, shape (n_columns,)
        Columns of the groups, in the order of the groups.
    points : ndarray of uint16, shape (n_points, n_columns)
        Codes of these columns; for two groups all pairs, the first group's slowest.
    share : ndarray of float64, shape (n_points,)
        Share of the rows' weight at the point; with a thinned grid, at it or between it and the
        one before.
    mean : ndarray of float64, shape (n_points, n_outputs)
        Weighted mean prediction.
    """

    columns: IntArray
    points: UInt16Array
    share: FloatArray
    mean: FloatArray


def partial_dependence(
    predict: Callable[[BinnedData], FloatArray],
    data: BinnedData,
    weight: AnyArray,
    groups: Sequence[int],
    *,
    max_points: int = 50,
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
        Most points for each group, at least 2. A grid with more is thinned to quantiles of the
        rows' weight.

    Returns
    -------
    Dependence
    """
    grids = [_grid(data, weight, group, max_points) for group in groups]
    columns = np.concatenate([columns for columns, _, _ in grids])
    points, share = grids[0][1], grids[0][2]
    if len(grids) == 2:
        second = grids[1][1]
        points = np.hstack(
            [np.repeat(points, len(second), axis=0), np.tile(second, (len(points), 1))]
        )
        share = _shares_of_pairs(data, weight, columns, points)
    rows = np.flatnonzero(weight)
    own = weight[rows] / weight[rows].sum()
    codes = np.ascontiguousarray(data.codes[:, rows])
    blocks = np.ascontiguousarray(data.blocks[:, rows])
    wide = np.ascontiguousarray(data.wide[:, rows])
    here = data._replace(codes=codes, blocks=blocks, wide=wide)
    means = []
    for point in points:
        for j, code in zip(columns, point, strict=True):
            _set_code(here, int(j), int(code))
        means.append(own @ predict(here))
    return Dependence(columns, points, share, np.array(means))


def _grid(
    data: BinnedData, weight: AnyArray, group: int, max_points: int
) -> tuple[IntArray, UInt16Array, FloatArray]:
    """Columns of a group, the combinations of their codes that occur, and their shares."""
    columns = np.flatnonzero(data.group_of == group)
    rows = np.flatnonzero(weight)
    points, at = np.unique(_codes_of(data, columns)[rows], axis=0, return_inverse=True)
    share = np.bincount(at.ravel(), weights=weight[rows]) / weight[rows].sum()
    if len(points) > max_points:
        cumulated = np.cumsum(share)
        wanted = np.linspace(0, 1, max_points) * cumulated[-1]
        kept = np.unique(np.minimum(np.searchsorted(cumulated, wanted), len(points) - 1))
        points = points[kept]
        share = np.diff(cumulated[kept], prepend=0.0)
    return columns, points, share


def _shares_of_pairs(
    data: BinnedData, weight: AnyArray, columns: IntArray, points: UInt16Array
) -> FloatArray:
    """Share of the rows' weight at each point itself."""
    own = _codes_of(data, columns)
    place = {point.tobytes(): k for k, point in enumerate(np.ascontiguousarray(points))}
    share = np.zeros(len(points))
    for row in np.flatnonzero(weight):
        k = place.get(own[row].tobytes())
        if k is not None:
            share[k] += weight[row]
    return share / weight.sum()


def _codes_of(data: BinnedData, columns: IntArray) -> UInt16Array:
    """Codes of some columns, shape (n_rows, n_columns)."""
    return np.column_stack([data.column(int(j)) for j in columns]).astype(np.uint16)


def _set_code(data: BinnedData, column: int, code: int) -> None:
    """Give all rows one code in a column, in both layouts."""
    data.column(column)[:] = code
    if data.wide_at[column] >= 0:
        return
    shift = np.uint64(8 * (column % 8))
    data.blocks[column // 8] &= ~(np.uint64(255) << shift)
    data.blocks[column // 8] |= np.uint64(code) << shift
