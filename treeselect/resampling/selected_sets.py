"""Tables of the sets and pairs of units that the resamples selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import MOST_RESAMPLES, check_count, check_share
from treeselect.frames.libraries import in_library
from treeselect.resampling.agreement import correlated_index
from treeselect.resampling.model_frequencies import distinct_sets
from treeselect.resampling.pairs import co_selection, pairs_of
from treeselect.resampling.resampled import Resampled

if TYPE_CHECKING:
    import pandas as pd

PAIR_LEVEL = 0.01
"""Level of the test of a pair, that of Heinze and others (2018)."""

_SIGNS = np.array(["-", "", "+"], dtype=object)


@dataclass(frozen=True, slots=True)
class SelectedSets(Resampled):
    """Selections on resamples as sets and pairs of units."""

    @property
    def correlated_index(self) -> float:
        """Stability index that allows for association between units.

        The index of Sechidis and others (2020) over the units that are not forced in, with the
        association of two units in the data as their similarity (see :attr:`substitutes`). It is
        at most 1, and equal to Nogueira's :attr:`index` if no two units are associated; NaN if it
        is not defined (see `treeselect.resampling.agreement.correlated_index`). A model without
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
        """Model frequencies: how often each set of units was selected.

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

        References
        ----------
        .. [1] G. Heinze, C. Wallisch, D. Dunkler (2018). Variable selection: A review and
           recommendations for the practicing statistician. Biometrical Journal 60, 431-449.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="importance", k=1, seed=1)
        >>> int(fit.resample(20).stability.models()["count"].sum())
        20
        """
        return in_library(self.model_table(n), self.library)

    def model_table(self, n: int | None = 10) -> pd.DataFrame:
        """:meth:`models` as a pandas frame."""
        import pandas as pd

        most = None if n is None else check_count("n", n, least=1, most=MOST_RESAMPLES)
        sets, counts = distinct_sets(self.selected)
        names, order = np.array(self.units, dtype=object), self._by_frequency()
        own = (sets == self.fitted).all(axis=1)
        shown = np.ones(len(sets), dtype=bool) if most is None else np.arange(len(sets)) < most
        shown |= own
        share = counts / self.n_resamples
        return pd.DataFrame(
            {
                "terms": [tuple(names[order][row[order]]) for row in sets[shown]],
                "size": sets[shown].sum(axis=1),
                "count": counts[shown],
                "frequency": share[shown],
                "cumulative": (np.cumsum(counts) / self.n_resamples)[shown],
                "selected": own[shown],
            }
        )

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
        >>> fit = treeselect.select("survived ~ .", data, method="importance", k=2, seed=1)
        >>> list(fit.resample(20).stability.pairs())
        ['term', 'other', 'together', 'expected', 'ratio', 'sign', 'p_value']
        """
        return in_library(self.pair_table(level), self.library)

    def pair_table(self, level: float = PAIR_LEVEL) -> pd.DataFrame:
        """:meth:`pairs` as a pandas frame."""
        import pandas as pd

        level = check_share("level", level)
        order = self._by_frequency()
        found = pairs_of(self.selected[:, order])
        names = np.array(self.units, dtype=object)[order]
        frame = pd.DataFrame(
            {
                "term": names[found.first],
                "other": names[found.second],
                "together": found.together,
                "expected": found.expected,
                "ratio": found.together / found.expected,
                "sign": _SIGNS[found.signs(level) + 1],
                "p_value": found.p_value,
            }
        )
        return frame.sort_values("p_value", kind="stable", ignore_index=True)

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
        >>> fit = treeselect.select("survived ~ .", data, method="importance", k=1, seed=1)
        >>> fit.resample(20).stability.co_selection().shape
        (9, 9)
        """
        import pandas as pd

        order = self._by_frequency()
        names = [self.units[g] for g in order]
        return pd.DataFrame(co_selection(self.selected[:, order]), names, names)

    def _by_frequency(self) -> Any:
        """Numbers of the units, the most frequent first, then by name."""
        count = self.selected.sum(axis=0)
        return np.array(sorted(range(len(self.units)), key=lambda g: (-count[g], self.units[g])))
