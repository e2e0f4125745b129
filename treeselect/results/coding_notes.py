"""What a linear model does with missing values and ordered factors, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from treeselect.designs.gaps import WAYS_OUT, gaps_of
from treeselect.designs.labels import shown_names
from treeselect.designs.linear_coding import LinearCoding, coded_words
from treeselect.designs.modeldata import ModelData
from treeselect.models.linear_data import LinearData


def coding_notes(
    data: ModelData, full: LinearData, terms: Sequence[str], coding: LinearCoding
) -> tuple[str, ...]:
    """Notes on missing values and ordered factors, if there are any."""
    gaps, notes = gaps_of(data, terms), []
    if gaps.counts:
        labels = shown_names(data)
        counts = ", ".join(f"{labels.get(name, name)} {n:,}" for name, n in gaps.counts)
        how = WAYS_OUT
        if coding.missing == "indicator":
            assert full.columns is not None
            how = full.columns.words
        notes.append(f"Missing values: {counts}. {how}".strip())
    return (*notes, *coded_words(data.sources, data.spec.terms, terms, coding))
