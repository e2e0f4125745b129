"""The direction, size and uncertainty of the effect of each term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, Table
from treeselect.results.effects import effect_cells, interval_notes, meaning_of_effects

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit


@dataclass(frozen=True, slots=True)
class EffectSection:
    """Effects of terms: what they are, and a table."""

    lead: str
    table: Table


def gather(material: FitMaterial) -> EffectSection | None:
    """Effects of the most important terms; None without the data or stored effects, or where the
    table of terms already shows them all."""
    fit, found = material.fit, material.effects
    if found is None or material.terms_have_effects:
        return None
    intervals = interval_notes(fit.effect_record)
    lead = [*effect_meaning(fit, found), *intervals]
    cells = effect_cells(found)
    rows = [
        (own.term, own.step, own.change, *([own.interval] if intervals else []), own.direction)
        for own in cells[:MOST_ROWS]
    ]
    columns = ("Term", "Step", "Change", *(["2.5 to 97.5%"] if intervals else []), "Direction")
    return EffectSection(" ".join(lead), Table(columns, tuple(rows), len(cells) - len(rows)))


def effect_meaning(fit: Fit, found: pd.DataFrame) -> list[str]:
    """What the effects are, and how to get intervals where none are stored."""
    said = [meaning_of_effects(fit, found)]
    if fit.effect_record is None:
        said.append("`fit.resample(100, effects=True)` adds intervals.")
    return said
