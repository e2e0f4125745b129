"""From plain data to one HTML file."""

from __future__ import annotations

import csv
import io
import os
import re
import unicodedata
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, pass_environment
from jinja2.bccache import Bucket, BytecodeCache
from markupsafe import Markup

from treeselect.errors import OptionError, quoted, said_by
from treeselect.figures.marks import Figure
from treeselect.figures.svg import drawn
from treeselect.printing.markup import template_folder
from treeselect.printing.text import code_and_words
from treeselect.reports.parts import Table
from treeselect.shown import guarded, shown

# --- downloads embedded in a page as data links ------------------------------------------------

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


def file_name(text: str) -> str:
    """A short name for a file, of letters, digits and hyphens."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_only.lower())
    return "-".join(words)[:40].strip("-") or "table"


def with_svg_link(figure: Markup, name: str, style: str) -> Markup:
    """A figure, and below it a link that saves its first drawing as a separate file, with the rules
    that it needs of the page's style sheet, in light colours."""
    link = Markup(
        '<p class="more"><a class="save" download="{}.svg" href="{}" aria-label="{}">'
        "Save as SVG</a></p>"
    )
    found = _SVG.search(figure)
    if found is None:  # there is nothing to draw
        return figure
    href = f"data:image/svg+xml,{quote(_standalone(found[0], style), safe=_PLAIN)}"
    return figure + link.format(file_name(name), Markup(href), f"Save as SVG: {name}")


_SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)

_SPOKEN = re.compile(r"<desc.*?</desc>|<title>.*?</title>", re.DOTALL)
"""Descriptions for readers of the page, which a file does not need."""

_AT_RULE = re.compile(r"@[^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|/\*.*?\*/", re.DOTALL)

_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")

_FACE = "svg { font-family: system-ui, sans-serif; background: #fff }"


def _standalone(svg: str, style: str) -> str:
    """A drawing with its namespace, size and style, as short as possible."""
    head, _, inside = _SPOKEN.sub("", svg).partition(">")
    known = dict(re.findall(r'([\w-]+)="([^"]*)"', head))
    _, _, width, height = known["viewBox"].split()
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{known["viewBox"]}" width="{width}"'
        f' height="{height}"><style>{_FACE}{_style_of(inside, style)}</style>{inside}'
    )
    short = re.sub(r">\s+<", "><", re.sub(r"\s+", " ", svg))
    return re.sub(r'="([^"]*)"', r"='\1'", short)


def _style_of(svg: str, style: str) -> str:
    """The rules of a style sheet that a drawing needs, and the colours that these use."""
    classes = {name for own in re.findall(r'class="([^"]*)"', svg) for name in own.split()}
    rules: list[str] = []
    colours: dict[str, str] = {}
    for selectors, body in _RULE.findall(_AT_RULE.sub("", style)):
        if selectors.strip() == ":root":
            colours |= dict(re.findall(r"(--[\w-]+): *([^;]+)", body))
        needed = [
            own
            for own in map(str.strip, selectors.split(","))
            if re.match(r"svg (text|\.)|\.hue-", own)  # a rule for figures
            and set(re.findall(r"\.([\w-]+)", own)) <= classes
        ]
        if needed:
            rules.append(f"{','.join(needed)}{{{' '.join(body.split()).rstrip(';')}}}")
    text = "".join(rules)
    used = [name for name in colours if f"var({name})" in text]
    return f":root{{{';'.join(f'{name}:{colours[name]}' for name in used)}}}{text}"


# --- from plain data to one HTML file ----------------------------------------------------------

SELECTION = "report.html.j2"
COMPARISON = "comparison.html.j2"

_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
_UNPRINTED = re.compile(
    r'<section class="[^"]*\bunprinted"[^>]*>\s*(?:<details[^>]*><summary>)?'
    r"<h2 [^>]*>(.*?)</h2>",
    re.DOTALL,
)


def render(
    report: object,
    template: Path | None = None,
    *,
    standard: str = SELECTION,
    sections: Sequence[str] | None = None,
) -> str:
    """The page as text, by a template of the package (`standard`) or by one of the user's."""
    folders = [template_folder()]
    name = standard
    if template is not None:
        if not os.path.isfile(template):  # unlike Path.is_file, it accepts names of any length
            raise OptionError(
                f"Can't find the template {quoted(str(template))}.\n"
                f"  Start with a copy of {quoted(standard)} from {quoted(str(folders[0]))}."
            )
        folders.insert(0, template.resolve().parent)
        name = template.name
    environment = template_environment(folders)
    environment.globals["folded"] = template is None
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


class _Compiled(BytecodeCache):
    """Templates compiled by this process, by their text."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a compiled template; the bucket refuses one compiled from another text."""
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store a compiled template."""
        self._code[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _Compiled()


def template_environment(folders: Sequence[Path]) -> Environment:
    """The environment of templates, read from the first folder that contains them."""
    environment = Environment(
        loader=FileSystemLoader(folders, encoding="utf-8"),
        # Column names are untrusted: everything is escaped, whatever the file name extension.
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_COMPILED,
    )
    environment.filters |= {
        "code": code, "contents": contents, "css_text": css_text, "csv_link": csv_link,
        "file_name": file_name, "unprinted": unprinted,
        "drawing": _drawing,
    }  # fmt: skip
    environment.globals["number"] = count(1).__next__  # for unique identifiers
    environment.globals["folded"] = False  # sections below the first
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


@pass_environment
def _drawing(environment: Environment, figure: Figure) -> Markup:
    """A figure, the number of rows that it leaves out, and a link that saves it."""
    page = drawn(figure)
    if figure.more and not figure.form:
        page += Markup('<p class="more">and {:,} more</p>').format(figure.more)
    if not figure.saved:
        return page
    return with_svg_link(page, figure.saved, environment.get_template("report.css").render())


def css_text(text: str) -> str:
    """Text as a CSS string, with all characters except letters, digits and spaces escaped."""
    written = (c if c.isalnum() or c == " " else f"\\{ord(c):x} " for c in shown(text))
    return f"'{''.join(written)}'"


def contents(page: Markup) -> list[tuple[str, Markup]]:
    """The headings of all sections of a page, including custom ones: anchors and texts."""
    return [(anchor, Markup(text)) for anchor, text in _HEADING.findall(page)]


def unprinted(page: Markup) -> list[Markup]:
    """The headings of sections that are not printed."""
    return [Markup(text) for text in _UNPRINTED.findall(page)]
