"""A number for each pair of names, as a shade and as text, for wide and narrow screens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.forms import WIDE, Figure, Form, in_both_forms
from treeselect.reports.figures.labels import distinct

_BESIDE, _BESIDE_NARROW, _NUMBER = 190, 118, 20
"""Room to the left of the map: for names and numbers, and for numbers alone."""

_EMS = {_BESIDE: 12.0, _BESIDE_NARROW: 6.6, _NUMBER: 22.0}
"""Longest name there, or on a separate line."""

_LINE = 18
"""Of a list of names."""

_LEAST_NARROW = 27
"""Least width of a cell on a phone if names are beside the rows."""

_STEPS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Lower ends of the shades."""

DARK = 4
"""Lightest shade on which the text has the colour of the paper."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Content of a cell.

    Attributes
    ----------
    text : str
        Three characters at most.
    strength : float
        In [0, 1], for the shade.
    is_negative : bool
        Whether to use the colour of negative values, which is too light for the darkest shades.
    """

    text: str
    strength: float
    is_negative: bool = False

    @property
    def shade(self) -> int:
        """0 (none) to 5, or to 3 for a negative pair."""
        steps = _STEPS[: DARK - 1] if self.is_negative else _STEPS
        return sum(self.strength >= step for step in steps)


@dataclass(frozen=True, slots=True)
class HeatText:
    """A text in a cell."""

    x: int
    text: str
    on_dark: bool


@dataclass(frozen=True, slots=True)
class HeatName:
    """A name with its number, beside its row or in a list above the map.

    In a list, `row_y` is the height at which the number is repeated.
    """

    number: int
    name: str
    label: str
    y: int
    row_y: int
    inside: bool


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The map in one form.

    Attributes
    ----------
    form : Form
    width, height : int
    left, top : int
        Of the first cell.
    thickness : int
        Height of a cell: they are drawn as strokes.
    numbers : tuple of int
        Middles of the columns.
    names : tuple of HeatName
    is_listed : bool
        Whether names are in a list above.
    fills : tuple of (str, str)
        Class of a shade, and the path through all its cells.
    diagonal : str
        Path around the cells of one name.
    rows : tuple of (int, tuple of HeatText)
        Height and texts of each row.
    """

    form: Form
    width: int
    height: int
    left: int
    top: int
    thickness: int
    numbers: tuple[int, ...]
    names: tuple[HeatName, ...]
    is_listed: bool
    fills: tuple[tuple[str, str], ...]
    diagonal: str
    rows: tuple[tuple[int, tuple[HeatText, ...]], ...]


def heat_map(
    names: Sequence[str],
    inside: Sequence[bool],
    pairs: Sequence[Sequence[Pair | None]],
    text: str,
) -> Figure[HeatMap]:
    """Geometry of a map.

    Parameters
    ----------
    names : sequence of str
    inside : sequence of bool
        Whether each is in the selection: its name is set in bold.
    pairs : sequence of sequence of (Pair or None)
        A row for each name, with a cell for each; None leaves a cell empty.
    text : str
        The map in words.
    """
    n = len(names)

    def draw(form: Form) -> HeatMap:
        beside = _BESIDE if form is WIDE else _BESIDE_NARROW
        cell = min(44, (form.width - beside) // n)
        if form is WIDE or cell >= _LEAST_NARROW:
            return _drawn(form, names, inside, pairs, cell, beside)
        return _drawn(form, names, inside, pairs, (form.width - _NUMBER) // n, _NUMBER)

    return in_both_forms(draw, text)


def _drawn(
    form: Form,
    names: Sequence[str],
    inside: Sequence[bool],
    pairs: Sequence[Sequence[Pair | None]],
    cell: int,
    left: int,
) -> HeatMap:
    """The map with cells of the given width, to the right of the given room for names."""
    n, is_listed, row = len(names), left == _NUMBER, 26 if form is WIDE else 23
    labels = distinct(names, _EMS[left])
    top = 22 + (_LINE * n + 6 if is_listed else 0)

    def text_y(i: int) -> int:
        return top + i * row + row // 2 + 5

    fills: dict[str, str] = {}
    rows = []
    for i, cells in enumerate(pairs):
        texts = []
        for j, pair in enumerate(cells):
            if pair is not None:
                texts.append(HeatText(left + j * cell + cell // 2, pair.text, pair.shade >= DARK))
                if pair.shade:
                    shade = f"shade-{pair.shade}{' minus' if pair.is_negative else ''}"
                    stroke = f"M{left + j * cell + 1} {top + i * row + row // 2}h{cell - 2}"
                    fills[shade] = fills.get(shade, "") + stroke
        rows.append((text_y(i), tuple(texts)))
    heads = tuple(
        HeatName(
            i + 1,
            names[i],
            labels[i],
            16 + _LINE * i if is_listed else text_y(i),
            text_y(i),
            bool(inside[i]),
        )
        for i in range(n)
    )
    return HeatMap(
        form=form,
        width=form.width,
        height=top + n * row + 4,
        left=left,
        top=top,
        thickness=row - 2,
        numbers=tuple(left + i * cell + cell // 2 for i in range(n)),
        names=heads,
        is_listed=is_listed,
        fills=tuple(sorted(fills.items())),
        diagonal="".join(
            f"M{left + i * cell + 1} {top + i * row + 1}h{cell - 2}v{row - 2}h{2 - cell}z"
            for i in range(n)
        ),
        rows=tuple(rows),
    )
