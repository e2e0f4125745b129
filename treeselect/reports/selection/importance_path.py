"""Importances of units along the path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.printing import decimal_text
from treeselect.reports.figures.lines import LineFigure, line_figure
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table, table_around
from treeselect.resampling.nouns import noun
from treeselect.results.curves import importance_lines

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class ImportancePath:
    """Importances along the path: figure, how to read it, and its numbers."""

    lead: str
    figure: LineFigure
    table: Table


def gather(material: FitMaterial) -> ImportancePath | None:
    """Importances at each size; None if nothing is selected, or of one size."""
    fit = material.fit
    if not fit.selected:
        return None
    found = importance_lines(fit, MOST_LINES)
    if len(found.sizes) < 2:
        return None
    figure = line_figure(found.sizes, found.names, found.values, found.selected, fit.k, found.more)
    rows = [
        (f"{size:,}", *(decimal_text(own[i], 3) for own in found.values))
        for i, size in enumerate(found.sizes)
    ]
    return ImportancePath(
        _lead(fit, found.selected),
        figure,
        table_around((f"{noun(fit).capitalize()} (k)", *found.names), rows, found.sizes, fit.k),
    )


def _lead(fit: Fit, solid: Sequence[bool]) -> str:
    has_trees = fit.step.ensemble is not None
    by = "from its weighted trees" if has_trees else "by the method's importance measure"
    lead = (
        f"Importance of the {noun(fit)} at each step of the path, computed {by} and summing to 1"
        f" at each step. The dashed vertical line marks the chosen number, {fit.k:,}."
    )
    if not all(solid):
        lead += f" Dashed curves are {noun(fit)} outside the selection."
    return lead
