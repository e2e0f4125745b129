"""Sentences about scores from nested cross-validation."""

from __future__ import annotations

from collections.abc import Mapping

_MOST_NAMES = 12
"""Number of terms whose frequency is told."""

_ROOM = 36
"""Characters for the terms of a fold."""

INSIDE_FOLDS = (
    "In each fold, selection, choice of k and final model use the training rows only. Factor"
    " levels, bin edges and the parameters of transforms come from all rows, without the response."
)

INTERVAL = (
    "The interval allows for variation between held-out rows and between folds and, through t"
    " quantiles, between models trained on overlapping rows; the standard error reflects the folds"
    " alone, and tends to be too small."
)


def terms_text(terms: tuple[str, ...]) -> str:
    """As many terms as fit into a column, at least one, and the number of the others."""
    shown = [
        name for i, name in enumerate(terms) if i == 0 or len(", ".join(terms[: i + 1])) <= _ROOM
    ]
    more = len(terms) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def frequency_note(frequency: Mapping[str, int], n_folds: int) -> str:
    """In how many folds each term was selected."""
    counts = [f"{name} ({count})" for name, count in frequency.items()]
    more = len(counts) - _MOST_NAMES
    return (
        f"Number of folds, of {n_folds}, that selected each term: {', '.join(counts[:_MOST_NAMES])}"
        f"{f' and {more} more terms' if more > 0 else ''}."
    )
