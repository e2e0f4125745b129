"""Predictions of a fitted linear model, with standard errors and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from treeselect.engine.arrays import FloatArray
from treeselect.engine.losses import poisson_mean
from treeselect.models.linear.data import FIRTH, NEGATIVE_BINOMIAL, ORDINAL
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.likelihood import ends_of


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """Predictions, shape (n_rows,) or (n_rows, n_classes); NaN where the row is not known."""

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

    @np.errstate(over="ignore", invalid="ignore")
    def predict(
        self,
        matrix: FloatArray,
        offset: FloatArray | float,
        *,
        on_link: bool,
        level: float,
        of_rows: bool = False,
    ) -> Predicted:
        """Predictions of rows. Intervals are symmetric on the scale of the linear predictor;
        standard errors of the mean are by the delta method. For more than two classes the gradient
        of ``log p_k`` in the coefficients of class j is ``(1[j = k] - p_j) x``; the interval of
        ``p_k`` is symmetric for ``logit(p_k)``, whose standard error is that of ``log p_k`` divided
        by ``1 - p_k``."""
        law = scipy.stats.norm() if self.df is None else scipy.stats.t(self.df)
        quantile = np.asarray(law.ppf((1 + level) / 2))
        own = matrix - self.centre
        if self.family == "multinomial":
            return self._classes(own, quantile, on_link=on_link)
        if self.family == ORDINAL:
            return self._ordered(own, offset, quantile, on_link=on_link)
        eta = own @ self.estimate + offset
        variance = np.einsum("ij,jk,ik->i", own, self.covariance, own, optimize=True)
        error = _root(variance)
        wide = _root(variance + self.scale) if of_rows else error
        low, high = eta - quantile * wide, eta + quantile * wide
        if on_link or self.family == "gaussian":
            return Predicted(eta, error, low, high)
        (mean, slope), *ends = (_mean(self.family, at) for at in (eta, low, high))
        return Predicted(mean, slope * error, ends[0][0], ends[1][0])

    def _classes(self, own: FloatArray, quantile: FloatArray, *, on_link: bool) -> Predicted:
        n, p = own.shape
        n_others = len(self.estimate) // p
        eta = own @ self.estimate.reshape(n_others, p).T
        log_p = scipy.special.log_softmax(np.column_stack([np.zeros(n), eta]), axis=1)
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
        return _shares(log_p, error, quantile, on_link=on_link)

    def _ordered(
        self, own: FloatArray, offset: FloatArray | float, quantile: FloatArray, *, on_link: bool
    ) -> Predicted:
        """The same for ordered classes; the thresholds are the last coefficients."""
        n = own.shape[1]
        eta, thresholds = own @ self.estimate[:n] + offset, self.estimate[n:]
        log_p, error = np.empty((2, len(own), len(thresholds) + 1))
        for k in range(len(thresholds) + 1):
            log_p[:, k], upper, lower = ends_of(eta, thresholds, k)
            gradient = np.zeros((len(own), len(self.estimate)))
            gradient[:, :n] = -(upper.slope + lower.slope)[:, np.newaxis] * own
            for place, end in ((n + k, upper), (n + k - 1, lower)):
                if n <= place < len(self.estimate):
                    gradient[:, place] = end.slope
            error[:, k] = _root(np.einsum("ia,ab,ib->i", gradient, self.covariance, gradient))
        return _shares(log_p, error, quantile, on_link=on_link)


def _shares(
    log_p: FloatArray, error: FloatArray, quantile: FloatArray, *, on_link: bool
) -> Predicted:
    """Probabilities of classes, with intervals that are symmetric on the logit scale, or, as the
    link, their logarithms."""
    if on_link:
        return Predicted(log_p, error, log_p - quantile * error, log_p + quantile * error)
    share, rest = np.exp(log_p), np.log(-np.expm1(np.minimum(log_p, -1e-300)))
    logit, half = log_p - rest, quantile * error / np.exp(rest)
    ends = (scipy.special.expit(logit + sign * half) for sign in (-1, 1))
    return Predicted(share, share * error, *ends)


def rule_of(fit: LinearFit, centre: FloatArray) -> LinearRule:
    """The rule of a fit for the mean of its family."""
    estimate, covariance = fit.estimate, fit.covariance
    if fit.family == ORDINAL:
        covariance = fit.result.whole_covariance
        estimate = np.append(estimate, fit.result.thresholds)
    scale = float(fit.result.scale) if fit.family == "gaussian" else 0.0
    return LinearRule(fit.family, estimate, covariance, fit.df, centre, scale)


@dataclass(frozen=True, slots=True)
class PooledRule(LinearRule):
    """The same of fits to m imputed frames, by Rubin (1987, chapter 3): a prediction is the mean of
    theirs, on the scale of the linear predictor, and its variance the mean of theirs plus 1 + 1/m
    times that `between` them, which gives each prediction its own degrees of freedom."""

    between: FloatArray
    m: int

    def predict(self, *given: Any, of_rows: bool = False, **asked: Any) -> Predicted:
        def rule(covariance: FloatArray, df: Any = None) -> LinearRule:
            return LinearRule(self.family, self.estimate, covariance, df, self.centre, self.scale)

        both = (rule(own) for own in (self.between, self.covariance))
        part, total = (own.predict(*given, **asked | {"on_link": True}).se ** 2 for own in both)
        total = np.maximum(total + of_rows * self.scale, 1e-300)
        df = pooled_df(part / total, self.m, self.df)
        return rule(self.covariance, df).predict(*given, of_rows=of_rows, **asked)


def pooled_rule(rules: Sequence[LinearRule]) -> PooledRule:
    def mean(name: str) -> Any:
        return np.mean([getattr(rule, name) for rule in rules], axis=0)

    estimates, m = [rule.estimate for rule in rules], len(rules)
    between = (1 + 1 / m) * np.atleast_2d(np.cov(estimates, rowvar=False))
    df = min((rule.df for rule in rules if rule.df is not None), default=None)
    return PooledRule(
        rules[0].family, mean("estimate"), mean("covariance") + between, df, mean("centre"),
        mean("scale"), between, m,
    )  # fmt: skip


def pooled_df(share: FloatArray, m: int, complete: float | None) -> FloatArray:
    """Degrees of freedom of estimates of whose variance imputation adds this share (Rubin 1987); of
    finite ones with complete data by Barnard and Rubin (1999), as R's mice."""
    rest = 0.0 if complete is None else (complete + 3) / (complete * (complete + 1))
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing missing, and normal statistics
        return np.asarray(1 / (share**2 / (m - 1) + rest / (1 - share)))


def _mean(family: str, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean at a linear predictor, and its derivative."""
    if family in ("binomial", FIRTH):
        mean = scipy.special.expit(eta)
        return mean, mean * scipy.special.expit(-eta)
    if family in ("poisson", NEGATIVE_BINOMIAL):
        mean = poisson_mean(eta)
        return mean, mean
    risk: FloatArray = np.exp(eta)
    return risk, risk


def _root(variance: FloatArray) -> FloatArray:
    """Standard error; NaN where a singular fit leaves a negative variance."""
    return np.sqrt(np.where(variance >= 0, variance, np.nan))
