"""What the sections of a page are made of: tables of texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_UNITS = 30
"""Units in a figure; more are counted."""

MOST_ROWS = 50
"""Rows in a table; more are counted."""

_NUMBER = re.compile(r"[+-]?[\d.,]*(e[+-]?\d+)?|\([\d.,]+\)|<0\.0+1|∞|–")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuple of str
        The first cell of each row is its head.
    more : int
        Rows that were left out.
    bar_column : int or None
        Column that shows a small bar beside each number.
    bars : tuple of float
        Length of each row's bar, in [0, 1].
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0
    bar_column: int | None = None
    bars: tuple[float, ...] = ()

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column holds nothing but numbers, which are set flush right."""
        return tuple(
            all(_NUMBER.fullmatch(row[i]) for row in self.rows) for i in range(len(self.columns))
        )


def names_table(names: Sequence[tuple[str, str]]) -> Table | None:
    """Names and labels of what is shown under a label; None if there are none."""
    if not names:
        return None
    shown = tuple(names[:MOST_ROWS])
    return Table(("Name", "Label"), shown, len(names) - len(shown))


def table_around(
    columns: Sequence[str], rows: Sequence[tuple[str, ...]], sizes: Sequence[int], chosen: int
) -> Table:
    """A table with a row for each step of a path; of a long one, those around the chosen size."""
    at = next((i for i, size in enumerate(sizes) if size >= chosen), len(sizes) - 1)
    first = max(0, min(at - MOST_ROWS // 2, len(rows) - MOST_ROWS))
    shown = tuple(rows[first : first + MOST_ROWS])
    return Table(tuple(columns), shown, len(rows) - len(shown))
