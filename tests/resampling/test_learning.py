"""Score and stability by the number of rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from quick import changed

import treeselect
from treeselect.errors import OptionError
from treeselect.resampling.agreement import stability_index
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
