"""Columns to codes: the only form of the data that trees use.

Code 0 is "missing". A number's code is one more than the number of edges below it, so that
``code <= c`` means ``x <= edges[c - 1]``. A factor's code is one more than the number of its
level; code 255 of a factor is none of the column's levels, and no split uses it: a factor with
more levels than codes is several columns of one group, each with its share of the levels. Codes
are kept twice (2 bytes a cell): by column, for splitting one column and for
partitioning rows, and eight columns to a 64-bit word, so that one memory access per row feeds
eight histograms at once (``research``: 1.3 to 6 times faster than by column).

A column of more than 254 bins is wide: its codes take two bytes and stand apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    Int8Array,
    Int32Array,
    IntArray,
    UInt8Array,
    UInt16Array,
    UInt64Array,
)
from treeselect.engine.cache import kernel
from treeselect.engine.rounding import slack
from treeselect.errors import DataError

MAX_BINS = 254
"""Most bins of a number and most levels of a factor in a byte: codes 1 to 254; 0 is missing."""

MOST_BINS = 2**16 - 2
"""Most bins of a wide column: codes 1 to 65,534."""

OTHER = 255
"""Code of a factor column for "none of its levels"."""


FREE = np.zeros(0, dtype=np.int8)
"""No column is constrained."""


class BinnedData(NamedTuple):
    """Binned columns, as the kernels take them.

    Attributes
    ----------
    codes : ndarray of uint8, shape (n_columns, n_rows)
        Codes by column; 0 is missing, and all there is of a wide column.
    blocks : ndarray of uint64, shape (ceil(n_columns / 8), n_rows)
        Byte ``j % 8`` of ``blocks[j // 8, i]`` is ``codes[j, i]``.
    n_codes : ndarray of int32, shape (n_columns,)
        One more than the largest code that a column may hold.
    is_factor : ndarray of bool, shape (n_columns,)
        Whether a column is split level against rest (factor) or below against above (number).
    group_start : ndarray of int64, shape (n_groups + 1,)
        Columns ``group_start[g]`` to ``group_start[g + 1] - 1`` belong to group ``g``.
    group_of : ndarray of int32, shape (n_columns,)
        Group of each column.
    wide : ndarray of uint16, shape (n_wide, n_rows)
        Codes of the wide columns.
    wide_at : ndarray of int32, shape (n_columns,)
        Where the codes of a column stand in `wide`; -1 for one that is not wide.
    monotone : ndarray of int8, shape (n_columns,), or (0,) if no column is constrained
        1 where predictions must not fall with the column, -1 where they must not rise, else 0.
    """

    codes: UInt8Array
    blocks: UInt64Array
    n_codes: Int32Array
    is_factor: BoolArray
    group_start: IntArray
    group_of: Int32Array
    wide: UInt16Array
    wide_at: Int32Array
    monotone: Int8Array = FREE

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.group_start) - 1

    def column(self, j: int) -> UInt8Array | UInt16Array:
        """Codes of a column, shape (n_rows,)."""
        return self.codes[j] if self.wide_at[j] < 0 else self.wide[self.wide_at[j]]


def bin_edges(
    values: FloatArray, max_bins: int | None = MAX_BINS, weight: AnyArray | None = None
) -> FloatArray:
    """Edges between the bins of a number.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,)
        May hold NaN, which has no part in the edges; must be finite otherwise.
    max_bins : int, between 2 and 65,534, or None
        Most bins; None is 65,534, which leaves all splits exact but those of longer columns.
    weight : ndarray, shape (n_rows,), optional
        How often each row counts in the quantiles, above 0; once by default.

    Returns
    -------
    ndarray of float, shape (n_bins - 1,)
        Strictly increasing. With at most `max_bins` distinct values there is one edge halfway
        between each two neighbours (splits are then exact), otherwise edges follow the quantiles.
        ``x <= edges[b]`` puts x into bin b or a lower one.
    """
    known = ~np.isnan(values)
    distinct, counts = np.unique(values[known], return_counts=True)
    most = MOST_BINS if max_bins is None else max_bins
    if len(distinct) > most and weight is not None and (weight != weight[0]).any():
        place = np.searchsorted(distinct, values[known])
        counts = np.bincount(place, weight[known])
    return edges_between(distinct, counts, most)


def edges_between(distinct: FloatArray, counts: AnyArray, max_bins: int) -> FloatArray:
    """Edges between the bins of a number, as of :func:`bin_edges`, from its distinct values.

    Parameters
    ----------
    distinct : ndarray of float, shape (n_values,)
        Increasing.
    counts : ndarray, shape (n_values,)
        How often each counts in the quantiles, above 0.
    max_bins : int, between 2 and 65,534

    Returns
    -------
    ndarray of float, shape (n_bins - 1,)
    """
    if len(distinct) < 2:
        return np.empty(0)
    if len(distinct) <= max_bins:
        last = np.arange(len(distinct) - 1)
    else:
        cumulated = np.cumsum(counts)
        wanted = np.arange(1, max_bins) * (cumulated[-1] / max_bins)
        last = np.unique(np.searchsorted(cumulated, wanted - slack(wanted)))
        last = last[last < len(distinct) - 1]
    below, above = distinct[last], distinct[last + 1]
    middle = below / 2 + above / 2
    # Halfway between neighbouring floats may round up to the upper one, which would move it.
    return np.asarray(np.where(middle < above, np.maximum(middle, below), below))


_AT_ONCE = 2**20
"""Values that are sorted at once."""


def edges_of_columns(
    columns: Sequence[AnyArray], weight: AnyArray | None = None
) -> list[FloatArray]:
    """The edges of many numbers, those of :func:`bin_edges`, together where that is the same.

    Parameters
    ----------
    columns : sequence of ndarray of float, each of shape (n_rows,)
    weight : ndarray, shape (n_rows,), optional

    Returns
    -------
    list of ndarray of float, one for each column
    """
    found: list[FloatArray] = []
    if columns and len(columns[0]) > MAX_BINS:
        return _edges_of_long_columns(columns, weight)
    if not columns:
        return found
    step = max(_AT_ONCE // max(len(columns[0]), 1), 1)
    for first in range(0, len(columns), step):
        ordered = np.sort(np.stack(columns[first : first + step]), axis=1)  # missing ones last
        below, above = ordered[:, :-1], ordered[:, 1:]
        is_edge = above > below
        middle = below / 2 + above / 2
        edges = np.where(middle < above, np.maximum(middle, below), below)[is_edge]
        ends = np.cumsum(is_edge.sum(axis=1)).tolist()
        found += [edges[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    return found


def _edges_of_long_columns(
    columns: Sequence[AnyArray], weight: AnyArray | None
) -> list[FloatArray]:
    """The same of columns with more rows than bins: those without missing or equal values have
    their edges between the same ranks."""
    n_rows = len(columns[0])
    step = _AT_ONCE // n_rows
    if step < 2 or len(columns) < 2 or (weight is not None and (weight != weight[0]).any()):
        return [bin_edges(column, weight=weight) for column in columns]
    found: list[FloatArray] = []
    ones = np.ones(n_rows, dtype=np.int64)
    last = edges_between(np.arange(n_rows, dtype=np.float64), ones, MAX_BINS).astype(np.int64)
    for first in range(0, len(columns), step):
        some = columns[first : first + step]
        ordered = np.sort(np.stack(some), axis=1)  # missing ones last
        below, above = ordered[:, last], ordered[:, last + 1]
        middle = below / 2 + above / 2
        edges = np.where(middle < above, np.maximum(middle, below), below)
        is_plain = np.all(ordered[:, 1:] > ordered[:, :-1], axis=1)
        found += [
            edges[i] if plain else bin_edges(column, weight=weight)
            for i, (column, plain) in enumerate(zip(some, is_plain, strict=True))
        ]
    return found


def bin_numbers(values: FloatArray, edges: FloatArray) -> UInt8Array | UInt16Array:
    """Codes of a number, shape (n_rows,): 0 where missing, else 1 + number of edges below it.

    They take two bytes if there are more than 253 edges.
    """
    if len(edges) >= MAX_BINS:
        above = np.searchsorted(edges, values) + 1
        return np.where(np.isnan(values), 0, above).astype(np.uint16)
    padded = np.full(256, np.inf)
    padded[: len(edges)] = edges
    codes = np.empty(len(values), dtype=np.uint8)
    # One type for the kernel: numba tells views and read-only arrays from others.
    values = np.require(values, dtype=np.float64, requirements=["C", "W"])
    count_edges_below(values, padded, codes)
    return codes


@kernel
def count_edges_below(values, edges, codes):
    """Binary search without branches; ``edges`` has 256 entries, the last ones infinite."""
    for i in range(values.shape[0]):
        value = values[i]
        below = 0
        for half in (128, 64, 32, 16, 8, 4, 2, 1):
            below += half * (edges[below + half - 1] < value)
        codes[i] = 0 if np.isnan(value) else below + 1


def bin_columns(
    columns: Sequence[AnyArray],
    edges: Sequence[FloatArray | None],
    n_levels: Sequence[int],
    group_of: AnyArray,
    monotone: Int8Array = FREE,
) -> BinnedData:
    """Codes of all columns.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (n_rows,)
        Numbers as float64 with NaN for missing; factors as codes, level + 1 and 0 for missing,
        of uint16 if they have more than 254 levels.
    edges : sequence
        Edges of each number (from :func:`bin_edges`), None for a factor.
    n_levels : sequence of int
        Number of levels of each factor, any number for a number.
    group_of : array of int, shape (n_columns,)
        Group of each column, not decreasing from 0.
    monotone : ndarray of int8, optional
        See :class:`BinnedData`; no constraint by default.

    Returns
    -------
    BinnedData
    """
    lengths = {len(column) for column in columns}
    if len(lengths) != 1:
        raise DataError(
            "There must be at least one column, and all must have the same number of rows.\n"
            f"  Found: {len(columns)} columns, of {sorted(lengths)} rows."
        )
    n_rows = lengths.pop()
    codes = np.zeros((len(columns), n_rows), dtype=np.uint8)
    wide_at = np.full(len(columns), -1, dtype=np.int32)
    wide: list[AnyArray] = []
    for j, (column, column_edges) in enumerate(zip(columns, edges, strict=True)):
        own = column if column_edges is None else bin_numbers(column, column_edges)
        if own.dtype == np.uint16:
            wide_at[j] = len(wide)
            wide.append(own)
        else:
            codes[j] = own
    n_codes = [(n if e is None else len(e) + 1) + 1 for n, e in zip(n_levels, edges, strict=True)]
    is_factor = np.array([e is None for e in edges], dtype=np.bool_)
    groups = np.asarray(group_of, dtype=np.int32)
    n_groups = int(groups[-1]) + 1
    return BinnedData(
        codes=codes,
        blocks=pack_blocks(codes),
        n_codes=np.where(is_factor & (codes == OTHER).any(axis=1), OTHER + 1, n_codes).astype(
            np.int32
        ),
        is_factor=is_factor,
        group_start=np.searchsorted(groups, np.arange(n_groups + 1)).astype(np.int64),
        group_of=groups,
        wide=np.array(wide, dtype=np.uint16).reshape(len(wide), n_rows),
        wide_at=wide_at,
        monotone=monotone if monotone.any() else FREE,
    )


def pack_blocks(codes: UInt8Array) -> UInt64Array:
    """Eight columns to a word: (n_columns, n_rows) bytes to (ceil(n_columns / 8), n_rows) words."""
    n_columns, n_rows = codes.shape
    n_blocks = -(-n_columns // 8)
    bytes_ = np.zeros((n_blocks, n_rows, 8), dtype=np.uint8)
    for k in range(8):
        own = codes[k::8]
        bytes_[: len(own), :, k] = own
    return bytes_.view("<u8")[:, :, 0].astype(np.uint64, copy=False)


def take_rows(data: BinnedData, rows: IntArray) -> BinnedData:
    """Some of the rows, with all columns."""
    return data._replace(
        codes=np.ascontiguousarray(data.codes[:, rows]),
        blocks=np.ascontiguousarray(data.blocks[:, rows]),
        wide=np.ascontiguousarray(data.wide[:, rows]),
    )


def select_groups(data: BinnedData, groups: BoolArray) -> BinnedData:
    """The same rows with the columns of some groups only, the groups renumbered from 0.

    Parameters
    ----------
    data : BinnedData
    groups : ndarray of bool, shape (n_groups,)
        Groups to keep, at least one.
    """
    keep = np.flatnonzero(groups[data.group_of])
    codes = np.ascontiguousarray(data.codes[keep])
    wide_at = data.wide_at[keep]
    renumbered = (np.cumsum(groups) - 1)[data.group_of[keep]].astype(np.int32)
    n_groups = int(groups.sum())
    return BinnedData(
        codes=codes,
        blocks=pack_blocks(codes),
        n_codes=data.n_codes[keep],
        is_factor=data.is_factor[keep],
        group_start=np.searchsorted(renumbered, np.arange(n_groups + 1)).astype(np.int64),
        group_of=renumbered,
        wide=data.wide[wide_at[wide_at >= 0]],
        wide_at=np.where(wide_at >= 0, np.cumsum(wide_at >= 0) - 1, -1).astype(np.int32),
        monotone=constrained(data.monotone, keep),
    )


def constrained(monotone: Int8Array, columns: IntArray) -> Int8Array:
    """The constraints of some of the columns; empty if none of them has one."""
    own = monotone[columns] if len(monotone) else FREE
    return own if own.any() else FREE
