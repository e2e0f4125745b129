"""How far the effect of a term depends on another."""

from __future__ import annotations

from treeselect.reports.figures.bars import BarFigure, bar_figure
from treeselect.reports.figures.labels import distinct
from treeselect.reports.material import FitMaterial
from treeselect.results.shapes import interaction_table

MOST_PAIRS = 10


def gather(material: FitMaterial) -> BarFigure | None:
    """Strengths of the strongest pairs; None without the data, or a pair."""
    if not material.fit.design.has_data:
        return None
    table = interaction_table(material.fit)
    if table.empty:
        return None
    pairs = list(zip(table["term"], table["other"], strict=True))[:MOST_PAIRS]
    terms = list(dict.fromkeys(name for pair in pairs for name in pair))
    short = dict(zip(terms, distinct(terms, 5.7), strict=True))
    return bar_figure(
        names=[f"{a} × {b}" for a, b in pairs],
        values=table["strength"].head(MOST_PAIRS).to_list(),
        more=len(table) - len(pairs),
        labels=[f"{short[a]} × {short[b]}" for a, b in pairs],
        full=1.0,
    )
