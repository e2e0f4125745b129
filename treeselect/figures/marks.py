"""Figures as plain data: axes, series of points, rows and tiles, in the units of the data.

A figure is built once. The painters of ``svg.py`` and ``plotting.py`` draw it for the page and with
matplotlib: they decide about lengths, and nothing about content.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treeselect.engine.arrays import FloatArray
from treeselect.figures.axes import Axis

ACCENT, SOFT, INK = "#1f5f8b", "#5a6373", "#1d2330"
FAINT, GRID, PALE = "#868f9e", "#e9ecf1", "#e4e4e4"
"""Less prominent marks, grids and empty tiles. ``report.css`` repeats all colours."""

COLOURS = (ACCENT, "#c4532b", "#2f8260", "#8a5a9e", "#8f7013", "#4f5a6e", "#b03a6a", "#1f8095")

MOST_MARKS = 20
"""Marks on a line; of a longer one every second point has one, or fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What all figures have: a key on the page, a title and the figure in words, how many rows or
    lines were left out, and a head. The form is "panel" or "square" for
    one small drawing; by default there are two, for wide and for narrow screens."""

    key: str = ""
    title: str = ""
    text: str = ""
    more: int = 0
    form: str = ""
    head: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line across the figure at a value of one axis; with `dashes`, a reference to read
    others by. The diagonal, from corner to corner, has no value. The name is for a legend."""

    at: float | None
    along: str = "y"
    label: str = ""
    dashes: bool = True
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points, and what connects and surrounds them: a line, "straight", of "steps" or none, and
    intervals, interrupted where they are not numbers. `texts` are of each point, `text` of the
    whole, `ticks` on the line."""

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    name: str = ""
    line: str = "straight"
    band: bool = False
    colour: int | None = None
    mark: int | None = None
    stroke: int = 0
    soft: bool = False
    hollow: bool = False
    small: bool = False
    marked: Sequence[bool] | None = None
    ringed: Sequence[bool] = ()
    texts: Sequence[str] = ()
    text: str = ""
    ticks: Sequence[tuple[float, float]] = ()

    @property
    def has_mark(self) -> Sequence[bool]:
        return [True] * len(self.x) if self.marked is None else self.marked


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane(Figure):
    """Series between two axes, a strip of bars and rows of counts below. The legend is for
    matplotlib: "ends" of lines, or "box"."""

    x: Axis
    y: Axis
    series: Sequence[Series]
    rules: Sequence[Rule] = ()
    strip: Sequence[tuple[float, float, float]] = ()
    counts: Sequence[Sequence[str]] = ()
    legend: str = ""
    tall: float = 0.0


def side_by_side(
    series: Sequence[Series], place: Callable[[float], float], most: float, alone: float
) -> list[float]:
    """How far each series is moved aside, so that bars at the same place can be seen: all within
    half of the least distance of places, or of that of a place that stands `alone`."""
    if len(series) == 1 or not any(one.ringed for one in series):
        return [0.0] * len(series)
    places = sorted({place(x) for one in series if len(one.x) > 1 for x in one.x})
    least = min((b - a for a, b in itertools.pairwise(places)), default=alone)
    step = min(most, 0.5 * least / len(series))
    return [(i - (len(series) - 1) / 2) * step for i in range(len(series))]


@dataclass(frozen=True, slots=True)
class Dot:
    """A value on a row with the ends of its interval, if there is one; `kind` is the number of its
    entry in the legend: filled dots, hollow ones, hollow squares."""

    at: float
    low: float | None = None
    high: float | None = None
    kind: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a figure: a name, a bar with a value, dots, a text, and the row in words."""

    name: str
    bar: float | None = None
    value: str = ""
    dots: Sequence[Dot] = ()
    aside: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(Figure):
    """Bars and dots, in rows with names on the left. `kinds` are for the legend of matplotlib,
    `asides` is the head of what is at the right edge, `classes` are the names of the dots of one
    row."""

    x: Axis
    rows: Sequence[Row]
    rules: Sequence[Rule] = ()
    kinds: Sequence[str] = ("", "", "")
    asides: str = ""
    bar_kind: str = ""
    classes: Sequence[str] = ()
    foot: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles(Figure):
    """A number from 0 to 1 for each pair of names, or one on a scale; those that are not known have
    no tile. For matplotlib only."""

    x: Sequence[str]
    y: Sequence[str]
    values: FloatArray  # (len(y), len(x))
    labels: tuple[str, str] = ("", "")
    scale: str = ""
