"""Values of methods by size: as lines, and as a table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from treeselect.comparison.lines import ScoreLine
from treeselect.reports.figures.labels import distinct
from treeselect.reports.figures.series import Series
from treeselect.reports.parts import MOST_ROWS, Table
from treeselect.resampling.nouns import noun_of

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest


def line_series(
    line: ScoreLine, i: int, values: Sequence[float], errors: Sequence[float]
) -> Series:
    """Values of a method by number of terms."""
    return Series(
        line.method,
        i,
        tuple(p.size for p in line.points),
        tuple(values),
        tuple(errors),
        tuple(p.compared for p in line.points),
    )


def table_by_size(
    found: Contest, lines: Sequence[ScoreLine], text: Callable[[Mapping[Hashable, Any]], str]
) -> Table:
    """A row for each size and a column for each method; the last row is for methods with a given
    tuning parameter."""
    curves = found.curve_table()
    sizes = sorted({int(k) for k in curves["k"].dropna()})
    cells = {
        (row["method"], None if pd.isna(row["k"]) else int(row["k"])): text(row)
        for row in curves.to_dict("records")
    }
    names = [line.method for line in lines]
    rows = [(str(size), *(cells.get((name, size), "") for name in names)) for size in sizes]
    if any((name, None) in cells for name in names):
        rows.append(("given", *(cells.get((name, None), "") for name in names)))
    columns = (f"{noun_of(found.terms_of_unit, 2).capitalize()} (k)", *distinct(names, 12.0))
    return Table(columns, tuple(rows[:MOST_ROWS]), max(len(rows) - MOST_ROWS, 0))
