"""Partial dependence in small panels: curves for numbers, dots for factors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.axes import (
    Frame,
    Tick,
    label_room,
    middle_in,
    nice_ticks,
    tick_labels,
)
from treeselect.reports.figures.forms import NAME, TICK
from treeselect.reports.figures.labels import distinct, shorten, width
from treeselect.reports.figures.levels import LevelPanel, level_panel
from treeselect.reports.figures.scales import (
    PANEL,
    Effects,
    curve_sentence,
    point_text,
    short_scale,
)
from treeselect.reports.figures.values import FEW, density, value_axis, value_ticks
from treeselect.results.curves import MISSING, Curve, CurvePoint

_TOP, _BOTTOM, _RIGHT = 44.0, 170.0, PANEL - 6.0
_STRIP = 16.0
"""Height of the strip below the axis that shows the distribution of the rows."""

_BOLD = 1.15 * NAME
_LEAST_SLOT = width(MISSING, TICK) + 8.0
"""Minimum width of the space for missing values: its label covers no other."""

_FLAT = 0.1
"""A curve with a smaller share of another curve's range would look flat beside it."""


@dataclass(frozen=True, slots=True)
class Speck:
    """A point of a curve, with the ends of its interval if there is one."""

    x: float
    y: float
    is_missing: bool
    text: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberPanel(Frame):
    """The curve of a number.

    Attributes
    ----------
    title, label : str
        Name of the term, whole and shortened.
    scale_label : str
        The scale of the effect, shortened.
    x_label : str
        The variable if the term is not just that, and a note on its axis.
    x_label_y : float
    line : str
    band : tuple of str
        Outlines of the intervals around the line.
    specks : tuple of Speck
    radius : float
        Radius of the dots; so small for many values that the line hides them.
    rows : str
        Path of the strip below the axis that shows the distribution of the rows.
    zero : float
        Position of effect 0.
    missing_from : float or None
        Where the space for missing values begins.
    y_ticks : tuple of Tick
    text : str
        The curve in a sentence.
    is_number : bool
    """

    title: str
    label: str
    scale_label: str
    x_label: str
    x_label_y: float
    line: str
    band: tuple[str, ...]
    specks: tuple[Speck, ...]
    radius: float
    rows: str
    zero: float
    missing_from: float | None
    y_ticks: tuple[Tick, ...]
    text: str
    is_number: bool = True


Panel = NumberPanel | LevelPanel


def share_scale(curves: Sequence[Curve]) -> bool:
    """Whether all curves are visible on one scale: none looks flat beside another."""
    ranges = [_range(curve) for curve in curves]
    seen = [extent for extent in ranges if extent > 0]
    return not seen or min(seen) >= _FLAT * max(seen)


def _range(curve: Curve) -> float:
    effects = [point.effect for point in curve.points]
    return max(effects) - min(effects)


def panels(curves: Sequence[Curve], *, shared: bool = True) -> tuple[Panel, ...]:
    """Geometry of curves, on one scale or on separate scales."""
    titles = distinct([curve.term for curve in curves], (PANEL - 4.0) / _BOLD)
    common = effect_scale(curves)
    return tuple(
        (_number_panel if curve.is_number else level_panel)(
            curve, title, common if shared else effect_scale([curve])
        )
        for curve, title in zip(curves, titles, strict=True)
    )


def effect_scale(curves: Sequence[Curve]) -> Effects:
    """Ticks that cover the effects and their intervals, and 0."""
    heights = [
        height
        for curve in curves
        for point in curve.points
        for height in (point.effect, point.low, point.high)
        if height is not None
    ]
    ticks = nice_ticks(min(0.0, *heights), max(0.0, *heights), 4)
    return Effects(tuple(ticks), tuple(tick_labels(ticks, signed=True)))


