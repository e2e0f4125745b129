"""Bounds on the expected number of false selections."""

import dataclasses
import math
import re
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from quick import changed, normal, stability_of

import treeselect
from treeselect.algorithms.task import ranked_step
from treeselect.errors import OptionError, StabilityError
from treeselect.resampling import error_bounds
from treeselect.resampling.assessing import sets_by_size
from treeselect.resampling.resampled import StabilityPath
from treeselect.results.curves import frequency_lines

# Printed by the R package stabs 0.6-4 for q = 1, ..., 10 of p = 100, cutoff 0.6 and 50 pairs.
CONCAVE_IN_R = [
    0.006971364, 0.03342845, 0.08691176, 0.1637231, 0.2605329,
    0.3820466, 0.5295188, 0.7042719, 0.9077127, 1.141338,
]  # fmt: skip


def made(selected, scheme="complementary", kept=0):
    return stability_of(selected, scheme=scheme, kept=kept)


def guesses(p, q, n, seed=0):
    """n selections of q out of p at random."""
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(p) < q for _ in range(n)])


@pytest.mark.parametrize(
    ("q", "p", "threshold", "bound"), [(1, 100, 0.6, 0.05), (10, 100, 0.6, 5.0), (3, 10, 1.0, 0.9)]
)
def test_worst_case_is_theorem_1(q, p, threshold, bound):
    assert error_bounds.worst_case_bound(q, p, threshold) == pytest.approx(bound)


def test_concave_is_that_of_r_and_where_a_bound_begins():
    # R searches with a tolerance of 1e-4 in `a`, which is small for q = 1, and so finds less.
    for q in range(1, 11):
        found = error_bounds.concave_bound(q, 100, 0.6, 50)
        assert found == pytest.approx(CONCAVE_IN_R[q - 1], rel=4e-3)
        assert found >= CONCAVE_IN_R[q - 1] * (1 - 1e-6)
    assert error_bounds.concave_bound(3, 40, 0.70001, 10) == error_bounds.concave_bound(
        3, 40, 0.75, 10
    )
    assert error_bounds.largest_tail(0.25, 5, 10, -0.5) == 1.0
    assert error_bounds.largest_tail(0.25, 6, 10, -0.5) < 1.0
    crowded = made(guesses(9, 4, 10))
    assert crowded.pfer(0.8, "r-concave").bound < crowded.pfer(0.8).bound
    assert error_bounds.concave_bound(1, 4, 0.75, 2) == error_bounds.worst_case_bound(1, 4, 0.75)


@pytest.mark.parametrize("assumption", ["none", "r-concave"])
def test_guesses_pass_no_more_often_than_the_bound(assumption):
    """Units chosen at random are exchangeable noise: the mean number that passes over 200 draws."""
    passed, bound = [], math.nan
    for seed in range(200):
        found = made(guesses(10, 3, 10, seed)).pfer(0.7, assumption)
        passed.append(len(found.units))
        bound = found.bound
    assert 0 < np.mean(passed) <= bound


def test_pfer_by_hand_is_compared_with_what_passed():
    selected = np.zeros((10, 5), dtype=bool)
    selected[:, 0] = True  # kept
    selected[:, 1] = True
    selected[:6, 2] = True
    selected[6:, 3] = True
    found = made(selected, "subsample", kept=1).pfer(0.6)
    assert (found.q, found.p, found.n_resamples) == (2, 4, 10)
    assert found.bound == pytest.approx(2**2 / (0.2 * 4))
    assert found.units == ("x1", "x2")
    assert found.threshold == 0.6
    assert str(found).startswith("At most 5 false selections expected among 2 terms with")
    assert str(found).endswith("; the bound is uninformative")
    assert not found.informative
    selected = np.zeros((10, 400), dtype=bool)
    selected[:, :4] = True
    told = made(selected, "subsample").pfer(0.75)
    assert told.informative
    assert str(told).startswith("At most 0.08 false selections expected among 4 terms")
    alone = made(selected[:, :5], "subsample").pfer(0.75)
    assert not alone.informative
    assert str(alone).startswith("At most 6.4 false selections")
    assert not made(selected[:, :6], "subsample").pfer(0.75).informative  # 4 < 5.3 < 6
    none = made(guesses(40, 2, 10), "subsample").pfer(0.95)
    assert none.units == ()
    assert none.informative
    assert "among 0 terms with selection frequency 0.95 or more" in str(none)


