"""Would another sample say the same?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.reports.figures.dots import DotFigure, dot_figure
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, MOST_UNITS, Table
from treeselect.results.frequencies import selected_first
from treeselect.results.recurrence import BY_REQUEST, kept_units, sizes_of_resamples
from treeselect.results.summary import stability_notes
from treeselect.results.verdict import verdict

if TYPE_CHECKING:
    from treeselect.resampling.stability import Stability


@dataclass(frozen=True, slots=True)
class StabilitySection:
    """Stability across resamples: figure, table, how it was assessed, and what it says."""

    lead: str
    figure: DotFigure
    table: Table
    sentences: tuple[str, ...]


def gather(material: FitMaterial) -> StabilitySection | None:
    """Selection frequencies; None if there are no resamples."""
    stability = material.fit.resampled
    if stability is None:
        return None
    fit = material.fit
    said = [sentence for sentence in [verdict(fit, fit.stability)] if sentence]
    return stability_section(stability, [*said, *stability_notes(fit)])


def stability_section(stability: Stability, sentences: Sequence[str]) -> StabilitySection:
    """Figure and table of the selected and the most frequent other units, and what they say."""
    kept = kept_units(stability)
    tidy = stability.table()
    shown = selected_first(tidy, MOST_UNITS, MOST_ROWS)
    figure = dot_figure(
        names=shown["term"].to_list(),
        values=shown["frequency"].to_list(),
        lows=shown["ci_low"].to_list(),
        highs=shown["ci_high"].to_list(),
        filled=shown["selected"].to_list(),
        more=len(tidy) - len(shown),
    )
    listed = selected_first(tidy, MOST_ROWS, MOST_ROWS)
    rows = tuple(
        (
            str(row["term"]),
            *(
                (BY_REQUEST, "")
                if row["term"] in kept
                else (f"{row['frequency']:.2f}", f"{row['ci_low']:.2f} to {row['ci_high']:.2f}")
            ),
            "yes" if row["selected"] else "no",
        )
        for row in listed.to_dict("records")
    )
    columns = ("Unit", "Frequency", "95% interval", "In the fit")
    table = Table(columns, rows, len(tidy) - len(listed))
    return StabilitySection(_lead(stability), figure, table, tuple(sentences))


def _lead(stability: Stability) -> str:
    low, high = sizes_of_resamples(stability)
    sizes = (
        f"{low:,} unit{'' if low == high == 1 else 's'}"
        if low == high
        else f"{low:,} to {high:,} units"
    )
    drawn = "groups, each with all its rows," if stability.groups_name else "rows"
    how = {
        "bootstrap": f"as many {drawn} as there are, drawn with replacement",
        "subsample": f"half of the {drawn.removesuffix(',')}",
        "complementary": "the two halves of a split in turn",
    }[stability.scheme]
    return (
        f"How often each unit was selected when the selection was repeated on"
        f" {stability.words} ({how}), {sizes} on each; lines"
        " are 95% intervals. Filled dots are in the selection above and come first, hollow ones"
        " are not."
    )
