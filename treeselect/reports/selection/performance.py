"""Performance: folds in which the whole selection was repeated."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.printing import score_text
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, Table

_SAID_ABOVE = ("Call",)


@dataclass(frozen=True, slots=True)
class PerformanceSection:
    """Scores on rows that had no part in the selection: how, fold by fold, and what it says."""

    lead: str
    facts: tuple[tuple[str, str], ...]
    table: Table
    sentences: tuple[str, ...]


def gather(material: FitMaterial) -> PerformanceSection | None:
    """What ``performance()`` found; None if the user gave nothing of it."""
    found = material.performance
    if found is None:
        return None
    content = found.summary().content
    return PerformanceSection(
        lead=(
            f"{found.score_name}"
            f" {score_text(found.mean, found.standard_error, 'standard error')} on"
            f" held-out rows, mean of {len(found.scores):,} folds. Nothing that was chosen, neither"
            " the terms nor their number, was chosen on the rows that it is scored on."
        ),
        facts=tuple(fact for fact in content.facts if fact[0] not in _SAID_ABOVE),
        table=Table(
            content.columns, content.rows[:MOST_ROWS], max(len(content.rows) - MOST_ROWS, 0)
        ),
        sentences=content.notes,
    )
