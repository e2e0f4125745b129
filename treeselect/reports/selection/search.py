"""The exchanges of the search, and near-equivalent sets."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.results.searched import HEADS, exchange_rows, rival_rows, search_notes

MOST_SETS = 10


@dataclass(frozen=True, slots=True)
class SearchSection:
    """The search that found the selection.

    Attributes
    ----------
    notes : tuple of str
        How to read the tables.
    exchanges, rivals : Table or None
        None where there are none.
    """

    notes: tuple[str, ...]
    exchanges: Table | None
    rivals: Table | None


def gather(material: FitMaterial) -> SearchSection | None:
    """Exchanges and near-equivalent sets; None without a search, or if it found neither."""
    fit = material.fit
    notes = tuple(search_notes(fit, MOST_SETS))
    if fit.step.trace is None or not notes:
        return None
    return SearchSection(
        notes,
        _table("Exchange", exchange_rows(fit), len(fit.step.trace.exchanges)),
        _table("The selection with", rival_rows(fit, MOST_SETS), fit.step.trace.n_rivals),
    )


def _table(head: str, rows: tuple[tuple[str, ...], ...], n: int) -> Table | None:
    return Table((head, *HEADS), rows, n - len(rows)) if rows else None
