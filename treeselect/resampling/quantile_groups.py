"""Rows in groups of rising values, cut at their quantiles."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.rounding import levels


def quantile_groups(values: FloatArray, weight: WeightArray, n_groups: int) -> IntArray:
    """Number of each row's group, from 0, cut at the weighted quantiles; rows of equal values are
    together, so that there may be fewer groups."""
    _, place = np.unique(levels(values), return_inverse=True)
    share = np.bincount(place, weight)
    middle = (np.cumsum(share) - share / 2) / share.sum()
    found = np.minimum((middle * n_groups).astype(np.int64), n_groups - 1)[place]
    return np.unique(found, return_inverse=True)[1]
