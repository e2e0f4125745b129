"""Fit statistics of linear models, as R prints them; calibration intercept and slope."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.rounding import slack
from treeselect.models.linear.data import FIRTH, GAMMA, NEGATIVE_BINOMIAL, ORDINAL
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.likelihood import fit_slope
from treeselect.printing import signed
from treeselect.quiet import own_filters

Facts = tuple[tuple[str, str], ...]


def fit_statistics(fit: LinearFit, *, are_copies: bool) -> dict[str, float]:
    """Statistics of a fitted model by name; those that do not exist or can't be computed are
    omitted, as are those of a likelihood that is known up to scale only."""
    with own_filters(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # from the null model
        found = _NUMBERS[fit.family](fit.result)
    if fit.dispersion is not None:
        found["dispersion"] = fit.dispersion
    if fit.is_quasi or not are_copies or fit.family in (FIRTH, GAMMA):
        found = {name: value for name, value in found.items() if name not in _OF_LIKELIHOOD}
    return {name: float(value) for name, value in found.items() if np.isfinite(value)}


def fit_facts(fit: LinearFit, found: dict[str, float]) -> Facts:
    """The same statistics in words, for the head of a summary."""
    own, facts = fit.result, []
    if fit.family == "cox":
        events, known = ("Events", f"{fit.n_events:,}"), "aic" in found
        criteria = f"{own.aic:.2f}, {own.bic:.2f} (BIC by number of events)"
        likelihood = f"{own.llf:.2f}; null {own.llnull:.2f}"
        return (events, *[("Log-likelihood", likelihood), ("AIC, BIC", criteria)] * known)
    if "sigma" in found:
        df = f"{found['df_resid']:,.0f} degrees of freedom"
        facts.append(("Residual s.e.", f"{found['sigma']:.4g} on {df}"))
    if "r2" in found:
        adjusted = f", adjusted {signed(found['adj_r2'], '.3f')}" if "adj_r2" in found else ""
        facts.append(("R-squared", f"{signed(found['r2'], '.3f')}{adjusted}"))
    if fit.family == "gaussian":
        return tuple(facts)
    if "deviance" in found:
        said = f"{found['deviance']:,.2f}{_on(found, 'df_resid')}"
        if "null_deviance" in found:
            said += f"; null {found['null_deviance']:,.2f}{_on(found, 'df_null')}"
        facts.append(("Deviance", said))
    if "aic" in found:
        facts.append(("AIC", f"{found['aic']:,.2f}"))
    if fit.family == GAMMA:
        facts.append(("Dispersion", f"{own.scale:.3g} (Pearson)"))
    return (*facts, *dispersion_fact([fit]))


_OF_LIKELIHOOD = ("aic", "bic", "log_lik")
"""Of a likelihood that is known, and at its maximum."""


# --- numbers -----------------------------------------------------------------------------------


def _least_squares(result: Any) -> dict[str, float]:
    r2 = getattr(result, "rsquared", None)
    if r2 is None:  # of copies of rows, which a gaussian GLM counts
        r2 = 1 - result.deviance / result.null_deviance
    df = result.df_resid
    n, p = df + result.df_model + 1, result.df_model + 2  # the variance is a parameter, too
    deviance = result.ssr if hasattr(result, "ssr") else result.deviance
    likelihood = -n / 2 * (np.log(2 * np.pi * deviance / n) + 1)
    return {
        "sigma": np.sqrt(result.scale),
        "df_resid": df,
        "r2": r2,
        "adj_r2": 1 - (1 - r2) * (df + result.df_model) / df,
        "deviance": deviance,
        "log_lik": likelihood,
        "aic": 2 * p - 2 * likelihood,
        "bic": p * np.log(n) - 2 * likelihood,
    }


def _deviance(result: Any) -> dict[str, float]:
    return {
        "deviance": result.deviance,
        "df_resid": result.df_resid,
        "null_deviance": _null_deviance(result),
        "df_null": result.df_resid + result.df_model,
        "aic": result.aic,
        "bic": result.bic_llf,
        "log_lik": result.llf,
    }


def _null_deviance(result: Any) -> float:
    """Of the intercept alone, whose first step in statsmodels knows of no offset."""
    from statsmodels.api import GLM

    own = result.model
    if getattr(own, "offset", None) is None:
        return float(result.null_deviance)
    given = {name: getattr(own, name) for name in ("offset", "freq_weights", "var_weights")}
    return float(GLM(own.endog, np.ones((len(own.endog), 1)), own.family, **given).fit().deviance)


def _dispersed(result: Any) -> dict[str, float]:
    """As :func:`_deviance`; alpha is a parameter, too."""
    found = _deviance(result)
    del found["null_deviance"], found["df_null"]  # of another alpha
    return found | {
        "aic": found["aic"] + 2, "bic": found["bic"] + np.log(result.model.wnobs),
        "theta": 1 / result.alpha,
    }  # fmt: skip


def _classes(result: Any) -> dict[str, float]:
    bic, weights = result.bic, getattr(getattr(result, "model", None), "weights", None)
    if weights is not None:  # copies, which statsmodels does not count
        bic = result.params.size * np.log(weights.sum()) - 2 * result.llf
    return {
        "deviance": -2 * result.llf,
        "null_deviance": -2 * result.llnull,
        "aic": result.aic,
        "bic": bic,
        "log_lik": result.llf,
    }


_NUMBERS: dict[str, Callable[[Any], dict[str, float]]] = {
    "gaussian": _least_squares,
    "binomial": _deviance,
    FIRTH: _deviance,
    GAMMA: _deviance,
    "poisson": _deviance,
    NEGATIVE_BINOMIAL: _dispersed,
    "multinomial": _classes,
    ORDINAL: _classes,
    "cox": lambda own: {"log_lik": own.llf, "aic": own.aic, "bic": own.bic},
}


# --- words -------------------------------------------------------------------------------------


def dispersion_fact(fits: Sequence[LinearFit]) -> Facts:
    """Pearson's dispersion of counts, the median over several fits, and what became of it."""
    known = [fit.dispersion for fit in fits if fit.dispersion is not None]
    if not known:
        return ()
    said = f"{np.median(known):.3g} (Pearson; 1 if Poisson)"
    several = f", median of {len(known)} fits" if len(known) > 1 else ""
    if any(fit.result.cov_type != "nonrobust" for fit in fits if fit.dispersion is not None):
        return (("Dispersion", f"{said}{several}; errors are robust to it"),)
    n = sum(fit.is_quasi for fit in fits)
    if not n:
        return (("Dispersion", f"{said}{several}, within chance"),)
    where = f" in {n} of them" if several else ""
    return (("Dispersion", f"{said}{several}, above chance{where}: quasi-Poisson errors"),)


