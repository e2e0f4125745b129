"""A result or a comparison to its page: one HTML file."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from treeselect.errors import OptionError
from treeselect.reports import comparison, selection
from treeselect.reports.gather import gather, gather_comparison, read_sections
from treeselect.reports.render import COMPARISON, SELECTION, render
from treeselect.results.versions import software_versions
from treeselect.writing import check_place, write_file

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance
    from treeselect.results.refitting import GlmFit


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
    chosen = _chosen(selection, sections, template)

    def page() -> str:
        report = gather(
            fit,
            written=time_of_writing(),
            versions=software_versions(),
            performance=performance,
            coefficients=coefficients,
            linear=linear,
            sections=chosen,
            whole=template is not None,
        )
        return render(report, template, standard=SELECTION, sections=chosen)

    return _write(path, page)


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
    chosen = _chosen(comparison, sections, template)

    def page() -> str:
        report = gather_comparison(
            found, written=time_of_writing(), versions=software_versions(), sections=chosen
        )
        return render(report, template, standard=COMPARISON, sections=chosen)

    return _write(path, page)


def _chosen(
    package: ModuleType, sections: Iterable[str] | None, template: Path | None
) -> tuple[str, ...] | None:
    """Sections chosen by the user; a template chooses its sections itself."""
    chosen = read_sections(package, sections)
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


def _write(path: Path, page: Callable[[], str]) -> Path:
    """Write a page; it is made only if the file can be written."""
    check_place(path, what="report")
    return write_file(path, page(), what="report")
