"""Resamples, frequencies, the index, and what stands in for what."""

import dataclasses
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from quick import changed, selections
from quick import stability_of as made
from scipy import stats
from scipy.stats import chi2_contingency

import treeselect
from treeselect.designs.weights import row_weights
from treeselect.errors import OptionError, StabilityError
from treeselect.resampling.agreement import (
    Place,
    clustered_interval,
    distinct_sets,
    pairs_of,
    stability_index,
    wilson_interval,
)
from treeselect.resampling.assessing import resample_weights


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


def test_equal_selections_single_ones_and_intervals_of_statsmodels():
    selected = np.tile([True, False, True], (5, 1))
    index, (low, high) = stability_index(selected)
    assert index == high == 1
    assert 0 <= low < 0.5  # five equal ones don't tell that all would be
    alone = np.ones((1, 3), dtype=bool)
    with pytest.raises(StabilityError, match="at least two resamples"):
        stability_index(alone)
    from statsmodels.stats.proportion import proportion_confint

    successes = np.array([0, 1, 50, 99, 100])
    low, high = wilson_interval(successes / 100, 100)
    expected = proportion_confint(successes, 100, method="wilson")
    np.testing.assert_allclose(low, expected[0], atol=1e-12)
    np.testing.assert_allclose(high, expected[1], atol=1e-12)
    assert (low[0], high[-1]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("n", "p"),
    [(100, (0.9, 0.8, 0.5, 0.2, 0.1, 0.1)), (20, (1, 1, 0.99, 0.02, 0.01, 0)),
     (20, (1, 0.9, 0.7, 0.2, 0.2, 0))],
)  # fmt: skip
def test_interval_covers_the_index_of_many_resamples(n, p):
    """The interval is about the population value of the index: 95% of 300 samples, s.e. 1.3%."""
    rng, p = np.random.default_rng(1), np.array(p)
    k = p.sum() / len(p)
    truth = 1 - (p * (1 - p)).mean() / (k * (1 - k))
    hits = 0
    for _ in range(300):
        _, (low, high) = stability_index(rng.random((n, 6)) < p)
        hits += low <= truth <= high
    assert 0.90 <= hits / 300 <= (1 if n == 20 else 0.99)


@pytest.mark.parametrize(("n", "p"), [(20, 0.5), (20, 0.4), (50, 0.5), (100, 0.5), (100, 0.45)])
def test_interval_covers_the_index_where_two_units_take_each_others_place(n, p):
    """Where that is in half of the resamples the index does not vary to first order: of 300 samples
    the intervals of theorem 7 cover it in 75% to 88%."""
    rng, share = np.random.default_rng(2), 0.4
    truth = 1 - 2 * p * (1 - p) / 10 / (share * (1 - share))
    hits = 0
    for _ in range(300):
        first = rng.random(n) < p
        selected = np.zeros((n, 10), dtype=bool)
        selected[:, :3], selected[:, 3], selected[:, 4] = True, first, ~first
        _, (low, high) = stability_index(selected)
        hits += low - 1e-12 <= truth <= high + 1e-12
    assert hits / 300 >= 0.95


def stability_of(rows, *, units=("age", "height", "sex"), **more):
    return made(rows, units, k=2, **more)


WEIGHT = np.array([1, 0, 3, 1, 2, 1, 1, 0, 1, 1])
NUMBERS = SimpleNamespace(family=SimpleNamespace(has_times=False, has_classes=False))


def test_rows_are_drawn_with_all_their_copies():
    drawn = resample_weights(NUMBERS, row_weights(WEIGHT), "bootstrap", 0, seed=1).values
    assert (drawn[WEIGHT == 0] == 0).all()
    count = drawn[WEIGHT > 0] / WEIGHT[WEIGHT > 0]
    assert (count == count.astype(int)).all()
    assert count.sum() == (WEIGHT > 0).sum()
    drawn = resample_weights(NUMBERS, row_weights(WEIGHT), "subsample", 3, seed=1).values
    assert (drawn > 0).sum() == 4
    assert set(drawn[drawn > 0] == WEIGHT[drawn > 0]) == {True}
    first, second = (
        resample_weights(NUMBERS, row_weights(WEIGHT), "complementary", i, seed=1).values
        for i in (4, 5)
    )
    assert not ((first > 0) & (second > 0)).any()
    assert ((first + second) > 0).sum() == 8


