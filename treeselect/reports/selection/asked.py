"""Settings of the selection, and its data."""

from __future__ import annotations

from treeselect.reports.material import FitMaterial
from treeselect.reports.selection import cards
from treeselect.results.summary import score_fact

_SAID = frozenset({"Call", "Method", "Stability", "Seed"})
"""Facts shown in the answer or under the citation: the call with its seed, all options."""


def gather(material: FitMaterial) -> tuple[tuple[str, str], ...]:
    """The summary's facts that no other section shows; if `whole`, all of them, with the number of
    rows after the data."""
    facts = material.summary.facts
    if not material.whole:
        score = score_fact(material.fit) if cards.has_tuning_score(material) else None
        return tuple(fact for fact in facts if fact[0] not in _SAID and fact != score)
    after = [name for name, _ in facts].index("Data") + 1
    return (*facts[:after], ("Rows", _rows(material)), *facts[after:])


def _rows(material: FitMaterial) -> str:
    counts = material.fit.design.rows
    rows = f"{counts.used:,} used{', copies counted' if counts.more_copies else ''}"
    if counts.not_drawn:
        rows += f"; {counts.not_drawn:,} not drawn"
    if counts.no_response:
        what = material.fit.design.response.parts_text
        rows += f"; {counts.no_response:,} dropped because {what} is missing"
    if counts.no_weight:
        rows += f"; {counts.no_weight:,} excluded with weight 0"
    return rows
