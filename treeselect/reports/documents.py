"""From plain data to documents: the parts of a page below each other, as Markdown or for Word."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from treeselect.errors import MissingPackageError
from treeselect.figures.marks import Figure, Rows
from treeselect.figures.plotting import need_matplotlib, plotted
from treeselect.printing.markup import markdown, markdown_prose, pipe_table
from treeselect.printing.word import Word
from treeselect.reports.parts import Report, Section, Table, kind_of
from treeselect.shown import shown

Block = tuple[str, Any]
"""What a piece of a document is, and its text, name and text, table or figure."""

_NO_FIGURES = (
    "Text and tables only. Sentences on lines, dots, bars and panels refer to the figures of the"
    " HTML report of the same call."
)


def _blocks(report: Report) -> Iterator[Block]:
    for said in report.answer:
        yield "plain", said
    for card in report.cards:
        yield "fact", (card.head, " ".join(map(_sentence, (card.value, *card.details))))
    for own in vars(report).values():
        if isinstance(own, Section):
            yield "heading", own.title
            for kind, part in own.shown:
                yield from _blocks_of(kind, part)


def _blocks_of(kind: str, part: Any) -> Iterator[Block]:
    """The blocks of a part of a section."""
    if kind in ("text", "note"):
        yield "prose", part
    elif kind == "sentences":
        yield from (("item", sentence) for sentence in part)
    elif kind == "facts":
        yield from (("call" if name == "Call" else "fact", (name, value)) for name, value in part)
    elif kind == "panels":
        for row in part:
            yield from [("row", row.title)] if row.title else []
            yield from (("figure", figure) for figure in row.panels)
    elif kind == "pictures":
        for own in part:
            yield "plain", f"{own.title}. {own.words}"
            yield "figure", own.figure
    elif kind == "code":
        yield "code", "\n".join(map(shown, part.lines))
    elif kind == "heading":
        yield "part", part
    elif kind == "choices":
        yield from _blocks_of(*kind_of(part.tables[part.at]))
    else:
        yield kind, part
        if part.more:
            yield "plain", f"and {part.more:,} more"


def _rows_of(table: Table) -> list[list[str]]:
    """The rows, in which those outside the selection are marked."""
    outside = table.outside or (False,) * len(table.rows)
    return [
        [_cell(f"{row[0]} (not selected)" if out else row[0]), *map(_cell, row[1:])]
        for row, out in zip(table.rows, outside, strict=True)
    ]


def _cell(text: str) -> str:
    return " ".join(shown(text).split())


def _sentence(text: str) -> str:
    return text if text.endswith((".", ":")) else f"{text}."


# --- Markdown ------------------------------------------------------------------------------------


def markdown_page(report: Report) -> str:
    """A report as GitHub-flavoured Markdown, from the parts of which its page is made."""
    found = [f"# {_plain(report.title)}", f"*{_NO_FIGURES}*"]
    for kind, part in _blocks(report):
        found += _in_markdown(kind, part)
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


_HEADS = {"heading": "## ", "part": "### ", "row": "#### ", "plain": ""}


def _in_markdown(kind: str, part: Any) -> list[str]:
    if kind in _HEADS:
        return [_HEADS[kind] + _plain(part)]
    if kind in ("fact", "call"):
        name, value = part
        said = (markdown if kind == "call" else markdown_prose)(shown(value))
        return [f"- **{_plain(name)}:** {' '.join(said.split())}"]
    if kind == "table":
        table = pipe_table(list(map(_cell, part.columns)), _rows_of(part))
        return [f"**{_plain(part.caption)}**", table]
    texts = {"prose": _prose, "item": lambda text: f"- {_prose(text)}", "code": _fenced}
    return [texts[kind](part)] if kind in texts else []


def _plain(text: str) -> str:
    return _line(markdown(shown(text)))


def _prose(text: str) -> str:
    return _line(markdown_prose(shown(text)))


def _line(text: str) -> str:
    return re.sub(r"^([-+]|\d+\.) ", r"\\\1 ", " ".join(text.split()))


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


# --- Word ----------------------------------------------------------------------------------------


def word_page(report: Report) -> bytes:
    """A report as a document for Word, with figures if matplotlib is installed."""
    word = Word(report.title)
    try:
        need_matplotlib()
        has_figures = True
    except MissingPackageError:
        has_figures = False
        word.add(_NO_FIGURES)
    for kind, part in _blocks(report):
        if kind == "table":
            word.add(part.caption, "Caption")
            word.add_table(part.columns, _rows_of(part))
        elif kind in ("fact", "call"):
            word.add(part[1], "List Bullet", head=part[0], code=kind == "call")
        elif kind != "figure":
            word.add(part, _STYLES.get(kind), code=kind == "code")
        elif has_figures:
            word.add_picture(_painted(part), part.text)
    return word.content()


_STYLES = {"heading": "Heading 1", "part": "Heading 2", "row": "Heading 3", "item": "List Bullet"}


def _painted(figure: Figure) -> bytes:
    """A figure as PNG."""
    from matplotlib.figure import Figure as Canvas

    size = {"panel": (2.9, 2.3), "square": (5.0, 4.4)}.get(figure.form, (6.0, 3.8))
    if isinstance(figure, Rows):
        size = size[0], 1.4 + 0.28 * len(figure.rows)
    canvas, file = Canvas(figsize=size, layout="constrained"), io.BytesIO()
    plotted(figure, canvas.subplots(), size)
    canvas.savefig(file, format="png", dpi=200, bbox_inches="tight")
    return file.getvalue()
