"""From plain data to one HTML file, or to a document in Markdown or for Word: the parts of the page
below each other."""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError
from markupsafe import Markup

from treeselect.errors import MissingPackageError, OptionError, quoted, said_by
from treeselect.figures.marks import Figure, Rows
from treeselect.figures.plotting import need_matplotlib, plotted
from treeselect.figures.svg import drawn
from treeselect.printing.markup import Word, markdown, markdown_prose, pipe_table, template_folder
from treeselect.printing.text import code_and_words
from treeselect.quiet import own_filters
from treeselect.reports.parts import Report, Section, Table, kind_of
from treeselect.shown import guarded, shown

# --- tables embedded in a page as data links ------------------------------------------------

_NUMBER = re.compile(r"[+-]?\d[\d,]*(\.\d+)?(e[+-]?\d+)?")

_PLAIN = "/:,;()[]!*?@$'~=+"
"""Characters that stand unquoted in a link, besides letters and digits."""


def csv_link(table: Table) -> str:
    """A link that saves a table as UTF-8 with a byte order mark, which spreadsheets need."""
    return f"data:text/csv;charset=utf-8,{quote(chr(0xFEFF) + csv_text(table), safe=_PLAIN)}"


def csv_text(table: Table) -> str:
    """A table as CSV, its texts ``shown.guarded``, the content of pictures in separate columns."""
    columns: list[tuple[str, ...]] = []
    for i, head in enumerate(table.columns):
        columns.append((head, *(row[i] for row in table.rows)))
        texts = tuple(mark.text if mark else "" for mark in table.marks.get(i, ()))
        if any(texts):
            columns.append((f"{head}, 95% interval", *texts))
    if table.outside:
        columns.append(("Selected", *("no" if out else "yes" for out in table.outside)))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerows([_cell(text) for text in row] for row in zip(*columns, strict=True))
    return written.getvalue()


def _cell(text: str) -> str:
    text = shown(text)
    if _NUMBER.fullmatch(text):
        return text.replace(",", "")
    return guarded(text)


# --- from plain data to one HTML file ----------------------------------------------------------

SELECTION = "report.html.j2"
COMPARISON = "comparison.html.j2"

_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)


def render(
    report: object,
    template: Path | None = None,
    *,
    standard: str = SELECTION,
    sections: Sequence[str] | None = None,
) -> str:
    """The page as text, by a template of the package (`standard`) or by one of the user's."""
    folders: tuple[Path, ...] = (template_folder(),)
    name = standard
    if template is not None:
        if not os.path.isfile(template):  # unlike Path.is_file, it accepts names of any length
            raise OptionError(
                f"Can't find the template {quoted(str(template))}.\n"
                f"  Start with a copy of {quoted(standard)} from {quoted(str(folders[0]))}."
            )
        folders = (template.resolve().parent, *folders)
        name = template.name
    environment = template_environment(folders, folded=template is None)
    try:
        return environment.get_template(name).render(report=report, sections=sections)
    except Exception as error:  # a custom template can fail in any way
        if template is None:
            raise
        line = getattr(error, "lineno", None)
        said = error.message if isinstance(error, TemplateError) else None
        raise OptionError(
            f"Can't render the template {quoted(str(template))}.\n"
            f"  {f'Line {line}: ' if line else ''}{said or said_by(error)}\n"
            f"  Compare it with {quoted(standard)} from {quoted(str(template_folder()))}."
        ) from error


@cache
def template_environment(folders: tuple[Path, ...], *, folded: bool = False) -> Environment:
    """The environment of templates, read from the first folder that contains them; perhaps sections
    below the first are folded."""
    environment = Environment(
        loader=FileSystemLoader(folders, encoding="utf-8"),
        # Column names are untrusted: everything is escaped, whatever the file name extension.
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "code": code, "contents": contents, "css_text": css_text, "csv_link": csv_link,
        "drawing": _drawing,
    }  # fmt: skip
    environment.globals["folded"] = folded
    return environment


