"""Sums over the rows at risk at a time, and over the times at which a row is at risk.

A row is at risk at a stretch of times, from ``first`` to ``last``. Rows that were under observation
from the beginning need running sums only. Where rows enter late, the difference of two running sums
would lose all digits of a risk set that is small beside those before it, and could be negative.
Here sums have positive parts only: a stretch is cut where the highest bit of its two ends differs,
which makes it the end of one block and the beginning of the next, both of a power of 2 times, and
running sums within blocks of that size do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.cache import inner, kernel

_SHORT = 4
"""Stretches of at most 2^4 times are summed one by one."""


@inner
def add_to_halves(row, size, found):
    """Running sums from both ends of each pair of blocks to where they meet, added to others."""
    n_times = row.shape[0]
    for begin in range(0, n_times, 2 * size):
        middle = min(begin + size, n_times)
        total = 0.0
        for t in range(begin, middle):
            total += row[t]
            found[t] += total
        total = 0.0
        for t in range(min(middle + size, n_times) - 1, middle - 1, -1):
            total += row[t]
            found[t] += total


@inner
def take_halves(mass, size, row):
    """Running sums of each pair of blocks from where they meet to both ends."""
    n_times = row.shape[0]
    for begin in range(0, n_times, 2 * size):
        middle = min(begin + size, n_times)
        total = 0.0
        for t in range(middle - 1, begin - 1, -1):
            total += mass[t]
            row[t] = total
        total = 0.0
        for t in range(middle, min(middle + size, n_times)):
            total += mass[t]
            row[t] = total


@kernel
def add_rows(mass, first, last, level, begin, table, found):
    """Add the mass of each row to the times at which it is at risk; `found` and `table` are 0."""
    if table.shape[0] == 0:
        for i in range(mass.shape[0]):
            if last[i] >= first[i]:
                found[last[i]] += mass[i]
        for s in range(begin.shape[0] - 1):
            for t in range(begin[s + 1] - 2, begin[s] - 1, -1):
                found[t] += found[t + 1]
        return
    for i in range(mass.shape[0]):
        if level[i] >= 0:
            table[level[i], first[i]] += mass[i]
            table[level[i], last[i]] += mass[i]
        else:
            for t in range(first[i], last[i] + 1):
                found[t] += mass[i]
    for k in range(table.shape[0]):
        add_to_halves(table[k], 1 << (k + _SHORT), found)


@kernel
def add_times(mass, first, last, level, begin, table, running, found):
    """Sum of the mass of the times at which each row is at risk."""
    if table.shape[0] == 0:
        for s in range(begin.shape[0] - 1):
            total = 0.0
            for t in range(begin[s], begin[s + 1]):
                total += mass[t]
                running[t] = total
        for i in range(first.shape[0]):
            found[i] = running[last[i]] if last[i] >= first[i] else 0.0
        return
    for k in range(table.shape[0]):
        take_halves(mass, 1 << (k + _SHORT), table[k])
    for i in range(first.shape[0]):
        if level[i] >= 0:
            found[i] = table[level[i], first[i]] + table[level[i], last[i]]
        else:
            total = 0.0
            for t in range(first[i], last[i] + 1):
                total += mass[t]
            found[i] = total


def sums_at(place: IntArray, mass: FloatArray, n_times: int) -> FloatArray:
    """Sum of the mass of the rows at each place, shape (n_times,)."""
    return np.asarray(np.bincount(place, mass, n_times), dtype=np.float64)


@dataclass(frozen=True)
class Spans:
    """The stretch of times at which each row is at risk.

    Attributes
    ----------
    first, last : ndarray of int64, shape (n_rows,)
        ``first > last`` of a row that is at risk at none.
    level : ndarray of int64, shape (n_rows,)
        Where the sums of a long stretch are; -1 of one that is short.
    begin : ndarray of int64, shape (n_strata + 1,)
        Where the times of each stratum begin, and their number.
    n_levels : int
        0 if each row is at risk from the first time of its stratum on, which needs none.
    """

    first: IntArray
    last: IntArray
    level: IntArray
    begin: IntArray
    n_levels: int

    @property
    def n_times(self) -> int:
        return int(self.begin[-1])

    def over_rows(self, mass: FloatArray) -> FloatArray:
        """Sum of the mass, shape (n_rows,), of the rows at risk at each time, shape (n_times,)."""
        mass, found = np.ascontiguousarray(mass), np.zeros(self.n_times)
        table = np.zeros((self.n_levels, self.n_times))
        add_rows(mass, self.first, self.last, self.level, self.begin, table, found)
        return found

    def over_times(self, mass: FloatArray) -> FloatArray:
        """Sum of the mass, shape (n_times,), of the times at which each row is at risk."""
        mass, found = np.ascontiguousarray(mass), np.empty(len(self.first))
        table, running = np.empty((self.n_levels, self.n_times)), np.empty(self.n_times)
        add_times(mass, self.first, self.last, self.level, self.begin, table, running, found)
        return found


def spans(first: IntArray, last: IntArray, stratum: IntArray, begin: IntArray) -> Spans:
    """Stretches of times of rows whose strata have those times.

    Levels are needed if a row that is at risk at all enters after the first time of its stratum.
    """
    late = (first > begin[stratum]) & (first <= last)
    highest_bit = np.frexp((first ^ last).astype(np.float64))[1].astype(np.int64) - 1
    level = np.where(last - first < 2**_SHORT, -1, highest_bit - _SHORT)
    n_levels = max(int(level.max(initial=0)) + 1, 1) if late.any() else 0
    return Spans(first, last, level, begin, n_levels)
