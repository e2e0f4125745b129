"""Selection frequencies along the path, and q-values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.printing import decimal_text
from treeselect.reports.figures.lines import LineFigure, line_figure
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, Table, table_around
from treeselect.resampling.nouns import noun
from treeselect.resampling.paths import PathLines, path_lines
from treeselect.resampling.q_values import has_q_values
from treeselect.resampling.stability import Stability

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit

MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class StabilityPathSection:
    """Selection frequencies by number of terms: figure, how to read it, numbers, q-values."""

    lead: str
    figure: LineFigure | None
    table: Table
    q_values: Table | None
    q_lead: str


def gather(material: FitMaterial) -> StabilityPathSection | None:
    """Frequencies along the path; None if the resamples have no paths, or none selects a unit."""
    stability = material.fit.resampled
    if stability is None or stability.along is None:
        return None
    fit, nouns = material.fit, noun(material.fit)
    lines = path_lines(stability.along, stability.units, stability.fitted, MOST_LINES)
    if not lines.names:
        return None
    k = fit.k
    rows = [
        (f"{size:,}", *(decimal_text(own[i], 2) for own in lines.values))
        for i, size in enumerate(lines.sizes)
    ]
    figure = None
    if len(lines.sizes) > 1:
        figure = line_figure(lines.sizes, lines.names, lines.values, lines.selected, k, lines.more)
    return StabilityPathSection(
        _lead(fit, stability, lines, drawn=figure is not None),
        figure,
        table_around((f"{nouns.capitalize()} (k)", *lines.names), rows, lines.sizes, k),
        _q_table(stability, noun(fit, 1)),
        _Q_LEAD.format(one=noun(fit, 1), many=nouns),
    )


def _q_table(stability: Stability, one: str) -> Table | None:
    if not has_q_values(stability):
        return None
    found = stability.q_value_table()
    rows = tuple(
        (
            str(row["term"]),
            f"{row['efp']:.3g}",
            f"{row['q_value']:.3g}",
            "yes" if row["selected"] else "no",
        )
        for row in found.head(MOST_ROWS).to_dict("records")
    )
    columns = (one.capitalize(), "Expected false positives", "q-value", "Selected")
    return Table(columns, rows, max(len(found) - MOST_ROWS, 0))


def _lead(fit: Fit, stability: Stability, lines: PathLines, *, drawn: bool) -> str:
    nouns = noun(fit)
    lead = (
        f"Selection frequency of each {noun(fit, 1)} by number of {nouns} selected, over the same"
        f" {stability.words}. Where a path skips a number of {nouns}, the next larger set is cut to"
        " it."
    )
    if not drawn:
        return lead
    lead += f" The dashed vertical line marks the number of {nouns} in the fit, {fit.k:,}."
    if not all(lines.selected):
        lead += f" Dashed curves are {nouns} outside the selection."
    return lead


_Q_LEAD = (
    "Integrated path stability selection (Melikechi, Dunson and Miller 2025) over the first of"
    " these numbers of {many}: the expected number of false positives if a {one} and all above it"
    " are selected, and the q-value, the smallest false discovery rate at which the {one} is"
    " selected. The method assumes that no null {one} is selected with higher probability than a"
    " {one} drawn at random; near-duplicates of a {one} with signal violate this. At most 25 pairs"
    " of half-samples enter the calculation, because all are splits of the same rows."
)