def _number_panel(curve: Curve, title: str, effects: Effects) -> NumberPanel:
    left = label_room(effects.labels) - 2.0

    def y(effect: float) -> float:
        return round(_BOTTOM - effects.share(effect) * (_BOTTOM - _TOP), 1)

    known = [point for point in curve.points if point.value is not None]
    slot = _slot(curve, _RIGHT - left)
    ticks, places, strip, note = _axis(known, left + 8, _RIGHT - 16 - slot)
    if slot:
        ticks = _with_missing(ticks, _RIGHT - slot / 2)
    at = iter(places)
    specks = tuple(
        Speck(
            _RIGHT - slot / 2 if p.value is None else next(at),
            y(p.effect),
            p.is_missing,
            point_text(p),
            None if p.low is None else y(p.low),
            None if p.high is None else y(p.high),
        )
        for p in curve.points
    )
    on_line = [speck for speck in specks if not speck.is_missing]
    x_label = ", ".join(
        filter(None, ["" if curve.variable == curve.term else curve.variable, note])
    )
    if note and curve.variable == curve.term:
        x_label = note
    return NumberPanel(
        width=PANEL,
        height=int(_BOTTOM + _STRIP + (46.0 if x_label else 26.0)),
        left=left,
        right=_RIGHT,
        top=_TOP,
        bottom=_BOTTOM,
        title=curve.term,
        label=title,
        scale_label=short_scale(curve.scale, PANEL / TICK),
        x_label=shorten(x_label, (_RIGHT - left) / TICK),
        x_label_y=_BOTTOM + _STRIP + 38.0,
        line=" ".join(f"{s.x},{s.y}" for s in on_line),
        band=_outlines(on_line),
        specks=specks,
        radius=3.0 if len(known) <= FEW else 1.6,
        rows=strip,
        zero=y(0.0),
        missing_from=round(_RIGHT - slot, 1) if slot else None,
        x_ticks=ticks,
        y_ticks=tuple(map(Tick, map(y, effects.ticks), effects.labels)),
        text=curve_sentence(curve),
    )


def _slot(curve: Curve, room: float) -> float:
    """Width of the space for missing values: their share, if there are any."""
    share = sum(point.share for point in curve.points if point.value is None)
    total = sum(point.share for point in curve.points) or 1.0
    if all(point.value is not None for point in curve.points):
        return 0.0
    if all(point.value is None for point in curve.points):
        return room
    return round(min(max(share / total * room, _LEAST_SLOT), room / 2), 1)


def _axis(
    known: Sequence[CurvePoint], left: float, right: float
) -> tuple[tuple[Tick, ...], list[float], str, str]:
    """Ticks, positions of the points, the strip of rows, and a note on the axis."""
    if not known:
        return (), [], "", ""
    values, shares = [p.value or 0.0 for p in known], [p.share for p in known]
    axis = value_axis(values, shares)

    def x(place: float) -> float:
        return round(left + place * (right - left), 1)

    places = list(map(x, axis.places))
    ticks = tuple(
        Tick(middle_in(x(axis.place(value)), label, PANEL), label)
        for value, label in value_ticks(axis, right - left)
    )
    return ticks, places, _strip(places, shares), axis.note


def _strip(places: Sequence[float], shares: Sequence[float]) -> str:
    return "".join(
        f"M{a:.1f} {_BOTTOM + _STRIP + 2:.0f}V{_BOTTOM + 2 + _STRIP * (1 - height):.1f}"
        f"H{b:.1f}V{_BOTTOM + _STRIP + 2:.0f}z"
        for a, b, height in density(places, shares)
    )


def _with_missing(ticks: Sequence[Tick], at: float) -> tuple[Tick, ...]:
    """Ticks including that of missing values; overlapping ones are removed."""
    middle = middle_in(at, MISSING, PANEL)
    begin = middle - width(MISSING, TICK) / 2 - 4
    kept = [tick for tick in ticks if tick.at + width(tick.label, TICK) / 2 <= begin]
    return (*kept, Tick(middle, MISSING))


def _outlines(specks: Sequence[Speck]) -> tuple[str, ...]:
    """Outlines of the intervals of neighbouring points, one for each contiguous part."""
    parts = []
    for is_known, group in itertools.groupby(specks, key=lambda s: s.low is not None):
        own = list(group)
        if is_known and len(own) > 1:
            ends = [(s.x, s.low) for s in own] + [(s.x, s.high) for s in reversed(own)]
            parts.append(" ".join(f"{x},{y}" for x, y in ends))
    return tuple(parts)
