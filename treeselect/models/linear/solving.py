"""Long GLMs solved block by block of rows, weighted multinomial logits, and separation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from statsmodels.discrete.discrete_model import MNLogit
from statsmodels.genmod.families import links
from statsmodels.genmod.generalized_linear_model import GLM, GLMResults, GLMResultsWrapper
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

from treeselect.engine.arrays import AnyArray, FloatArray
from treeselect.errors import listing
from treeselect.models.linear.data import reduced

_MOST_STEPS, _TOLERANCE = 100, 1e-8
"""Of statsmodels' ``GLM.fit``: most steps, and change of the deviance that ends them."""

_SINGULAR = 1e-10
"""Ratio of singular values below which the answer depends on how least squares are solved."""


class LongGLM(GLM):
    """statsmodels' ``GLM``, whose least squares are solved by a QR decomposition found block by
    block of rows; nearly singular steps are left to statsmodels."""

    def initialize(self) -> None:
        """Rank and degrees of freedom, as ``GLM.initialize`` computes them."""
        n_rows = len(self.exog)
        values = np.linalg.svd(reduced(self.exog), compute_uv=False)
        limit = values.max(initial=0.0) * max(self.exog.shape) * np.finfo(np.float64).eps
        self.df_model = int((values > limit).sum()) - 1
        weights = self.freq_weights
        self.wnobs = n_rows if weights is None or len(weights) != n_rows else weights.sum()
        self.df_resid = self.wnobs - self.df_model - 1

    def fit(self, **how: Any) -> Any:
        """Fit by iteratively reweighted least squares."""
        if set(how) <= {"scale", "cov_type", "cov_kwds", "use_t"} and np.ndim(self.endog) == 1:
            self.scaletype = how.pop("scale", None)
            result = self._in_blocks({"cov_type": "nonrobust"} | how)
            if result is not None:
                return result
        return super().fit(**how)

    def _in_blocks(self, how: dict[str, Any]) -> Any | None:
        """The results; None if a step is nearly singular."""
        family, offset = self.family, self._offset_exposure
        mu = family.starting_mu(self.endog)
        eta = family.predict(mu)
        params = np.zeros(self.exog.shape[1])
        self.scale = self.estimate_scale(mu)
        steps: list[Any] = [np.inf, params]
        deviance = [np.inf, self._deviance(mu)]
        converged, n_steps, separated = False, 0, False
        while not converged and n_steps < _MOST_STEPS:
            self.weights = self.iweights * self.n_trials * family.weights(mu)
            working = eta + family.link.deriv(mu) * (self.endog - mu) - offset
            found = least_squares(self.exog, working, self.weights)
            if found is None:
                return None
            params, covariance = found
            eta = self.exog @ params + offset
            mu = family.fitted(eta)
            steps.append(params)
            deviance.append(self._deviance(mu))
            self.scale = self.estimate_scale(mu)
            separated = separated or np.allclose(mu - self.endog, 0)
            converged = np.allclose(deviance[-2], deviance[-1], atol=_TOLERANCE, rtol=0.0)
            n_steps += 1
        if separated:
            said = "Perfect separation or prediction detected, parameter may not be identified"
            warnings.warn(said, PerfectSeparationWarning, stacklevel=3)
        self.mu = mu
        result = GLMResults(self, params, covariance, self.scale, **how)
        result.method, result.converged = "IRLS", converged
        result.mle_settings = {"wls_method": "qr", "optimizer": "IRLS"}
        result.fit_history = {"params": steps, "deviance": deviance, "iteration": n_steps}
        return GLMResultsWrapper(result)

    def _deviance(self, mu: FloatArray) -> float:
        own = (self.var_weights, self.freq_weights, self.scale)
        return float(self.family.deviance(self.endog, mu, *own))


