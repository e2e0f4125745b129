"""A result or a comparison to its page: one HTML file."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from treeselect.reports.gather import gather, gather_comparison, software_versions
from treeselect.reports.render import COMPARISON, SELECTION, render
from treeselect.writing import check_place, write_file

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance


def write_report(
    fit: Fit,
    path: Path,
    template: Path | None = None,
    performance: Performance | None = None,
    coefficients: CoefficientStability | None = None,
) -> Path:
    """Write the report on a selection; the file appears whole or not at all.

    Raises
    ------
    OptionError
        If the file can't be written, there is no such template, or `performance` or
        `coefficients` are not those of the result.
    """

    def page() -> str:
        report = gather(
            fit,
            written=time_of_writing(),
            versions=software_versions(),
            performance=performance,
            coefficients=coefficients,
        )
        return render(report, template, standard=SELECTION)

    return _write(path, page)


def write_comparison(found: Contest, path: Path, template: Path | None = None) -> Path:
    """Write the report on a comparison; the file appears whole or not at all.

    Raises
    ------
    OptionError
        If the file can't be written, or there is no such template.
    """

    def page() -> str:
        report = gather_comparison(found, written=time_of_writing(), versions=software_versions())
        return render(report, template, standard=COMPARISON)

    return _write(path, page)


def time_of_writing() -> str:
    """Now, as a report says it."""
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z").strip()


def _write(path: Path, page: Callable[[], str]) -> Path:
    """Write a page, which is made once it is known that there is a place for it."""
    check_place(path, what="report")
    return write_file(path, page(), what="report")
