"""The selection on each resample: frequencies, sets, pairs and paths, and how far they agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from treeselect.arguments.checks import MOST_RESAMPLES, check_count, check_share
from treeselect.brief import brief
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import at_least
from treeselect.errors import StabilityError
from treeselect.quiet import own_filters
from treeselect.resampling.records import Stoppable

Scheme = Literal["bootstrap", "subsample", "complementary"]
SCHEMES = ("bootstrap", "subsample", "complementary")

_NOUNS = {
    "bootstrap": ("bootstrap resample", "bootstrap resamples"),
    "subsample": ("subsample", "subsamples"),
    "complementary": ("half-sample", "half-samples"),
}
"""One resample of each scheme, and several."""

PAIR_LEVEL = 0.01
"""Level of the test of a pair, that of Heinze and others (2018)."""

_SIGNS = np.array(["-", "", "+"], dtype=object)


@dataclass(frozen=True, slots=True)
class StabilityPath:
    """Selection frequencies by the number of units requested."""

    # (n_sizes, n_groups); number of resamples whose set of at most ``sizes[i]`` units contains each
    # unit
    counts: IntArray
    n_resamples: int
    n_kept: int  # number of units that are forced in; they count towards the sizes

    __repr__ = brief

    @property
    def sizes(self) -> IntArray:
        """Numbers of units requested, from one more than are forced in, shape (n_sizes,)."""
        return self.n_kept + 1 + np.arange(len(self.counts))

    @property
    def frequency(self) -> FloatArray:
        """Selection frequencies, shape (n_sizes, n_groups)."""
        return np.asarray(self.counts / self.n_resamples)

    def order(self, units: Sequence[str], first: BoolArray) -> list[int]:
        """Units that any resample selected: the first ones, then by decreasing mean frequency."""
        mean = self.frequency.mean(axis=0)
        some = np.flatnonzero(mean > 0).tolist()
        return sorted(some, key=lambda g: (not first[g], -mean[g], units[g]))


@dataclass(frozen=True)
class Resampled(Stoppable):
    """Selections on resamples of the rows.

    Attributes
    ----------
    units : tuple of str, length n_groups
    fitted : ndarray of bool, shape (n_groups,)
        Units that the fit on all rows selected.
    assessed : ndarray of bool, shape (n_groups,)
        Units that can be selected or not: those that are neither forced in nor constant.
    selected : ndarray of bool, shape (n_resamples, n_groups)
    scheme : {"bootstrap", "subsample", "complementary"}
    k : int
        Number of units requested on each resample.
    seed : int
    groups_name : str or bool
        Column of the clusters that were resampled as a whole; otherwise, whether an array of
        clusters was given.
    fixed_size : bool
        Whether no resample could select more than `k` units; False if the method's tuning
        parameter determined the number.
    association, similarity : callable or None
        Strength of the association, in [0, 1], of two units in the data, and of all pairs of units,
        shape (n_groups, n_groups); None without the data.
    measured_index, measured_places, measured_associations
        For a model without its data, what was computed of it earlier: the correlated index, the
        sets of interchangeable units, the associations in ``Stability.substitutes``.
    along : StabilityPath or None
        Selections at every number of units, if the paths were followed.
    labels : mapping of str to str
        Labels of units in print, by name; units without a label are absent.
    one : str
        One selectable item in print: "term", or "unit" where there are groups.
    asked, library
        As of :class:`treeselect.resampling.records.Stoppable`.
    """

    units: tuple[str, ...]
    fitted: BoolArray
    assessed: BoolArray
    selected: BoolArray
    scheme: Scheme
    k: int
    seed: int
    groups_name: str | bool = False
    fixed_size: bool = True
    association: Callable[[str, str], float] | None = field(default=None, repr=False, compare=False)
    similarity: Callable[[], FloatArray] | None = field(default=None, repr=False, compare=False)
    measured_index: float = field(default=float("nan"), repr=False, compare=False)
    measured_places: Clusters = field(default=(), repr=False, compare=False)
    measured_associations: tuple[float, ...] = field(default=(), repr=False, compare=False)
    along: StabilityPath | None = field(default=None, repr=False, compare=False)
    labels: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    one: str = field(default="term", repr=False, compare=False)

    @property
    def words(self) -> str:
        """Number and kind of the resamples: ``"100 bootstrap resamples"``; for clustered rows
        ``"100 bootstrap resamples of whole ward clusters"``."""
        name = f"{self.groups_name} " if isinstance(self.groups_name, str) else ""
        whole = f" of whole {name}clusters" if self.groups_name else ""
        one, more = _NOUNS[self.scheme]
        return f"{self.n_resamples:,} {one if self.n_resamples == 1 else more}{whole}"

    @property
    def kept(self) -> BoolArray:
        """Units that are forced in, shape (n_groups,)."""
        return np.asarray(~self.assessed & self.selected.all(axis=0))

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return len(self.selected)

    @property
    def frequency(self) -> FloatArray:
        """Selection frequency: share of resamples that selected each unit, shape (n_groups,)."""
        return np.asarray(self.selected.mean(axis=0))

    @property
    def index(self) -> float:
        """Nogueira's stability index over the units not forced in (see `stability_index`)."""
        return stability_index(self.selected[:, self.assessed])[0]

    @property
    def index_ci(self) -> tuple[float, float]:
        """Its 95% Monte Carlo interval."""
        return stability_index(self.selected[:, self.assessed])[1]

    def tidy(self) -> Any:
        """One row per unit, in decreasing order of selection frequency.

        Returns
        -------
        frame, in the library of the data
            Columns ``term``, ``frequency``, ``ci_low``, ``ci_high`` (95% Wilson interval) and
            ``selected`` (by the fit).
        """
        low, high = wilson_interval(self.frequency, self.n_resamples)
        frame = pd.DataFrame(
            {
                "term": self.units,
                "frequency": self.frequency,
                "ci_low": low,
                "ci_high": high,
                "selected": self.fitted,
            }
        )
        frame = frame.sort_values(["frequency", "term"], ascending=[False, True], ignore_index=True)
        return self._frame(frame)

    @property
    def correlated_index(self) -> float:
        """Stability index that allows for association between units.

        The index of Sechidis and others (2020) over the units that are not forced in, with the
        association of two units in the data as their similarity (see :attr:`substitutes`). It is
        at most 1, and equal to Nogueira's :attr:`index` if no two units are associated; NaN if it
        is not defined (see `treeselect.resampling.resampled.correlated_index`). A model without
        its data has the value of its earlier summary, if there was one.
        """
        if self.similarity is None:
            return self.measured_index
        free = self.assessed
        return correlated_index(self.selected[:, free], self.similarity()[np.ix_(free, free)])

    @property
    def n_models(self) -> int:
        """Number of different sets that the resamples selected."""
        return len(distinct_sets(self.selected)[0])

    @property
    def same_model(self) -> int:
        """Number of resamples that selected exactly the set of the fit."""
        return int((self.selected == self.fitted).all(axis=1).sum())

    def models(self, n: int | None = 10) -> Any:
        """Model frequencies (Heinze, Wallisch and Dunkler 2018): how often each set was selected.

        Parameters
        ----------
        n : int, optional
            Number of sets, the most frequent first; None for all :attr:`n_models`. The set of the
            fit is always included if a resample selected it.

        Returns
        -------
        frame, in the library of the data
            One row per set: ``terms``, tuple of its units, the most frequent first, including
            those forced in; ``size``, their number; ``count``, the number of resamples that
            selected exactly this set; ``frequency``, its share; ``cumulative``, the share of this
            set and all more frequent ones; ``selected``, whether it is the set of the fit.

        Raises
        ------
        OptionError
            If `n` is not allowed.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=1, seed=1)
        >>> int(fit.resample(20).stability.models()["count"].sum())
        20
        """
        most = np.inf if n is None else check_count("n", n, least=1, most=MOST_RESAMPLES)
        sets, counts = distinct_sets(self.selected)
        names, order = np.array(self.units, dtype=object), self._by_frequency()
        own = (sets == self.fitted).all(axis=1)
        shown = own | (np.arange(len(sets)) < most)
        share = counts / self.n_resamples
        frame = pd.DataFrame(
            {
                "terms": [tuple(names[order][row[order]]) for row in sets[shown]],
                "size": sets[shown].sum(axis=1),
                "count": counts[shown],
                "frequency": share[shown],
                "cumulative": (np.cumsum(counts) / self.n_resamples)[shown],
                "selected": own[shown],
            }
        )
        return self._frame(frame)

    def pairs(self, level: float = PAIR_LEVEL) -> Any:
        """Pairs of units that were selected together more or less often than by chance, and others.

        Parameters
        ----------
        level : float
            Level of the test behind ``sign``, above 0 and below 1.

        Returns
        -------
        frame, in the library of the data
            One row per pair of units that were neither always nor never selected, in increasing
            order of p-value: ``term`` (the more frequent one) and ``other``; ``together``, share of
            the resamples that selected both; ``expected``, the product of their frequencies;
            ``ratio``, ``together / expected``; ``sign``, ``"+"`` if they are selected together more
            often than by chance, ``"-"`` if less often, as substitutes are, otherwise ``""``;
            ``p_value`` of the chi-squared test of independence with Yates' correction.

        Raises
        ------
        OptionError
            If `level` is not allowed.

        Notes
        -----
        As in [1]_. The test refers to the resamples of these data, not to new samples: with more
        resamples, smaller differences become significant. If all sets have the same size, every
        pair is slightly less frequent than under independence, as one selected unit excludes
        another.

        References
        ----------
        .. [1] G. Heinze, C. Wallisch, D. Dunkler (2018). Variable selection: A review and
           recommendations for the practicing statistician. Biometrical Journal 60, 431-449.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
        >>> list(fit.resample(20).stability.pairs())
        ['term', 'other', 'together', 'expected', 'ratio', 'sign', 'p_value']
        """
        level = check_share("level", level)
        order = self._by_frequency()
        found = pairs_of(self.selected[:, order], level)
        names = np.array(self.units, dtype=object)[order]
        frame = pd.DataFrame(
            {
                "term": names[found["first"]],
                "other": names[found["second"]],
                "together": found["together"],
                "expected": found["expected"],
                "ratio": found["together"] / found["expected"],
                "sign": _SIGNS[found["sign"] + 1],
                "p_value": found["p_value"],
            }
        )
        frame = frame.sort_values("p_value", kind="stable", ignore_index=True)
        return self._frame(frame)

    def co_selection(self) -> pd.DataFrame:
        """Share of the resamples that selected both of two units.

        Returns
        -------
        pandas.DataFrame
            A row and a column for each unit, in decreasing order of frequency, with the
            frequencies on the diagonal. Always a pandas frame, as its rows have names.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=1, seed=1)
        >>> fit.resample(20).stability.co_selection().shape
        (9, 9)
        """
        order = self._by_frequency()
        names = [self.units[g] for g in order]
        return pd.DataFrame(co_selection(self.selected[:, order]), names, names)

    def _by_frequency(self) -> Any:
        """Numbers of the units, the most frequent first, then by name."""
        count = self.selected.sum(axis=0)
        return np.array(sorted(range(len(self.units)), key=lambda g: (-count[g], self.units[g])))


