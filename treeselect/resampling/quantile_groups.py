"""Groups of rows by quantiles of a value."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.rounding import levels


def quantile_groups(values: FloatArray, weight: WeightArray, n_groups: int) -> IntArray:
    """Group number of each row, from 0, by weighted quantiles. Rows with equal values are in the
    same group, so there may be fewer groups."""
    _, place = np.unique(levels(values), return_inverse=True)
    share = np.bincount(place, weight)
    middle = (np.cumsum(share) - share / 2) / share.sum()
    found = np.minimum((middle * n_groups).astype(np.int64), n_groups - 1)[place]
    return np.unique(found, return_inverse=True)[1]
