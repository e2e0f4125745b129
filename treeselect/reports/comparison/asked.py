"""What was asked, and of what data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeselect.comparison.words import comparison_facts
from treeselect.reports.material import ContestMaterial


def gather(material: ContestMaterial) -> tuple[tuple[str, str], ...]:
    """The summary's facts with a row on rows after that on the data."""
    found = material.found
    facts = comparison_facts(found)
    rows = f"{_span(found.n_train)} in training, {_span(found.n_test)} held out in each fold"
    after = [name for name, _ in facts].index("Data") + 1
    return (*facts[:after], ("Rows", rows), *facts[after:])


def _span(counts: Sequence[int] | np.ndarray) -> str:
    low, high = int(min(counts)), int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
