"""What a split pays to open a group that the ensemble has not used yet.

A split on column j is worth ``scale[j] * gain - cost[j]`` until its group is open and ``gain``
afterwards. The gain is the decrease of the tree's criterion per unit of the tree's weight: of the
mean squared deviation of its target (for a 0/1 target half the decrease of the Gini index), of
twice the quadratic approximation of the loss, or of the Gini index or entropy of its classes.

With ``uncentred`` the criterion of the children themselves is scaled, as the authors' R package
of regularised random forests does: the gain plus the node's own term, ``g**2 / a`` for a mean
(whose target the caller has centred), ``sum_k n_k**2 / n`` for classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine._types import FloatArray
from treeselect.engine.cache import inner


class SplitPenalty(NamedTuple):
    """Price of opening a group.

    Attributes
    ----------
    scale : ndarray of float, shape (n_columns,)
        Factor of the gain, in [0, 1].
    cost : ndarray of float, shape (n_columns,)
        Subtracted from it, at least 0, in units of the gain.
    uncentred : bool
        Whether the node's own term is added to the gain before it is scaled.
    """

    scale: FloatArray
    cost: FloatArray
    uncentred: bool = False


def no_penalty(n_columns: int) -> SplitPenalty:
    """Every group is free."""
    return SplitPenalty(np.ones(n_columns), np.zeros(n_columns))


@inner
def penalised_gain(gain, scale, cost, is_open):
    """Worth of a split: ``gain`` if the group is open, ``scale * gain - cost`` if not."""
    if is_open:
        return gain
    return scale * gain - cost
