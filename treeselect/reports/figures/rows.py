"""Names on the rows of a figure: beside them, or above where there is no room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.forms import NAME, Form
from treeselect.reports.figures.labels import folded, width

_LINE = 16.0
"""Height of a line of a name."""


@dataclass(frozen=True, slots=True)
class RowName:
    """Lines of a name, the first on the baseline `y`; they end at `x` if they stand beside their
    row, and begin there if they stand above it."""

    lines: tuple[str, ...]
    x: float
    y: float
    beside: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """Where the rows of a figure are.

    Attributes
    ----------
    names : tuple of RowName
    middles : tuple of float
        Heights at which marks stand.
    left : float
        Where marks may begin.
    bottom : float
    """

    names: tuple[RowName, ...]
    middles: tuple[float, ...]
    left: float
    bottom: float


def rows_of(
    names: Sequence[str],
    form: Form,
    *,
    parts: Sequence[tuple[str, str]] | None = None,
    below: float = 0.0,
) -> Rows:
    """Rows with their names.

    Parameters
    ----------
    names : sequence of str
    form : Form
    parts : sequence of (str, str), optional
        Where a name is broken that has no room on one line.
    below : float
        What each row needs below its mark.
    """
    lines = folded(names, form.beside / NAME, parts)
    whole = all(
        len("".join(own).replace(" ", "")) >= len(name.replace(" ", ""))
        for own, name in zip(lines, names, strict=True)
    )
    if form.above and not (whole and (parts or all(len(own) == 1 for own in lines))):
        return _above(folded(names, form.above / NAME, parts), below)
    return _beside(lines, below)


def _beside(lines: Sequence[tuple[str, ...]], below: float) -> Rows:
    widest = max((width(line, NAME) for own in lines for line in own), default=0.0)
    left = round(max(widest, 24.0) + 14.0)
    top, names, middles = 4.0, [], []
    for own in lines:
        height = _LINE * len(own) + 8.0
        middle = top + height / 2
        names.append(RowName(own, left - 12.0, middle - _LINE * (len(own) - 1) / 2 + 4.5, True))
        middles.append(middle)
        top += height + below
    return Rows(tuple(names), tuple(middles), left, top)


def _above(lines: Sequence[tuple[str, ...]], below: float) -> Rows:
    top, names, middles = 2.0, [], []
    for own in lines:
        names.append(RowName(own, 2.0, top + 13.0, False))
        middles.append(top + _LINE * len(own) + 10.0)
        top = middles[-1] + 12.0 + below
    return Rows(tuple(names), tuple(middles), 10.0, top)
