"""Two fits on the same rows, by the same folds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import TimeSeriesSplit

import treeselect
from treeselect.errors import DataError, OptionError
from treeselect.resampling.cross_validation import paired_difference


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    frame["site"] = np.repeat(list("uvwxyzst"), 10)
    return frame.assign(y=2 * frame["a"] + rng.normal(size=80), w=np.tile([1, 2], 40))


@pytest.fixture(scope="module")
def fits(data):
    one = treeselect.select("y ~ a + b + c", data, method="mrmr", k=1, seed=2)
    return one, one.update("~ . - a", labels={"b": "Body mass"})


def test_it_is_the_difference_of_their_performance(fits):
    found = treeselect.compare(fits, folds=3, seed=7)
    one, two = (fit.performance(3, seed=7) for fit in fits)
    np.testing.assert_array_equal(found.scores, [one.scores, two.scores])
    expected = paired_difference(two.scores - one.scores, (one.n_test / one.n_train).mean())
    assert found.difference == expected
    assert found.difference.mean < 0
    row = found.glance().iloc[0]
    assert (row["difference"], row["p_value"]) == (expected.mean, expected.p_value)
    table = found.tidy()
    np.testing.assert_array_equal(table["difference"], table["score_2"] - table["score_1"])
    held_out = [np.sort(part.predictions()["row"]) for part in (one, two)]
    np.testing.assert_array_equal(*held_out)
    text = str(found.summary(digits=2))
    for part in ("Only in model 1: a", "Body mass", "model 2 minus model 1", "Nadeau"):
        assert part in text
    assert len(repr(found).splitlines()) == 1


def test_the_order_turns_the_sign_and_a_fit_equals_itself(fits):
    forth = treeselect.compare(fits, folds=3, seed=7).difference
    back = treeselect.compare(fits[::-1], folds=3, seed=7).difference
    assert back.mean == pytest.approx(-forth.mean)
    itself = treeselect.compare([fits[0], fits[0]], folds=2).difference
    assert (itself.mean, itself.p_value) == (0, 1)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"formula": "log(. + 20) ~ ."}, "same response"),
        ({"weights": "w", "weights_kind": "precision"}, "different case weights"),
        ({"offset": "w"}, "different offset"),
        ({"fold_groups": "site"}, "different clusters"),
    ],
)
def test_other_rows_are_refused(changes, found, fits):
    other = fits[0].update(**changes)
    with pytest.raises(DataError, match=found):
        treeselect.compare([fits[0], other], folds=2)


def test_what_is_refused(data, fits):
    with pytest.raises(DataError, match="different rows"):
        treeselect.compare([fits[0], fits[0].update(data=data.head(60))])
    with pytest.raises(DataError, match="different values"):
        treeselect.compare([fits[0], fits[0].update(data=data.iloc[::-1])])
    for given in ([fits[0], "other"], [fits[0]], [*fits, fits[0]]):
        with pytest.raises(OptionError, match="a list of two results"):
            treeselect.compare(given)
    for name, value in {"k": 2, "data": data, "family": "gaussian", "na": -9}.items():
        with pytest.raises(OptionError, match=f"`{name}` must be left out"):
            treeselect.compare(fits, **{name: value})
    with pytest.raises(OptionError, match="no argument `fold`"):
        treeselect.compare(fits, fold=3)
    with pytest.raises(OptionError, match="`methods` must be"):
        treeselect.compare("y ~ .", data)
    other = fits[0].update(scoring="neg_mean_squared_error")
    with pytest.raises(OptionError, match="`scoring` must be given"):
        treeselect.compare([fits[0], other])


def test_growing_training_sets_have_one_ratio_of_held_out_rows_everywhere(fits, data):
    folds = TimeSeriesSplit(4)
    one = fits[0].performance(folds)
    ratio = (one.n_test / one.n_train).mean()
    assert ratio > 1.2 * one.n_test.sum() / one.n_train.sum()
    found = treeselect.compare(fits, folds=folds)
    assert found.difference == paired_difference(found.scores[1] - found.scores[0], ratio)
    compared = treeselect.compare(
        "y ~ a + b + c", data, ["mrmr", "importance"], k=[1, 3], folds=folds, seed=1
    )
    first, second = (run.scores[:, -1] for run in compared.runs)
    expected = paired_difference(first - second, ratio).p_value
    rows = compared.differences(reference="importance", k=3)
    assert rows["p_value"].iloc[0] == pytest.approx(expected)
