"""How much sets agree across samples: two indices, frequencies with their intervals."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import StabilityError


def stability_index(selected: BoolArray) -> tuple[float, tuple[float, float]]:
    """Stability index of Nogueira, Sechidis and Brown, with its 95 % interval.

    How much the selected sets agree, corrected for the agreement expected by chance: 1 when every
    resample selects the same units, about 0 when each picks at random.

    Parameters
    ----------
    selected : ndarray of bool, shape (n_resamples, n_groups)
        ``selected[m, g]`` tells whether resample ``m`` selected unit ``g``.

    Returns
    -------
    index : float
        At most 1. NaN when every resample selected no unit, or every unit: chance agreement is
        then complete already.
    interval : tuple of float
        Normal interval for the index over resamples of these data, at most 1.

    Raises
    ------
    StabilityError
        If there are fewer than two resamples.

    Notes
    -----
    Definition 4, Theorem 7 and Corollary 8 of [1]_.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis, G. Brown (2018). On the Stability of Feature Selection
       Algorithms. JMLR 18(174).

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.agreement import stability_index
    >>> selected = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], dtype=bool)
    >>> print(round(stability_index(selected)[0], 3))
    0.333
    """
    n, d = selected.shape
    if n < 2:
        raise StabilityError(f"The stability index needs at least two resamples.\n  Found: {n}.")
    z = selected.astype(np.float64)
    frequency = z.mean(axis=0)
    size = z.sum(axis=1)
    mean_size = size.mean()
    if mean_size == 0 or mean_size == d:
        return float("nan"), (float("nan"), float("nan"))
    chance = mean_size / d * (1 - mean_size / d)
    variance = n / (n - 1) * frequency * (1 - frequency)
    index = 1 - variance.mean() / chance
    each = (
        (z @ frequency) / d
        - size * mean_size / d**2
        + index / 2 * (2 * mean_size * size / d**2 - size / d - mean_size / d + 1)
    ) / chance
    spread = 4 / n**2 * np.sum((each - each.mean()) ** 2)
    half = _Z95 * np.sqrt(spread)
    return float(index), (float(index - half), float(min(index + half, 1.0)))


def correlated_index(selected: BoolArray, similarity: FloatArray) -> float:
    """Stability index of Sechidis and others: terms that resemble each other stand for each other.

    Nogueira's index counts a resample that took height in the place of age as one that differs,
    however close the two are. Here it differs the less, the more alike they are.

    Parameters
    ----------
    selected : ndarray of bool, shape (n_resamples, n_groups)
    similarity : ndarray of float, shape (n_groups, n_groups)
        In [0, 1], symmetric, with ones on the diagonal.

    Returns
    -------
    float
        At most 1. Nogueira's index where no two units resemble each other; lower than that where
        alike units come in and go out together. NaN when every resample
        selected no unit, or every unit, or as many as any other of units that are all alike.

    Raises
    ------
    StabilityError
        If there are fewer than two resamples.

    Notes
    -----
    ``1 - tr(C S) / tr(C S0)`` of [1]_, C being the similarity, S the covariance of the selections
    and S0 the one to expect of random sets of the same sizes: with d units, mean size k and mean
    squared size k2, ``k / d (1 - k / d)`` on its diagonal and ``(k2 - k) / (d^2 - d) - k^2 / d^2``
    beside it. ``tr(C S)`` can be below 0 only if C is no covariance; the index is 1 then.

    References
    ----------
    .. [1] K. Sechidis, K. Papangelou, S. Nogueira, J. Weatherall, G. Brown (2020). On the Stability
       of Feature Selection in the Presence of Feature Correlations. ECML PKDD 2019, 327-342.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.agreement import correlated_index
    >>> selected = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], dtype=bool)
    >>> alike = np.eye(4)
    >>> alike[1, 2] = alike[2, 1] = 0.9
    >>> print(round(correlated_index(selected, alike), 3))
    0.922
    """
    n, d = selected.shape
    if n < 2:
        raise StabilityError(f"The stability index needs at least two resamples.\n  Found: {n}.")
    z = selected.astype(np.float64)
    size = z.sum(axis=1)
    mean, square = float(size.mean()), float((size**2).mean())
    if mean in (0, d):
        return float("nan")
    beside = (square - mean) / max(d**2 - d, 1) - mean**2 / d**2
    total, own = float(similarity.sum()), float(np.trace(similarity))
    chance = own * mean / d * (1 - mean / d) + (total - own) * beside
    if chance <= _NOTHING * mean / d:
        return float("nan")
    apart = z - z.mean(axis=0)
    found = float(np.einsum("ij,ij->", apart @ similarity, apart)) / (n - 1)
    return min(1 - found / chance, 1.0)


def wilson_interval(successes: IntArray, trials: int) -> tuple[FloatArray, FloatArray]:
    """95 % score interval of Wilson (1927) for proportions, each of shape (n,)."""
    p = successes / trials
    z2 = _Z95**2 / trials
    centre = (p + z2 / 2) / (1 + z2)
    half = _Z95 / (1 + z2) * np.sqrt(p * (1 - p) / trials + z2 / (4 * trials))
    # At 0 and 1 the bound is exact; rounding must not push it past.
    low = np.where(successes == 0, 0.0, centre - half)
    high = np.where(successes == trials, 1.0, centre + half)
    return np.asarray(low), np.asarray(high)


_NOTHING = 1e-12
"""Share of the mean size that a variance must have to be one."""

_Z95 = 1.959963984540054
