"""Agreement of samples: a stability index of sets, and intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import at_least
from treeselect.errors import StabilityError
from treeselect.quiet import own_filters


def stability_index(selected: BoolArray) -> tuple[float, tuple[float, float]]:
    """Stability index of Nogueira, Sechidis and Brown (2018, JMLR 18(174): definition 4, theorem 7)
    of sets of shape (n_resamples, n_groups), with its 95% Monte Carlo interval; NaN if all are
    empty or full. The index is a mean over pairs of sets, whose variance has two parts (Hoeffding
    1948, section 5); theorem 7 has the first, which is nearly 0 where units take each other's
    place in half of the sets. The interval is that of a t distribution, and reaches as far as that
    of one set more, in which a unit of the most frequent ones is exchanged: equal sets have no
    variance, but more resamples could have. With ever more of them the index is between 0 and 1."""
    n, d = selected.shape
    if n < 2:
        raise StabilityError(f"The stability index needs at least two resamples.\n  Found: {n}.")
    z = selected.astype(np.float64)
    frequency, size = z.mean(axis=0), z.sum(axis=1)
    mean_size = size.mean()
    if mean_size == 0 or mean_size == d:
        return float("nan"), (float("nan"), float("nan"))
    index, chance = _index(frequency, n)

    def part(size: FloatArray, frequencies: FloatArray) -> FloatArray:
        """Of a set in the index, from its size and the sum of the frequencies of its units."""
        at_random = 2 * mean_size * size / d**2 - size / d - mean_size / d + 1
        return (frequencies / d - size * mean_size / d**2 + index / 2 * at_random) / chance

    k, falling = max(1, min(round(mean_size), d - 1)), np.sort(frequency)[::-1]
    exchanged = np.arange(d) < k + 1
    exchanged[k - 1] = False
    parts = part(size, z @ frequency)
    other = part(exchanged.sum(), falling @ exchanged) - parts.mean()
    squares = np.sum((parts - parts.mean()) ** 2)
    with_other = _index((n * falling + exchanged) / (n + 1), n + 1)[0]
    centres = np.array([index, with_other])
    first = 4 * np.array([squares, squares + other**2]) / np.array([n, n + 1]) ** 2
    rest = (z - frequency) / np.sqrt(d * chance)
    products = rest @ rest.T if n < d else rest.T @ rest
    pairs = np.sum(products**2) - np.sum(np.sum(rest**2, axis=1) ** 2)
    second = 2 * max(pairs, 0.0) / (n * (n - 1)) ** 2
    halves = t_quantile(n) * np.sqrt(first + second)
    low, high = min(centres - halves), max(centres + halves)
    return index, (float(max(low, min(index, 0.0))), float(min(high, 1.0)))


def _index(frequency: FloatArray, n: int) -> tuple[float, float]:
    """Nogueira's index of frequencies among `n` sets, and the variance of a unit at random."""
    share = frequency.mean()
    chance = float(share * (1 - share))
    variance = n / (n - 1) * frequency * (1 - frequency)
    return float(1 - variance.mean() / chance), chance


_Z95 = 1.959963984540054


def t_quantile(n: float) -> float:
    """Half of a 95% interval of a mean of n units, in standard errors; NaN of one."""
    from scipy.special import stdtrit

    if n <= 1:
        return float("nan")
    return float(stdtrit(n - 1, 0.975)) if np.isfinite(n) else _Z95


def wilson_interval(
    p: FloatArray, trials: FloatArray | int, quantile: FloatArray | float = _Z95
) -> tuple[FloatArray, FloatArray]:
    """95% score interval of Wilson (1927) for proportions, each of shape (n,), of numbers of trials
    that need not be integers; `quantile` is that of a normal distribution, or of another."""
    z2 = quantile**2 / trials
    centre = (p + z2 / 2) / (1 + z2)
    half = quantile / (1 + z2) * np.sqrt(p * (1 - p) / trials + z2 / (4 * trials))
    # At 0 and 1 the bound is exact; rounding must not push it beyond.
    return np.where(p == 0, 0.0, centre - half), np.where(p == 1, 1.0, centre + half)


def known_quantiles(values: FloatArray, shares: Sequence[float] = (0.025, 0.975)) -> FloatArray:
    """Quantiles over the first axis of what is known, by default the ends of an interval; missing
    where nothing is."""
    if not values.size:
        return np.full((len(shares), *values.shape[1:]), np.nan)
    with own_filters():
        warnings.simplefilter("ignore")
        return np.asarray(np.nanquantile(values, shares, axis=0))


