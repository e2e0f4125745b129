"""A result or a comparison to its page: one HTML file."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from treeselect.errors import OptionError, quoted
from treeselect.reports.gather import (
    COMPARISON_SECTIONS,
    SELECTION_SECTIONS,
    gather,
    gather_comparison,
    read_sections,
)
from treeselect.reports.markdown import markdown_page
from treeselect.reports.render import COMPARISON, SELECTION, render
from treeselect.results.versions import session
from treeselect.writing import check_place, write_file

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance
    from treeselect.results.refitting import GlmFit


_HTML = (".html", ".htm", ".xhtml")

_MARKDOWN = (".md", ".markdown", ".qmd")

_OTHERS = (".docx", ".pdf", ".tex", ".odt", ".rtf", ".epub", ".pptx")
"""What pandoc writes from Markdown."""


def write_report(
    fit: Fit,
    path: Path,
    template: Path | None = None,
    performance: Performance | None = None,
    coefficients: CoefficientStability | None = None,
    sections: Iterable[str] | None = None,
    linear: GlmFit | None = None,
) -> Path:
    """Write the report on a selection atomically.

    Raises
    ------
    OptionError
        If the file can't be written, there is no such template or section, or `performance`,
        `coefficients` or `linear` belong to another result.
    """
    chosen = _chosen(SELECTION_SECTIONS, sections, template)

    def page(is_markdown: bool) -> str:
        report = gather(
            fit,
            written=time_of_writing(),
            versions=session(),
            performance=performance,
            coefficients=coefficients,
            linear=linear,
            sections=chosen,
            whole=template is not None,
        )
        if is_markdown:
            return markdown_page(report)
        return render(report, template, standard=SELECTION, sections=chosen)

    return _write(path, page, is_free=template is not None)


def write_comparison(
    found: Contest,
    path: Path,
    template: Path | None = None,
    sections: Iterable[str] | None = None,
) -> Path:
    """Write the report on a comparison atomically.

    Raises
    ------
    OptionError
        If the file can't be written, or there is no such template or section.
    """
    chosen = _chosen(COMPARISON_SECTIONS, sections, template)

    def page(is_markdown: bool) -> str:
        report = gather_comparison(
            found, written=time_of_writing(), versions=session(), sections=chosen
        )
        if is_markdown:
            return markdown_page(report)
        return render(report, template, standard=COMPARISON, sections=chosen)

    return _write(path, page, is_free=template is not None)


def _chosen(
    known: Iterable[str], sections: Iterable[str] | None, template: Path | None
) -> tuple[str, ...] | None:
    """Sections chosen by the user; a template chooses its sections itself."""
    chosen = read_sections(known, sections)
    if chosen is not None and template is not None:
        blocks = "".join(f"{{{{ self.{name}() }}}}" for name in chosen)
        raise OptionError(
            "`sections` can't be combined with a `template`, which chooses its sections itself.\n"
            f"  Write into it: {{% block sections %}}{blocks}{{% endblock %}}"
        )
    return chosen


def time_of_writing() -> str:
    """The current time, as shown in a report."""
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z").strip()


def _write(path: Path, page: Callable[[bool], str], *, is_free: bool) -> Path:
    """Write a page; it is made only if the file can be written. A template of the user's is free to
    make any text."""
    suffix = path.suffix.lower()
    if suffix not in ("", *_HTML, *_MARKDOWN) and not is_free:
        way = f"Write .md; pandoc makes {suffix} of it" if suffix in _OTHERS else "Give such a name"
        raise OptionError(
            "`path` must end in .html or .md: a report is HTML or Markdown.\n"
            f"  Found: {quoted(path.name)}. {way}."
        )
    check_place(path, what="report")
    return write_file(path, page(suffix in _MARKDOWN and not is_free), what="report")
