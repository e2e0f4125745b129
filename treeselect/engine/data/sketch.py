"""Quantiles of numbers that pass by in batches: a summary that can be merged.

A sketch holds the distinct values with their weights while there are few, and bins are then those
of the whole column. Beyond :data:`MOST_EXACT` values it keeps :data:`MOST_KEPT` points of equal
weight. Batches are merged like the digits of a binary counter (Munro and Paterson 1980; Manku,
Rajagopalan and Lindsay 1998), so that a value is thinned out at most once per level: the error
grows with the logarithm of the number of batches. Nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, FloatArray
from treeselect.engine.data.binning import MAX_BINS, MOST_BINS, edges_between

MOST_EXACT = 2**15
"""Most distinct values that are all kept."""

MOST_KEPT = 2**14
"""Points that stand for more values than that."""


class Digest(NamedTuple):
    """Distinct values and their weights.

    Attributes
    ----------
    values : ndarray of float, shape (n_points,)
        Strictly increasing.
    weights : ndarray of float, shape (n_points,)
        Above 0.
    error : float
        Bound of the error of the weight up to any value; 0 if these are all values.
    """

    values: FloatArray
    weights: FloatArray
    error: float

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())


class Sketch(NamedTuple):
    """Summary of a column.

    Attributes
    ----------
    levels : tuple of Digest or None
        Level i summarises about ``2**i`` batches; None if there is none.
    """

    levels: tuple[Digest | None, ...] = ()

    @property
    def digest(self) -> Digest:
        """All levels together."""
        found = Digest(np.empty(0), np.empty(0), 0.0)
        for level in self.levels:
            if level is not None:
                found = _joined(found, level)
        return found

    @property
    def rank_error(self) -> float:
        """Bound of the error of a rank, as a share of the total weight; 0 if ranks are exact."""
        found = self.digest
        return found.error / found.total if found.error else 0.0


def sketch_of(values: FloatArray, weight: AnyArray | None = None) -> Sketch:
    """Summary of one batch.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,)
        May hold NaN, which is left out; must be finite otherwise.
    weight : ndarray, shape (n_rows,), optional
        How often each row counts, above 0; once by default.
    """
    known = ~np.isnan(values)
    if weight is None:
        distinct, counts = np.unique(values[known], return_counts=True)
    else:
        distinct, place = np.unique(values[known], return_inverse=True)
        counts = np.bincount(place, weight[known], minlength=len(distinct))
    return Sketch((_thinned(Digest(distinct, np.asarray(counts, dtype=np.float64), 0.0)),))


def merged(first: Sketch, second: Sketch) -> Sketch:
    """Summary of the rows of both, which must be different rows."""
    n = max(len(first.levels), len(second.levels))
    levels: list[Digest | None] = []
    carried: Digest | None = None
    for i in range(n):
        here = [
            found
            for found in (_at(first.levels, i), _at(second.levels, i), carried)
            if found is not None
        ]
        carried = None
        if len(here) < 2:
            levels.append(here[0] if here else None)
            continue
        levels.append(here[2] if len(here) == 3 else None)
        carried = _thinned(_joined(here[0], here[1]))
    return Sketch((*levels, *(() if carried is None else (carried,))))


def merged_all(sketches: Iterable[Sketch]) -> Sketch:
    """Summary of the rows of all of them, in their order."""
    found = Sketch()
    for sketch in sketches:
        found = merged(found, sketch)
    return found


def sketched_edges(sketch: Sketch, max_bins: int | None = MAX_BINS) -> FloatArray:
    """Edges between the bins of the column, shape (n_bins - 1,).

    They are those of ``binning.bin_edges`` for the whole column if the sketch is exact. Otherwise
    the weight below an edge is that of its quantile up to ``rank_error`` and the weight of a point.
    """
    found = sketch.digest
    return edges_between(found.values, found.weights, MOST_BINS if max_bins is None else max_bins)


def _at(levels: tuple[Digest | None, ...], i: int) -> Digest | None:
    return levels[i] if i < len(levels) else None


def _joined(first: Digest, second: Digest) -> Digest:
    values, place = np.unique(np.concatenate([first.values, second.values]), return_inverse=True)
    weights = np.bincount(
        place, np.concatenate([first.weights, second.weights]), minlength=len(values)
    )
    return Digest(values, np.asarray(weights, dtype=np.float64), first.error + second.error)


def _thinned(digest: Digest) -> Digest:
    """At most so many points as are kept: each stands for the same weight."""
    if len(digest.values) <= MOST_EXACT:
        return digest
    share = digest.total / MOST_KEPT
    wanted = (np.arange(MOST_KEPT) + 0.5) * share
    place = np.searchsorted(np.cumsum(digest.weights), wanted)
    kept, counts = np.unique(np.minimum(place, len(digest.values) - 1), return_counts=True)
    return Digest(
        digest.values[kept], np.asarray(counts * share, dtype=np.float64), digest.error + share / 2
    )
