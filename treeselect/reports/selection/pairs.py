"""Which units the resamples selected together."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.resampling.selected_sets import PAIR_LEVEL
from treeselect.results.stability_words import has_pairs

_MOST_UNITS = 15

_SIGNS = {"+": "+", "-": "–", "": ""}
"""As they are set."""


@dataclass(frozen=True, slots=True)
class PairSection:
    """Co-selection: how to read the table, and the table."""

    lead: str
    table: Table


def gather(material: FitMaterial) -> PairSection | None:
    """The co-selection of units that came and went; None if no two of them came together."""
    stability = material.fit.resampled
    if stability is None or not has_pairs(stability):
        return None
    found = stability.varying_co_selection()
    together = found.to_numpy()
    names = list(map(str, found.columns))
    pairs = stability.pair_table().to_dict("records")
    sign = {(pair["term"], pair["other"]): pair["sign"] for pair in pairs}
    shown = names[:_MOST_UNITS]
    rows = tuple(
        (
            name,
            *(_SIGNS[sign[other, name]] for other in shown[:i]),
            *(f"{together[i, j]:.2f}" for j in range(i, len(shown))),
        )
        for i, name in enumerate(shown)
    )
    lead = (
        f"Of {stability.words}: on the diagonal the share that selected a unit, above it the share"
        " that selected both of two. Below it + stands for pairs that came together more often"
        " than independent ones would, – for less often, as those do that stand for each other"
        f" (chi-squared test, p < {PAIR_LEVEL:g})."
        " Units that were selected always or never are left out."
    )
    return PairSection(lead, Table(("Unit", *shown), rows, len(names) - len(shown)))
