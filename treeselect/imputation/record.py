"""Selections on several imputed frames, and their agreement on each term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import at_least, falling
from treeselect.resampling.agreement import clustered_interval, stability_index, wilson_interval
from treeselect.resampling.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Imputed:
    """Selections on imputed frames, and the selection that combines them.

    Attributes
    ----------
    fits : tuple of Fit
        The selection on each frame, all with the same seed.
    least_share : float
        Share of the imputations that must select a unit, above 0 and at most 1.
    resamples : int
        Number of resamples requested for each imputation.
    call, data : str
        The call, and a description of the frames.
    library : str
        Data frame library of the tables.
    unshown : tuple of str
        Arguments in whose place the call has their name only.
    """

    fits: Sequence[Fit]
    least_share: float
    resamples: int
    call: str
    data: str
    library: str = "pandas"
    unshown: tuple[str, ...] = ()

    @property
    def n_imputations(self) -> int:
        """Number of frames."""
        return len(self.fits)

    @property
    def seed(self) -> int:
        """Seed of all selections."""
        return self.fits[0].seed

    @property
    def needed(self) -> int:
        """Number of imputations that must select a unit."""
        counts = np.arange(1, self.n_imputations + 1)
        return int(counts[at_least(counts, self.least_share * self.n_imputations)][0])

    @property
    def chosen(self) -> BoolArray:
        """The selection of each imputation, shape (n_imputations, n_groups)."""
        return np.array([fit.step.selected for fit in self.fits])

    @property
    def counts(self) -> IntArray:
        """Number of imputations that selected each unit, shape (n_groups,)."""
        return np.asarray(self.chosen.sum(axis=0))

    @property
    def importance(self) -> FloatArray:
        """Mean importance of each unit over the imputations, 0 in those that did not select it,
        shape (n_groups,)."""
        return np.asarray(np.mean([fit.importance for fit in self.fits], axis=0))

    @property
    def kept(self) -> BoolArray:
        """Units that enough imputations selected, shape (n_groups,)."""
        return self.counts >= self.needed

    @property
    def groups(self) -> tuple[str, ...]:
        """Units that enough imputations selected, by number of imputations, then by importance."""
        names = self.fits[0].design.arrays.groups.names
        order = falling(self.importance)
        order = order[np.argsort(-self.counts[order], kind="stable")]
        return tuple(names[unit] for unit in order if self.kept[unit])

    @property
    def selected(self) -> tuple[str, ...]:
        """Terms that enough imputations selected, in the order of :attr:`groups`."""
        return self.fits[0].design.terms_of(self.groups)

    @property
    def formula(self) -> str:
        """The selection as a formula: ``'survived ~ sex + pclass'``."""
        return self.fits[0].design.spec.formula.text_of(self.selected)

    @property
    def index(self) -> float:
        """Nogueira's stability index over the imputations, for the units that are not forced in;
        NaN if every imputation selected all of these or none."""
        return stability_index(self.chosen[:, self._assessed])[0]

    @property
    def resample_index(self) -> float:
        """The same over all resamples of all imputations; NaN also without resamples."""
        if not (drawn := self._drawn):
            return float("nan")
        return stability_index(np.concatenate(drawn)[:, self._assessed])[0]

    @property
    def n_resampled(self) -> int:
        """Number of imputations that were resampled: those with a non-empty selection."""
        return len(self._drawn)

    @property
    def _assessed(self) -> BoolArray:
        return ~self.fits[0].design.arrays.groups.keep

    @property
    def _drawn(self) -> list[BoolArray]:
        """The selections on the resamples of each resampled imputation."""
        return [fit.resampled.selected for fit in self.fits if fit.resampled is not None]

    def frequencies(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Selection frequency of each unit over all resamples, and its interval, each (n_groups,).

        NaN if no imputation was resampled.
        """
        if not (drawn := self._drawn):
            nothing = np.full(len(self.importance), np.nan)
            return nothing, nothing, nothing
        shares = np.array([one.mean(axis=0) for one in drawn])
        n = len(drawn[0])
        if len(drawn) == 1:
            return shares[0], *wilson_interval(drawn[0].sum(axis=0), n)
        return np.asarray(shares.mean(axis=0)), *clustered_interval(shares, n)

    def tidy_table(self) -> pd.DataFrame:
        """One row per term (see ``ImputedSelection.tidy``)."""
        import pandas as pd

        design = self.fits[0].design
        groups = design.arrays.groups
        terms = [spec.term.name for spec in design.spec.terms]
        unit_of = groups.unit_of
        at = np.array([unit_of[term] for term in terms])
        frame = pd.DataFrame(
            {
                "term": terms,
                "group": np.array(groups.names, dtype=object)[at],
                "selected": self.kept[at],
                "imputations": self.counts[at],
                "share": self.counts[at] / self.n_imputations,
                "importance": self.importance[at],
            }
        )
        if self.resamples:
            columns = zip(("frequency", "ci_low", "ci_high"), self.frequencies(), strict=True)
            for name, values in columns:
                frame[name] = values[at]
        order = falling(self.importance[at])
        order = order[np.argsort(-self.counts[at][order], kind="stable")]
        return frame.iloc[order].reset_index(drop=True)

    def glance_table(self) -> pd.DataFrame:
        """One row for all imputations (see ``ImputedSelection.glance``)."""
        import pandas as pd

        first, sizes = self.fits[0], self.chosen.sum(axis=1)
        row = {
            "n": first.design.rows.used,
            "n_dropped": first.design.rows.no_response,
            "p": len(first.design.arrays.groups.names),
            "imputations": self.n_imputations,
            "least_share": self.least_share,
            "k": int(self.kept.sum()),
            "k_min": int(sizes.min()),
            "k_max": int(sizes.max()),
            "distinct": len(np.unique(self.chosen, axis=0)),
            "method": first.method,
            "family": first.family,
            "index": self.index,
            "resamples": self.resamples * self.n_resampled,
            "resample_index": self.resample_index,
            "seed": self.seed,
        }
        return pd.DataFrame([row])
