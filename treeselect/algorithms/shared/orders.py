"""Units in an order, and the first of them."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import levels


def ranking(importance: FloatArray, keep: BoolArray, ranks: IntArray) -> IntArray:
    """Units from the first to the last: kept ones, then the more important, then by their ranks.

    Units without any importance (minus infinity) are left out, unless they are kept.
    """
    order = np.lexsort((ranks, -levels(importance), ~keep))
    return np.asarray(order[(importance[order] > -np.inf) | keep[order]])


def first_units(order: IntArray, size: int, n_groups: int) -> BoolArray:
    """The first units of a ranking."""
    selected = np.zeros(n_groups, dtype=bool)
    selected[order[:size]] = True
    return selected
