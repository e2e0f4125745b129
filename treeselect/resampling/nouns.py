"""What is selected: terms, where each is a unit of its own; else units, which hold terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treeselect.printing import count_text

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


def is_grouped(terms_of_units: Sequence[Sequence[str]]) -> bool:
    """Whether some unit is a group of terms."""
    return any(len(terms) > 1 for terms in terms_of_units)


def noun_of(terms_of_units: Sequence[Sequence[str]], n: float) -> str:
    """ "term", "terms", "unit" or "units", whichever goes with a number.

    Examples
    --------
    >>> from treeselect.resampling.nouns import noun_of
    >>> noun_of([("age",), ("sex",)], 2), noun_of([("height", "weight"), ("sex",)], 1)
    ('terms', 'unit')
    """
    word = "unit" if is_grouped(terms_of_units) else "term"
    return word if n == 1 else f"{word}s"


def noun(fit: Fit, n: float = 2) -> str:
    """The same for a fit."""
    return noun_of(fit.design.arrays.groups.terms, n)


def kept_of_all(fit: Fit) -> str:
    """ "3 of 22 terms", or "3 of 20 units (5 of 22 terms)" where these are not the same."""
    known = fit.design.arrays.groups.terms
    said = f"{count_text(fit.k)} of {count_text(len(known))} {noun(fit, len(known))}"
    if not is_grouped(known):
        return said
    n_terms = sum(map(len, known))
    return f"{said} ({count_text(len(fit.selected))} of {count_text(n_terms)} terms)"
