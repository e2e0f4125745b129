"""The group lasso over terms: known truth, columns, prices, and what its options mean."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import Lasso
from treeselect.algorithms.linear.lasso import LassoFits, lazy_columns, linear_columns
from treeselect.algorithms.task import Task
from treeselect.designs.families import POISSON, multinomial
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError


@pytest.fixture(scope="module")
def linear():
    """Numbers `a` and `b` and the factor `site` matter; the rest is noise."""
    rng = np.random.default_rng(7)
    n = 400
    data = pd.DataFrame(rng.normal(size=(n, 6)), columns=["a", "b", "n0", "n1", "n2", "n3"])
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=n)
    data["y"] = 2 * data["a"] - data["b"] + 3 * (data["site"] == "York") + rng.normal(size=n)
    return data


def problem_of(data, formula="y ~ .", **arguments):
    k = max(1, len(arguments.get("keep", ())))
    fit = treeselect.select(formula, data, method="lasso", seed=1, k=k, **arguments)
    return fit.data.design.problem_for(fit.search.method), fit.data.design.weight


def test_signal_comes_before_noise_in_every_family(linear):
    problem, weight = problem_of(linear)
    names = np.array(problem.groups.names)
    y = linear["y"].to_numpy(copy=True)  # kernels know arrays that can be written to
    classes = np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float)
    counts = np.random.default_rng(0).poisson(np.exp(y / 3)).astype(float)
    for response, family in ((y, None), (classes, multinomial(3)), (counts, POISSON)):
        here = dataclasses.replace(problem, y=response, family=family or problem.family)
        steps = Lasso().path(Task(here, row_weights(weight), max_size=7, seed=2))
        assert [step.size for step in steps][:4] == [0, 1, 2, 3]
        assert set(names[steps[3].selected]) == {"a", "b", "site"}
        assert set(names[steps[3].importance > 0]) == {"a", "b", "site"}
        tunings = [step.tuning for step in steps]
        assert tunings[0] == np.inf
        assert tunings == sorted(tunings, reverse=True)
        scores = [step.train_score for step in steps]
        assert scores == sorted(scores)


def test_a_penalty_gives_the_step_of_the_path(linear):
    problem, weight = problem_of(linear)
    for step in Lasso().path(Task(problem, row_weights(weight), max_size=5, seed=2))[1:]:
        (one,) = Lasso(lam=step.tuning).path(Task(problem, row_weights(weight), max_size=5, seed=2))
        np.testing.assert_array_equal(one.selected, step.selected)
        np.testing.assert_allclose(one.importance, step.importance, atol=1e-6)
        assert one.train_score == pytest.approx(step.train_score, abs=1e-6)


def test_single_numbers_are_scikit_learns_lasso(linear):
    from sklearn.linear_model import Lasso as Twin
    from sklearn.preprocessing import StandardScaler

    data = linear.drop(columns="site")
    problem, weight = problem_of(data)
    names = list(problem.groups.names)
    x = StandardScaler().fit_transform(data[names])
    for lam in (0.5, 0.1, 0.02):
        (step,) = Lasso(lam=lam).path(Task(problem, row_weights(weight), max_size=5, seed=2))
        twin = Twin(alpha=lam, tol=1e-12, max_iter=100_000).fit(x, data["y"])
        share = np.abs(twin.coef_) / np.abs(twin.coef_).sum()
        np.testing.assert_allclose(step.importance, share, atol=1e-5)
        np.testing.assert_array_equal(step.selected, twin.coef_ != 0)


def test_columns_are_those_of_levels_and_missing_values():
    nan = math.nan
    data = pd.DataFrame(
        {
            "y": [1.0, 2, 3, 4, 5, 6, 7, 8],
            "number": [1.0, 2, nan, 4, 5, nan, 100, 3],
            "place": ["a", "b", "a", "c", None, "b", "a", "a"],
            "same": 2.0,
        }
    )
    problem, _ = problem_of(data)
    weight = np.array([1, 1, 1, 2, 1, 1, 0, 1])  # without the row of 100
    found = linear_columns(problem.columns, weight, np.array([1, 0, 2]))
    assert [problem.groups.names[g] for g in found.order] == ["place", "number", "same"]
    assert np.diff(found.start).tolist() == [4, 2, 0]
    share = weight[weight > 0] / weight.sum()
    np.testing.assert_allclose(share @ found.x, 0, atol=1e-12)
    np.testing.assert_allclose(share @ found.x**2, 1)
    filled = found.x[:, 4]
    assert filled[2] == filled[5] == filled[6]  # missing ones at the median, which is 3
    assert (found.x[:, 5] > 0).tolist() == [False, False, True, False, False, True, False]


@pytest.mark.parametrize("left_out", [0, 3])
def test_columns_made_block_by_block_are_the_same(left_out):
    """A block has 8192 rows."""
    rng = np.random.default_rng(4)
    n = 8200
    x = rng.normal(5.0, 2.0, size=n)
    place = rng.choice(np.array(["a", "b", "c", None], dtype=object), n)
    data = pd.DataFrame(
        {
            "y": x + (place == "b") + rng.normal(size=n), "x": x, "place": place, "same": 2.0,
            "gaps": np.where(rng.random(n) < 0.1, np.nan, rng.exponential(size=n)),
        }
    )  # fmt: skip
    problem, _ = problem_of(data)
    weight = rng.integers(1, 3, n)
    weight[:left_out] = 0
    order = np.arange(len(problem.groups.names))
    dense = linear_columns(problem.columns, weight, order)
    lazy, start = lazy_columns(problem.columns, weight, order)
    np.testing.assert_array_equal(start, dense.start)
    assert lazy.shape == dense.x.shape
    some = lazy.some(np.arange(lazy.shape[1]), 1.0)
    blocks = [some.block(slice(0, 8192)), some.block(slice(8192, n - left_out))]
    # The mean of an indicator is the sum of its level's weights, in another order.
    np.testing.assert_allclose(np.vstack(blocks)[:, 1:], dense.x, atol=1e-12)
    values = rng.normal(size=(len(dense.x), 2))
    np.testing.assert_allclose(lazy.pull(values), dense.x.T @ values, atol=1e-8)


def test_the_path_does_not_depend_on_how_columns_are_held(linear, monkeypatch):
    steps = []
    for cells in (2**22, 0):
        monkeypatch.setattr("treeselect.algorithms.linear.lasso._DENSE_CELLS", cells)
        problem, weight = problem_of(linear)
        steps.append(Lasso().path(Task(problem, row_weights(weight), max_size=4, seed=2)))
    assert len(steps[0]) == len(steps[1])
    for one, other in zip(*steps, strict=True):
        np.testing.assert_array_equal(one.selected, other.selected)
        np.testing.assert_allclose(one.importance, other.importance, atol=1e-7)
        assert one.train_score == pytest.approx(other.train_score, abs=1e-9)


@pytest.mark.parametrize("unit", [2.0**1000, 2.0**-1000])
def test_columns_of_huge_and_tiny_numbers_are_those_of_others(unit):
    """Their squares are infinite or 0; a power of two is no rounding."""
    values = np.random.default_rng(0).normal(size=20)
    values[3] = np.nan
    data = pd.DataFrame({"y": np.arange(20.0), "x": values})
    weight = np.ones(20, dtype=np.int64)
    plain, scaled = (
        linear_columns(problem_of(frame)[0].columns, weight, np.array([0])).x
        for frame in (data, data.assign(x=values * unit))
    )
    assert plain.shape == (20, 2)
    np.testing.assert_array_equal(scaled, plain)


def test_prices_and_kept_units(linear):
    plain = treeselect.select("y ~ .", linear, method="lasso", k=2, seed=1)
    dear = treeselect.select("y ~ .", linear, method="lasso", k=2, seed=1, costs={"a": 50.0})
    assert set(plain.selected) == {"a", "site"}
    assert set(dear.selected) == {"b", "site"}
    free = treeselect.select("y ~ .", linear, method="lasso", k=3, seed=1, costs={"n1": 0.0})
    assert "n1" in free.selected
    problem, weight = problem_of(linear, keep=["n0", "n1"])
    steps = Lasso().path(Task(problem, row_weights(weight), max_size=4, seed=2))
    assert [step.size for step in steps] == [2, 3, 4]
    assert (steps[0].importance > 0).sum() == 2
    assert all(step.selected[problem.groups.keep].all() for step in steps)


def test_a_price_of_a_unit_is_a_multiple_of_its_penalty(linear):
    problem, weight = problem_of(linear.drop(columns="site"))
    twice = dataclasses.replace(
        problem, groups=dataclasses.replace(problem.groups, item_costs=np.full(6, 2.0))
    )
    a, b = (
        LassoFits(Task(p, row_weights(weight), max_size=1, seed=1)).at(lam)
        for p, lam in ((problem, 0.2), (twice, 0.1))
    )
    np.testing.assert_allclose(a.importance, b.importance, atol=1e-9)


def test_of_copies_one_is_taken_and_they_share_places_across_seeds(linear):
    data = linear.assign(copy=linear["a"], place=linear["site"])
    problem, weight = problem_of(data)
    names = np.array(problem.groups.names)
    found = set()
    for seed in range(8):
        steps = Lasso().path(Task(problem, row_weights(weight), max_size=3, seed=seed))
        three = set(names[steps[-1].selected])
        assert [step.size for step in steps] == [0, 1, 2, 3]
        assert len(three & {"a", "copy"}) == len(three & {"site", "place"}) == 1
        found |= three
    assert found == {"a", "copy", "b", "site", "place"}


def test_more_columns_than_rows(linear):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(60, 150)), columns=[f"x{j}" for j in range(150)])
    few = pd.concat([linear.iloc[:60], noise], axis=1)
    fit = treeselect.select("y ~ .", few, method="lasso", k=3, seed=1)
    assert set(fit.selected) == {"a", "b", "site"}
    problem, weight = fit.data.design.problem_for(fit.search.method), fit.data.design.weight
    sizes = [s.size for s in Lasso().path(Task(problem, row_weights(weight), max_size=12, seed=1))]
    assert sizes == list(range(13))


@pytest.mark.parametrize(
    ("options", "says"),
    [({"lam": 0.0}, "`lam` of Lasso must be .* or None"), ({"prune": 1}, "True or False")],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        Lasso(**options)
