"""Rubin's rules: one estimate from several imputed data sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.engine.rounding import PRECISION


@dataclass(frozen=True, slots=True)
class Pooled:
    """Estimates pooled over imputations; each array has shape (n_estimates,).

    Attributes
    ----------
    estimate : ndarray of float
        Mean over the imputations.
    std_error : ndarray of float
        Square root of the total variance, within and between imputations.
    df : ndarray of float
        Degrees of freedom of the t distribution; infinite for the normal distribution.
    riv : ndarray of float
        Relative increase in variance due to missing values, at least 0.
    fmi : ndarray of float
        Fraction of missing information, in [0, 1].
    """

    estimate: FloatArray
    std_error: FloatArray
    df: FloatArray
    riv: FloatArray
    fmi: FloatArray


def pool(estimates: FloatArray, variances: FloatArray, df_complete: float | None) -> Pooled:
    """Pool estimates by Rubin's rules.

    Parameters
    ----------
    estimates, variances : ndarray of float, shape (n_imputations, n_estimates)
        Estimates and their squared standard errors from at least two imputations. Variances must be
        above 0 or NaN, which propagates.
    df_complete : float or None
        Degrees of freedom of each analysis; None if its statistics are normal.

    Returns
    -------
    Pooled

    Notes
    -----
    With m imputations, U the mean of the variances and B the variance of the estimates (divisor
    m - 1), the total variance is ``T = U + (1 + 1/m) B``, and ``riv = (1 + 1/m) B / U`` [1]_. With
    ``lambda = (1 + 1/m) B / T`` and n degrees of freedom of the complete data [2]_::

        1 / df = lambda^2 / (m - 1) + (n + 3) / (n (n + 1) (1 - lambda))

    where the second part is 0 for normal statistics. The fraction of missing information is
    ``(riv + 2 / (df + 3)) / (riv + 1)``. R's mice uses the same formulas, except that it replaces a
    lambda below 1e-4 by 1e-4.

    References
    ----------
    .. [1] D. B. Rubin (1987). Multiple Imputation for Nonresponse in Surveys. Wiley, chapter 3.
    .. [2] J. Barnard, D. B. Rubin (1999). Small-sample degrees of freedom with multiple imputation.
       Biometrika 86, 948-955.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.models.pooling import pool
    >>> found = pool(np.array([[1.0], [2.0], [3.0]]), np.ones((3, 1)), None)
    >>> found.estimate.tolist(), (found.std_error**2).round(3).tolist()
    ([2.0], [2.333])
    """
    m = len(estimates)
    within = variances.mean(axis=0)
    centre = estimates.mean(axis=0)
    apart = estimates - centre
    # If imputations agree up to rounding, no information is missing.
    apart[np.abs(apart) <= PRECISION * np.abs(centre)] = 0.0
    between = (1 + 1 / m) * (apart**2).sum(axis=0) / (m - 1)
    total = within + between
    inverse = (between / total) ** 2 / (m - 1)
    if df_complete is not None:
        n = df_complete
        inverse = inverse + (n + 3) / (n * (n + 1)) * total / within
    with np.errstate(divide="ignore"):  # nothing missing, and normal statistics
        df = 1 / inverse
    riv = between / within
    return Pooled(
        estimate=centre,
        std_error=np.sqrt(total),
        df=df,
        riv=riv,
        fmi=(riv + 2 / (df + 3)) / (riv + 1),
    )
