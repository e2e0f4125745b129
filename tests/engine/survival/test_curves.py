"""Kaplan and Meier's curves, censoring, Breslow's baseline."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import given
from naive_survival import breslow_hazard, product_limit

from treeselect.engine.survival.cox import CoxRows
from treeselect.engine.survival.curves import breslow, censoring_curve, kaplan_meier
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM, as_times


@given(SEEDS)
def test_kaplan_and_meier_is_its_naive_twin(seed):
    y, weight, _ = survival_rows(seed)
    curve, naive = kaplan_meier(y, weight), product_limit(y, weight)
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
    later, curve = kaplan_meier(other, weight), censoring_curve(y, weight)
    np.testing.assert_allclose(curve.survival, later.at(curve.time + 0.5), atol=1e-10)
    np.testing.assert_allclose(curve.at_risk >= curve.censored - 1e-12, True)


@given(SEEDS)
def test_who_is_last_ends_the_curve(seed):
    """Also if the weights of the last ones, summed in other orders, differ in their last bits."""
    rng = np.random.default_rng(seed)
    y = as_times(rng.integers(1, 4, 9).astype(float), np.ones(9))
    curve = kaplan_meier(y, rng.random(9) / 7)
    assert curve.survival[-1] == 0
    assert np.isnan(curve.standard_error[-1])
    assert np.isnan([curve.lower[-1], curve.upper[-1]]).all()


def test_a_curve_by_hand():
    curve = kaplan_meier(as_times([1.0, 2.0, 2.0, 4.0], [1, 1, 0, 0]), np.ones(4))
    assert curve.at_risk.tolist() == [4, 3, 1]
    assert curve.survival.tolist() == [0.75, 0.5, 0.5]
    assert curve.at(np.array([0.0, 1.0, 1.5, 9.0])).tolist() == [1, 0.75, 0.75, 0.5]
    assert curve.median == 2.0
    assert curve.quantile(0.25) == 1.0
    assert np.isnan(curve.quantile(0.6))
    follow_up = censoring_curve(as_times([1.0, 2.0, 2.0, 4.0], [1, 1, 0, 0]), np.ones(4))
    assert follow_up.survival.tolist() == [1.0, 0.5, 0.0]
    assert follow_up.median == 2.0


@given(SEEDS)
def test_the_baseline_is_its_naive_twin(seed):
    y, weight, eta = survival_rows(seed)
    baseline = breslow(y, eta, weight)
    times = np.array([0.5, 1.0, 3.0, 4.5, 9.0])
    strata = np.arange(len(baseline.begin) - 1)
    found = baseline.cumulative_hazard(times, strata[:, np.newaxis])
    naive = [[breslow_hazard(y, eta, weight, t, s) for t in times] for s in strata]
    np.testing.assert_allclose(found, naive, rtol=1e-10, atol=1e-12)
    moved = baseline.survival(times, strata[:, np.newaxis], 0.7)
    np.testing.assert_allclose(moved, np.exp(-np.exp(0.7) * np.array(naive)), atol=1e-12)
    for s in strata:
        ends = y[(y[:, STRATUM] == s) & (weight > 0), STOP]
        assert baseline.until[s] == ends.max() if len(ends) else np.isnan(baseline.until[s])


def test_where_no_events_tie_expected_events_are_those_of_the_baseline():
    rng = np.random.default_rng(0)
    y = as_times(rng.permutation(20) + 1.0, rng.random(20) < 0.6)
    weight, eta = rng.random(20), rng.normal(size=20)
    baseline = breslow(y, eta, weight)
    found = baseline.cumulative_hazard(y[:, STOP], y[:, STRATUM].astype(int), eta)
    np.testing.assert_allclose(found, CoxRows(y, weight).expected(eta), rtol=1e-12)


@pytest.mark.parametrize("level", [-2000.0, 2000.0])
def test_the_level_of_the_linear_predictor_is_no_matter(level):
    y = as_times([1.0, 2.0, 3.0], [1, 1, 0])
    eta = np.array([0.0, 1.0, 0.5])
    one, other = (breslow(y, eta + at, np.ones(3)) for at in (0.0, level))
    here = one.survival(np.array([0.0, 2.0]), np.zeros(2, dtype=int), 1.0)
    there = other.survival(np.array([0.0, 2.0]), np.zeros(2, dtype=int), 1.0 + level)
    np.testing.assert_allclose(there, here, rtol=1e-9)
    far = other.survival(np.array([0.0, 2.0]), np.zeros(2, dtype=int), 1e5 + level)
    assert far.tolist() == [1.0, 0.0]
