"""The selected terms, and the importances of their units."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.figures.bars import BarFigure, bar_figure
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_UNITS, Table
from treeselect.results.tables import importances_of, tidy_table


@dataclass(frozen=True, slots=True)
class TermsSection:
    """Selected terms.

    Attributes
    ----------
    table : Table
    importance : BarFigure
    note : str
        What the importances are shares of.
    grouped : bool
        Whether terms share a unit.
    """

    table: Table
    importance: BarFigure
    note: str
    grouped: bool


def gather(material: FitMaterial) -> TermsSection:
    """The table of the summary, and the importances."""
    fit = material.fit
    units = fit.groups[:MOST_UNITS]
    return TermsSection(
        table=_table(material),
        importance=bar_figure(
            names=units, values=importances_of(fit, units), more=len(fit.groups) - len(units)
        ),
        note=fit.model.importance_note,
        grouped="Group" in material.summary.columns,
    )


def _table(material: FitMaterial) -> Table:
    columns, rows = material.summary.columns, material.summary.rows
    tidy = tidy_table(material.fit)
    importance = tidy.loc[tidy["selected"], "importance"].head(len(rows)).to_numpy()
    largest = importance.max(initial=0.0) or 1.0
    return Table(
        columns,
        rows,
        len(material.fit.selected) - len(rows),
        bar_column=columns.index("Importance"),
        bars=tuple(float(share) for share in importance / largest),
    )