def _shown(value: object) -> object:
    """The output of a template: text without control characters. Markup is unchanged, because it is
    output already or part of a template. Whole coordinates have no decimals."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def code(text: str) -> Markup:
    """Escaped text in which parts between backticks become code."""
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if is_code else Markup.escape(piece)
        for piece, is_code in code_and_words(shown(text))
    )


def _drawing(figure: Figure) -> Markup:
    """A figure, and the number of rows that it leaves out."""
    page = drawn(figure)
    if figure.more and not figure.form:
        page += Markup('<p class="more">and {:,} more</p>').format(figure.more)
    return page


def css_text(text: str) -> str:
    """Text as a CSS string, with all characters except letters, digits and spaces escaped."""
    written = (c if c.isalnum() or c == " " else f"\\{ord(c):x} " for c in shown(text))
    return f"'{''.join(written)}'"


def contents(page: Markup) -> list[tuple[str, Markup]]:
    """The headings of all sections of a page, including custom ones: anchors and texts."""
    return [(anchor, Markup(text)) for anchor, text in _HEADING.findall(page)]


# --- documents: the parts of a page below each other ---------------------------------------------

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
        if kind == "table" and part.more:  # a figure says so itself
            yield "plain", f"and {part.more:,} more"


def _rows_of(table: Table) -> list[list[str]]:
    """The rows, in which those outside the selection are marked."""
    outside = table.outside or (False,) * len(table.rows)
    return [
        [_line_of(f"{row[0]} (not selected)" if out else row[0]), *map(_line_of, row[1:])]
        for row, out in zip(table.rows, outside, strict=True)
    ]


def _line_of(text: str) -> str:
    return " ".join(shown(text).split())


def _sentence(text: str) -> str:
    return text if text.endswith((".", ":")) else f"{text}."


# --- Markdown ------------------------------------------------------------------------------------


def markdown_page(report: Report) -> str:
    """A report as GitHub-flavoured Markdown, from the parts of which its page is made."""
    page, before = f"# {_plain(report.title)}\n\n*{_NO_FIGURES}*", ""
    for kind, part in _blocks(report):
        for text in _in_markdown(kind, part):
            page += "\n" if before == text[:2] == "- " else "\n\n"  # items of a list
            page, before = page + text, text[:2]
    return page + "\n"


_HEADS = {"heading": "## ", "part": "### ", "row": "#### ", "plain": ""}


def _in_markdown(kind: str, part: Any) -> list[str]:
    if kind in _HEADS:
        return [_HEADS[kind] + _plain(part)]
    if kind in ("fact", "call"):
        name, value = part
        said = (markdown if kind == "call" else markdown_prose)(shown(value))
        return [f"- **{_plain(name)}:** {' '.join(said.split())}"]
    if kind == "table":
        table = pipe_table(list(map(_line_of, part.columns)), _rows_of(part))
        return [f"**{_plain(part.caption)}**", table]
    if kind == "code":
        fence = "```"
        while fence in part:
            fence += "`"
        return [f"{fence}\n{part}\n{fence}"]
    starts = {"prose": "", "item": "- "}
    return [starts[kind] + _line(markdown_prose(shown(part)))] if kind in starts else []


def _plain(text: str) -> str:
    return _line(markdown(shown(text)))


def _line(text: str) -> str:
    return re.sub(r"^([-+]|\d+\.) ", r"\\\1 ", " ".join(text.split()))


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
    from matplotlib.figure import Figure as Canvas

    size = {"panel": (2.9, 2.3), "square": (5.0, 4.4)}.get(figure.form, (6.0, 3.8))
    if isinstance(figure, Rows):
        size = size[0], 1.4 + 0.28 * len(figure.rows)
    canvas, file = Canvas(figsize=size, layout="constrained"), io.BytesIO()
    plotted(figure, canvas.subplots(), size)
    with own_filters():
        # Letters that the font lacks are boxes; the table beside the picture has the names.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        canvas.savefig(file, format="png", dpi=200, bbox_inches="tight")
    return file.getvalue()
