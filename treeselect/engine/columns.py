"""Columns to codes: the only form of the data that trees use; edges of bins, also from batches.

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
from itertools import zip_longest
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
from treeselect.engine.compiling import kernel
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

    - codes, uint8 (n_columns, n_rows): by column; 0 is missing, and all there is of a wide column.
      Byte ``j % 8`` of blocks, uint64 (ceil(n_columns / 8), n_rows), at ``[j // 8, i]`` is
      ``codes[j, i]``.
    - n_codes, int32 (n_columns,): one more than the largest code that a column may hold.
    - is_factor, bool (n_columns,): split level against rest, not below against above.
    - group_start, int64 (n_groups + 1,); group_of, int32 (n_columns,): columns ``group_start[g]``
      to ``group_start[g + 1] - 1`` belong to group ``g``.
    - wide, uint16 (n_wide, n_rows): codes of the wide columns; wide_at, int32 (n_columns,): where
      they stand, -1 for a column that is not wide.
    - monotone, int8 (n_columns,), or (0,) if no column is constrained: 1 where predictions must not
      fall with the column, -1 where they must not rise, else 0.
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
        return int(self.codes.shape[1])

    @property
    def n_groups(self) -> int:
        return len(self.group_start) - 1

    def column(self, j: int) -> UInt8Array | UInt16Array:
        """Codes of a column, shape (n_rows,)."""
        return self.codes[j] if self.wide_at[j] < 0 else self.wide[self.wide_at[j]]


def bin_edges(
    values: FloatArray, max_bins: int | None = MAX_BINS, weight: AnyArray | None = None
) -> FloatArray:
    """Edges between the bins of a number, strictly increasing: ``x <= edges[b]`` puts x into bin b
    or a lower one. One halfway between each two of at most `max_bins` distinct values (None is
    65,534), so that splits are exact; else by quantiles, in which rows count by their `weight`. NaN
    has no part."""
    known = ~np.isnan(values)
    distinct, counts = np.unique(values[known], return_counts=True)
    most = MOST_BINS if max_bins is None else max_bins
    if len(distinct) > most and weight is not None and (weight != weight[0]).any():
        place = np.searchsorted(distinct, values[known])
        return edges_between(distinct, np.bincount(place, weight[known]), most)
    return edges_between(distinct, counts, most)


def edges_between(distinct: FloatArray, counts: AnyArray, max_bins: int) -> FloatArray:
    """Edges between the bins of a number, as of :func:`bin_edges`, from its distinct values, which
    increase, and how often each counts in the quantiles."""
    if len(distinct) < 2:
        return np.empty(0)
    if len(distinct) <= max_bins:
        last = np.arange(len(distinct) - 1)
    else:
        cumulated = np.cumsum(counts)
        wanted = np.arange(1, max_bins) * (cumulated[-1] / max_bins)
        last = np.unique(np.searchsorted(cumulated, wanted - slack(wanted)))
        last = last[last < len(distinct) - 1]
    return _between(distinct[last], distinct[last + 1])


def _between(below: FloatArray, above: FloatArray) -> FloatArray:
    """Halfway between neighbours."""
    middle = below / 2 + above / 2
    # Halfway between neighbouring floats may round up to the upper one, which would move it.
    return np.asarray(np.where(middle < above, np.maximum(middle, below), below))


_AT_ONCE = 2**20
"""Values that are sorted at once."""


def edges_of_columns(
    columns: Sequence[AnyArray], weight: AnyArray | None = None
) -> list[FloatArray]:
    """The edges of many numbers, those of :func:`bin_edges`, together where that is the same: where
    there are no more rows than bins; else columns without missing or equal values have their edges
    between the same ranks."""
    n_rows = len(columns[0]) if columns else 0
    step = max(_AT_ONCE // max(n_rows, 1), 1)
    last = np.arange(n_rows - 1)
    is_long = n_rows > MAX_BINS
    if is_long:
        if min(step, len(columns)) < 2 or (weight is not None and (weight != weight[0]).any()):
            return [bin_edges(column, weight=weight) for column in columns]
        ones = np.ones(n_rows, dtype=np.int64)
        last = edges_between(np.arange(n_rows, dtype=np.float64), ones, MAX_BINS).astype(np.int64)
    found: list[FloatArray] = []
    for first in range(0, len(columns), step):
        some = columns[first : first + step]
        ordered = np.sort(np.stack(some), axis=1)  # missing ones last
        edges = _between(ordered[:, last], ordered[:, last + 1])
        is_new = ordered[:, 1:] > ordered[:, :-1]
        found += [
            bin_edges(column, weight=weight)
            if is_long and not own.all()
            else middle[:]
            if is_long
            else middle[own]
            for column, middle, own in zip(some, edges, is_new, strict=True)
        ]
    return found


def bin_numbers(values: FloatArray, edges: FloatArray) -> UInt8Array | UInt16Array:
    """Codes of a number, 0 where missing, else 1 + number of edges below it; of two bytes if there
    are more than 253 edges."""
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
    """Codes of all columns: numbers, float64 with NaN, with their edges; factors as codes (level +
    1, 0 for missing, uint16 if there are more than 254 levels), with None and their number of
    levels. `group_of` does not decrease from 0."""
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
        codes=data.codes.take(rows, axis=1),
        blocks=data.blocks.take(rows, axis=1),
        wide=data.wide.take(rows, axis=1),
    )


def select_groups(data: BinnedData, groups: BoolArray) -> BinnedData:
    """The same rows with the columns of some groups only, at least one, renumbered from 0."""
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


MOST_EXACT = 2**15
"""Most distinct values that are all kept."""

MOST_KEPT = 2**14
"""Points that stand for more values than that."""


class Digest(NamedTuple):
    """Distinct values, rising, and their weights."""

    values: FloatArray
    weights: FloatArray


class Sketch(NamedTuple):
    """Summary of a column that passes by in batches; level i is of about ``2**i`` batches. Beyond
    :data:`MOST_EXACT` distinct values it keeps :data:`MOST_KEPT` points of equal weight. Batches
    are merged like the digits of a binary counter (Munro and Paterson 1980; Manku, Rajagopalan and
    Lindsay 1998): each time points are taken, the rank of a value is off by at most half the weight
    of a point, and a row is in one batch and in a pair of each level."""

    levels: tuple[Digest | None, ...] = ()

    @property
    def digest(self) -> Digest:
        """All levels together."""
        found = Digest(np.empty(0), np.empty(0))
        for level in self.levels:
            if level is not None:
                found = _joined(found, level)
        return found


def sketch_of(values: FloatArray, weight: AnyArray | None = None) -> Sketch:
    """Summary of one batch: values, NaN left out, and how often each row counts."""
    counts: AnyArray
    known = ~np.isnan(values)
    if weight is None:
        distinct, counts = np.unique(values[known], return_counts=True)
    else:
        distinct, place = np.unique(values[known], return_inverse=True)
        counts = np.bincount(place, weight[known], minlength=len(distinct))
    return Sketch((_thinned(Digest(distinct, np.asarray(counts, dtype=np.float64))),))


def merged(first: Sketch, second: Sketch) -> Sketch:
    """Summary of the rows of both, which must be different rows."""
    levels: list[Digest | None] = []
    carried: Digest | None = None
    for pair in zip_longest(first.levels, second.levels):
        here = [found for found in (*pair, carried) if found is not None]
        carried = None
        if len(here) < 2:
            levels.append(here[0] if here else None)
            continue
        levels.append(here[2] if len(here) == 3 else None)
        carried = _thinned(_joined(here[0], here[1]))
    return Sketch((*levels, *(() if carried is None else (carried,))))


def sketched_edges(sketch: Sketch) -> FloatArray:
    """Edges as of :func:`bin_edges`, the same if the sketch is exact."""
    found = sketch.digest
    return edges_between(found.values, found.weights, MAX_BINS)


def _joined(first: Digest, second: Digest) -> Digest:
    values, place = np.unique(np.concatenate([first.values, second.values]), return_inverse=True)
    weights = np.bincount(
        place, np.concatenate([first.weights, second.weights]), minlength=len(values)
    )
    return Digest(values, np.asarray(weights, dtype=np.float64))


def _thinned(digest: Digest) -> Digest:
    """At most so many points as are kept: each stands for the same weight."""
    if len(digest.values) <= MOST_EXACT:
        return digest
    share = float(digest.weights.sum()) / MOST_KEPT
    wanted = (np.arange(MOST_KEPT) + 0.5) * share
    place = np.searchsorted(np.cumsum(digest.weights), wanted)
    kept, counts = np.unique(np.minimum(place, len(digest.values) - 1), return_counts=True)
    return Digest(digest.values[kept], np.asarray(counts * share, dtype=np.float64))
