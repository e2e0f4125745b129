"""Survival curves, Brier scores, what is explained, and concordance."""

import naive_survival
import numpy as np
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import assume, given
from naive_survival import baseline_hazard, product_limit

from treeselect.engine.survival import curves
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM, as_times
from treeselect.errors import DataError


@given(SEEDS)
def test_kaplan_and_meier_is_its_naive_twin(seed):
    y, weight, _ = survival_rows(seed)
    curve, naive = curves.kaplan_meier(y, weight), product_limit(y, weight)
    assert curve.time.tolist() == list(naive)
    np.testing.assert_allclose(curve.survival, list(naive.values()), atol=1e-10)
    known = ~np.isnan(curve.lower)
    assert (curve.lower[known] <= curve.survival[known]).all()
    assert (curve.survival[known] <= curve.upper[known]).all()
    assert curve.events.sum() + curve.censored.sum() == pytest.approx(weight.sum())


@given(SEEDS)
def test_censoring_is_an_event_that_comes_a_little_later(seed):
    """Half a unit, which is less than times are apart; who enters then does so after that."""
    y, weight, _ = survival_rows(seed)
    other = y.copy()
    other[:, STOP] += 0.5 * (y[:, EVENT] == 0)
    other[:, START] += 0.5 * (y[:, START] >= 0)
    other[:, EVENT] = 1 - y[:, EVENT]
    later, curve = curves.kaplan_meier(other, weight), curves.censoring_curve(y, weight)
    np.testing.assert_allclose(curve.survival, later.at(curve.time + 0.5), atol=1e-10)
    np.testing.assert_allclose(curve.at_risk >= curve.censored - 1e-12, True)


@given(SEEDS)
def test_who_is_last_ends_the_curve(seed):
    """Also if the weights of the last ones, summed in other orders, differ in their last bits."""
    rng = np.random.default_rng(seed)
    y = as_times(rng.integers(1, 4, 9).astype(float), np.ones(9))
    curve = curves.kaplan_meier(y, rng.random(9) / 7)
    assert curve.survival[-1] == 0
    assert np.isnan(curve.standard_error[-1])
    assert np.isnan([curve.lower[-1], curve.upper[-1]]).all()


def test_a_curve_by_hand():
    curve = curves.kaplan_meier(as_times([1.0, 2.0, 2.0, 4.0], [1, 1, 0, 0]), np.ones(4))
    assert curve.at_risk.tolist() == [4, 3, 1]
    assert curve.survival.tolist() == [0.75, 0.5, 0.5]
    assert curve.at(np.array([0.0, 1.0, 1.5, 9.0])).tolist() == [1, 0.75, 0.75, 0.5]
    assert curve.median == 2.0
    assert curve.quantile(0.25) == 1.0
    assert np.isnan(curve.quantile(0.6))
    follow_up = curves.censoring_curve(as_times([1.0, 2.0, 2.0, 4.0], [1, 1, 0, 0]), np.ones(4))
    assert follow_up.survival.tolist() == [1.0, 0.5, 0.0]
    assert follow_up.median == 2.0


@given(SEEDS)
def test_the_baseline_is_its_naive_twin(seed):
    y, weight, eta = survival_rows(seed)
    baseline = curves.breslow(y, eta, weight)
    times = np.array([0.5, 1.0, 3.0, 4.5, 9.0])
    strata = np.arange(len(baseline.begin) - 1)
    found = baseline.cumulative_hazard(times, strata[:, np.newaxis])
    naive = [[baseline_hazard(y, eta, weight, t, s, False) for t in times] for s in strata]
    np.testing.assert_allclose(found, naive, rtol=1e-10, atol=1e-12)
    moved = baseline.survival(times, strata[:, np.newaxis], 0.7)
    np.testing.assert_allclose(moved, np.exp(-np.exp(0.7) * np.array(naive)), atol=1e-12)
    for s in strata:
        ends = y[(y[:, STRATUM] == s) & (weight > 0), STOP]
        assert baseline.until[s] == ends.max() if len(ends) else np.isnan(baseline.until[s])


