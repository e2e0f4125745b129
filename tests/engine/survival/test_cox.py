"""The partial likelihood: its naive twin, statsmodels, and numbers at the edge."""

import numpy as np
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import given
from naive_survival import cox, expected_events

from treeselect.engine.survival.cox import CoxLoss, CoxRows
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM, as_times
from treeselect.errors import MethodError


@given(SEEDS)
def test_figures_are_those_of_the_naive_twin(seed):
    y, weight, eta = survival_rows(seed)
    rows, naive = CoxRows(y, weight), cox(y, weight, eta)
    near = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(weight @ rows.value(eta), naive.total, **near)
    np.testing.assert_allclose(-weight * rows.negative_gradient(eta), naive.gradient, **near)
    np.testing.assert_allclose(weight * rows.curvature(eta), np.diag(naive.hessian), **near)
    ways = np.random.default_rng(seed).normal(size=(len(y), 2))
    moved = weight[:, np.newaxis] * rows.curvature_times(eta, ways)
    np.testing.assert_allclose(moved, naive.hessian @ ways, **near)
    expected = expected_events(y, weight, eta)
    np.testing.assert_allclose(rows.expected(eta), expected, **near)
    np.testing.assert_allclose(rows.negative_gradient(eta), y[:, EVENT] - expected, **near)


@given(SEEDS)
def test_the_least_loss_is_where_each_event_was_certain(seed):
    """The sooner, the higher the risk, and hardly any for others."""
    y, weight, _ = survival_rows(seed, n=12, n_times=6)
    eta = np.where(y[:, EVENT] > 0, -40.0 * y[:, STOP], -400.0)
    rows = CoxRows(y, weight)
    assert weight @ rows.value(eta) == pytest.approx(weight @ rows.least(), abs=1e-9)


@given(SEEDS)
def test_copies_have_their_own_risk_sets(seed):
    y, weight, eta = survival_rows(seed)
    rows, three = CoxRows(y, weight), CoxRows(y, weight).repeated(3)
    etas = eta + np.arange(3)[:, np.newaxis] * np.cos(np.arange(len(y)))
    for figure in ("value", "negative_gradient", "curvature"):
        each = np.concatenate([getattr(rows, figure)(own) for own in etas])
        together = getattr(three, figure)(etas.ravel())
        np.testing.assert_allclose(together, each, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(three.least(), np.tile(rows.least(), 3))


def shuffled(late, n=200, seed=0):
    """Rows whose linear predictors lie 600 apart, and no times tie."""
    rng = np.random.default_rng(seed)
    stop = rng.permutation(n) + 1.0
    start = np.floor(rng.random(n) * stop) if late else None
    return as_times(stop, rng.random(n) < 0.7, start), rng.uniform(-300, 300, n)


@pytest.mark.parametrize("late", [False, True])
def test_no_digit_is_lost_where_risks_lie_far_apart(late):
    """Each row's sums from logarithms, row by row and time by time."""
    from scipy.special import logsumexp

    y, eta = shuffled(late)
    expected = np.zeros(len(y))
    for time in y[y[:, EVENT] > 0, STOP]:
        here = (y[:, START] < time) & (time <= y[:, STOP])
        expected[here] += np.exp(eta[here] - logsumexp(eta[here]))
    rows = CoxRows(y, np.ones(len(y)))
    np.testing.assert_allclose(rows.expected(eta), expected, rtol=1e-9, atol=1e-12)
    assert np.isfinite(rows.value(eta)).all()
    assert rows.value(eta).sum() >= 0
    gradient, curvature = rows.derivatives(eta)
    assert abs(gradient.sum()) < 1e-9
    assert np.isfinite(curvature).all()
    # The range is a relative one.
    np.testing.assert_allclose(rows.expected(eta + 1e6), rows.expected(eta), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("size", [700.0, 1e5])
def test_beyond_that_figures_are_numbers(late, size):
    y, eta = shuffled(late)
    y[:, STRATUM] = np.arange(len(y)) % 3
    rows = CoxRows(y, (np.arange(len(y)) % 4 > 0).astype(float))
    for level in (size * eta / 300, -size * eta / 300):
        for figure in (rows.value, rows.negative_gradient, rows.curvature):
            assert np.isfinite(figure(level)).all()


def test_rows_far_above_others_small_risk_sets_and_nobody_with_an_event():
    y = as_times([1.0, 2.0, 3.0, 3.0], [1, 1, 1, 0])
    rows = CoxRows(y, np.array([1.0, 1.0, 1.0, 0.0]))
    eta = np.array([0.0, 0.0, -700.0, 1e4])
    for figure in (rows.value, rows.negative_gradient, rows.curvature):
        assert np.isfinite((figure(eta) ** 2).sum())
    np.testing.assert_allclose(rows.expected(eta)[:3], [0.5, 1.5, 1.0])
    # A difference of running sums would have it at 0, or below.
    y = as_times([1.0, 2.0, 3.0, 4.0], [True] * 4, [0.0, 0.0, 2.0, 2.0])
    eta = np.array([60.0, 60.0, 0.0, 0.0])
    expected = CoxRows(y, np.ones(4)).expected(eta)
    np.testing.assert_allclose(expected, [0.5, 1.5, 0.5, 1.5], rtol=1e-12)
    y = as_times([1.0, 2.0, 3.0], [True, False, True])
    rows = CoxRows(y, np.array([0.0, 1.0, 0.0]))
    eta = np.array([0.0, 5.0, 9.0])
    assert rows.negative_gradient(eta).tolist() == [1.0, 0.0, 1.0]
    assert rows.curvature(eta).tolist() == [0.0] * 3
    assert np.isfinite(rows.value(eta)).all()
    none = CoxRows(y, np.zeros(3))
    assert none.negative_gradient(eta).tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("seed", range(3))
def test_cvxpy_is_told_the_same_loss(seed):
    import cvxpy

    y, weight, eta = survival_rows(seed, n=25)
    share = weight / weight.sum()
    told = CoxLoss().modelled(y, cvxpy.Constant(eta), share)
    assert told.is_convex()
    assert told.value == pytest.approx(share @ CoxRows(y, share).value(eta), rel=1e-9)


def test_what_cvxpy_is_told_and_the_loss_says_of_itself():
    y = np.zeros((1001, 4))
    with pytest.raises(MethodError, match="at most 1,000 rows when cvxpy fits a Cox model"):
        CoxLoss().modelled(y, None, np.ones(1001))
    loss = CoxLoss()
    y, weight, eta = survival_rows(1)
    assert (loss.is_squared, loss.needs_curvature, loss.n_outputs) == (False, True, 1)
    assert loss.constant(y, weight, eta) == 0.0
    np.testing.assert_allclose(loss.exact_step(np.array([1.0, 0.0])), [np.log(2), 0.0])
    assert loss.exact_step(np.array([-1.0, -30.0])).tolist() == [np.log1p(-0.95)] * 2
    assert isinstance(loss.of(y, weight), CoxRows)
