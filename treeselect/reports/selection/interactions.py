"""How far the effect of a term depends on another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.printing import decimal_text, interval_text, significant_text
from treeselect.reports.figures.bars import BarFigure, bar_figure
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.results.interactions import (
    are_kept,
    interaction_table,
    interval_note,
    strength_texts,
)

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class InteractionSection:
    """Strengths of interactions: a note on their intervals, empty without any, a figure, and the
    same as a table."""

    note: str
    figure: BarFigure
    table: Table


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
    return InteractionSection(
        interval_note(shown), figure, _as_table(shown, len(table) - len(pairs))
    )


def _as_table(shown: pd.DataFrame, more: int) -> Table:
    columns = ("Terms", "Size", "Strength", "95% interval")
    rows = [
        (
            f"{row['term']} × {row['other']}",
            significant_text(row["size"], 3),
            decimal_text(row["strength"], 2),
            "" if np.isnan(row["low"]) else interval_text(row["low"], row["high"]),
        )
        for row in shown.to_dict("records")
    ]
    width = 4 if shown["low"].notna().any() else 3
    return Table(columns[:width], tuple(row[:width] for row in rows), more)
