"""What a split pays to open a group that the ensemble has not used yet.

A split on column j is worth ``scale[j] * gain - cost[j]`` until its group is open and ``gain``
afterwards. The gain is the decrease of the mean squared deviation of the tree's target: loss
decrease per unit of weight, the whole tree's weight being the divisor. For a 0/1 target that is
half the decrease of the Gini index.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine._types import FloatArray
from treeselect.engine.cache import kernel


class SplitPenalty(NamedTuple):
    """Price of opening a group.

    Attributes
    ----------
    scale : ndarray of float, shape (n_columns,)
        Factor of the gain, in [0, 1].
    cost : ndarray of float, shape (n_columns,)
        Subtracted from it, at least 0, in units of the gain.
    """

    scale: FloatArray
    cost: FloatArray


def no_penalty(n_columns: int) -> SplitPenalty:
    """Every group is free."""
    return SplitPenalty(np.ones(n_columns), np.zeros(n_columns))


@kernel
def penalised_gain(gain, scale, cost, is_open):
    """Worth of a split: ``gain`` if the group is open, ``scale * gain - cost`` if not."""
    if is_open:
        return gain
    return scale * gain - cost
