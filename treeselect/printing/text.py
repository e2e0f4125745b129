"""A summary as plain text, as R prints one: what it says, aligned columns, code on lines.

Columns whose cells are numbers stand with their decimal points below each other, in every format.
"""

from __future__ import annotations

import io
import itertools
import re
import textwrap
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treeselect.shown import shown

# --- what a summary says -------------------------------------------------------------------------

MOST_ROWS = 30
"""Rows of the table of terms; the rest is in ``tidy()``."""


@dataclass(frozen=True, slots=True)
class SmallTable:
    """A further table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """All that a summary says, as text: facts, the table of terms, further tables, and notes."""

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
            rows=_shown(self.rows),
            notes=tuple(map(shown, self.notes)),
            more=tuple(SmallTable(tuple(map(shown, t.columns)), _shown(t.rows)) for t in self.more),
        )

    @property
    def tables(self) -> tuple[SmallTable, ...]:
        """All tables that have rows, that of the terms first."""
        return tuple(t for t in (SmallTable(self.columns, self.rows), *self.more) if t.rows)


def _shown(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(shown, row)) for row in rows)


# --- columns of numbers --------------------------------------------------------------------------

_NUMBER = r"([<>]?[+\-\u2212]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?%?)"
"""A number as summaries print it: 1,234; -0.5; <0.0001; 1.2e-05."""

_FORMS = [
    re.compile(form.replace("N", _NUMBER))
    for form in ("()N", "()N( to )N", r"()N( \()N(\))", "()N( of )N", r"(\()N(\))")
]
"""What the cells of a column of numbers may be: a number, an interval, one with its standard error,
so many of so many, a number in brackets."""

_NONE = "–"
"""Where there is no number."""

_LONGEST_WORD = 10
"""Characters of a word that may stand in a column of numbers: "forced in", "reference"."""


def aligned(
    cells: Sequence[str],
    pad: Callable[[str], str] = lambda missing: " " * len(missing),
    number: Callable[[str], str] = str,
    word: Callable[[str], str] = str,
) -> list[str] | None:
    """The cells of a column of numbers, padded so that decimal points stand below each other where
    all cells stand flush right; None if it is a column of words."""
    # Alternating words and numbers: "(", "2.6", ")"; None of what is no number
    found = (next(filter(None, (form.fullmatch(cell) for form in _FORMS)), None) for cell in cells)
    read = [match.groups() if match else None for match in found]
    known = [parts for parts in read if parts is not None]
    words = [cell for cell, parts in zip(cells, read, strict=True) if parts is None]
    if not known and set(words) - {""} != {_NONE}:
        return None
    if any(len(cell) > _LONGEST_WORD or any(map(str.isdigit, cell)) for cell in words) and known:
        return None
    slots: list[tuple[str, str]] = []  # of each number: the longest before the point, and from it
    if len({parts[::2] for parts in known}) == 1:
        for same in itertools.islice(zip(*known, strict=True), 1, None, 2):
            before, after = zip(*map(_halves, same), strict=True)
            slots.append((max(before, key=len), max(after, key=len)))
    return [
        word(cell) if parts is None else _padded(parts, slots, pad, number)
        for cell, parts in zip(cells, read, strict=True)
    ]


def _padded(
    parts: tuple[str, ...],
    slots: list[tuple[str, str]],
    pad: Callable[[str], str],
    number: Callable[[str], str],
) -> str:
    """A cell in which each number takes the room of its slot, but nothing before the first."""
    text = parts[0]
    for i, (own, behind) in enumerate(
        itertools.zip_longest(parts[1::2], parts[2::2], fillvalue="")
    ):
        before, after = _halves(own)
        whole, rest = slots[i] if slots else ("", "")
        lead = pad(whole[: max(0, len(whole) - len(before))]) if i else ""
        tail = pad(rest[len(after) :])
        if text.endswith("("):  # what is missing in brackets is left out around them
            text = f"{text[:-1]}{lead}({number(own)}{behind}{tail}"
        else:
            text += f"{lead}{number(own)}{tail}{behind}"
    return text


def _halves(number: str) -> tuple[str, str]:
    """What stands before the point, and from it on; an exponent and a percent sign belong there."""
    at = next((i for i, c in enumerate(number) if c in ".e%"), len(number))
    return number[:at], number[at:]


# --- code ----------------------------------------------------------------------------------------

_MANY = 8
"""Items of a list that stand on a line each; those of a longer one fill the lines."""


def code_and_words(text: str) -> list[tuple[str, bool]]:
    """Pieces of a sentence, and whether each is code between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without a partner is part of some name
        return [(text, False)]
    return [(part, i % 2 == 1) for i, part in enumerate(parts) if part]