def clustered_interval(shares: FloatArray, trials: int) -> tuple[FloatArray, FloatArray]:
    """95% interval for proportions, shape (n_clusters, n), of trials in clusters of equal size:
    Wilson's with the effective number of independent trials (Korn and Graubard 1998)."""
    m = len(shares)
    p = shares.mean(axis=0)
    variance = shares.var(axis=0, ddof=1) / m
    most = m * trials
    clustered = ~at_least(p * (1 - p), variance * most)
    n = np.full(len(p), float(most))
    n[clustered] = (p * (1 - p))[clustered] / variance[clustered]
    return wilson_interval(p, n, np.where(clustered, t_quantile(m), _Z95))


def distinct_sets(selected: BoolArray) -> tuple[BoolArray, IntArray]:
    """The distinct sets, the most frequent first, and how often each was selected."""
    packed = np.packbits(selected, axis=1)  # rows of bytes: wide sets are compared quickly
    _, first, counts = np.unique(packed, axis=0, return_index=True, return_counts=True)
    sets = selected[first]
    place = np.arange(len(sets))[::-1]  # np.unique begins with the sets of the last units
    order = np.lexsort((place, sets.sum(axis=1), -counts))
    return sets[order], counts[order].astype(np.int64)


def pairs_of(selected: BoolArray) -> dict[str, Any]:
    """All pairs of columns that are neither always nor never selected, with the chi-squared test of
    independence with Yates' correction; the sign is 0 where it does not reject at the level of
    Heinze and others (2018), 0.01."""
    from scipy.special import chdtrc

    n = len(selected)
    count = selected.sum(axis=0)
    units = np.flatnonzero((count > 0) & (count < n))
    z = selected[:, units].astype(np.float64)
    both = z.T @ z
    i, j = np.triu_indices(len(units), 1)
    a, b, together = count[units][i] / n, count[units][j] / n, both[i, j]
    difference = np.abs(together - n * a * b)
    # |observed - expected| is the same in the four cells of the table.
    corrected = np.maximum(difference - 0.5, 0.0)
    p_value = np.asarray(chdtrc(1.0, corrected**2 / (n * a * (1 - a) * b * (1 - b))))
    direction = np.sign(together / n - a * b).astype(np.int64)
    return {
        "first": units[i].astype(np.int64),
        "second": units[j].astype(np.int64),
        "together": together / n,
        "expected": a * b,
        "p_value": p_value,
        "sign": np.where(p_value < 0.01, direction, 0),
    }


# --- interchangeable units: associated units of which resamples select exactly one ("a place") ---

LEAST_ASSOCIATION = 0.5
"""Lowest association between any two interchangeable units."""

LEAST_SHARE = 0.8
"""Lowest share of resamples that select exactly one of the units. With a fixed number of units, a
missing unit is always replaced by another, so an association is required as well."""


@dataclass(frozen=True, slots=True)
class Place:
    """Two or more interchangeable units, most frequent first, with the number of resamples that
    selected each, that which selected exactly one, and the lowest pairwise association."""

    units: tuple[str, ...]
    counts: tuple[int, ...]
    exactly_one: int
    association: float


Clusters = tuple[tuple[tuple[int, ...], float], ...]
"""Numbers of the units of some sets, each with their lowest pairwise association."""


def associated_clusters(
    replaced: Iterable[tuple[int, Iterable[int]]], association: Callable[[int, int], float]
) -> Clusters:
    """Candidate sets: clusters of pairwise associated units, each with a unit of the fit."""
    clusters: list[set[int]] = []
    for unit, others in replaced:
        own = [unit]
        for other in others:
            if all(association(int(other), member) >= LEAST_ASSOCIATION for member in own):
                own.append(int(other))
        if len(own) > 1:
            overlapping = [cluster for cluster in clusters if not cluster.isdisjoint(own)]
            clusters = [cluster for cluster in clusters if cluster.isdisjoint(own)]
            clusters.append(set(own).union(*overlapping))
    return tuple(
        (tuple(cluster), float(min(association(a, b) for a, b in combinations(cluster, 2))))
        for cluster in map(sorted, clusters)
    )


def place_of(
    units: Sequence[str], selected: BoolArray, cluster: Sequence[int], association: float
) -> Place | None:
    """The cluster as a set of interchangeable units; None if it does not qualify."""
    exactly_one = int((selected[:, list(cluster)].sum(axis=1) == 1).sum())
    if association < LEAST_ASSOCIATION or not at_least(exactly_one / len(selected), LEAST_SHARE):
        return None
    count = selected.sum(axis=0)
    order = sorted(cluster, key=lambda unit: (-count[unit], units[unit]))
    return Place(
        tuple(units[unit] for unit in order),
        tuple(int(count[unit]) for unit in order),
        exactly_one,
        association,
    )
