"""Shares of Brier scores and of deviance, at their limits; `tests/designs/test_time_scores.py` has
them beside scikit-survival's."""

from __future__ import annotations

import numpy as np
import pytest

from treeselect.engine.survival.curves import (
    breslow,
    brier_explained,
    brier_scores,
    censoring_curve,
    deviance_explained,
    integrated_brier_score,
)
from treeselect.engine.survival.times import as_times

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
    return breslow(Y, eta, TRAIN).survival(TIMES, stratum, eta[25:, np.newaxis])


def test_the_ratio_of_two_scores(monkeypatch):
    censoring = censoring_curve(Y[:25], np.ones(25))
    own, none = (
        brier_scores(Y[25:], survival(eta), TIMES, np.ones(15), censoring=censoring)
        for eta in (ETA, 0 * ETA)
    )
    found = brier_explained(Y, ETA, TEST, TRAIN, TIMES)
    whole = 1 - integrated_brier_score(own, TIMES) / integrated_brier_score(none, TIMES)
    assert found == pytest.approx(whole, abs=1e-12)
    alone = brier_explained(Y, ETA, TEST, TRAIN, TIMES[1:2])
    assert alone == pytest.approx(1 - own[1] / none[1], abs=1e-12)
    monkeypatch.setattr("treeselect.engine.survival.curves._AT_ONCE", 1)  # time by time
    assert brier_explained(Y, ETA, TEST, TRAIN, TIMES) == pytest.approx(found, abs=1e-12)


def test_where_nothing_can_be_told():
    assert np.isnan(brier_explained(Y, ETA, TEST, TRAIN, np.array([0.0, 0.5])))
    assert np.isnan(deviance_explained(Y, ETA, np.zeros(N)))
    assert np.isnan(deviance_explained(Y * [1, 1, 0, 1], ETA, TEST))
    tied = as_times([2.0, 2.0, 1.0], [1, 1, 0])
    assert np.isnan(deviance_explained(tied, np.arange(3.0), np.ones(3)))


def test_the_best_there_is():
    y = as_times(np.arange(1.0, 6.0), np.ones(5))
    assert deviance_explained(y, -50 * y[:, 1], np.ones(5)) == pytest.approx(1.0)
    found = brier_explained(y, -50 * y[:, 1], np.ones(5), np.ones(5), np.array([1.0, 2.0, 3.0]))
    assert 0.5 < found <= 1
