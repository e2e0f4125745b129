"""Linear models of each family by statsmodels: weighted multinomial logits, penalised likelihoods,
and separation."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy
import statsmodels.api as sm
from statsmodels.base.model import LikelihoodModelResults
from statsmodels.discrete.discrete_model import (
    MNLogit,
    MultinomialResults,
    MultinomialResultsWrapper,
)
from statsmodels.genmod.families import links
from statsmodels.genmod.generalized_linear_model import GLM, GLMResults, GLMResultsWrapper

from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, WeightArray
from treeselect.errors import OptionError
from treeselect.models.linear.data import (
    COUNTS,
    FIRTH,
    GAMMA,
    NEGATIVE_BINOMIAL,
    LinearData,
    reduced,
)
from treeselect.models.linear.likelihood import LikelihoodFit, glm_optimum

_MOST_STEPS, _TOLERANCE = 100, 1e-8
"""Of Firth's regression: most steps, and change of a linear predictor that ends them."""


class Logit(links.Logit):
    """The logit with a finite second derivative at 0 and 1, which robust errors need."""

    def deriv2(self, p: FloatArray) -> FloatArray:
        inside = self._clean(np.asarray(p, dtype=np.float64))
        return (2 * np.asarray(p) - 1) / (inside * (1 - inside)) ** 2


