"""What resamples selected: units that were forced in, how many units, and whether all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treeselect.resampling.stability import Stability

BY_REQUEST = "forced in"
"""In place of the frequency of a unit that `keep=` forces into each selection."""


def kept_units(stability: Stability) -> frozenset[str]:
    """Units that `keep=` forces into each selection."""
    named = zip(stability.units, stability.kept, strict=True)
    return frozenset(unit for unit, is_kept in named if is_kept)


def sizes_of_resamples(stability: Stability) -> tuple[int, int]:
    """Smallest and largest number of units that a resample selected."""
    size = stability.selected.sum(axis=1)
    return int(size.min()), int(size.max())


def undefined_words(stability: Stability, one: str) -> str:
    """What each of several resamples selected if no index is defined: "every term", "no term".

    Parameters
    ----------
    stability : Stability
    one : str
        "term" or "unit".
    """
    free = stability.assessed
    every = f"every {one}" if (free | stability.kept).all() else f"every non-constant {one}"
    which = f"no {one}" if not stability.selected[:, free].any() else every
    return f"{which} other than those forced in" if stability.kept.any() else which


def each_selected_all(stability: Stability) -> bool:
    """Whether each resample selected every unit that was not forced in and can be selected."""
    return bool(stability.selected[:, stability.assessed].all())


def could_vary(stability: Stability) -> bool:
    """Whether resamples could select different sets: not if `k` is the number of all units, or of
    those that were forced in."""
    n_kept, n_free = int(stability.kept.sum()), int(stability.assessed.sum())
    return not stability.fixed_size or n_kept < stability.k < n_kept + n_free
