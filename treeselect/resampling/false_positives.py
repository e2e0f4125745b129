"""Expected false positives and q-values by integrated path stability selection (IPSS).

The tuning parameter of the path is the number of units k. On each half of ``n_pairs`` random splits
of the rows, a method selects sets of sizes 1, ..., K; ``frequency[k]`` holds the selection
frequencies at size k. A unit's score is the mean of ``h(frequency)`` over the sizes, with
``h(x) = (2 x - 1)^power`` above 1/2 and 0 below. The expected number of units without signal whose
score is at least as high is at most the mean of :func:`size_bound` over the sizes, divided by the
score (theorem 1 of Melikechi and Miller 2025, with the uniform measure on the sizes).
"""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray

POWERS = (1, 2, 3)
"""Exponents for which the bound is known."""

POWER = 2
CUTOFF = 0.05
PAIRS = 25
"""Defaults of q-values (``benchmarks/qvalues.py``). Pairs are splits of the same rows: however many
there are, they count as at most this many independent ones."""


def size_bound(q: FloatArray, p: int, n_pairs: int, power: int) -> FloatArray:
    """Bound on the sum of ``h(frequency)`` over units without signal, if q of p are selected.

    Parameters
    ----------
    q : ndarray of float
        Mean number of units selected on a half, from 0 to p.
    p : int
        Number of candidate units.
    n_pairs : int
        Number B of complementary pairs.
    power : {1, 2, 3}

    Returns
    -------
    ndarray of float, of the shape of q

    Notes
    -----
    ``2 x - 1`` is at most the share U of pairs in which both halves select the unit. The bound is
    p E(U^power) for B independent pairs, in each of which both halves select the unit with
    probability t^2, t = q / p. For power 1 this is p t^2, also for dependent pairs; for power 2,
    p (t^2 + (B - 1) t^4) / B; for power 3,
    p (t^2 + 3 (B - 1) t^4 + (B - 1) (B - 2) t^6) / B^2.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.false_positives import size_bound
    >>> size_bound(np.array([10.0]), p=100, n_pairs=50, power=1)
    array([1.])
    """
    t2, b = (np.asarray(q, dtype=np.float64) / p) ** 2, n_pairs
    if power == 1:
        return np.asarray(p * t2)
    if power == 2:
        return np.asarray(p * (t2 + (b - 1) * t2**2) / b)
    return np.asarray(p * (t2 + 3 * (b - 1) * t2**2 + (b - 1) * (b - 2) * t2**3) / b**2)


def sizes_within(q: FloatArray, p: int, n_pairs: int, power: int, cutoff: float) -> int:
    """Number K of sizes, at least 1, whose mean bound is at most the cutoff.

    The bound increases with the size, and so does its mean.
    """
    bound = size_bound(np.maximum.accumulate(q), p, n_pairs, power)
    mean = np.cumsum(bound) / np.arange(1, len(bound) + 1)
    return max(1, int(np.searchsorted(mean, cutoff * (1 + 1e-12), side="right")))


def sizes_looked_at(p: int, n_pairs: int, power: int, cutoff: float) -> int:
    """The same before any selection, if each size is attained."""
    return sizes_within(np.arange(1.0, p + 1), p, n_pairs, power, cutoff)


def efp_scores(frequency: FloatArray, n_pairs: int, power: int, cutoff: float) -> FloatArray:
    """Expected number of false positives if a unit and all units at least as stable are selected.

    Parameters
    ----------
    frequency : ndarray of float, shape (n_sizes, p)
        Selection frequencies in the sets of sizes 1, 2, ...
    n_pairs : int
        Number of complementary pairs.
    power : {1, 2, 3}
    cutoff : float
        Sizes are used as long as the mean bound is at most this.

    Returns
    -------
    ndarray of float, shape (p,)
        Above 0, at most p.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.false_positives import efp_scores
    >>> frequency = np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 0.75, 0.25, 0.0]])
    >>> print(efp_scores(frequency, n_pairs=50, power=1, cutoff=1.0))
    [0.625 2.5   4.    4.   ]
    """
    p = frequency.shape[1]
    q = frequency.sum(axis=1)
    n_sizes = sizes_within(q, p, n_pairs, power, cutoff)
    bound = float(size_bound(q[:n_sizes], p, n_pairs, power).mean())
    score = (np.maximum(2 * frequency[:n_sizes] - 1, 0.0) ** power).mean(axis=0)
    return np.asarray(np.where(score * p > bound, bound / np.where(score > 0, score, 1.0), p))


def q_values_of(efp: FloatArray) -> FloatArray:
    """Smallest false discovery rate at which each unit is selected: the minimum, over thresholds
    that its efp score reaches, of expected false positives over the number selected.

    Parameters
    ----------
    efp : ndarray of float, shape (p,)

    Returns
    -------
    ndarray of float, shape (p,)
        At most 1 if the scores are at most p.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.false_positives import q_values_of
    >>> print(q_values_of(np.array([0.2, 4.0, 0.2, 0.6])))
    [0.1 1.  0.1 0.2]
    """
    ordered = np.sort(efp)
    selected = np.searchsorted(ordered, ordered, side="right")
    least = np.minimum.accumulate((ordered / selected)[::-1])[::-1]
    return np.asarray(least[np.searchsorted(ordered, efp)])
