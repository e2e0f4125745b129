"""Small square figures, side by side if there is room: a curve, or dots with intervals, and a
reference line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treeselect.reports.figures.axes import Frame, Tick, nice_ticks, position, tick_labels

_SIDE = 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 306.0, 26.0, 268.0

SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Dots(NamedTuple):
    """Values with intervals, which may be missing, and descriptions."""

    x: Sequence[float]
    y: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Mark:
    """A dot with an interval."""

    x: float
    y: float
    low: float
    high: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareFigure(Frame):
    """A square figure.

    Attributes
    ----------
    x_label, y_label : str
    y_ticks : tuple of Tick
    guide : tuple of float
        Ends of the line to compare with: x1, y1, x2, y2.
    marks : tuple of Mark
    line : str
        Corners of the curve; empty without one.
    text : str
        Description for screen readers.
    """

    x_label: str
    y_label: str
    y_ticks: tuple[Tick, ...]
    guide: tuple[float, float, float, float]
    marks: tuple[Mark, ...]
    line: str
    text: str


@dataclass(frozen=True, slots=True)
class _Frame:
    """Two axes with their ends."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def across(self, value: float) -> float:
        return _place(value, self.x, _LEFT, _RIGHT)

    def up(self, value: float) -> float:
        return _place(value, self.y, _BOTTOM, _TOP)

    def drawn(
        self,
        labels: tuple[str, str],
        guide: tuple[float, float, float, float],
        marks: tuple[Mark, ...],
        line: str,
        text: str,
    ) -> SquareFigure:
        return SquareFigure(
            width=_SIDE,
            height=_SIDE,
            left=_LEFT,
            right=_RIGHT,
            top=_TOP,
            bottom=_BOTTOM,
            x_label=labels[0],
            y_label=labels[1],
            x_ticks=tuple(map(Tick, map(self.across, self.x), tick_labels(self.x))),
            y_ticks=tuple(map(Tick, map(self.up, self.y), tick_labels(self.y))),
            guide=guide,
            marks=marks,
            line=line,
            text=text,
        )


def curve_figure(
    x: Sequence[float], y: Sequence[float], labels: tuple[str, str], text: str
) -> SquareFigure:
    """Geometry of a curve of shares above the diagonal.

    Parameters
    ----------
    x, y : sequence of float
        Its corners, in [0, 1], both non-decreasing. Corners too close to be distinguished are
        merged, which also bounds the size of the page.
    labels : (str, str)
        Of the axes.
    text : str
        Description for screen readers.
    """
    frame = _Frame(SHARES, SHARES)
    corners = [(round(frame.across(a)), round(frame.up(b))) for a, b in zip(x, y, strict=True)]
    line = " ".join(f"{a},{b}" for a, b in dict.fromkeys(corners))
    return frame.drawn(labels, (_LEFT, _BOTTOM, _RIGHT, _TOP), (), line, text)


def share_figure(dots: Dots, labels: tuple[str, str]) -> SquareFigure:
    """Geometry of shares as dots with intervals, and the diagonal."""
    frame = _Frame(SHARES, SHARES)
    guide = (_LEFT, _BOTTOM, _RIGHT, _TOP)
    return frame.drawn(labels, guide, _marks(frame, dots), "", "; ".join(dots.texts))


def agreement_figure(dots: Dots, labels: tuple[str, str]) -> SquareFigure:
    """Geometry of any values as dots on equal axes, and the diagonal."""
    seen = [*dots.x, *dots.y, *_known(dots.lows), *_known(dots.highs)]
    ticks = tuple(nice_ticks(min(seen), max(seen), 4))
    frame = _Frame(ticks, ticks)
    guide = (_LEFT, _BOTTOM, _RIGHT, _TOP)
    return frame.drawn(labels, guide, _marks(frame, dots), "", "; ".join(dots.texts))


def level_figure(dots: Dots, labels: tuple[str, str]) -> SquareFigure:
    """Geometry of any values as dots above and below 0."""
    seen = [0.0, *dots.y, *_known(dots.lows), *_known(dots.highs)]
    frame = _Frame(
        tuple(nice_ticks(min(dots.x), max(dots.x), 4)), tuple(nice_ticks(min(seen), max(seen), 4))
    )
    zero = frame.up(0.0)
    text = "; ".join(dots.texts)
    return frame.drawn(labels, (_LEFT, zero, _RIGHT, zero), _marks(frame, dots), "", text)


def _marks(frame: _Frame, dots: Dots) -> tuple[Mark, ...]:
    """Dots, without an interval where it is unknown."""
    return tuple(
        Mark(
            frame.across(x),
            frame.up(y),
            frame.up(low if low == low else y),
            frame.up(high if high == high else y),
            text,
        )
        for x, y, low, high, text in zip(*dots, strict=True)
    )


def _known(values: Sequence[float]) -> list[float]:
    return [value for value in values if value == value]


def _place(value: float, ticks: Sequence[float], start: float, end: float) -> float:
    share = position(value, ticks[0], ticks[-1])
    return round(start + share * (end - start), 1)
