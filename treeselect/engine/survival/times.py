"""Rows that were under observation from one time to another, and the times at which they were.

A row is at risk at t if ``START < t <= STOP``, among the rows of its stratum. START is -1 of a row
that was under observation from the beginning: times are at least 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import least_of_equals

START, STOP, EVENT, STRATUM = range(4)
"""Columns of a response of times, float64, shape (n_rows, 4)."""

FROM_THE_BEGINNING = -1.0


def as_times(
    stop: AnyArray,
    event: AnyArray,
    start: AnyArray | None = None,
    stratum: AnyArray | None = None,
) -> FloatArray:
    """Times, events and strata as one array; times that only rounding tells apart are equal.

    Parameters
    ----------
    stop : ndarray, shape (n_rows,)
        Time of the event, or until which there was none; at least 0.
    event : ndarray, shape (n_rows,)
        1 or True where `stop` is the time of an event.
    start : ndarray, shape (n_rows,), optional
        Times after which rows are under observation, each below its `stop`; -1 stands for the
        beginning, which is the default.
    stratum : ndarray, shape (n_rows,), optional
        Whole numbers from 0 on; one stratum by default.

    Returns
    -------
    ndarray of float64, shape (n_rows, 4)
        Columns START, STOP, EVENT, STRATUM.

    Examples
    --------
    >>> from treeselect.engine.survival.times import as_times
    >>> as_times([0.1 + 0.2, 0.3], [True, False]).tolist()
    [[-1.0, 0.3, 1.0, 0.0], [-1.0, 0.3, 0.0, 0.0]]
    """
    n_rows = len(stop)
    y = np.empty((n_rows, 4))
    y[:, EVENT] = event
    y[:, STRATUM] = 0.0 if stratum is None else stratum
    begun = np.full(n_rows, FROM_THE_BEGINNING) if start is None else start
    both = least_of_equals(np.array([stop, begun], dtype=np.float64))
    y[:, STOP], y[:, START] = both
    return y


class RiskSets(NamedTuple):
    """Chosen times of each stratum, and at which of them each row is at risk.

    Attributes
    ----------
    time : ndarray of float64, shape (n_times,)
        Rising within each stratum; strata follow each other.
    begin : ndarray of int64, shape (n_strata + 1,)
        Where the times of each stratum begin, and their number.
    stratum : ndarray of int64, shape (n_rows,)
    first, last : ndarray of int64, shape (n_rows,)
        The first and last of the times at which a row is at risk; there is none if ``first >
        last``.
    """

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
    """The times at which some rows end, and who is at risk at them.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
    marks : ndarray of bool, shape (n_rows,)
        Rows whose STOP is one of the times of their stratum.
    n_strata : int
        At least so many strata; those without rows have no times.
    """
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
