"""Linear models of the selected terms, by statsmodels; for survival times, by our Cox model."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from treeselect.designs.modeldata import INTERCEPT
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.survival.times import EVENT
from treeselect.errors import DataError, OptionError, listing
from treeselect.models.linear.data import ORDINAL, LinearData
from treeselect.models.linear.likelihood import fit_cox, fit_ordinal
from treeselect.quiet import own_filters

# --- whether counts vary more than a Poisson response does -------------------------------------

_TAIL = 1.6449
"""Upper 5% point of the normal distribution."""


def dispersion(result: Any) -> float:
    """Pearson's dispersion of counts, 1 on average for a Poisson response; NaN without residual
    degrees of freedom, or where a mean is 0."""
    with np.errstate(all="ignore"):
        return float(np.divide(result.pearson_chi2, result.df_resid))


def overdispersed(result: Any) -> bool:
    """Whether counts vary more than chance allows: a one-sided test at 5%, as a squared Pearson
    residual of mean m and weight v has the variance ``2 + 1 / (v m)``."""
    own = result.model
    with np.errstate(all="ignore"):
        variance = own.freq_weights @ (2 + 1 / (own.var_weights * result.mu))
        return bool(result.pearson_chi2 - result.df_resid > _TAIL * np.sqrt(variance))


# --- linear models of the selected terms, by statsmodels ---------------------------------------

_SINGULAR = 1e-7
"""A cluster-robust covariance is rank-deficient if some combination of coefficients has less than
this share of the largest variance, relative to the model-based covariance. Rounding leaves less
than 1e-12."""

_LONG = 50_000
"""Rows above which a GLM is solved in blocks."""

_MOST_COPIES = 10_000_000
"""Most rows to which case weights are expanded where statsmodels takes no weights."""


@dataclass(frozen=True, slots=True)
class LinearFit:
    """A fitted linear model, with its coefficients as one vector."""

    result: Any
    model: str  # the model and the software that fitted it, in words
    names: tuple[str, ...]  # columns, of several classes with the class before it
    terms: tuple[str, ...]
    estimate: FloatArray  # (n_coefficients,)
    covariance: FloatArray  # (n_coefficients, n_coefficients)
    df: float | None  # of t and F statistics; None for normal and chi-squared ones
    problems: tuple[str, ...]  # problems of the fit, in sentences
    n_groups: int | None = None  # clusters of a cluster-robust covariance
    n_events: int | None = None  # number of events
    ratio: str = ""  # what the exponential of a coefficient is
    dispersion: float | None = None
    is_quasi: bool = False  # whether the covariance is multiplied by the dispersion
    family: str = ""  # the distribution of the response

    @property
    def n_parameters(self) -> int:
        """Number of coefficients and thresholds."""
        return len(self.estimate) + len(getattr(self.result, "thresholds", ()))


def fit_linear(data: LinearData, family: str, name: str, classes: Sequence[Any]) -> LinearFit:
    """Fit the linear model of a family. Counts that vary more than chance allows are quasi-Poisson
    (McCullagh and Nelder 1989, section 6.2.3); the covariance is linearised for sampling weights,
    as in R's ``survey`` (Lumley 2004), and cluster-robust with clusters (Cameron and Miller 2015),
    with t and F tests on G - 1 degrees of freedom. Weights that are no copies are divided by their
    mean."""
    n_rows, n_columns = data.matrix.shape
    groups = data.row_weights.groups
    n_groups = None if groups is None else len(np.unique(groups))
    if n_rows <= n_columns:
        raise DataError(
            "A linear model needs more complete cases than columns.\n"
            f"  Found: {n_rows} complete cases and {n_columns} columns. Select fewer terms."
        )
    _check_variation(data, classes)
    others = [f"{c}: " for c in classes[1:]] if family == "multinomial" else [""]
    if n_groups is not None and n_groups <= n_columns * len(others):
        raise DataError(
            "Cluster-robust standard errors need more clusters than coefficients.\n"
            f"  Found: {n_groups} clusters and {n_columns * len(others)} coefficients. Select fewer"
            " terms, or fit on a larger part."
        )
    problems: list[str] = []
    with _noting(problems, "separate the classes" if len(classes) else "predict the response"):
        try:
            result, model = _FITS[family](data, name)
            estimate, covariance, converged = _estimates(result)
            n_events = int(result.size) if data.has_times else None
        except OptionError:
            raise
        except (np.linalg.LinAlgError, ValueError, FloatingPointError) as error:
            raise DataError(f"The linear model can't be fitted.\n  {error}") from error
    if not converged:
        problems.append("The fit did not converge.")
    with np.errstate(invalid="ignore"):
        if not (np.isfinite(estimate).all() and np.isfinite(np.sqrt(np.diag(covariance))).all()):
            problems.append("The standard errors can't be computed.")
    columns = [str(c) for c in data.matrix.columns]
    names = tuple(prefix + column for prefix in others for column in columns)
    problems += result.problems(names) if data.has_times or family == ORDINAL else []
    if n_groups is not None and not problems:
        problems += _without_groups(result, covariance, names)
    if data.row_weights.is_sample and family in ("binomial", "multinomial") and not problems:
        from treeselect.models.linear.solving import separation_problems

        problems += separation_problems(result, covariance, names)
    return LinearFit(
        result=result,
        model=model,
        names=names,
        terms=data.term_of * len(others),
        estimate=estimate,
        covariance=covariance,
        df=_degrees_of_freedom(result, data, n_groups),
        problems=tuple(dict.fromkeys(problems)),
        n_groups=n_groups,
        n_events=n_events,
        ratio=_RATIOS.get(family, ""),
        dispersion=dispersion(result) if family == "poisson" else None,
        is_quasi=family == "poisson" and result.use_t and result.cov_type == "nonrobust",
        family=family,
    )


def fit_quietly(data: LinearData, family: str, name: str) -> Any:
    """The statsmodels results, or LikelihoodFit, of a family, without warnings or checks."""
    with _noting([]):
        return _FITS[family](data, name)[0]


NEGATIVE_BINOMIAL, FIRTH, GAMMA, TWEEDIE = "negative-binomial", "firth", "gamma", "tweedie"

WITH_SCALE = (GAMMA, TWEEDIE)
"""Models of numbers whose errors grow with the mean: their tests divide by a dispersion."""

ONLY_FOR = {
    NEGATIVE_BINOMIAL: "poisson",
    FIRTH: "binomial",
    ORDINAL: "multinomial",
    GAMMA: "gaussian",
    TWEEDIE: "gaussian",
}
"""Models of one family."""

_RATIOS = {
    "binomial": "odds ratio",
    FIRTH: "odds ratio",
    GAMMA: "ratio of means",
    TWEEDIE: "ratio of means",
    "multinomial": "odds ratio",
    ORDINAL: "odds ratio",
    "poisson": "rate ratio",
    NEGATIVE_BINOMIAL: "rate ratio",
    "cox": "hazard ratio",
}


def _check_variation(data: LinearData, classes: Sequence[Any]) -> None:
    """Raise a DataError if the response does not vary in these rows."""
    here = f" in {len(data.y)} complete cases."
    if data.has_times:
        if not data.y[:, EVENT].any():
            raise DataError(f"A Cox model needs events.\n  Found: none{here}")
        return
    n = len(np.unique(data.y))
    if n < max(len(classes), 2):
        raise DataError(
            "A linear model needs a response that varies, and rows of every class.\n"
            f"  Found: {n} distinct value{'' if n == 1 else 's'}{here}"
        )


def _degrees_of_freedom(result: Any, data: LinearData, n_groups: int | None) -> float | None:
    if n_groups is not None:
        return float(n_groups - 1)
    if data.row_weights.is_sample:  # of Cox models none, as in R's `svycoxph`
        return None if data.has_times else float(len(data.y) - np.size(result.params))
    return float(result.df_resid) if result.use_t else None


def _without_groups(result: Any, covariance: FloatArray, names: Sequence[str]) -> list[str]:
    """Problems of a cluster-robust covariance V, which must have full rank: beside the model-based
    ``L L'`` no eigenvalue of ``inv(L) V inv(L)'`` may be 0."""
    if not names:
        return []
    try:
        root = np.linalg.cholesky(np.asarray(result.normalized_cov_params, dtype=np.float64))
    except np.linalg.LinAlgError:
        return ["The standard errors can't be computed."]
    half = np.linalg.solve(root, covariance)
    values, vectors = np.linalg.eigh(np.linalg.solve(root, half.T))
    lost = values <= _SINGULAR * values[-1]
    if not lost.any():
        return []
    inverse = np.linalg.inv(root)
    size = np.abs(root @ vectors[:, lost]).max(axis=1) * np.sqrt((inverse**2).sum(axis=0))
    found = [names[i] for i in np.flatnonzero(size > 1e-4 * size.max()).tolist()]
    # A reference level shows in the other levels, not in the intercept.
    found = [name for name in found if name.split(": ")[-1] != INTERCEPT] or found
    return [
        f"Cluster-robust standard errors can't be computed for {listing(found)}, which"
        f" var{'ies' if len(found) == 1 else 'y'} in too few clusters."
    ]


@contextmanager
def _noting(problems: list[str], what: str = "") -> Iterator[None]:
    """Turn statsmodels' warnings into sentences; others are issued unchanged."""
    from statsmodels.tools import sm_exceptions

    with own_filters(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        yield
    for warning in caught:
        kind = warning.category
        if issubclass(kind, sm_exceptions.PerfectSeparationWarning):
            problems.append(f"The terms {what} completely: estimates diverge.")
        elif issubclass(kind, sm_exceptions.ConvergenceWarning):
            problems.append("The fit did not converge.")
        elif issubclass(kind, sm_exceptions.HessianInversionWarning):
            problems.append("The standard errors can't be computed.")
        elif not issubclass(kind, RuntimeWarning | sm_exceptions.ModelWarning):
            warnings.warn_explicit(warning.message, kind, warning.filename, warning.lineno)


def _estimates(result: Any) -> tuple[FloatArray, FloatArray, bool]:
    """Coefficients, class after class, their covariance, and whether the fit converged."""
    estimate = np.asarray(result.params, dtype=np.float64).ravel(order="F")
    covariance = np.asarray(result.cov_params(), dtype=np.float64)
    converged = getattr(result, "converged", None)
    if converged is None:
        converged = (getattr(result, "mle_retvals", None) or {}).get("converged", True)
    return estimate, covariance, bool(converged)


def _weights(data: LinearData) -> dict[str, WeightArray]:
    """Weights in the form of statsmodels' GLM."""
    weights = data.row_weights
    if weights.are_copies:
        return {} if weights.are_equal else {"freq_weights": weights.values}
    return {"var_weights": weights.values / weights.values.mean()}


def _covariance(data: LinearData, n_predictors: int = 1) -> dict[str, Any]:
    """Arguments of statsmodels for a clustered covariance, if one is needed."""
    groups = data.row_weights.error_groups
    if groups is None:
        return {}
    how: dict[str, Any] = {"groups": groups}
    if data.row_weights.is_sample:
        # As R's survey: G / (G - 1) alone, without statsmodels' correction for the coefficients.
        n_rows, n_columns = data.matrix.shape
        how["scaling_factor"] = (n_rows - n_columns * n_predictors) / (n_rows - 1)
    elif "freq_weights" in _weights(data):
        # statsmodels' small-sample correction counts rows, but these stand for copies.
        n_rows, n_columns = data.matrix.shape
        n = int(data.row_weights.values.sum())
        how["scaling_factor"] = (n - 1) / (n - n_columns) * (n_rows - n_columns) / (n_rows - 1)
    return {"cov_type": "cluster", "cov_kwds": how, "use_t": True}


def _fit_numbers(data: LinearData, name: str) -> tuple[Any, str]:
    import statsmodels.api as sm

    weights, by = _weights(data), _covariance(data)
    if "freq_weights" in weights or data.row_weights.is_sample:  # WLS scales no covariance
        model = _glm(data, name, sm.families.Gaussian())
        fit = model.fit(**{"use_t": True, **by})
        return fit, "GLM, Gaussian family, identity link (statsmodels)"
    y = pd.Series(data.y if data.offset is None else data.y - data.offset, name=name)
    if not weights:
        return sm.OLS(y, data.matrix).fit(**by), "OLS, least squares (statsmodels)"
    fit = sm.WLS(y, data.matrix, weights["var_weights"]).fit(**by)
    return fit, "WLS, weighted least squares (statsmodels)"


def _glm(data: LinearData, name: str, family: Any) -> Any:
    """statsmodels' GLM; on long data one that is solved in blocks."""
    from statsmodels.api import GLM

    from treeselect.models.linear.solving import LongGLM

    kind = LongGLM if len(data.y) > _LONG else GLM
    return kind(pd.Series(data.y, name=name), data.matrix, family, data.offset, **_weights(data))


def _fit_two_classes(data: LinearData, name: str) -> tuple[Any, str]:
    import statsmodels.api as sm

    from treeselect.models.linear.solving import Logit

    family = sm.families.Binomial(Logit())
    fit = _glm(data, name, family).fit(**_covariance(data))
    return fit, "GLM, binomial family, logit link (statsmodels)"


def _fit_separated(data: LinearData, name: str) -> tuple[Any, str]:
    import statsmodels.api as sm

    from treeselect.models.linear.solving import FirthLogit, Logit

    own = sm.families.Binomial(Logit()), data.offset
    y = pd.Series(data.y, name=name)
    fit = FirthLogit(y, data.matrix, *own, whole=data.whole, **_weights(data)).fit()
    return fit, "GLM, binomial family, logit link, Firth's penalised likelihood"


def _fit_gamma(data: LinearData, name: str) -> tuple[Any, str]:
    import statsmodels.api as sm

    from treeselect.models.linear.solving import power_optimum

    if not (data.y > 0).all():
        raise OptionError(
            f'`model="{GAMMA}"` needs a response above 0.\n  Found: {data.y.min():g}.'
        )
    model = _glm(data, name, sm.families.Gamma(sm.families.links.Log()))
    fit = model.fit(start_params=power_optimum(model, 2.0), **{"use_t": True, **_covariance(data)})
    return fit, "GLM, gamma family, log link (statsmodels)"


def _fit_tweedie(data: LinearData, name: str) -> tuple[Any, str]:
    """The Tweedie GLM with the variance ``phi mu^p``, p between 1 and 2 of greatest likelihood at
    Pearson's phi (Dunn and Smyth 2005); a part of a model has the p of the whole."""
    import statsmodels.api as sm

    from treeselect.models.linear.solving import power_optimum

    if not ((data.y >= 0).all() and (data.y > 0).any()):
        raise OptionError(
            f'`model="{TWEEDIE}"` needs a response of at least 0.\n  Found: {data.y.min():g}.'
        )
    by, log = {"use_t": True, **_covariance(data)}, sm.families.links.Log()

    def fitted(power: float, own: LinearData, **how: Any) -> Any:
        model = _glm(own, name, sm.families.Tweedie(log, var_power=power))
        return model.fit(start_params=power_optimum(model, power), **how)

    matrix = data.matrix if data.whole is None else pd.DataFrame(data.whole)
    whole = dataclasses.replace(data, matrix=matrix)

    def lost(power: float) -> float:
        fit = fitted(power, whole)
        weights = _weights(data)
        mass = weights.get("freq_weights", weights.get("var_weights", np.ones(len(data.y))))
        density = fit.model.family.loglike_obs(data.y, np.asarray(fit.mu), scale=fit.scale)
        return -float(np.asarray(mass, dtype=np.float64) @ density)

    found = scipy.optimize.minimize_scalar(
        lost, bounds=_POWERS, method="bounded", options={"xatol": 1e-5}
    )
    fit = fitted(float(found.x), data, **by)
    return fit, f"GLM, Tweedie family, power {found.x:.3g}, log link (statsmodels)"


_POWERS = (1.01, 1.99)
"""Range of the power: from Poisson to gamma."""


def _fit_counts(data: LinearData, name: str) -> tuple[Any, str]:
    import statsmodels.api as sm

    model, by = _glm(data, name, sm.families.Poisson()), _covariance(data)
    fit, family = model.fit(**by), "Poisson"
    if not by and overdispersed(fit):
        fit, family = model.fit(scale="X2", use_t=True), "quasi-Poisson"
    return fit, f"GLM, {family} family, log link (statsmodels)"


def _fit_dispersed(data: LinearData, name: str) -> tuple[Any, str]:
    """The negative binomial GLM with the variance ``mu + alpha mu^2``, alpha by maximum likelihood
    (R: ``MASS::glm.nb``, with theta = 1 / alpha; Venables and Ripley 2002, section 7.4); the
    covariance is that of known alpha."""
    import statsmodels.api as sm

    by = _covariance(data)

    def fitted(log_alpha: float) -> Any:
        family = sm.families.NegativeBinomial(alpha=float(np.exp(log_alpha)))
        return _glm(data, name, family).fit(**by)

    found = scipy.optimize.minimize_scalar(
        lambda at: -fitted(at).llf, bounds=_LOG_ALPHA, method="bounded", options={"xatol": 1e-7}
    )
    fit = fitted(float(found.x))
    fit.alpha = float(np.exp(found.x))
    theta = f"theta {1 / fit.alpha:.4g}"
    if found.x < _LOG_ALPHA[0] + 0.1:
        theta = "theta at its bound: the counts vary no more than Poisson counts"
    return fit, f"GLM, negative binomial family, {theta}, log link (statsmodels)"


_LOG_ALPHA = (-12.0, 5.0)
"""Range of the logarithm of alpha: from what is Poisson to what hardly has a mean."""


def _fit_classes(data: LinearData, name: str) -> tuple[Any, str]:
    import statsmodels.api as sm

    y, matrix = pd.Series(data.y.astype(np.int64), name=name), data.matrix
    weights = _weights(data)
    if "var_weights" in weights:
        from treeselect.models.linear.solving import WeightedMNLogit

        model = WeightedMNLogit(y, matrix, np.asarray(weights["var_weights"], np.float64))
        by = _covariance(data, model.J - 1)
        fit = model.fit(disp=False, maxiter=100, **by)
        return fit, "MNLogit, multinomial logit (statsmodels), weighted"
    if weights:
        n_copies = data.row_weights.values.sum()
        if n_copies > _MOST_COPIES:
            raise OptionError(
                f"`weights` must sum to at most {_MOST_COPIES:,} for a linear model of more than"
                f" two classes.\n  Found: {n_copies:,}. Divide them by a common factor."
            )
        row_weights, copies = data.row_weights.written_out()
        y, matrix = y.iloc[copies].reset_index(drop=True), matrix.iloc[copies]
        matrix = matrix.reset_index(drop=True)
        data = dataclasses.replace(data, row_weights=row_weights)
    fit = sm.MNLogit(y, matrix).fit(disp=False, maxiter=100, **_covariance(data))
    return fit, "MNLogit, multinomial logit (statsmodels)"


_FITS: dict[str, Callable[[LinearData, str], tuple[Any, str]]] = {
    "gaussian": _fit_numbers,
    "binomial": _fit_two_classes,
    "multinomial": _fit_classes,
    "poisson": _fit_counts,
    NEGATIVE_BINOMIAL: _fit_dispersed,
    FIRTH: _fit_separated,
    GAMMA: _fit_gamma,
    TWEEDIE: _fit_tweedie,
    "cox": lambda data, _: (fit_cox(data), "Cox proportional hazards, Efron ties"),
    ORDINAL: lambda data, _: (
        fit_ordinal(data),
        "Proportional odds (cumulative logit), maximum likelihood",
    ),
}
