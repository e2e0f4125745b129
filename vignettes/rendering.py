"""Cells that have run to one HTML page that needs nothing else."""

from __future__ import annotations

import os
import platform
import re
from html import escape
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from treeselect import __version__
from treeselect.printing.markup import template_folder
from vignettes import pictures
from vignettes.sources import Cell, Vignette

FOLDER = Path(__file__).resolve().parent
DOCS = FOLDER.parent / "docs"

_VERSIONS = ("numpy", "pandas", "scikit-learn", "statsmodels", "numba")


def render(vignette: Vignette, output: Path = FOLDER / "html") -> str:
    """The page as text.

    Parameters
    ----------
    vignette : Vignette
        As run.
    output : path
        The folder of the page, from which it links to the site.

    Raises
    ------
    VignetteError
        If a formula can't be turned into MathML, or there is no title.
    """
    figures = 0
    parts = []
    contents: list[tuple[str, str]] = []
    title = ""
    markdown = _markdown()
    for cell in vignette.cells:
        if cell.kind == "code":
            n_figures = sum(output.kind == "svg" for output in cell.outputs)
            parts.append(_code_cell(cell, figures))
            figures += n_figures
            continue
        tokens = markdown.parse(cell.text)
        if not title and tokens and tokens[0].tag == "h1":
            title = tokens[1].content
            tokens = tokens[3:]
        contents += [
            (str(token.attrs["id"]), inside.content)
            for token, inside in pairwise(tokens)
            if token.type == "heading_open" and token.tag == "h2"
        ]
        _link_pages(vignette, cell, tokens, output)
        html = markdown.renderer.render(tokens, markdown.options, {})
        raw = re.search(r"<math.*?(\\\w+).*?</math>", html, re.DOTALL)
        if raw:
            raise vignette.fails(cell, f"MathML can't say {raw[1]}: write the formula without it.")
        parts.append(
            re.sub(r"(<table>.*?</table>)", r'<div class="scroll">\1</div>', html, flags=re.S)
        )
    if not title:
        raise vignette.fails(vignette.cells[0], "It has no title: begin with a line `# Title`.")
    environment = Environment(
        loader=FileSystemLoader([FOLDER, template_folder()], encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        title=title,
        contents=contents,
        body=Markup("\n".join(parts)),
        versions=versions(),
    )


def versions() -> list[tuple[str, str]]:
    """Names and numbers of what the outputs depend on most."""
    return [
        ("Python", platform.python_version()),
        ("treeselect", __version__),
        *((name, version(name)) for name in _VERSIONS),
    ]


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "highlight": _highlight})
    markdown.enable("table")
    dollarmath_plugin(markdown, renderer=_math, allow_digits=False, double_inline=True)
    anchors_plugin(markdown, min_level=2, max_level=3)
    markdown.add_render_rule("fence", _fence)
    return markdown


def _link_pages(vignette: Vignette, cell: Cell, tokens: list[Token], output: Path) -> None:
    """Links to other sources, as a forge shows them, become links to their pages."""
    for token in (inner for outer in tokens for inner in outer.children or ()):
        target = str(token.attrs.get("href", ""))
        if token.type != "link_open" or ":" in target or target.startswith("#"):
            continue
        name, mark, anchor = target.partition("#")
        source = (vignette.path.parent / unquote(name)).resolve()
        if not source.is_file():
            raise vignette.fails(cell, f"It links to {name}, which is not there.")
        page = source.with_suffix(".html") if source.suffix == ".md" else source
        if page.is_relative_to(DOCS):
            page = DOCS / "_build" / "html" / page.relative_to(DOCS)
        elif page.parent == vignette.path.resolve().parent:
            page = output.resolve() / page.name
        found = Path(os.path.relpath(page, output.resolve())).as_posix()
        token.attrs["href"] = quote(found) + mark + anchor


def _math(content: str, options: dict[str, Any]) -> str:
    found: str = convert(content, display="block" if options["display_mode"] else "inline")
    return found


def _fence(self: Any, tokens: list[Token], i: int, options: Any, env: Any) -> str:
    """A block of code that is not run."""
    return _code(tokens[i].content, tokens[i].info.strip() or "text")


def _highlight(text: str, language: str) -> str:
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    found: str = highlight(text, lexer, HtmlFormatter(nowrap=True))
    return found


def _code(text: str, language: str) -> str:
    label = "Code" if language != "bash" else "Commands"
    return (
        f'<pre class="source" tabindex="0" aria-label="{label}"><code>'
        f"{_highlight(text.rstrip(), language).rstrip()}</code></pre>"
    )


def _code_cell(cell: Cell, figures: int) -> str:
    """A cell's code and what it has shown; `figures` is how many figures came before it."""
    shown = [_code(cell.text, cell.language)]
    for output in cell.outputs:
        if output.kind == "svg":
            figures += 1
            picture = pictures.svg(output.content, cell.alt, figures)
            shown.append(f'<div class="figure scroll">{picture}</div>')
        elif output.kind == "png":
            shown.append(
                f'<div class="figure scroll">{pictures.png(output.content, cell.alt)}</div>'
            )
        elif output.kind == "html":
            shown.append(
                f'<div class="scroll" role="region" aria-label="Table" tabindex="0">'
                f"{output.content}</div>"
            )
        else:
            shown.append(
                f'<pre class="output {output.kind}" tabindex="0" aria-label="Output">'
                f"{escape(output.content.rstrip())}</pre>"
            )
    return "\n".join(shown)
