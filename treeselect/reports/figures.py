"""Numbers to positions: what the SVG macros draw. Pure functions, lengths in pixels."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treeselect.shown import shown

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
class Line:
    """A line over the sizes of the path, with marks on it and its name at the right end.

    Attributes
    ----------
    name, label : str
    points : str
    marks : tuple of (float, float)
        Where its marks stand.
    mark : int
        Which of the marks is its own.
    solid : bool
    end, label_y : float
        Height of its right end, and of its label.
    text : str
        Its values, for those who do not see it.
    """

    name: str
    label: str
    points: str
    marks: tuple[tuple[float, float], ...]
    mark: int
    solid: bool
    end: float
    label_y: float
    text: str


@dataclass(frozen=True, slots=True)
class LineFigure:
    """Lines over the sizes of the path; `marker` is where the chosen number stands."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    lines: tuple[Line, ...]
    marker: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
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


def shorten(name: str, most: float = _LABEL_EMS) -> str:
    """A name that fits into `most` ems; the whole name belongs into the title.

    The middle is left out, because long names often differ at their end only. Control characters
    are escaped first, since escaped they are wider.
    """
    name = shown(name)
    if sum(map(ems, name)) <= most:
        return name
    room = most - ems("…")
    head = _fitting(name, 0.35 * room)
    tail = _fitting(name[::-1], room - sum(map(ems, head)))[::-1]
    return f"{head.rstrip()}…{tail.lstrip()}"


def distinct(names: Sequence[str], most: float = _LABEL_EMS) -> list[str]:
    """Names shortened so that different ones stay different, if what tells them apart fits.

    Names that would look alike show where they differ: "…00291…".
    """
    names = list(map(shown, names))
    labels = [shorten(name, most) for name in names]
    alike: dict[str, set[str]] = {}
    for name, label in zip(names, labels, strict=True):
        alike.setdefault(label, set()).add(name)
    return [
        label if len(alike[label]) == 1 else _where_different(name, alike[label], most)
        for name, label in zip(names, labels, strict=True)
    ]


def _where_different(name: str, others: set[str], most: float) -> str:
    first = _common_start(others)
    last = _common_start({other[::-1] for other in others})
    end = max(len(name) - last, first)
    core = shorten(name[first:end], most - 2 * ems("…"))
    room = most - sum(map(ems, core)) - 2 * ems("…")
    before = _fitting(name[:first][::-1], 0.6 * room)[::-1]
    after = _fitting(name[end:], room - sum(map(ems, before)))
    opening = "…" if len(before) < first else ""
    return f"{opening}{before}{core}{after}{'…' if end + len(after) < len(name) else ''}"


def _common_start(names: set[str]) -> int:
    """How many characters all names begin with."""
    places = enumerate(zip(*names, strict=False))
    different = (i for i, characters in places if len(set(characters)) > 1)
    return next(different, min(map(len, names)))


def _fitting(name: str, most: float) -> str:
    used = 0.0
    for i, character in enumerate(name):
        used += ems(character)
        if used > most:
            return name[:i]
    return name


def ems(character: str) -> float:
    """Generous width of a character in a sans-serif face."""
    if unicodedata.east_asian_width(character) in "WF" or character in "…@%MWmw":
        return 1.0
    if character in "iIjl.,:;|!'`()[] ":
        return 0.4
    return 0.75 if character.isupper() else 0.63


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values that cover the range from `low` to `high`; of huge ones, those that exist."""
    largest = max(abs(low), abs(high))
    if not high - low > max(1e-12 * largest, 1e-300):  # one value, but for rounding
        room = largest / 20 or 0.5
        low, high = max(low - room, -sys.float_info.max), min(high + room, sys.float_info.max)
    unit = _unit(low, high)
    ticks = [tick * unit for tick in _round_values(low / unit, high / unit, about)]
    return list(dict.fromkeys(tick for tick in ticks if math.isfinite(tick)))


def position(value: float, low: float, high: float) -> float:
    """Where a value stands from `low`, 0, to `high`, 1; in the middle if these are the same."""
    if not high > low:
        return 0.5
    unit = _unit(low, high)
    low, high, value = low / unit, high / unit, value / unit
    return (value - low) / (high - low)


def _unit(low: float, high: float) -> float:
    """A unit in which differences are numbers that neither overflow nor vanish."""
    if max(abs(low), abs(high)) > 1e300:
        return 1e300
    return 1e-300 if high - low < 1e-290 else 1.0


def _round_values(low: float, high: float, about: int) -> list[float]:
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def size_ticks(least: int, most: int) -> range:
    """Round numbers of units, at most fifteen or so."""
    wide = (most - least) / 15
    every = next(e for p in range(9) for e in (10**p, 2 * 10**p, 5 * 10**p) if e >= wide)
    return range(-(-least // every) * every, most + 1, every)


def tick_labels(ticks: Sequence[float], *, signed: bool = False) -> list[str]:
    """Values of equal distance as texts with as many decimals as tell them apart; large and tiny
    ones with a power of ten."""
    step, largest = (ticks[1] - ticks[0] if len(ticks) > 1 else 1.0), max(map(abs, ticks))
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if largest < 1e5 else 0
    if largest >= 1e5 or decimals > 4:
        texts = [f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-") for value in ticks]
    else:
        texts = [f"{value:.{decimals}f}" for value in ticks]
    zero = step / 1000
    return [
        "0" if signed and abs(v) < zero else f"+{t}" if signed and v > 0 else t
        for v, t in zip(ticks, texts, strict=True)
    ]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions as near as may be to the wanted ones, in their order, at least `gap` apart and
    within [low, high] if there is room."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    at = low - gap
    places = []
    for i in order:
        at = max(wanted[i], at + gap)
        places.append(at)
    limit = high
    for j in range(len(places) - 1, -1, -1):
        places[j] = min(places[j], limit)
        limit = places[j] - gap
    found = [0.0] * len(wanted)
    for i, place in zip(order, places, strict=True):
        found[i] = round(place, 1)
    return found


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
        What is not finite, as of folds without a score, has no point.
    errors : sequence of float, optional
        Half lengths of the error bars.
    chosen : int
        Size that is marked; none of `sizes` if it was cut from the next larger one.
    """
    width, height, left, right, top, bottom = WIDTH, 300, 62.0, WIDTH - 18.0, 30.0, 252.0
    known = [i for i, score in enumerate(scores) if math.isfinite(score)]
    halves = [e if math.isfinite(e) else 0.0 for e in errors] if errors else [0.0] * len(scores)
    lows, highs = [scores[i] - halves[i] for i in known], [scores[i] + halves[i] for i in known]
    ticks = nice_ticks(min(lows), max(highs)) if known else nice_ticks(0.0, 1.0)
    least, most = min(*sizes, chosen), max(*sizes, chosen)
    span = max(most - least, 1)

    def x(size: float) -> float:
        return round(left + 14 + (size - least) / span * (right - left - 28), 1)

    def y(score: float) -> float:
        return round(bottom - (score - ticks[0]) / (ticks[-1] - ticks[0]) * (bottom - top), 1)

    points = tuple(
        PathPoint(
            x(sizes[i]),
            y(scores[i]),
            y(low) if errors else None,
            y(high) if errors else None,
            sizes[i] == chosen,
            f"{sizes[i]} unit{'' if sizes[i] == 1 else 's'}: {scores[i]:.3f}",
        )
        for i, low, high in zip(known, lows, highs, strict=True)
    )
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
        tuple(Tick(x(size), str(size)) for size in size_ticks(least, most)),
        tuple(map(Tick, map(y, ticks), tick_labels(ticks))),
    )


