"""What a reader should know about the selection."""

from __future__ import annotations

from treeselect.reports.material import FitMaterial
from treeselect.reports.selection import answer, cards
from treeselect.reports.selection.data import data_sentences
from treeselect.results.effects import effect_notes
from treeselect.results.searched import search_notes
from treeselect.results.summary import rows_note, stability_notes


def gather(material: FitMaterial) -> tuple[str, ...]:
    """The summary's notes that no other section shows."""
    fit = material.fit
    said = cards.gather(material)
    elsewhere = {
        rows_note(fit), *stability_notes(fit), *effect_notes(fit), *search_notes(fit),
        *answer.gather(material), *(text for card in said for text in card.details),
        *(data_sentences(fit) if fit.design.has_data else ()),
    }  # fmt: skip
    return tuple(note for note in material.summary.notes if note not in elsewhere)
