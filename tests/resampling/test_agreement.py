"""The index in which units that are alike stand for each other; intervals of clusters."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from quick import changed
from quick import stability_of as made
from scipy import stats
from scipy.stats import chi2_contingency

import treeselect
from treeselect.errors import StabilityError
from treeselect.resampling.agreement import (
    Place,
    clustered_interval,
    co_selection,
    correlated_index,
    distinct_sets,
    pairs_of,
    stability_index,
    wilson_interval,
)


def index_by_matrices(z, c):
    """Sechidis and others (2020), written as it stands: 1 - tr(C S) / tr(C S0)."""
    d = z.shape[1]
    s = np.cov(z.T.astype(float), ddof=1).reshape(d, d)
    sizes = z.sum(axis=1)
    k, k2 = sizes.mean(), (sizes**2).mean()
    s0 = np.full((d, d), (k2 - k) / (d**2 - d) - k**2 / d**2)
    np.fill_diagonal(s0, k / d * (1 - k / d))
    return 1 - np.trace(c @ s) / np.trace(c @ s0)


@given(
    arrays(bool, st.tuples(st.integers(2, 9), st.integers(2, 6))),
    st.lists(st.floats(0, 0.9), min_size=15, max_size=15),
)
@settings(derandomize=True)
def test_the_index_is_its_definition(selected, strengths):
    d = selected.shape[1]
    alike = np.eye(d)
    rows, columns = np.triu_indices(d, 1)
    alike[rows, columns] = alike[columns, rows] = strengths[: len(rows)]
    found = correlated_index(selected, alike)
    if selected.all() or not selected.any():
        assert np.isnan(found)
        return
    assert found == pytest.approx(min(index_by_matrices(selected, alike), 1.0), abs=1e-9)


@given(arrays(bool, st.tuples(st.integers(2, 9), st.integers(2, 6))))
@settings(derandomize=True)
def test_units_that_are_not_alike_leave_the_index_of_nogueira(selected):
    expected = stability_index(selected)[0]
    found = correlated_index(selected, np.eye(selected.shape[1]))
    assert found == pytest.approx(expected, nan_ok=True)


def test_it_is_not_defined_where_all_sets_say_the_same():
    selected = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0]], dtype=bool)
    assert np.isnan(correlated_index(selected, np.ones((3, 3))))
    assert np.isnan(correlated_index(np.ones((4, 3), dtype=bool), np.eye(3)))
    assert np.isnan(correlated_index(np.zeros((4, 1), dtype=bool), np.eye(1)))


def test_it_needs_two_resamples():
    with pytest.raises(StabilityError, match="at least two resamples"):
        correlated_index(np.ones((1, 3), dtype=bool), np.eye(3))


# --- proportions whose trials come in clusters ---


def test_clusters_that_agree_are_so_many_trials():
    shares = np.array([[0.5, 1.0, 0.0], [0.5, 1.0, 0.0], [0.5, 1.0, 0.0]])
    found = clustered_interval(shares, 20)
    np.testing.assert_allclose(found, wilson_interval(np.array([30, 60, 0]), 60))
    assert (found[1][1], found[0][2]) == (1.0, 0.0)


def test_clusters_that_differ_are_fewer_trials():
    """By hand: mean 0.5, variance of the mean 0.01, as of 25 trials; t with two degrees."""
    low, high = clustered_interval(np.array([[0.5 - 0.03**0.5], [0.5], [0.5 + 0.03**0.5]]), 50)
    t = stats.t.ppf(0.975, 2)
    half = t / (1 + t**2 / 25) * (0.01 + t**2 / (4 * 25**2)) ** 0.5
    assert (low[0], high[0]) == pytest.approx((0.5 - half, 0.5 + half))


@pytest.mark.parametrize("spread", [0.0, 0.15])
def test_it_holds_the_mean_of_all_clusters_there_could_be(spread):
    rng = np.random.default_rng(4)
    of_cluster = np.clip(0.6 + spread * rng.normal(size=(5, 2000)), 0, 1)
    low, high = clustered_interval(rng.binomial(40, of_cluster) / 40, 40)
    # 95%, within three standard errors of 2,000 draws and what the approximation costs
    assert 0.93 < ((low <= 0.6) & (high >= 0.6)).mean() < 0.99
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()


# --- pairs of units: counts, expectation and test against scipy's table --------------------------


@given(arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 5))))
@settings(derandomize=True)
def test_pairs_are_those_of_contingency_tables(selected):
    n = len(selected)
    found = pairs_of(selected, 0.01)
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


def test_co_selection_by_hand():
    selected = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0]], dtype=bool)
    expected = [[0.75, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_array_equal(co_selection(selected), expected)


# --- sets that differ and their counts, against plain counting -----------------------------------


@given(arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 20))))
@settings(derandomize=True)
def test_sets_are_counted(selected):
    sets, counts = distinct_sets(selected)
    expected = Counter(map(tuple, selected.tolist()))
    assert dict(zip(map(tuple, sets.tolist()), counts.tolist(), strict=True)) == expected
    order = [(-n, sum(own), [not u for u in own]) for own, n in zip(sets, counts, strict=True)]
    assert order == sorted(order)


def test_equally_frequent_sets_begin_with_the_small_ones():
    selected = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=bool)
    sets, counts = distinct_sets(selected)
    assert sets.astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
    assert counts.tolist() == [1, 1, 1, 1]


# --- places that associated units hold in turn ---------------------------------------------------


UNITS = ("age", "height", "sex", "weight", "wrist")


def associated(selected, fitted, alike):
    """`alike`: sets of units that are associated by 0.9; others are by 0.1."""
    units = UNITS[: np.shape(selected)[1]]

    def association(unit, other):
        return 0.9 if any({unit, other} <= own for own in alike) else 0.1

    return made(selected, units, fitted=np.isin(units, fitted), association=association)


def rows(*counted):
    return [[c == "1" for c in text] for text, times in counted for _ in range(times)]


def test_one_place_by_hand():
    drawn = rows(("101", 50), ("011", 40), ("001", 10))
    stability = associated(drawn, ["age", "sex"], [{"age", "height"}])
    assert stability.places == (Place(("age", "height"), (50, 40), 90, 0.9),)


def test_what_must_come_in_is_no_substitute():
    """With one unit asked for, exactly one of any two that come and go is selected."""
    drawn = rows(("100", 50), ("010", 50))
    assert associated(drawn, ["age"], []).places == ()
    assert len(associated(drawn, ["age"], [{"age", "height"}]).places) == 1


@pytest.mark.parametrize(("both", "n"), [(20, 1), (21, 0)])
def test_a_place_needs_exactly_one_in_four_fifths(both, n):
    drawn = rows(("10", 50), ("01", 50 - both), ("11", both))
    assert len(associated(drawn, ["age"], [{"age", "height"}]).places) == n


def test_two_fitted_units_that_share_substitutes_are_one_place_or_none():
    body = {"age", "height", "weight"}
    both = rows(("10010", 40), ("01000", 30), ("01010", 30))
    assert associated(both, ["age", "weight"], [body]).places == ()
    apart = rows(("10000", 40), ("00010", 30), ("01000", 30))
    (place,) = associated(apart, ["age", "weight"], [body]).places
    assert place.units == ("age", "height", "weight")
    assert place.exactly_one == 100


def test_a_unit_that_is_associated_with_one_member_only_is_none():
    drawn = rows(("10000", 40), ("01000", 40), ("00010", 20))
    chain = [{"age", "height"}, {"height", "weight"}]
    (place,) = associated(drawn, ["age"], chain).places
    assert place.units == ("age", "height")


@given(
    arrays(bool, st.tuples(st.integers(1, 25), st.just(5))),
    arrays(bool, 5),
    st.lists(st.frozensets(st.sampled_from(UNITS), min_size=2), max_size=3),
)
@settings(derandomize=True, max_examples=60)
def test_what_is_said_of_a_place_is_true(selected, fitted, alike):
    stability = associated(
        selected, [u for u, own in zip(UNITS, fitted, strict=True) if own], alike
    )
    seen: set[str] = set()
    for place in stability.places:
        at = [UNITS.index(unit) for unit in place.units]
        one = selected[:, at].sum(axis=1) == 1
        assert place.exactly_one == one.sum() >= 0.8 * len(selected) - 1e-9
        assert place.counts == tuple(selected[:, at].sum(axis=0))
        assert all(
            stability.association(a, b) >= place.association >= 0.5
            for a in place.units
            for b in place.units
            if a != b
        )
        assert fitted[at].any()
        assert seen.isdisjoint(place.units)
        seen |= {*place.units}


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
