"""Calibration intercept and slope of predictions on held-out rows."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.quiet import own_filters


class Recalibration(NamedTuple):
    """Intercept and slope of the response on the linear predictor, with 95% Wald intervals.

    Attributes
    ----------
    slope, slope_low, slope_high : float
        1 if predictions are neither too extreme nor too moderate; NaN if not estimable.
    intercept, intercept_low, intercept_high : float
        At slope 1; 0 if predictions are right on average; NaN if not estimable.
    regression : str
        The regression that estimates them, in words.
    """

    slope: float
    slope_low: float
    slope_high: float
    intercept: float
    intercept_low: float
    intercept_high: float
    regression: str


_REGRESSIONS = {
    "gaussian": "least squares of the response on the prediction",
    "binomial": "logistic regression on the log odds of the predictions",
    "poisson": "Poisson regression on the log of the predictions",
}

_UNKNOWN = (float("nan"),) * 3
_LARGEST_ERROR = 100.0
"""With separated classes the slope diverges, and its standard error exceeds this. An intercept is
in units of the response."""

_Z95 = 1.959963984540054


def recalibrate(
    family: str, y: FloatArray, linear_predictor: FloatArray, mass: FloatArray
) -> Recalibration:
    """Regress the response on the predictions by the generalised linear model of the family.

    Parameters
    ----------
    family : {"gaussian", "binomial", "poisson"}
    y : ndarray of float, shape (n,)
    linear_predictor : ndarray of float, shape (n,)
        The prediction on the scale of the link: log odds, log means, or means.
    mass : ndarray of float, shape (n,)
        Number of rows that each prediction stands for.

    Notes
    -----
    The slope is from a model with its own intercept. The intercept is from a model with the linear
    predictor as offset: calibration-in-the-large (Cox 1958; Steyerberg 2019, section 15.3).
    """
    ones = np.ones((len(y), 1))
    slope = _last(family, y, np.column_stack([ones, linear_predictor]), None, mass)
    intercept = _last(family, y, ones, linear_predictor, mass)
    return Recalibration(*slope, *intercept, _REGRESSIONS[family])


def _last(
    family: str, y: FloatArray, columns: FloatArray, offset: FloatArray | None, mass: FloatArray
) -> tuple[float, float, float]:
    """The last coefficient, with its interval."""
    import statsmodels.api as sm

    kinds = {
        "gaussian": sm.families.Gaussian,
        "binomial": sm.families.Binomial,
        "poisson": sm.families.Poisson,
    }
    if np.ptp(columns[:, -1]) == 0 and columns.shape[1] > 1:
        return _UNKNOWN
    with own_filters():
        warnings.simplefilter("ignore")  # for separation, which is checked below
        try:
            model = sm.GLM(y, columns, kinds[family](), offset=offset, freq_weights=mass)
            found = model.fit()
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return _UNKNOWN
        estimate, error = float(found.params[-1]), float(found.bse[-1])
    most = _LARGEST_ERROR if offset is None else np.finfo(np.float64).max
    if not (found.converged and np.isfinite(estimate) and error <= most):
        return _UNKNOWN
    return estimate, estimate - _Z95 * error, estimate + _Z95 * error
