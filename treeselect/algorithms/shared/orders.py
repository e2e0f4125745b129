"""Rankings of units, and their first units."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import levels


def ranking(importance: FloatArray, keep: BoolArray, ranks: IntArray) -> IntArray:
    """Units in order: those forced in, then by decreasing importance, then by rank.

    Units without importance (minus infinity) are omitted, unless they are forced in.
    """
    order = np.lexsort((ranks, -levels(importance), ~keep))
    return np.asarray(order[(importance[order] > -np.inf) | keep[order]])


def first_units(order: IntArray, size: int, n_groups: int) -> BoolArray:
    """The first units of a ranking."""
    selected = np.zeros(n_groups, dtype=bool)
    selected[order[:size]] = True
    return selected
