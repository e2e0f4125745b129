"""What is selected: terms; units, where some terms enter and leave the model as a group."""

from __future__ import annotations

from collections.abc import Sequence


def is_grouped(terms_of_units: Sequence[Sequence[str]]) -> bool:
    """Whether some unit is a group of several terms."""
    return any(len(terms) > 1 for terms in terms_of_units)


def noun_of(terms_of_units: Sequence[Sequence[str]], n: float = 2) -> str:
    """ "term" or "unit", in the plural unless `n` is 1.

    Examples
    --------
    >>> from treeselect.designs.nouns import noun_of
    >>> noun_of([("age",), ("sex",)], 2), noun_of([("height", "weight"), ("sex",)], 1)
    ('terms', 'unit')
    """
    word = "unit" if is_grouped(terms_of_units) else "term"
    return word if n == 1 else f"{word}s"
