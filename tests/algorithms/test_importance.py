"""Rankings by forests: known truth, limit cases, and scikit-learn's forests."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import ForestImportance
from treeselect.algorithms.forests.ranking import KINDS, _usual_trees
from treeselect.algorithms.task import Task
from treeselect.designs.families import POISSON, multinomial
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError

FEW = {"n_trees": 60}


@pytest.fixture(scope="module")
def linear():
    """Three variables of falling weight before five of noise; numbers, classes and counts."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(500, 8))
    data = pd.DataFrame(x, columns=["a", "b", "c", *(f"n{j}" for j in range(5))])
    eta = 2 * data["a"] + 1.2 * data["b"] - 0.8 * data["c"]
    data["y"] = eta + 0.3 * rng.normal(size=500)
    return data


def problem_of(data, method=None, **arguments):
    fit = treeselect.select(
        "y ~ .", data, method=method or ForestImportance(n_trees=2), seed=1,
        k=max(1, len(arguments.get("keep", ()))), **arguments,
    )  # fmt: skip
    return fit.data.design.problem_for(fit.search.method), fit.data.design.weight


def entered(problem, steps):
    """Names of the units in the order in which they enter."""
    names = np.array(problem.groups.names)
    return ["+".join(names[b.selected & ~a.selected]) for a, b in pairwise(steps)]


@pytest.mark.parametrize("kind", KINDS)
def test_signal_comes_before_noise_in_every_family(linear, kind):
    problem, weight = problem_of(linear)
    y = linear["y"].to_numpy(copy=True)  # kernels know arrays that can be written to
    classes = np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float)
    counts = np.random.default_rng(0).poisson(np.exp(y / 3)).astype(float)
    for response, family in ((y, None), (classes, multinomial(3)), (counts, POISSON)):
        here = dataclasses.replace(problem, y=response, family=family or problem.family)
        steps = ForestImportance(kind=kind, **FEW).path(
            Task(here, row_weights(weight), max_size=5, seed=2)
        )
        assert entered(problem, steps)[:3] == ["a", "b", "c"]
        assert [step.size for step in steps] == list(range(6))
        assert steps[0].tuning == np.inf
        assert steps[0].train_score == pytest.approx(0.0)
        assert steps[1].tuning == 1.0
        tunings = [step.tuning for step in steps]
        assert tunings == sorted(tunings, reverse=True)
        assert steps[3].train_score > steps[1].train_score > 0


def test_a_threshold_cuts_the_path_where_it_says(linear):
    problem, weight = problem_of(linear)
    steps = ForestImportance(**FEW).path(Task(problem, row_weights(weight), max_size=8, seed=2))
    for step in steps[1:]:
        (one,) = ForestImportance(threshold=step.tuning, **FEW).path(
            Task(problem, row_weights(weight), max_size=8, seed=2)
        )
        np.testing.assert_array_equal(one.selected, step.selected)
        np.testing.assert_array_equal(one.importance, step.importance)
        assert one.train_score == step.train_score
    (most,) = ForestImportance(threshold=1.0, **FEW).path(
        Task(problem, row_weights(weight), max_size=8, seed=2)
    )
    assert most.size == 1


def test_the_decrease_of_impurity_is_that_of_scikit_learn(linear):
    from sklearn.ensemble import RandomForestRegressor

    problem, weight = problem_of(linear)
    names = list(problem.groups.names)
    twin = RandomForestRegressor(300, max_features=3, random_state=0)
    twin.fit(linear[names], linear["y"])
    step = ForestImportance(kind="mdi", n_trees=300, mtry=3).path(
        Task(problem, row_weights(weight), max_size=8, seed=2)
    )[-1]
    np.testing.assert_allclose(step.importance, twin.feature_importances_, atol=0.02)


def test_many_valued_noise_is_not_favoured_outside_the_bags():
    """Strobl and others (2007): pure noise, columns of more and more values."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({f"v{k}": rng.integers(k, size=400) for k in (3, 10, 400)})
    data["y"] = rng.integers(2, size=400)
    problem, weight = problem_of(data)
    task, every = Task(problem, row_weights(weight), max_size=3, seed=1), np.ones(3, dtype=bool)
    at = [problem.groups.names.index(name) for name in ("v3", "v10", "v400")]
    found = {kind: ForestImportance(kind=kind, n_trees=200).measure(task, every) for kind in KINDS}
    biased = found["mdi"].importance[at]
    assert biased[2] > 2 * biased[1] > 2 * biased[0]
    for kind in ("unbiased", "permutation"):
        assert np.abs(found[kind].importance).max() < 0.2 * biased.max()
        assert (found[kind].standard_error > 0).all()


def test_copies_share_places_across_seeds_and_their_importance(linear):
    data = linear.assign(copy=linear["a"])
    problem, weight = problem_of(data)
    first = []
    for seed in range(12):
        steps = ForestImportance(n_trees=30).path(
            Task(problem, row_weights(weight), max_size=2, seed=seed)
        )
        assert sorted(entered(problem, steps)) == ["a", "copy"]
        first.append(entered(problem, steps)[0])
    assert set(first) == {"a", "copy"}


def test_kept_units_come_first_and_groups_as_one(linear):
    problem, weight = problem_of(linear, keep=["n3", "n1"])
    steps = ForestImportance(**FEW).path(Task(problem, row_weights(weight), max_size=4, seed=2))
    assert [step.size for step in steps] == [2, 3, 4]
    assert entered(problem, steps) == ["a", "b"]
    fit = treeselect.select(
        "y ~ .", linear, method="importance", k=1, seed=1, groups={"bc": ["b", "c", "n1"]}, **FEW
    )
    assert set(fit.selected) in ({"a"}, {"b", "c", "n1"})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kind": "gini"}, "'unbiased' or 'mdi' or 'permutation'"),
        ({"threshold": 1.5}, "`threshold` of ForestImportance must be .* or None"),
        ({"n_trees": 1}, "at least 2"),
        ({"mtry": 0}, "`mtry`"),
        ({"max_depth": 0}, "`max_depth`"),
        ({"min_leaf": 0}, "`min_leaf`"),
        ({"prune": 1}, "True or False"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        ForestImportance(**options)


def test_a_price_is_refused(linear):
    with pytest.raises(MethodError, match="ForestImportance can't take `costs`"):
        treeselect.select("y ~ .", linear, method="importance", k=2, costs={"a": 2}, **FEW)


def test_scores_of_long_data_are_those_of_a_sample(linear, monkeypatch):
    method = ForestImportance(n_trees=30)
    every = treeselect.select("y ~ .", linear, method=method, k=3, seed=1).path
    monkeypatch.setattr("treeselect.algorithms.forests.scoring._SCORED_ROWS", len(linear) // 2)
    found = [
        treeselect.select("y ~ .", linear, method=method, k=3, seed=1, n_jobs=n).path
        for n in (1, 2)
    ]
    pd.testing.assert_frame_equal(*found)
    assert found[0]["terms"].tolist() == every["terms"].tolist()
    assert (found[0]["train_score"] != every["train_score"])[1:].all()
    np.testing.assert_allclose(found[0]["train_score"], every["train_score"], atol=0.1)


@pytest.mark.parametrize(("n_rows", "n_trees"), [(1_000, 500), (40_000, 250), (10**6, 50)])
def test_long_data_are_ranked_by_fewer_trees(n_rows, n_trees):
    weights = row_weights(np.ones(n_rows, dtype=np.int64))
    assert _usual_trees(Task(None, weights, max_size=1, seed=1)) == n_trees
