"""Standard errors of held-out scores against formulas, and what an interval of them is made of."""

from __future__ import annotations

import numpy as np
import pytest

from treeselect.designs.families import BINOMIAL, GAUSSIAN
from treeselect.designs.weights import RowWeights
from treeselect.resampling.cross_validation import sampling_error, score_interval

RNG = np.random.default_rng(8)
N = 400
Y = (RNG.random(N) < 0.3).astype(float)
P = 1 / (1 + np.exp(-(1.2 * Y + RNG.normal(size=N))))


def rows(values, groups=None, *, are_copies=True):
    return RowWeights(np.asarray(values), are_copies, groups)


def error(y, predicted, test, family=BINOMIAL):
    nothing = rows(np.zeros(len(test), dtype=np.int64))
    return sampling_error(family, y, predicted, nothing, test, seed=1)


def delong(y, predicted):
    """Standard error of the AUC (DeLong and others 1988)."""
    higher = predicted[y == 1][:, np.newaxis] > predicted[y == 0]
    placed = higher.mean(axis=1).var(ddof=1) / (y == 1).sum()
    return np.sqrt(placed + higher.mean(axis=0).var(ddof=1) / (y == 0).sum())


def test_auc_has_delongs_error():
    found = error(Y, P, rows(np.ones(N, dtype=np.int64)))
    assert found == pytest.approx(delong(Y, P), rel=0.2)
    part = np.where(np.arange(N) % 2, 1, 0)
    assert error(Y, P, rows(part)) == pytest.approx(delong(Y[part > 0], P[part > 0]), rel=0.2)


def test_r_squared_has_the_error_of_its_influence_function():
    y = RNG.normal(size=N)
    predicted = 0.5 * y + RNG.normal(size=N) / 2
    lost, whole = (y - predicted) ** 2, (y - y.mean()) ** 2
    influence = (lost - whole * lost.mean() / whole.mean()) / whole.mean()
    found = error(y, predicted, rows(np.ones(N, dtype=np.int64)), GAUSSIAN)
    assert found == pytest.approx(influence.std() / np.sqrt(N), rel=0.2)


def test_copies_are_drawn_one_by_one_and_other_weights_as_rows():
    twice = np.full(N, 2)
    copied = error(np.repeat(Y, 2), np.repeat(P, 2), rows(np.ones(2 * N, dtype=np.int64)))
    assert error(Y, P, rows(twice)) == pytest.approx(copied, rel=0.2)
    assert error(Y, P, rows(twice.astype(float), are_copies=False)) == pytest.approx(
        copied * np.sqrt(2), rel=0.2
    )


def test_clusters_are_drawn_whole():
    groups = np.arange(4 * N) // 4
    together = error(np.repeat(Y, 4), np.repeat(P, 4), rows(np.ones(4 * N, dtype=np.int64), groups))
    assert together == pytest.approx(delong(Y, P), rel=0.2)


def test_a_score_that_few_samples_have_has_no_error():
    one = np.zeros(N)
    one[0] = 1
    lonely = rows(np.where(np.arange(N) < 2, 1, 0))
    assert error(one, P, lonely) == 0  # of half of the samples: the others lack a class
    assert np.isnan(error(np.zeros(N), P, lonely))


def test_the_interval_shrinks_with_cases_and_repeats_do_not_add_rows():
    scores, errors = np.array([0.7, 0.8, 0.75, 0.72]), np.full(4, 0.06)
    low, high = score_interval(scores, errors, 1000.0, 1.0, (0.0, 1.0))
    few = score_interval(scores, errors, 20.0, 1.0, (0.0, 1.0))
    assert few[0] < low < scores.mean() < high < few[1]
    twice = score_interval(np.tile(scores, 2), np.tile(errors, 2), 1000.0, 2.0, (0.0, 1.0))
    assert twice == pytest.approx((low, high))
    assert np.isnan(score_interval(scores, np.full(4, np.nan), 1000.0, 1.0, (0.0, 1.0))).all()
    assert score_interval(np.ones(4), errors, 1000.0, 1.0, (0.0, 1.0))[1] == 1.0
