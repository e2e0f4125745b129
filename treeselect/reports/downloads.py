"""Downloads embedded in a page as data links: tables as CSV, figures as SVG."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from urllib.parse import quote

from markupsafe import Markup

from treeselect.reports.parts import Table
from treeselect.shown import guarded, shown

_NUMBER = re.compile(r"[+-]?\d[\d,]*(\.\d+)?(e[+-]?\d+)?")

_PLAIN = "/:,;()[]!*?@$'~=+"
"""Characters that stand unquoted in a link, besides letters and digits."""

_MOST_CHARACTERS = 40


def csv_link(table: Table) -> str:
    """A link that saves a table as UTF-8 with a byte order mark, which spreadsheets need."""
    return f"data:text/csv;charset=utf-8,{quote(chr(0xFEFF) + csv_text(table), safe=_PLAIN)}"


def csv_text(table: Table) -> str:
    """A table as CSV, with the content of its pictures in separate columns.

    Texts are ``shown.guarded``. Numbers lose their thousands separators.
    """
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
    plain = text.replace("\N{EN DASH}", "-") if text[1:2].isdigit() else text
    if _NUMBER.fullmatch(plain):
        return plain.replace(",", "")
    return guarded(text)


def file_name(text: str) -> str:
    """A short name for a file, of letters, digits and hyphens."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_only.lower())
    return "-".join(words)[:_MOST_CHARACTERS].strip("-") or "table"


def with_svg_link(figure: Markup, name: str, style: str) -> Markup:
    """A figure, and below it a link that saves its first drawing as a separate file.

    Parameters
    ----------
    figure : Markup
        The output of a macro of ``figures.svg.j2``.
    name : str
        Its title.
    style : str
        The style sheet of the page, from which the file gets the rules it needs, in light colours.
    """
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
        needed = [own for own in map(str.strip, selectors.split(",")) if _needs(own, classes)]
        if needed:
            rules.append(f"{','.join(needed)}{{{' '.join(body.split()).rstrip(';')}}}")
    text = "".join(rules)
    used = [name for name in colours if f"var({name})" in text]
    return f":root{{{';'.join(f'{name}:{colours[name]}' for name in used)}}}{text}"


def _needs(selector: str, classes: set[str]) -> bool:
    """Whether a rule for figures is one for a drawing with these classes."""
    if not re.match(r"svg (text|\.)|\.hue-", selector):
        return False
    return set(re.findall(r"\.([\w-]+)", selector)) <= classes
