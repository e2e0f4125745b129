"""Method and software."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.material import FitMaterial


@dataclass(frozen=True, slots=True)
class SoftwareSection:
    """What the selection was made with.

    Attributes
    ----------
    method, paper : str
    options : tuple of (str, str)
    versions : tuple of (str, str)
    written : str
        Date and time of writing.
    """

    method: str
    paper: str
    options: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    written: str


def gather(material: FitMaterial) -> SoftwareSection:
    """The method with all its options, and the versions of the software."""
    method = material.fit.chosen_method
    return SoftwareSection(
        method=method.title,
        paper=method.paper,
        options=tuple((name, str(value)) for name, value in method.options().items()),
        versions=tuple(material.versions.items()),
        written=material.written,
    )
