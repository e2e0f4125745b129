"""Vignettes as pages of the site: what they gave when they ran, as Markdown in docs/vignettes.

Sphinx sees ordinary pages: their headings, search, links and copy buttons are its own.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError
from sphinx.util import logging

from vignettes import pictures
from vignettes.executing import executed
from vignettes.rendering import versions
from vignettes.sources import Cell, Vignette, VignetteError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent.parent
SOURCES = DOCS.parent / "vignettes"
PAGES = DOCS / "vignettes"

_FENCE = "`" * 9
_LINK = re.compile(r"(?<=\]\()(?P<file>[^()\s:#]+\.md)(?P<anchor>#[^()\s]*)?(?=\))")
_NAME = re.compile(
    r"\[(?P<text>[^][]+)\]\((?P<file>[^()\s:#]*reference/[\w-]+\.md)#(?P<name>treeselect\.[\w.]+)\)"
)

_log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for them, and mend links between the two folders."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", link_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(app: Sphinx) -> None:
    """Run the vignettes that have changed, and write those pages that do not say the same."""
    PAGES.mkdir(exist_ok=True)
    sources = sorted(SOURCES.glob("*.md"))
    failed = []
    for source, vignette in executed(sources):
        if isinstance(vignette, VignetteError):
            failed.append(str(vignette))
            continue
        page, text = PAGES / source.name, markdown(vignette)
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
    for page in PAGES.iterdir():
        if page.name not in {source.name for source in sources}:
            page.unlink()
    if failed:
        raise ExtensionError("\n".join(failed))


def markdown(vignette: Vignette) -> str:
    """A vignette that has run, as a page for MyST."""
    figures = 0
    parts = []
    for cell in vignette.cells:
        if cell.kind == "prose":
            parts.append(cell.text)
            continue
        parts.append(f"{_FENCE}{cell.language}\n{cell.text}\n{_FENCE}")
        for output in cell.outputs:
            figures += output.kind == "svg"
            parts.append(_shown(cell, output.kind, output.content, figures))
    run_with = ", ".join(f"{name} {number}" for name, number in versions())
    parts.append(f"{{.built}}\nRun with {run_with}.")
    return "\n\n".join(parts) + "\n"


def _shown(cell: Cell, kind: str, content: str, figures: int) -> str:
    if kind in ("svg", "png"):
        draw = (
            pictures.svg(content, cell.alt, figures)
            if kind == "svg"
            else pictures.png(content, cell.alt)
        )
        return _raw(f'<div class="figure scroll">{draw}</div>')
    if kind == "html":
        return _raw(
            '<div class="shown scroll" role="region" aria-label="Table" tabindex="0">'
            f"{content}</div>"
        )
    return f"{_FENCE}{{code-block}} text\n:class: output {kind}\n\n{content.rstrip()}\n{_FENCE}"


def _raw(html: str) -> str:
    return f"{_FENCE}{{raw}} html\n{html}\n{_FENCE}"


def link_source(app: Sphinx, docname: str, content: list[str]) -> None:
    """Links between files, as a forge follows them, become links between pages of the site."""
    content[0] = linked(content[0], docname)


def linked(text: str, docname: str) -> str:
    """Markdown with the links of a page of the site.

    Files of vignettes lie beside `docs`, their pages in it. A name of the reference is given as
    ``reference/select.md#treeselect.select``.

    Examples
    --------
    >>> linked("[s](../docs/guides/stability.md#why) [o](other.md)", "vignettes/genes")
    '[s](../guides/stability.md#why) [o](other.md)'
    >>> linked("[genes](../../vignettes/genes.md)", "guides/stability")
    '[genes](../vignettes/genes.md)'
    >>> linked("[`select`](../reference/select.md#treeselect.select)", "guides/stability")
    '{py:obj}`select <treeselect.select>`'
    """
    folder = PurePosixPath(docname).parent
    here = SOURCES if folder.name == "vignettes" else DOCS / folder

    def page(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(here / match["file"]))
        if target.parent == SOURCES:
            target = PAGES / target.name
        elif not target.is_relative_to(DOCS):
            return match[0]
        return Path(os.path.relpath(target, DOCS / folder)).as_posix() + (match["anchor"] or "")

    def name(match: re.Match[str]) -> str:
        return f"{{py:obj}}`{match['text'].strip('`')} <{match['name']}>`"

    return _LINK.sub(page, _NAME.sub(name, text))
