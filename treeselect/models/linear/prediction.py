"""Predictions of a linear model with standard errors and intervals: arrays only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import expit, log_softmax

from treeselect.engine.arrays import FloatArray
from treeselect.engine.losses import poisson_mean


@dataclass(frozen=True, slots=True)
class Predicted:
    """Predictions, shape (n_rows,), or (n_rows, n_classes) for more than two classes; NaN where the
    row is not known."""

    fit: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True)
class LinearRule:
    """What is known of a fitted linear model for predictions."""

    family: str
    estimate: FloatArray  # (n_coefficients,): class after class for more than two classes
    covariance: FloatArray  # (n_coefficients, n_coefficients)
    df: float | None  # degrees of freedom of t intervals; None for normal ones
    centre: FloatArray  # (n_columns,): subtracted from the columns
    scale: float  # residual variance of a numeric response

    def predict(
        self,
        matrix: FloatArray,
        offset: FloatArray | float,
        *,
        on_link: bool,
        level: float,
        of_rows: bool = False,
    ) -> Predicted:
        """Predictions of rows.

        Notes
        -----
        With variance ``v = x' V x`` of the linear predictor, its interval is symmetric, and that of
        the mean is its image under the inverse link. Standard errors of the mean are by the delta
        method. For more than two classes the gradient of ``log p_k`` in the coefficients of class j
        is ``(1[j = k] - p_j) x``; the interval of ``p_k`` is symmetric for ``logit(p_k)``, whose
        standard error is that of ``log p_k`` divided by ``1 - p_k``.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return self._predict(matrix, offset, on_link=on_link, level=level, of_rows=of_rows)

    def _predict(
        self,
        matrix: FloatArray,
        offset: FloatArray | float,
        *,
        on_link: bool,
        level: float,
        of_rows: bool,
    ) -> Predicted:
        law = stats.norm() if self.df is None else stats.t(self.df)
        quantile = float(law.ppf((1 + level) / 2))
        own = matrix - self.centre
        if self.family == "multinomial":
            return self._classes(own, quantile, on_link=on_link)
        eta = own @ self.estimate + offset
        variance = np.einsum("ij,jk,ik->i", own, self.covariance, own, optimize=True)
        error = _root(variance)
        wide = _root(variance + self.scale) if of_rows else error
        low, high = eta - quantile * wide, eta + quantile * wide
        if on_link or self.family == "gaussian":
            return Predicted(eta, error, low, high)
        mean, slope = _mean(self.family, eta)
        return Predicted(
            mean, slope * error, _mean(self.family, low)[0], _mean(self.family, high)[0]
        )

    def _classes(self, own: FloatArray, quantile: float, *, on_link: bool) -> Predicted:
        n, p = own.shape
        n_others = len(self.estimate) // p
        eta = own @ self.estimate.reshape(n_others, p).T
        log_p = log_softmax(np.column_stack([np.zeros(n), eta]), axis=1)
        share = np.exp(log_p)
        # Covariances of the linear predictors of two classes, shape (n, n_others, n_others).
        blocks = self.covariance.reshape(n_others, p, n_others, p)
        between = np.einsum("ni,aibj,nj->nab", own, blocks, own, optimize=True)
        error = np.empty_like(share)
        for k in range(n_others + 1):
            gradient = -share[:, 1:].copy()
            if k:
                gradient[:, k - 1] += 1.0
            error[:, k] = _root(np.einsum("na,nab,nb->n", gradient, between, gradient))
        if on_link:
            return Predicted(log_p, error, log_p - quantile * error, log_p + quantile * error)
        rest = np.log(-np.expm1(np.minimum(log_p, -1e-300)))
        logit = log_p - rest
        half = quantile * error / np.exp(rest)
        return Predicted(share, share * error, expit(logit - half), expit(logit + half))


def _mean(family: str, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean at a linear predictor, and its derivative."""
    if family == "binomial":
        mean = expit(eta)
        return mean, mean * expit(-eta)
    if family == "poisson":
        mean = poisson_mean(eta)
        return mean, mean
    risk: FloatArray = np.exp(eta)
    return risk, risk


def _root(variance: FloatArray) -> FloatArray:
    """Standard error; NaN where a singular fit leaves a negative variance."""
    return np.sqrt(np.where(variance >= 0, variance, np.nan))
