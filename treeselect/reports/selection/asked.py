"""What was asked, and of what data."""

from __future__ import annotations

from treeselect.reports.material import FitMaterial


def gather(material: FitMaterial) -> tuple[tuple[str, str], ...]:
    """The summary's facts with a row on rows after that on the data."""
    counts, facts = material.fit.design.rows, material.summary.facts
    rows = f"{counts.used:,} used"
    if counts.no_response:
        what = material.fit.design.response.parts_text
        rows += f"; {counts.no_response:,} dropped because {what} is missing"
    if counts.no_weight:
        rows += f"; {counts.no_weight:,} left out with weight 0"
    after = [name for name, _ in facts].index("Data") + 1
    return (*facts[:after], ("Rows", rows), *facts[after:])
