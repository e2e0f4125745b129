"""Partial dependence: curves for numbers, dots for factors, in small panels or alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from treeselect.figures import axes
from treeselect.figures.marks import Dot, Plane, Row, Rows, Rule, Series
from treeselect.printing import significant_text

MISSING = "missing"

NAN = math.nan

_WIDTH = 320.0
"""Of a panel, in pixels."""

_LEAST_SLOT = 0.26
"""Minimum share of an axis for missing values: their label covers no other."""

_FLAT = 0.1
"""A curve with a smaller share of another curve's range would look flat beside it."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of a curve."""

    value: float | None  # of a number that is known, else None
    label: str  # the value or level as text
    share: float  # of the rows
    effect: float
    is_missing: bool  # whether it stands for the missing values
    low: float | None = None  # what the resamples make of the effect; None where that is not known
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """The effect of a term with one variable behind it, centred."""

    term: str
    variable: str  # what it is called beside the term
    is_number: bool  # whether the variable is a number that the term does not take as a factor
    scale: str  # what the effect is added to
    # numbers by rising value, levels by falling effect; missing values last
    points: tuple[CurvePoint, ...]
    more: int  # levels that were left out
    of_class: str = ""  # whose effect it is, of more than two classes; else empty

    @property
    def variance(self) -> float:
        """Mean square of the effects that are shown."""
        return sum(point.share * point.effect**2 for point in self.points)


def definite(scale: str) -> str:
    """A scale in a sentence: "the mean response", but "P(survived = 1)" without an article."""
    return scale if scale.startswith("P(") else f"the {scale}"


def share_scale(curves: Sequence[Curve]) -> bool:
    """Whether all curves are visible on one scale: none looks flat beside another."""
    effects = [[point.effect for point in curve.points] for curve in curves]
    seen = [extent for own in effects if (extent := max(own) - min(own)) > 0]
    return not seen or min(seen) >= _FLAT * max(seen)


def panels(
    curves: Sequence[Curve], *, shared: bool = True, brief: bool = False
) -> tuple[Plane | Rows, ...]:
    """A figure for each curve, on one scale or on separate ones; in brief without many points."""
    titles = axes.distinct([curve.term for curve in curves], (_WIDTH - 4.0) / (1.15 * axes.NAME))
    common = effect_axis(curves)
    return tuple(
        shape_figure([curve], common if shared else effect_axis([curve]), title, brief=brief)
        for curve, title in zip(curves, titles, strict=True)
    )


def effect_axis(curves: Sequence[Curve]) -> axes.Axis:
    """An axis that covers the effects and their intervals, and 0."""
    heights = [
        height
        for curve in curves
        for point in curve.points
        for height in (point.effect, point.low, point.high)
        if height is not None
    ]
    return axes.number_axis(axes.nice_ticks(min(0.0, *heights), max(0.0, *heights), 4), signed=True)


def shape_figure(
    curves: Sequence[Curve], effects: axes.Axis, title: str, *, brief: bool = False
) -> Plane | Rows:
    """Curves of one term, one for each of several classes."""
    if curves[0].is_number:
        scale = short_scale(curves[0].scale, _WIDTH / axes.TICK)
        return _numbers(curves, effects.named(scale), title, brief=brief)
    scale = short_scale(curves[0].scale, (_WIDTH - 90.0) / axes.TICK)
    return _levels(curves, effects.named(scale), title)


def single_figure(curves: Sequence[Curve], title: str, label: str) -> Plane | Rows:
    """The curves of one term, with the scales at the axes."""
    figure, first = shape_figure(curves, effect_axis(curves), title), curves[0]
    if isinstance(figure, Rows):
        more = f" ({first.more:,} rarer levels not shown)" if first.more else ""
        return replace(figure, x=figure.x.named(label + more), more=0)
    note = {"log": " (log scale)", "rank": " (rank scale)"}.get(figure.x.kind, "")
    return replace(figure, x=figure.x.named(f"{first.variable}{note}"), y=figure.y.named(label))


