"""The scan of one column for its best split: what it must observe, and its working memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray


class Scratch(NamedTuple):
    """Working memory for the scan of one column."""

    left: IntArray
    second: IntArray
    gradient: FloatArray
    weight: FloatArray
    score: FloatArray
    cells: IntArray
    classes: IntArray


def scratch(n_classes: int) -> Scratch:
    """Working memory for `n_classes` classes."""
    return Scratch(
        np.zeros(256, dtype=np.int64), np.zeros(256, dtype=np.int64),
        np.zeros(256), np.zeros(256), np.zeros(256), np.zeros(512, dtype=np.int64),
        np.zeros(n_classes, dtype=np.int64),
    )  # fmt: skip


class Rule(NamedTuple):
    """What each side of a split must have.

    Attributes
    ----------
    min_weight : int
        Rows, counting copies.
    min_curvature : float
        Sum of curvatures, in packed units; above 0.
    """

    min_weight: int
    min_curvature: float
