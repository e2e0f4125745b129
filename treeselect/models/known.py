"""Points of a term at which a resample supports a prediction."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import BoolArray, IntArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.ensembles.dependence import codes_of


def known(
    columns: IntArray, points: IntArray, by_level: bool, data: BinnedData, rows: IntArray
) -> BoolArray:
    """Whether a resample supports some points.

    Parameters
    ----------
    columns : ndarray of int64
        Columns of the term.
    points, rows : ndarray of int64
        Rows of the data: those that stand for the points, and those in the resample.
    by_level : bool
        Whether the codes of a point must occur in the resample; otherwise the term need only vary
        there.
    """
    codes = codes_of(data, columns)
    held = np.unique(codes[rows], axis=0)
    if not by_level:
        return np.full(len(points), len(held) > 1)
    return np.asarray((codes[points][:, np.newaxis] == held).all(axis=2).any(axis=1))
