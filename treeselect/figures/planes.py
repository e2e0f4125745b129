"""Elements of SVG and the sizes of figures; series between two axes, with names beside them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from treeselect.figures.axes import NAME, TICK, distinct, middle_in, shorten, spread, width
from treeselect.figures.marks import Plane, Rule, Series, side_by_side
from treeselect.shown import shown

_STRIP = 16.0
"""Height of the strip below the axis that shows the distribution of the rows."""

_ROW = 22.0
"""Height of a row of numbers below the axis."""


@dataclass(frozen=True, slots=True)
class _Area:
    """Between the axes of a figure."""

    figure: Plane
    form: Form
    left: float
    right: float
    top: float
    bottom: float

    @property
    def inset(self) -> float:
        return 0.0 if self.figure.x.kind == "times" else self.form.inset

    def x(self, value: float) -> float:
        return self.at(self.figure.x.share(value))

    def at(self, share: float) -> float:
        left, right = self.left + self.inset, self.right - self.inset
        return round(left + share * (right - left), 1)

    def y(self, value: float) -> float:
        return round(self.bottom - self.figure.y.share(value) * (self.bottom - self.top), 1)


def _area(figure: Plane, form: Form) -> _Area:
    top, bottom = form.top, form.bottom + figure.tall * bool(form.legend)
    labels = [label for _, label in figure.y.ticks(math.inf)]
    left = round(max(width(label, TICK) for label in labels) + 14.0)
    right = form.width - (form.legend if _has_names(figure) and form.legend else 12.0)
    right = form.width - form.margin if form.is_small else right
    if figure.counts:
        first = max(width(own[0], TICK) for own in figure.counts) / 2
        names = distinct([one.name for one in figure.series], 6.0)
        left = round(max([44.0, *(width(name, NAME) for name in names)]) + 30.0 + first)
        right = form.width - (112.0 if form.legend else 24.0)
        top, bottom = 48.0, bottom + 36.0
    return _Area(figure, form, left, right, top, bottom)


def _has_names(figure: Plane) -> bool:
    return any(one.name for one in figure.series)


def painted_plane(figure: Plane, form: Form) -> tuple[Markup, float]:
    """What is in a drawing, and its height."""
    area = _area(figure, form)
    parts = [_axes(area), *(_rule(area, rule) for rule in figure.rules), _strip(area)]
    shifts = side_by_side(figure.series, area.x, most=5.0, alone=20.0)
    if figure.counts:
        parts += [group(_hue(one), *_bands(area, one, 0.0)) for one in figure.series if one.band]
    parts += [_series(area, one, shift) for one, shift in zip(figure.series, shifts, strict=True)]
    names, height = _names(area) if _has_names(figure) else ([], _foot(area))
    return Markup("").join([*parts, *names]), height


def _foot(area: _Area) -> float:
    below = 48.0 if area.form.inset else 52.0
    if area.form.name == "panel":
        below = _STRIP + (46.0 if area.figure.x.label else 26.0)
    return area.bottom + below


def _axes(area: _Area) -> Markup:
    figure, form, left, right, bottom = area.figure, area.form, area.left, area.right, area.bottom
    ticks = [(area.y(value), label) for value, label in figure.y.ticks(math.inf)]
    across, below = _x_ticks(area), _STRIP if figure.strip else 0.0
    panel = form.name == "panel"
    parts = [
        path("grid", *(level(y, left, right) for y, _ in ticks)),
        *(text("tick end", left - 8, y + 4, label) for y, label in ticks),
        *(
            text("tick middle", middle_in(x, label, form.width), bottom + below + 19, label)
            for x, label in across
        ),
    ]
    if not panel:
        parts.append(path("axis", level(bottom, left, right),
                           *(f"M{length(x)} {length(bottom)}v4" for x, _ in across)))  # fmt: skip
    if figure.x.label:
        middle = (left + right) / 2
        label = shorten(figure.x.label, 2 * min(middle, form.width - middle) / TICK)
        parts.append(text("label middle", middle, bottom + below + (38 if panel else 40), label))
    if figure.head:
        parts.append(text("head", 2, 14, figure.head))
    y = 31 if figure.head else 14
    parts.append(text("label", 2, y, shorten(figure.y.label, (form.width - 8) / TICK)))
    return Markup("").join(parts)


def _x_ticks(area: _Area) -> list[tuple[float, str]]:
    """Ticks of the horizontal axis; those that that of missing values would cover are left out."""
    figure = area.figure
    room = area.at(1.0) - area.at(0.0)
    found = [(area.x(value), label) for value, label in figure.x.ticks(room)]
    if figure.counts:
        texts = [*(label for _, label in found), *(text for own in figure.counts for text in own)]
        wide = max(width(text, TICK) for text in texts) + 6
        apart = found[1][0] - found[0][0] if len(found) > 1 else wide
        found = found[:: max(1, math.ceil(wide / apart))]
    lost = [(x, label) for x, label in found if x >= area.at(1.0 - figure.x.slot) and figure.x.slot]
    begin = min((x - width(label, TICK) / 2 - 4 for x, label in lost), default=math.inf)
    return [
        (x, label)
        for x, label in found
        if (x, label) in lost or x + width(label, TICK) / 2 <= begin
    ]


def _rule(area: _Area, rule: Rule) -> Markup:
    kind = "marker" if rule.dashes else "axis"
    left, right, top, bottom = area.left, area.right, area.top, area.bottom
    if rule.at is None:
        return path(kind, f"M{length(left)} {length(bottom)}L{length(right)} {length(top)}")
    if rule.along == "y":
        x, above = area.x(rule.at), 8.0 if rule.label else 0.0
        line = path(kind, upright(x, top - above, bottom))
        if not rule.label:
            return line
        at = middle_in(x, rule.label, area.form.width)
        return line + text("tick middle", at, top - 12, rule.label)
    y = area.y(rule.at)
    line = path(kind, level(y, left, right))
    return line + text("tick", left + 6, y - 6, rule.label) if rule.label else line


def _strip(area: _Area) -> Markup:
    foot = area.bottom + 2 + _STRIP
    known = 1 - area.figure.x.slot
    bars = [
        f"M{length(area.at(a * known))} {length(foot)}V{length(foot - _STRIP * height)}"
        f"H{length(area.at(b * known))}V{length(foot)}z"
        for a, b, height in area.figure.strip
    ]
    return path("rows", *bars)


def _hue(one: Series) -> str:
    kinds = [f"hue-{one.colour % 8}"] if one.colour is not None else []
    kinds += [f"stroke-{one.stroke}"] if one.stroke else []
    return " ".join([*kinds, *(["outside"] if one.soft else [])])


def _series(area: _Area, one: Series, shift: float) -> Markup:
    form = area.form
    xs = [round(area.x(x) + shift, 1) for x in one.x]
    ys = [area.y(y) if math.isfinite(y) else math.nan for y in one.y]
    parts = [tip(form, one.text)]
    if one.band and one.low and not area.figure.counts:
        parts += _bands(area, one, shift)
    if one.line == "steps":
        parts.append(path("steps", _steps(xs, ys)))
    elif one.line:
        # In contiguous parts without those that are not known
        groups = itertools.groupby(zip(xs, ys, strict=True), lambda point: math.isfinite(point[1]))
        runs = [list(run) for is_known, run in groups if is_known]
        parts += [
            tag("polyline", class_="line", points=_corners(run)) for run in runs if len(run) > 1
        ]
    parts.append(
        path("censored", *dict.fromkeys(
            f"M{length(area.x(x))} {length(area.y(y) - 4)}v8" for x, y in one.ticks
        ))
    )  # fmt: skip
    points = list(zip(xs, ys, one.has_mark, strict=True))
    if one.texts:
        parts += _dots(area, one, xs, ys)
    else:
        if one.low and not one.band:
            parts.append(path("whiskers", *(
                _whisker(x, area.y(low), area.y(high), 2.5)
                for (x, _, mark), low, high in zip(points, one.low, one.high, strict=True)
                if mark and math.isfinite(low)
            )))  # fmt: skip
        if one.mark is not None:
            at = [(x, y) for x, y, mark in points if mark and math.isfinite(y)]
            parts.append(_marks(one.mark, at, hollow=one.hollow))
    parts += [
        tag("circle", class_="ring", cx=x, cy=y, r=9)
        for x, y, ring in zip(xs, ys, one.ringed, strict=False)
        if ring and math.isfinite(y)
    ]
    return group(_hue(one), *parts)


def _dots(area: _Area, one: Series, xs: Sequence[float], ys: Sequence[float]) -> list[Markup]:
    """Dots with texts of their own."""
    parts = []
    for i, (x, y, words) in enumerate(zip(xs, ys, one.texts, strict=True)):
        if not math.isfinite(y):
            continue
        has_bar = one.low and not one.band and math.isfinite(one.low[i])
        cap = 0.0 if area.form.is_small else 4.0
        bar = [_whisker(x, area.y(one.low[i]), area.y(one.high[i]), cap)] if has_bar else []
        if one.hollow:
            dot = tag("rect", class_="open", x=x - 4, y=y - 4, width=8, height=8)
        else:
            dot = path("speck" if one.small else "value", f"M{length(x)} {length(y)}h0")
        parts.append(group("", tip(area.form, words), path("error", *bar), dot))
    return parts


def _whisker(x: float, low: float, high: float, cap: float) -> str:
    bar = upright(x, low, high)
    if not cap:
        return bar
    wide = length(2 * cap)
    return f"{bar}m{length(-cap)} 0h{wide}M{length(x - cap)} {length(low)}h{wide}"


def _corners(points: Iterable[tuple[float, float]]) -> str:
    """Points without those that repeat or lie between two of the same height."""
    kept: list[tuple[float, float]] = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        if len(kept) > 1 and kept[-2][1] == kept[-1][1] == point[1]:
            kept.pop()
        kept.append(point)
    return " ".join(f"{length(x)},{length(y)}" for x, y in kept)


def _steps(xs: Sequence[float], ys: Sequence[float]) -> str:
    """Steps, only where they go down."""
    path, before = f"M{length(xs[0])} {length(ys[0])}", ys[0]
    for x, y in zip(xs, ys, strict=True):
        if y != before:
            before = y
            path += f"H{length(x)}V{length(y)}"
    return f"{path}H{length(xs[-1])}"


def _bands(area: _Area, one: Series, shift: float) -> list[Markup]:
    """Outlines of the intervals, interrupted where they are missing."""
    xs = [round(area.x(x) + shift, 1) for x in one.x]
    cells = list(zip(xs, one.low, one.high, strict=True))
    parts = []
    for is_known, run in itertools.groupby(enumerate(cells), key=lambda c: math.isfinite(c[1][1])):
        places, known = zip(*run, strict=True)
        own = list(known)
        if one.line == "steps":  # each interval is that until the next point
            end = min(places[-1] + 1, len(xs) - 1)
            own = [cell for place, cell in zip(places, known, strict=True) if place < end]
            own += [(xs[end], *cell[1:]) for cell in own[-1:]]
        if not is_known or not own or own[-1][0] <= own[0][0]:
            continue
        upper = [(x, area.y(high)) for x, _, high in own]
        lower = [(x, area.y(low)) for x, low, _ in own]
        if one.line == "steps":
            back = (f"V{length(y)}H{length(x)}" for x, y in reversed(lower[:-1]))
            parts.append(path("band", _steps(*zip(*upper, strict=True)), *back, "z"))
        else:
            parts.append(tag("polygon", class_="band", points=_corners([*upper, *reversed(lower)])))
    return parts


_SHAPES = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "m-3.8-3.8h7.6v7.6h-7.6z", "m0-4.8 4.6 8.4h-9.2z",
    "m0-5 5 5-5 5-5-5z",
)  # fmt: skip


def _marks(number: int, points: Iterable[tuple[float, float]], *, hollow: bool = False) -> Markup:
    """Marks of lines, distinguishable without colour."""
    kind = "solid" if number < 4 and not hollow else "open"
    return path(kind, *(f"M{length(x)} {length(y)}{_SHAPES[number % 4]}" for x, y in points))


# --- names of series -----------------------------------------------------------------------------


def _names(area: _Area) -> tuple[list[Markup], float]:
    """Names at the right ends of lines, or below; and numbers in rows below the axis."""
    figure, form, bottom = area.figure, area.form, area.bottom
    series = [one for one in figure.series if one.name]
    if not form.legend:
        return _counts(area) if figure.counts else _flowing(series, form, bottom + 60.0)
    known = [[(x, y) for x, y in zip(one.x, one.y, strict=True) if y == y] for one in series]
    ends = [area.y(points[-1][1]) if points else area.top for points in known]
    last = max(points[-1][0] for points in known if points)
    lowest = max(bottom, area.top + 18.0 * len(ends))
    heights = spread(ends, 18.0, area.top, lowest)
    most = 6.0 if figure.counts else (form.width - area.right - 36.0) / NAME
    labels = distinct([one.name for one in series], most)
    parts = []
    for one, points, end, height, label in zip(series, known, ends, heights, labels, strict=True):
        is_beside = figure.counts or (len(points) > 1 and points[-1][0] == last)
        start = area.x(points[-1][0]) + (8 if one.mark is not None and not figure.counts else 3)
        leader = path(
            "leader", f"M{length(start)} {length(end)}L{length(area.right + 18)} {length(height)}"
        )
        parts.append(
            group(_hue(one), leader if is_beside else Markup(""),
                   _entry(one, area.right + 26.0, height, label))
        )  # fmt: skip
    if figure.counts:
        rows, foot = _counts(area)
        return [*parts, *rows], foot
    return parts, max([_foot(area), *(height + 10.0 for height in heights)])


def _entry(one: Series, x: float, y: float, label: str) -> Markup:
    return _marks(one.mark or 0, [(x, y)]) + text("name", x + 10, y + 4.5, label)


def _flowing(series: Sequence[Series], form: Form, top: float) -> tuple[list[Markup], float]:
    """Entries side by side, wrapped to the next row when a row is full."""
    parts, x, y = [], 8.0, top
    for one, label in zip(
        series, distinct([one.name for one in series], (form.width - 30.0) / NAME), strict=True
    ):
        wide = width(label, NAME) + 20.0
        if x > 8.0 and x + wide > form.width:
            x, y = 8.0, y + 20.0
        parts.append(group(_hue(one), _entry(one, x, y, label)))
        x += wide + 8.0
    return parts, y + 12.0


def _counts(area: _Area) -> tuple[list[Markup], float]:
    """Rows of numbers below the ticks that they are of."""
    figure, top = area.figure, area.bottom + 64.0
    series = [one for one in figure.series if one.name]
    shown_at = [x for x, _ in _x_ticks(area)]
    every = -(-len(figure.counts[0]) // max(len(shown_at), 1))
    parts = [text("label", 2, top, "at risk")]
    labels = distinct([one.name for one in series], 6.0)
    for i, (one, label, counts) in enumerate(zip(series, labels, figure.counts, strict=True)):
        y = top + (i + 1) * _ROW
        texts = [
            text("tick middle", x, y, count)
            for x, count in zip(shown_at, counts[::every], strict=True)
        ]
        mark = _marks(one.mark or 0, [(8.0, y - 4.5)])
        parts.append(group(_hue(one), mark, text("name", 18, y, label), *texts))
    return parts, top + len(series) * _ROW + 10


# --- two sizes of a figure -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Form:
    """A size at which a figure is drawn, in pixels: room for names on the left (`beside`), above
    their rows, and at the ends of lines (`legend`)."""

    name: str
    width: int
    beside: float
    above: float
    legend: float
    margin: float
    top: float
    bottom: float
    inset: float = 16.0

    @property
    def is_small(self) -> bool:
        """Whether the figure stands beside others."""
        return self.name in ("panel", "square")


WIDE = Form("wide", 680, 290.0, 0.0, legend=190.0, margin=34.0, top=30.0, bottom=272.0)
NARROW = Form("narrow", 340, 112.0, 330.0, legend=0.0, margin=20.0, top=30.0, bottom=222.0)
SMALL = {
    "panel": Form("panel", 320, 156.0, 0.0, legend=0.0, margin=6.0, top=44.0, bottom=170.0,
                  inset=8.0),
    "square": Form("square", 320, 156.0, 0.0, legend=0.0, margin=14.0, top=26.0, bottom=268.0,
                   inset=0.0),
}  # fmt: skip


# --- markup --------------------------------------------------------------------------------------


def tag(name: str, inside: object = None, /, **given: object) -> Markup:
    """An element; texts are escaped, and without control characters."""
    attributes = Markup("").join(
        Markup(' {}="{}"').format(key.strip("_").replace("_", "-"), _plain(value))
        for key, value in given.items()
        if value is not None and value != ""
    )
    if inside is None:
        return Markup("<{}{}/>").format(Markup(name), attributes)
    return Markup("<{0}{1}>{2}</{0}>\n").format(Markup(name), attributes, _plain(inside))


def _plain(value: object) -> object:
    if isinstance(value, float):
        return length(value)
    return value if isinstance(value, Markup | int) else escape(shown(str(value)))


def length(value: float) -> str:
    """A length, to a tenth of a pixel."""
    return f"{round(value, 1) + 0.0:g}" if abs(value) < 1e5 else f"{value:.0f}"


def text(kind: str, x: float, y: float, words: str) -> Markup:
    return tag("text", words, class_=kind, x=x, y=y)


def path(kind: str, *steps: str) -> Markup:
    """A path, if there is anything on it."""
    return tag("path", class_=kind, d="".join(steps)) if any(steps) else Markup("")


def tip(form: Form, words: str) -> Markup:
    """A tooltip; narrow figures have none."""
    return tag("title", words) if words and form is not NARROW else Markup("")


def group(kind: str, *parts: Markup) -> Markup:
    return tag("g", Markup("").join(parts), class_=kind)


def level(y: float, left: float, right: float) -> str:
    return f"M{length(left)} {length(y)}H{length(right)}"


def upright(x: float, top: float, bottom: float) -> str:
    return f"M{length(x)} {length(top)}V{length(bottom)}"
