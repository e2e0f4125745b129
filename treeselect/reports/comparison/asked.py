"""Settings of the comparison, and its data."""

from __future__ import annotations

from treeselect.comparison.words import comparison_facts, span
from treeselect.reports.material import ContestMaterial


def gather(material: ContestMaterial) -> tuple[tuple[str, str], ...]:
    """The summary's facts, with the numbers of rows after the data."""
    found = material.found
    facts = comparison_facts(found)
    rows = f"{span(found.n_train)} in training, {span(found.n_test)} held out in each fold"
    after = [name for name, _ in facts].index("Data") + 1
    return (*facts[:after], ("Rows", rows), *facts[after:])
