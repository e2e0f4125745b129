"""The naive twins of survival: what its sums mean, as loops over risk sets.

Nothing in the package calls them; the tests do.
"""

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


def product_limit(y: FloatArray, weight: FloatArray) -> dict[float, float]:
    """Kaplan and Meier's estimate at each time at which rows end."""
    found, survival = {}, 1.0
    for time in np.unique(y[weight > 0, STOP]):
        inside = weight * ((y[:, START] < time) & (time <= y[:, STOP]))
        survival *= 1 - inside[(y[:, STOP] == time) & (y[:, EVENT] > 0)].sum() / inside.sum()
        found[float(time)] = survival
    return found


def baseline_hazard(
    y: FloatArray, eta: FloatArray, weight: FloatArray, until: float, stratum: float, efron: bool
) -> float:
    """Cumulative baseline hazard of a stratum until a time, by Breslow's or Efron's method."""
    found, risk = 0.0, weight * np.exp(eta)
    for time, own, dies in event_times(y, weight > 0):
        if own == stratum and time <= until:
            out = efron * np.arange(dies.sum()) / dies.sum() * risk[dies].sum()
            found += (weight[dies].mean() / ((at_risk(y, time, own) * risk).sum() - out)).sum()
    return found


def pairs(
    y: FloatArray, risk: FloatArray, weight: FloatArray, event_weight: FloatArray
) -> FloatArray:
    """Weights of concordant, discordant and tied pairs."""
    found = np.zeros(3)
    for i, (_, time, event, stratum) in enumerate(y):
        for j, (start, stop, other, own) in enumerate(y):
            later = stop > time or (stop == time and not other)
            if event and later and start < time and own == stratum:
                which = 0 if risk[i] > risk[j] else 1 if risk[i] < risk[j] else 2
                found[which] += weight[i] * weight[j] * event_weight[i]
    return found


def score_residuals(
    y: FloatArray, weight: FloatArray, eta: FloatArray, columns: FloatArray
) -> FloatArray:
    """Each row's own part of the score of coefficients; rows with weight only."""
    found = np.zeros(columns.shape)
    for time, stratum, dies in event_times(y, weight > 0):
        d = dies.sum()
        for k in range(d):
            share = at_risk(y, time, stratum) * (1 - k / d * dies) * np.exp(eta)
            part = weight * share
            apart = columns - part @ columns / part.sum()
            found += dies[:, np.newaxis] * apart / d
            found -= (weight[dies].mean() * share / part.sum())[:, np.newaxis] * apart
    return found
