"""Three facts below the answer: the best score, the most stable method, and the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.comparison.words import span, units_text
from treeselect.printing import decimal_text, enumeration, error_text, plain_score
from treeselect.reports.material import ContestMaterial
from treeselect.reports.parts import Card
from treeselect.resampling.nouns import noun_of

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest


def gather(material: ContestMaterial) -> tuple[Card, ...]:
    """The best score, the most stable method, the rows."""
    return _score(material), _stability(material), _data(material.found)


def _score(material: ContestMaterial) -> Card:
    found, best = material.found, material.ranked.to_dict("records")[0]
    head = f"Best {found.score_name}" if len(material.ranked) > 1 else found.score_name
    details = [
        f"{best['method']} with {units_text(best['n_selected'], found)}; standard error"
        f" {error_text(best['standard_error'])} over {len(found.n_test):,} folds.",
        found.score_words,
    ]
    return Card(head, plain_score(best["score"]), tuple(text for text in details if text))


def _stability(material: ContestMaterial) -> Card:
    ranked = material.ranked
    known = ranked[np.isfinite(ranked["stability"])]
    if known.empty:
        return Card(
            "Stability",
            "Not defined",
            (f"Every fold selected all {noun_of(material.found.terms_of_unit, 2)} or none.",),
        )
    most = known["stability"].max()
    who = known.loc[known["stability"] == most, "method"].tolist()
    head = "Most stable" if len(ranked) > 1 else "Stability"
    details = [f"{enumeration(who)}."] if len(ranked) > 1 else []
    details.append(
        f"Nogueira's index over {len(material.found.n_test):,} folds (1: identical selections; 0:"
        " no better than chance)."
    )
    return Card(head, decimal_text(most, 2), tuple(details))


def _data(found: Contest) -> Card:
    """Rows in training and held out, and events."""
    rows = f"{span(found.n_train + found.n_test)} rows"
    split = f"{span(found.n_train)} in training, {span(found.n_test)} held out"
    known = found.follow_up
    events = [] if known is None else [f"{known.n_events:,} events."]
    return Card("Data", rows, (*events, f"{found.scheme}: {split}."))
