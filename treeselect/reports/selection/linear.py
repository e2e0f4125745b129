"""The linear model of the selected terms: coefficients or ratios, and tests of whole terms."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, Table


@dataclass(frozen=True, slots=True)
class LinearSection:
    """A refitted linear model: facts, coefficients, tests of terms, and how to read them."""

    facts: tuple[tuple[str, str], ...]
    coefficients: Table
    tests: Table | None
    sentences: tuple[str, ...]


def gather(material: FitMaterial) -> LinearSection | None:
    """The linear model; None if not given."""
    found = material.linear
    if found is None:
        return None
    content, tests = found.tables_of_paper()
    hidden = ("Call", "Seed", "Response" if found.ratio else "")
    facts = tuple(fact for fact in content.facts if fact[0] not in hidden)
    table = Table(content.columns, content.rows[:MOST_ROWS], max(0, len(content.rows) - MOST_ROWS))
    of_terms = None if tests is None else Table(tests.columns, tests.rows)
    said = () if tests is None else (f"Tests of terms: {dict(tests.facts)['Tests']}.",)
    return LinearSection(facts, table, of_terms, (*said, *content.notes))
