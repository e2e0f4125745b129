"""The Pareto front of a set of points."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import levels


def pareto_front(points: FloatArray) -> BoolArray:
    """Points that no other point dominates.

    A point dominates another if it is at least as good in every respect and better in one. A
    respect in which either point is missing (NaN) is ignored.

    Parameters
    ----------
    points : ndarray of float, shape (n_points, n_respects)
        Greater is better.

    Returns
    -------
    ndarray of bool, shape (n_points,)

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.comparison.pareto import pareto_front
    >>> pareto_front(np.array([[0.9, -5.0], [0.8, -2.0], [0.8, -3.0]]))
    array([ True,  True, False])
    """
    told = np.array([levels(respect) for respect in points.T], dtype=np.float64).T
    points = np.where(np.isnan(points), np.nan, told)
    ours, others = points[:, np.newaxis], points[np.newaxis]
    no_worse = ~(others < ours)
    dominated = np.all(no_worse, axis=2) & np.any(others > ours, axis=2)
    return np.asarray(~np.any(dominated, axis=1))
