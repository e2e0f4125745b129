"""Variation of coefficients over resamples on which the selection is repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray

BOUNDS = (0.025, 0.5, 0.975)
"""Quantiles of the estimates over the resamples."""


@dataclass(frozen=True, slots=True)
class CoefficientSpread:
    """Measures of each coefficient over the resamples, shape (n_coefficients,) each.

    Attributes
    ----------
    n : ndarray of int64
        Number of resamples in which it is known.
    rmsd : ndarray of float
        Root mean squared difference from the full model.
    conditional_mean : ndarray of float
        Mean over the resamples whose model includes it; missing if none does.
    low, median, high : ndarray of float
        Quantiles, 0.025, 0.5 and 0.975.
    """

    n: IntArray
    rmsd: FloatArray
    conditional_mean: FloatArray
    low: FloatArray
    median: FloatArray
    high: FloatArray


def coefficient_spread(
    estimate: FloatArray, in_model: BoolArray, full: FloatArray
) -> CoefficientSpread:
    """Measures of Heinze, Wallisch and Dunkler (2018), section 3.2, before division.

    Parameters
    ----------
    estimate : ndarray of float, shape (n_resamples, n_coefficients)
        0 if the term was not selected; missing if unknown.
    in_model : ndarray of bool, shape (n_resamples, n_coefficients)
        Whether it was estimated.
    full : ndarray of float, shape (n_coefficients,)
        Coefficients of the model of all terms; missing if that can't be fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.coefficients import coefficient_spread
    >>> estimate = np.array([[2.0], [0.0], [4.0], [0.0]])
    >>> found = coefficient_spread(estimate, estimate != 0, np.array([2.0]))
    >>> float(found.rmsd[0]), float(found.conditional_mean[0]), float(found.median[0])
    (1.7320508075688772, 3.0, 1.0)
    """
    known = np.isfinite(estimate)
    n = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 is missing
        rmsd = np.sqrt(np.where(known, (estimate - full) ** 2, 0.0).sum(axis=0) / n)
        times = in_model.sum(axis=0)
        conditional = np.where(in_model, estimate, 0.0).sum(axis=0) / times
    limits = np.full((len(BOUNDS), estimate.shape[1]), np.nan)
    for j in np.flatnonzero(n):
        limits[:, j] = np.quantile(estimate[known[:, j], j], BOUNDS)
    return CoefficientSpread(n, rmsd, conditional, *limits)