PAIRED, CONCAVE = "complementary", "r-concave"


@pytest.mark.parametrize(
    ("sets", "scheme", "ask", "error", "said"),
    [
        ((5, 2, 10), "bootstrap", lambda s: s.pfer(), StabilityError,
         'bootstrap resamples.\n  Use `fit.resample(100, scheme="c'),
        ((5, 2, 10), "subsample", lambda s: s.pfer(0.8, CONCAVE), StabilityError,
         "complete complementary pairs.\n  Found: 10 subsamples. Use"),
        ((5, 2, 11), PAIRED, lambda s: s.pfer(1.0, CONCAVE), StabilityError, "complementary pairs"),
        ((9, 5, 10), PAIRED, lambda s: s.pfer(0.8, CONCAVE), OptionError, "at most 4 selected"),
        ((9, 4, 10), PAIRED, lambda s: s.pfer(0.7, CONCAVE), OptionError,
         "`threshold` must be at least 0.8 for this bound"),
        ((2, 1, 2), PAIRED, lambda s: s.pfer(1.0, CONCAVE), OptionError, "than 2 resamples"),
        ((5, 2, 10), PAIRED, lambda s: s.pfer(0.5), OptionError, "number above 0.5 and at most 1"),
        ((5, 2, 10), PAIRED, lambda s: s.pfer(1.01), OptionError, "number above 0.5 and at most 1"),
    ],
)  # fmt: skip
def test_what_has_no_bound(sets, scheme, ask, error, said):
    with pytest.raises(error, match=re.escape(said)):
        ask(made(guesses(*sets), scheme))


def test_tuning_values_and_kept_units_alone_have_no_bound_in_files_either(mixed, tmp_path):
    fit = treeselect.select("dose ~ . - died", mixed, method="rrf", lam=0.9, n_trees=10, seed=1)
    free = fit.resample(8, scheme="complementary").stability
    assert len(set(free.selected.sum(axis=1))) > 1
    with pytest.raises(StabilityError, match=r"(?s)is fixed.*scheme='complementary', k=\d"):
        free.pfer()
    fixed = fit.resample(8, scheme="complementary", k=2)
    assert fixed.stability.pfer().q == 2
    loaded = treeselect.load(fit.resample(8, scheme="complementary").save(tmp_path / "free"))
    with pytest.raises(StabilityError, match="is fixed"):
        loaded.stability.pfer()
    loaded = treeselect.load(fixed.save(tmp_path / "fixed"))
    assert loaded.stability.pfer() == fixed.stability.pfer()
    with pytest.raises(StabilityError, match="every selected term is forced in"):
        made([[1, 0, 0]] * 4, kept=1).pfer()


def test_summary_says_what_passed_where_a_bound_holds(fitted):
    bootstrap = str(fitted.summary())
    assert "without signal" not in bootstrap
    many = fitted.resample(10, scheme="complementary")
    assert not many.stability.pfer().informative
    assert "the bound is uninformative" in " ".join(str(many.summary()).split())
    drawn = np.tile([unit == fitted.groups[0] for unit in many.stability.units], (10, 1))
    pairs = changed(many, resampled=dataclasses.replace(many._fit.resampled, selected=drawn, k=1))
    found = pairs.stability.pfer()
    text = " ".join(str(pairs.summary()).split())
    assert found.units
    assert f"{found}." in text


def test_constant_terms_are_none_to_select_from():
    """Forty of them would let any noise pass."""
    data = normal(0, 60, "abcd")
    wide = data.assign(**{f"same{i}": 1.0 for i in range(40)})
    draw = {"k": 1, "scheme": "complementary", "seed": 1}
    plain, more = (
        treeselect.select("y ~ .", frame, method="lasso", k=1, keep="d", seed=1)
        .resample(10, **draw | {"k": 2}, path=True)
        .stability
        for frame in (data, wide)
    )
    assert more.assessed.sum() == 3
    assert more.kept.sum() == 1
    assert (more.index, more.pfer().bound) == (plain.index, plain.pfer().bound)
    ours, theirs = (s.q_values().set_index("term")["efp"] for s in (more, plain))
    assert ours.to_dict() == theirs.to_dict()


# --- efp scores and q-values: naive twins and hand-made cases ------------------------------------


