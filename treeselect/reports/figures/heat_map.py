"""A number for each pair of names, as a shade and as text: for a desk, and for a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.labels import distinct

_WIDE, _NARROW = 680.0, 328.0
"""Widths, in pixels."""

_NAMES = 190.0
"""Room for names beside the map of a desk, in type of 13 pixels."""

_NAME_EMS = 12.0

_LIST_EMS = 22.0
"""What fits on a line of its own on a phone."""

_LEAST_NARROW = 27.0
"""Cells of a phone are at least so wide where names stand beside them."""

_STEPS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""From where on a cell has the next shade."""

DARK = 4
"""From this shade on a cell's text has the colour of the paper."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What a cell says.

    Attributes
    ----------
    text : str
        Three characters at most.
    said : str
        It in words.
    strength : float
        In [0, 1], for the shade.
    is_negative : bool
        Whether the shade is that of the other side, whose colour is too light for the dark shades.
    """

    text: str
    said: str
    strength: float
    is_negative: bool = False

    @property
    def shade(self) -> int:
        """0, none, to 5; of a negative pair to 3."""
        steps = _STEPS[: DARK - 1] if self.is_negative else _STEPS
        return sum(self.strength >= step for step in steps)


@dataclass(frozen=True, slots=True)
class HeatText:
    """A text in a cell, and what it says in words."""

    x: float
    y: float
    text: str
    said: str
    on_dark: bool


@dataclass(frozen=True, slots=True)
class HeatName:
    """A name with its number, beside its row or in a list above the map.

    Where it stands in a list, `row_y` is where the number is said again.
    """

    number: int
    name: str
    label: str
    y: float
    row_y: float
    inside: bool


@dataclass(frozen=True, slots=True)
class HeatForm:
    """The map as it is drawn at one width.

    Attributes
    ----------
    name : str
        ``"wide"`` or ``"narrow"``.
    width, height : int
    left, top : float
        Of the first cell.
    numbers : tuple of float
        Middles of the columns.
    names : tuple of HeatName
    is_listed : bool
        Whether names stand in a list above.
    fills : tuple of (str, str)
        Class of a shade, and the path of all cells that have it.
    diagonal : str
        Path of the cells of one name.
    texts : tuple of HeatText
    """

    name: str
    width: int
    height: int
    left: float
    top: float
    numbers: tuple[float, ...]
    names: tuple[HeatName, ...]
    is_listed: bool
    fills: tuple[tuple[str, str], ...]
    diagonal: str
    texts: tuple[HeatText, ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Both forms, and the map in words."""

    wide: HeatForm
    narrow: HeatForm
    text: str


def heat_map(
    names: Sequence[str],
    inside: Sequence[bool],
    pairs: Sequence[Sequence[Pair | None]],
    text: str,
) -> HeatMap:
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
    wide = _form("wide", names, inside, pairs, min(44.0, (_WIDE - _NAMES) / n), _NAMES, 26.0)
    beside = 118.0
    cell = min(44.0, (_NARROW - beside) / n)
    if cell >= _LEAST_NARROW:
        narrow = _form("narrow", names, inside, pairs, cell, beside, 24.0)
    else:
        narrow = _form("narrow", names, inside, pairs, (_NARROW - 20.0) / n, 20.0, 21.0)
    return HeatMap(wide, narrow, text)


def _form(
    name: str,
    names: Sequence[str],
    inside: Sequence[bool],
    pairs: Sequence[Sequence[Pair | None]],
    cell: float,
    left: float,
    row: float,
) -> HeatForm:
    n = len(names)
    is_listed = left < 30.0
    ems = _LIST_EMS if is_listed else _NAME_EMS if name == "wide" else 6.6
    labels = distinct(names, ems)
    top = 22.0 + (18.0 * n + 6.0 if is_listed else 0.0)

    def x(i: int) -> float:
        return round(left + i * cell, 1)

    def y(i: int) -> float:
        return round(top + i * row, 1)

    def box(i: int, j: int) -> str:
        return f"M{x(j) + 1:g} {y(i) + 1:g}h{cell - 2:.1f}v{row - 2:g}h{2 - cell:.1f}z"

    fills: dict[str, str] = {}
    texts = []
    for i, cells in enumerate(pairs):
        for j, pair in enumerate(cells):
            if pair is None:
                continue
            shade = f"shade-{pair.shade}{' minus' if pair.is_negative else ''}"
            fills[shade] = fills.get(shade, "") + box(i, j)
            at = (round(x(j) + cell / 2, 1), round(y(i) + row / 2 + 4.5, 1))
            texts.append(HeatText(*at, pair.text, pair.said, pair.shade >= DARK))
    heads = tuple(
        HeatName(
            i + 1,
            names[i],
            labels[i],
            16.0 + 18.0 * i if is_listed else y(i) + row / 2 + 4.5,
            y(i) + row / 2 + 4.5,
            bool(inside[i]),
        )
        for i in range(n)
    )
    return HeatForm(
        name=name,
        width=int(_WIDE if name == "wide" else _NARROW),
        height=int(y(n)) + 4,
        left=left,
        top=top,
        numbers=tuple(round(x(i) + cell / 2, 1) for i in range(n)),
        names=heads,
        is_listed=is_listed,
        fills=tuple(sorted(fills.items())),
        diagonal="".join(box(i, i) for i in range(n)),
        texts=tuple(texts),
    )
