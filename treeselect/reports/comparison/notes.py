"""What a reader should know about the comparison."""

from __future__ import annotations

from treeselect.comparison.words import comparison_notes, method_notes
from treeselect.reports.material import ContestMaterial


def gather(material: ContestMaterial) -> tuple[str, ...]:
    """The summary's notes, except those on the methods, which stand with their papers."""
    about_methods = method_notes(material.found)
    return tuple(note for note in comparison_notes(material.found) if note not in about_methods)
