"""The answer in a sentence or three, at the head of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.printing import enumeration, score_text
from treeselect.reports.material import FitMaterial
from treeselect.results.recurrence import ALWAYS, each_selected_all, recurrence
from treeselect.results.tables import glance_table

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability


def gather(material: FitMaterial) -> tuple[str, ...]:
    """What was selected, how well it predicts and how stable it is."""
    fit = material.fit
    glance = glance_table(fit).iloc[0]
    n_terms = len(fit.design.spec.terms)
    response, method = fit.design.response.name, fit.chosen_method.title
    of_all = f"of {n_terms:,} terms" if n_terms > 1 else "of one term"
    if not fit.selected:
        return (f"{method} keeps none {of_all} for {response}.",)
    n_kept = len(fit.selected)
    kept = f"{n_kept:,} {of_all}" if n_kept < n_terms else _all(n_terms)
    sentences = [f"{method} keeps {kept} for {response}: {enumeration(fit.selected)}."]
    if np.isfinite(glance["cv_score"]):
        words = fit.design.response.family.score_words
        sentences.append(
            f"The cross-validated {glance['score']} is"
            f" {score_text(glance['cv_score'], glance['cv_se'])}, with the selection repeated"
            " inside each fold."
        )
        sentences += [words] if words else []
    if fit.resampled is not None:
        sentences.append(_stability(fit, fit.resampled))
    return tuple(sentences)


def _all(n_terms: int) -> str:
    return {1: "the only term", 2: "both terms"}.get(n_terms, f"all {n_terms:,} terms")


def _stability(fit: Fit, stability: Stability) -> str:
    n = f"{stability.n_resamples:,}"
    if not np.isfinite(stability.index):
        which = "every unit" if each_selected_all(stability) else "no unit"
        return f"Each of {n} resamples selected {which}, which tells nothing about stability."
    found = recurrence(fit, stability)
    if found.rarest is None:
        return f"The stability index on {n} resamples is {stability.index:.2f}."
    parts = []
    if found.often:
        verb = "was" if len(found.often) == 1 else "were"
        parts.append(f"{enumeration(found.often)} {verb} selected on at least {ALWAYS * 100:.0f} %")
    if found.others:
        one = len(found.others) == 1
        which = found.rarest if one else f"the least frequent, {found.rarest},"
        parts.append(f"{which} was selected on {found.frequency * 100:.0f} %")
    return (
        f"Of {n} resamples of the {'groups' if stability.groups_name else 'rows'},"
        f" {'; '.join(parts)}."
        f" The stability index is {stability.index:.2f}."
    )