def code_lines(code: str, width: int) -> list[str]:
    """An expression on lines of at most `width` characters where possible: the items of its longest
    brackets on a line, or on one each. What isn't an expression is one line, unchanged."""
    cuts = _cuts(code) if len(code) > width else []
    if not cuts:
        return [code]
    items = [code[start:end].strip() for start, end in itertools.pairwise(cuts)]
    lines, room = [" ".join(items)], width - 4
    if len(lines[0]) > room:
        if len(items) > 1:  # a comma behind a single one would make a tuple of it
            items = [*items[:-1], *([f"{items[-1]},"] if items[-1] else [])]
        lines = [line for item in items for line in code_lines(item, room)]
        if code[cuts[0] - 1] == "[" and len(items) > _MANY:
            lines = _filled(items, room)
    return [code[: cuts[0]], *(f"    {line}" for line in lines), code[cuts[-1] :]]


def _cuts(code: str) -> list[int]:
    """Where the items of the longest outermost brackets begin and end."""
    longest: list[int] = []
    cuts: list[int] = []
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            (_, start), (_, end) = token.start, token.end
            if token.type != tokenize.OP:
                continue
            if token.string in "([{":
                depth += 1
                cuts = [end] if depth == 1 else cuts
            elif token.string == "," and depth == 1:
                cuts.append(end)
            elif token.string in ")]}":
                depth -= 1
                if depth == 0 and start - cuts[0] > (longest[-1] - longest[0] if longest else 0):
                    longest = [*cuts, start]
    except (tokenize.TokenError, SyntaxError, IndexError):
        return []
    return longest if depth == 0 and "\n" not in code else []


def _filled(items: Sequence[str], room: int) -> list[str]:
    """As many items on a line as fit."""
    lines = [items[0]]
    for item in items[1:]:
        if len(lines[-1]) + len(item) + 1 > room:
            lines.append(item)
        else:
            lines[-1] += f" {item}"
    return lines


# --- plain text ----------------------------------------------------------------------------------

_WIDTH, _GAP = 88, "  "

_LEAST = 30
"""Characters of a row's name that stand on one line, however wide the table is."""


def as_text(content: SummaryContent) -> str:
    """Plain text, at most 88 characters wide unless names are longer."""
    c = content.shown()
    table = table_lines(c.columns, c.rows)
    width = max([_WIDTH, *map(len, table)])
    lines = [c.title.center(width).rstrip(), *(["=" * width] if c.facts or not table else [])]
    label = max((len(name) for name, _ in c.facts), default=0) + 2
    for name, value in c.facts:
        first, later = f"{name}:".ljust(label), " " * label
        if re.fullmatch(r"Call|Model \d+", name):  # can be pasted: broken between its arguments
            code = code_lines(value, width - label)
            lines += [(later if i else first) + line for i, line in enumerate(code)]
        else:
            lines += _wrapped(value, width, first, later)
    lines += table or ["-" * width]
    lines += [line for t in c.more for line in table_lines(t.columns, t.rows)[1:]]
    for note in c.notes:
        lines += _wrapped(note, width, "- ", "  ", long_words=True)
    return "\n".join(lines)


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
    numbers = aligned(cells)
    texts = [head, *(cells if numbers is None else numbers)]
    width = max(map(len, texts))
    return [text.ljust(width) if numbers is None else text.rjust(width) for text in texts]


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