def test_tidy_counts_resamples_whose_size_is_checked(fitted):
    tidy = fitted.stability.tidy()
    assert list(tidy.columns) == ["term", "frequency", "ci_low", "ci_high", "selected"]
    assert tidy["frequency"].is_monotonic_decreasing
    assert ((tidy["ci_low"] <= tidy["frequency"]) & (tidy["frequency"] <= tidy["ci_high"])).all()
    assert tidy["frequency"].sum() == pytest.approx(fitted.k)
    assert set(tidy.loc[tidy["selected"], "term"]) == set(fitted.selected)
    with pytest.raises(OptionError, match="`n` must be a whole number, at least 2"):
        fitted.resample(1)
    with pytest.raises(OptionError, match="`k` must be at most 6, the number of candidate terms"):
        fitted.resample(3, k=7)
    assert fitted.resample(3, k=1, scheme="subsample").stability.selected.sum() == 3


def test_index_leaves_out_kept_units():
    selected = np.array([[1, 1, 0], [1, 0, 1]], dtype=bool)
    kept = stability_of(selected, fitted=[1, 1, 0], assessed=[0, 1, 1])
    assert kept.index == pytest.approx(index_of_definition_4(selected[:, 1:]))


def test_substitutes_by_hand():
    selected = np.array(
        [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 0]],
        dtype=bool,
    )
    stability = stability_of(
        selected, fitted=[1, 1, 0, 0], units=("sex", "age", "height", "noise"),
        association=lambda unit, other: {"height": 0.8, "noise": 0.1}[other],
    )  # fmt: skip
    table = stability.substitutes
    assert table["term"].to_list() == ["age", "age"]
    assert table["substitute"].to_list() == ["height", "noise"]
    assert table["n_without"].to_list() == [3, 3]
    np.testing.assert_allclose(table["share"], [2 / 3, 1 / 3])
    np.testing.assert_allclose(table["share_otherwise"], [1 / 3, 0])
    assert table["association"].to_list() == [0.8, 0.1]
    alone = dataclasses.replace(stability, association=None)
    assert alone.substitutes["association"].isna().all()
    stability = stability_of([[0, 1]] * 4, fitted=[1, 0], units=("sex", "age"))
    (row,) = stability.substitutes.to_dict("records")
    assert (row["n_without"], row["share"]) == (4, 1.0)
    assert np.isnan(row["share_otherwise"])


# --- groups of rows ------------------------------------------------------------------------------

GROUPS = np.array([5, 5, 0, 0, 0, 7, 7, 7, 2, -1])  # the last row has no weight below
OF_ROWS = np.array([1, 0, 3, 1, 2, 1, 1, 1, 1, 0])


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample", "complementary"])
def test_groups_are_drawn_with_all_their_rows(scheme):
    drawn = [
        resample_weights(NUMBERS, row_weights(OF_ROWS, GROUPS), scheme, i, 3).values
        for i in range(40)
    ]
    seen = set()
    for weights in drawn:
        assert (weights[OF_ROWS == 0] == 0).all()
        times = {g: set(weights[r] / OF_ROWS[r]) for g in (5, 0, 7, 2) if (r := rows_of(g)).any()}
        assert all(len(t) == 1 for t in times.values())
        counts = [int(t.pop()) for t in times.values()]
        assert sum(counts) == (4 if scheme == "bootstrap" else 2)
        assert max(counts) <= (4 if scheme == "bootstrap" else 1)
        seen.add(tuple(counts))
    assert len(seen) > 4
    if scheme == "complementary":
        np.testing.assert_array_equal(drawn[6] + drawn[7], OF_ROWS)


def rows_of(group):
    return (group == GROUPS) & (OF_ROWS > 0)


def test_rows_drawn_apart_make_selections_look_stable_and_clusters_must_suffice(wards):
    """What wards tell by chance comes back in every resample of rows, but not of wards."""
    asked = {"method": "lasso", "k": 2, "seed": 1}
    rows = treeselect.select("y ~ . - ward", wards, resamples=30, **asked)
    groups = treeselect.select("y ~ .", wards, fold_groups="ward", resamples=30, **asked)
    assert rows.stability.index > groups.stability.index + 0.2
    assert groups.stability.groups_name == "ward"
    array = wards["ward"].to_numpy()
    twin = treeselect.select("y ~ . - ward", wards, fold_groups=array, resamples=5, **asked)
    np.testing.assert_array_equal(twin.stability.selected, groups.stability.selected[:5])
    assert twin.stability.words == "5 bootstrap resamples of whole clusters"
    each = treeselect.select("y ~ . - ward", wards, fold_groups=np.arange(400), **asked)
    np.testing.assert_array_equal(each.resample(5).stability.selected, rows.stability.selected[:5])
    two = wards.assign(y=wards["ward"] == "w0")
    alone = treeselect.select("y ~ gene + n0", two, method="lasso", k=1, seed=1, fold_groups="ward")
    with pytest.raises(StabilityError, match="too few clusters with one of its values"):
        alone.resample(30)


