"""Columns of texts: which hold numbers, and how these stand with their points below each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

NUMBER = re.compile(r"[<>]?[+\-\u2212]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?%?")
"""A number as summaries print it: 1,234; -0.5; <0.0001; 1.2e-05."""

_FORMS = (
    re.compile(rf"({NUMBER.pattern})"),
    re.compile(rf"({NUMBER.pattern})( to )({NUMBER.pattern})"),
    re.compile(rf"({NUMBER.pattern})( \()({NUMBER.pattern})(\))"),
    re.compile(rf"({NUMBER.pattern})( of )({NUMBER.pattern})"),
    re.compile(rf"(\()({NUMBER.pattern})(\))"),
)
"""What the cells of a column of numbers may be: a number, an interval, one with its standard error,
so many of so many, a number in brackets."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one number in the cells of a column.

    Attributes
    ----------
    before, after : str
        The longest text before the point, and from it on.
    """

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Column:
    """How the cells of a column are set.

    Attributes
    ----------
    is_number : bool
        Whether it holds nothing but numbers, and single words where there is none.
    slots : tuple of Slot
        One for each number of a cell; none in a column of words, and where cells differ in form.
    """

    is_number: bool
    slots: tuple[Slot, ...] = ()

    def parts(self, cell: str) -> tuple[str, ...] | None:
        """A cell in pieces, those at odd places numbers; None if it is no number."""
        return _parts(cell) if self.is_number else None


def column_of(cells: Sequence[str]) -> Column:
    """How some cells of a table are set, its head aside.

    Examples
    --------
    >>> from treeselect.printing.columns import column_of, set_cell
    >>> cells = ["9.5 to 10.25", "10 to 11", "–"]
    >>> [set_cell(column_of(cells), cell) for cell in cells]
    ['9.5 to 10.25', '10   to 11   ', '–']
    """
    known = [parts for cell in cells if (parts := _parts(cell)) is not None]
    words = [cell for cell in cells if any(c.isdigit() for c in cell) and _parts(cell) is None]
    few = [cell for cell in cells if _parts(cell) is None and len(cell) > _LONGEST_WORD]
    if not known and set(cells) - {""} == {_NONE}:
        return Column(is_number=True)
    if not known or words or few:
        return Column(is_number=False)
    if len({_form(parts) for parts in known}) > 1:
        return Column(is_number=True)
    slots = []
    for at in range(1, len(known[0]), 2):
        split = [split_number(parts[at]) for parts in known]
        slots.append(Slot(max((a for a, _ in split), key=len), max((b for _, b in split), key=len)))
    return Column(is_number=True, slots=tuple(slots))


_NONE = "–"
"""Where there is no number."""

_LONGEST_WORD = 10
"""Characters of a word that may stand in a column of numbers: "forced in", "reference"."""


def split_number(text: str) -> tuple[str, str]:
    """What stands before the point, and from it on; an exponent and a percent sign belong there."""
    at = next((i for i, c in enumerate(text) if c in ".e%"), len(text))
    return text[:at], text[at:]


def set_cell(
    column: Column,
    cell: str,
    pad: Callable[[str], str] = lambda missing: " " * len(missing),
    write: Callable[[str], str] = str,
) -> str:
    """A cell with its numbers padded, so that points stand below each other where all cells stand
    flush right.

    Parameters
    ----------
    column : Column
    cell : str
    pad : callable
        What takes the room of some digits and points that this cell lacks; spaces by default.
    write : callable
        How a number is written.
    """
    parts = column.parts(cell)
    if parts is None:
        return cell
    text = parts[0]
    for i in range(1, len(parts), 2):
        part, behind = parts[i], parts[i + 1] if i + 1 < len(parts) else ""
        lead, rest = _missing(column, i // 2, part)
        if text.endswith("("):  # what is missing in brackets is left out around them
            text = f"{text[:-1]}{pad(lead)}({write(part)}{behind}{pad(rest)}"
        else:
            text += f"{pad(lead)}{write(part)}{pad(rest)}{behind}"
    return text


def _missing(column: Column, at: int, number: str) -> tuple[str, str]:
    """Digits and points that a number lacks, before it and behind it; before the first number of
    a cell nothing has to be filled."""
    if not column.slots:
        return "", ""
    slot, (before, after) = column.slots[at], split_number(number)
    lead = slot.before[: max(0, len(slot.before) - len(before))] if at else ""
    return lead, slot.after[len(after) :]


def _form(parts: tuple[str, ...]) -> tuple[str, ...]:
    return parts[::2]


def _parts(cell: str) -> tuple[str, ...] | None:
    """A cell as alternating words and numbers: "(", "2.6", ")"; None if it is no number."""
    for form in _FORMS:
        if found := form.fullmatch(cell):
            parts = found.groups()
            return parts if parts[0] == "(" else ("", *parts)
    return None
