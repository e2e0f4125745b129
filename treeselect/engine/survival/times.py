"""Rows that were under observation from one time to another, and the times at which they were.

A row is at risk at t if ``START < t <= STOP``, among the rows of its stratum. START is -1 of a row
that was under observation from the beginning: times are at least 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.compiling import inner, kernel
from treeselect.engine.rounding import least_of_equals

START, STOP, EVENT, STRATUM = range(4)
"""Columns of a response of times, float64, shape (n_rows, 4)."""

FROM_THE_BEGINNING = -1.0


def as_times(
    stop: AnyArray, event: AnyArray, start: AnyArray | None = None, stratum: AnyArray | None = None
) -> FloatArray:
    """Times, events and strata as one array, (n_rows, 4); times that only rounding tells apart are
    equal. `stop` is the time of the event, or until which there was none, at least 0; rows are
    under observation after `start`, below it, -1 (the default) for the beginning."""
    n_rows = len(stop)
    y = np.empty((n_rows, 4))
    y[:, EVENT] = event
    y[:, STRATUM] = 0.0 if stratum is None else stratum
    begun = np.full(n_rows, FROM_THE_BEGINNING) if start is None else start
    both = least_of_equals(np.array([stop, begun], dtype=np.float64))
    y[:, STOP], y[:, START] = both
    return y


class RiskSets(NamedTuple):
    """Chosen times, rising within each stratum, of strata that follow each other; where those of
    each begin; the stratum of each row, and the first and last of the times at which it is at risk,
    none if ``first > last``."""

    time: FloatArray
    begin: IntArray
    stratum: IntArray
    first: IntArray
    last: IntArray

    @property
    def at_risk(self) -> BoolArray:
        """Whether a row is at risk at any of the times, shape (n_rows,)."""
        return self.first <= self.last


def risk_sets(y: FloatArray, marks: BoolArray, n_strata: int = 0) -> RiskSets:
    """The times, of at least so many strata, at which the marked rows end, and who is at risk at
    them."""
    stratum = y[:, STRATUM].astype(np.int64)
    n_strata = max(n_strata, int(stratum.max(initial=-1)) + 1)
    different, rank = np.unique(y[:, [STOP, START]], return_inverse=True)
    # One whole number for stratum and time; they are sorted once, here.
    n_ranks = max(len(different), 1)
    stop, start = rank.reshape(-1, 2).T + stratum * n_ranks
    chosen = np.unique(stop[marks])
    return RiskSets(
        different[chosen % n_ranks] if len(chosen) else np.zeros(0),
        np.searchsorted(chosen, np.arange(n_strata + 1) * n_ranks),
        stratum,
        np.searchsorted(chosen, start, side="right"),
        np.searchsorted(chosen, stop, side="right") - 1,
    )


def one_stratum(y: FloatArray) -> FloatArray:
    """The same rows, all in one stratum."""
    together = y.copy()
    together[:, STRATUM] = 0.0
    return together


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
    """The stretch of times, `first` to `last`, at which each row is at risk. Rows that were under
    observation from the beginning need running sums only (`n_levels` is 0). Where rows enter late,
    a difference of these would lose all digits of a small risk set: a long stretch is cut where the
    highest bit of its ends differs (its `level`), which makes it the end of one block and the
    beginning of the next, and running sums within blocks do the rest."""

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
    """Stretches of times of rows whose strata have those times. Levels are needed if a row that is
    at risk at all enters after the first time of its stratum."""
    late = (first > begin[stratum]) & (first <= last)
    highest_bit = np.frexp((first ^ last).astype(np.float64))[1].astype(np.int64) - 1
    level = np.where(last - first < 2**_SHORT, -1, highest_bit - _SHORT)
    n_levels = max(int(level.max(initial=0)) + 1, 1) if late.any() else 0
    return Spans(first, last, level, begin, n_levels)
