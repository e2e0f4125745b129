"""Methods, papers and software."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.reports.material import ContestMaterial
from treeselect.results.summary import options_text

if TYPE_CHECKING:
    from treeselect.comparison.record import Run


@dataclass(frozen=True, slots=True)
class MethodPaper:
    """A method with its options and its paper."""

    label: str
    title: str
    options: str
    paper: str


@dataclass(frozen=True, slots=True)
class SoftwareSection:
    """Methods and software of the comparison.

    Attributes
    ----------
    papers : tuple of MethodPaper
    versions : tuple of (str, str)
    written : str
        Date and time of writing.
    """

    papers: tuple[MethodPaper, ...]
    versions: tuple[tuple[str, str], ...]
    written: str


def gather(material: ContestMaterial) -> SoftwareSection:
    """The methods with their papers, and the versions of the software."""
    return SoftwareSection(
        papers=tuple(map(_paper, material.found.runs)),
        versions=tuple(material.versions.items()),
        written=material.written,
    )


def _paper(run: Run) -> MethodPaper:
    options = options_text(run.options) or "default options"
    return MethodPaper(run.label, run.title, options, run.paper)