def bar_figure(
    names: Sequence[str],
    values: Sequence[float],
    more: int,
    *,
    labels: Sequence[str] | None = None,
    full: float | None = None,
    texts: Sequence[str] | None = None,
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
    """
    left = _LABELS
    room = WIDTH - left - 70
    largest = full or max(values, default=0.0) or 1.0
    beside = labels or distinct(names)
    words = texts or [f"{value:.3f}" for value in values]
    bars = tuple(
        Bar(name, label, i * _ROW + 6.0, round(value / largest * room, 1), text)
        for i, (name, label, value, text) in enumerate(
            zip(names, beside, values, words, strict=True)
        )
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
    left, right = _LABELS, WIDTH - 34.0
    bottom = len(names) * _ROW + 8.0
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
            i * _ROW + 16.0,
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


MOST_MARKS = 20
"""Marks on a line; of a longer path every second one, or fewer."""


def line_figure(
    sizes: Sequence[int],
    names: Sequence[str],
    values: Sequence[Sequence[float]],
    solid: Sequence[bool],
    chosen: int,
    more: int,
) -> LineFigure:
    """Geometry of lines over the sizes of the path.

    Parameters
    ----------
    sizes : sequence of int
        Increasing, at least two.
    names : sequence of str
    values : sequence of sequence of float
        Of each line at each size, at least 0. What is before the first value above 0 is not drawn.
    solid : sequence of bool
    chosen : int
        Size that is marked.
    more : int
        Lines that were left out.
    """
    width, height, left, right, top, bottom = WIDTH, 320, 50.0, WIDTH - 196.0, 30.0, 272.0
    ticks = nice_ticks(0.0, max(map(max, values)))
    least, most = min(*sizes, chosen), max(*sizes, chosen)

    def x(size: float) -> float:
        return round(left + 14 + (size - least) / max(most - least, 1) * (right - left - 14), 1)

    def y(value: float) -> float:
        return round(bottom - value / ticks[-1] * (bottom - top), 1)

    ends = [y(own[-1]) for own in values]
    heights = spread(ends, 18.0, top, bottom)
    labels = distinct(names, 10.0)
    every = -(-len(sizes) // MOST_MARKS)
    lines = []
    for i, (name, own) in enumerate(zip(names, values, strict=True)):
        first = max(next((j for j, value in enumerate(own) if value > 0), 0) - 1, 0)
        places = [(x(size), y(value)) for size, value in zip(sizes, own, strict=True)][first:]
        line = Line(
            name,
            labels[i],
            " ".join(f"{a},{b}" for a, b in places),
            tuple(places[::-every][::-1]),
            i,
            bool(solid[i]),
            ends[i],
            heights[i],
            ", ".join(f"{s}: {v:.3f}" for s, v in zip(sizes[first:], own[first:], strict=True)),
        )
        lines.append(line)
    return LineFigure(
        width,
        height,
        left,
        right,
        top,
        bottom,
        tuple(lines),
        x(chosen),
        tuple(Tick(x(size), str(size)) for size in size_ticks(least, most)),
        tuple(map(Tick, map(y, ticks), tick_labels(ticks))),
        more,
    )
