"""Curves to positions: small pictures side by side, all to the same vertical scale."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.axes import Tick, nice_ticks, position, tick_labels
from treeselect.reports.figures.labels import distinct, ems, shorten
from treeselect.results.curves import Curve, CurvePoint, number_text

_WIDTH = 240
_TOP, _BOTTOM, _RIGHT = 44.0, 164.0, 234.0
_TEXT = 12.0
"""Size of type in a panel, in pixels."""

_MISSING_ROOM = 52.0
_LONGEST_LEVEL = 6.4
"""What fits under the axis of upright names of levels, in ems."""


@dataclass(frozen=True, slots=True)
class Speck:
    """A point of a curve; its area is the share of the rows.

    Where resamples tell it, `low` and `high` are the ends of its interval.
    """

    x: float
    y: float
    radius: float
    is_missing: bool
    text: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One curve.

    Attributes
    ----------
    width, height : int
    left, right, top, bottom : float
    title, label : str
        Name of the term, whole and shortened.
    scale_label : str
        What the effect is added to, shortened.
    x_label : str
        The variable, if the term is not just that.
    x_label_y : float
    line : str
        Points of the line; of levels none.
    band : tuple of str
        Outlines of what resamples make of the line, where they tell it; of levels none.
    specks : tuple of Speck
    zero : float
        Where the effect is 0.
    missing_from : float or None
        Where the room for missing values begins.
    x_ticks, y_ticks : tuple of Tick
    upright : bool
        Whether the ticks' names run upwards, for want of room.
    more : int
        Levels that were left out.
    text : str
        The curve in a sentence.
    """

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    title: str
    label: str
    scale_label: str
    x_label: str
    x_label_y: float
    line: str
    band: tuple[str, ...]
    specks: tuple[Speck, ...]
    zero: float
    missing_from: float | None
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    upright: bool
    more: int
    text: str


def panels(curves: Sequence[Curve]) -> tuple[Panel, ...]:
    """Geometry of curves, with the vertical axis that they share."""
    effects = [height for curve in curves for point in curve.points for height in _heights(point)]
    ticks = nice_ticks(min(0.0, *effects), max(0.0, *effects), 4)
    labels = tick_labels(ticks, signed=True)
    left = max(30.0, round(max(map(_width, labels)) + 14, 1))
    titles = distinct([curve.term for curve in curves], 15.0)
    return tuple(
        _panel(curve, title, left, ticks, labels)
        for curve, title in zip(curves, titles, strict=True)
    )


def _panel(curve: Curve, title: str, left: float, ticks: list[float], labels: list[str]) -> Panel:
    def y(effect: float) -> float:
        share = (effect - ticks[0]) / (ticks[-1] - ticks[0])
        return round(_BOTTOM - share * (_BOTTOM - _TOP), 1)

    x_ticks, places, missing_from = (
        _number_axis(curve, left) if curve.is_number else _level_axis(curve, left)
    )
    specks = tuple(
        Speck(
            x,
            y(p.effect),
            round(max(1.6 if curve.is_number else 2.5, 9 * p.share**0.5), 1),
            p.is_missing,
            _words(p),
            None if p.low is None else y(p.low),
            None if p.high is None else y(p.high),
        )
        for x, p in zip(places, curve.points, strict=True)
    )
    known = [s for s in specks if not s.is_missing]
    slot = (_RIGHT - left) / max(len(x_ticks), 1)
    upright = not curve.is_number and any(_width(tick.label) > slot - 4 for tick in x_ticks)
    x_label = "" if curve.variable == curve.term else shorten(curve.variable, 15.0)
    longest = max(_width(tick.label) for tick in x_ticks) if upright else 10.0
    below = 12.0 + longest + (20.0 if x_label else 0.0)
    return Panel(
        width=_WIDTH,
        height=int(_BOTTOM + below) + 6,
        left=left,
        right=_RIGHT,
        top=_TOP,
        bottom=_BOTTOM,
        title=curve.term,
        label=title,
        scale_label=short_scale(curve.scale),
        x_label=x_label,
        x_label_y=round(_BOTTOM + below, 1),
        line=" ".join(f"{s.x},{s.y}" for s in known) if curve.is_number else "",
        band=_outlines(known) if curve.is_number else (),
        specks=specks,
        zero=y(0.0),
        missing_from=missing_from,
        x_ticks=x_ticks,
        y_ticks=tuple(map(Tick, map(y, ticks), labels)),
        upright=upright,
        more=curve.more,
        text=_sentence(curve),
    )


