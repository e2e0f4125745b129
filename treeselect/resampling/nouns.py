"""What a fit has selected, counted: terms, or units where there are groups of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.designs.nouns import is_grouped, noun_of
from treeselect.printing import count_text

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit

__all__ = ["candidates", "is_grouped", "noun", "noun_of", "selected_of_all", "selection_clause"]


def noun(fit: Fit, n: float = 2) -> str:
    """ "term" or "unit" of a fit, in the plural unless `n` is 1."""
    return noun_of(fit.design.arrays.groups.terms, n)


def selected_of_all(fit: Fit) -> str:
    """ "3 of 22 terms", or "3 of 20 units (5 of 22 terms)" where there are groups."""
    return _of_all(fit, noun(fit, len(fit.design.arrays.groups.terms)))


def candidates(fit: Fit) -> str:
    """ "3 of 22 candidate terms", "none of 22 candidate terms"; units where there are groups."""
    text = _of_all(fit, f"candidate {noun(fit, len(fit.design.arrays.groups.terms))}")
    return text if fit.selected else f"none{text[1:]}"


def selection_clause(fit: Fit) -> str:
    """ "Exchange search selected 4 of 7 candidate terms to predict survived"."""
    return (
        f"{fit.chosen_method.title} selected {candidates(fit)} to predict"
        f" {fit.design.response.name}"
    )


def _of_all(fit: Fit, what: str) -> str:
    known = fit.design.arrays.groups.terms
    said = f"{count_text(fit.k)} of {count_text(len(known))} {what}"
    if not is_grouped(known):
        return said
    n_terms = sum(map(len, known))
    return f"{said} ({count_text(len(fit.selected))} of {count_text(n_terms)} terms)"
