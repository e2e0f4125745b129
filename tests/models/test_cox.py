"""Cox's model: R's coxph(), statsmodels' PHReg, likelihoods without a maximum, aliased columns."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from coxph_models import COEFFICIENTS, HAZARDS, every_model, needs_sets, rows_of
from drawn_times import SEEDS, survival_rows
from hypothesis import given
from naive_survival import score_residuals
from statsmodels.duration.hazard_regression import PHReg

from treeselect.designs.weights import RowWeights, row_weights
from treeselect.engine.survival.cox import CoxRows
from treeselect.engine.survival.curves import efron
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM, as_times
from treeselect.errors import DataError
from treeselect.models.linear.coefficients import wald_test
from treeselect.models.linear.data import LinearData
from treeselect.models.linear.fit import fit_linear


def linear(matrix, y, weight=None, groups=None, offset=None):
    matrix = pd.DataFrame(matrix)
    matrix.columns = [str(name) for name in matrix]
    weights = row_weights(np.ones(len(y), dtype=np.int64) if weight is None else weight, groups)
    rows = np.arange(len(y))
    return LinearData(matrix, tuple(matrix.columns), y, weights, offset, 0, rows)


def drawn(n=80, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = as_times(np.ceil(9 * rng.exponential(np.exp(-x[:, 0]))), rng.random(n) < 0.6)
    return x, y


def fitted(data):
    return fit_linear(data, "cox", "t", ())


@needs_sets
@every_model
def test_coefficients_errors_and_hazards_are_those_of_r(fit):
    x, y, weight, offset, cluster = rows_of(fit)
    found = COEFFICIENTS[COEFFICIENTS["model"] == fit.model]
    data = linear(x, y, weight.astype(np.int64), offset=offset)
    assert data.is_free.all()
    own = fitted(data)
    assert own.problems == ()
    errors = np.sqrt(np.diag(own.covariance))
    np.testing.assert_allclose(own.estimate / errors, found["estimate"] / errors, atol=1e-6)
    np.testing.assert_allclose(errors, found["std_error"], rtol=1e-6)
    assert own.result.llf == pytest.approx(fit.loglik, rel=1e-9)
    assert own.result.llnull == pytest.approx(fit.loglik_null, rel=1e-9)
    assert (y[:, EVENT] > 0).sum() == fit.events
    hazards = HAZARDS[HAZARDS["model"] == fit.model]
    stratum = pd.factorize(hazards["stratum"], sort=True)[0]
    baseline = efron(y, offset + x.to_numpy() @ found["estimate"].to_numpy(), weight)
    hazard = baseline.cumulative_hazard(hazards["time"].to_numpy(), stratum)
    np.testing.assert_allclose(hazard, hazards["efron"], rtol=1e-8)
    groups = pd.factorize(cluster)[0]
    if (n_groups := len(np.unique(groups))) > x.shape[1]:
        robust = fitted(linear(x, y, weight.astype(np.int64), groups, offset))
        # coxph() leaves out the factor of Stata.
        by_r = found["robust_error"] * np.sqrt(n_groups / (n_groups - 1))
        np.testing.assert_allclose(np.sqrt(np.diag(robust.covariance)), by_r, rtol=1e-6)
        assert robust.df == n_groups - 1


@given(SEEDS)
def test_score_residuals_are_those_of_the_naive_twin(seed):
    y, weight, eta = survival_rows(seed)
    columns = np.random.default_rng(seed).normal(size=(len(y), 2))
    rows = CoxRows(y, weight)
    found = rows.score_residuals(eta, columns)
    used = weight > 0
    twin = score_residuals(y, weight, eta, columns)
    np.testing.assert_allclose(found[used], twin[used], atol=1e-8)
    total = columns.T @ (weight * rows.negative_gradient(eta))
    np.testing.assert_allclose(weight @ found, total, atol=1e-7)


@pytest.mark.parametrize("late", [False, True])
def test_statsmodels_has_the_same_coefficients(late):
    x, y = drawn()
    rng = np.random.default_rng(1)
    start = np.where(rng.random(80) < 0.7, np.floor(rng.random(80) * y[:, 1]), -1.0)
    y = as_times(y[:, 1], y[:, 2], start if late else None, np.arange(80) % 2)
    offset = rng.normal(size=80) / 4
    own = fitted(linear(x, y, offset=offset))
    # In statsmodels, rows are at risk when they enter; here, after that.
    entry = np.nextafter(np.maximum(y[:, START], 0), np.inf) if late else None
    result = PHReg(
        y[:, STOP], x, y[:, EVENT], entry, y[:, STRATUM].astype(int), offset, ties="efron"
    ).fit()
    np.testing.assert_allclose(result.params, own.estimate, atol=1e-8)
    np.testing.assert_allclose(result.bse, np.sqrt(np.diag(own.covariance)), rtol=1e-8)
    assert result.llf == pytest.approx(own.result.llf)


def test_what_goes_to_infinity_and_what_takes_no_coefficient():
    x, y = drawn()
    ordered = x.copy()
    ordered[:, 0] = -y[:, 1] + 0.01 * x[:, 1]
    assert "coefficient" in fitted(linear(ordered, y)).problems[0]
    x[:, 1] = np.arange(80) < 10
    y[:10, EVENT] = 0
    said = "it keeps increasing as the coefficient of `1` diverges."
    problems = fitted(linear(x, y)).problems
    assert problems == (f"The partial likelihood has no maximum: {said}",)
    x, y = drawn()
    y[:, 3] = np.arange(80) % 2
    y[0] = [-1, 0.5, 0, 0]  # at risk at no event
    first = (np.arange(80) == 0).astype(float)
    matrix = np.column_stack([np.ones(80), x[:, 0], y[:, 3] + 1e6, x[:, 0] + y[:, 3], first])
    assert linear(matrix, y).is_free.tolist() == [False, True, False, False, False]
    y = as_times([1.0, 1.0, 3.0, 3.0], [1, 0, 1, 0], [-1.0, -1.0, 2.0, 2.0])
    data = linear({"a": [0.0, 1.0, 0.0, 1.0], "b": [0.0, 1.0, 1.0, 2.0]}, y)
    assert data.is_free.all()
    with pytest.raises(DataError, match="At the event times"):
        fitted(data)
    x, y = drawn()
    y[:, EVENT] = 0
    with pytest.raises(DataError, match="needs events"):
        fitted(linear(x, y))


def test_groups_of_one_row_and_weights_are_told_from_copies():
    x, y = drawn()
    plain, robust = fitted(linear(x, y)), fitted(linear(x, y, groups=np.arange(80)))
    assert plain.df is None
    assert robust.df == 79
    assert wald_test(plain, np.array(plain.terms) == "0")[1] < 0.01
    assert robust.n_groups == 80
    np.testing.assert_array_equal(plain.estimate, robust.estimate)
    # As in R: an event of weight 2 does not tie with itself.
    x, y = drawn()
    y[:, 1] = np.arange(80)[::-1] + 1.0
    whole = RowWeights(np.full(80, 2), are_copies=True)
    doubled = fitted(dataclasses.replace(linear(x, y), row_weights=whole))
    plain = fitted(linear(x, y))
    np.testing.assert_allclose(doubled.estimate, plain.estimate, rtol=1e-8)
    np.testing.assert_allclose(2 * doubled.covariance, plain.covariance, rtol=1e-8)
    assert doubled.n_events == 2 * plain.n_events
