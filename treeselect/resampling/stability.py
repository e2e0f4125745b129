"""Stability of the selection on resamples: frequencies, an index, and error control."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeselect import printing
from treeselect.printing.numbers import span
from treeselect.resampling import error_bounds
from treeselect.resampling.agreement import Clusters, Place, associated_clusters, place_of
from treeselect.resampling.records import stopped
from treeselect.resampling.resampled import Resampled
from treeselect.shown import shown


@dataclass(frozen=True, repr=False, eq=False)  # no slots: places are cached
class Stability(printing.Summarised, Resampled):
    """Stability of a selection: selection frequencies, agreement and error control.

    Its attributes are those of :class:`treeselect.resampling.resampled.Resampled`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> stability = fit.resample(10).stability
    >>> stability.n_resamples
    10
    >>> list(stability.tidy().columns)
    ['term', 'frequency', 'ci_low', 'ci_high', 'selected']
    """

    def pfer(
        self, threshold: float = 0.75, assumption: error_bounds.Assumption = "none"
    ) -> error_bounds.ErrorBound:
        """Bound on the expected number of false selections above a frequency threshold (PFER).

        Parameters
        ----------
        threshold : float
            Above 0.5, at most 1. Values between 0.6 and 0.9 are usual.
        assumption : {"none", "r-concave"}
            About the distribution of the frequencies of units without signal. ``"r-concave"``
            gives a tighter bound, and needs ``scheme="complementary"``.

        Returns
        -------
        ErrorBound
            ``.bound``, ``.units`` (those at or above the threshold), ``.q``, ``.p``,
            ``.threshold``.

        Raises
        ------
        OptionError
            If an argument is not allowed, or the threshold is too low for the assumption.
        StabilityError
            For bootstrap resamples, if a tuning parameter determined the number of units, and for
            a scheme to which the assumption does not apply.

        Notes
        -----
        On each subsample of half the rows, q of p units are selected; units that are forced in
        count in neither. ``"none"`` is theorem 1 of [1]_: q^2 / ((2 threshold - 1) p), for the
        average over all subsamples, if units without signal are exchangeable and the method is no
        worse than random guessing. ``"r-concave"`` is equation 8 of [2]_, for any number of
        complementary pairs. In [2]_, and for ``"none"`` with pairs, exchangeability is not
        needed if "false" means "selected on half of the rows with probability at most q / p".
        Unequal costs violate exchangeability too. See
        :mod:`treeselect.resampling.error_bounds`.

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
        >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=1, seed=1)
        >>> bound = fit.resample(10, scheme="complementary").stability.pfer(0.8)
        >>> bound.units, bound.q, bound.p, round(bound.bound, 2)
        (('sex',), 1, 9, 0.19)
        """
        return error_bounds.error_bound(self, threshold, assumption)

    def path(self) -> Any:
        """Selection frequencies along the path: by the number of units requested.

        Returns
        -------
        frame, in the library of the data
            One row per number of units and unit that any resample selected, in decreasing order of
            mean frequency: ``k``, the largest number of units that a resample could select,
            including those forced in; ``term``; ``frequency``, in [0, 1].

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
        path = error_bounds.followed(self, "selection frequencies along the path")
        order = path.order(self.units, np.zeros(len(self.units), dtype=bool))
        names = np.array([self.units[g] for g in order], dtype=object)
        table = {
            "k": np.tile(path.sizes, len(order)),
            "term": np.repeat(names, len(path.sizes)),
            "frequency": path.frequency[:, order].T.ravel(),
        }
        return self._frame(pd.DataFrame(table))

    def q_values(self) -> Any:
        """False discovery rates by integrated path stability selection.

        Select the units with a q-value of at most 0.1 to control the false discovery rate at 10%,
        and those with an efp score of at most 1 to expect at most one false selection.

        Returns
        -------
        frame, in the library of the data
            One row per unit that is not forced in, in increasing order of efp score: ``term``;
            ``efp``, the expected number of false positives if this unit and all above it are
            selected; ``q_value``, the smallest false discovery rate at which it is selected, in
            (0, 1]; ``selected`` (by the fit).

        Raises
        ------
        StabilityError
            If the paths of the resamples were not followed, or the resamples are not complete
            complementary pairs.

        Notes
        -----
        This is integrated path stability selection [1]_, [2]_ with the number of units k as the
        tuning parameter, which every method has. Let f(k) be the selection frequency of a unit in
        the sets of size k, over both halves of all splits. Its score is the mean over k = 1 to K of
        ``max(2 f(k) - 1, 0) ** 2``. Its efp score is the mean bound on the sum of that term
        over all units without signal (:func:`treeselect.resampling.error_bounds.size_bound`),
        divided by the score. K is the largest size on the paths at which the mean bound is at most
        0.05. The q-value is the minimum, over thresholds that the efp score reaches, of the ratio
        of expected false positives to the number selected.

        The assumption is that, on half of the rows, no unit without signal is selected with a
        higher probability than a unit drawn at random. Near-duplicates of units with signal violate
        it, and units with other costs or more levels may. [1]_ and [2]_ also assume that pairs are
        independent. But pairs are splits of the same rows: an association that is strong by chance
        in all rows is strong in most halves. With power 3, the choice of [2]_ for trees, a ranking
        by correlation found units at q = 0.1 in 18 of 20 data sets of pure noise; with power 2,
        false positives increase with the number of pairs. Here pairs count as at most 25
        independent ones, a number chosen in simulations in which the rate held for this ranking,
        the lasso, mRMR and boosted stumps with independent columns
        (``benchmarks/results/qvalues.md``).

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
        efp = error_bounds.efp_of(self)
        judged = np.flatnonzero(self.assessed)
        frame = pd.DataFrame({
            "term": [self.units[unit] for unit in judged], "efp": efp,
            "q_value": error_bounds.q_values_of(efp), "selected": self.fitted[judged],
        })  # fmt: skip
        return self._frame(frame.sort_values(["efp", "term"], ignore_index=True))

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Sets of interchangeable units: at least 80% of resamples selected exactly one of a set.

        A set consists of a unit of the fit and those of its :attr:`substitutes` that are associated
        with it and with one another: each pair has an association of at least 0.5 in the data. Sets
        that overlap are merged, and dropped if the union fails the 80% rule. A model without its
        data has the sets that were found before.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data[::2], method="lasso", k=3, seed=1)
        >>> (place,) = fit.resample(10).stability.places
        >>> set(place.units) <= {"age", "femur", "height", "tibia", "weight"}
        True
        """
        clusters = self.measured_places
        if (measure := self.association) is not None:
            names = self.units
            clusters = associated_clusters(
                self._replaced(), lambda unit, other: measure(names[unit], names[other])
            )
        found = [place_of(self.units, self.selected, *cluster) for cluster in clusters]
        return tuple(place for place in found if place is not None)

    @property
    def place_members(self) -> Clusters:
        """Numbers of the units of each of :attr:`places`, and their lowest association."""
        return tuple(
            (tuple(sorted(map(self.units.index, place.units))), place.association)
            for place in self.places
        )

    @property
    def substitutes(self) -> Any:
        """Units by which a unit of the fit was replaced on resamples that did not select it.

        A substitute is listed for each unit of the fit that at least 5% of the resamples missed. It
        is not in the fit, and was selected in at least 10% of those resamples, and more often there
        than in the others.

        Returns
        -------
        frame, in the library of the data
            One row per pair: ``term``, in the fit; ``substitute``; ``n_without``, the number of
            resamples that did not select the term; ``share``, the proportion of these that selected
            the substitute; ``share_otherwise``, the proportion of the other resamples that did
            (missing if there are none); ``association`` of the two in the data, in [0, 1]: rank
            correlation, correlation ratio or Cramer's V, for units with several columns the
            strongest.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
        >>> table = fit.resample(20).stability.substitutes
        >>> list(table)
        ['term', 'substitute', 'n_without', 'share', 'share_otherwise', 'association']
        """
        rows: list[tuple[Any, ...]] = []
        known = self.measured_associations
        for unit, others in self._replaced():
            without = ~self.selected[:, unit]
            for other in others:
                names = self.units[unit], self.units[other]
                share = float(self.selected[without, other].mean())
                beside = self.selected[~without, other]
                otherwise = float(beside.mean()) if len(beside) else np.nan
                if self.association is not None:
                    strength = self.association(*names)
                else:  # as it was in this row when the model was saved
                    strength = known[len(rows)] if len(rows) < len(known) else np.nan
                rows.append((*names, int(without.sum()), share, otherwise, strength))
        columns = ["term", "substitute", "n_without", "share", "share_otherwise", "association"]
        return self._frame(pd.DataFrame(rows, columns=columns))

    def _replaced(self) -> list[tuple[int, NDArray[np.intp]]]:
        """Units of the fit that enough resamples missed, each with its substitutes."""
        found = []
        for unit in np.flatnonzero(self.fitted & self.assessed):
            without = ~self.selected[:, unit]
            n_without = int(without.sum())
            if n_without == 0 or n_without < 0.05 * len(without):
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

    def _content(self) -> printing.SummaryContent:
        stability = self._in_labels()
        table = stability.in_pandas.tidy()
        kept = dict(zip(stability.units, self.kept.tolist(), strict=True))
        rows = []
        for row in table.head(printing.MOST_ROWS).to_dict("records"):
            told = (
                printing.decimal_text(row["frequency"], 2),
                printing.interval_text(row["ci_low"], row["ci_high"]),
            )
            cells = (BY_REQUEST, "") if kept[row["term"]] else told
            rows.append((str(row["term"]), *cells, "yes" if row["selected"] else "no"))
        more = len(table) - len(rows)
        return printing.SummaryContent(
            title="Stability of the selection",
            facts=_facts(stability),
            columns=(self.one.capitalize(), "Frequency", "95% interval", "Selected"),
            rows=tuple(rows),
            notes=(
                *stopped(self, self.n_resamples, "resamples"),
                *([f"{printing.count_text(more)} more in `.tidy()`."] if more > 0 else []),
                f"Frequency: share of resamples that selected the {self.one}, with Wilson's"
                " interval. Stability index: Nogueira, Sechidis and Brown (2018), with its Monte"
                " Carlo interval.",
            ),
        )

    def __repr__(self) -> str:
        title, *facts = _facts(self._in_labels())
        bound = ", .pfer()" if error_bounds.no_bound(self) is None else ""
        lines = [
            f"Stability on {title[1]}",
            *(f"  {name}: {value}" for name, value in facts),
            f"  More: .summary(), .tidy(), .substitutes, .models(), .pairs(){bound}",
        ]
        return "\n".join(map(shown, lines))

    def _in_labels(self) -> Stability:
        units = tuple(self.labels.get(name, name) for name in self.units)
        return dataclasses.replace(self, units=units)