def _numbers(curves: Sequence[Curve], effects: axes.Axis, title: str, *, brief: bool) -> Plane:
    first = curves[0]
    known = [point for point in first.points if point.value is not None]
    slot = _slot(first)
    values, shares = [p.value or 0.0 for p in known], [p.share for p in known]
    axis, strip = axes.Axis(0.0, 1.0, lambda room: [], slot=slot), []
    if known:
        axis = axes.value_axis(values, shares, slot)
        strip = axes.density([axis.place(value) for value in values], shares)
    note = {"log": "log scale", "rank": "rank scale"}.get(axis.kind, "")
    variable = "" if first.variable == first.term else first.variable
    if slot:
        ticks = axis.ticks
        axis = replace(axis, ticks=lambda room: [*ticks(room), (math.inf, MISSING)])
    series = []
    for i, curve in enumerate(curves):
        colour = i if len(curves) > 1 else None
        on_line = [point for point in curve.points if point.value is not None]
        one = _curve(on_line, colour, curve.scale)
        series.append(replace(one, texts=(), mark=None) if brief and one.small else one)
        lost = [point for point in curve.points if point.value is None]
        if lost:
            series.append(_lost(lost, colour))
    return Plane(
        form="panel",
        title=f"Partial dependence on {first.term}",
        head=title,
        text=curve_sentence(first),
        x=axis.named(", ".join(filter(None, [variable, note]))),
        y=effects,
        series=series,
        rules=[Rule(0.0, "x", dashes=False), *([Rule(-math.inf)] if 0 < slot < 1 else [])],
        strip=strip,
        legend="box" if len(curves) > 1 else "",
    )


def _slot(curve: Curve) -> float:
    """Share of the axis for missing values, if there are any."""
    lost = [point.share for point in curve.points if point.value is None]
    if len(lost) in (0, len(curve.points)):
        return float(bool(lost))
    total = sum(point.share for point in curve.points) or 1.0
    return min(max(sum(lost) / total, _LEAST_SLOT), 0.5)


def _curve(points: Sequence[CurvePoint], colour: int | None, name: str) -> Series:
    has_band = any(point.low is not None for point in points)
    return Series(
        x=[point.value or 0.0 for point in points],
        y=[point.effect for point in points],
        low=[NAN if p.low is None else p.low for p in points] if has_band else (),
        high=[NAN if p.high is None else p.high for p in points] if has_band else (),
        band=True,
        colour=colour,
        stroke=(colour or 0) % 3,
        mark=colour or 0,
        small=len(points) > axes.FEW,
        texts=[point_text(point) for point in points],
        name="" if colour is None else short_scale(name, 24.0),
    )


def _lost(points: Sequence[CurvePoint], colour: int | None) -> Series:
    """Missing values: hollow squares."""
    has_bar = all(point.low is not None for point in points)
    return Series(
        x=[math.inf] * len(points),
        y=[point.effect for point in points],
        low=[point.low or 0.0 for point in points] if has_bar else (),
        high=[point.high or 0.0 for point in points] if has_bar else (),
        line="",
        colour=colour,
        mark=1,
        hollow=True,
        texts=[point_text(point) for point in points],
    )


def _levels(curves: Sequence[Curve], effects: axes.Axis, title: str) -> Rows:
    first = curves[0]
    rows = [
        Row(
            name=points[0].label,
            dots=[Dot(p.effect, p.low, p.high, 2 if p.is_missing else 0) for p in points],
            aside="<1%" if 0 < points[0].share < 0.005 else f"{points[0].share:.0%}",
            text=point_text(points[0]),
        )
        for points in zip(*(curve.points for curve in curves), strict=True)
    ]
    variable = (
        "" if first.variable == first.term else axes.shorten(first.variable, _WIDTH / axes.TICK)
    )
    return Rows(
        form="panel",
        title=f"Partial dependence on {first.term}",
        head=title,
        text=curve_sentence(first),
        more=first.more,
        x=effects,
        rows=rows,
        rules=[Rule(0.0, dashes=False)],
        foot=variable,
        asides="rows",
        classes=[short_scale(c.scale, 24.0) for c in curves] if len(curves) > 1 else (),
    )


# --- words ---------------------------------------------------------------------------------------


def short_scale(scale: str, most: float) -> str:
    """A scale in at most so many ems: if it is too long, the class is shortened first."""
    if scale.startswith("P("):
        what, of, label = scale[:-1].partition(" = ")
        end = ")"
    else:
        what, of, label = scale.partition(" of ")
        end = ""
    room = most - sum(map(axes.ems, what + of + end))
    return f"{what}{of}{axes.shorten(label, room)}{end}" if room > 4 else axes.shorten(scale, most)


def point_text(point: CurvePoint) -> str:
    def text(effect: float) -> str:
        return significant_text(effect, 3, "+")

    low, high = point.low, point.high
    interval = "" if low is None or high is None else f", {text(low)} to {text(high)}"
    return f"{point.label}: {text(point.effect)}{interval} ({point.share:.1%} of rows)"


def curve_sentence(curve: Curve) -> str:
    """A curve in a sentence, for readers who can't see it."""
    lowest = min(curve.points, key=lambda p: p.effect)
    highest = max(curve.points, key=lambda p: p.effect)
    return (
        f"Centred partial dependence of {definite(curve.scale)} on {curve.term}:"
        f" lowest, {significant_text(lowest.effect, 3, '+')}, at {lowest.label};"
        f" highest, {significant_text(highest.effect, 3, '+')}, at {highest.label}."
    )
