"""Brier scores from their definition."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import assume, given

from treeselect.engine.survival.curves import brier_scores, censoring_curve, integrated_brier_score
from treeselect.engine.survival.times import EVENT, START, STOP, as_times
from treeselect.errors import DataError

TIMES = np.array([0.5, 2.0, 3.0, 6.5])


@given(SEEDS)
def test_scores_are_those_of_the_definition(seed):
    y, weight, _ = survival_rows(seed, late=False)
    assume(weight.sum() > 0)
    survival = np.random.default_rng(seed).random((len(y), len(TIMES)))
    seen = censoring_curve(y, weight)
    naive = np.zeros(len(TIMES))
    for k, t in enumerate(TIMES):
        for i, row in enumerate(y):
            case = row[STOP] <= t and row[EVENT] > 0
            at = float(seen.at(np.array([row[STOP] if case else t]))[0])
            if (case or row[STOP] > t) and at > 0:
                naive[k] += weight[i] * ((0.0 if case else 1.0) - survival[i, k]) ** 2 / at
    found = brier_scores(y, survival, TIMES, weight)
    np.testing.assert_allclose(found, naive / weight.sum(), atol=1e-12)


def test_without_censoring_it_is_the_mean_square():
    y = as_times([1.0, 2.0, 4.0, 8.0], np.ones(4))
    survival = np.full((4, 4), 0.5)
    found = brier_scores(y, survival, TIMES, np.ones(4))
    assert found.tolist() == [0.25] * 4
    assert integrated_brier_score(found, TIMES) == 0.25


def test_rows_that_entered_late_have_no_score():
    y = as_times([1.0, 2.0], [1, 1], [-1.0, 0.5])
    with pytest.raises(DataError, match="with delayed entry"):
        brier_scores(y, np.ones((2, 4)), TIMES, np.ones(2))
    assert y[1, START] == 0.5
    assert np.isfinite(brier_scores(y, np.ones((2, 4)), TIMES, np.array([1.0, 0.0]))).all()
