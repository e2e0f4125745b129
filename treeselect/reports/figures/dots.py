"""Dots with intervals, one for each name: shares, differences, or values of any size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from treeselect.printing import decimal_text, interval_text
from treeselect.reports.figures.axes import Tick, fitted_ticks, middle_in
from treeselect.reports.figures.forms import TICK, Figure, Form, in_both_forms
from treeselect.reports.figures.labels import width
from treeselect.reports.figures.rows import RowName, rows_of

_SHARES = ((0.0, "0%"), (0.25, "25%"), (0.5, "50%"), (0.75, "75%"), (1.0, "100%"))


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its interval.

    Attributes
    ----------
    name : str
    value, low, high : float
    filled : bool
    text : str
        The value in words.
    """

    name: str
    value: float
    low: float
    high: float
    filled: bool
    text: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with an interval."""

    name: str
    label: RowName
    x: float
    low: float
    high: float
    y: float
    filled: bool
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A reference value, and the position of its label."""

    at: float
    label: str
    label_x: float


@dataclass(frozen=True, slots=True)
class Dots:
    """Numbers with intervals on a common axis; marks are reference values."""

    form: Form
    width: int
    height: int
    left: float
    right: float
    bottom: float
    dots: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]


DotFigure: TypeAlias = Figure[Dots]


def dot_figure(
    names: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    filled: Sequence[bool],
    more: int,
) -> DotFigure:
    """Geometry of dots with intervals; values in [0, 1], filled if they are selected."""
    shown = _values(names, values, lows, highs, filled)
    said = "; ".join(f"{v.name}: {v.text}{', selected' if v.filled else ''}" for v in shown)
    return in_both_forms(partial(drawn_dots, shown, None, {}), said, more)


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
    shown = _values(names, values, lows, highs, filled)
    ends = min([*lows, mark[1]]), max([*highs, mark[1]])
    said = "; ".join(f"{v.name}: {v.text}{', selected' if v.filled else ''}" for v in shown)
    said += f"; {mark[0]}: {decimal_text(mark[1], 2)}"
    return in_both_forms(partial(drawn_dots, shown, ends, {mark[0]: mark[1]}), said, more)


def _values(
    names: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    filled: Sequence[bool],
) -> list[Value]:
    return [
        Value(
            name,
            value,
            low,
            high,
            bool(fill),
            f"{decimal_text(value, 2)} ({interval_text(low, high)})",
        )
        for name, value, low, high, fill in zip(names, values, lows, highs, filled, strict=True)
    ]


def drawn_dots(
    values: Sequence[Value],
    ends: tuple[float, float] | None,
    marks: dict[str, float],
    form: Form,
    *,
    signed: bool = False,
) -> Dots:
    """Geometry of dots between the ends of an axis, or of shares without any."""
    rows = rows_of([value.name for value in values], form)
    left, right = rows.left, form.width - form.margin
    ticks = fitted_ticks(*ends, right - left, signed=signed) if ends else list(_SHARES)
    left = max(left, math.ceil(width(ticks[0][1], TICK) / 2))
    right = min(right, math.floor(form.width - width(ticks[-1][1], TICK) / 2))
    first, last = ticks[0][0], ticks[-1][0]

    def x(value: float) -> float:
        return round(left + (value - first) / (last - first) * (right - left), 1)

    dots = tuple(
        Dot(v.name, label, x(v.value), x(v.low), x(v.high), middle, v.filled, v.text)
        for v, label, middle in zip(values, rows.names, rows.middles, strict=True)
    )
    marked = tuple(
        Mark(x(at), label, middle_in(x(at), label, form.width)) for label, at in marks.items()
    )
    below = 42 if any(marks) else 28
    return Dots(
        form,
        form.width,
        int(rows.bottom) + below,
        left,
        right,
        rows.bottom,
        dots,
        tuple(Tick(x(at), label) for at, label in ticks),
        marked,
    )