def least_squares(
    matrix: FloatArray, y: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Coefficients of weighted least squares, and the inverse of ``X' W X``."""
    from scipy.linalg import solve_triangular

    n = matrix.shape[1]
    R = np.asarray(np.linalg.qr(reduced(matrix, y, np.sqrt(weight)), mode="r"))
    if len(R) < n or not np.isfinite(R).all():
        return None
    R, moved = R[:n, :n], R[:n, n]
    values = np.linalg.svd(R, compute_uv=False)
    if not values.min() > _SINGULAR * values.max():
        return None
    inverse = solve_triangular(R, np.eye(n))
    return solve_triangular(R, moved), inverse @ inverse.T


class Logit(links.Logit):
    """The logit with a finite second derivative at 0 and 1, which robust errors need."""

    def deriv2(self, p: FloatArray) -> FloatArray:
        """Second derivative at probabilities of shape (n_rows,)."""
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

    def loglike_and_score(self, params: AnyArray) -> tuple[float, FloatArray]:
        return self.loglike(params), self.score(params)

    def hessian(self, params: AnyArray) -> FloatArray:
        """Second derivatives of the weighted log-likelihood."""
        weight, share = self._heavy(params)
        share = share[:, 1:]
        between = np.einsum("ij,ik->ijk", share, share)
        between -= share[:, :, np.newaxis] * np.eye(share.shape[1])
        blocks = np.einsum("i,ijk,ia,ib->jakb", weight[:, 0], between, self.exog, self.exog,
                           optimize=True)  # fmt: skip
        return blocks.reshape(2 * (share.shape[1] * self.exog.shape[1],))


class FirthLogit(GLM):
    """Logistic regression by Firth's penalised likelihood (1993), whose maximum is finite where
    terms separate the classes. Of a nested model the penalty is that of the `whole` one (Heinze and
    Schemper 2002)."""

    def __init__(self, endog: Any, exog: Any, *given: Any, whole: Any = None, **named: Any) -> None:
        super().__init__(endog, exog, *given, **named)
        self.whole = self.exog if whole is None else whole

    def fit(self, **_: Any) -> Any:
        """Fit by Newton's method on the modified score."""
        params = np.zeros(self.exog.shape[1])
        value, covariance, step = self._step(params)
        converged = False
        for _step in range(_MOST_STEPS):
            step = step / max(np.abs(step).max(initial=0.0) / _LONGEST, 1.0)
            found = self._step(params + step)
            while found[0] < value - _TOLERANCE and np.abs(step).max() > _TOLERANCE:
                step = step / 2
                found = self._step(params + step)
            params, (value, covariance, following) = params + step, found
            converged = bool(np.abs(step).max(initial=0.0) < _TOLERANCE)
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
"""Most by which a step of Firth's logistic regression changes a coefficient, as in R's logistf."""


_FAR = 50.0
"""Model-based errors this many times the robust ones are those of an estimate that diverges."""


def separation_problems(result: Any, covariance: FloatArray, names: Sequence[str]) -> list[str]:
    """A sentence on the columns whose estimates diverge, if any: their robust errors go to 0."""
    own = np.asarray(result.normalized_cov_params, dtype=np.float64)
    if own.shape != covariance.shape:
        return []
    far = np.sqrt(np.diag(own)) > _FAR * np.sqrt(np.diag(covariance))
    found = [names[i] for i in np.flatnonzero(far).tolist()]
    if not found:
        return []
    return [
        f"The estimates of {listing(found, most=5)} diverge, because the classes are separated;"
        " their robust standard errors are not valid."
    ]


_CERTAIN = 1e-8
"""Fitted probabilities this close to 0 or 1 are numerically 0 or 1."""


def near_certain(result: Any) -> bool:
    """Whether some class is fitted with a probability that is numerically 0 or 1."""
    with np.errstate(all="ignore"):  # of diverging estimates
        fitted = np.asarray(result.predict())
    return bool((np.minimum(fitted, 1 - fitted) < _CERTAIN).any())


def power_optimum(model: GLM, power: float) -> FloatArray:
    """Coefficients of a GLM with the variance ``mu^power``, from 1 to 2, and the log link, by
    Newton's steps, halved where the loss, which is convex, would rise: Fisher's may diverge."""
    x, y, mass = model.exog, model.endog, model.iweights * np.ones(len(model.endog))
    offset = getattr(model, "offset", None)
    offset = np.zeros(len(y)) if offset is None else offset
    logs = np.log(np.where(y > 0, y, y.mean() / 10)) - offset
    beta = np.linalg.lstsq(x, logs, rcond=None)[0]

    def loss(eta: FloatArray) -> float:
        rest = eta if power == 2 else np.exp((2 - power) * eta) / (2 - power)
        with np.errstate(over="ignore"):
            return float(mass @ (y * np.exp((1 - power) * eta) / (power - 1) + rest))

    for _ in range(_MOST_STEPS):
        eta = x @ beta + offset
        falls, rises = y * np.exp((1 - power) * eta), np.exp((2 - power) * eta)
        curvature = mass * ((power - 1) * falls + (2 - power) * rises)
        step = np.linalg.lstsq((x.T * curvature) @ x, x.T @ (mass * (rises - falls)), rcond=None)[0]
        before, size = loss(eta), 1.0
        while size > _SHORTEST and not loss(eta - size * (x @ step)) <= before:
            size /= 2
        beta = beta - size * step
        if np.abs(x @ step).max() < _SHORTEST:
            break
    return np.asarray(beta)


_MOST_STEPS, _SHORTEST = 100, 1e-9
