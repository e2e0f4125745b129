"""Standard errors of held-out scores against formulas, and what an interval of them is made of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from treeselect.designs.families import BINOMIAL, GAUSSIAN
from treeselect.designs.weights import RowWeights
from treeselect.resampling.cross_validation import paired_difference, sampling_error, score_interval

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


# --- paired differences ------------------------------------------------------------------------


def test_without_shared_rows_it_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(size=(2, 12))
    found = paired_difference(ours - theirs, 0.0)
    expected = stats.ttest_rel(ours, theirs)
    low, high = expected.confidence_interval(0.95)
    np.testing.assert_allclose(
        (found.mean, found.low, found.high, found.p_value),
        ((ours - theirs).mean(), low, high, expected.pvalue),
    )


def test_the_variance_grows_by_the_share_of_held_out_rows():
    differences = np.array([0.01, 0.03, 0.02, 0.06])
    # Five equal folds would have n_test / n_train = 1 / 4: (1 / 4 + 1 / 4) times the variance.
    found = paired_difference(differences, 0.25)
    error = np.sqrt(0.5 * np.sum((differences - 0.03) ** 2) / 3)
    half = stats.t.ppf(0.975, 3) * error
    np.testing.assert_allclose((found.low, found.high), (0.03 - half, 0.03 + half))
    np.testing.assert_allclose(found.p_value, 2 * stats.t.sf(0.03 / error, 3))


def test_no_differences_are_no_difference():
    found = paired_difference(np.zeros(5), 0.25)
    assert (found.mean, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("differences", [np.full(5, 0.5), np.array([0.3 - 0.2, 0.4 - 0.3, 0.1])])
def test_equal_differences_do_not_tell_how_far_chance_goes(differences):
    """One more row right in each of few folds, by accuracy, is no evidence beyond doubt."""
    found = paired_difference(differences, 0.25)
    np.testing.assert_allclose(found.mean, differences[0])
    assert np.isnan([found.low, found.high, found.p_value]).all()


def test_one_fold_has_no_interval():
    found = paired_difference(np.array([0.2]), 0.5)
    assert found.mean == 0.2
    assert np.isnan([found.low, found.high, found.p_value]).all()
