"""Stability: would another sample give the same selection?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.printing import decimal_text, interval_text
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, MOST_UNITS, Table
from treeselect.reports.selection.terms import frequency_mark
from treeselect.resampling.nouns import noun
from treeselect.results.frequencies import selected_first
from treeselect.results.recurrence import BY_REQUEST, could_vary, kept_units, sizes_of_resamples
from treeselect.results.summary import stability_notes
from treeselect.results.verdict import verdict

if TYPE_CHECKING:
    from treeselect.resampling.stability import Stability


@dataclass(frozen=True, slots=True)
class StabilitySection:
    """Stability across resamples: how it was assessed, table, and conclusions."""

    lead: str
    table: Table
    sentences: tuple[str, ...]


def gather(material: FitMaterial) -> StabilitySection | None:
    """Selection frequencies; None if there are no resamples."""
    stability = material.fit.resampled
    if stability is None:
        return None
    fit = material.fit
    said = [sentence for sentence in [verdict(fit, fit.stability)] if sentence]
    return stability_section(stability, [*said, *stability_notes(fit)], noun(fit, 1))


def stability_section(stability: Stability, sentences: Sequence[str], one: str) -> StabilitySection:
    """Table of the selected and the most frequent other terms or units, with sentences."""
    kept, varied = kept_units(stability), could_vary(stability)
    tidy = stability.table()
    listed = selected_first(tidy, MOST_UNITS, MOST_ROWS).to_dict("records")
    rows = tuple(
        (
            str(row["term"]),
            *(
                (BY_REQUEST, "")
                if row["term"] in kept
                else (
                    decimal_text(row["frequency"], 2),
                    interval_text(row["ci_low"], row["ci_high"]) if varied else "",
                )
            ),
        )
        for row in listed
    )
    marks = tuple(
        None if row["term"] in kept or not varied else frequency_mark(row) for row in listed
    )
    inside = [bool(row["selected"]) for row in listed]
    table = Table(
        (one.capitalize(), "Frequency", "95% interval"),
        rows,
        len(tidy) - len(listed),
        marks={1: marks},
        outside=() if all(inside) else tuple(not own for own in inside),
    )
    return StabilitySection(_lead(stability, one), table, tuple(sentences))


def _lead(stability: Stability, one: str) -> str:
    low, high = sizes_of_resamples(stability)
    sizes = (
        f"{low:,} {one}{'' if low == high == 1 else 's'}"
        if low == high
        else f"{low:,} to {high:,} {one}s"
    )
    drawn = "clusters" if stability.groups_name else "rows"
    how = {
        "bootstrap": f"as many {drawn} as in the data, drawn with replacement",
        "subsample": f"half of the {drawn}, drawn without replacement",
        "complementary": f"random splits of the {drawn} into two halves, both used",
    }[stability.scheme]
    return (
        f"The selection was repeated on {stability.words} ({how}), with {sizes} selected on each."
        f" Frequency: share of them that selected the {one}."
        + (
            f" In the table, the {one}s of the fit come first, with filled dots; hollow dots are"
            f" other {one}s, and lines are 95% intervals."
            if could_vary(stability)
            else ""
        )
    )
