"""Score against the number of terms."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from treeselect.comparison.lines import MOST_LINES
from treeselect.printing import decimal_text
from treeselect.reports.by_size import line_series, table_by_size
from treeselect.reports.figures.series import SeriesFigure, series_figure
from treeselect.reports.material import ContestMaterial
from treeselect.reports.parts import Table
from treeselect.resampling.nouns import noun_of


@dataclass(frozen=True, slots=True)
class ScoreSection:
    """Lines over the number of terms, how to read them, and their numbers.

    Attributes
    ----------
    lead : str
    figure : SeriesFigure
    score : str
        Name of the score.
    table : Table
    """

    lead: str
    figure: SeriesFigure
    score: str
    table: Table


def gather(material: ContestMaterial) -> ScoreSection:
    """Score of each method at each size."""
    found, lines = material.found, material.lines
    shown = [
        line_series(line, i, [p.score for p in line.points], [p.error for p in line.points])
        for i, line in enumerate(lines[:MOST_LINES])
    ]
    lead = (
        f"{found.score_name} on held-out rows: mean over the folds ± one standard error. Bars at"
        " the same size are drawn side by side. A ring marks the size at which a method is"
        " compared."
    )
    if any(run.sizes is None for run in found.runs):
        nouns = noun_of(found.terms_of_unit, 2)
        lead += (
            f" A method with a given tuning parameter is one point, at its mean number of {nouns}."
        )
    if any(0 in (run.sizes or ()) for run in found.runs):
        lead += " The constant model, with nothing selected in any fold, is omitted."
    table = table_by_size(found, lines, _cell)
    figure = series_figure(shown, len(lines) - len(shown), bounds=found.score_bounds)
    return ScoreSection(lead, figure, found.score_name, table)


def _cell(row: Mapping[Hashable, Any]) -> str:
    """A score with its standard error."""
    return f"{decimal_text(row['score'], 3)} ({decimal_text(row['standard_error'], 3)})"
