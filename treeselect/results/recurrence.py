"""How often what was selected on all rows was selected on resamples, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability

ALWAYS = 0.95
"""Frequency from which on a unit counts as selected nearly always."""

BY_REQUEST = "kept by request"
"""In place of the frequency of a unit that is in each selection because it was asked for."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Selected units on resamples, without those that are kept: they are in each by request.

    Attributes
    ----------
    often : tuple of str
        With a frequency of at least :data:`ALWAYS`, most important first.
    others : tuple of str
        The other ones, most important first.
    rarest : str or None
        The least frequent of all; None if there are none.
    frequency : float
        Its frequency, 1 if there is none.
    """

    often: tuple[str, ...]
    others: tuple[str, ...]
    rarest: str | None
    frequency: float


def recurrence(fit: Fit, stability: Stability) -> Recurrence:
    """Frequencies of the selected units on the resamples of a fit."""
    frequency = dict(zip(stability.units, stability.frequency.tolist(), strict=True))
    assessed = dict(zip(stability.units, stability.assessed, strict=True))
    found = [name for name in fit.groups if assessed[name]]
    rarest = min(found, key=lambda name: frequency[name], default=None)
    return Recurrence(
        often=tuple(name for name in found if frequency[name] >= ALWAYS),
        others=tuple(name for name in found if frequency[name] < ALWAYS),
        rarest=rarest,
        frequency=1.0 if rarest is None else frequency[rarest],
    )


def kept_units(stability: Stability) -> frozenset[str]:
    """Units that are in each selection by request."""
    named = zip(stability.units, stability.kept, strict=True)
    return frozenset(unit for unit, is_kept in named if is_kept)


def sizes_of_resamples(stability: Stability) -> tuple[int, int]:
    """Smallest and largest number of units that a resample selected."""
    size = stability.selected.sum(axis=1)
    return int(size.min()), int(size.max())


def each_selected_all(stability: Stability) -> bool:
    """Whether each resample selected every unit that it was free to select."""
    return bool(stability.selected[:, stability.assessed].all())
