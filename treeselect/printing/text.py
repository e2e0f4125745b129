"""A summary as plain text, as R prints one."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence

from treeselect.printing.code import code_lines
from treeselect.printing.columns import column_of, set_cell
from treeselect.printing.content import SmallTable, SummaryContent

_WIDTH = 88

_GAP = "  "

_CALLS = ("Call", "Model 1", "Model 2")
"""Facts that are Python code."""

_LEAST = 30
"""Characters of a row's name that stand on one line, however wide the table is."""


def as_text(content: SummaryContent) -> str:
    """Plain text, at most 88 characters wide unless names are longer."""
    c = content.shown()
    table = table_lines(c.columns, c.rows)
    width = max([_WIDTH, *map(len, table)])
    lines = [c.title.center(width).rstrip(), "=" * width]
    label = max((len(name) for name, _ in c.facts), default=0) + 2
    for name, value in c.facts:
        if name in _CALLS:
            lines += _code(value, width, f"{name}:".ljust(label))
        else:
            lines += _wrapped(value, width, f"{name}:".ljust(label), " " * label)
    lines += table or ["-" * width]
    lines += small_lines(c.more)
    for note in c.notes:
        lines += _wrapped(note, width, "- ", "  ", long_words=True)
    return "\n".join(lines)


def _code(code: str, width: int, first: str) -> list[str]:
    """A call, broken between its arguments, so that it can be pasted."""
    lines = code_lines(code, width - len(first))
    return [(" " * len(first) if i else first) + line for i, line in enumerate(lines)]


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table with its head: words flush left, numbers with their points below each other; long
    names of rows, such as labels, on several lines."""
    if not rows:
        return []
    stubs, *others = (_set_column(head, [row[j] for row in rows]) for j, head in enumerate(columns))
    rest = sum(len(cells[0]) + len(_GAP) for cells in others)
    names = _narrowed(stubs, _WIDTH - rest)
    width = max(len(line) for lines in names for line in lines)
    head, *body = (
        [_GAP.join([lines[0].ljust(width), *cells]).rstrip(), *lines[1:]]
        for lines, *cells in zip(names, *others, strict=True)
    )
    rule = width + rest
    return ["=" * rule, *head, "-" * rule, *itertools.chain(*body), "=" * rule]


def _narrowed(cells: Sequence[str], room: int) -> list[list[str]]:
    """Lines of each cell of a column for which there is little room: no word is broken."""
    longest = max((len(word) for cell in cells for word in cell.split()), default=0) + 2
    room = max(room, longest, _LEAST)
    if len(cells[0]) <= room:
        return [[cell] for cell in cells]
    return [_wrapped(cell.rstrip(), room, "", "  ") for cell in cells]


def _set_column(head: str, cells: Sequence[str]) -> list[str]:
    """Head and cells of one column, all of one length."""
    column = column_of(cells)
    texts = [set_cell(column, cell) for cell in cells]
    width = max(len(text) for text in (head, *texts))
    return [text.rjust(width) if column.is_number else text.ljust(width) for text in (head, *texts)]


def small_lines(tables: Sequence[SmallTable]) -> list[str]:
    """Small tables, one below the other: words flush left and wrapped, numbers flush right."""
    if not tables:
        return []
    tables = [_set_numbers(table) for table in tables]
    cells = [row for table in tables for row in (table.columns, *table.rows)]
    words, *numbers = (max(map(len, column)) for column in zip(*cells, strict=True))
    rest = sum(numbers) + len(_GAP) * len(numbers)
    longest = max(len(word) for row in cells for word in row[0].split()) + 2
    words = min(words, max(_WIDTH - rest, longest))
    lines = []
    for table in tables:
        for row in (table.columns, *table.rows):
            first, *more = _wrapped(row[0], words, "", "  ")
            beside = [cell.rjust(n) for cell, n in zip(row[1:], numbers, strict=True)]
            lines += [_GAP.join([first.ljust(words), *beside]).rstrip(), *more]
            lines += ["-" * (words + rest)] if row is table.columns else []
        lines.append("-" * (words + rest))
    return [*lines[:-1], "=" * (words + rest)]


def _set_numbers(table: SmallTable) -> SmallTable:
    """The same with the numbers of each column padded to their points."""
    columns = [column_of([row[j] for row in table.rows]) for j in range(len(table.columns))]
    rows = tuple(
        (row[0], *(set_cell(columns[j], row[j]) for j in range(1, len(row)))) for row in table.rows
    )
    return SmallTable(table.columns, rows)


def _wrapped(
    text: str, width: int, first: str, later: str, *, long_words: bool = False
) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=long_words,
        break_on_hyphens=False,
    ) or [first]
