"""Which way each term goes, how far, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, Table
from treeselect.results.effects import (
    effect_cells,
    effect_table,
    interval_notes,
    meaning_of_effects,
)

MOST_TERMS = 12
"""Terms whose effects are read for the page, where none are kept."""


@dataclass(frozen=True, slots=True)
class EffectSection:
    """Effects of terms: what they are, and a table."""

    lead: str
    table: Table


def gather(material: FitMaterial) -> EffectSection | None:
    """Effects of the most important terms; None without the data or kept effects."""
    fit = material.fit
    if not fit.selected or (fit.effect_record is None and not fit.design.has_data):
        return None
    found = effect_table(fit, MOST_TERMS)
    intervals = interval_notes(fit.effect_record)
    lead = [meaning_of_effects(fit, found), *intervals]
    if fit.effect_record is None:
        lead.append("`fit.resample(100, effects=True)` gives intervals.")
    cells = effect_cells(found)
    rows = [
        (own.term, own.step, own.change, *([own.interval] if intervals else []), own.direction)
        for own in cells[:MOST_ROWS]
    ]
    columns = ("Term", "Step", "Change", *(["2.5 to 97.5%"] if intervals else []), "Direction")
    return EffectSection(" ".join(lead), Table(columns, tuple(rows), len(cells) - len(rows)))
