"""Performance by nested cross-validation."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, Table

_SAID_ABOVE = ("Call",)


@dataclass(frozen=True, slots=True)
class PerformanceSection:
    """Scores from nested cross-validation: how, fold by fold, and conclusions."""

    lead: str
    facts: tuple[tuple[str, str], ...]
    table: Table
    sentences: tuple[str, ...]


def gather(material: FitMaterial) -> PerformanceSection | None:
    """What ``performance()`` found; None if the user did not supply it."""
    found = material.performance
    if found is None:
        return None
    content = found.summary().content
    return PerformanceSection(
        lead=(
            f"{found.score_name} {found.words} on held-out rows, mean of {len(found.scores):,}"
            " folds. The whole selection was repeated in each fold: neither the terms nor their"
            " number was chosen on the held-out rows."
        ),
        facts=tuple(fact for fact in content.facts if fact[0] not in _SAID_ABOVE),
        table=Table(
            content.columns, content.rows[:MOST_ROWS], max(len(content.rows) - MOST_ROWS, 0)
        ),
        sentences=content.notes,
    )
