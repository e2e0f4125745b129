"""How many rows, events and missing values there are: what a reader asks of the data first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Counts of rows, whatever their weights; the copies that frequency weights count are rows.

    Attributes
    ----------
    used, no_response, no_weight : int
        See :class:`treeselect.designs.modeldata.RowCounts`.
    events : int or None
        Of times until an event; None for other responses.
    classes : tuple of (str, int)
        Rows of each class, the fewest first; empty for numbers, and without the data.
    missing : tuple of (str, int) or None
        Rows in which each column behind the terms is missing, the most first, columns without any
        left out; None without the data.
    incomplete : int
        Rows in which one of them is.
    """

    used: int
    no_response: int
    no_weight: int
    events: int | None
    classes: tuple[tuple[str, int], ...]
    missing: tuple[tuple[str, int], ...] | None
    incomplete: int


def row_facts(fit: Fit) -> RowFacts:
    """Counts of the rows of a fit."""
    design = fit.design
    counts, known = design.rows, design.response.follow_up
    missing, incomplete = _missing(fit) if design.has_data else (None, 0)
    return RowFacts(
        used=counts.used,
        no_response=counts.no_response,
        no_weight=counts.no_weight,
        events=None if known is None else known.n_events,
        classes=_classes(fit) if design.has_data else (),
        missing=missing,
        incomplete=incomplete,
    )


def _classes(fit: Fit) -> tuple[tuple[str, int], ...]:
    response = fit.design.response
    if not response.classes:
        return ()
    count = np.bincount(response.y.astype(np.int64), minlength=len(response.classes))
    order = np.argsort(count, kind="stable")
    return tuple((str(response.classes[i]), int(count[i])) for i in order)


def _missing(fit: Fit) -> tuple[tuple[tuple[str, int], ...], int]:
    absent = fit.design.sources.isna()
    count = absent.sum().sort_values(ascending=False, kind="stable")
    label = fit.design.words
    found = tuple((label.get(str(name), str(name)), int(n)) for name, n in count.items() if n)
    return found, int(absent.any(axis=1).sum())
