"""The answer in a sentence or three, at the head of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.printing import enumeration
from treeselect.reports.material import FitMaterial
from treeselect.resampling.nouns import noun
from treeselect.results.recurrence import undefined_words
from treeselect.results.stability_words import place_sentences
from treeselect.results.verdict import verdict

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability


def gather(material: FitMaterial) -> tuple[str, ...]:
    """What was selected, and how stable it is."""
    fit = material.fit
    n_terms = len(fit.design.spec.terms)
    response, method = fit.design.response.name, fit.chosen_method.title
    of_all = f"of {n_terms:,} terms" if n_terms > 1 else "of one term"
    if not fit.selected:
        return (f"{method} keeps none {of_all} for {response}.",)
    n_kept = len(fit.selected)
    kept = f"{n_kept:,} {of_all}" if n_kept < n_terms else _all(n_terms)
    sentences = [f"{method} keeps {kept} for {response}: {enumeration(fit.selected)}."]
    if fit.resampled is not None:
        said, *more = _stability(fit, fit.stability)
        sentences = [f"{sentences[0]} {said}".rstrip(), *more]
    return tuple(sentences)


def _all(n_terms: int) -> str:
    return {1: "the only term", 2: "both terms"}.get(n_terms, f"all {n_terms:,} terms")


def _stability(fit: Fit, stability: Stability) -> list[str]:
    """The verdict, which may be empty, and what has to be known beside it."""
    index = stability.index if stability.n_resamples > 1 else float("nan")
    if (said := verdict(fit, stability)) or np.isfinite(index):
        return [said, *place_sentences(stability)]
    which = undefined_words(stability, noun(fit, 1))
    return [
        f"Each of {stability.n_resamples:,} resamples selected {which}, which tells nothing about"
        " stability."
    ]
