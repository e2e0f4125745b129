"""What a summary says: facts, tables and notes, as texts."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.shown import shown

MOST_ROWS = 30
"""Rows of the table of terms; the rest is in ``tidy()``."""


@dataclass(frozen=True, slots=True)
class SmallTable:
    """A further table: words, and numbers beside them, in as many columns as other such tables.

    Attributes
    ----------
    columns : tuple of str
        Its head.
    rows : tuple of tuple of str
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def shown(self) -> SmallTable:
        """The same without control characters."""
        rows = tuple(tuple(map(shown, row)) for row in self.rows)
        return SmallTable(tuple(map(shown, self.columns)), rows)


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """All that a summary says, as text.

    Attributes
    ----------
    title : str
    facts : tuple of (str, str)
        Header: what and its value.
    columns : tuple of str
        Head of the table of terms, the first that of the terms themselves.
    rows : tuple of tuple of str
    notes : tuple of str
        Footer, one sentence or two each.
    more : tuple of SmallTable
        Between the table of terms and the footer.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    more: tuple[SmallTable, ...] = ()

    def shown(self) -> SummaryContent:
        """The same without control characters, which names and labels may hold."""
        return SummaryContent(
            title=shown(self.title),
            facts=tuple((shown(name), shown(value)) for name, value in self.facts),
            columns=tuple(map(shown, self.columns)),
            rows=tuple(tuple(map(shown, row)) for row in self.rows),
            notes=tuple(map(shown, self.notes)),
            more=tuple(table.shown() for table in self.more),
        )
