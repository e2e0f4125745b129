"""Forests that rank: importances, recursive elimination, and varSelRF's errors and rule."""

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from quick import normal
from tasks import NO_PROBLEM, names_of, sizes_of, task_of, with_problem

import treeselect
from treeselect import RRF, Boruta, ForestImportance, RecursiveElimination, VarSelRF
from treeselect.algorithms.forests.elimination import out_of_bag_error
from treeselect.algorithms.forests.ranking import KINDS, _usual_trees
from treeselect.algorithms.forests.scoring import forest_target
from treeselect.algorithms.task import Task
from treeselect.designs.families import BINOMIAL, GAUSSIAN, POISSON, multinomial
from treeselect.designs.weights import no_weights, row_weights
from treeselect.engine.columns import select_groups
from treeselect.engine.forest.bagging import BOOTSTRAP, bagged_forest
from treeselect.engine.forest.out_of_bag import out_of_bag
from treeselect.engine.random import stream_seed
from treeselect.engine.tree.target import copies
from treeselect.engine.tree.workspace import UNBOUNDED, Growth

FEW = {"n_trees": 40}


@pytest.fixture(scope="module")
def data():
    """Of twelve numbers three matter."""
    return normal(4, 250, [*"abc", *(f"n{j}" for j in range(9))], 0.3, a=2, b=1.5, c=1)


@pytest.fixture(scope="module")
def task(data):
    return task_of(data, VarSelRF(), max_size=12)


