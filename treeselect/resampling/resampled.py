"""The selection on each resample, as frequencies, sets, pairs and paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from treeselect.arguments.checks import MOST_RESAMPLES, check_count
from treeselect.brief import brief
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.resampling.agreement import (
    Clusters,
    distinct_sets,
    pairs_of,
    stability_index,
    wilson_interval,
)
from treeselect.resampling.records import Stoppable

Scheme = Literal["bootstrap", "subsample", "complementary"]
SCHEMES = ("bootstrap", "subsample", "complementary")

_NOUNS = {
    "bootstrap": ("bootstrap resample", "bootstrap resamples"),
    "subsample": ("subsample", "subsamples"),
    "complementary": ("half-sample", "half-samples"),
}
"""One resample of each scheme, and several."""

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


@dataclass(frozen=True, eq=False)
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
    along : StabilityPath or None
        Selections at every number of units, if the paths were followed.
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
    fixed_size: bool = True  # False if each resample had a number of units of its own
    # strength, in [0, 1], of two units in the data
    association: Callable[[str, str], float] | None = field(default=None, repr=False, compare=False)
    # this and the next: of a model without its data, as computed of it earlier
    measured_places: Clusters = field(default=(), repr=False, compare=False)
    measured_associations: tuple[float, ...] = field(default=(), repr=False, compare=False)
    along: StabilityPath | None = field(default=None, repr=False, compare=False)
    # labels of units in print, by name
    labels: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    # one item in print: "term", or "unit" where there are groups
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
        """Nogueira's stability index over the units assessed (see `stability_index`)."""
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
        frame = pd.DataFrame({
            "term": self.units, "frequency": self.frequency, "ci_low": low, "ci_high": high,
            "selected": self.fitted,
        })  # fmt: skip
        frame = frame.sort_values(["frequency", "term"], ascending=[False, True], ignore_index=True)
        return self._frame(frame)

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
        frame = pd.DataFrame({
            "terms": [tuple(names[order][row[order]]) for row in sets[shown]],
            "size": sets[shown].sum(axis=1), "count": counts[shown], "frequency": share[shown],
            "cumulative": (np.cumsum(counts) / self.n_resamples)[shown], "selected": own[shown],
        })  # fmt: skip
        return self._frame(frame)

    def pairs(self) -> Any:
        """Pairs of units that were selected together more or less often than by chance, and others.

        Returns
        -------
        frame, in the library of the data
            One row per pair of units that were neither always nor never selected, in increasing
            order of p-value: ``term`` (the more frequent one) and ``other``; ``together``, share of
            the resamples that selected both; ``expected``, the product of their frequencies;
            ``ratio``, ``together / expected``; ``sign``, ``"+"`` if they are selected together more
            often than by chance, ``"-"`` if less often, as substitutes are, ``""`` if the p-value
            is at least 0.01; ``p_value`` of the chi-squared test of independence with Yates'
            correction.

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
        order = self._by_frequency()
        found = pairs_of(self.selected[:, order])
        names = np.array(self.units, dtype=object)[order]
        frame = pd.DataFrame({
            "term": names[found["first"]], "other": names[found["second"]],
            "together": found["together"], "expected": found["expected"],
            "ratio": found["together"] / found["expected"], "sign": _SIGNS[found["sign"] + 1],
            "p_value": found["p_value"],
        })  # fmt: skip
        frame = frame.sort_values("p_value", kind="stable", ignore_index=True)
        return self._frame(frame)

    def _by_frequency(self) -> Any:
        """Numbers of the units, the most frequent first, then by name."""
        count = self.selected.sum(axis=0)
        return np.array(sorted(range(len(self.units)), key=lambda g: (-count[g], self.units[g])))
