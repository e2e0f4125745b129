"""Paired differences from the best method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.comparison.words import difference_cells, size_text
from treeselect.reports.figures.differences import difference_figure
from treeselect.reports.figures.dots import DotFigure
from treeselect.reports.material import ContestMaterial
from treeselect.reports.parts import MOST_ROWS, MOST_UNITS, Table


@dataclass(frozen=True, slots=True)
class DifferenceSection:
    """Paired differences from the best method."""

    lead: str
    figure: DotFigure
    table: Table


def gather(material: ContestMaterial) -> DifferenceSection | None:
    """Differences from the best, smallest first; None for a single method."""
    found = material.found
    if len(found.runs) == 1:
        return None
    table = material.differences.sort_values("difference", ascending=False, kind="stable")
    shown = table.head(MOST_UNITS)
    figure = difference_figure(
        shown["method"].tolist(),
        shown["difference"].tolist(),
        shown["ci_low"].tolist(),
        shown["ci_high"].tolist(),
        len(table) - len(shown),
    )
    rows = tuple(
        (
            str(row["method"]),
            size_text(row["k"], np.nan),
            *difference_cells(row),
        )
        for row in table.head(MOST_ROWS).to_dict("records")
    )
    columns = ("Method", "k", "Difference", "95% interval", "p")
    lead = (
        f"{found.score_name} of each method minus {found.score_name} of {found.best}, paired by"
        " fold: mean and 95% interval. Filled dots: the interval excludes 0."
    )
    return DifferenceSection(lead, figure, Table(columns, rows, max(len(table) - MOST_ROWS, 0)))
