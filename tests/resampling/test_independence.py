"""Tests of dependence given other terms: what is found, what is not, and the level of a table."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import treeselect
from treeselect.designs.weights import RowWeights
from treeselect.engine.random import stream_seed
from treeselect.resampling.conditional import _test, closed_levels, dependence_given


def frame(seed: int, n: int = 250) -> pd.DataFrame:
    """A line, a bend, a product, a factor, and copies of the line: exact, bent and near."""
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(rng.normal(size=(n, 6)), columns=["bend", "one", "two", "x", "z0", "z1"])
    found["copy"], found["grown"] = found["z0"], np.exp(found["z0"])
    found["near"] = found["x"] + 0.5 * rng.normal(size=n)
    found["site"] = rng.choice(["north", "south", "west"], n)
    y = found["x"] + 0.8 * found["bend"] ** 2 + found["one"] * found["two"] + found["z0"]
    return found.assign(y=y + 1.5 * (found["site"] == "west") + 0.7 * rng.normal(size=n))


def fitted(data: pd.DataFrame, left: str = "y", **given):
    options = {"method": "lasso", "k": 2, "seed": 1, "progress": False} | given
    return treeselect.select(f"{left} ~ .", data, **options)


def given_others(data: pd.DataFrame, left: str = "y", **given) -> pd.DataFrame:
    found = fitted(data, left, **given).model.conditional_importance(None, given="all")
    return found.tidy().set_index("term")


def test_what_matters_is_found_without_scores_and_copies_and_noise_are_not():
    table = given_others(frame(1))
    assert table.loc[["x", "bend", "one", "two", "site"], "p_value"].max() < 1e-4
    assert table.loc[["x", "bend", "one", "two", "site"], "e_value"].min() > 100
    assert table.loc[["x", "bend", "one", "two", "site"], "level"].max() < 0.05
    assert (table.loc[["z0", "copy", "grown"], ["p_value", "e_value"]] == 1).all(axis=None)
    assert table.loc[["near", "z1"], "p_value"].min() > 0.05
    assert table.loc[["near", "z1"], "level"].min() > 0.05
    assert [*table.columns] == ["selected", "p_value", "e_value", "level"]
    assert table["p_value"].is_monotonic_increasing
    found = fitted(frame(1)).model.conditional_importance(None, terms=["x", "z1"], given="all")
    text = " ".join(found.summary().as_text().split())
    assert ".model.conditional_importance( None," in text
    assert "Loss" not in text
    assert "what a term adds to all others" in text
    assert "were selected on" not in text


def test_rows_that_could_not_be_split_are_tested():
    data = frame(1, 60)[["x", "z1", "y"]]
    data["y"] = np.where(data["y"] > data["y"].median(), "high", "low")
    data.loc[0, "y"] = "other"
    found = fitted(data).model.conditional_importance(None)
    assert (found.scheme, found.tidy().shape) == ("no folds", (2, 5))


def test_a_factor_is_the_group_of_its_indicators():
    data = frame(2)[["x", "site", "y"]]
    apart = pd.get_dummies(data, columns=["site"], dtype=float)
    levels = [c for c in apart if c.startswith("site_")]
    of_levels = given_others(apart, groups={"site": levels})
    whole = given_others(data)
    assert of_levels.loc["site", "p_value"] < 1e-4
    assert whole.loc["site", "p_value"] < 1e-4
    np.testing.assert_allclose(*np.log([of_levels["e_value"], whole["e_value"]]), rtol=0.1)


@pytest.mark.parametrize("kind", ["copies", "relative"])
def test_weights_of_zero_leave_rows_out_and_counts_are_copies(kind):
    data = frame(3, 120)[["x", "z1", "site", "y"]]
    fit = fitted(data)
    problem, unit = fit.data.design.problem, 1
    others = np.arange(3) != unit
    half = np.arange(120) < 80
    counts = half * (2 if kind == "copies" else 2.0)
    own = dependence_given(problem, RowWeights(counts, kind == "copies"), others, unit, 1)
    rows = problem.only(np.flatnonzero(half))
    ones = np.ones(80, dtype=np.int64)
    alone = dependence_given(rows, RowWeights(ones, True), others, unit, 1)
    if kind == "relative":
        assert own.p_value == pytest.approx(alone.p_value, rel=0.2)
    else:
        assert own.p_value < alone.p_value**1.5


def test_times_classes_and_counts_of_events():
    rng = np.random.default_rng(14)
    x = pd.DataFrame(rng.normal(size=(250, 3)), columns=list("abc"))
    risk = np.exp(x["a"])
    times = x.assign(time=rng.exponential(1 / risk), event=rng.integers(4, size=250) > 0)
    classes = x.assign(y=np.where(x["a"] + rng.normal(size=250) > 0, "hi", "lo"))
    classes.loc[x["a"].abs() < 0.3, "y"] = "mid"
    counts = x.assign(y=rng.poisson(risk))
    for data, left in ((times, "Surv(time, event)"), (classes, "y"), (counts, "y")):
        found = given_others(data, left)
        assert found.loc["a", "p_value"] < 1e-6
        assert found.loc[["b", "c"], "p_value"].min() > 0.02


def test_whole_clusters_are_one_observation_and_many_levels_are_found():
    rng = np.random.default_rng(15)
    x = rng.normal(size=(40, 2))[np.arange(240) // 6]
    shared = rng.normal(size=40)[np.arange(240) // 6]
    data = pd.DataFrame(x, columns=["a", "b"]).assign(
        y=shared + 0.2 * rng.normal(size=240), own=np.arange(240) // 6
    )
    fit = treeselect.select("y ~ a + b", data, method="lasso", k=2, seed=1, fold_groups="own")
    assert fit.model.conditional_importance(None).tidy()["p_value"].min() > 0.01
    rng = np.random.default_rng(16)
    level, site = rng.integers(40, size=360), np.arange(360) // 12
    data = pd.DataFrame({"letter": [f"v{i}" for i in level], "x": rng.normal(size=360)})
    data = data.assign(site=site, y=rng.normal(size=40)[level] + rng.normal(size=360))
    found = given_others(data, fold_groups="site", k=1)
    assert found.loc["letter", "p_value"] < 1e-3
    assert found.loc["x", "p_value"] > 0.02


def test_a_single_term_and_one_that_does_not_vary():
    data = frame(6)[["x", "y"]].assign(same=1.0)
    found = given_others(data)
    assert found.loc["x", "p_value"] < 1e-6
    assert found.loc["same", ["p_value", "e_value"]].tolist() == [1, 1]


def test_one_column_has_the_t_test_about_zero_and_signs_have_e_values_of_one():
    rng = np.random.default_rng(7)
    left, x = rng.normal(size=(2, 60, 1))
    ones = RowWeights(np.ones(60, dtype=np.int64), True)
    found = _test(left, x, ones)
    products = (left * x)[:, 0]
    z = products.sum() ** 2 / (products**2).sum()
    assert found.p_value == pytest.approx(stats.f.sf(59 * z / (60 - z), 1, 59))
    assert found.e_value == pytest.approx(np.exp(z * 4 / 9) / 3)
    assert _test(left, np.zeros((60, 1)), ones) is None
    rng = np.random.default_rng(8)
    left, x = np.ones((8, 1)), rng.standard_t(2, size=(8, 2))
    ones = RowWeights(np.ones(8, dtype=np.int64), True)
    signs = np.array(list(itertools.product([-1, 1], repeat=8)))
    found = [_test(left * sign[:, np.newaxis], x, ones).e_value for sign in signs]
    assert np.mean(found) <= 1


def test_p_values_are_uniform_without_dependence():
    rng, below = np.random.default_rng(9), []
    for seed in range(25):
        x = rng.normal(size=(100, 3)) @ np.linalg.cholesky(0.5 * np.eye(3) + 0.5).T
        data = pd.DataFrame(x, columns=list("abc")).assign(y=x[:, 0] + rng.normal(size=100))
        problem = fitted(data).data.design.problem
        weights = RowWeights(np.ones(100, dtype=np.int64), True)
        for unit in (1, 2):
            others = np.arange(3) != unit
            found = dependence_given(problem, weights, others, unit, stream_seed(seed, "level"))
            below.append(found.p_value < 0.1)
    assert np.mean(below) < 0.22  # 50 tests at 10 %: 3 standard errors


def plain_levels(e_values: np.ndarray) -> list[float]:
    """Lowest level at which each is in a set of all above some value that all subsets confirm."""
    m = len(e_values)
    subsets = [s for n in range(1, m + 1) for s in itertools.combinations(range(m), n)]

    def level(called: tuple[int, ...]) -> float:
        shares = [
            len({*some} & {*called}) / len(called) / max(np.mean(e_values[[*some]]), 1e-300)
            for some in subsets
        ]
        return max(shares)

    called = [tuple(np.flatnonzero(e_values >= least).tolist()) for least in e_values]
    of_sets = {own: level(own) for own in called}
    return [min(1.0, *(of_sets[s] for s in of_sets if j in s)) for j in range(m)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=5))
@example([1000.0, 20.0, 20.0])
def test_levels_are_those_of_all_subsets(e_values):
    found = closed_levels(np.array(e_values))
    np.testing.assert_allclose(found, plain_levels(np.array(e_values)), rtol=1e-9)
    assert (found <= np.minimum(1, len(e_values) / np.maximum(e_values, 1e-300))).all()
