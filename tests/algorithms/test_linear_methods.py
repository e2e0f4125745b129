"""The group lasso and SVM-RFE: other solvers, columns, prices, weights and offsets."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from tasks import in_families, names_of, sizes_of, task_of, with_problem, with_weights

import treeselect
from treeselect import SVMRFE, Lasso
from treeselect.algorithms.linear.penalised import (
    LassoFits,
    LinearMachine,
    lazy_columns,
    linear_columns,
)
from treeselect.designs.families import POISSON, multinomial


@pytest.fixture(scope="module")
def linear():
    """Numbers `a` and `b` and the factor `site` matter; the rest is noise."""
    rng = np.random.default_rng(7)
    n = 300
    data = pd.DataFrame(rng.normal(size=(n, 6)), columns=["a", "b", "n0", "n1", "n2", "n3"])
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=n)
    data["y"] = 2 * data["a"] - 1.5 * data["b"] + 3 * (data["site"] == "York")
    data["y"] += 0.5 * rng.normal(size=n)
    return data


def classes_of(data):
    return data.assign(y=(data["y"] > 1).astype(int))


def test_columns_are_numbers_as_in_scikit_learn_and_levels_and_missing_values(linear):
    from sklearn.linear_model import Lasso as Twin
    from sklearn.preprocessing import StandardScaler

    data = linear.drop(columns="site")
    task = task_of(data, Lasso())
    names = list(task.problem.groups.names)
    x = StandardScaler().fit_transform(data[names])
    for lam in (0.5, 0.1, 0.02):
        (step,) = Lasso(lam=lam).path(task)
        twin = Twin(alpha=lam, tol=1e-12, max_iter=100_000).fit(x, data["y"])
        share = np.abs(twin.coef_) / np.abs(twin.coef_).sum()
        np.testing.assert_allclose(step.importance, share, atol=1e-5)
        np.testing.assert_array_equal(step.selected, twin.coef_ != 0)
    nan = math.nan
    data = pd.DataFrame(
        {
            "y": [1.0, 2, 3, 4, 5, 6, 7, 8], "number": [1.0, 2, nan, 4, 5, nan, 100, 3],
            "place": ["a", "b", "a", "c", None, "b", "a", "a"], "same": 2.0,
        }
    )  # fmt: skip
    problem = task_of(data, Lasso()).problem
    weight = np.array([1, 1, 1, 2, 1, 1, 0, 1])  # without the row of 100
    found = linear_columns(problem.columns, weight, np.array([1, 0, 2]))
    assert [problem.groups.names[g] for g in found.order] == ["place", "number", "same"]
    assert np.diff(found.start).tolist() == [4, 2, 0]
    share = weight[weight > 0] / weight.sum()
    np.testing.assert_allclose(share @ found.x, 0, atol=1e-12)
    np.testing.assert_allclose(share @ found.x**2, 1)
    filled = found.x[:, 4]
    # missing ones at the median, which is 3.5
    assert filled[2] == filled[5] == pytest.approx((filled[3] + filled[6]) / 2)
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
            "first": np.where(np.arange(n) < 3, "a", "b"),
            "many": np.where(np.arange(n) % 9 == 0, None, np.arange(n) % 300),
        }
    )  # fmt: skip
    problem = task_of(
        data, Lasso(), "y ~ x + place + same + bs(gaps, df=4) + C(many) + first"
    ).problem
    weight = np.random.default_rng(5).uniform(1, 2, n)
    weight[:left_out] = 0
    order = np.arange(len(problem.groups.names))
    dense = linear_columns(problem.columns, weight, order)
    lazy, start = lazy_columns(problem.columns, weight, order)
    np.testing.assert_array_equal(start, dense.start)
    assert lazy.shape == dense.x.shape
    # Several columns of a term that are missing in the same rows have one indicator of that.
    sizes = dict(zip(problem.groups.names, np.diff(start).tolist(), strict=True))
    assert sizes == {"x": 1, "place": 4, "same": 0, "bs(gaps, df=4)": 5, "C(many)": 301} | {
        "first": 0 if left_out else 2  # shares of a level in all rows may not add up to 1
    }
    some = lazy.some(np.arange(lazy.shape[1]), 1.0)
    blocks = [some(slice(0, 8192)), some(slice(8192, n - left_out))]
    # The mean of an indicator is the sum of its level's weights, in another order.
    np.testing.assert_allclose(np.vstack(blocks)[:, 1:], dense.x, atol=1e-12)
    values = rng.normal(size=(len(dense.x), 2))
    np.testing.assert_allclose(lazy.pull(values), dense.x.T @ values, atol=1e-8)


def test_the_path_does_not_depend_on_how_columns_are_held(linear, monkeypatch):
    steps = []
    for cells in (2**22, 0):
        monkeypatch.setattr("treeselect.algorithms.linear.penalised._DENSE_CELLS", cells)
        steps.append(Lasso().path(task_of(linear, Lasso(), max_size=4)))
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
        linear_columns(task_of(frame, Lasso()).problem.columns, weight, np.array([0])).x
        for frame in (data, data.assign(x=values * unit))
    )
    assert plain.shape == (20, 2)
    np.testing.assert_array_equal(scaled, plain)


def test_prices_and_kept_units(linear):
    free = treeselect.select("y ~ .", linear, method="lasso", k=3, seed=1, costs={"n1": 0.0})
    assert "n1" in free.selected
    kept = Lasso().path(task_of(linear, Lasso(), keep=["n0", "n1"]))[0]
    assert (kept.importance > 0).sum() == 2
    task = task_of(linear.drop(columns="site"), Lasso())
    groups = dataclasses.replace(task.problem.groups, item_costs=np.full(6, 2.0))
    a, b = LassoFits(task).at(0.2), LassoFits(with_problem(task, groups=groups)).at(0.1)
    np.testing.assert_allclose(a.importance, b.importance, atol=1e-9)


def test_a_small_share_of_the_variance_may_be_a_clear_effect(linear):
    task = task_of(linear.assign(y=100 * linear["a"] + linear["b"]), Lasso())
    steps = Lasso().path(task)
    assert sizes_of(steps) == [0, 1, 2]
    assert names_of(task, steps[-1].selected) == {"a", "b"}


def test_more_columns_than_rows_have_a_path_of_all_sizes_and_the_same_solution(linear):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(60, 150)), columns=[f"x{j}" for j in range(150)])
    task = task_of(pd.concat([linear.iloc[:60], noise], axis=1), Lasso(), max_size=12)
    steps = Lasso().path(task)
    assert sizes_of(steps) == list(range(13))
    assert names_of(task, steps[3].selected) == {"a", "b", "site"}
    from sklearn.svm import LinearSVC, LinearSVR

    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(40, 90)), columns=[f"x{j}" for j in range(90)])
    for response in (rng.integers(2, size=40), rng.integers(3, size=40), rng.normal(size=40)):
        task = task_of(data.assign(y=response.astype(type(response[0]))), SVMRFE())
        if len(np.unique(response)) == 3:
            task = with_problem(task, y=response * 1.0, family=multinomial(3))
        machine = machine_of(task)
        kind = LinearSVC if task.problem.family.has_classes else LinearSVR
        own = {"epsilon": 0.1, "loss": "squared_epsilon_insensitive"} if kind is LinearSVR else {}
        twin = kind(dual=False, tol=1e-8, intercept_scaling=10.0, **own)
        twin.fit(machine._x, machine._y, machine._mass)
        found = machine.weights(np.arange(90))
        np.testing.assert_allclose(found, np.atleast_2d(twin.coef_), atol=1e-4)


# --- SVM-RFE ---


def machine_of(task, C=1.0, epsilon=0.1):
    return LinearMachine(task, C, epsilon)


def test_the_same_numbers_as_scikit_learns_elimination(linear):
    from sklearn.feature_selection import RFE
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    data = classes_of(linear).drop(columns="site")
    task = task_of(data, SVMRFE())
    x = StandardScaler().fit_transform(data[list(task.problem.groups.names)])
    steps = SVMRFE(C=0.5).path(task)
    twin = LinearSVC(C=0.5, dual=False, intercept_scaling=10.0, tol=1e-8)
    for size in range(1, 7):
        found = RFE(twin, n_features_to_select=size).fit(x, data["y"])
        np.testing.assert_array_equal(steps[size].selected, found.support_)
        squares = found.estimator_.coef_[0] ** 2
        np.testing.assert_allclose(
            steps[size].importance[found.support_], squares / squares.sum(), atol=1e-4
        )


def test_a_unit_has_the_squares_of_all_its_columns_and_one_class_tells_nothing(linear):
    task = in_families(task_of(linear, SVMRFE(), groups={"both": ["a", "n0"]}))[1]
    machine, names = machine_of(task), task.problem.groups.names
    every = np.ones(len(names), dtype=bool)
    squares = machine.weights(np.arange(machine._x.shape[1])) ** 2
    assert squares.shape == (3, 5 + 3 + 1)
    found = machine.judge(every)
    for g, n_columns in ((names.index("both"), 2), (names.index("site"), 3)):
        own = machine._unit == g
        assert own.sum() == n_columns
        assert found[g] == pytest.approx(squares[:, own].sum(), rel=1e-6)
    task = task_of(classes_of(linear), SVMRFE(), max_size=8)
    one_class = with_weights(task, task.weight * (task.problem.y == 1))
    assert sizes_of(SVMRFE().path(one_class)) == [0]


def test_an_offset_takes_what_it_explains_from_classes_and_counts():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(600, 2))
    data = pd.DataFrame(x, columns=["a", "b"])
    known = 2.5 * x[:, 0]
    data["y"] = (rng.random(600) < 1 / (1 + np.exp(-known - x[:, 1]))).astype(int)
    counts = rng.poisson(np.exp(0.8 * x[:, 0] + 0.5 * x[:, 1])).astype(float)
    task = task_of(data, SVMRFE(), max_size=1)
    for y, family, part in (
        (task.problem.y, task.problem.family, known), (counts, POISSON, 0.8 * x[:, 0]),
    ):  # fmt: skip
        for offset, first in ((None, "a"), (part, "b")):
            here = with_problem(task, y=y, family=family, offset=offset)
            assert names_of(task, SVMRFE().path(here)[1].selected) == {first}
