"""Sums over the rows at risk at a time, and over the times at which a row is at risk.

A row is at risk at a stretch of times, from ``first`` to ``last``. Rows that were under observation
from the beginning need running sums only. Where rows enter late, the difference of two running sums
would lose all digits of a risk set that is small beside those before it, and could be negative.
Here sums have positive parts only: a stretch is cut where the highest bit of its two ends differs,
which makes it the end of one block and the beginning of the next, both of 2^level times, and
running sums within blocks of that level do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.cache import inner, kernel


@inner
def level_of(first, last):
    """Number of the highest bit in which two different numbers differ."""
    differ = first ^ last
    level = 0
    while differ > 1:
        differ >>= 1
        level += 1
    return level


@inner
def run_outwards(row, level):
    """Sums of each block of 2^level from where it meets the other of its pair."""
    n_times = row.shape[0]
    for t in range(n_times - 2, -1, -1):
        if (t >> level) & 1 == 0 and ((t + 1) >> level) == (t >> level):
            row[t] += row[t + 1]
    for t in range(1, n_times):
        if (t >> level) & 1 == 1 and ((t - 1) >> level) == (t >> level):
            row[t] += row[t - 1]


@inner
def run_inwards(row, level):
    """Sums of each block of 2^level from its far end to where it meets the other of its pair."""
    n_times = row.shape[0]
    for t in range(1, n_times):
        if (t >> level) & 1 == 0 and ((t - 1) >> level) == (t >> level):
            row[t] += row[t - 1]
    for t in range(n_times - 2, -1, -1):
        if (t >> level) & 1 == 1 and ((t + 1) >> level) == (t >> level):
            row[t] += row[t + 1]


@kernel
def add_rows(mass, first, last, begin, table, found):
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
        a, b = first[i], last[i]
        if a == b:
            found[a] += mass[i]
        elif a < b:
            level = level_of(a, b)
            table[level, a] += mass[i]
            table[level, b] += mass[i]
    for level in range(table.shape[0]):
        run_inwards(table[level], level)
        for t in range(found.shape[0]):
            found[t] += table[level, t]


@kernel
def add_times(mass, first, last, begin, table, found):
    """Sum of the mass of the times at which each row is at risk. `table` has as many rows as there
    are levels; or one, if no row enters late."""
    if table.shape[0] == 1:
        for s in range(begin.shape[0] - 1):
            total = 0.0
            for t in range(begin[s], begin[s + 1]):
                total += mass[t]
                table[0, t] = total
        for i in range(first.shape[0]):
            found[i] = table[0, last[i]] if last[i] >= first[i] else 0.0
        return
    for level in range(table.shape[0]):
        for t in range(mass.shape[0]):
            table[level, t] = mass[t]
        run_outwards(table[level], level)
    for i in range(first.shape[0]):
        a, b = first[i], last[i]
        if a > b:
            found[i] = 0.0
        elif a == b:
            found[i] = mass[a]
        else:
            level = level_of(a, b)
            found[i] = table[level, a] + table[level, b]


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
    begin : ndarray of int64, shape (n_strata + 1,)
        Where the times of each stratum begin, and their number.
    n_levels : int
        0 if each row is at risk from the first time of its stratum on.
    """

    first: IntArray
    last: IntArray
    begin: IntArray
    n_levels: int

    @property
    def n_times(self) -> int:
        return int(self.begin[-1])

    def over_rows(self, mass: FloatArray) -> FloatArray:
        """Sum of the mass, shape (n_rows,), of the rows at risk at each time, shape (n_times,)."""
        found = np.zeros(self.n_times)
        table = np.zeros((self.n_levels, self.n_times))
        add_rows(mass, self.first, self.last, self.begin, table, found)
        return found

    def over_times(self, mass: FloatArray) -> FloatArray:
        """Sum of the mass, shape (n_times,), of the times at which each row is at risk."""
        found = np.empty(len(self.first))
        table = np.empty((max(self.n_levels, 1), self.n_times))
        add_times(mass, self.first, self.last, self.begin, table, found)
        return found


def spans(first: IntArray, last: IntArray, stratum: IntArray, begin: IntArray) -> Spans:
    """Stretches of times of rows whose strata have those times.

    Levels are needed if a row that is at risk at all enters after the first time of its stratum.
    """
    late = (first > begin[stratum]) & (first <= last)
    # Two at least: one stands for running sums.
    n_levels = max(int(begin[-1] - 1).bit_length(), 2) if late.any() else 0
    return Spans(first, last, begin, n_levels)
