"""Interchangeable units: associated units of which resamples select exactly one ("a place")."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from treeselect.engine.arrays import BoolArray
from treeselect.engine.rounding import at_least

LEAST_ASSOCIATION = 0.5
"""Lowest association between any two interchangeable units."""

LEAST_SHARE = 0.8
"""Lowest share of resamples that select exactly one of the units. With a fixed number of units, a
missing unit is always replaced by another, so an association is required as well."""


@dataclass(frozen=True, slots=True)
class Place:
    """A set of interchangeable units.

    Attributes
    ----------
    units : tuple of str
        At least two, most frequent first; at least one of them is in the fit.
    counts : tuple of int
        Number of resamples that selected each.
    exactly_one : int
        Number of resamples that selected exactly one of them.
    association : float
        Lowest pairwise association, in [0.5, 1].
    """

    units: tuple[str, ...]
    counts: tuple[int, ...]
    exactly_one: int
    association: float


def associated_clusters(
    replaced: Iterable[tuple[int, Iterable[int]]], association: Callable[[int, int], float]
) -> list[tuple[int, ...]]:
    """Candidate sets: clusters of pairwise associated units, each with a unit of the fit.

    Parameters
    ----------
    replaced : iterable of (int, iterable of int)
        Units of the fit that resamples missed, each with its substitutes, most frequent first.
    association : callable
        Strength of the association of two units, in [0, 1].

    Returns
    -------
    list of tuple of int
        Disjoint; overlapping clusters are merged.
    """
    clusters: list[set[int]] = []
    for unit, others in replaced:
        own = [unit]
        for other in others:
            if all(association(int(other), member) >= LEAST_ASSOCIATION for member in own):
                own.append(int(other))
        if len(own) > 1:
            overlapping = [cluster for cluster in clusters if not cluster.isdisjoint(own)]
            clusters = [cluster for cluster in clusters if cluster.isdisjoint(own)]
            clusters.append(set(own).union(*overlapping))
    return [tuple(sorted(cluster)) for cluster in clusters]


def place_of(
    units: Sequence[str], selected: BoolArray, cluster: Sequence[int], association: float
) -> Place | None:
    """The cluster as a set of interchangeable units; None if it does not qualify."""
    exactly_one = int((selected[:, list(cluster)].sum(axis=1) == 1).sum())
    if association < LEAST_ASSOCIATION or not at_least(exactly_one / len(selected), LEAST_SHARE):
        return None
    count = selected.sum(axis=0)
    order = sorted(cluster, key=lambda unit: (-count[unit], units[unit]))
    return Place(
        tuple(units[unit] for unit in order),
        tuple(int(count[unit]) for unit in order),
        exactly_one,
        association,
    )


def least_association(cluster: Sequence[int], association: Callable[[int, int], float]) -> float:
    """Lowest pairwise association."""
    return float(np.min([association(a, b) for a, b in itertools.combinations(cluster, 2)]))
