"""What counts as equal: numbers that differ only by rounding error.

Sums of the same numbers differ in their last bits with the order in which a processor, or a
library, adds them. Where such a sum decides (who comes first, what ties, which is the largest) it
is compared to a stated precision here, so that the decision is the same everywhere. Gains of trees
need none of it: their moments are whole numbers, whose sums are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.engine.arrays import FloatArray, IntArray, WeightArray

PRECISION = 2.0**-36
"""Differences up to this share of the largest of the numbers are rounding: 1.5e-11, some 65,000
times what one operation loses, and far less than any sample tells."""


def slack(values: Any) -> float:
    """The largest difference between some numbers that counts as none; infinite and missing ones
    are left out."""
    size = np.abs(np.asarray(values, dtype=np.float64))
    return PRECISION * float(size[np.isfinite(size)].max(initial=0.0))


def levels(values: FloatArray) -> IntArray:
    """Rank of each number among the different ones, from 0 on; missing ones above all others.
    Neighbours closer than :func:`slack` are equal: told from their gaps, not by rounding each to a
    grid, on whose edges two that are equal could still part."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    below, above = ordered[:-1], ordered[1:]
    with np.errstate(invalid="ignore"):  # infinite less infinite is not a number
        is_new = (above - below > slack(flat)) | (np.isnan(above) & ~np.isnan(below))
    found = np.zeros(len(flat), dtype=np.int64)
    found[order[1:]] = np.cumsum(is_new)
    return found.reshape(np.shape(values))


def least_of_equals(values: FloatArray) -> FloatArray:
    """The numbers, each of those that are equal made the least of them; the others as they are. For
    functions of others, which compare without a tolerance."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    place = levels(flat)
    least = np.full(int(place.max(initial=0)) + 1, np.inf)
    np.fmin.at(least, place, flat)
    return np.asarray(np.where(np.isnan(flat), np.nan, least[place]).reshape(np.shape(values)))


def at_least(values: Any, bound: Any) -> Any:
    """Whether numbers are a bound or more; a scalar or an array, as they are."""
    size = np.maximum(np.abs(values), np.abs(bound))
    return values >= bound - PRECISION * np.where(np.isfinite(size), size, 0.0)


def weighted_quantiles(
    values: FloatArray, weight: WeightArray, shares: Sequence[float]
) -> FloatArray:
    """For each share, the least of some numbers, one or more, with at least this share of the
    weight at or below it."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order], dtype=np.float64)
    wanted = np.array(shares) * below[-1] - slack(below)
    return np.asarray(values[order[np.searchsorted(below, wanted)]])


def weighted_median(values: FloatArray, weight: WeightArray) -> float:
    """Least of some numbers, one or more, with at least half of the weight at or below it."""
    return float(weighted_quantiles(values, weight, [0.5])[0])


def first_largest(values: Any) -> int:
    """Place of the first of the largest numbers; equal ones are those within :func:`slack`."""
    given = np.asarray(values, dtype=np.float64)
    largest = float(np.fmax.reduce(given))
    if not np.isfinite(largest):
        return int(np.argmax(np.where(np.isnan(given), -np.inf, given)))
    return int(np.flatnonzero(given >= largest - slack(given))[0])


def first_smallest(values: Any) -> int:
    """Place of the first of the smallest numbers, as :func:`first_largest`."""
    return first_largest(-np.asarray(values, dtype=np.float64))


def largest_in_row(values: FloatArray) -> NDArray[np.int64]:
    """Place of the first of the largest numbers of each row, which no other row has a part in."""
    largest = values.max(axis=1, keepdims=True)
    size = np.abs(values).max(axis=1, keepdims=True)
    return np.asarray((values >= largest - PRECISION * size).argmax(axis=1))


def falling(values: FloatArray, ranks: IntArray | None = None) -> IntArray:
    """Order from the largest number to the smallest, missing ones last; of equal ones the lower
    rank, or the first, comes first."""
    own = np.arange(len(values)) if ranks is None else ranks
    return np.lexsort((own, levels(-values)))