@pytest.mark.parametrize("level", [-2000.0, 2000.0])
def test_the_level_of_the_linear_predictor_is_no_matter(level):
    y = as_times([1.0, 2.0, 3.0], [1, 1, 0])
    eta = np.array([0.0, 1.0, 0.5])
    one, other = (curves.breslow(y, eta + at, np.ones(3)) for at in (0.0, level))
    here = one.survival(np.array([0.0, 2.0]), np.zeros(2, dtype=int), 1.0)
    there = other.survival(np.array([0.0, 2.0]), np.zeros(2, dtype=int), 1.0 + level)
    np.testing.assert_allclose(there, here, rtol=1e-9)
    far = other.survival(np.array([0.0, 2.0]), np.zeros(2, dtype=int), 1e5 + level)
    assert far.tolist() == [1.0, 0.0]


SOME_TIMES = np.array([0.5, 2.0, 3.0, 6.5])


@given(SEEDS)
def test_scores_are_those_of_the_definition(seed):
    y, weight, _ = survival_rows(seed, late=False)
    assume(weight.sum() > 0)
    survival = np.random.default_rng(seed).random((len(y), len(SOME_TIMES)))
    seen = curves.censoring_curve(y, weight)
    naive = np.zeros(len(SOME_TIMES))
    for k, t in enumerate(SOME_TIMES):
        for i, row in enumerate(y):
            case = row[STOP] <= t and row[EVENT] > 0
            at = float(seen.at(np.array([row[STOP] if case else t]))[0])
            if (case or row[STOP] > t) and at > 0:
                naive[k] += weight[i] * ((0.0 if case else 1.0) - survival[i, k]) ** 2 / at
    found = curves.brier_scores(y, survival, SOME_TIMES, weight)
    np.testing.assert_allclose(found, naive / weight.sum(), atol=1e-12)


def test_rows_that_entered_late_have_no_score():
    y = as_times([1.0, 2.0], [1, 1], [-1.0, 0.5])
    with pytest.raises(DataError, match="with delayed entry"):
        curves.brier_scores(y, np.ones((2, 4)), SOME_TIMES, np.ones(2))
    assert y[1, START] == 0.5
    assert np.isfinite(
        curves.brier_scores(y, np.ones((2, 4)), SOME_TIMES, np.array([1.0, 0.0]))
    ).all()


@given(SEEDS)
def test_pairs_are_those_of_the_naive_twin(seed):
    y, weight, eta = survival_rows(seed)
    risk = np.round(eta, 1)
    counts = np.random.default_rng(seed).random(len(y))
    naive = naive_survival.pairs(y, risk, weight, counts)
    found = curves.concordance(y, risk, weight, counts)
    np.testing.assert_allclose(found[:3], naive, rtol=1e-10, atol=1e-10)
    if naive.sum() == 0:
        assert np.isnan(found.value)
    opposite = curves.concordance(y, -risk, weight, counts)
    np.testing.assert_allclose(opposite[:3], naive[[1, 0, 2]], rtol=1e-10, atol=1e-10)


@given(SEEDS)
def test_unos_pairs_are_weighted_by_the_chance_to_see_them(seed):
    y, weight, eta = survival_rows(seed, late=False)
    seen = curves.censoring_curve(y, weight).at(y[:, STOP])
    share = np.array([0.0 if s == 0 else s**-2 for s in seen]) * (y[:, STOP] < 6)
    found = curves.uno_concordance(y, eta, weight, tau=6.0)
    np.testing.assert_allclose(found, naive_survival.pairs(y, eta, weight, share), atol=1e-9)


