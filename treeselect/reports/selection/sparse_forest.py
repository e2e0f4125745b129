"""The trees of the sparse forest behind a selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.printing import enumeration
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.resampling.nouns import noun
from treeselect.results.inside import tree_table, units_without_trees

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit

MOST_TREES = 15


@dataclass(frozen=True, slots=True)
class SparseForest:
    """The trees of the sparse forest."""

    lead: str
    table: Table


def gather(material: FitMaterial) -> SparseForest | None:
    """The trees of the largest shares; None if no sparse forest selected."""
    fit = material.fit
    if fit.subforest is None:
        return None
    table = tree_table(fit)
    if table.empty:
        return None
    rows = tuple(
        (
            f"{row['tree']:,}",
            f"{row['weight']:.3f}",
            f"{row['share']:.3f}",
            str(row["depth"]),
            str(row["leaves"]),
            enumeration(row["terms"]) or "none",
        )
        for row in table.head(MOST_TREES).to_dict("records")
    )
    columns = ("Tree", "Weight", "Share", "Depth", "Leaves", "Terms")
    return SparseForest(_lead(fit, table), Table(columns, rows, len(table) - len(rows)))


def _lead(fit: Fit, table: pd.DataFrame) -> str:
    n = len(table)
    lead = (
        f"The sparse forest has {'one tree' if n == 1 else f'{n:,} trees'} with positive weight."
        " A tree's share measures its contribution to the prediction."
    )
    if fit.model.in_place_note:
        lead += f" The sparse forest selects but does not predict: {fit.model.in_place_note}."
    unused = units_without_trees(fit, table)
    if unused:
        lead += (
            f" None of these trees uses {enumeration(unused)}: trees that also use a {noun(fit, 1)}"
            f" that was cut or pruned are omitted, and a {noun(fit, 1)} that is always included may"
            " have none."
        )
    return lead
