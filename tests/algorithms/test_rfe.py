"""Recursive elimination: known truth, its sizes, and scikit-learn's RFE."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import ForestImportance, RecursiveElimination
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError

FEW = {"n_trees": 40}


@pytest.fixture(scope="module")
def linear():
    """Three variables of which two have two copies each, and four of noise."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(400, 7))
    data = pd.DataFrame(x, columns=["a", "b", "c", *(f"n{j}" for j in range(4))])
    data["y"] = 2 * data["a"] + 1.5 * data["b"] + 2 * data["c"] + 0.3 * rng.normal(size=400)
    return data.assign(a1=data["a"], a2=data["a"], b1=data["b"], b2=data["b"])


def problem_of(data, **arguments):
    fit = treeselect.select(
        "y ~ .", data, method=ForestImportance(n_trees=2), seed=1,
        k=max(1, len(arguments.get("keep", ()))), **arguments,
    )  # fmt: skip
    return fit.data.design.problem_for(fit.search.method), fit.data.design.weight


def test_of_copies_one_remains_where_a_single_forest_takes_all(linear):
    problem, weight = problem_of(linear)
    names = np.array(problem.groups.names)
    many = {"kind": "permutation", "n_trees": 100}
    for seed in range(3):
        steps = RecursiveElimination(**many).path(
            Task(problem, row_weights(weight), max_size=3, seed=seed)
        )
        assert [step.size for step in steps] == [0, 1, 2, 3]
        assert {name[0] for name in names[steps[3].selected]} == {"a", "b", "c"}
        assert steps[3].train_score > 0.8
        one = ForestImportance(**many).path(
            Task(problem, row_weights(weight), max_size=3, seed=seed)
        )[3]
        assert {name[0] for name in names[one.selected]} < {"a", "b", "c"}


def test_copies_share_places_across_seeds(linear):
    problem, weight = problem_of(linear[["y", "b", "a", "a1"]])
    names = np.array(problem.groups.names)
    found = set()
    for seed in range(12):
        step = RecursiveElimination(n_trees=20).path(
            Task(problem, row_weights(weight), max_size=1, seed=seed)
        )[1]
        found |= set(names[step.selected])
    assert found == {"a", "a1"}


def test_sets_are_nested_and_shares_lead_to_the_same_ones(linear):
    problem, weight = problem_of(linear)
    n = len(problem.groups.names)
    steps = RecursiveElimination(**FEW).path(Task(problem, row_weights(weight), max_size=n, seed=2))
    assert [step.size for step in steps] == list(range(n + 1))
    assert [step.tuning for step in steps[1:]] == [size / n for size in range(1, n + 1)]
    for small, large in pairwise(steps):
        assert not (small.selected & ~large.selected).any()
    for step in (steps[2], steps[7], steps[n]):
        method = RecursiveElimination(share=step.tuning, **FEW)
        (one,) = method.path(Task(problem, row_weights(weight), max_size=n, seed=2))
        np.testing.assert_array_equal(one.selected, step.selected)
        assert one.train_score == step.train_score


def test_many_units_go_by_shares_and_thirty_one_by_one():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(120, 80)), columns=[f"x{j}" for j in range(80)])
    data["y"] = (data["x0"] + data["x1"] > 0).astype(int)
    problem, weight = problem_of(data)
    method = RecursiveElimination(step=0.5, n_trees=50)
    steps = method.path(Task(problem, row_weights(weight), max_size=80, seed=1))
    sizes = [step.size for step in steps]
    assert sizes[:31] == list(range(31))
    assert len(sizes) <= 34
    assert (
        method.path(Task(problem, row_weights(weight), max_size=35, seed=1))[-1].size
        == sizes[31]
        > 35
    )
    fit = treeselect.select("y ~ .", data, method=method, k=35, seed=1)
    assert fit.k == 35


def test_one_drop_down_to_the_size_is_the_ranking_of_one_forest(linear):
    """Limit case: what is left after the first drop are the first units of one forest."""
    problem, weight = problem_of(linear.drop(columns=["a1", "a2", "b1", "b2"]))
    n = len(problem.groups.names)
    method = RecursiveElimination(share=(n - 1) / n, n_trees=300)
    (step,) = method.path(Task(problem, row_weights(weight), max_size=n, seed=3))
    every = np.ones(n, dtype=bool)
    (all_units,) = RecursiveElimination(share=1.0, n_trees=300).path(
        Task(problem, row_weights(weight), max_size=n, seed=3)
    )
    np.testing.assert_array_equal(all_units.selected, every)
    last = np.flatnonzero(~step.selected)
    assert all_units.importance[last] == all_units.importance.min()


def test_the_same_units_as_scikit_learns():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import RFE

    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.normal(size=(400, 9)), columns=list("abcdefghi"))
    data["y"] = (data["a"] + 2 * data["b"] - 1.5 * data["c"] > 0).astype(int)
    fit = treeselect.select("y ~ .", data, method="rfe", k=3, seed=1, n_trees=100)
    twin = RFE(RandomForestClassifier(100, random_state=0), n_features_to_select=3)
    twin.fit(data[list("abcdefghi")], data["y"])
    assert set(fit.selected) == set(twin.get_feature_names_out()) == {"a", "b", "c"}


def test_kept_units_never_go(linear):
    problem, weight = problem_of(linear, keep=["n0", "n1"])
    kept = problem.groups.keep
    steps = RecursiveElimination(**FEW).path(Task(problem, row_weights(weight), max_size=4, seed=2))
    assert [step.size for step in steps] == [2, 3, 4]
    assert all(step.selected[kept].all() for step in steps)
    assert steps[0].tuning == np.inf


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"share": 0.0}, "`share` of RecursiveElimination must be .* or None"),
        ({"step": 1.0}, "`step` .* above 0 and at most 0.9"),
        ({"n_trees": 1}, "at least 2"),
        ({"kind": "x"}, "'mdi'"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        RecursiveElimination(**options)
