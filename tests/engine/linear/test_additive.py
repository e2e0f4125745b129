"""Additive models and ridge regressions against fits that are done again without each row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.designs.families import BINOMIAL, COX, GAUSSIAN, POISSON, multinomial
from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.linear.additive import AdditiveColumns, basis_of, fit_additive
from treeselect.engine.linear.additive_search import folds_of_clusters, ridge_outside, rises_without
from treeselect.engine.survival.times import as_times


def data_of(seed, n=60, *, missing=True):
    """A number, a factor and a number with few values, and the numbers themselves."""
    rng = np.random.default_rng(seed)
    x, few = rng.standard_normal(n), rng.integers(1, 4, n)
    known = x.copy()
    if missing:
        known[:3] = np.nan
    factor = rng.integers(0, 4, n)
    columns = [known, (factor + 1).astype(np.uint8), few.astype(np.float64)]
    edges = [bin_edges(known), None, bin_edges(columns[2])]
    return bin_columns(columns, edges, [0, 4, 0], np.arange(3)), x


def without_row(x, penalty, truth, weight, row, ridge):
    """Prediction of a weighted ridge regression for a row of which one copy is left out."""
    weight = weight.copy()
    weight[row] -= 1
    rows = np.vstack([np.ones(x.shape[1]), x])
    gram = (rows * weight) @ rows.T + ridge * np.diag([0.0, *penalty])
    return rows[:, row] @ np.linalg.solve(gram, (rows * weight) @ truth)


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=20)
def test_ridge_predicts_rows_without_them(seed, copies):
    data, x = data_of(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, len(x)) if copies else np.ones(len(x), dtype=np.int64)
    truth = np.column_stack([x + rng.standard_normal(len(x)), rng.standard_normal(len(x))])
    columns = AdditiveColumns(data, weight)
    found = ridge_outside(columns, [0, 1], truth)
    values, penalty, _ = columns.groups([0, 1])
    candidates = [
        np.array([
            without_row(values, penalty, truth, weight.astype(float), row, ridge)
            for row in range(len(x))
        ])
        for ridge in (1.0, 10.0, 100.0, 1000.0)
    ]  # fmt: skip
    # The constant is that of all rows, so that predictions differ a little.
    assert min(np.abs(found - other).max() for other in candidates) < 0.05 * np.ptp(truth)


def test_ridge_without_terms_is_the_mean_of_the_others():
    data, x = data_of(3)
    columns = AdditiveColumns(data, np.ones(len(x), dtype=np.int64))
    truth = x[:, np.newaxis]
    mean = (x.sum() - x) / (len(x) - 1)
    assert ridge_outside(columns, [], truth)[:, 0] == pytest.approx(mean)


def test_folds_of_clusters_are_left_out_whole():
    data, x = data_of(4)
    clusters = np.arange(len(x)) % 7
    folds = folds_of_clusters(clusters)
    assert len(np.unique(folds)) == 7
    assert (np.unique(folds, return_counts=True)[1] <= 9).all()
    columns = AdditiveColumns(data, np.ones(len(x), dtype=np.int64))
    truth = np.column_stack([x, x])
    changed = truth.copy()
    changed[clusters == 2] += 1.0  # the same ridge: a change of level has no other effect there
    first = ridge_outside(columns, [], truth, folds)
    second = ridge_outside(columns, [], changed, folds)
    own = clusters == 2
    assert second[own] == pytest.approx(first[own])
    assert (second[~own] > first[~own]).all()


def test_basis_functions_have_mean_zero_and_hinges_no_slope():
    data, x = data_of(5)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(x))
    for group in range(3):
        basis = basis_of(data, group, weight)
        values = basis.of(data)
        assert values @ weight == pytest.approx(np.zeros(len(values)), abs=1e-8)
    values, penalty = basis_of(data, 0, weight).of(data), basis_of(data, 0, weight).penalty
    hinges = values[penalty == 1]
    assert len(hinges) == 5
    assert (hinges * weight) @ values[0] == pytest.approx(np.zeros(5), abs=1e-8)


def test_rise_without_a_group_is_that_of_the_penalised_squares():
    data, x = data_of(6)
    columns = AdditiveColumns(data, np.ones(len(x), dtype=np.int64))
    truth = (x + 0.3 * np.random.default_rng(1).standard_normal(len(x)))[:, np.newaxis]
    above = truth - truth.mean()
    values, penalty, _ = columns.groups([0, 1])

    def squares(kept, ridge):
        own, least = values[kept], penalty[kept]
        coef = np.linalg.solve(own @ own.T + ridge * np.diag(least), own @ above)
        return ((above - own.T @ coef) ** 2).sum() + ridge * (least @ coef**2).sum()

    n_first = len(columns.group(0)[0])
    every = np.arange(len(values))
    rises = rises_without(columns, [0, 1], truth)
    expected = [
        [
            squares(every[n_first:], r) - squares(every, r),
            squares(every[:n_first], r) - squares(every, r),
        ]
        for r in (1.0, 10.0, 100.0, 1000.0)
    ]
    assert any(rises == pytest.approx(e, rel=1e-6) for e in expected)


def response(family, x, rng):
    n = len(x)
    if family.has_times:
        return as_times(rng.exponential(np.exp(-x)) + 0.01, rng.random(n) < 0.8)
    if family.n_classes > 2:
        return (rng.random(n) * 3 * (1 + (x > 0)) / 2).astype(int).astype(float)
    if family.n_classes == 2:
        return (rng.random(n) < 1 / (1 + np.exp(-x))).astype(float)
    return rng.poisson(np.exp(x / 2)).astype(float) if family is POISSON else x + rng.random(n)


@pytest.mark.parametrize(
    "family", [GAUSSIAN, BINOMIAL, POISSON, COX, multinomial(3)], ids=lambda f: f.name
)
def test_fit_has_no_slope_left(family):
    data, x = data_of(7, 150)
    rng = np.random.default_rng(2)
    y, weight = response(family, x, rng), np.ones(len(x), dtype=np.int64)
    loss = family.loss.of(y, weight)
    base = np.atleast_1d(family.loss.constant(y, weight)) * np.ones((len(x), 1))
    columns = AdditiveColumns(data, weight)
    fit = fit_additive(
        columns, [0, 1], loss, base, has_constant=family.loss.has_constant, ridges=[3.0]
    )
    values, penalty, _ = columns.groups([0, 1])
    flat = fit.eta if fit.eta.shape[1] > 1 else fit.eta[:, 0]
    slope = values @ loss.negative_gradient(flat).reshape(fit.eta.shape)
    assert slope == pytest.approx(3 * penalty[:, np.newaxis] * fit.coef, abs=0.05)
    assert fit.eta == pytest.approx(base + fit.constant + values.T @ fit.coef)


@pytest.mark.parametrize("family", [GAUSSIAN, BINOMIAL, POISSON], ids=lambda f: f.name)
def test_approximate_predictions_are_near_those_of_fits_without_the_row(family):
    data, x = data_of(8, 100, missing=False)
    rng = np.random.default_rng(3)
    y, weight = response(family, x, rng), np.ones(len(x), dtype=np.int64)
    base = np.full((len(x), 1), family.loss.constant(y, weight))
    columns = AdditiveColumns(data, weight)
    fit = fit_additive(columns, [0, 2], family.loss.of(y, weight), base, ridges=[5.0])
    for row in range(0, len(x), 9):
        others = weight.astype(float)
        others[row] = 1e-9
        again = AdditiveColumns(data, weight)
        again.groups([0, 2])  # the same functions
        again.weight = others
        own = fit_additive(again, [0, 2], family.loss.of(y, weight), base, ridges=[5.0])
        assert fit.outside[row] == pytest.approx(
            own.eta[row], abs=0.02 + 0.1 * abs(own.eta[row, 0] - fit.eta[row, 0])
        )


def test_what_must_not_fall_stays_level():
    data, x = data_of(9)
    data = data._replace(monotone=np.array([1, 0, 0], dtype=np.int8))
    weight = np.ones(len(x), dtype=np.int64)
    columns = AdditiveColumns(data, weight)
    base = np.zeros((len(x), 1))
    fit = fit_additive(columns, [0], GAUSSIAN.loss.of(-x, weight), base)
    assert fit.coef[0, 0] == 0
    fit = fit_additive(columns, [0], GAUSSIAN.loss.of(x, weight), base)
    assert fit.coef[0, 0] > 0
    rising = ridge_outside(columns, [0], x[:, np.newaxis])[:, 0]
    level = ridge_outside(columns, [0], -x[:, np.newaxis])[:, 0]
    known = data.column(0) > 0
    assert np.corrcoef(rising[known], x[known])[0, 1] > 0.9
    assert np.ptp(level[known]) < 0.1 * np.ptp(rising[known])
