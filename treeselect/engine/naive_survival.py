"""The naive twins of survival: what its sums mean, as loops over risk sets.

Nothing in the package calls them; the tests do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM


def at_risk(y: FloatArray, time: float, stratum: float) -> BoolArray:
    """Rows under observation at a time."""
    inside = (y[:, START] < time) & (time <= y[:, STOP])
    return np.asarray(inside & (y[:, STRATUM] == stratum))


def event_times(y: FloatArray, rows: BoolArray) -> Iterator[tuple[float, float, BoolArray]]:
    """Each time of an event of some rows, its stratum, and who of them has the event."""
    events = rows & (y[:, EVENT] > 0)
    for stratum, time in sorted({(s, t) for s, t in y[events][:, [STRATUM, STOP]]}):
        yield time, stratum, events & (y[:, STOP] == time) & (y[:, STRATUM] == stratum)


class Cox(NamedTuple):
    """Minus the log partial likelihood, its gradient and its second derivative."""

    total: float
    gradient: FloatArray
    hessian: FloatArray


def cox(y: FloatArray, weight: FloatArray, eta: FloatArray) -> Cox:
    """Efron's sums as they are written, without care for large numbers."""
    n = len(y)
    total, gradient, hessian = 0.0, np.zeros(n), np.zeros((n, n))
    for time, stratum, dies in event_times(y, weight > 0):
        d, mean = dies.sum(), weight[dies].mean()
        total -= float(weight[dies] @ eta[dies])
        gradient[dies] -= weight[dies]
        for k in range(d):
            share = at_risk(y, time, stratum) * (1 - k / d * dies)
            part = share * weight * np.exp(eta)
            part_of_sum = part / part.sum()
            total += float(mean * np.log(part.sum()))
            gradient += mean * part_of_sum
            hessian += mean * (np.diag(part_of_sum) - np.outer(part_of_sum, part_of_sum))
    return Cox(total, gradient, hessian)


def expected_events(y: FloatArray, weight: FloatArray, eta: FloatArray) -> FloatArray:
    """Relative risk times the cumulative hazard of those with weight; who dies has a part in the
    ties."""
    found = np.zeros(len(y))
    for time, stratum, dies in event_times(y, weight > 0):
        risky = at_risk(y, time, stratum)
        d = dies.sum()
        for k in range(d):
            share = risky * (1 - k / d * dies)
            found += (
                weight[dies].mean() * share * np.exp(eta) / (share * weight * np.exp(eta)).sum()
            )
    return found
