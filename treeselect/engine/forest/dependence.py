"""Partial dependence on binned codes: nothing is encoded again.

Friedman (2001), section 8.2: the mean prediction over the rows when some columns have a given
value. A point of the grid is a combination of codes of all columns of one group, or of two.
The interaction of two groups is the part of their joint effect that is not additive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, FloatArray, IntArray, UInt16Array
from treeselect.engine.columns import BinnedData, take_rows

_ROWS_AT_ONCE = 2**16
"""Rows that are predicted in one call: those of several points."""


class Dependence(NamedTuple):
    """Partial dependence on one group or on two: `points`, (n_points, n_columns), are codes of
    their columns, for two groups all pairs, the first group's slowest; `sizes` the points of each;
    `share` that of the rows' weight at a point, or in its cell; `place` the point of each row with
    weight; `mean`, (n_points, n_outputs), the weighted mean prediction."""

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
    """Partial dependence on one or two groups. Of a grid with more than `max_points` for a group
    the first and the last point stay, and those between are put into cells of about the same
    weight, for which their weighted medians stand. `along` has for each group a number that its
    codes are a function of, or None: its points are then in the order of that number, missing ones
    first, as the codes of a spline's columns have no order of their own."""
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
    """Weighted mean predictions, (n_points, n_outputs), when some columns have the codes of each
    point."""
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
    data: BinnedData, weight: AnyArray, group: int, max_points: int, along: FloatArray | None
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


def beyond_both(mean: FloatArray, share: FloatArray, sizes: tuple[int, int]) -> FloatArray:
    """The joint effect, at all pairs of points, those of the first group slowest, less the best sum
    of an effect of each, by least squares over the cells of the grid with the shares of their
    rows."""
    n, m = sizes
    first, second = np.divmod(np.arange(n * m), m)
    each = np.zeros((n * m, n + m))
    each[np.arange(n * m), first] = 1.0
    each[np.arange(n * m), n + second] = 1.0
    root = np.sqrt(share)[:, np.newaxis]
    sums = each @ np.linalg.lstsq(each * root, mean * root, rcond=None)[0]
    return np.asarray(mean - sums)


def strength(mean: FloatArray, share: FloatArray, sizes: tuple[int, int]) -> tuple[float, float]:
    """How much of the joint effect no sum of two effects has (see :func:`beyond_both`): the root of
    its share of the variance, from 0 to 1, and its root mean square on the scale of `mean`, which
    tells among pairs of which the effects differ in size."""
    centred = mean - share @ mean
    total = float((share @ centred**2).sum())
    beyond = float((share @ beyond_both(mean, share, sizes) ** 2).sum())
    nothing = 1e-20 * float((share @ mean**2).sum())  # what rounding leaves
    if min(total, beyond) <= nothing:
        return 0.0, 0.0
    return min(1.0, float(np.sqrt(beyond / total))), float(np.sqrt(beyond))
