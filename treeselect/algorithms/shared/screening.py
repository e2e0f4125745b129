"""Screens: the units that a forest of very many units is grown on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.targets import Target
from treeselect.engine.growing.first_splits import first_gains
from treeselect.engine.growing.growth import Growth
from treeselect.engine.rounding import levels

_CELLS, _LEAST = 1_000_000, 10_000
"""Rows times units that pass a screen, and the least number of units that do."""


def passing(n_rows: int, n_units: int) -> int:
    """Number of units that pass the screen; all of them if they are few."""
    return min(max(_LEAST, _CELLS // max(n_rows, 1)), n_units)


def screen(
    data: BinnedData,
    target: Target,
    counts: IntArray,
    growth: Growth,
    ranks: IntArray,
    within: Sequence[int] = (),
) -> tuple[BoolArray, FloatArray]:
    """The units that pass, and the gain of the first split of each, shape (n_groups,).

    Units are ranked by the gain of the best first split on all rows and, for each unit of `within`,
    by the sum of these gains in its two halves of the rows, so that interactions with it are seen.
    They pass by turns, the first of each ranking first.

    Parameters
    ----------
    data : BinnedData
    target : Target
    counts : ndarray of int64, shape (n_rows,)
        Copies of each row.
    growth : Growth
    ranks : ndarray of int64, shape (n_groups,)
        Order of equal units.
    within : sequence of int
        Numbers of units.
    """
    whole = _gains(data, target, counts, growth)
    orders = [_order(whole, ranks)]
    for unit in within:
        low = _lower_half(data, int(data.group_start[unit]), counts)
        halves = [counts * low, counts * ~low]
        found = [own.sum() * _gains(data, target, own, growth) for own in halves if own.any()]
        orders.append(_order(np.sum(found, axis=0), ranks))
    n = passing(int(np.count_nonzero(counts)), data.n_groups)
    by_turns = np.stack(orders, axis=1).ravel()
    _, first = np.unique(by_turns, return_index=True)
    passes = np.zeros(data.n_groups, dtype=np.bool_)
    passes[by_turns[np.sort(first)[:n]]] = True
    return passes, whole


def _gains(data: BinnedData, target: Target, counts: IntArray, growth: Growth) -> FloatArray:
    """Largest gain of the columns of each unit."""
    gains = first_gains(data, target, counts, growth)
    return np.asarray(np.maximum.reduceat(gains, data.group_start[:-1]))


def _order(gains: FloatArray, ranks: IntArray) -> IntArray:
    return np.lexsort((ranks, -levels(gains)))


def _lower_half(data: BinnedData, column: int, counts: IntArray) -> BoolArray:
    """The rows with the lower codes of a column, about half of them; not those of one code only."""
    codes = data.column(column).astype(np.int64)
    copies = np.bincount(codes, counts)
    below = np.cumsum(copies)
    present = np.flatnonzero(copies)
    uneven = np.abs(2 * below[present] - below[-1])
    return np.asarray(
        codes <= present[:-1][np.argmin(uneven[:-1])] if len(present) > 1 else codes < 0
    )
