"""How selection affects the coefficients of the linear model."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, Table
from treeselect.resampling.coefficient_stability import HEAD, cells


@dataclass(frozen=True, slots=True)
class CoefficientSection:
    """Stability of coefficients: what was fitted, the table, and how to read it."""

    lead: str
    table: Table
    sentences: tuple[str, ...]


def gather(material: FitMaterial) -> CoefficientSection | None:
    """The coefficients on the resamples; None if not given."""
    found = material.coefficients
    if found is None:
        return None
    shown = found.printed.head(MOST_ROWS)
    model = f"Linear model: {found.model}. " if found.model else ""
    lead = (
        f"{model}Fitted to {found.n_refitted:,} of {found.resamples}, each time to the terms"
        f" selected on the resample. Response: {found.response}."
    )
    rows = tuple(cells(row) for row in shown.to_dict("records"))
    return CoefficientSection(lead, Table(HEAD, rows, len(found.table) - len(rows)), found.notes())
