"""Units that are selected or nearly are: how they go together in the data and on resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.designs.modeldata import Associations
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.rounding import at_least
from treeselect.resampling.agreement import co_selection, pairs_of
from treeselect.resampling.resampled import PAIR_LEVEL

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability

MOST_UNITS = 12
"""Units of a map."""

LEAST_FREQUENCY = 0.1
"""From which on a unit outside is nearly selected."""

_MOST_NEXT = 5
"""Units that the path takes next, where there are no resamples."""


def near_units(fit: Fit, most: int = MOST_UNITS) -> tuple[str, ...]:
    """Selected units, most important first, then those that are nearly selected.

    These are units that a tenth of the resamples or more selected, the most frequent first; without
    resamples the first five that the path takes after those of the fit.
    """
    inside = fit.groups
    outside = _next_on_path(fit) if fit.resampled is None else _frequent(fit.resampled)
    return (*inside, *(unit for unit in outside if unit not in set(inside)))[:most]


def _frequent(stability: Stability) -> list[str]:
    count, n = stability.selected.sum(axis=0), stability.n_resamples
    found = np.flatnonzero(at_least(count / n, LEAST_FREQUENCY))
    return [
        stability.units[g] for g in sorted(found, key=lambda g: (-count[g], stability.units[g]))
    ]


def _next_on_path(fit: Fit) -> list[str]:
    names, found = fit.design.arrays.groups.names, dict.fromkeys(fit.groups)
    n_inside = len(found)
    for step in sorted(fit.steps, key=lambda step: step.size):
        if step.size > fit.k:
            found |= dict.fromkeys(names[g] for g in np.flatnonzero(step.selected))
    return list(found)[n_inside : n_inside + _MOST_NEXT]


def association_map(fit: Fit, units: Sequence[str]) -> FloatArray:
    """Associations of units in the data, shape (n_units, n_units), in [0, 1]; ones on the diagonal.

    Raises
    ------
    DataError
        If the model was saved without its data.
    """
    return Associations(fit.design).among(units)


@dataclass(frozen=True, slots=True)
class CoSelection:
    """How often resamples selected two units together.

    Attributes
    ----------
    units : tuple of str
    together : ndarray of float, shape (n_units, n_units)
        Share of the resamples that selected both; on the diagonal the frequencies.
    expected : ndarray of float, shape (n_units, n_units)
        The product of the two frequencies, which independence gives; the same on the diagonal.
    sign : ndarray of int64, shape (n_units, n_units)
        1 where they came together more often than by chance (p < 0.01), -1 where less often.
    """

    units: tuple[str, ...]
    together: FloatArray
    expected: FloatArray
    sign: IntArray


def co_selection_map(stability: Stability, units: Sequence[str]) -> CoSelection:
    """Co-selection of the units that vary: the others cannot be associated."""
    place = {unit: g for g, unit in enumerate(stability.units)}
    count = stability.selected.sum(axis=0)
    shown = tuple(u for u in units if 0 < count[place[u]] < stability.n_resamples)
    selected = stability.selected[:, [place[unit] for unit in shown]]
    together = co_selection(selected)
    expected, sign = together.copy(), np.zeros(together.shape, dtype=np.int64)
    pairs = pairs_of(selected, PAIR_LEVEL)
    columns = (pairs[name] for name in ("first", "second", "expected", "sign"))
    for i, j, share, direction in zip(*columns, strict=True):
        expected[i, j] = expected[j, i] = share
        sign[i, j] = sign[j, i] = direction
    return CoSelection(shown, together, expected, sign)
