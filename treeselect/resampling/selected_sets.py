"""Which sets and which pairs of units the resamples selected, as tables."""

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
"""Level at which a pair counts as selected more or less often than by chance, that of Heinze and
others (2018)."""

_SIGNS = np.array(["-", "", "+"], dtype=object)


@dataclass(frozen=True, slots=True)
class SelectedSets(Resampled):
    """Selections on resamples as sets and pairs of units."""

    @property
    def correlated_index(self) -> float:
        """Stability index in which units that resemble each other stand for each other.

        That of Sechidis and others (2020), over the units that are not kept. Two units are as
        alike as their association in the data says (see :attr:`substitutes`). At most 1, and
        Nogueira's :attr:`index` where no two are associated; missing where it is not defined (see
        `treeselect.resampling.agreement.correlated_index`). A model without its data has what its
        summary told before, if it told any.
        """
        if self.similarity is None:
            return self.measured_index
        free = self.assessed
        return correlated_index(self.selected[:, free], self.similarity()[np.ix_(free, free)])

    @property
    def n_models(self) -> int:
        """How many different sets the resamples selected."""
        return len(distinct_sets(self.selected)[0])

    @property
    def same_model(self) -> int:
        """How many resamples selected the set of the fit, no unit more and none less."""
        return int((self.selected == self.fitted).all(axis=1).sum())

    def models(self, n: int | None = 10) -> Any:
        """How often each set of units was selected: model frequencies.

        Parameters
        ----------
        n : int, optional
            How many of the sets, the most frequent first; None for all of them, of which there are
            :attr:`n_models`. The set of the fit is always among them if a resample selected it.

        Returns
        -------
        frame, in the library of the data
            One row per set: ``terms``, tuple of its units, the most frequent first, with those
            that are kept; ``size``, their number; ``count``, resamples that selected just these;
            ``frequency``, their share; ``cumulative``, that of this set and all more frequent ones;
            ``selected``, whether it is the set of the fit.

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
        """Which units were selected together more or less often than by chance.

        Parameters
        ----------
        level : float
            Above 0, below 1: of the test that decides on ``sign``.

        Returns
        -------
        frame, in the library of the data
            One row per pair of units that were neither always nor never selected, those that are
            least like chance first: ``term`` (the more frequent one) and ``other``; ``together``,
            share of the resamples that selected both; ``expected``, the product of their
            frequencies; ``ratio``, ``together / expected``; ``sign``, ``"+"`` if they come
            together more often than by chance, ``"-"`` if less often, as substitutes do, else
            ``""``; ``p_value`` of the chi-squared test of independence with Yates' correction.

        Raises
        ------
        OptionError
            If `level` is not allowed.

        Notes
        -----
        As in [1]_. The more resamples, the smaller the differences that are told: the p-value is
        about the resamples, not about other samples. Sets of one size make all pairs a little
        rarer than independent ones would be: what is in takes a place.

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
            A row and a column for each unit, by falling frequency; on the diagonal the
            frequencies. A pandas frame for data of any library, as its rows have names.

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
