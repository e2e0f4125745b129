"""The input of sections: a fit or a comparison, and derived tables that several sections use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from treeselect.comparison.methods import ScoreLine, score_lines
from treeselect.printing import SummaryContent
from treeselect.results.effects import effect_table
from treeselect.results.summary import summarise

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.comparison.record import Contest
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance
    from treeselect.results.refitting import GlmFit


_MOST_EFFECTS = 12
"""Terms whose effects are computed for the page, if none are stored."""


@dataclass(frozen=True)
class FitMaterial:
    """Material of a report on a selection.

    Attributes
    ----------
    fit : Fit
        As it is shown, under labels.
    performance : Performance or None
        Performance of this fit.
    coefficients : CoefficientStability or None
        Coefficients of this fit on resamples.
    versions : mapping of str to str
        Versions of the software.
    written : str
        Date and time of writing.
    names : tuple of (str, str)
        Names and labels of what is shown under a label, columns and terms.
    whole : bool
        Whether each section is complete even where it repeats others, because the page may show
        any of them.
    linear : GlmFit or None
        Linear model of this fit.
    """

    fit: Fit
    performance: Performance | None
    coefficients: CoefficientStability | None
    versions: Mapping[str, str]
    written: str
    names: tuple[tuple[str, str], ...] = ()
    whole: bool = False
    linear: GlmFit | None = None

    @cached_property
    def summary(self) -> SummaryContent:
        """The content of the printed summary."""
        return summarise(self.fit)

    @cached_property
    def effects(self) -> pd.DataFrame | None:
        """Effects of the most important terms; None without the data or stored effects."""
        fit = self.fit
        if not fit.selected or (fit.effect_record is None and not fit.design.has_data):
            return None
        return effect_table(fit, _MOST_EFFECTS)

    @cached_property
    def terms_have_effects(self) -> bool:
        """Whether the table of terms shows all effects: no term has several steps, and none has an
        interval."""
        found = self.effects
        if self.whole or found is None:
            return False
        return found["term"].is_unique and bool(found["low"].isna().all())


@dataclass(frozen=True)
class ContestMaterial:
    """Material of a report on a comparison.

    Attributes
    ----------
    found : Contest
        As it is shown, under labels.
    versions : mapping of str to str
        Versions of the software.
    written : str
        Date and time of writing.
    names : tuple of (str, str)
        Names and labels of what is shown under a label.
    """

    found: Contest
    versions: Mapping[str, str]
    written: str
    names: tuple[tuple[str, str], ...] = ()

    @cached_property
    def ranked(self) -> pd.DataFrame:
        """A row for each method, best score first."""
        return self.found.ranked_table()

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Differences of the other methods from the best."""
        return self.found.difference_table()

    @cached_property
    def lines(self) -> Sequence[ScoreLine]:
        """Scores of methods by number of terms, best method first."""
        return score_lines(self.found)
