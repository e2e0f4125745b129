"""Would the selection be the same on another sample? Resamples, frequencies, and one index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeselect.frames.libraries import in_library
from treeselect.resampling.error_bounds import Assumption, ErrorBound, error_bound, least_threshold
from treeselect.resampling.false_positives import CUTOFF, PAIRS, POWER, q_values_of
from treeselect.resampling.places import (
    Place,
    associated_clusters,
    least_association,
    place_of,
)
from treeselect.resampling.q_values import efp_of, followed
from treeselect.resampling.stability_summary import PrintedStability

if TYPE_CHECKING:
    import pandas as pd


_FEW = 0.05
"""Share of resamples below which nothing is said about what stood in."""


@dataclass(frozen=True, repr=False)  # no slots: places are kept once they are found
class Stability(PrintedStability):
    """Selections on resamples of the rows: how often, how alike, and how many are false.

    Its attributes are those of :class:`treeselect.resampling.resampled.Resampled`.
    """

    def pfer(self, threshold: float = 0.75, assumption: Assumption = "none") -> ErrorBound:
        """Bound on the expected number of false selections above a threshold on the frequency.

        Parameters
        ----------
        threshold : float
            Above 0.5, at most 1. Values between 0.6 and 0.9 are usual.
        assumption : {"none", "unimodal", "r-concave"}
            About the frequencies of units without signal; a stronger one gives a lower bound.
            ``"unimodal"`` and ``"r-concave"`` need ``scheme="complementary"``.

        Returns
        -------
        ErrorBound
            ``.bound``, ``.units`` (those above the threshold), ``.q``, ``.p``, ``.threshold``.

        Raises
        ------
        OptionError
            If an argument is not allowed, or the threshold too low for the assumption.
        StabilityError
            For bootstrap resamples, where the tuning value decided the size, and for a scheme that
            the assumption does not fit.

        Notes
        -----
        q units are selected on each subsample of half the rows, of p; kept units are in neither.
        ``"none"`` is theorem 1 of [1]_: q^2 / ((2 threshold - 1) p), for the average over all
        subsamples, if units without signal are exchangeable and the method does no worse than
        guessing. The others are theorem 2 and equation 8 of [2]_, for any number of complementary
        pairs. In [2]_ (as for ``"none"`` with pairs) nothing needs to be exchangeable if "false"
        is read as "selected on half of the rows with a probability of at most q / p". Prices that
        differ make units unequal, too. See :mod:`treeselect.resampling.error_bounds`.

        References
        ----------
        .. [1] N. Meinshausen, P. Buehlmann (2010). Stability selection. Journal of the Royal
           Statistical Society B 72, 417-473.
        .. [2] R. D. Shah, R. J. Samworth (2013). Variable selection with error control: another
           look at stability selection. Journal of the Royal Statistical Society B 75, 55-80.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="importance", k=1, seed=1)
        >>> bound = fit.resample(10, scheme="complementary").stability.pfer(0.8)
        >>> bound.units, bound.q, bound.p, round(bound.bound, 2)
        (('sex',), 1, 9, 0.19)
        """
        return error_bound(self, threshold, assumption)

    def threshold(self, pfer: float = 1.0, assumption: Assumption = "none") -> float:
        """The lowest threshold on the frequency at which :meth:`pfer` is at most a wanted bound.

        Parameters
        ----------
        pfer : float
            Expected number of false selections, above 0.
        assumption : {"none", "unimodal", "r-concave"}
            As in :meth:`pfer`.

        Returns
        -------
        float
            Above 0.5, at most 1: a frequency that so many resamples can have.

        Raises
        ------
        OptionError
            If an argument is not allowed.
        StabilityError
            As :meth:`pfer` does; and if no threshold is high enough: fewer units on each resample
            are needed.
        """
        return least_threshold(self, pfer, assumption)

    def path(self) -> Any:
        """How often each unit was selected, by the number of units that were asked for.

        Returns
        -------
        frame, in the library of the data
            One row per size and unit that any resample selected, units by falling mean frequency:
            ``k``, the most units that a resample could select (kept ones count); ``term``;
            ``frequency``, in [0, 1].

        Raises
        ------
        StabilityError
            If the paths of the resamples were not followed.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=1, seed=1)
        >>> paths = fit.resample(10, path=3).stability.path()
        >>> print(paths.head(3))
           k term  frequency
        0  1  sex        1.0
        1  2  sex        1.0
        2  3  sex        1.0
        """
        path = followed(self, "frequencies by the number of units")
        return in_library(path.table(self.units), self.library)

    def q_values(
        self, power: int = POWER, cutoff: float = CUTOFF, independent_pairs: int = PAIRS
    ) -> Any:
        """False discovery rates by integrated path stability selection.

        The units with a q-value of at most 0.1 are those to take if a tenth of what is taken may
        be false; those with an efp score of at most 1, if one unit may be.

        Parameters
        ----------
        power : {1, 2, 3}
            Of ``2 frequency - 1``: see the notes.
        cutoff : float
            Sizes are looked at while the mean bound is at most this, above 0.
        independent_pairs : int
            Independent pairs that all of them count as, at most: see the notes.

        Returns
        -------
        frame, in the library of the data
            One row per unit that is not kept, by rising efp score: ``term``; ``efp``, the expected
            number of units without signal that are selected if this one and all above it are;
            ``q_value``, the least false discovery rate at which it is selected, in (0, 1];
            ``selected`` (in the fit).

        Raises
        ------
        OptionError
            If an argument is not allowed.
        StabilityError
            If the paths of the resamples were not followed, or these are not whole complementary
            pairs.

        Notes
        -----
        Integrated path stability selection [1]_, [2]_ with the number of units k as tuning value,
        which every method has: of the sets of sizes 1 to K on both halves of each split the
        frequencies f(k) are known. A unit's score is the mean over the sizes of
        ``max(2 f(k) - 1, 0) ** power``, and its efp score the mean bound on the sum of that over
        all units without signal (:func:`treeselect.resampling.false_positives.size_bound`),
        divided by the score. K is the largest at which the mean bound is at most `cutoff`, as far
        as the paths were followed. The q-value is the least, over thresholds that the efp score
        reaches, of the expected number of false units by the number selected.

        It is assumed that on half of the rows no unit without signal is selected with a greater
        chance than a unit drawn at random; near copies of units with signal are, and so may be
        units of other prices, or with more levels. With power 1 that is all. For powers 2 and 3 it
        is assumed in [1]_ and [2]_, too, that pairs are independent of each other. They are splits
        of the same rows, and what looks strong by chance in all of these does in most halves: with
        power 3 and the cutoff 0.05, as [2]_ does for trees, a ranking by correlation found units at
        q = 0.1 in 18 of 20 data sets of pure noise; with power 2 the more pairs there are, the more
        is false. Here they count as at most 25, whatever their number: chosen in simulations, in
        which the rate held for that ranking, the lasso, mRMR and boosted stumps, where columns were
        independent (``benchmarks/results/qvalues.md``).

        References
        ----------
        .. [1] O. Melikechi, J. W. Miller (2025). Integrated path stability selection. Journal of
           the American Statistical Association.
        .. [2] O. Melikechi, D. B. Dunson, J. W. Miller (2025). Nonparametric IPSS: fast, flexible
           feature selection with false discovery control. Bioinformatics 41, btaf299.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
        >>> fit = fit.resample(20, scheme="complementary", path=True)
        >>> print(fit.stability.q_values().head(1)["term"][0])
        sex
        """
        return in_library(self.q_value_table(power, cutoff, independent_pairs), self.library)

    def q_value_table(
        self, power: int = POWER, cutoff: float = CUTOFF, independent_pairs: int = PAIRS
    ) -> pd.DataFrame:
        """:meth:`q_values` as a pandas frame."""
        import pandas as pd

        efp = efp_of(self, power, cutoff, independent_pairs)
        judged = np.flatnonzero(self.assessed)
        frame = pd.DataFrame(
            {
                "term": [self.units[unit] for unit in judged],
                "efp": efp,
                "q_value": q_values_of(efp),
                "selected": self.fitted[judged],
            }
        )
        return frame.sort_values(["efp", "term"], ignore_index=True)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Places of the selection that units hold in turn, because one can stand for another.

        Units any two of which have an association of at least 0.5 in the data, and of which at
        least 80% of the resamples selected exactly one: a unit of the fit, and those of its
        :attr:`substitutes` that are associated with it and with each other. Places that overlap
        are one, or none if that does not pass. A model without its data has those that it had.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, k=3, seed=1, n_trees=50)
        >>> (place,) = fit.resample(10).stability.places
        >>> set(place.units) <= {"age", "femur", "height", "tibia", "weight"}
        True
        """
        found = [
            place_of(self.units, self.selected, cluster, strength)
            for cluster, strength in self._clusters()
        ]
        return tuple(place for place in found if place is not None)

    @property
    def place_members(self) -> tuple[tuple[tuple[int, ...], float], ...]:
        """Numbers of the units of each of :attr:`places`, and their least association."""
        number = {unit: n for n, unit in enumerate(self.units)}
        return tuple(
            (tuple(sorted(number[unit] for unit in place.units)), place.association)
            for place in self.places
        )

    def _clusters(self) -> tuple[tuple[tuple[int, ...], float], ...]:
        """What may hold a place, with the least association."""
        if self.association is None:
            return self.measured_places
        measure = self.association

        def strength(unit: int, other: int) -> float:
            return measure(self.units[unit], self.units[other])

        found = associated_clusters(self._replaced(), strength)
        return tuple((cluster, least_association(cluster, strength)) for cluster in found)

    @property
    def substitutes(self) -> Any:
        """What stood in for the fitted units where these were missing, and how alike they are.

        A unit is listed for each fitted one that at least a twentieth of the resamples missed, if
        it is not in the fit, came in at least a tenth of those resamples, and more often there than
        in the others.

        Returns
        -------
        frame, in the library of the data
            One row per pair: ``term``, in the fit; ``substitute``; ``n_without``, resamples that
            did not select the term; ``share``, of those that selected the substitute;
            ``share_otherwise``, of the others (missing where there are none); ``association`` of
            the two in the data, in [0, 1] (rank correlation, correlation ratio or Cramer's V; of
            units with several columns the strongest; missing in a model without its data).

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="importance", k=2, seed=1)
        >>> table = fit.resample(20).stability.substitutes
        >>> list(table)
        ['term', 'substitute', 'n_without', 'share', 'share_otherwise', 'association']
        """
        return in_library(self.substitute_table(), self.library)

    def substitute_table(self) -> pd.DataFrame:
        """:attr:`substitutes` as a pandas frame."""
        import pandas as pd

        rows = []
        for unit, others in self._replaced():
            without = ~self.selected[:, unit]
            for other in others:
                beside = self.selected[~without, other]
                names = self.units[unit], self.units[other]
                rows.append(
                    (
                        *names,
                        int(without.sum()),
                        float(self.selected[without, other].mean()),
                        float(beside.mean()) if len(beside) else np.nan,
                        np.nan if self.association is None else self.association(*names),
                    )
                )
        columns = ["term", "substitute", "n_without", "share", "share_otherwise", "association"]
        return pd.DataFrame(rows, columns=columns)

    def _replaced(self) -> list[tuple[int, NDArray[np.intp]]]:
        """Fitted units that were missing often enough, each with those that stood in for it."""
        found = []
        for unit in np.flatnonzero(self.fitted & self.assessed):
            without = ~self.selected[:, unit]
            n_without = int(without.sum())
            if n_without == 0 or n_without < _FEW * len(without):
                continue
            rate_without = self.selected[without].mean(axis=0)
            rate_with = self.selected[~without].mean(axis=0) if n_without < len(without) else 0.0
            others = np.flatnonzero(
                (rate_without >= 0.1) & (rate_without > rate_with) & ~self.fitted
            )
            others = others[np.argsort(-rate_without[others], kind="stable")]
            if len(others):
                found.append((int(unit), others))
        return found
