"""Restricted cubic splines of numbers."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.rounding import weighted_quantiles

_QUANTILES = {
    3: (0.1, 0.5, 0.9),
    4: (0.05, 0.35, 0.65, 0.95),
    5: (0.05, 0.275, 0.5, 0.725, 0.95),
    6: (0.05, 0.23, 0.41, 0.59, 0.77, 0.95),
    7: (0.025, 0.1833, 0.3417, 0.5, 0.6583, 0.8167, 0.975),
}
"""Quantiles that are knots, by their number (Harrell 2015, Table 2.3)."""

MOST_DF = max(_QUANTILES) - 1
"""Most degrees of freedom of a spline: one less than knots."""

LEAST_DISTINCT = 8
"""Distinct values of a number that is bent."""


def spline_basis(x: FloatArray, knots: FloatArray) -> FloatArray:
    """Restricted cubic splines: cubic between knots, linear beyond them, shape (n_rows, 1) without
    knots and (n_rows, n_knots - 1) with three or more. The first column is x itself.

    Harrell (2015), Regression Modeling Strategies, equation 2.25, with the terms divided by
    ``(t_k - t_1)^2``.
    """
    if not len(knots):
        return x[:, np.newaxis]
    cubes = np.maximum(x[:, np.newaxis] - knots, 0.0) ** 3
    *_, before, last = knots
    slope = (knots[:-2] - last) / (last - before)
    bent = cubes[:, :-2] + cubes[:, -2:-1] * slope - cubes[:, -1:] * (1 + slope)
    return np.column_stack([x, bent / (last - knots[0]) ** 2])


def quartiles(x: FloatArray, weight: WeightArray) -> tuple[float, float]:
    """The first and the third quartile, or the extremes where these coincide."""
    low, high = weighted_quantiles(x, weight, [0.25, 0.75]).tolist()
    return (low, high) if low < high else (float(x.min()), float(x.max()))


def spline_knots(x: FloatArray, weight: WeightArray, n_knots: int) -> FloatArray:
    """Knots at quantiles of known values: `n_knots` of them, fewer where these coincide, none for
    fewer than eight distinct values or if three coincide."""
    if len(np.unique(x)) < LEAST_DISTINCT:
        return np.empty(0)
    for n in range(n_knots, 2, -1):
        knots = weighted_quantiles(x, weight, _QUANTILES[n])
        if len(np.unique(knots)) == n:
            return knots
    return np.empty(0)