def _heights(point: CurvePoint) -> list[float]:
    return [h for h in (point.effect, point.low, point.high) if h is not None]


def _outlines(specks: Sequence[Speck]) -> tuple[str, ...]:
    """Around the intervals of neighbours, of as many parts as there are."""
    parts = []
    for is_known, group in itertools.groupby(specks, key=lambda s: s.low is not None):
        own = list(group)
        if is_known and len(own) > 1:
            ends = [(s.x, s.low) for s in own] + [(s.x, s.high) for s in reversed(own)]
            parts.append(" ".join(f"{x},{y}" for x, y in ends))
    return tuple(parts)


def _number_axis(curve: Curve, left: float) -> tuple[tuple[Tick, ...], list[float], float | None]:
    """Ticks, places of the points, and where the room for missing values begins."""
    known = [p.value for p in curve.points if p.value is not None]
    has_missing = len(known) < len(curve.points)
    right = _RIGHT - 8 - (_MISSING_ROOM if has_missing else 0.0)
    low, high = min(known, default=0.0), max(known, default=0.0)

    def x(value: float) -> float:
        return round(left + 8 + position(value, low, high) * (right - left - 8), 1)

    lost = _RIGHT - _MISSING_ROOM / 2
    places = [lost if p.value is None else x(p.value) for p in curve.points]
    shown = _own_values(known, right - left) or _value_ticks(low, high, right - left)
    ticks = [Tick(x(v), label) for v, label in shown]
    if has_missing:
        ticks.append(Tick(lost, "missing"))
    return tuple(ticks), places, _RIGHT - _MISSING_ROOM if has_missing else None


def _own_values(known: list[float], room: float) -> list[tuple[float, str]]:
    """A few values that have room for their labels are the best ticks."""
    found = [(value, number_text(value)) for value in known]
    wide = max((_width(label) for _, label in found), default=0.0) + 8
    places = [position(value, known[0], known[-1]) for value in known]
    gaps = [b - a for a, b in itertools.pairwise(places)]
    fits = len(known) <= 6 and wide <= room * min(gaps, default=1.0) / (sum(gaps) or 1.0)
    return found if fits else []


def _value_ticks(low: float, high: float, room: float) -> list[tuple[float, str]]:
    """Round values within the range, as many as have room for their labels."""
    if high == low:
        return [(low, f"{low:.4g}")]
    for about in (4, 3, 2, 1):
        values = nice_ticks(low, high, about)
        found = [
            (value, label)
            for value, label in zip(values, tick_labels(values), strict=True)
            if -1e-6 <= position(value, low, high) <= 1 + 1e-6
        ]
        wide = max((_width(label) for _, label in found), default=0.0)
        if found and (wide + 10) * len(found) <= room + wide:
            return found
    return [(low, f"{low:.3g}"), (high, f"{high:.3g}")]


def _level_axis(curve: Curve, left: float) -> tuple[tuple[Tick, ...], list[float], None]:
    slot = (_RIGHT - left) / len(curve.points)
    places = [round(left + (i + 0.5) * slot, 1) for i in range(len(curve.points))]
    names = distinct([p.label for p in curve.points], _LONGEST_LEVEL)
    return tuple(map(Tick, places, names)), places, None


def short_scale(scale: str) -> str:
    """Of a long scale the class is shortened, not what it is."""
    what, of, label = scale.partition(" of ")
    return f"{what}{of}{shorten(label, 8.5)}"


def _width(text: str) -> float:
    return _TEXT * 0.9 * sum(map(ems, text))


def _words(point: CurvePoint) -> str:
    interval = "" if point.low is None else f", {point.low:+.3g} to {point.high:+.3g}"
    return f"{point.label}: {point.effect:+.3g}{interval} ({point.share:.1%} of the rows)"


def _sentence(curve: Curve) -> str:
    lowest = min(curve.points, key=lambda p: p.effect)
    highest = max(curve.points, key=lambda p: p.effect)
    return (
        f"Effect of {curve.term} on the {curve.scale}, about its mean:"
        f" lowest, {lowest.effect:+.3g}, at {lowest.label};"
        f" highest, {highest.effect:+.3g}, at {highest.label}."
    )
