"""Figures as plain data: axes, series of points, rows and tiles, in the units of the data.

A figure is built once. The painters of ``svg.py`` and ``plotting.py`` draw it for the page and with
matplotlib: they decide about lengths, and nothing about content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.axes import Axis

ACCENT, SOFT, INK = "#1f5f8b", "#5a6373", "#1d2330"
FAINT, GRID, PALE = "#868f9e", "#e9ecf1", "#e4e4e4"
"""Less prominent marks, grids and empty tiles. ``report.css`` repeats all colours."""

COLOURS = (ACCENT, "#c4532b", "#2f8260", "#8a5a9e", "#8f7013", "#4f5a6e", "#b03a6a", "#1f8095")

MOST_MARKS = 20
"""Marks on a line; of a longer one every second point has one, or fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What all figures have.

    Attributes
    ----------
    key, title : str
        Identifier on the page, and name for readers who can't see the figure.
    text : str
        The figure in words.
    more : int
        Rows or lines that were left out.
    form : str
        "panel" or "square" for one small drawing; by default there are two, one for wide screens
        and paper, one for phones.
    saved : str
        Name of the file that the page offers; empty for none.
    head : str
        Shown above the figure.
    """

    key: str = ""
    title: str = ""
    text: str = ""
    more: int = 0
    form: str = ""
    saved: str = ""
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
    """Points, and what connects and surrounds them.

    Attributes
    ----------
    x, y : sequence of float
        A line is interrupted where `y` is not a number.
    low, high : sequence of float
        Ends of the intervals, not a number where there are none; empty without any.
    name : str
        Shown at the end of its line, or in a legend.
    line : {"straight", "steps", ""}
    band : bool
        Whether intervals are areas.
    colour : int or None
        Which of eight; None for the only one.
    mark : int or None
        Which of eight shapes; None for plain dots.
    stroke : int
        0, or a kind of dashes.
    soft, hollow, small : bool
        Less prominent; marks that are not filled; dots that the line hides.
    marked, ringed : sequence of bool
        Points with a mark, by default all, and with a ring around it, by default none.
    texts : sequence of str
        Of each point.
    text : str
        Of the whole.
    kind : str
        Shown in a legend once, beside the names of lines.
    ticks : sequence of (float, float)
        Small ticks on the line.
    """

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
    kind: str = ""
    ticks: Sequence[tuple[float, float]] = ()

    @property
    def has_mark(self) -> Sequence[bool]:
        """Whether each point has a mark."""
        return [True] * len(self.x) if self.marked is None else self.marked


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane(Figure):
    """Series between two axes.

    Attributes
    ----------
    x, y : Axis
    series : sequence of Series
    rules : sequence of Rule
    strip : sequence of (float, float, float)
        Bars below the horizontal axis: ends as shares of it, and heights up to 1.
    counts : sequence of sequence of str
        Of each series at each tick, in rows below the axis.
    legend : {"ends", "box", "above", ""}
        Where names are with matplotlib; "ends" of lines, as on a page.
    tall : float
        Further height, in pixels.
    """

    x: Axis
    y: Axis
    series: Sequence[Series]
    rules: Sequence[Rule] = ()
    strip: Sequence[tuple[float, float, float]] = ()
    counts: Sequence[Sequence[str]] = ()
    legend: str = ""
    tall: float = 0.0


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
    """A row of a figure.

    Attributes
    ----------
    name : str
    parts : (str, str) or None
        Where to break a long name.
    bar : float or None
        Length of its bar.
    value : str
        Beside the bar.
    dots : sequence of Dot
    aside : str
        At the right edge.
    text : str
        The row in words.
    """

    name: str
    parts: tuple[str, str] | None = None
    bar: float | None = None
    value: str = ""
    dots: Sequence[Dot] = ()
    aside: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(Figure):
    """Bars and dots, in rows with names on the left.

    Attributes
    ----------
    x : Axis
    rows : sequence of Row
    rules : sequence of Rule
    kinds : sequence of str
        Of dots, in a legend with matplotlib.
    asides : str
        Head of what is at the right edge.
    bar_kind : str
        Of bars, in the legend.
    classes : sequence of str
        Names of the dots of one row, which are then apart and of different colours.
    foot : str
        Below the axis.
    """

    x: Axis
    rows: Sequence[Row]
    rules: Sequence[Rule] = ()
    kinds: Sequence[str] = ("", "", "")
    asides: str = ""
    bar_kind: str = ""
    classes: Sequence[str] = ()
    foot: str = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """Content of a cell: a text of at most three characters, and a strength from 0 to 1, in the
    colour of negative values or not."""

    text: str
    strength: float
    is_negative: bool = False

    @property
    def shade(self) -> int:
        """0 (none) to 5, or to 3 for a negative one, whose colour is too light for the others."""
        steps = SHADES[: DARK - 1] if self.is_negative else SHADES
        return sum(self.strength >= step for step in steps)


SHADES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Lower ends of the shades."""

DARK = 4
"""Lightest shade on which the text has the colour of the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles(Figure):
    """A cell for each pair of names; `bold` are the names in the selection. A scale, from the least
    to the greatest strength, takes the place of texts."""

    x: Sequence[str]
    y: Sequence[str]
    tiles: Sequence[Sequence[Tile | None]]
    bold: Sequence[bool] = ()
    labels: tuple[str, str] = ("", "")
    scale: str = ""
