"""HTML for notebooks, in the report's style: all of its rules hold inside one element alone."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from functools import cache

from treeselect.printing.code import code_and_words
from treeselect.printing.columns import column_of, set_cell
from treeselect.printing.content import SummaryContent
from treeselect.printing.folder import template_folder
from treeselect.shown import shown

SCOPE = ".treeselect"
"""The class of the element that the style sheet is for."""

_FILES = ("report.css", "tables.css", "notebook.css")


def as_html(content: SummaryContent) -> str:
    """A summary: facts, tables, notes."""
    c = content.shown()
    tables = [(c.columns, c.rows), *((table.columns, table.rows) for table in c.more)]
    return boxed(
        [
            title(c.title),
            facts(c.facts),
            *(table(columns, rows) for columns, rows in tables if rows),
            notes(c.notes),
        ]
    )


def boxed(parts: Iterable[str]) -> str:
    """Pieces of HTML in the element that the style sheet is for, with the style sheet."""
    inside = "\n".join(part for part in parts if part)
    return f'<div class="{SCOPE[1:]}"><style>{style_sheet()}</style>\n{inside}\n</div>'


def title(text: str) -> str:
    """The head of what is shown."""
    return f'<p class="title">{_text(text)}</p>'


def paragraph(text: str, name: str = "") -> str:
    """A sentence or more; what stands between backticks is code."""
    return f"<p{_class(name)}>{_prose(text)}</p>"


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """What and its value, below each other."""
    rows = "".join(
        f"<div><dt>{_text(name)}</dt><dd{_class('code')}>{_text(value)}</dd></div>"
        if name == "Call"
        else f"<div><dt>{_text(name)}</dt><dd>{_prose(value)}</dd></div>"
        for name, value in pairs
    )
    return f"<dl>{rows}</dl>" if pairs else ""


def notes(texts: Sequence[str]) -> str:
    """Sentences to read with a table: open, as they say which numbers not to trust."""
    items = "".join(f"<li>{_prose(text)}</li>" for text in texts)
    return folded("Notes", f"<ul>{items}</ul>", is_open=True) if texts else ""


def folded(title: str, inside: str, *, is_open: bool = False) -> str:
    """What opens and closes at a click."""
    head = f"<details{' open' if is_open else ''}><summary>{_text(title)}</summary>"
    return f"{head}{inside}</details>" if inside else ""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; numbers are flush right with their points below each other."""
    kinds = [column_of([row[j] for row in rows]) for j in range(len(columns))]
    number = [_class("number" if kind.is_number else "") for kind in kinds]
    head = "".join(
        f'<th scope="col"{number[j]}>{_text(cell)}</th>' for j, cell in enumerate(columns)
    )
    body = "".join(
        f'<tr><th scope="row"{number[0]}>{_text(set_cell(kinds[0], row[0], _pad))}</th>'
        + "".join(
            f"<td{number[j]}>{_text(set_cell(kinds[j], row[j], _pad))}</td>"
            for j in range(1, len(row))
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _pad(missing: str) -> str:
    """Spaces as wide as digits, and as points, in numbers of one width."""
    return "".join("\u2008" if c in ".," else "\u2007" for c in missing)


def _text(text: str) -> str:
    return html.escape(shown(text))


def _prose(text: str) -> str:
    return "".join(
        f"<code>{_text(part)}</code>" if is_code else _text(part)
        for part, is_code in code_and_words(text)
    )


# --- style -------------------------------------------------------------------------------------


@cache
def style_sheet() -> str:
    """The report's style sheet and that of notebooks, for the element alone."""
    folder = template_folder()
    return "".join(scoped((folder / name).read_text(encoding="utf-8")) for name in _FILES)


def scoped(css: str, scope: str = SCOPE) -> str:
    """A style sheet whose rules hold inside one element only.

    ``:root``, ``html``, ``body`` and ``main`` become that element; rules of ``@media`` and
    ``@supports`` are scoped in it, and those of other at-rules are left out, because they speak of
    the whole page.

    Examples
    --------
    >>> from treeselect.printing.notebook import scoped
    >>> scoped("body { margin: 0; } a, td.n { color: red; }")
    '.treeselect{margin: 0;}.treeselect a,.treeselect td.n{color: red;}'
    """
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    found, rest = "", css.strip()
    while rest:
        head, _, rest = rest.partition("{")
        inside, rest = _closed(rest)
        head = " ".join(head.split())
        if head.startswith(("@media", "@supports")):
            found += f"{head}{{{scoped(inside, scope)}}}"
        elif not head.startswith("@"):
            selectors = ",".join(_scoped_selector(own.strip(), scope) for own in _split(head))
            found += f"{selectors}{{{' '.join(inside.split())}}}"
    return found


def _closed(text: str) -> tuple[str, str]:
    """What stands before the brace that closes a block, and what behind it."""
    depth = 1
    for i, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return text[:i].strip(), text[i + 1 :].strip()
    return text.strip(), ""


def _split(selectors: str) -> list[str]:
    """Selectors between commas that are in no brackets."""
    return re.split(r",(?![^(]*\))", selectors)


def _scoped_selector(selector: str, scope: str) -> str:
    whole = re.match(r"(:root|html|body|main)(?=$|[\s>:.\[])", selector)
    return f"{scope}{selector[whole.end() :]}" if whole else f"{scope} {selector}"
