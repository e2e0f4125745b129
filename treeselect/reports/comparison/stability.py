"""Stability against the number of terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.comparison.lines import MOST_LINES
from treeselect.printing import decimal_text
from treeselect.reports.by_size import line_series, table_by_size
from treeselect.reports.figures.series import SeriesFigure, series_figure
from treeselect.reports.material import ContestMaterial
from treeselect.reports.parts import Table
from treeselect.resampling.nouns import noun_of


@dataclass(frozen=True, slots=True)
class StabilitySection:
    """Lines over the number of terms, how to read them, and their numbers."""

    lead: str
    figure: SeriesFigure
    table: Table


def gather(material: ContestMaterial) -> StabilitySection | None:
    """Stability of each method at each size; None if it is undefined everywhere."""
    found, lines = material.found, material.lines
    shown = [
        line_series(line, i, [p.stability for p in line.points], [np.nan] * len(line.points))
        for i, line in enumerate(lines[:MOST_LINES])
        if any(np.isfinite(p.stability) for p in line.points)
    ]
    if not shown:
        return None
    lead = (
        "Nogueira's index over the folds (1: identical selections; 0: no better than chance). It is"
        f" undefined where every fold selects all {noun_of(found.terms_of_unit, 2)} or none."
    )
    table = table_by_size(found, lines, lambda row: decimal_text(row["stability"], 2, missing="–"))
    figure = series_figure(
        shown, max(len(lines) - MOST_LINES, 0), bounds=(-1.0, 1.0), cover=(0.0, 1.0)
    )
    return StabilitySection(lead, figure, table)
