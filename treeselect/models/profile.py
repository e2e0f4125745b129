"""Intervals of coefficients: by their profile likelihood, or symmetric ones (Wald)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.errors import DataError, OptionError
from treeselect.models.coefficients import coefficient_table
from treeselect.models.linear import fit_quietly
from treeselect.models.linear_data import LinearData
from treeselect.models.nested import FittedTerms, deviance_of

PROFILED = ("binomial", "poisson", "cox")
"""Families whose coefficients are profiled."""

_DOUBLINGS = 8
"""An end more than 2**8 times the Wald distance away is infinite: the terms separate the rows."""


def intervals(found: FittedTerms, method: str | None, level: float) -> FloatArray:
    """Lower and upper ends for each coefficient, shape (n_coefficients, 2).

    Parameters
    ----------
    found : FittedTerms
    method : {"profile", "wald"} or None
        None: profile intervals where there are any.
    level : float
        Between 0 and 1.

    Raises
    ------
    OptionError
        If there is no likelihood to profile: for more than two classes, and robust errors.
    DataError
        If the model does not converge.

    Notes
    -----
    The profile interval of a coefficient holds the values ``b`` with ``2 (max L - max L(b)) <=
    q``, where ``L(b)`` is the likelihood with the coefficient fixed at b and q the quantile of the
    chi-squared distribution with one degree of freedom [1]_; for a quasi-Poisson model, the
    dispersion times that of the F distribution. For a gaussian response it is the interval of the
    t distribution.

    References
    ----------
    .. [1] D. J. Venzon, S. H. Moolgavkar (1988). A Method for Computing Profile-Likelihood-Based
       Confidence Intervals. Applied Statistics 37, 87-94.
    """
    wald = coefficient_table(found.fit, level)[["ci_low", "ci_high"]].to_numpy(dtype=np.float64)
    has_profile = found.family in PROFILED and not found.is_robust
    if method == "wald" or (found.family == "gaussian" and not found.is_robust):
        return wald
    if method is None and (found.fit.problems or not has_profile):
        return wald
    if not has_profile:
        why = "more than two classes are not profiled, as in R's `confint`"
        if found.is_robust:
            why = "its standard errors are robust, and the likelihood is not"
        raise OptionError(
            f"`method` must be 'wald' for this model: {why}.\n"
            f'  Found: {method!r}. Use `confint(method="wald")`.'
        )
    if found.fit.problems:
        raise DataError(
            "The likelihood of this model can't be profiled.\n"
            f'  {found.fit.problems[0]} Use `confint(method="wald")`.'
        )
    from scipy import stats

    data = found.data
    free = data.of_columns(data.is_free)
    top, limit = deviance_of(found.fit.result, found.family), float(stats.chi2.ppf(level, 1))
    if found.scale is not None:
        limit = found.scale * float(stats.f.ppf(level, 1, found.whole.df_resid))
    ends = np.empty_like(wald)
    for j, estimate in enumerate(found.fit.estimate.tolist()):
        excess = _excess(free, j, found, top + limit)
        for side in (0, 1):
            ends[j, side] = _end(excess, estimate, wald[j, side] - estimate)
    return ends


def _excess(data: LinearData, j: int, found: FittedTerms, limit: float) -> Callable[[float], float]:
    """How far the deviance with coefficient j fixed is above a limit."""
    others = np.arange(data.matrix.shape[1]) != j
    column = data.matrix.iloc[:, j].to_numpy(dtype=np.float64)
    rest = data.of_columns(others)
    offset = np.zeros(len(column)) if data.offset is None else data.offset

    def excess(value: float) -> float:
        fixed = dataclasses.replace(rest, offset=offset + value * column)
        if not others.any() and not data.has_times:
            return _without_columns(fixed, found.family) - limit
        return deviance_of(fit_quietly(fixed, found.family, found.name), found.family) - limit

    return excess


def _without_columns(data: LinearData, family: str) -> float:
    """Deviance of the offset alone."""
    import statsmodels.api as sm

    kind = sm.families.Binomial() if family == "binomial" else sm.families.Poisson()
    weights = data.row_weights
    mass = weights.values / (1.0 if weights.are_copies else weights.values.mean())
    return float(kind.deviance(data.y, kind.link.inverse(data.offset), freq_weights=mass))


def _end(excess: Callable[[float], float], estimate: float, step: float) -> float:
    """Where the deviance crosses its limit on one side of the estimate."""
    from scipy.optimize import brentq

    inner, outer = 0.0, step
    for _ in range(_DOUBLINGS):
        if not (above := excess(estimate + outer)) < 0:
            if not np.isfinite(above):
                break
            root = brentq(lambda at: excess(estimate + at), inner, outer, rtol=1e-7, xtol=1e-12)
            return estimate + float(root)
        inner, outer = outer, 2 * outer
    return float(np.copysign(np.inf, step))
