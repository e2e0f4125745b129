"""Score and stability by the number of rows; standard errors and intervals of held-out scores."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from quick import changed
from scipy import stats

import treeselect
from treeselect.designs.families import BINOMIAL, GAUSSIAN
from treeselect.designs.weights import RowWeights
from treeselect.errors import OptionError
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.cross_validation import paired_difference, sampling_error, score_interval
from treeselect.resampling.outer_folds import LearningCurve


def curve(scores, selected, shares):
    scores = np.array(scores)
    rows = [[round(100 * share)] * scores.shape[1] for share in shares]
    return LearningCurve(
        shares=shares,
        n_train=np.array(rows),
        test_share=0.5,
        scores=scores,
        selected=np.array(selected, dtype=bool),
        assessed=np.array([True, True, False]),
        repeats=1.0,
        score_name="R2",
        scheme="2 folds",
        call="select()",
        seed=0,
    )


def test_the_table_and_its_words_by_hand():
    found = curve(
        [[0.2, 0.4], [0.5, 0.5]], [[[1, 0, 1], [0, 1, 1]], [[1, 0, 1], [1, 0, 1]]], (0.5, 1.0)
    )
    table = found.tidy()
    assert table["share"].to_list() == [0.5, 1.0]
    assert table["rows"].to_list() == [50.0, 100.0]
    np.testing.assert_allclose(table["score"], [0.3, 0.5])
    np.testing.assert_allclose(table["standard_error"], [0.1, 0.0], atol=1e-12)
    assert table["k"].to_list() == [2.0, 2.0]
    # Kept units have no say in the index.
    assert table["stability"][0] == stability_index(np.array([[1, 0], [0, 1]], dtype=bool))[0]
    assert table["stability"][1] == 1.0
    assert found.words.startswith(
        "From 50 to 100 training rows, the mean R2 on held-out rows changed by +0.200 (95% interval"
    )
    assert "from -1.00 to 1.00; larger training sets share more rows" in found.words


def test_an_index_that_stays_is_not_said_to_change():
    found = curve([[0.2, 0.4], [0.5, 0.5]], [[[1, 0, 1], [0, 1, 1]]] * 2, (0.5, 1.0))
    assert "The stability index of the selected sets stayed at -1.00; larger" in found.words


def test_one_share_is_said_without_a_difference():
    found = curve([[0.2, 0.4]], [[[1, 0, 1], [0, 1, 1]]], (0.5,))
    assert found.words == "With 50 training rows, the mean R2 on held-out rows is 0.300."


def test_one_fold_has_neither_interval_nor_index():
    found = curve([[0.2], [0.5]], [[[1, 0, 1]], [[1, 0, 1]]], (0.5, 1.0))
    assert found.tidy()["stability"].isna().all()
    assert found.words == (
        "From 50 to 100 training rows, the mean R2 on held-out rows changed by +0.300, to 0.500."
    )


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((90, 4)), columns=list("abcd"))
    frame["site"] = np.repeat(np.arange(30), 3)
    return frame.assign(y=np.where(frame["b"] + rng.standard_normal(90) > 0, "yes", "no"))


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select("y ~ a + b + c + d", data, method="mrmr", k=1, seed=1)


def test_all_rows_give_the_scores_of_the_same_folds(data, fit):
    own = np.arange(90) % 3
    found = fit.search.learning_curve([0.5, 1], own)
    assert found.n_train.tolist() == [[30] * 3, [60] * 3]
    alone = fit.search.learning_curve([1], own)
    np.testing.assert_array_equal(found.scores[1], alone.scores[0])
    again = changed(fit, n_jobs=2).search.learning_curve([0.5, 1], own)
    np.testing.assert_array_equal(again.scores, found.scores)
    turned = treeselect.select("y ~ d + c + b + a", data[data.columns[::-1]], method="mrmr", k=1,
                               seed=1)  # fmt: skip
    np.testing.assert_array_equal(turned.search.learning_curve([0.5, 1], own).scores, found.scores)


def test_groups_stay_together_in_parts(data, fit):
    found = fit.with_data(data).search.learning_curve([0.5, 1], 3, fold_groups="site")
    assert (found.n_train % 3 == 0).all()


def test_parts_are_within_larger_ones(fit):
    from treeselect.resampling.folds import Split
    from treeselect.resampling.outer_folds import _part

    split = Split(np.arange(60), np.arange(60, 90))
    here = fit.data.design
    parts = [_part(here.problem, here.row_weights, split, share, 5) for share in (0.3, 0.6, 1.0)]
    for small, large in pairwise(parts):
        assert set(small.train) < set(large.train)


@pytest.mark.parametrize(
    "shares", [[], [0.5, 0.5], [1, 0.5], [0, 1], [0.5, 1.1], "half", 0.5, [None], [np.nan], None]
)
def test_shares_must_rise(fit, shares):
    with pytest.raises(OptionError, match="`shares` must be increasing numbers"):
        fit.search.learning_curve(shares)


def test_a_part_needs_rows(fit):
    with pytest.raises(OptionError, match="`shares` must leave at least two training rows"):
        fit.search.learning_curve([0.001, 1])


def test_what_chooses_k_inside_a_part_may_have_too_few_rows(data):
    fit = treeselect.select("y ~ a + b", data, method="mrmr", k="best", folds=10, seed=1)
    with pytest.raises(OptionError, match="`inner_folds` sets how"):
        fit.search.learning_curve([0.1, 1], 3)
    assert fit.search.learning_curve([0.4], 3, inner_folds=2).scores.shape == (1, 3)


# --- standard errors of held-out scores, and what an interval of them is made of -----------------


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
