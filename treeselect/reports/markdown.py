"""A page as Markdown, for GitHub, Quarto and Pandoc: its text and its tables, without figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from treeselect.printing.markup import markdown, pipe_table
from treeselect.printing.text import code_and_words
from treeselect.reports.gather import Report
from treeselect.reports.parts import Section
from treeselect.shown import shown

_NOTE = (
    "Text and tables only. Sentences on lines, dots, bars and panels refer to the figures of the"
    " HTML report of the same call."
)


def markdown_page(report: Report) -> str:
    """A report as GitHub-flavoured Markdown, from the parts of which its page is made."""
    found = [f"# {_plain(report.title)}", f"*{_NOTE}*", *map(_plain, report.answer)]
    for card in report.cards:
        said = " ".join(map(_sentence, (card.value, *card.details)))
        found.append(f"- **{_plain(card.head)}:** {said}")
    for own in vars(report).values():
        if isinstance(own, Section):
            found.append(f"## {_plain(own.title)}")
            for kind, part in own.shown:
                found += _part(kind, part)
    return "\n\n".join(_joined(found)) + "\n"


def _joined(parts: Iterable[str]) -> list[str]:
    """The parts with the items of a list below each other."""
    found: list[str] = []
    for part in parts:
        if found and part.startswith("- ") and found[-1].startswith("- "):
            found[-1] += f"\n{part}"
        else:
            found.append(part)
    return found


def _part(kind: str, part: Any) -> list[str]:
    """The blocks of a part of a section."""
    if kind in ("text", "note"):
        return [_prose(part)]
    if kind == "heading":
        return [f"### {_plain(part)}"]
    if kind == "sentences":
        return [f"- {_prose(sentence)}" for sentence in part]
    if kind == "facts":
        return [
            f"- **{_plain(name)}:** {_plain(value) if name == 'Call' else _prose(value)}"
            for name, value in part
        ]
    if kind == "panels":
        return [f"#### {_plain(row.title)}" for row in part if row.title]
    if kind == "pictures":
        return [_plain(f"{own.title}. {own.words}") for own in part]
    if kind == "code":
        return [_fenced("\n".join(map(shown, part.lines)))]
    if kind == "figure":
        return [f"and {part.more:,} more"] if part.more else []
    return _table(kind, part)


def _table(kind: str, part: Any) -> list[str]:
    """A caption, rows, and how many are left out."""
    more = "more"
    if kind == "table":
        columns, rows = part.columns, part.rows
        if part.outside:
            rows = [
                (f"{row[0]} (not selected)" if out else row[0], *row[1:])
                for row, out in zip(rows, part.outside, strict=True)
            ]
    elif kind == "termmatrix":
        columns = ("Term", *(label for _, label in part.methods))
        rows = [(term, *(cell.text for cell in cells)) for term, cells in part.rows]
    else:
        columns, more = part.columns, f"more variable{'s' if part.more > 1 else ''}"
        rows = [r for own in part.variables for r in ((own.name, *own.cells), *own.rows)]
    cells = [[*map(_cell, row), *[""] * (len(columns) - len(row))] for row in rows]
    blocks = [f"**{_plain(part.caption)}**", pipe_table(list(map(_cell, columns)), cells)]
    return [*blocks, f"and {part.more:,} {more}"] if part.more else blocks


def _cell(text: str) -> str:
    return " ".join(shown(text).split())


def _sentence(text: str) -> str:
    said = _prose(text)
    return said if said.endswith((".", ":")) else f"{said}."


def _plain(text: str) -> str:
    return _line(markdown(shown(text)))


def _prose(text: str) -> str:
    """Text with its code between backticks, and everything else that Markdown acts on escaped."""
    pieces = code_and_words(shown(text))
    return _line("".join(f"`{piece}`" if code else markdown(piece) for piece, code in pieces))


def _line(text: str) -> str:
    return re.sub(r"^([-+]|\d+\.) ", r"\\\1 ", " ".join(text.split()))


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
