"""The terms that each method selected."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.printing import decimal_text
from treeselect.reports.figures.labels import distinct
from treeselect.reports.material import ContestMaterial

_MOST_TERMS = 30


@dataclass(frozen=True, slots=True)
class Share:
    """A cell of the matrix of terms: a share of the folds as text and as number."""

    text: str
    share: float


@dataclass(frozen=True, slots=True)
class TermMatrix:
    """Terms by methods.

    Attributes
    ----------
    lead : str
    methods : tuple of (str, str)
        Whole names and what fits into the head of a column.
    upright : bool
        Whether the column heads are rotated, because they would not fit side by side.
    rows : tuple of (str, tuple of Share)
    more : int
        Terms that were left out.
    """

    lead: str
    methods: tuple[tuple[str, str], ...]
    upright: bool
    rows: tuple[tuple[str, tuple[Share, ...]], ...]
    more: int


def gather(material: ContestMaterial) -> TermMatrix | None:
    """Share of folds in which each method selected each term, at the size at which it is compared;
    None if nothing was selected."""
    table, methods = material.found.term_table(), material.ranked["method"].tolist()
    if table.empty:
        return None
    shares = table.pivot(index="term", columns="method", values="frequency")
    order = list(dict.fromkeys(table["term"]))
    shown = order[:_MOST_TERMS]
    rows = tuple(
        (term, tuple(_share(float(shares.loc[term, method])) for method in methods))
        for term in shown
    )
    labels = distinct(methods, 11.0)
    lead = (
        "Share of folds in which each method selected each term, at the size at which the method is"
        " compared. Terms are ordered by their frequency over all methods."
    )
    return TermMatrix(
        lead=lead,
        methods=tuple(zip(methods, labels, strict=True)),
        upright=len(labels) > 6,
        rows=rows,
        more=len(order) - len(shown),
    )


def _share(share: float) -> Share:
    return Share(decimal_text(share, 2) if share else "0", share)
