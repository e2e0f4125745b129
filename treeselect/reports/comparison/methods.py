"""The methods, best score first."""

from __future__ import annotations

import numpy as np

from treeselect.comparison.words import comparison_columns, comparison_rows
from treeselect.reports.material import ContestMaterial
from treeselect.reports.parts import MOST_ROWS, Mark, Table


def gather(material: ContestMaterial) -> Table:
    """The table of the printed summary."""
    columns, rows = comparison_columns(material.found), comparison_rows(material.found)
    return Table(
        columns,
        rows[:MOST_ROWS],
        max(len(rows) - MOST_ROWS, 0),
        marks={columns.index("Stability"): _bars(material.ranked["stability"].tolist())},
    )


def _bars(values: list[float]) -> tuple[Mark | None, ...]:
    """Bars; None where stability is undefined."""
    return tuple(Mark(float(np.clip(s, 0.0, 1.0))) if np.isfinite(s) else None for s in values)