class WeightedMNLogit(MNLogit):
    """``MNLogit`` whose log-likelihood is ``sum_i w_i log P(y_i)``."""

    def __init__(self, endog: Any, exog: Any, weights: FloatArray, **options: Any) -> None:
        super().__init__(endog, exog, **options)
        self.weights = weights
        self._init_keys.append("weights")  # of the null model

    def _heavy(self, params: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Weights as a column, and the probabilities of the classes."""
        eta = self.exog @ np.reshape(params, (self.K, -1), order="F")
        top = np.maximum(eta.max(axis=1, keepdims=True), 0.0)
        mass = np.exp(np.column_stack((np.zeros(len(eta)), eta)) - top)
        return self.weights[:, np.newaxis], mass / mass.sum(axis=1, keepdims=True)

    def loglikeobs(self, params: AnyArray) -> FloatArray:
        """Weighted log-likelihood of each row and class."""
        weight, share = self._heavy(params)
        return np.asarray(weight * self.wendog * np.log(np.maximum(share, 1e-300)))

    def loglike(self, params: AnyArray) -> float:
        return float(self.loglikeobs(params).sum())

    def score_obs(self, params: AnyArray) -> FloatArray:
        """Weighted scores, shape (n_rows, n_coefficients)."""
        weight, share = self._heavy(params)
        residual = weight * (self.wendog - share)[:, 1:]
        return (residual[:, :, np.newaxis] * self.exog[:, np.newaxis]).reshape(len(residual), -1)

    def score(self, params: AnyArray) -> FloatArray:
        return np.asarray(self.score_obs(params).sum(axis=0))

    def hessian(self, params: AnyArray) -> FloatArray:
        """Second derivatives of the weighted log-likelihood."""
        weight, share = self._heavy(params)
        x, classes = self.exog, range(share.shape[1] - 1)
        found = np.empty((len(classes), x.shape[1]) * 2)
        for j, k in itertools.combinations_with_replacement(classes, 2):
            between = weight * share[:, [j + 1]] * (share[:, [k + 1]] - (j == k))
            found[j, :, k] = found[k, :, j] = (between * x).T @ x
        return found.reshape(2 * (len(classes) * x.shape[1],))


class FirthLogit(GLM):
    """Logistic regression by Firth's penalised likelihood (1993), whose maximum is finite where
    terms separate the classes. Of a nested model the penalty is that of the `whole` one (Heinze and
    Schemper 2002)."""

    def __init__(self, endog: Any, exog: Any, *given: Any, whole: Any = None, **named: Any) -> None:
        super().__init__(endog, exog, *given, **named)
        self.whole = self.exog if whole is None else whole

    def fit(self, **_: Any) -> Any:
        """Fit by Newton's method on the modified score."""
        base, scale = self._offset_exposure + np.zeros(len(self.exog)), self.exog.std(axis=0)
        params = np.linalg.lstsq(self.exog, -base, rcond=None)[0]
        value, covariance, step = self._step(params)
        converged = False
        for _step in range(_MOST_STEPS):
            step = step / max(np.abs(scale * step).max(initial=0.0) / _LONGEST, 1.0)
            found = self._step(params + step)
            while found[0] < value - _TOLERANCE and np.abs(self.exog @ step).max() > _TOLERANCE:
                step = step / 2
                found = self._step(params + step)
            params, (value, covariance, following) = params + step, found
            converged = bool(np.abs(self.exog @ step).max() < _TOLERANCE)
            if converged:
                break
            step = following
        result = GLMResults(self, params, covariance, 1.0, cov_type="nonrobust")
        result.method, result.converged, result.penalised = "Firth", converged, value
        return GLMResultsWrapper(result)

    def _step(self, params: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """The penalised log-likelihood, inverse information and Newton's step at coefficients."""
        weight = self.freq_weights * self.var_weights
        eta = self.exog @ params + self._offset_exposure
        self.mu = mean = self.family.fitted(eta)
        curvature = weight * mean * (1 - mean)
        root = np.linalg.qr(np.sqrt(curvature)[:, np.newaxis] * self.whole, mode="reduced")
        leverage = (root[0] ** 2).sum(axis=1)
        size = 2 * np.log(np.abs(np.diag(root[1]))).sum()
        likelihood = weight @ (self.endog * eta - np.logaddexp(0.0, eta))
        score = self.exog.T @ (weight * (self.endog - mean) + leverage * (0.5 - mean))
        inverse = np.linalg.inv((self.exog.T * curvature) @ self.exog)
        return float(likelihood + size / 2), inverse, inverse @ score


_LONGEST = 5.0
"""Most by which a step of Firth's logistic regression changes the coefficient of a column of
standard deviation 1, as in R's logistf."""


_FAR = 50.0
"""Model-based errors this many times the robust ones are those of an estimate that diverges."""


def diverging(result: Any, covariance: FloatArray, family: str) -> BoolArray:
    """Estimates that diverge, whose robust errors go to 0, as model-based ones do not."""
    if isinstance(result, LikelihoodFit):
        return result.infinite
    own = np.asarray(result.normalized_cov_params, dtype=np.float64)
    ends = family in ("binomial", "multinomial") or (family in COUNTS and is_endless(result))
    if not ends or own.shape != covariance.shape:
        return np.zeros(len(covariance), dtype=np.bool_)
    return np.asarray(np.diag(own) > _FAR**2 * np.diag(covariance))


_CERTAIN = 1e-8
"""Fitted probabilities this close to 0 or 1 are numerically 0 or 1."""


def near_certain(result: Any) -> bool:
    """Whether some class is fitted with a probability that is numerically 0 or 1."""
    with np.errstate(all="ignore"):  # of diverging estimates
        fitted = np.asarray(result.predict())
    return bool((np.minimum(fitted, 1 - fitted) < _CERTAIN).any())


def is_endless(result: Any) -> bool:
    """Whether one more step would still change a linear predictor of counts: all are 0 where it
    applies, and the likelihood has no maximum."""
    own, mu = result.model, np.asarray(result.mu)
    slope = own.family.weights(mu) * own.family.link.deriv(mu) * (own.endog - mu)
    step = np.asarray(result.normalized_cov_params) @ (own.exog.T @ (own.iweights * slope))
    return bool(np.abs(own.exog @ step).max() > _MOVING)


_MOVING = 0.1
"""Change of a linear predictor after the last step; that of a mean that goes to 0 is 1."""


# --- the models of the families ------------------------------------------------------------------

_TAIL = 1.6449
"""Upper 5% point of the normal distribution."""


def overdispersed(result: Any) -> bool:
    """Whether counts vary more than chance allows: a one-sided test at 5%, as a squared Pearson
    residual of mean m and weight v has the variance ``2 + 1 / (v m)``."""
    own = result.model
    with np.errstate(all="ignore"):
        variance = own.freq_weights @ (2 + 1 / (own.var_weights * result.mu))
        return bool(result.pearson_chi2 - result.df_resid > _TAIL * np.sqrt(variance))


_LONG = 50_000
"""Rows above which statsmodels starts where its GLM will end: its steps take long."""


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
    n_rows, n_columns = data.matrix.shape
    k = n_columns * n_predictors
    if data.row_weights.is_sample:
        # As R's survey: G / (G - 1) alone, without statsmodels' correction for the coefficients.
        how["scaling_factor"] = (n_rows - k) / (n_rows - 1)
    elif "freq_weights" in _weights(data):
        # statsmodels' small-sample correction counts rows, but these stand for copies.
        n = int(data.row_weights.values.sum())
        how["scaling_factor"] = (n - 1) / (n - k) * (n_rows - k) / (n_rows - 1)
    return {"cov_type": "cluster", "cov_kwds": how, "use_t": True}


def _fit_numbers(data: LinearData, name: str) -> tuple[Any, str]:
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
    """statsmodels' GLM."""
    y = pd.Series(data.y, name=name)
    model = GLM(y, data.matrix, family, data.offset, **_weights(data))
    if data.row_weights.is_sample:  # robust errors by the expected information, as R's survey
        model._optim_hessian = "eim"
    return model


def _start(data: LinearData, family: str) -> FloatArray | None:
    """Coefficients at which statsmodels starts; None for its own."""
    with contextlib.suppress(np.linalg.LinAlgError):
        return glm_optimum(data, family)[0] if len(data.y) > _LONG else None
    return None


def _fit_two_classes(data: LinearData, name: str) -> tuple[Any, str]:
    family = sm.families.Binomial(Logit())
    start = _start(data, "binomial")
    fit = _glm(data, name, family).fit(start_params=start, **_covariance(data))
    return fit, "GLM, binomial family, logit link (statsmodels)"


def _fit_separated(data: LinearData, name: str) -> tuple[Any, str]:
    own = sm.families.Binomial(Logit()), data.offset
    y = pd.Series(data.y, name=name)
    fit = FirthLogit(y, data.matrix, *own, whole=data.whole, **_weights(data)).fit()
    return fit, "GLM, binomial family, logit link, Firth's penalised likelihood"


def _fit_gamma(data: LinearData, name: str) -> tuple[Any, str]:
    if not (data.y > 0).all():
        raise OptionError(
            f'`model="{GAMMA}"` needs a response above 0.\n  Found: {data.y.min():g}.'
        )
    model = _glm(data, name, sm.families.Gamma(sm.families.links.Log()))
    start, _ = glm_optimum(data, GAMMA)  # statsmodels' own steps may diverge
    fit = model.fit(start_params=start, **{"use_t": True, **_covariance(data)})
    return fit, "GLM, gamma family, log link (statsmodels)"


def _fit_counts(data: LinearData, name: str) -> tuple[Any, str]:
    model, by = _glm(data, name, sm.families.Poisson()), _covariance(data)
    start = _start(data, "poisson")
    fit, family = model.fit(start_params=start, **by), "Poisson"
    if not by and overdispersed(fit):
        fit, family = model.fit(start_params=start, scale="X2", use_t=True), "quasi-Poisson"
    return fit, f"GLM, {family} family, log link (statsmodels)"


def _fit_dispersed(data: LinearData, name: str) -> tuple[Any, str]:
    """The negative binomial GLM with the variance ``mu + alpha mu^2``, alpha by maximum likelihood
    (R: ``MASS::glm.nb``, with theta = 1 / alpha; Venables and Ripley 2002, section 7.4); the
    covariance is that of known alpha."""
    by, start = _covariance(data), _start(data, "poisson")

    def fitted(log_alpha: float) -> Any:
        family = sm.families.NegativeBinomial(alpha=float(np.exp(log_alpha)))
        return _glm(data, name, family).fit(start_params=start, **by)

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
    y, weights = pd.Series(data.y.astype(np.int64), name=name), data.row_weights
    kind = partial(WeightedMNLogit, weights=weights.relative)
    words = "MNLogit, multinomial logit (statsmodels)" + ", weighted" * (not weights.are_copies)
    # statsmodels' steps depend on the units of the columns: it takes those of orthogonal ones
    x, model = data.matrix.to_numpy(dtype=np.float64), kind(y, data.matrix)
    root = np.linalg.qr(reduced(x), mode="r") / np.sqrt(len(x))
    apart = scipy.linalg.solve_triangular(root.T, x.T, lower=True).T
    # its usual ridge would stop them short where one value is far from all others
    found = kind(y, apart).fit(disp=False, maxiter=100, ridge_factor=1e-15)
    back = scipy.linalg.solve_triangular(root, np.eye(x.shape[1]))
    every = np.kron(np.eye(model.J - 1), back)
    result = LikelihoodModelResults(
        model, every @ np.asarray(found.params).ravel(order="F"),
        every @ np.asarray(found.cov_params()) @ every.T, **_covariance(data, model.J - 1),
    )  # fmt: skip
    result.params, result.mle_retvals = back @ np.asarray(found.params), found.mle_retvals
    return MultinomialResultsWrapper(MultinomialResults(model, result)), words


FITS: dict[str, Callable[[LinearData, str], tuple[Any, str]]] = {
    "gaussian": _fit_numbers,
    "binomial": _fit_two_classes,
    "multinomial": _fit_classes,
    "poisson": _fit_counts,
    NEGATIVE_BINOMIAL: _fit_dispersed,
    FIRTH: _fit_separated,
    GAMMA: _fit_gamma,
}
