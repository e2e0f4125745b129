"""Lines with error bars over the number of terms, one for each method."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import TypeAlias

from treeselect.printing import decimal_text
from treeselect.reports.figures.axes import (
    Axis,
    Tick,
    count_axis,
    label_room,
    score_axis,
    tick_labels,
)
from treeselect.reports.figures.forms import Figure, Form, in_both_forms
from treeselect.reports.figures.legends import Entry, legend_of
from treeselect.reports.figures.lines import MOST_MARKS


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one method over the number of terms.

    Attributes
    ----------
    name : str
    number : int
        Which of the colours and marks is its own.
    sizes : tuple of float
        Increasing.
    values : tuple of float
        Not a number where there is none.
    errors : tuple of float
        Half lengths of the error bars, not a number where there are none.
    ringed : tuple of bool
    """

    name: str
    number: int
    sizes: tuple[float, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...]
    ringed: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class DrawnSeries:
    """Position of a line.

    Attributes
    ----------
    name : str
    entry : Entry
        Its name and where that stands.
    parts : tuple of str
        Points of its line; several where values are missing in between.
    whiskers : str
        Path of its error bars.
    marks, rings : tuple of (float, float)
    number : int
    text : str
        Its values, for those who do not see it.
    """

    name: str
    entry: Entry
    parts: tuple[str, ...]
    whiskers: str
    marks: tuple[tuple[float, float], ...]
    rings: tuple[tuple[float, float], ...]
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Lines over the number of terms, one for each method."""

    form: Form
    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    series: tuple[DrawnSeries, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


SeriesFigure: TypeAlias = Figure[Drawing]


def series_figure(
    series: Sequence[Series],
    more: int,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    cover: Sequence[float] = (),
) -> SeriesFigure:
    """Geometry of lines with error bars, which stand side by side where sizes are the same.

    Parameters
    ----------
    series : sequence of Series
        One with a value at least.
    more : int
        Methods that were left out.
    bounds : (float, float)
        Least and greatest value that there can be.
    cover : sequence of float
        Values that the axis shows in any case.
    """
    values = [*cover, *(value for one in series for value in one.values)]
    errors = [*(math.nan for _ in cover), *(error for one in series for error in one.errors)]
    axis = score_axis(values, errors, bounds)
    said = "; ".join(f"{one.name}: {_text(one)}" for one in series)
    return in_both_forms(partial(_series, series, axis), said, more)


def _series(series: Sequence[Series], axis: Axis, form: Form) -> Drawing:
    labels = tick_labels(axis.ticks)
    left, right = label_room(labels), form.width - (form.legend or 12.0)
    top, bottom = 30.0, form.bottom + (60.0 if form.legend else 0.0)
    sizes = [size for one in series for size in one.sizes]
    least, most, x_ticks = count_axis(sizes, right - left)
    unit = (right - left - 36) / max(most - least, 1)
    room = _room(series, unit)

    def x(size: float, number: float) -> float:
        shift = (number - (len(series) - 1) / 2) * room
        return round(left + 18 + (size - least) * unit + shift, 1)

    def y(value: float) -> float:
        return round(bottom - axis.share(value) * (bottom - top), 1)

    lasts = [[v for v in one.values if math.isfinite(v)][-1:] or [axis.low] for one in series]
    legend = legend_of(
        [one.name for one in series],
        [y(last) for (last,) in lasts],
        [len(one.sizes) > 1 and one.sizes[-1] == max(sizes) for one in series],
        form,
        (right, top, bottom),
    )
    drawn = [
        _drawn(one, [x(size, i) for size in one.sizes], y, entry)
        for i, (one, entry) in enumerate(zip(series, legend.entries, strict=True))
    ]
    return Drawing(
        form,
        form.width,
        int(legend.bottom),
        left,
        right,
        top,
        bottom,
        tuple(drawn),
        tuple(Tick(round(left + 18 + (size - least) * unit, 1), f"{size:,}") for size in x_ticks),
        tuple(map(Tick, map(y, axis.ticks), labels)),
    )


def _drawn(
    one: Series, xs: Sequence[float], y: Callable[[float], float], entry: Entry
) -> DrawnSeries:
    """One line at its places, from left to right."""
    places = [
        (x, y(value)) if math.isfinite(value) else None
        for x, value in zip(xs, one.values, strict=True)
    ]
    shown = _marked(one)
    return DrawnSeries(
        name=one.name,
        entry=entry,
        parts=_parts(places),
        whiskers=" ".join(
            f"M{x} {y(v - e)}V{y(v + e)}m-2.5 0h5M{x - 2.5:.1f} {y(v - e)}h5"
            for x, v, e, mark in zip(xs, one.values, one.errors, shown, strict=True)
            if mark and math.isfinite(v) and math.isfinite(e)
        ),
        marks=tuple(p for p, mark in zip(places, shown, strict=True) if p and mark),
        rings=tuple(p for p, ring in zip(places, one.ringed, strict=True) if p and ring),
        number=one.number,
        text=_text(one),
    )


def _room(series: Sequence[Series], unit: float) -> float:
    """Distance of error bars side by side: all within half of the least distance of sizes."""
    sizes = sorted({size for one in series if len(one.sizes) > 1 for size in one.sizes})
    least = min((b - a for a, b in pairwise(sizes)), default=1.0)
    return min(5.0, 0.5 * least * unit / len(series))


def _marked(one: Series) -> list[bool]:
    """Which points of a long line are marked, including ringed ones."""
    every = -(-len(one.sizes) // MOST_MARKS)
    last = len(one.sizes) - 1
    return [(last - j) % every == 0 or ring for j, ring in enumerate(one.ringed)]


def _parts(places: Sequence[tuple[float, float] | None]) -> tuple[str, ...]:
    """The points of a line, broken where one is missing."""
    runs = [list(run) for known, run in groupby(places, key=lambda p: p is not None) if known]
    return tuple(" ".join(f"{p[0]},{p[1]}" for p in run if p) for run in runs if len(run) > 1)


def _text(one: Series) -> str:
    return ", ".join(
        f"{size:g}: {decimal_text(value, 3)}"
        + (f" ± {decimal_text(error, 3)}" if math.isfinite(error) else "")
        for size, value, error in zip(one.sizes, one.values, one.errors, strict=True)
        if math.isfinite(value)
    )
