"""Dots with intervals, one for each name: shares, or values of any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treeselect.reports.figures.axes import WIDTH, Tick, nice_ticks, tick_labels
from treeselect.reports.figures.labels import distinct
from treeselect.reports.figures.rows import LABELS, ROW


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with an interval."""

    name: str
    label: str
    x: float
    low: float
    high: float
    y: float
    filled: bool
    text: str


@dataclass(frozen=True, slots=True)
class DotFigure:
    """Numbers with intervals on a common axis; marks are values that they are compared with."""

    width: int
    height: int
    left: float
    right: float
    bottom: float
    dots: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    more: int
    marks: tuple[Tick, ...] = ()


def dot_figure(
    names: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    filled: Sequence[bool],
    more: int,
) -> DotFigure:
    """Geometry of dots with intervals; values in [0, 1]."""
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    ticks = dict(zip(shares, (f"{share:.0%}" for share in shares), strict=True))
    return _dots(names, values, lows, highs, filled, more, ticks, {})


def range_figure(
    names: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    filled: Sequence[bool],
    mark: tuple[str, float],
    more: int,
) -> DotFigure:
    """Geometry of dots with intervals of any finite values, and of a value that is marked."""
    ticks = nice_ticks(min([*lows, mark[1]]), max([*highs, mark[1]]))
    labels = dict(zip(ticks, tick_labels(ticks), strict=True))
    return _dots(names, values, lows, highs, filled, more, labels, {mark[1]: mark[0]})


def _dots(
    names: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    filled: Sequence[bool],
    more: int,
    ticks: Mapping[float, str],
    marks: Mapping[float, str],
) -> DotFigure:
    """Geometry of dots between the first and the last tick."""
    left, right = LABELS, WIDTH - 34.0
    bottom = len(names) * ROW + 8.0
    first, last = min(ticks), max(ticks)

    def x(value: float) -> float:
        return round(left + (value - first) / (last - first) * (right - left), 1)

    labels = distinct(names)
    dots = tuple(
        Dot(
            name,
            labels[i],
            x(value),
            x(low),
            x(high),
            i * ROW + 16.0,
            bool(fill),
            f"{value:.2f} ({low:.2f} to {high:.2f})",
        )
        for i, (name, value, low, high, fill) in enumerate(
            zip(names, values, lows, highs, filled, strict=True)
        )
    )
    x_ticks = tuple(Tick(x(at), label) for at, label in ticks.items())
    marked = tuple(Tick(x(at), label) for at, label in marks.items())
    return DotFigure(WIDTH, int(bottom) + 34, left, right, bottom, dots, x_ticks, more, marked)
