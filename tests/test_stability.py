"""Resamples, frequencies, the index, and what stands in for what."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import treeselect
from treeselect.errors import OptionError, StabilityError
from treeselect.stability import Stability, resample_weights, stability_index, wilson_interval


def index_of_definition_4(z):
    """Nogueira, Sechidis and Brown (2018), Definition 4, written as it stands."""
    m, d = z.shape
    p = z.mean(axis=0)
    s2 = m / (m - 1) * p * (1 - p)
    k = z.sum(axis=1).mean()
    return 1 - s2.mean() / (k / d * (1 - k / d))


@given(arrays(bool, st.tuples(st.integers(2, 12), st.integers(2, 8))))
@settings(deadline=None, derandomize=True)
def test_index_is_definition_4(selected):
    index, (low, high) = stability_index(selected)
    if selected.all() or not selected.any():
        assert np.isnan(index)
        return
    assert index == pytest.approx(index_of_definition_4(selected))
    assert low <= index + 1e-12
    assert index - 1e-12 <= high <= 1.0


def test_index_of_equal_selections_is_one_without_spread():
    selected = np.tile([True, False, True], (5, 1))
    assert stability_index(selected) == (1.0, (1.0, 1.0))


def test_index_of_random_selections_is_about_zero():
    rng = np.random.default_rng(0)
    selected = np.array([rng.permutation(20) < 5 for _ in range(2000)])
    index, (low, high) = stability_index(selected)
    assert low < 0 < high
    assert abs(index) < 0.01


def test_interval_covers_the_index_of_many_resamples():
    """The interval is about the population value of the index: 95 % of 300 samples, s.e. 1.3 %."""
    rng = np.random.default_rng(1)
    p = np.array([0.9, 0.8, 0.5, 0.2, 0.1, 0.1])
    k = p.sum() / len(p)
    truth = 1 - (p * (1 - p)).mean() / (k * (1 - k))
    hits = 0
    for _ in range(300):
        _, (low, high) = stability_index(rng.random((100, 6)) < p)
        hits += low <= truth <= high
    assert 0.90 <= hits / 300 <= 0.99


def test_index_needs_two_resamples():
    with pytest.raises(StabilityError, match="at least two resamples"):
        stability_index(np.ones((1, 3), dtype=bool))


def test_wilson_interval_against_statsmodels():
    from statsmodels.stats.proportion import proportion_confint

    successes = np.array([0, 1, 50, 99, 100])
    low, high = wilson_interval(successes, 100)
    expected = proportion_confint(successes, 100, method="wilson")
    np.testing.assert_allclose(low, expected[0], atol=1e-12)
    np.testing.assert_allclose(high, expected[1], atol=1e-12)
    assert (low[0], high[-1]) == (0.0, 1.0)


WEIGHT = np.array([1, 0, 3, 1, 2, 1, 1, 0, 1, 1])


def test_bootstrap_draws_distinct_rows_and_takes_all_copies():
    drawn = resample_weights(WEIGHT, "bootstrap", 0, seed=1)
    assert (drawn[WEIGHT == 0] == 0).all()
    count = drawn[WEIGHT > 0] / WEIGHT[WEIGHT > 0]
    assert (count == count.astype(int)).all()
    assert count.sum() == (WEIGHT > 0).sum()


def test_subsample_is_half_of_the_rows():
    drawn = resample_weights(WEIGHT, "subsample", 3, seed=1)
    assert (drawn > 0).sum() == 4
    assert set(drawn[drawn > 0] == WEIGHT[drawn > 0]) == {True}


def test_complementary_pairs_do_not_overlap():
    first, second = (resample_weights(WEIGHT, "complementary", i, seed=1) for i in (4, 5))
    assert not ((first > 0) & (second > 0)).any()
    assert ((first + second) > 0).sum() == 8


def test_resamples_differ_and_repeat():
    draws = [resample_weights(WEIGHT, "bootstrap", i, seed=1) for i in range(5)]
    assert len({tuple(d) for d in draws}) > 1
    np.testing.assert_array_equal(draws[3], resample_weights(WEIGHT, "bootstrap", 3, seed=1))


def test_tidy_counts_resamples(fitted):
    tidy = fitted.stability.tidy()
    assert list(tidy.columns) == ["term", "frequency", "ci_low", "ci_high", "selected"]
    assert tidy["frequency"].is_monotonic_decreasing
    assert ((tidy["ci_low"] <= tidy["frequency"]) & (tidy["frequency"] <= tidy["ci_high"])).all()
    assert tidy["frequency"].sum() == pytest.approx(fitted.k)
    assert set(tidy.loc[tidy["selected"], "term"]) == set(fitted.selected)


def test_index_leaves_out_kept_units():
    selected = np.array([[1, 1, 0], [1, 0, 1]], dtype=bool)
    kept = Stability(
        units=("a", "b", "c"),
        fitted=np.array([True, True, False]),
        assessed=np.array([False, True, True]),
        selected=selected,
        scheme="bootstrap",
        k=2,
        seed=0,
    )
    assert kept.index == pytest.approx(index_of_definition_4(selected[:, 1:]))


def test_stand_ins_by_hand():
    selected = np.array(
        [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [1, 1, 0, 1]], dtype=bool
    )
    stability = Stability(
        units=("sex", "age", "height", "noise"),
        fitted=np.array([True, True, False, False]),
        assessed=np.ones(4, dtype=bool),
        selected=selected,
        scheme="bootstrap",
        k=2,
        seed=0,
    )
    (stand_in,) = stability.stand_ins
    assert (stand_in.unit, stand_in.missing) == ("age", 2)
    assert stand_in.others == (("height", 2),)
    assert stand_in.exactly_one == 1.0


def test_substitutes_by_hand():
    selected = np.array(
        [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 0]],
        dtype=bool,
    )
    stability = Stability(
        units=("sex", "age", "height", "noise"),
        fitted=np.array([True, True, False, False]),
        assessed=np.ones(4, dtype=bool),
        selected=selected,
        scheme="bootstrap",
        k=2,
        seed=0,
        association=lambda unit, other: {"height": 0.8, "noise": 0.1}[other],
    )
    table = stability.substitutes
    assert table["term"].to_list() == ["age", "age"]
    assert table["substitute"].to_list() == ["height", "noise"]
    assert table["n_without"].to_list() == [3, 3]
    np.testing.assert_allclose(table["share"], [2 / 3, 1 / 3])
    np.testing.assert_allclose(table["share_otherwise"], [1 / 3, 0])
    assert table["association"].to_list() == [0.8, 0.1]
    alone = dataclasses.replace(stability, association=None)
    assert alone.substitutes["association"].isna().all()
    others = [name for name, _ in stability.stand_ins[0].others]
    assert others == table["substitute"].to_list()


def test_a_term_that_every_resample_missed_has_substitutes():
    stability = Stability(
        units=("sex", "age"),
        fitted=np.array([True, False]),
        assessed=np.ones(2, dtype=bool),
        selected=np.tile([False, True], (4, 1)),
        scheme="subsample",
        k=1,
        seed=0,
    )
    (row,) = stability.substitutes.to_dict("records")
    assert (row["n_without"], row["share"]) == (4, 1.0)
    assert np.isnan(row["share_otherwise"])


def test_substitutes_of_a_fit(mixed):
    """Of two near copies one stands in for the other; the association is Spearman's."""
    noisy = mixed["signal"] + np.random.default_rng(2).normal(scale=0.1, size=len(mixed))
    data = mixed.assign(copy=noisy)
    fit = treeselect.select("dose ~ . - died", data, k=1, seed=1, method="importance", n_trees=5)
    table = fit.resample(12).stability.substitutes
    (row,) = table[table["substitute"].isin(["signal", "copy"])].to_dict("records")
    assert {row["term"], row["substitute"]} == {"signal", "copy"}
    assert row["association"] == pytest.approx(data["signal"].corr(noisy, method="spearman"))
    polars = pytest.importorskip("polars")
    again = treeselect.select(
        "dose ~ . - died", polars.from_pandas(data), k=1, seed=1, method="importance", n_trees=5
    )
    found = again.resample(12).stability.substitutes
    assert isinstance(found, polars.DataFrame)
    assert found["substitute"].to_list() == table["substitute"].to_list()


@pytest.mark.parametrize("n", [1, 2.0, True, "many"])
def test_number_of_resamples(fitted, n):
    with pytest.raises(OptionError, match="`n` must be a whole number, at least 2"):
        fitted.resample(n)


def test_scheme_and_size_are_checked(fitted):
    with pytest.raises(OptionError, match="`scheme` must be one of"):
        fitted.resample(3, scheme="jackknife")
    with pytest.raises(OptionError, match="`k` must be at most the number of units, 6"):
        fitted.resample(3, k=7)
    assert fitted.resample(3, k=1, scheme="subsample").stability.selected.sum() == 3


def test_too_few_rows_of_a_class_is_said(mixed):
    rare = mixed.assign(died=np.arange(len(mixed)) == 3)
    fit = treeselect.select("died ~ signal + noise", rare, k=1, seed=1, forests=1, n_trees=5)
    with pytest.raises(StabilityError, match="only one value of the response"):
        fit.resample(20)
