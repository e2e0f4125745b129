"""Numbers to positions: what the SVG macros draw. Pure functions, lengths in pixels."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 680
_ROW = 24
_LABELS = 220.0
"""Room for names on the left."""

_LABEL_EMS = 13.0
"""What fits there in the largest size of type that the style sheet gives to names, 16 pixels."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class PathPoint:
    """A step of the path; `low` and `high` are the ends of the error bar, if there is one."""

    x: float
    y: float
    low: float | None
    high: float | None
    chosen: bool
    label: str


@dataclass(frozen=True, slots=True)
class PathFigure:
    """Score against the number of units; `marker` is where the chosen number stands."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    points: tuple[PathPoint, ...]
    line: str
    marker: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


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
    """Shares with intervals on an axis from 0 to 1."""

    width: int
    height: int
    left: float
    right: float
    bottom: float
    dots: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    more: int


def shorten(name: str, most: float = _LABEL_EMS) -> str:
    """A name that fits into `most` ems; the whole name belongs into the title.

    The middle is left out, because long names often differ at their end only.
    """
    if sum(map(_ems, name)) <= most:
        return name
    room = most - _ems("…")
    head = _fitting(name, 0.35 * room)
    tail = _fitting(name[::-1], room - sum(map(_ems, head)))[::-1]
    return f"{head.rstrip()}…{tail.lstrip()}"


def _fitting(name: str, most: float) -> str:
    used = 0.0
    for i, character in enumerate(name):
        used += _ems(character)
        if used > most:
            return name[:i]
    return name


def _ems(character: str) -> float:
    """Generous width of a character in a sans-serif face."""
    if unicodedata.east_asian_width(character) in "WF" or character in "…@%MWmw":
        return 1.0
    if character in "iIjl.,:;|!'`()[] ":
        return 0.4
    return 0.75 if character.isupper() else 0.63


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values that cover the range from `low` to `high`."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def path_figure(
    sizes: Sequence[int],
    scores: Sequence[float],
    errors: Sequence[float] | None,
    chosen: int,
) -> PathFigure:
    """Geometry of the path.

    Parameters
    ----------
    sizes : sequence of int
        Increasing.
    scores : sequence of float
    errors : sequence of float, optional
        Half lengths of the error bars.
    chosen : int
        Size that is marked; none of `sizes` if it was cut from the next larger one.
    """
    width, height, left, right, top, bottom = WIDTH, 300, 62.0, WIDTH - 18.0, 30.0, 252.0
    lows = [s - e for s, e in zip(scores, errors, strict=True)] if errors else list(scores)
    highs = [s + e for s, e in zip(scores, errors, strict=True)] if errors else list(scores)
    ticks = nice_ticks(min(lows), max(highs))
    least, most = min(*sizes, chosen), max(*sizes, chosen)
    span = max(most - least, 1)

    def x(size: float) -> float:
        return round(left + 14 + (size - least) / span * (right - left - 28), 1)

    def y(score: float) -> float:
        return round(bottom - (score - ticks[0]) / (ticks[-1] - ticks[0]) * (bottom - top), 1)

    points = tuple(
        PathPoint(
            x(size),
            y(score),
            y(low) if errors else None,
            y(high) if errors else None,
            size == chosen,
            f"{size} unit{'' if size == 1 else 's'}: {score:.3f}",
        )
        for size, score, low, high in zip(sizes, scores, lows, highs, strict=True)
    )
    every = next(e for p in range(9) for e in (10**p, 2 * 10**p, 5 * 10**p) if e >= span / 15)
    x_labels = range(-(-least // every) * every, most + 1, every)
    decimals = max(0, -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9))
    return PathFigure(
        width,
        height,
        left,
        right,
        top,
        bottom,
        points,
        " ".join(f"{p.x},{p.y}" for p in points),
        x(chosen),
        tuple(Tick(x(size), str(size)) for size in x_labels),
        tuple(Tick(y(value), f"{value:.{decimals}f}") for value in ticks),
    )


def bar_figure(names: Sequence[str], values: Sequence[float], more: int) -> BarFigure:
    """Geometry of horizontal bars; values at least 0."""
    left = _LABELS
    room = WIDTH - left - 70
    largest = max(values, default=0.0) or 1.0
    bars = tuple(
        Bar(name, shorten(name), i * _ROW + 6.0, round(value / largest * room, 1), f"{value:.3f}")
        for i, (name, value) in enumerate(zip(names, values, strict=True))
    )
    return BarFigure(WIDTH, len(bars) * _ROW + 8, left, _ROW - 9.0, bars, more)


def dot_figure(
    names: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    filled: Sequence[bool],
    more: int,
) -> DotFigure:
    """Geometry of dots with intervals; values in [0, 1]."""
    left, right = _LABELS, WIDTH - 34.0
    bottom = len(names) * _ROW + 8.0

    def x(value: float) -> float:
        return round(left + value * (right - left), 1)

    dots = tuple(
        Dot(
            name,
            shorten(name),
            x(value),
            x(low),
            x(high),
            i * _ROW + 16.0,
            bool(fill),
            f"{value:.2f} ({low:.2f} to {high:.2f})",
        )
        for i, (name, value, low, high, fill) in enumerate(
            zip(names, values, lows, highs, filled, strict=True)
        )
    )
    ticks = tuple(Tick(x(share), f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1))
    return DotFigure(WIDTH, int(bottom) + 34, left, right, bottom, dots, ticks, more)
