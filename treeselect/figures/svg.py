"""Figures as SVG for a page, without scripts and fixed colours: classes are those of
``report.css``, and shape or text repeats whatever colour encodes.

Most figures are drawn twice, for wide screens and paper, and for phones. The style sheet shows one
of the drawings, so that figures need neither unreadable scaling nor scrolling; they are described
once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from treeselect.figures.axes import NAME, TICK, Ticks, folded, middle_in, width
from treeselect.figures.marks import Dot, Figure, Plane, Rows
from treeselect.figures.planes import (
    NARROW,
    SMALL,
    WIDE,
    Form,
    group,
    level,
    painted_plane,
    path,
    tag,
    text,
    tip,
    upright,
)


def drawn(figure: Figure) -> Markup:
    head = tag("title", figure.title, id=f"{figure.key}-title") + tag(
        "desc", figure.text, id=f"{figure.key}-desc"
    )
    if figure.form:
        return _drawing(figure, SMALL[figure.form], head)
    kind = "figure listed" if isinstance(figure, Rows) else "figure"
    both = _drawing(figure, WIDE, head) + _drawing(figure, NARROW, Markup(""))
    return tag("div", both, class_=kind)


def _drawing(figure: Figure, form: Form, head: Markup) -> Markup:
    paint: Any = painted_plane if isinstance(figure, Plane) else _rows
    inside, height = paint(figure, form)
    return tag(
        "svg", head + inside, class_=form.name, viewBox=f"0 0 {form.width} {math.ceil(height)}",
        role="img", aria_labelledby=f"{figure.key}-title", aria_describedby=f"{figure.key}-desc",
    )  # fmt: skip


# --- rows ----------------------------------------------------------------------------------------

_LINE = 16.0
"""Height of a line of a name."""

_THICKNESS = 14.0
"""Of a bar."""


def _lines(kind: str, x: float, y: float, lines: Sequence[str]) -> Markup:
    return Markup("").join(text(kind, x, y + i * _LINE, line) for i, line in enumerate(lines))


def _row_names(
    figure: Rows, form: Form, below: float
) -> tuple[list[tuple[float, Markup]], float, float]:
    """The middle of each row and its name, beside or above it; where marks may begin, and where the
    rows end."""
    names = [row.name for row in figure.rows]
    top = form.top if form.is_small else 4.0
    size = TICK if form.is_small else NAME
    lines = folded(names, form.beside / size)
    whole = all(
        len("".join(own).replace(" ", "")) >= len(name.replace(" ", ""))
        for own, name in zip(lines, names, strict=True)
    )
    found = []
    if form.above and not (whole and all(len(own) == 1 for own in lines)):
        top = 2.0
        for own in folded(names, form.above / NAME):
            middle = top + _LINE * len(own) + 10.0
            found.append((middle, _lines("name", 2.0, top + 13.0, own)))
            top = middle + 12.0 + below
        return found, 10.0, top
    widest = max((width(line, size) for own in lines for line in own), default=0.0)
    left = round(max(widest, 24.0) + 14.0)
    kind = "level end" if form.is_small else "name end"
    for own in lines:
        height = _LINE * len(own) + 8.0
        middle = top + height / 2
        y = middle - _LINE * (len(own) - 1) / 2 + 4.5
        found.append((middle, _lines(kind, left - 12.0, y, own)))
        top += height + below
    return found, left, top


def _rows(figure: Rows, form: Form) -> tuple[Markup, float]:
    room = max((width(row.value, TICK) for row in figure.rows), default=0.0) + 12.0
    has_bars = any(row.bar is not None for row in figure.rows)
    is_below = form.above > 0 and has_bars and room > 0.3 * form.width
    names, left, bottom = _row_names(figure, form, _THICKNESS if is_below else 0.0)
    asides = 54.0 if figure.asides else 0.0
    right = form.width - (0.0 if asides else form.margin) - asides
    if has_bars:
        right = form.width - (4.0 if is_below else room)
        ticks: Ticks = []
    else:
        ticks = figure.x.ticks(right - left)
        left = max(left, math.ceil(width(ticks[0][1], TICK) / 2))
        right = min(right, math.floor(form.width - width(ticks[-1][1], TICK) / 2))

    def x(value: float) -> float:
        return round(left + figure.x.share(value) * (right - left), 1)

    parts, height = _row_axes(figure, form, ticks, x, bottom)
    for row, (middle, name) in zip(figure.rows, names, strict=True):
        inside = [tip(form, f"{row.name}: {row.text or row.value}"), name]
        if row.bar is not None:
            length = x(row.bar) - left
            inside.append(tag("rect", class_="bar", x=left, y=middle - _THICKNESS / 2,
                               width=length, height=_THICKNESS))  # fmt: skip
            at = (left, middle + 19.0) if is_below else (left + length + 8, middle + 4.5)
            inside.append(text("tick", *at, row.value))
        inside += [_dot(dot, x, middle, form) for dot in row.dots]
        if row.aside:
            inside.append(text("tick end", form.width - 6, middle + 4, row.aside))
        parts.append(group("", *inside))
    return Markup("").join(parts), height


def _row_axes(
    figure: Rows, form: Form, ticks: Ticks, x: Callable[[float], float], bottom: float
) -> tuple[list[Markup], float]:
    """Lines behind the rows, with labels, and the height of the figure."""
    top = form.top if form.is_small else 0.0
    parts, height = [], bottom + 4
    if ticks:
        parts = [path("grid", *(upright(x(value), top, bottom) for value, _ in ticks))]
        parts += [text("tick middle", x(value), bottom + 18, label) for value, label in ticks]
        height = bottom + 28
    if figure.head:
        parts += [text("head", 2, 14, figure.head), text("label", 2, 31, figure.x.label)]
    if figure.asides:
        parts.append(text("label end", form.width - 6, 31, figure.asides))
    for rule in figure.rules:
        at = x(rule.at or 0.0)
        parts.append(path("marker" if rule.dashes else "axis", upright(at, top, bottom)))
        if rule.label and ticks:
            middle = middle_in(at, rule.label, form.width)
            parts.append(text("tick middle", middle, bottom + 34, rule.label))
            height = bottom + 42
    if figure.foot:
        parts.append(text("label middle", form.width / 2, bottom + 36, figure.foot))
        height = bottom + 46
    return parts, height


def _dot(dot: Dot, x: Callable[[float], float], y: float, form: Form) -> Markup:
    bar = [] if dot.low is None or dot.high is None else [level(y, x(dot.low), x(dot.high))]
    at = x(dot.at)
    if dot.kind == 2:
        mark = tag("rect", class_="open", x=at - 4, y=y - 4, width=8, height=8)
    else:
        kind = "hollow" if dot.kind else "dot"
        mark = tag("circle", class_=kind, cx=at, cy=y, r=4 if form.is_small else 5)
    return path("error", *bar) + mark
