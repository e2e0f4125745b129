"""Paired differences from the best method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from treeselect.comparison.words import difference_cells, size_text
from treeselect.printing import decimal_form, decimal_text, interval_text
from treeselect.reports.figures.dots import DotFigure, Value, drawn_dots
from treeselect.reports.figures.forms import in_both_forms
from treeselect.reports.material import ContestMaterial
from treeselect.reports.parts import MOST_ROWS, MOST_UNITS, Table

# --- differences from the best method, with their intervals ------------------------------------


def difference_figure(
    names: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    more: int,
) -> DotFigure:
    """Geometry of differences about a line at 0; a dot is filled if its interval excludes 0.

    Parameters
    ----------
    names : sequence of str
        At least one.
    values, lows, highs : sequence of float
        Without an interval, which is not a number, an empty dot stands alone.
    more : int
        Methods that were left out.
    """
    shown = [
        Value(
            name,
            value,
            low if math.isfinite(low) else value,
            high if math.isfinite(high) else value,
            bool(low > 0 or high < 0),
            f"{decimal_text(value, 3, '+')} ({interval_text(low, high, decimal_form(3, '+'))})",
        )
        for name, value, low, high in zip(names, values, lows, highs, strict=True)
    ]
    ends = min(0.0, *(v.low for v in shown)), max(0.0, *(v.high for v in shown))
    said = "; ".join(f"{v.name}: {v.text}" for v in shown)
    return in_both_forms(partial(drawn_dots, shown, ends, {"": 0.0}, signed=True), said, more)


# --- paired differences from the best method ---------------------------------------------------


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