def test_the_summary_and_the_report_say_that_groups_were_drawn(wards, tmp_path):
    fit = treeselect.select("y ~ .", wards, method="lasso", k=2, seed=1, fold_groups="ward")
    all_of_them = "as many clusters as in the data, drawn with replacement"
    for scheme, noun, how in (
        ("bootstrap", "bootstrap resamples", all_of_them),
        ("subsample", "subsamples", "half of the clusters, drawn without replacement"),
    ):
        found = fit.resample(4, scheme=scheme)
        text = " ".join(found.summary().as_text().split())
        assert f"4 {noun} of whole ward clusters: " in text
        assert (
            "Rows with the same `ward` stay together in folds, bags of trees and resamples" in text
        )
        page = found.report(tmp_path / "r.html").read_text()
        assert how in page
        assert f" on {found.stability.words}" in page
        loaded = treeselect.load(found.save(tmp_path / "fit", include_data=True))
        assert loaded.stability.words == found.stability.words


# --- model frequencies, pairs and the co-selection matrix as tables ------------------------------


ROWS = [[1, 0, 1]] * 4 + [[0, 1, 1]] * 3 + [[0, 0, 1]] + [[1, 1, 1]] * 2


def test_models_by_hand_and_sets_that_never_came_up():
    stability = stability_of(ROWS, fitted=[0, 1, 1])
    table = stability.models()
    assert table["terms"].to_list() == [
        ("sex", "age"), ("sex", "height"), ("sex", "age", "height"), ("sex",),
    ]  # fmt: skip
    assert table["size"].to_list() == [2, 2, 3, 1]
    assert table["count"].to_list() == [4, 3, 2, 1]
    np.testing.assert_allclose(table["cumulative"], [0.4, 0.7, 0.9, 1.0])
    assert table["selected"].to_list() == [False, True, False, False]
    assert (stability.n_models, stability.same_model) == (4, 3)
    stability = stability_of(ROWS, fitted=[0, 0, 1])
    table = stability.models(1)
    assert table["terms"].to_list() == [("sex", "age"), ("sex",)]
    np.testing.assert_allclose(table["cumulative"], [0.4, 1.0])
    assert len(stability_of(ROWS, fitted=[1, 0, 0]).models(1)) == 1  # which never came up
    assert len(stability.models(None)) == 4
    table = stability_of([[0, 0, 0], [0, 0, 1], [0, 0, 0]], fitted=[0, 0, 1]).models()
    assert table["terms"].to_list() == [(), ("sex",)]


def test_pairs_leave_out_what_never_changes():
    stability = stability_of([*ROWS, *([[1, 0, 1], [0, 1, 1]] * 10)], fitted=[0, 1, 1])
    (row,) = stability.pairs().to_dict("records")
    assert (row["term"], row["other"], row["sign"]) == ("age", "height", "-")
    assert row["together"] == pytest.approx(2 / 30)
    assert row["expected"] == pytest.approx(16 / 30 * 15 / 30)
    assert row["ratio"] == pytest.approx(row["together"] / row["expected"])
    assert set(stability_of(ROWS, fitted=[0, 1, 1]).pairs()["sign"]) == {""}
    table = stability_of([[1, 0, 1]] * 3, fitted=[1, 0, 1]).pairs()
    assert len(table) == 0
    assert table["p_value"].dtype == "float64"


# --- proportions whose trials come in clusters ---


def test_clusters_are_so_many_trials_as_they_agree():
    """By hand: mean 0.5, variance of the mean 0.01, as of 25 trials; t with two degrees."""
    shares = np.array([[0.5, 1.0, 0.0], [0.5, 1.0, 0.0], [0.5, 1.0, 0.0]])
    found = clustered_interval(shares, 20)
    np.testing.assert_allclose(found, wilson_interval(np.array([0.5, 1.0, 0.0]), 60))
    assert (found[1][1], found[0][2]) == (1.0, 0.0)
    low, high = clustered_interval(np.array([[0.5 - 0.03**0.5], [0.5], [0.5 + 0.03**0.5]]), 50)
    t = stats.t.ppf(0.975, 2)
    half = t / (1 + t**2 / 25) * (0.01 + t**2 / (4 * 25**2)) ** 0.5
    assert (low[0], high[0]) == pytest.approx((0.5 - half, 0.5 + half))


