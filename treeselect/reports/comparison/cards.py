"""Three facts below the answer: the best score, who can't be told from it, and what is stable."""

from __future__ import annotations

import numpy as np

from treeselect.comparison.verdict import verdict
from treeselect.comparison.words import units_text
from treeselect.printing import enumeration, error_text, plain_score
from treeselect.reports.material import ContestMaterial
from treeselect.reports.parts import Card


def gather(material: ContestMaterial) -> tuple[Card, ...]:
    """The best score; of several methods who shares it; the most stable method."""
    cards = [_score(material)]
    if len(material.ranked) > 1:
        cards.append(_told_apart(material))
    cards.append(_stability(material))
    return tuple(cards)


def _score(material: ContestMaterial) -> Card:
    found, best = material.found, material.ranked.to_dict("records")[0]
    head = f"Best {found.score_name}" if len(material.ranked) > 1 else found.score_name
    details = [
        f"{best['method']} with {units_text(best['n_selected'], len(found.units))}; standard error"
        f" {error_text(best['standard_error'])} over {len(found.n_test):,} folds.",
        found.score_words,
    ]
    return Card(head, plain_score(best["score"]), tuple(text for text in details if text))


def _told_apart(material: ContestMaterial) -> Card:
    """How many methods the intervals of the differences do not tell from the best."""
    said, n = verdict(material.ranked, material.differences), len(material.ranked) - 1
    value = f"{len(said.alike)} of {n}"
    details = [f"Not told from it: {enumeration(said.alike)}."] if said.alike else []
    if said.worse:
        details.append(f"Lower: {enumeration(said.worse)}.")
    details.append("By the 95 % intervals of the paired differences.")
    return Card("Others as good, as far as can be told", value, tuple(details))


def _stability(material: ContestMaterial) -> Card:
    ranked = material.ranked
    known = ranked[np.isfinite(ranked["stability"])]
    if known.empty:
        return Card("Stability", "Not defined", ("Every fold selected all units or none.",))
    most = known["stability"].max()
    who = known.loc[known["stability"] == most, "method"].tolist()
    head = "Most stable" if len(ranked) > 1 else "Stability"
    details = [f"{enumeration(who)}."] if len(ranked) > 1 else []
    details.append(
        f"Nogueira's index over {len(material.found.n_test):,} folds: 1 is the same selection each"
        " time, 0 is chance."
    )
    return Card(head, f"{most:.2f}", tuple(details))
