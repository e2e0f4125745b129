"""Links of written pages: files and anchors that are not there, and what is loaded from a host.

After a build it looks at the site, the standalone vignettes and the project's own Markdown files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent.parent

_LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("image", "href"),
}
_LINKS = {("a", "href"), ("area", "href"), *_LOADED}
_NOT_LOADED = {"canonical", "next", "prev", "index", "search", "author", "help", "top", "up"}
_IN_STYLE = re.compile(r"(?:url\(|@import\s+)\s*[\"']?((?:https?:)?//[^\"')\s]+)")

_log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at all pages once they are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _check(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    pages = [*site.rglob("*.html"), *(ROOT / "vignettes" / "html").glob("*.html")]
    pages += [*ROOT.glob("*.md")]
    for problem in broken(path for path in pages if path.is_file()):
        _log.warning(problem)
    for style in site.rglob("*.css"):
        for address in _IN_STYLE.findall(style.read_text(encoding="utf-8")):
            _log.warning("%s loads %s", _name(style), address)


def broken(pages: Iterable[Path]) -> Iterator[str]:
    """Sentences on links that lead nowhere.

    Parameters
    ----------
    pages : iterable of path
        HTML or Markdown. Addresses of other hosts may be linked, not loaded.
    """
    known: dict[Path, _Page] = {}
    for path in pages:
        for target, is_loaded in _read(path, known).links:
            parts = urlsplit(target)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if is_loaded:
                    yield f"{_name(path)} loads {target}"
                continue
            linked = _target(path, unquote(parts.path))
            if not linked.exists():
                yield f"{_name(path)} links to {target}, which is not there"
            elif linked.suffix in (".html", ".md"):
                anchor = unquote(parts.fragment)
                if anchor and anchor not in _read(linked, known).anchors:
                    yield f"{_name(path)} links to {target}, which has no such anchor"


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def _target(path: Path, relative: str) -> Path:
    return Path(os.path.normpath(path.parent / relative)) if relative else path


@dataclass(slots=True)
class _Page:
    """Links, with whether a browser loads them by itself, and anchors."""

    links: list[tuple[str, bool]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


def _read(path: Path, known: dict[Path, _Page]) -> _Page:
    if path not in known:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".md":
            markdown = MarkdownIt("commonmark").enable("table")
            anchors_plugin(markdown, max_level=6)
            text = markdown.render(text)
        reader = _Reader()
        reader.feed(text)
        known[path] = reader.page
    return known[path]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = _Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.page.anchors |= {found[name] for name in ("id", "name") if name in found}
        for name, value in found.items():
            if (tag, name) in _LINKS:
                self.page.links.append((value, (tag, name) in _LOADED))
        if tag == "link" and "href" in found:
            is_loaded = not _NOT_LOADED & set(found.get("rel", "").split())
            self.page.links.append((found["href"], is_loaded))
        for address in _IN_STYLE.findall(found.get("style", "")):
            self.page.links.append((address, True))