# --- pairs of units: counts, expectation and test against scipy's table --------------------------


@given(arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 5))))
@settings(derandomize=True)
def test_pairs_are_those_of_contingency_tables(selected):
    n = len(selected)
    found = pairs_of(selected)
    at = 0
    varying = [g for g in range(selected.shape[1]) if 0 < selected[:, g].sum() < n]
    for place, i in enumerate(varying):
        for j in varying[place + 1 :]:
            a, b = selected[:, i], selected[:, j]
            table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
            assert (found["first"][at], found["second"][at]) == (i, j)
            assert found["together"][at] == pytest.approx((a & b).mean())
            assert found["expected"][at] == pytest.approx(a.mean() * b.mean())
            assert found["p_value"][at] == pytest.approx(chi2_contingency(table).pvalue, abs=1e-9)
            at += 1
    assert at == len(found["first"])


# --- sets that differ and their counts, against plain counting -----------------------------------


@given(arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 20))))
@settings(derandomize=True)
def test_sets_are_counted(selected):
    sets, counts = distinct_sets(selected)
    expected = Counter(map(tuple, selected.tolist()))
    assert dict(zip(map(tuple, sets.tolist()), counts.tolist(), strict=True)) == expected
    order = [(-n, sum(own), [not u for u in own]) for own, n in zip(sets, counts, strict=True)]
    assert order == sorted(order)


# --- places that associated units hold in turn ---------------------------------------------------


def associated(selected, fitted, alike):
    """`alike`: sets of units that are associated by 0.9; others are by 0.1."""
    units = ("age", "height", "sex", "weight", "wrist")[: np.shape(selected)[1]]

    def association(unit, other):
        return 0.9 if any({unit, other} <= own for own in alike) else 0.1

    return made(selected, units, fitted=np.isin(units, fitted), association=association)


def test_one_place_by_hand_and_units_that_stand_in_only_in_part():
    drawn = selections(("101", 50), ("011", 40), ("001", 10))
    stability = associated(drawn, ["age", "sex"], [{"age", "height"}])
    assert stability.places == (Place(("age", "height"), (50, 40), 90, 0.9),)
    # With one unit asked for, exactly one of any two that come and go is selected.
    drawn = selections(("10000", 40), ("01000", 40), ("00010", 20))
    chain = [{"age", "height"}, {"height", "weight"}]
    (place,) = associated(drawn, ["age"], chain).places
    assert place.units == ("age", "height")
    drawn = selections(("100", 50), ("010", 50))
    assert associated(drawn, ["age"], []).places == ()
    assert len(associated(drawn, ["age"], [{"age", "height"}]).places) == 1
    body = {"age", "height", "weight"}
    both = selections(("10010", 40), ("01000", 30), ("01010", 30))
    assert associated(both, ["age", "weight"], [body]).places == ()
    apart = selections(("10000", 40), ("00010", 30), ("01000", 30))
    (place,) = associated(apart, ["age", "weight"], [body]).places
    assert place.units == ("age", "height", "weight")
    assert place.exactly_one == 100


@pytest.mark.parametrize(("both", "n"), [(20, 1), (21, 0)])
def test_a_place_needs_exactly_one_in_four_fifths(both, n):
    drawn = selections(("10", 50), ("01", 50 - both), ("11", both))
    assert len(associated(drawn, ["age"], [{"age", "height"}]).places) == n


def test_a_file_without_the_data_keeps_them(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    data = pd.DataFrame({"a": x + 0.1 * rng.normal(size=80), "b": x, "noise": rng.normal(size=80)})
    data["y"] = x + 0.1 * rng.normal(size=80)
    fit = treeselect.select("y ~ .", data, method="importance", k=1, seed=1, n_trees=5)
    drawn = np.zeros((20, 3), dtype=bool)
    units = fit.resample(2).stability.units
    drawn[:12, units.index("a")] = drawn[12:, units.index("b")] = True
    fit = changed(
        fit, resampled=dataclasses.replace(fit.resample(2)._fit.resampled, selected=drawn)
    )
    (place,) = fit.stability.places
    assert place.units == ("a", "b")
    loaded = treeselect.load(fit.save(tmp_path / "model"))
    assert loaded.stability.places == fit.stability.places
    assert str(loaded.summary()) == str(fit.summary())