def _on(found: dict[str, float], name: str) -> str:
    return f" on {found[name]:,.0f} df" if name in found else ""


class Recalibration(NamedTuple):
    """Intercept and slope of the response on the linear predictor, with Wald intervals."""

    slope: float  # 1 if predictions are neither too extreme nor too moderate
    slope_low: float
    slope_high: float
    intercept: float  # at slope 1; 0 if predictions are right on average
    intercept_low: float
    intercept_high: float
    regression: str  # that estimates them, in words


_REGRESSIONS = {
    "gaussian": "least squares of the response on the prediction",
    "binomial": "logistic regression on the log odds of the predictions",
    "poisson": "Poisson regression on the log of the predictions",
    "cox": "Cox regression on the log of the predicted relative risks",
}

_UNKNOWN = float("nan"), float("nan")
_LARGEST_ERROR = 100.0
"""With separated classes the slope diverges, and its standard error exceeds this. An intercept is
in units of the response."""


def recalibrate(
    family: str,
    y: FloatArray,
    linear_predictor: FloatArray,
    mass: FloatArray,
    groups: IntArray | None = None,
    law: Any = None,
    offset: FloatArray | None = None,
) -> Recalibration:
    """Regress the response on the predictions by the model of the family, or of another `law` of
    statsmodels: the slope with an intercept of its own, the intercept at slope 1 (Steyerberg 2019,
    section 15.3). A known `offset`, part of the linear predictor, has no slope. Intervals
    are those of a t distribution with one degree of freedom fewer than clusters, if there are any,
    else of a normal one."""
    own, words = linear_predictor, _REGRESSIONS[family]
    if offset is not None:
        own, words = own - offset, f"{words}, less the offset"
        own *= np.ptp(own) > slack(linear_predictor)  # those of no term differ by rounding

    df = np.inf if groups is None else int(groups.max())
    quantile = float(scipy.stats.t.ppf(0.975, df))

    def ends(estimate: float, error: float) -> tuple[float, float, float]:
        return estimate, estimate - quantile * error, estimate + quantile * error

    slope = intercept = _UNKNOWN
    if family == "cox":  # the coefficient of Cox's model
        if np.ptp(own):
            with contextlib.suppress(np.linalg.LinAlgError):
                base = 0.0 if offset is None else offset
                slope = fit_slope(y, own, mass, groups, base)
        slope = slope if slope[1] <= _LARGEST_ERROR else _UNKNOWN
    elif family == "gaussian" or np.ptp(y):
        ones = np.ones((len(y), 1))
        slope = _last(family, law, y, np.column_stack([ones, own]), offset, mass, groups)
        intercept = _last(family, law, y, ones, linear_predictor, mass, groups)
    return Recalibration(*ends(*slope), *ends(*intercept), words)


def _last(
    family: str,
    law: Any,
    y: FloatArray,
    columns: FloatArray,
    offset: FloatArray | None,
    mass: FloatArray,
    groups: IntArray | None,
) -> tuple[float, float]:
    """The last coefficient, with its standard error."""
    import statsmodels.api as sm

    from treeselect.models.linear.solving import overdispersed

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
            law = law or kinds[family]()
            model = sm.GLM(y, columns, law, offset=offset, freq_weights=mass)
            by = {} if groups is None else {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
            found = model.fit(**by)
            if not by and family == "poisson" and overdispersed(found):
                found = model.fit(scale="X2")
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return _UNKNOWN
        estimate, error = float(found.params[-1]), float(found.bse[-1])
    most = _LARGEST_ERROR if columns.shape[1] > 1 else np.finfo(np.float64).max
    if not (found.converged and np.isfinite(estimate) and error <= most):
        return _UNKNOWN
    return estimate, error
