"""Diagnostics of a linear model: residuals, leverage, influence, collinearity, constant hazards."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from treeselect.engine.arrays import FloatArray
from treeselect.engine.random import stream_seed
from treeselect.engine.survival.cox import CoxRows
from treeselect.engine.survival.curves import kaplan_meier
from treeselect.engine.survival.times import EVENT, STOP
from treeselect.errors import DataError
from treeselect.models.linear.data import FIRTH, GAMMA, NEGATIVE_BINOMIAL, ORDINAL
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.likelihood import robust
from treeselect.models.linear.rule import rule_of
from treeselect.models.linear.tests import FittedTerms, added_test


class RowDiagnostics(NamedTuple):
    """One number for each row of a fit, with copies for one of them; NaN where there is none."""

    fitted: FloatArray  # the linear predictor; without one the probability of the class observed
    residual: FloatArray  # deviance residual
    standardised: FloatArray  # divided by its standard error given the leverage
    quantile: FloatArray  # randomised quantile residual, standard normal if the model is right
    leverage: FloatArray
    cooks_distance: FloatArray


def row_diagnostics(found: FittedTerms, seed: int) -> RowDiagnostics:
    """Residuals and influence of the rows, as R's ``rstandard``, ``hatvalues`` and
    ``cooks.distance``; of times by score residuals (Cain and Lange 1984). Quantile residuals are
    those of Dunn and Smyth (1996)."""
    data, fit = found.data, found.fit
    matrix, offset = data.matrix.to_numpy(dtype=np.float64)[:, data.is_free], data.base
    if found.family in ("multinomial", ORDINAL):
        share = fitted_means(fit, matrix, offset)
        own = share[np.arange(len(share)), data.y.astype(np.int64)]
        residual, unknown = np.sqrt(-2 * np.log(own)), np.full(len(own), np.nan)
        until = np.cumsum(share, axis=1)[np.arange(len(share)), data.y.astype(np.int64)]
        quantile = _drawn(until - own, until, seed)
        eta = matrix @ fit.estimate + offset if found.family == ORDINAL else own
        return RowDiagnostics(eta, residual, residual, quantile, unknown, unknown)
    if data.has_times:
        return _of_times(found, matrix, seed)
    import statsmodels.api as sm

    family = getattr(fit.result.model, "family", None) or sm.families.Gaussian()
    weights = data.row_weights
    precision = np.ones(len(matrix)) if weights.are_copies else weights.relative
    eta = matrix @ fit.estimate + offset
    with np.errstate(over="ignore"):  # terms separate the classes: the mean is 0
        mean = family.fitted(eta)
    root = np.sqrt(weights.copies * precision * family.weights(mean))[:, np.newaxis] * matrix
    size = np.linalg.norm(root, axis=0)
    left, singular, _ = np.linalg.svd(root / np.where(size > 0, size, 1.0), full_matrices=False)
    left = left[:, singular > _DEPENDENT * singular.max()]
    leverage = np.minimum((left**2).sum(axis=1) / weights.copies, 1.0)
    has_scale = found.family in ("gaussian", GAMMA) or fit.is_quasi
    scale = float(fit.result.scale) if has_scale else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        residual = np.asarray(family.resid_dev(data.y, mean, precision))
        pearson = (data.y - mean) * np.sqrt(precision / family.variance(mean))
        standardised = residual / np.sqrt(scale * (1 - leverage))
        cook = (pearson / (1 - leverage)) ** 2 * leverage / (scale * matrix.shape[1])
    spread = scale / (np.ones(len(matrix)) if weights.is_sample else precision)  # of a row
    with np.errstate(divide="ignore", invalid="ignore"):
        quantile = (data.y - mean) / np.sqrt(spread * (1 - leverage))
    if found.family == GAMMA:
        share = scipy.stats.gamma.cdf(data.y, 1 / spread, scale=mean * spread)
        quantile = _drawn(share, share, seed)
    elif found.family != "gaussian":
        law = _law(found, mean)
        quantile = _drawn(law.cdf(data.y - 1), law.cdf(data.y), seed)
    return RowDiagnostics(eta, residual, standardised, quantile, leverage, cook)


_DEPENDENT = 1e-12
"""Singular values below this share of the largest are rounding."""


def _law(found: FittedTerms, mean: FloatArray) -> Any:
    """The distribution of classes or counts with these means."""
    if found.family in ("binomial", FIRTH):
        return scipy.stats.bernoulli(mean)
    fit = found.fit
    if fit.is_quasi and fit.dispersion is not None:
        return scipy.stats.nbinom(mean / (fit.dispersion - 1), 1 / fit.dispersion)
    if found.family == NEGATIVE_BINOMIAL:
        return scipy.stats.nbinom(1 / fit.result.alpha, 1 / (1 + fit.result.alpha * mean))
    return scipy.stats.poisson(mean)


def _drawn(low: FloatArray, high: FloatArray, seed: int) -> FloatArray:
    """Normal quantiles of numbers drawn between two shares."""
    random = np.random.default_rng(stream_seed(seed, "residuals")).uniform(size=len(low))
    return np.asarray(scipy.stats.norm.ppf(np.clip(low + (high - low) * random, 1e-15, 1 - 1e-15)))


def _of_times(found: FittedTerms, matrix: FloatArray, seed: int) -> RowDiagnostics:
    rows, x, eta = _risk_rows(found, matrix)
    event = found.data.y[:, EVENT]
    martingale = rows.negative_gradient(eta)
    deviance = -2 * (martingale + scipy.special.xlogy(event, event - martingale))
    residual = np.sign(martingale) * np.sqrt(np.maximum(deviance, 0.0))
    own = 1.0 if found.data.row_weights.are_copies else rows.weight[:, np.newaxis]
    score = own * rows.score_residuals(eta, x)
    inverse = found.fit.result.normalized_cov_params
    cook = np.einsum("ij,jk,ik->i", score, inverse, score) / x.shape[1]
    before = -np.expm1(martingale - event)  # 1 - exp(-expected events)
    quantile = _drawn(before, np.where(event > 0, before, 1.0), seed)
    return RowDiagnostics(eta, residual, residual, quantile, np.full(len(eta), np.nan), cook)


def _risk_rows(found: FittedTerms, matrix: FloatArray) -> tuple[CoxRows, FloatArray, FloatArray]:
    """Risk sets, centred columns and linear predictors of a Cox model."""
    data, weight = found.data, found.data.row_weights.relative
    x = matrix - np.average(matrix, axis=0, weights=weight)
    return CoxRows(data.y, weight), x, x @ found.fit.estimate + data.base


def variance_inflation(found: FittedTerms) -> pd.DataFrame:
    """One row per term: ``term``, ``df``, ``gvif`` (Fox and Monette 1992, R's ``car::vif``) and
    ``inflation``, its root of order ``2 df``."""
    fit, data = found.fit, found.data
    if found.family == "multinomial":  # several coefficients of each column
        free = data.is_free
        names = np.array(data.term_of, dtype=object)[free]
        x = data.matrix.to_numpy(dtype=np.float64)[:, free]
        here = np.isin(names, found.terms)
        x = x[:, here] / x[:, here].std(axis=0)
        spread = np.cov(x.T, aweights=data.row_weights.values)
        covariance = np.linalg.pinv(np.atleast_2d(spread))
    else:
        names = np.array(fit.terms, dtype=object)
        here = np.isin(names, found.terms)
        covariance = np.asarray(fit.result.normalized_cov_params)[np.ix_(here, here)]
    names = names[here]
    error = np.sqrt(np.diag(covariance))
    rows = []
    for term in found.terms:
        own = names == term
        if not own.any():  # a linear combination of the others
            rows.append((term, 0, np.nan, np.nan))
            continue
        size = [
            np.linalg.slogdet((covariance / np.outer(error, error))[np.ix_(part, part)])[1]
            for part in (own, ~own, own | True)
        ]
        gvif = float(np.exp(size[0] + size[1] - size[2]))
        rows.append((term, int(own.sum()), gvif, gvif ** (0.5 / own.sum())))
    return pd.DataFrame(rows, columns=["term", "df", "gvif", "inflation"])


def hazard_tests(found: FittedTerms) -> pd.DataFrame:
    """Score tests of proportional hazards by Kaplan and Meier's estimate (Grambsch and Therneau
    1994; R's ``cox.zph``), one row per term and one for all together; with clusters or sampling
    weights the variance of the scores is robust, as that of the coefficients."""
    data = found.data
    matrix = data.matrix.to_numpy(dtype=np.float64)[:, data.is_free]
    rows, x, eta = _risk_rows(found, matrix)
    x, copies = x / x.std(axis=0), data.row_weights.copies
    curve, event = kaplan_meier(data.y, copies), data.y[:, EVENT] > 0
    start = np.append(1.0, curve.survival)

    def until(time: FloatArray) -> FloatArray:
        return 1 - start[np.searchsorted(curve.time, time, side="left")]

    mean = np.average(until(data.y[event, STOP]), weights=copies[event])
    once = rows.timed(lambda time: until(time) - mean)
    twice = rows.timed(lambda time: (until(time) - mean) ** 2)
    weighted = rows.weight[:, np.newaxis] * x
    still, cross, moved = (
        weighted.T @ part.curvature_times(eta, x) for part in (rows, once, twice)
    )
    score = weighted.T @ once.negative_gradient(eta)
    share = np.linalg.solve(still, cross)
    left = moved - cross.T @ share
    if (groups := data.row_weights.error_groups) is not None:
        plain = rows.score_residuals(eta, x)
        factor = (until(data.y[:, STOP]) - mean)[:, np.newaxis]
        at_event = plain + rows.curvature_times(eta, x)  # what rows add at their events
        each = factor * at_event - once.curvature_times(eta, x) - plain @ share
        left = robust(np.eye(len(share)), rows.weight[:, np.newaxis] * each, groups)
    table, names = [], np.array(found.fit.terms, dtype=object)
    for term in (*found.terms, ALL):
        own = np.flatnonzero((names == term) | (term == ALL))
        if not len(own):
            table.append((term, 0, np.nan, np.nan))
            continue
        part = left[np.ix_(own, own)]
        statistic = float(score[own] @ np.linalg.pinv(part, hermitian=True) @ score[own])
        df = int(np.linalg.matrix_rank(part, hermitian=True))
        table.append((term, df, statistic, float(scipy.stats.chi2.sf(statistic, max(df, 1)))))
    return pd.DataFrame(table, columns=["term", "df", "statistic", "p_value"])


_MOST_PAIRED = 10
"""Terms whose pairs are tested."""


def interaction_tests(found: FittedTerms) -> pd.DataFrame:
    """Tests of the product of each two terms, added to the model alone, as :func:`drop_tests` of
    the model with it; ``p_adjusted`` for the number of pairs (Holm 1979). Pairs that can't be
    fitted are left out."""
    own, rows = found.factors_of, []
    plain = [t for t in found.terms if len(own[t]) == 1][:_MOST_PAIRED]
    taken = {own[t] for t in found.terms}
    for pair in itertools.combinations(plain, 2):
        if own[pair[0]] | own[pair[1]] in taken:
            continue
        try:
            rows.append(added_test(found, *pair) | dict(zip(("term", "other"), pair, strict=True)))
        except (DataError, np.linalg.LinAlgError):
            continue
    columns = ["term", "other", "df", "statistic", "p_value"]
    table = pd.DataFrame(rows, columns=columns).dropna()
    table = table.sort_values("p_value", kind="stable", ignore_index=True)
    holm = table["p_value"] * np.arange(len(table), 0, -1)
    return table.assign(p_adjusted=holm.cummax().clip(upper=1.0))


ALL = "(all)"
"""The row of all terms together."""


def fitted_means(fit: LinearFit, matrix: FloatArray, offset: Any) -> FloatArray:
    """Predictions of rows on the scale of the response, of times the risk relative to the mean."""
    rule = rule_of(fit, matrix.mean(axis=0) * (fit.family == "cox"))
    return rule.predict(matrix, offset, on_link=False, level=0.95).fit
