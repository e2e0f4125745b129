"""Differences from the best method, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.printing import interval_text
from treeselect.reports.figures.axes import WIDTH, Tick, nice_ticks, tick_labels
from treeselect.reports.figures.dots import Dot
from treeselect.reports.figures.labels import distinct
from treeselect.reports.figures.rows import LABELS, ROW


@dataclass(frozen=True, slots=True)
class DifferenceFigure:
    """Differences with their intervals about a line at 0."""

    width: int
    height: int
    left: float
    right: float
    bottom: float
    zero: float
    dots: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    more: int


def difference_figure(
    names: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    more: int,
) -> DifferenceFigure:
    """Geometry of differences; a dot is filled if its interval leaves out 0.

    Parameters
    ----------
    names : sequence of str
        At least one.
    values, lows, highs : sequence of float
        Without an interval, which is not a number, an empty dot stands alone.
    more : int
        Methods that were left out.
    """
    left, right = LABELS, WIDTH - 34.0
    bottom = len(names) * ROW + 8.0
    ends = [value for value in (*values, *lows, *highs) if math.isfinite(value)]
    ticks = nice_ticks(min(0.0, *ends), max(0.0, *ends))

    def x(value: float) -> float:
        return round(left + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (right - left), 1)

    labels = distinct(names)
    dots = tuple(
        Dot(
            name,
            labels[i],
            x(value),
            x(low if math.isfinite(low) else value),
            x(high if math.isfinite(high) else value),
            i * ROW + 16.0,
            bool(low > 0 or high < 0),
            f"{value:+.3f} ({interval_text(low, high, '+.3f')})",
        )
        for i, (name, value, low, high) in enumerate(zip(names, values, lows, highs, strict=True))
    )
    marks = tuple(map(Tick, map(x, ticks), tick_labels(ticks, signed=True)))
    return DifferenceFigure(WIDTH, int(bottom) + 34, left, right, bottom, x(0.0), dots, marks, more)
