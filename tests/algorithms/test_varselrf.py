"""varSelRF: its sets, the errors of their forests by hand, and the authors' rule."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import ForestImportance, VarSelRF
from treeselect.algorithms.forests.elimination import out_of_bag_error
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
from treeselect.errors import MethodError

FEW = {"n_trees": 40}


@pytest.fixture(scope="module")
def data():
    """Of twelve numbers three matter."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(250, 12))
    frame = pd.DataFrame(x, columns=["a", "b", "c", *(f"n{j}" for j in range(9))])
    frame["y"] = 2 * frame["a"] + 1.5 * frame["b"] + frame["c"] + 0.3 * rng.normal(size=250)
    return frame


@pytest.fixture(scope="module")
def problem(data):
    return problem_of(data)


def problem_of(data, **arguments):
    fit = treeselect.select(
        "y ~ .", data, method=ForestImportance(n_trees=2), seed=1,
        k=max(1, len(arguments.get("keep", ()))), **arguments,
    )  # fmt: skip
    return fit.data.design.problem_for(fit.search.method)


def weight_of(problem):
    return np.ones(len(problem.y), dtype=np.int64)


def in_family(problem, family):
    y = problem.y
    responses = {
        "gaussian": y,
        "binomial": (y > 0).astype(float),
        "multinomial": np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float),
        "poisson": np.random.default_rng(0).poisson(np.exp(y / 3)).astype(float),
    }
    return dataclasses.replace(problem, y=responses[family.name], family=family)


@pytest.mark.parametrize(
    "family", [GAUSSIAN, BINOMIAL, multinomial(3), POISSON], ids=lambda f: f.name
)
def test_errors_are_those_of_the_forests_out_of_bag(problem, family):
    here = in_family(problem, family)
    weight = weight_of(here)
    steps = VarSelRF(**FEW).path(Task(here, row_weights(weight), max_size=4, seed=2))
    assert [step.size for step in steps] == [0, 1, 2, 3, 4]
    for step in steps[2:]:
        part = select_groups(here.data, step.selected)
        seed = stream_seed(2, "elimination", step.size)
        target, _ = forest_target(here, weight, "gini")
        mtry = np.sqrt(step.size) if family.has_classes else step.size / 3
        trees = bagged_forest(
            part, target, copies(weight), n_trees=40, seed=seed, sampling=BOOTSTRAP,
            growth=Growth(UNBOUNDED, 1, int(np.ceil(mtry)), 0.0),
            rank=np.ascontiguousarray(here.groups.ranks(seed)[step.selected]),
        )  # fmt: skip
        raw = out_of_bag(trees, part, copies(weight), BOOTSTRAP, seed).prediction
        if family.name == "multinomial":
            shares = np.bincount(here.y.astype(int)) / len(here.y)
            n_trees = out_of_bag(trees, part, copies(weight), BOOTSTRAP, seed).n_trees
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
    names = np.array(here.groups.names)
    assert {"a", "b"} <= set(names[steps[3].selected]) <= {"a", "b", "c"}


def test_the_error_of_classes_has_the_standard_error_of_a_share(problem):
    here = in_family(problem, BINOMIAL)
    rng = np.random.default_rng(1)
    fitted = rng.random(len(here.y))
    fitted[3] = np.nan
    for weight in (weight_of(here), rng.integers(0, 4, size=len(here.y))):
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


def test_the_rule_takes_the_smallest_set_within_so_many_standard_errors(problem):
    """All sets of the authors' loop, and their choice."""
    here, sizes = in_family(problem, BINOMIAL), [12, 10, 8, 6, 5, 4, 3, 2]
    weight = weight_of(here)
    found = VarSelRF(c_sd=0.0, **FEW)._eliminate(
        Task(here, row_weights(weight), max_size=12, seed=2)
    )
    assert [int(left.sum()) for left, _ in found] == sizes
    errors = np.array([judged.error for _, judged in found])
    best = int(errors.argmin())
    for c_sd in (0.0, 0.5, 1.0, 3.0, 100.0):
        steps = VarSelRF(c_sd=c_sd, **FEW).path(Task(here, row_weights(weight), max_size=3, seed=2))
        within = errors <= errors[best] + c_sd * np.sqrt(errors[best] * (1 - errors[best]) / 250)
        smallest = max(np.flatnonzero(within))
        assert steps[-1].size == sizes[smallest]
        assert steps[-1].tuning == c_sd
        assert steps[-1].error == errors[smallest]
        np.testing.assert_array_equal(steps[-1].selected, found[smallest][0])
        assert [step.size for step in steps] == sizes[: smallest - 9 : -1][: len(steps)]
        assert all(step.tuning > c_sd for step in steps[:-1])
    assert steps[-1].size == 2  # the rule goes no further


