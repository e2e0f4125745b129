"""Computing time."""

from __future__ import annotations

from treeselect.reports.figures.bars import BarFigure, bar_figure
from treeselect.reports.material import ContestMaterial
from treeselect.reports.parts import MOST_UNITS


def gather(material: ContestMaterial) -> BarFigure:
    """Seconds per fold, best methods first."""
    glance = material.ranked
    shown = glance.head(MOST_UNITS)
    return bar_figure(
        shown["method"].tolist(),
        shown["seconds"].tolist(),
        len(glance) - len(shown),
        texts=[f"{seconds:.2g} s" for seconds in shown["seconds"]],
    )
