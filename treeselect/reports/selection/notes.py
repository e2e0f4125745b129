"""What a reader should know of the selection."""

from __future__ import annotations

from treeselect.reports.material import FitMaterial
from treeselect.results.summary import rows_note, stability_notes


def gather(material: FitMaterial) -> tuple[str, ...]:
    """The summary's notes without those that other sections have."""
    elsewhere = (rows_note(material.fit), *stability_notes(material.fit))
    return tuple(note for note in material.summary.notes if note not in elsewhere)
