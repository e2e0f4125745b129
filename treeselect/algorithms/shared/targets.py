"""Targets of trees with one output or several."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.data.targets import Target, are_copies, target_of_mean, vector_target


def target_of(truth: FloatArray, weight: WeightArray) -> Target:
    """Target of one column or several; with several, relative weights multiply the rows."""
    if truth.shape[1] == 1:
        return target_of_mean(truth[:, 0], weight)
    if are_copies(weight):
        return vector_target(truth)
    return vector_target(truth * (weight / weight[weight > 0].mean())[:, np.newaxis])
