"""The largest tail probability of a distribution with a given shape and mean."""

from __future__ import annotations

import functools
import math

import numpy as np

from treeselect.engine.arrays import FloatArray

ROUNDING = 1e-9
"""Tolerance: 60 of 100 reach a threshold of 0.6, whatever 0.6 * 100 is in floating point."""


def twice(mean: float, n: int) -> int:
    """Twice a mean, as a count of n, rounded up."""
    return math.ceil(2 * mean * n - ROUNDING)


def largest_tail(mean: float, least: int, n: int, r: float) -> float:
    """Largest P(X >= least) of an r-concave X on {0, ..., n} with mean at most `mean` n: D.

    Parameters
    ----------
    mean : float
        As a proportion of n.
    least : int
    n : int
    r : float
        Negative: the probabilities to the power r are convex.

    Returns
    -------
    float
        1 if `least` is at most twice the mean, to which the bound does not apply.

    Notes
    -----
    Shah and Samworth (2013), appendices A.2 and A.4. The largest tail is that of probabilities
    f(i) proportional to (a + i)^(1/r) for i = 0, ..., m, with f(m + 1) between 0 and its value by
    this formula, and 0 above. For each m, `a` ranges from the value at which f(m + 1) follows the
    formula to that at which it is 0, and the mean determines f(m + 1).
    """
    if least <= twice(mean, n):
        return 1.0
    ends = _full_supports(mean, n, r)
    tails = [0.0]
    for m in range(max(least - 1, min(ends)), n):
        tails.append(_largest_of_support(m, ends[m], ends[m + 1], mean * n, least, r))
    return max(tails)


@functools.lru_cache(maxsize=64)
def _full_supports(mean: float, n: int, r: float) -> dict[int, float]:
    """The `a` with which f(i) ~ (a + i)^(1/r) on {0, ..., m} has the mean, by m."""
    from scipy.optimize import brentq

    def excess(log_a: float, m: int) -> float:
        f = _powers(math.exp(log_a), m, r)
        return float(np.arange(m + 1) @ f / f.sum()) - mean * n

    low, high = math.log(1e-12), math.log(1e9)
    return {
        m: math.exp(brentq(excess, low, high, args=(m,), xtol=1e-12))
        for m in range(1, n + 1)
        if excess(high, m) > 0
    }


def _powers(a: float, m: int, r: float) -> FloatArray:
    """(a + i)^(1/r), divided by a^(1/r), for i = 0, ..., m."""
    return np.asarray((1 + np.arange(m + 1) / a) ** (1 / r))


def _largest_of_support(
    m: int, a_none: float, a_full: float, total: float, least: int, r: float
) -> float:
    """Largest tail among the distributions on {0, ..., m + 1} with the mean `total`."""
    from scipy.optimize import minimize_scalar

    room = m + 1 - np.arange(m + 1)

    def below(log_a: float) -> float:
        f = _powers(math.exp(log_a), m, r)
        return float((m + 1 - total) * f[:least].sum() / (room @ f))

    low, high = math.log(a_full), math.log(a_none)
    inside = minimize_scalar(below, bounds=(low, high), method="bounded", options={"xatol": 1e-7})
    return 1 - min(float(inside.fun), below(low), below(high))