def test_tuning_values_are_the_least_that_lead_there(problem):
    here = in_family(problem, BINOMIAL)
    steps = VarSelRF(**FEW).path(Task(here, row_weights(weight_of(here)), max_size=12, seed=2))
    tunings = [step.tuning for step in steps]
    assert tunings[0] == np.inf
    assert tunings == sorted(tunings, reverse=True)
    assert tunings[-1] == 0.0
    errors = np.array([step.error for step in steps])
    best = errors[1:].min()
    for i, step in enumerate(steps[1:], start=1):
        spread = np.sqrt(best * (1 - best) / 250)
        assert step.tuning == pytest.approx((errors[1 : i + 1].min() - best) / spread)


def test_units_go_in_the_order_of_the_first_forest_unless_asked(problem):
    here = in_family(problem, GAUSSIAN)
    weight, order = weight_of(here), None
    steps = VarSelRF(**FEW).path(Task(here, row_weights(weight), max_size=12, seed=3))
    for small, large in pairwise(steps):
        assert not (small.selected & ~large.selected).any()
    first = VarSelRF(**FEW).measure(
        Task(here, row_weights(weight), max_size=12, seed=3).seeded("elimination", 12),
        np.ones(12, dtype=bool),
    )
    order = np.argsort(-first.importance)
    for step in steps:
        assert set(np.flatnonzero(step.selected)) == set(order[: step.size])
    anew = VarSelRF(recompute=True, **FEW).path(
        Task(here, row_weights(weight), max_size=12, seed=3)
    )
    assert [s.size for s in anew] == [s.size for s in steps]
    np.testing.assert_array_equal(anew[12].importance, steps[12].importance)
    assert any((a.selected != b.selected).any() for a, b in zip(anew, steps, strict=True))


def test_many_go_by_shares_and_thirty_one_by_one():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(100, 50)), columns=[f"x{j}" for j in range(50)])
    data["y"] = (data["x0"] + data["x1"] > 0).astype(int)
    here = problem_of(data)
    weight = weight_of(here)
    method = VarSelRF(step=0.3, n_trees=60)
    sizes = [s.size for s in method.path(Task(here, row_weights(weight), max_size=50, seed=1))]
    assert sizes == [*range(31), 35, 50]
    asked = dataclasses.replace(method, c_sd=0.0)._eliminate(
        Task(here, row_weights(weight), max_size=50, seed=1)
    )
    assert [int(left.sum()) for left, _ in asked] == [50, 35, 25, 17, 12, 8, 6, 4, 3, 2]
    assert treeselect.select("y ~ .", data, method=method, k=33, seed=1).k == 33
    assert {"x0", "x1"} <= set(treeselect.select("y ~ .", data, method=method, c_sd=1).selected)


def test_kept_units_never_go_and_few_units_stay(data):
    here = problem_of(data, keep=["n0", "n1", "n2"])
    weight = weight_of(here)
    steps = VarSelRF(**FEW).path(Task(here, row_weights(weight), max_size=5, seed=2))
    assert [step.size for step in steps] == [3, 4, 5]
    (*_, last) = VarSelRF(c_sd=1e6, **FEW).path(Task(here, row_weights(weight), max_size=5, seed=2))
    assert last.selected[here.groups.keep].all()
    assert last.size == 3
    fit = treeselect.select("y ~ a", data, method="varselrf", c_sd=1, n_trees=10, seed=1)
    assert fit.selected == ("a",)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"c_sd": -1.0}, "`c_sd` of VarSelRF must be .* at least 0, or None"),
        ({"step": 1.0}, "`step` .* above 0 and at most 0.9"),
        ({"recompute": "no"}, "True or False"),
        ({"n_trees": 1}, "at least 2"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        VarSelRF(**options)
