"""The answer in one to three sentences, at the head of the page."""

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
    if not fit.selected:
        none = f"selected none of {n_terms:,} candidate terms"
        if n_terms == 1:
            none = "did not select the only candidate term"
        return (f"{method} {none} to predict {response}.",)
    n_selected = len(fit.selected)
    which = f"{n_selected:,} of {n_terms:,} candidate terms"
    if n_selected == n_terms:
        which = _all(n_terms)
    sentences = [f"{method} selected {which} to predict {response}: {enumeration(_names(fit))}."]
    if fit.resampled is not None:
        said, *more = _stability(fit, fit.stability)
        sentences = [f"{sentences[0]} {said}".rstrip(), *more]
    return tuple(sentences)


def _names(fit: Fit) -> list[str]:
    """The selected terms; those of `keep=` are marked."""
    groups = fit.design.arrays.groups
    units = zip(groups.terms, groups.keep.tolist(), strict=True)
    kept = {term for terms, is_kept in units if is_kept for term in terms}
    return [f"{term} (always included)" if term in kept else term for term in fit.selected]


def _all(n_terms: int) -> str:
    few = {1: "the only candidate term", 2: "both candidate terms"}
    return few.get(n_terms, f"all {n_terms:,} candidate terms")


def _stability(fit: Fit, stability: Stability) -> list[str]:
    """The verdict, which may be empty, and the interchangeable terms."""
    index = stability.index if stability.n_resamples > 1 else float("nan")
    if (said := verdict(fit, stability)) or np.isfinite(index):
        return [said, *place_sentences(stability)]
    if stability.n_resamples == 1:
        return ["One resample is too few to assess stability."]
    which = undefined_words(stability, noun(fit, 1))
    return [
        f"Stability is undefined: each of {stability.n_resamples:,} resamples selected {which}."
    ]