def test_pairs_with_ties_and_without_any_and_another_censoring():
    """Events at one time are no pair; who is censored then is later."""
    y = as_times([1.0, 1.0, 1.0, 2.0], [1, 1, 0, 0])
    assert curves.concordance(y, np.array([2.0, 1.0, 1.0, 1.0]), np.ones(4)) == (2.0, 0.0, 2.0)
    almost = np.array([0.3, 0.1 + 0.2, 0.3, 0.3])
    assert curves.concordance(y, almost, np.ones(4)) == (0.0, 0.0, 4.0)
    y = as_times([1.0, 2.0], [1, 1])
    risk = np.array([1.0, np.nan])
    assert np.isnan(curves.concordance(y, risk, np.ones(2)).value)
    assert np.isnan(curves.concordance(y, np.ones(2), np.zeros(2)).value)
    assert np.isnan(curves.concordance(y[:1], np.ones(1), np.ones(1)).value)
    assert np.isnan(curves.brier_explained(Y, ETA, TEST, TRAIN, np.array([0.0, 0.5])))
    assert np.isnan(curves.deviance_explained(Y, ETA, np.zeros(N)))
    assert np.isnan(curves.deviance_explained(Y * [1, 1, 0, 1], ETA, TEST))
    tied = as_times([2.0, 2.0, 1.0], [1, 1, 0])
    assert np.isnan(curves.deviance_explained(tied, np.arange(3.0), np.ones(3)))
    y = as_times(np.arange(1.0, 6.0), np.ones(5))
    assert curves.deviance_explained(y, -50 * y[:, 1], np.ones(5)) == pytest.approx(1.0)
    found = curves.brier_explained(
        y, -50 * y[:, 1], np.ones(5), np.ones(5), np.array([1.0, 2.0, 3.0])
    )
    assert 0.5 < found <= 1
    y = as_times([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0])
    risk = np.array([3.0, 0.0, 1.0, 2.0])
    nobody = curves.censoring_curve(as_times([9.0], [1]), np.ones(1))
    assert curves.uno_concordance(y, risk, np.ones(4), censoring=nobody) == curves.concordance(
        y, risk, np.ones(4)
    )
    # Half of those at risk are censored at 2: the event at 3 counts four times.
    assert curves.uno_concordance(y, risk, np.ones(4)) == pytest.approx((3.0, 9 / 4, 0.0))


RNG = np.random.default_rng(3)
N = 40
ETA = RNG.normal(size=N)
Y = as_times(
    np.ceil(10 * RNG.exponential(np.exp(-ETA))), RNG.random(N) < 0.7, None, np.arange(N) % 2
)
TRAIN = (np.arange(N) < 25).astype(float)
TEST = 1 - TRAIN
TIMES = np.array([1.0, 3.0, 8.0, 9.0])


def survival(eta):
    """What is predicted for the test rows."""
    stratum = (np.arange(N) % 2)[25:, np.newaxis]
    return curves.efron(Y, eta, TRAIN).survival(TIMES, stratum, eta[25:, np.newaxis])


def test_the_ratio_of_two_scores(monkeypatch):
    censoring = curves.censoring_curve(Y[:25], np.ones(25))
    own, none = (
        curves.brier_scores(Y[25:], survival(eta), TIMES, np.ones(15), censoring=censoring)
        for eta in (ETA, 0 * ETA)
    )
    found = curves.brier_explained(Y, ETA, TEST, TRAIN, TIMES)
    whole = 1 - curves.integrated_brier_score(own, TIMES) / curves.integrated_brier_score(
        none, TIMES
    )
    assert found == pytest.approx(whole, abs=1e-12)
    alone = curves.brier_explained(Y, ETA, TEST, TRAIN, TIMES[1:2])
    assert alone == pytest.approx(1 - own[1] / none[1], abs=1e-12)
    monkeypatch.setattr("treeselect.engine.survival.curves._AT_ONCE", 1)  # time by time
    assert curves.brier_explained(Y, ETA, TEST, TRAIN, TIMES) == pytest.approx(found, abs=1e-12)
