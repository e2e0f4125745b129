"""Differences from the best method, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from treeselect.printing import decimal_form, decimal_text, interval_text
from treeselect.reports.figures.dots import DotFigure, Value, drawn_dots
from treeselect.reports.figures.forms import in_both_forms


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
