"""The sets that the resamples selected."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.printing import decimal_text, enumeration
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.resampling.nouns import noun

_MOST_SETS = 10


@dataclass(frozen=True, slots=True)
class ModelSection:
    """Model frequencies: how to read the table, and the table."""

    lead: str
    table: Table


def gather(material: FitMaterial) -> ModelSection | None:
    """The most frequent sets; None if there are no resamples."""
    stability = material.fit.resampled
    if stability is None:
        return None
    shown = stability.model_table(_MOST_SETS)
    rows = tuple(
        (
            enumeration(row["terms"], 20) if row["terms"] else "none",
            f"{row['size']:,}",
            f"{row['count']:,}",
            decimal_text(row["frequency"], 3),
            decimal_text(row["cumulative"], 3),
            "yes" if row["selected"] else "no",
        )
        for row in shown.to_dict("records")
    )
    columns = (
        "Set",
        noun(material.fit).capitalize(),
        "Resamples",
        "Frequency",
        "Cumulative",
        "Same as the fit",
    )
    more = stability.n_models - len(rows)
    lead = (
        f"Number of {stability.words} that selected exactly each set of {noun(material.fit)}. The"
        " set of the fit is listed if any resample selected it, whatever its rank."
    )
    return ModelSection(lead, Table(columns, rows, more))
