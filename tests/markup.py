"""Pages without what tables say of themselves to browsers and screen readers."""

import re
from pathlib import Path
from typing import Any

from treeselect.reports.pages import gather
from treeselect.reports.parts import Report
from treeselect.reports.render import render

_SAID = re.compile(r' (?:class="numbers?"|role="(?!img)[^"]*"|data-label="[^"]*"|style="[^"]*")')

MADE: Any = {"written": "2026-01-02 03:04", "versions": {"treeselect": "test"}}


def report_of(fit: Any, **options: Any) -> Report:
    """What a page says of a fit, at a fixed time."""
    return gather(fit._fit, **MADE, **options)


def page_of(fit: Any) -> str:
    """The page of a fit."""
    return render(report_of(fit))


def own_page(found: Any, folder: Path, template: str) -> str:
    """The page by a template of one's own."""
    own = folder / "mine.html.j2"
    own.write_text(template, encoding="utf-8")
    return found.report(folder / "a.html", template=own).read_text(encoding="utf-8")


def plain(page: str) -> str:
    """The page with its tables as they would be written by hand."""
    return _SAID.sub("", page)


def without_style(page: str) -> str:
    """The page without its style sheet and what its links hold, which are under no snapshot."""
    page = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.DOTALL)
    return re.sub(r'href="data:([^,]*),[^"]*"', r'href="data:\1,"', page)
