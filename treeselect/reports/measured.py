"""What the report says of the performance: folds in which the whole selection was repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.arguments.scalars import described
from treeselect.errors import OptionError
from treeselect.reports.parts import MOST_ROWS, Table
from treeselect.resampling.performance import Performance

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit

_SAID_ABOVE = ("Call",)


@dataclass(frozen=True, slots=True)
class PerformanceSection:
    """Scores on rows that had no part in the selection: how, fold by fold, and what it says."""

    lead: str
    facts: tuple[tuple[str, str], ...]
    table: Table
    sentences: tuple[str, ...]


def performance_section(result: Fit, found: object) -> PerformanceSection:
    """What ``performance()`` of this result found.

    Raises
    ------
    OptionError
        If it is something else.
    """
    if not isinstance(found, Performance):
        raise OptionError(
            f"`performance` must be what `fit.performance()` gives.\n  Found: {described(found)}."
        )
    if (found.call, found.k_of_fit) != (result.call.text, result.k):
        raise OptionError(
            "`performance` must be that of the same fit.\n"
            f"  Found: that of {found.call}, which selected {found.k_of_fit}."
        )
    content = found.summary().content
    return PerformanceSection(
        lead=(
            f"{found.score_name} {found.mean:.3f} (standard error {found.standard_error:.3f}) on"
            f" held-out rows, mean of {len(found.scores):,} folds. Nothing that was chosen, neither"
            " the terms nor their number, was chosen on the rows that it is scored on."
        ),
        facts=tuple(fact for fact in content.facts if fact[0] not in _SAID_ABOVE),
        table=Table(
            content.columns, content.rows[:MOST_ROWS], max(len(content.rows) - MOST_ROWS, 0)
        ),
        sentences=content.notes,
    )
