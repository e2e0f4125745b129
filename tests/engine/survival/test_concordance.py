"""Pairs: their naive twin, ties, what only rounding tells apart."""

from __future__ import annotations

import naive_survival
import numpy as np
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import given

from treeselect.engine.survival.curves import censoring_curve, concordance, uno_concordance
from treeselect.engine.survival.times import STOP, as_times


@given(SEEDS)
def test_pairs_are_those_of_the_naive_twin(seed):
    y, weight, eta = survival_rows(seed)
    risk = np.round(eta, 1)
    counts = np.random.default_rng(seed).random(len(y))
    naive = naive_survival.pairs(y, risk, weight, counts)
    found = concordance(y, risk, weight, counts)
    np.testing.assert_allclose(found[:3], naive, rtol=1e-10, atol=1e-10)
    if naive.sum() == 0:
        assert np.isnan(found.value)
    opposite = concordance(y, -risk, weight, counts)
    np.testing.assert_allclose(opposite[:3], naive[[1, 0, 2]], rtol=1e-10, atol=1e-10)


@given(SEEDS)
def test_unos_pairs_are_weighted_by_the_chance_to_see_them(seed):
    y, weight, eta = survival_rows(seed, late=False)
    seen = censoring_curve(y, weight).at(y[:, STOP])
    share = np.array([0.0 if s == 0 else s**-2 for s in seen]) * (y[:, STOP] < 6)
    found = uno_concordance(y, eta, weight, tau=6.0)
    np.testing.assert_allclose(found, naive_survival.pairs(y, eta, weight, share), atol=1e-9)


def test_a_pair_with_one_who_was_not_there_is_none():
    y = as_times([2.0, 5.0, 6.0], [1, 1, 0], [-1.0, 2.0, 1.0])
    found = concordance(y, np.array([3.0, 2.0, 1.0]), np.ones(3))
    assert found == (2.0, 0.0, 0.0)
    assert found.value == 1.0


def test_ties():
    """Events at one time are no pair; who is censored then is later."""
    y = as_times([1.0, 1.0, 1.0, 2.0], [1, 1, 0, 0])
    assert concordance(y, np.array([2.0, 1.0, 1.0, 1.0]), np.ones(4)) == (2.0, 0.0, 2.0)
    almost = np.array([0.3, 0.1 + 0.2, 0.3, 0.3])
    assert concordance(y, almost, np.ones(4)) == (0.0, 0.0, 4.0)


def test_where_there_is_no_pair():
    y = as_times([1.0, 2.0], [1, 1])
    risk = np.array([1.0, np.nan])
    assert np.isnan(concordance(y, risk, np.ones(2)).value)
    assert np.isnan(concordance(y, np.ones(2), np.zeros(2)).value)
    assert np.isnan(concordance(y[:1], np.ones(1), np.ones(1)).value)


def test_others_may_tell_the_censoring():
    y = as_times([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0])
    risk = np.array([3.0, 0.0, 1.0, 2.0])
    nobody = censoring_curve(as_times([9.0], [1]), np.ones(1))
    assert uno_concordance(y, risk, np.ones(4), censoring=nobody) == concordance(
        y, risk, np.ones(4)
    )
    # Half of those at risk are censored at 2: the event at 3 counts four times.
    assert uno_concordance(y, risk, np.ones(4)) == pytest.approx((3.0, 9 / 4, 0.0))
