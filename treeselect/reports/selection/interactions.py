"""How far the effect of a term depends on another."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.figures.bars import BarFigure, bar_figure
from treeselect.reports.material import FitMaterial
from treeselect.results.interactions import (
    are_kept,
    interaction_table,
    interval_note,
    strength_texts,
)

MOST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class InteractionSection:
    """Strengths of interactions: a note on their intervals, empty without any, and a figure."""

    note: str
    figure: BarFigure


def gather(material: FitMaterial) -> InteractionSection | None:
    """Strengths of the strongest pairs; None without a pair, or without data or stored
    strengths."""
    if not (material.fit.design.has_data or are_kept(material.fit)):
        return None
    table = interaction_table(material.fit)
    if table.empty:
        return None
    shown = table.head(MOST_PAIRS)
    pairs = list(zip(shown["term"], shown["other"], strict=True))
    figure = bar_figure(
        names=[f"{a} × {b}" for a, b in pairs],
        values=shown["size"].to_list(),
        more=len(table) - len(pairs),
        parts=[(f"{a} ×", b) for a, b in pairs],
        texts=strength_texts(shown),
    )
    return InteractionSection(interval_note(shown), figure)
