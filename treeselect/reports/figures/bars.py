"""Horizontal bars, one for each name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.axes import WIDTH
from treeselect.reports.figures.labels import distinct
from treeselect.reports.figures.rows import LABELS, ROW


@dataclass(frozen=True, slots=True)
class Bar:
    """A horizontal bar."""

    name: str
    label: str
    y: float
    length: float
    value: str


@dataclass(frozen=True, slots=True)
class BarFigure:
    """Horizontal bars from a common start."""

    width: int
    height: int
    left: float
    thickness: float
    bars: tuple[Bar, ...]
    more: int


def bar_figure(
    names: Sequence[str],
    values: Sequence[float],
    more: int,
    *,
    labels: Sequence[str] | None = None,
    full: float | None = None,
    texts: Sequence[str] | None = None,
    text_room: float = 70.0,
) -> BarFigure:
    """Geometry of horizontal bars; values at least 0.

    Parameters
    ----------
    names : sequence of str
    values : sequence of float
    more : int
        Bars that were left out.
    labels : sequence of str, optional
        What stands beside the bars; by default the names, shortened.
    full : float, optional
        Value of the longest possible bar, by default the largest of the values.
    texts : sequence of str, optional
        The values in words, by default with three decimals.
    text_room : float
        How wide they may be.
    """
    left = LABELS
    room = WIDTH - left - text_room
    largest = full or max(values, default=0.0) or 1.0
    beside = labels or distinct(names)
    words = texts or [f"{value:.3f}" for value in values]
    bars = tuple(
        Bar(name, label, i * ROW + 6.0, round(value / largest * room, 1), text)
        for i, (name, label, value, text) in enumerate(
            zip(names, beside, values, words, strict=True)
        )
    )
    return BarFigure(WIDTH, len(bars) * ROW + 8, left, ROW - 9.0, bars, more)