# --- words ---------------------------------------------------------------------------------------

BY_REQUEST = "forced in"
"""In place of the frequency of a unit that `keep=` forces into each selection."""


def _facts(stability: Stability) -> tuple[tuple[str, str], ...]:
    sizes = stability.selected.sum(axis=1)
    fixed = "fixed at " if stability.fixed_size and sizes.min() == sizes.max() else ""
    return (
        ("Resamples", stability.words),
        (
            f"Number of {stability.one}s (k)",
            f"{fixed}{span(sizes)} of {printing.count_text(len(stability.units))}",
        ),
        ("Selected by the fit", _named(stability, stability.fitted)),
        ("Most frequent others", _named(stability, ~stability.fitted & ~stability.kept)),
        ("Stability index", index_words(stability)),
    )


def _named(stability: Stability, which: np.ndarray) -> str:
    """Units with their frequencies, the most frequent first, without the never selected."""
    frequency = stability.frequency
    which = which & ((frequency > 0) | stability.fitted)
    told = np.where(stability.kept, BY_REQUEST, [*map(printing.percent_text, frequency)])
    names = [f"{stability.units[u]} ({told[u]})" for u in stability._by_frequency() if which[u]]
    return printing.enumeration(names, 6) if names else "none"


def each_selected_all(stability: Stability) -> bool:
    """Whether each resample selected every unit that was not forced in and can be selected."""
    return bool(stability.selected[:, stability.assessed].all())


def index_words(stability: Stability) -> str:
    """The stability index with its interval, or why there is none."""
    index, (low, high) = stability.index, stability.index_ci
    if not np.isfinite(index):
        why = f"every resample selected all {stability.one}s that it could"
        if not each_selected_all(stability):
            others = " that was not forced in" * bool(stability.kept.any())
            why = f"no resample selected a {stability.one}{others}"
        return f"not defined: {why}"
    found = f"{printing.decimal_text(index, 2)} (95% interval {printing.interval_text(low, high)})"
    return f"{found}; 1 means identical selections, 0 agreement by chance alone"
