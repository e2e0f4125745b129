"""What sections are gathered from: a fit or a comparison, and what several sections read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from treeselect.comparison.lines import ScoreLine, score_lines
from treeselect.printing import SummaryContent
from treeselect.results.effects import effect_table
from treeselect.results.summary import summarise

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.comparison.record import Contest
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance


_MOST_EFFECTS = 12
"""Terms whose effects are read for the page, where none are kept."""


@dataclass(frozen=True)
class FitMaterial:
    """Of a report on a selection.

    Attributes
    ----------
    fit : Fit
        As it is shown, under labels.
    performance : Performance or None
        Of this fit.
    coefficients : CoefficientStability or None
        Of this fit.
    versions : mapping of str to str
        Of the software.
    written : str
        Date and time of writing.
    names : tuple of (str, str)
        Names and labels of what is shown under a label, columns and terms.
    whole : bool
        Whether each section says all that it has, although others say it, too: it is not known
        which of them the page shows.
    """

    fit: Fit
    performance: Performance | None
    coefficients: CoefficientStability | None
    versions: Mapping[str, str]
    written: str
    names: tuple[tuple[str, str], ...] = ()
    whole: bool = False

    @cached_property
    def summary(self) -> SummaryContent:
        """What the printed summary says."""
        return summarise(self.fit)

    @cached_property
    def effects(self) -> pd.DataFrame | None:
        """Effects of the most important terms; None without the data or kept effects."""
        fit = self.fit
        if not fit.selected or (fit.effect_record is None and not fit.design.has_data):
            return None
        return effect_table(fit, _MOST_EFFECTS)

    @cached_property
    def terms_have_effects(self) -> bool:
        """Whether the table of terms alone tells the effects: it has all that there is of them, as
        no term has several steps, and none an interval."""
        found = self.effects
        if self.whole or found is None:
            return False
        return found["term"].is_unique and bool(found["low"].isna().all())


@dataclass(frozen=True)
class ContestMaterial:
    """Of a report on a comparison.

    Attributes
    ----------
    found : Contest
        As it is shown, under labels.
    versions : mapping of str to str
        Of the software.
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
        """A row for each method, the best scores first."""
        return self.found.ranked_table()

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Of each other method from the best."""
        return self.found.difference_table()

    @cached_property
    def lines(self) -> Sequence[ScoreLine]:
        """Methods along their sizes, the best scores first."""
        return score_lines(self.found)