def naive_bound(q, p, n_pairs, power):
    """p times the moment of the share of pairs, each of which selects a unit twice by chance."""
    twice = (q / p) ** 2
    chances = [
        comb(n_pairs, c) * twice**c * (1 - twice) ** (n_pairs - c) for c in range(n_pairs + 1)
    ]
    return p * sum(chance * (c / n_pairs) ** power for c, chance in enumerate(chances))


def naive_efp(frequency, n_pairs, power, cutoff):
    """Sizes one by one, as long as the mean bound is at most the cutoff."""
    n_sizes, p = frequency.shape
    bounds, used = [], 0
    for k in range(n_sizes):
        bounds.append(naive_bound(frequency[k].sum(), p, n_pairs, power))
        if k and np.mean(bounds) > cutoff * (1 + 1e-12):
            bounds.pop()
            break
        used = k + 1
    efp = []
    for unit in range(p):
        parts = [max(2 * frequency[k, unit] - 1, 0) ** power for k in range(used)]
        score = sum(parts) / used
        efp.append(min(p, np.mean(bounds) / score) if score > 0 else p)
    return np.array(efp)


@given(st.integers(1, 30), st.integers(1, 12), st.sampled_from([1, 2, 3]), st.floats(0, 1))
@settings(deadline=None, derandomize=True)
def test_the_bound_is_a_binomial_moment(p, n_pairs, power, share):
    found = error_bounds.size_bound(np.array([share * p]), p, n_pairs, power)
    np.testing.assert_allclose(found, [naive_bound(share * p, p, n_pairs, power)], atol=1e-12)


@given(
    arrays(np.int64, (4, 5), elements=st.integers(0, 8)),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([0.01, 0.3, 2.0]),
)
@settings(deadline=None, derandomize=True)
def test_efp_scores_are_those_of_the_naive_twin(counts, power, cutoff):
    frequency = np.sort(counts, axis=0) / 8  # sets of rising size
    found = error_bounds.efp_scores(frequency, 4, power, cutoff)
    np.testing.assert_allclose(found, naive_efp(frequency, 4, power, cutoff))


@given(
    arrays(np.float64, st.integers(1, 12), elements=st.sampled_from([0.01, 0.3, 0.31, 4.0, 12.0]))
)
@settings(deadline=None, derandomize=True)
def test_q_values_are_the_least_rate_at_which_a_unit_is_selected(efp):
    naive = [min(t / (efp <= t).sum() for t in efp if t >= own) for own in efp]
    np.testing.assert_allclose(error_bounds.q_values_of(efp), naive)


# --- paths of resamples and their q-values, from the calls on ------------------------------------


def step(*units, p=4):
    selected = np.isin(np.arange(p), units)
    return ranked_step(0.0, selected, np.arange(p, 0.0, -1), np.nan)


def test_sets_by_size_are_cut_and_begin_above_the_kept_units():
    nothing = np.zeros(4, dtype=bool)
    sets = sets_by_size([step(), step(2), step(0, 1, 2)], 4, nothing)
    assert [s.tolist() for s in sets] == [[2], [0, 1], [0, 1, 2], [0, 1, 2]]
    keep = np.array([False, False, False, True])
    sets = sets_by_size([step(3), step(1, 3), step(0, 1, 3)], 2, keep)
    assert [s.tolist() for s in sets] == [[1, 3], [0, 1, 3]]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((120, 6)), columns=list("abcdef"))
    level = rng.integers(3, size=120)
    frame["site"] = np.array(["x", "y", "z"])[level]
    y = 2 * frame["b"] + frame["e"] + 2.0 * (level == 1) + 0.5 * rng.standard_normal(120)
    return frame.assign(y=y)


@pytest.fixture(scope="module")
def fit(data):
    fit = treeselect.select("y ~ .", data, method="lasso", k=3, seed=1)
    return fit.resample(20, scheme="complementary", path=4)


def test_the_path_holds_the_frequency_at_k_in_a_file_too(fit, tmp_path):
    paths = fit.resample(20, scheme="complementary", path=3).stability
    wide = paths.path().pivot_table(index="k", columns="term", values="frequency")
    assert wide.index.to_list() == [1, 2, 3]
    assert (wide.sum(axis=1) <= wide.index + 1e-9).all()
    at_k = paths.tidy().set_index("term")["frequency"]
    pd.testing.assert_series_equal(
        wide.loc[3], at_k[wide.columns], check_names=False, check_index_type=False
    )
    again = treeselect.load(fit.save(tmp_path / "model.zip")).stability
    pd.testing.assert_frame_equal(again.q_values(), fit.stability.q_values())
    pd.testing.assert_frame_equal(again.path(), fit.stability.path())