def test_the_decrease_of_impurity_is_scikit_learns_or_of_samples(data, task, monkeypatch):
    from sklearn.ensemble import RandomForestRegressor

    twin = RandomForestRegressor(300, max_features=3, random_state=0)
    twin.fit(data[list(task.problem.groups.names)], data["y"])
    steps = ForestImportance(kind="mdi", n_trees=300, mtry=3).path(task)
    assert steps[1].tuning == 1.0  # importance relative to the largest
    np.testing.assert_allclose(steps[-1].importance, twin.feature_importances_, atol=0.02)
    method = ForestImportance(n_trees=30)
    every = treeselect.select("y ~ .", data, method=method, k=3, seed=1).path
    monkeypatch.setattr("treeselect.algorithms.forests.scoring._SCORED_ROWS", len(data) // 2)
    found = [
        treeselect.select("y ~ .", data, method=method, k=3, seed=1, n_jobs=n).path for n in (1, 2)
    ]
    pd.testing.assert_frame_equal(*found)
    assert found[0]["terms"].tolist() == every["terms"].tolist()
    assert (found[0]["train_score"] != every["train_score"])[1:].all()
    np.testing.assert_allclose(found[0]["train_score"], every["train_score"], atol=0.1)


def test_many_valued_noise_is_not_favoured_outside_the_bags():
    """Strobl and others (2007): pure noise, columns of more and more values."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({f"v{k}": rng.integers(k, size=400) for k in (3, 10, 400)})
    data["y"] = rng.integers(2, size=400)
    task, every = task_of(data, ForestImportance(), seed=1), np.ones(3, dtype=bool)
    at = [task.problem.groups.names.index(name) for name in ("v3", "v10", "v400")]
    found = {kind: ForestImportance(kind=kind, n_trees=200).measure(task, every) for kind in KINDS}
    biased = found["mdi"].mean[at]
    assert biased[2] > 2 * biased[1] > 2 * biased[0]
    for kind in ("unbiased", "permutation"):
        assert np.abs(found[kind].mean).max() < 0.2 * biased.max()
        assert (found[kind].standard_error > 0).all()


@pytest.mark.parametrize(
    "method",
    [
        ForestImportance(n_trees=50, mtry=4),
        RecursiveElimination(n_trees=50, mtry=4),
        VarSelRF(n_trees=50, mtry=4),
        Boruta(level=None, n_trees=40, max_rounds=3, mtry=8),
        RRF(
            lam=1.0, n_trees=50, mtry=4, screen=False, gain="decrease", ties="random", replace=True
        ),
    ],
    ids=lambda method: method.name,
)
@pytest.mark.parametrize("values", [[0.1, 1.3], ["u", "v"]], ids=["numbers", "classes"])
def test_a_gain_that_is_rounding_is_none(method, values):
    """Rows that are drawn twice round otherwise than rows drawn once: equal numbers then differ."""
    data = normal(0, 200, "abcd", 0.0)
    data["y"] = np.where(data["a"] > 0, *values)
    task = task_of(data, method)
    assert names_of(task, method.path(task)[-1].selected) == {"a"}


@pytest.mark.parametrize(("n_rows", "n_trees"), [(1_000, 500), (40_000, 250), (10**6, 50)])
def test_long_data_are_ranked_by_fewer_trees(n_rows, n_trees):
    weights = row_weights(np.ones(n_rows, dtype=np.int64))
    assert _usual_trees(Task(NO_PROBLEM, weights, max_size=1, seed=1)) == n_trees


def test_of_copies_one_remains_where_a_single_forest_takes_all():
    copied = normal(4, 400, "abcdefg", 0.3, a=2, b=1.5, c=2)
    for name in ("a1", "a2", "b1", "b2"):
        copied[name] = copied[name[0]]
    many = {"kind": "permutation", "n_trees": 100}
    plain = task_of(copied, RecursiveElimination(), max_size=3)
    for seed in range(3):
        task = dataclasses.replace(plain, seed=seed)
        steps = RecursiveElimination(**many).path(task)
        assert sizes_of(steps) == [0, 1, 2, 3]
        assert {name[0] for name in names_of(task, steps[3].selected)} == {"a", "b", "c"}
        assert steps[3].train_score > 0.8
        one = ForestImportance(**many).path(task)[3]
        assert {name[0] for name in names_of(task, one.selected)} < {"a", "b", "c"}


def test_one_drop_is_the_ranking_of_one_forest_and_tuning_values_are_shares(task):
    """Limit case: what is left after the first drop are the first units of one forest."""
    (step,) = RecursiveElimination(share=11 / 12, n_trees=300).path(task)
    (every,) = RecursiveElimination(share=1.0, n_trees=300).path(task)
    assert every.size == 12
    last = np.flatnonzero(~step.selected)
    assert every.importance[last] == every.importance.min()
    tunings = [step.tuning for step in RecursiveElimination(**FEW).path(task)]
    assert tunings == [np.inf, *(size / 12 for size in range(1, 13))]


# --- varSelRF ---


def in_family(task, family):
    y = task.problem.y
    responses = {
        "gaussian": y,
        "binomial": (y > 0).astype(float),
        "multinomial": np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float),
        "poisson": np.random.default_rng(0).poisson(np.exp(y / 3)).astype(float),
    }
    return with_problem(task, y=responses[family.name], family=family)


@pytest.mark.parametrize(
    "family", [GAUSSIAN, BINOMIAL, multinomial(3), POISSON], ids=lambda f: f.name
)
def test_errors_are_those_of_the_forests_out_of_bag(task, family):
    own = in_family(dataclasses.replace(task, max_size=4), family)
    here, weight = own.problem, own.weight
    steps = VarSelRF(**FEW).path(own)
    assert sizes_of(steps) == [0, 1, 2, 3, 4]
    for step in steps[2:]:
        part = select_groups(here.data, step.selected)
        seed = stream_seed(2, "elimination", step.size)
        target, _ = forest_target(here, weight, "gini")
        mtry = np.sqrt(step.size) if family.has_classes else step.size / 3
        forest = bagged_forest(
            part, target, copies(weight), n_trees=40, seed=seed, sampling=BOOTSTRAP,
            growth=Growth(UNBOUNDED, 1, int(np.ceil(mtry)), 0.0),
            rank=np.ascontiguousarray(here.groups.ranks(seed)[step.selected]),
        )  # fmt: skip
        raw = out_of_bag(forest).mean[:, 0]
        if family.name == "multinomial":
            shares = np.bincount(here.y.astype(int)) / len(here.y)
            n_trees = out_of_bag(forest).n_trees
            by_hand = ((raw * n_trees[:, np.newaxis] + shares).argmax(axis=1) != here.y).mean()
        elif family.name == "binomial":
            by_hand = ((raw[:, 0] > 0) != here.y).mean()  # trees are grown on y - 1/2
        elif family.name == "gaussian":
            by_hand = ((raw[:, 0] + here.y.mean() - here.y) ** 2).mean()
        else:
            mean = np.maximum(raw[:, 0] + here.y.mean(), 1e-6)
            ratio = np.where(here.y > 0, here.y, 1) / mean
            by_hand = (2 * (here.y * np.log(ratio) - here.y + mean)).mean()
        assert step.error == pytest.approx(by_hand, rel=1e-9)
    assert steps[0].error > steps[3].error
    assert {"a", "b"} <= names_of(task, steps[3].selected) <= {"a", "b", "c"}


def test_the_error_of_classes_has_the_standard_error_of_a_share(task):
    here = in_family(task, BINOMIAL).problem
    rng = np.random.default_rng(1)
    fitted = rng.random(len(here.y))
    fitted[3] = np.nan
    for weight in (task.weight, rng.integers(0, 4, size=len(here.y))):
        error, standard_error = out_of_bag_error(here, row_weights(weight), fitted)
        wrong, told = (fitted > 0.5) != (here.y == 1), np.arange(len(fitted)) != 3
        n = weight[told].sum()
        assert error == pytest.approx((weight * wrong)[told].sum() / n)
        assert standard_error == pytest.approx(np.sqrt(error * (1 - error) / n))
        rows = np.repeat(np.arange(len(here.y)), weight)  # copies of rows
        copied = dataclasses.replace(here, y=here.y[rows])
        again = out_of_bag_error(copied, no_weights(len(rows)), fitted[rows])
        assert again == pytest.approx((error, standard_error))
    low, high = (
        out_of_bag_error(here, row_weights(1.0 * weight * unit), fitted) for unit in (0.1, 7.0)
    )
    assert low == pytest.approx(high)


def test_the_rule_takes_the_smallest_set_and_units_go_in_the_order_of_the_first_forest(task):
    """All sets of the authors' loop, and their choice."""
    here, sizes = in_family(task, BINOMIAL), [12, 10, 8, 6, 5, 4, 3, 2]
    found = VarSelRF(c_sd=0.0, **FEW)._eliminate(here)
    assert [int(left.sum()) for left, _ in found] == sizes
    errors = np.array([judged.error for _, judged in found])
    best = int(errors.argmin())
    for c_sd in (0.0, 0.5, 1.0, 3.0, 100.0):
        steps = VarSelRF(c_sd=c_sd, **FEW).path(dataclasses.replace(here, max_size=3))
        within = errors <= errors[best] + c_sd * np.sqrt(errors[best] * (1 - errors[best]) / 250)
        smallest = max(np.flatnonzero(within))
        assert steps[-1].size == sizes[smallest]
        assert steps[-1].tuning == c_sd
        assert steps[-1].error == errors[smallest]
        np.testing.assert_array_equal(steps[-1].selected, found[smallest][0])
        assert [step.size for step in steps] == sizes[: smallest - 9 : -1][: len(steps)]
        assert all(step.tuning > c_sd for step in steps[:-1])
    assert steps[-1].size == 2  # the rule goes no further
    here = dataclasses.replace(task, seed=3)
    steps = VarSelRF(**FEW).path(here)
    for small, large in pairwise(steps):
        assert not (small.selected & ~large.selected).any()
    every = np.ones(12, dtype=bool)
    first = VarSelRF(**FEW).measure(here.seeded("elimination", 12), every)
    order = np.argsort(-first.mean)
    for step in steps:
        assert set(np.flatnonzero(step.selected)) == set(order[: step.size])


def test_tuning_values_are_the_least_that_lead_there(task):
    steps = VarSelRF(**FEW).path(in_family(task, BINOMIAL))
    tunings = [step.tuning for step in steps]
    assert tunings[0] == np.inf
    assert tunings == sorted(tunings, reverse=True)
    assert tunings[-1] == 0.0
    errors = np.array([step.error for step in steps])
    best = errors[1:].min()
    for i, step in enumerate(steps[1:], start=1):
        spread = np.sqrt(best * (1 - best) / 250)
        assert step.tuning == pytest.approx((errors[1 : i + 1].min() - best) / spread)


def test_the_authors_loop_takes_shares_to_the_end_and_few_units_stay(data):
    many = normal(1, 100, [f"x{j}" for j in range(50)], 0, x0=1, x1=1)
    many["y"] = (many["y"] > 0).astype(int)
    method = VarSelRF(step=0.3, n_trees=60, c_sd=0.0)
    asked = method._eliminate(task_of(many, method, max_size=50, seed=1))
    assert [int(left.sum()) for left, _ in asked] == [50, 35, 25, 17, 12, 8, 6, 4, 3, 2]
    method = dataclasses.replace(method, c_sd=1)
    assert {"x0", "x1"} <= set(treeselect.select("y ~ .", many, method=method).selected)
    kept = task_of(data, method, keep=["n0", "n1", "n2"])
    last = VarSelRF(c_sd=1e6, **FEW).path(kept)[-1]
    assert last.selected[kept.problem.groups.keep].all()
    assert last.size == 3
    fit = treeselect.select("y ~ a", data, method="varselrf", c_sd=1, n_trees=10, seed=1)
    assert fit.selected == ("a",)
