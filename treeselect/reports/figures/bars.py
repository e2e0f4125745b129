"""Horizontal bars, one for each name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from treeselect.printing import decimal_text
from treeselect.reports.figures.forms import TICK, Figure, Form, in_both_forms
from treeselect.reports.figures.labels import width
from treeselect.reports.figures.rows import RowName, rows_of

_THICKNESS = 14.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A horizontal bar, and its value in words on the baseline `value_y`."""

    name: str
    label: RowName
    y: float
    length: float
    value: str
    value_x: float
    value_y: float


@dataclass(frozen=True, slots=True)
class Bars:
    """Horizontal bars from a common start."""

    form: Form
    width: int
    height: int
    left: float
    thickness: float
    bars: tuple[Bar, ...]


BarFigure: TypeAlias = Figure[Bars]


def bar_figure(
    names: Sequence[str],
    values: Sequence[float],
    more: int,
    *,
    parts: Sequence[tuple[str, str]] | None = None,
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
    parts : sequence of (str, str), optional
        Where a long name is broken in two lines.
    full : float, optional
        Value of the longest possible bar, by default the largest of the values.
    texts : sequence of str, optional
        The values in words, by default with three decimals.
    """
    words = texts or [decimal_text(value, 3) for value in values]
    shares = [value / (full or max(values) or 1.0) for value in values]
    said = "; ".join(f"{name}: {text}" for name, text in zip(names, words, strict=True))
    return in_both_forms(partial(_bars, names, shares, words, parts), said, more)


def _bars(
    names: Sequence[str],
    shares: Sequence[float],
    words: Sequence[str],
    parts: Sequence[tuple[str, str]] | None,
    form: Form,
) -> Bars:
    room = max((width(text, TICK) for text in words), default=0.0) + 12.0
    below = form.above > 0 and room > 0.3 * form.width  # long words stand below their bars
    rows = rows_of(names, form, parts=parts, below=_THICKNESS if below else 0.0)
    longest = form.width - rows.left - (4.0 if below else room)
    lengths = [round(share * longest, 1) for share in shares]
    bars = tuple(
        Bar(
            name,
            label,
            middle - _THICKNESS / 2,
            length,
            text,
            rows.left if below else round(rows.left + length + 8, 1),
            middle + 19.0 if below else middle + 4.5,
        )
        for name, label, middle, length, text in zip(
            names, rows.names, rows.middles, lengths, words, strict=True
        )
    )
    return Bars(form, form.width, int(rows.bottom) + 4, rows.left, _THICKNESS, bars)
