"""What resamples selected: what is in each by request, how many, and whether all there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treeselect.resampling.stability import Stability

BY_REQUEST = "kept by request"
"""In place of the frequency of a unit that is in each selection because it was asked for."""


def kept_units(stability: Stability) -> frozenset[str]:
    """Units that are in each selection by request."""
    named = zip(stability.units, stability.kept, strict=True)
    return frozenset(unit for unit, is_kept in named if is_kept)


def sizes_of_resamples(stability: Stability) -> tuple[int, int]:
    """Smallest and largest number of units that a resample selected."""
    size = stability.selected.sum(axis=1)
    return int(size.min()), int(size.max())


def undefined_words(stability: Stability, one: str) -> str:
    """What each resample selected where no index is defined: "every term", "no term".

    Parameters
    ----------
    stability : Stability
    one : str
        What one of the selected is called, "term" or "unit".
    """
    free = stability.assessed
    every = f"every {one}" if (free | stability.kept).all() else f"every {one} that varies"
    which = f"no {one}" if not stability.selected[:, free].any() else every
    return f"{which} beyond those that are kept" if stability.kept.any() else which


def each_selected_all(stability: Stability) -> bool:
    """Whether each resample selected every unit that it was free to select."""
    return bool(stability.selected[:, stability.assessed].all())