def test_sizes_of_paths_and_kept_units_that_are_not_judged(data):
    fit = treeselect.select("y ~ .", data, method="mrmr", k=1, seed=1)
    paths = [fit.resample(4, scheme="complementary", path=p).stability for p in (True, 7)]
    assert paths[0].path()["k"].max() < 7
    pd.testing.assert_frame_equal(paths[0].q_values(), paths[1].q_values())
    wide = fit.resample(4, scheme="complementary", path=True, k=6).stability
    assert wide.path()["k"].max() == 6  # that of the resamples is among them
    fit = treeselect.select("y ~ .", data, method="mrmr", k=2, keep="c", seed=1)
    found = fit.resample(10, scheme="complementary", path=3).stability
    assert "c" not in set(found.q_values()["term"])
    assert found.path()["k"].unique().tolist() == [2, 3]
    fit = treeselect.select(
        "y ~ .", data, method="gbfs", mu=0.0, n_trees=20, max_depth=1, prune=False, seed=1
    )
    found = fit.resample(10, scheme="complementary", path=2).stability
    assert found.path().groupby("k")["frequency"].sum().to_list() == pytest.approx([1.0, 2.0])
    assert found.q_values()["term"][0] == "b"


@pytest.fixture
def found():
    along = StabilityPath(np.array([[4, 0, 0], [4, 3, 1]]), 4, 0)
    return stability_of(
        [[1, 1, 0]] * 4, "abc", fitted=[0, 1, 0], scheme="complementary", along=along
    )


def test_q_values_and_lines_by_hand(found):
    """Power 1: bounds 3 / 9 and 3 * 4 / 9, mean 5 / 6; scores 1 and 1 / 4."""
    efp = error_bounds.efp_scores(found.along.frequency, 2, power=1, cutoff=1.0)
    np.testing.assert_allclose(efp, [5 / 6, 3, 3])
    np.testing.assert_allclose(error_bounds.q_values_of(efp), [5 / 6, 1, 1])
    assert found.q_values()["term"].to_list() == ["a", "b", "c"]

    def times(n):
        selected, counts = np.tile(found.selected, (n, 1)), n * found.along.counts
        along = StabilityPath(counts, 4 * n, 0)
        return dataclasses.replace(found, selected=selected, along=along).q_values()

    pd.testing.assert_frame_equal(times(26), times(13))
    assert (times(13)["efp"] <= found.q_values()["efp"]).all()
    lines = frequency_lines(found, most=2)
    assert (lines.sizes, lines.names, lines.more) == ((1, 2), ("b", "a"), 1)
    assert lines.values == ((0.0, 0.75), (1.0, 1.0))
    assert lines.selected == (True, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"along": None}, "Can't compute q-values without the selection paths"),
        ({"scheme": "bootstrap"}, "Q-values need complete complementary pairs"),
        ({"selected": np.ones((3, 3), dtype=bool)}, "complete complementary pairs"),
    ],
)
def test_q_values_refuse(found, change, message):
    changed = dataclasses.replace(found, **change)
    with pytest.raises(StabilityError, match=message):
        changed.q_values()
    if changed.along is None:
        with pytest.raises(StabilityError, match="without the selection paths") as error:
            changed.path()
        assert "complementary" not in str(error.value)  # any resamples serve


def test_resample_refuses_paths_of_trees_that_have_seen_all_rows(data):
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(5, random_state=0).fit(data[list("abcdef")], data["y"])
    fit = treeselect.select(
        "y ~ a + b + c + d + e + f", data, method="controlburn", forest=forest, k=2, seed=1
    )
    with pytest.raises(OptionError, match="`path` must be False if the trees were grown earlier"):
        fit.resample(2, path=True)
    everything = treeselect.select("y ~ a + b", data, method="mrmr", k=2, keep=["a", "b"], seed=1)
    with pytest.raises(OptionError, match="`path` must be False if every candidate is forced in"):
        everything.resample(2, path=True)