# --- agreement of sets across samples: two indices, and intervals for frequencies -----------------


def stability_index(selected: BoolArray) -> tuple[float, tuple[float, float]]:
    """Stability index of Nogueira, Sechidis and Brown (2018, JMLR 18(174): definition 4, theorem 7)
    of sets of shape (n_resamples, n_groups), with its 95% Monte Carlo interval; NaN if all are
    empty or full."""
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
    """Stability index of Sechidis and others, in which disagreement decreases with the similarity
    of two units (symmetric, in [0, 1], 1 on the diagonal). It is Nogueira's if no two are similar,
    and NaN where chance agreement is complete.

    It is ``1 - tr(C S) / tr(C S0)`` [1]_, where C is the similarity, S the covariance of the
    selections and S0 its expectation for random sets of the same sizes: with d units, mean size k
    and mean squared size k2, S0 is ``k / d (1 - k / d)`` on the diagonal and
    ``(k2 - k) / (d^2 - d) - k^2 / d^2`` off it. ``tr(C S)`` is negative only if C is not positive
    semidefinite; the index is then 1.

    .. [1] K. Sechidis, K. Papangelou, S. Nogueira, J. Weatherall, G. Brown (2020). On the Stability
       of Feature Selection in the Presence of Feature Correlations. ECML PKDD 2019, 327-342.
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


_Z95 = 1.959963984540054


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
    from scipy import stats

    m = len(shares)
    p = shares.mean(axis=0)
    variance = shares.var(axis=0, ddof=1) / m
    most = m * trials
    clustered = ~at_least(p * (1 - p), variance * most)
    n = np.full(len(p), float(most))
    n[clustered] = (p * (1 - p))[clustered] / variance[clustered]
    return wilson_interval(p, n, np.where(clustered, stats.t.ppf(0.975, m - 1), _Z95))


_NOTHING = 1e-12
"""Variance, as a share of the mean size, that counts as 0."""


def distinct_sets(selected: BoolArray) -> tuple[BoolArray, IntArray]:
    """The distinct sets, the most frequent first, and how often each was selected."""
    packed = np.packbits(selected, axis=1)  # rows of bytes: wide sets are compared quickly
    _, first, counts = np.unique(packed, axis=0, return_index=True, return_counts=True)
    sets = selected[first]
    place = np.arange(len(sets))[::-1]  # np.unique begins with the sets of the last units
    order = np.lexsort((place, sets.sum(axis=1), -counts))
    return sets[order], counts[order].astype(np.int64)


def co_selection(selected: BoolArray) -> FloatArray:
    """Share of the resamples that selected both of two units, shape (n_groups, n_groups). The
    diagonal has the frequencies."""
    z = selected.astype(np.float64)
    return np.asarray(z.T @ z / len(z))


def pairs_of(selected: BoolArray, level: float) -> dict[str, Any]:
    """All pairs of columns that are neither always nor never selected, with the chi-squared test of
    independence with Yates' correction; the sign is 0 where it does not reject."""
    from scipy.special import chdtrc

    n = len(selected)
    count = selected.sum(axis=0)
    units = np.flatnonzero((count > 0) & (count < n))
    both = np.rint(co_selection(selected[:, units]) * n)
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
        "sign": np.where(p_value < level, direction, 0),
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
