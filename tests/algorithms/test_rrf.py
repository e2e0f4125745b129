"""RRF and GRRF: limit cases, known truth, and what their options mean."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import GRRF, RRF
from treeselect.algorithms.forests.scoring import grow_shared
from treeselect.algorithms.task import Task
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights, row_weights
from treeselect.engine.forest.bagging import BOOTSTRAP, bagged_forest
from treeselect.engine.random import stream_seed
from treeselect.engine.tree.nodes import group_gains
from treeselect.engine.tree.target import class_target
from treeselect.engine.tree.workspace import BREADTH_FIRST, UNBOUNDED, Growth
from treeselect.errors import MethodError

FEW = {"n_trees": 30}


@pytest.fixture(scope="module")
def friedman():
    """Ten variables, the last five noise, and copies of the first five: two classes."""
    found = treeselect.datasets.simulate_friedman(n=600, seed=3)
    data = found.data.copy()
    data["y"] = (data["y"] > data["y"].median()).astype(int)
    return data


def problem_of(data, **arguments) -> tuple[Problem, RowWeights]:
    fit = treeselect.select(
        "y ~ .", data, method=RRF(n_trees=1), k=max(1, len(arguments.get("keep", ()))), seed=1,
        **arguments,
    )  # fmt: skip
    return fit.data.design.problem_for(RRF()), fit.data.design.row_weights


def test_lambda_1_with_random_ties_and_ordinary_sampling_is_the_plain_forest(friedman):
    problem, weights = problem_of(friedman)
    n_groups = len(problem.groups.names)
    method = RRF(
        lam=1.0, mtry=n_groups, ties="random", replace=True, sample_fraction=1.0, screen=False,
        **FEW,
    )  # fmt: skip
    (step,) = method.path(Task(problem, weights, max_size=n_groups, seed=5))
    plain = bagged_forest(
        problem.exact, class_target(problem.y, 2), weights.values, n_trees=30,
        growth=Growth(UNBOUNDED, 1, n_groups, 0.0, order=BREADTH_FIRST, random_ties=True),
        seed=stream_seed(5, "trees", 0), rank=problem.groups.ranks(5), sampling=BOOTSTRAP,
    )  # fmt: skip
    gains = group_gains(plain, problem.exact).sum(axis=0)
    # Not the same trees: in nodes of a few rows all columns tie, and coins fall in other orders.
    np.testing.assert_allclose(step.importance, gains / gains.sum(), atol=0.01)


def test_gamma_0_is_rrf_with_the_base_coefficient(friedman):
    problem, weights = problem_of(friedman)
    for lam in (0.6, 1.0):
        a, b = (
            method.path(Task(problem, weights, max_size=9, seed=2))[0]
            for method in (GRRF(gamma=0.0, lam=lam, **FEW), RRF(lam=lam, **FEW))
        )
        np.testing.assert_array_equal(a.selected, b.selected)
        np.testing.assert_array_equal(a.importance, b.importance)
        assert a.train_score == b.train_score


def test_lambda_0_leaves_what_is_kept_and_a_small_one_very_few(friedman):
    problem, weights = problem_of(friedman)
    nothing = RRF(lam=0.0, **FEW).path(Task(problem, weights, max_size=9, seed=2))[0]
    assert nothing.size == 0
    assert nothing.importance.sum() == 0
    assert RRF(lam=0.05, **FEW).path(Task(problem, weights, max_size=9, seed=2))[0].size <= 2
    kept, weights = problem_of(friedman, keep=["X6", "X7"])
    names = np.array(kept.groups.names)
    only = RRF(lam=0.0, **FEW).path(Task(kept, weights, max_size=9, seed=2))[0]
    assert set(names[only.selected]) == {"X6", "X7"}
    assert only.importance.sum() == pytest.approx(1.0)


def test_sizes_rise_with_lambda(friedman):
    problem, weights = problem_of(friedman)
    sizes = [
        RRF(lam=lam, **FEW).path(Task(problem, weights, max_size=9, seed=2))[0].size
        for lam in (0.3, 0.7, 1.0)
    ]
    assert sizes[0] <= 2
    assert sizes == sorted(sizes)


def test_ties_with_a_unit_in_use_go_to_it_so_that_copies_stay_out(friedman):
    """peers.md, section 1: lambda 1 lets both copies of every pair in, if a coin decides."""
    problem, weights = problem_of(friedman)
    names = np.array(problem.groups.names)
    pairs = [[f"X{j}", f"X{j + 10}"] for j in range(1, 6)]
    both = {}
    for ties in ("used", "random"):
        step = RRF(lam=1.0, ties=ties, n_trees=100).path(
            Task(problem, weights, max_size=9, seed=2)
        )[0]
        used = set(names[step.selected])
        both[ties] = sum(used >= set(pair) for pair in pairs)
    assert both == {"used": 0, "random": 5}


def test_a_guided_forest_finds_the_five_groups(friedman):
    """Table 1 of the paper, gamma 0.5: 4.95 of 5 groups, 0.75 others."""
    problem, weights = problem_of(friedman)
    names = np.array(problem.groups.names)
    found = []
    for seed in range(5):
        step = GRRF(gamma=0.5, n_trees=200).path(Task(problem, weights, max_size=9, seed=seed))[0]
        used = [int(name[1:]) for name in names[step.selected]]
        groups = {(j - 1) % 10 for j in used if (j - 1) % 10 < 5}
        found.append((len(groups), len(used) - len(groups)))
    groups, others = np.mean(found, axis=0)
    assert groups >= 4.8
    assert others <= 1


def test_numbers_do_not_depend_on_their_mean(friedman):
    data = friedman.drop(columns="y").assign(y=lambda d: d["X1"] * d["X2"] + d["X4"])
    moved = data.assign(y=data["y"] + 1000.0)
    for gain in ("uncentred", "decrease"):
        (a,), (b,) = (
            RRF(lam=0.7, gain=gain, **FEW).path(Task(*problem_of(d), max_size=9, seed=2))
            for d in (data, moved)
        )
        np.testing.assert_array_equal(a.selected, b.selected)
        np.testing.assert_allclose(a.importance, b.importance, rtol=1e-6)


def test_prices_are_powers_of_the_coefficient(friedman):
    problem, weights = problem_of(friedman)
    costs = np.where(np.array(problem.groups.names) == "X4", 3.0, 1.0)
    priced = dataclasses.replace(
        problem, groups=dataclasses.replace(problem.groups, item_costs=costs)
    )
    method = RRF(lam=0.7, screen=False, **FEW)
    step = method.path(Task(priced, weights, max_size=9, seed=2))[0]
    task = Task(priced, weights, max_size=9, seed=2)
    direct = grow_shared(task, method._rules(task), 0.7**costs)
    np.testing.assert_array_equal(step.selected, direct.gains > 0)
    free, weights = problem_of(friedman, costs={"X6": 0.0})
    step = RRF(lam=0.01, n_trees=30).path(Task(free, weights, max_size=9, seed=2))[0]
    assert step.selected[free.groups.names.index("X6")]


def test_the_path_reaches_the_size_that_is_asked_for(friedman):
    problem, weights = problem_of(friedman)
    method = RRF(screen=False, **FEW)
    for size in (3, 6):
        steps = method.path(Task(problem, weights, max_size=size, seed=1, every_size=False))
        assert size in [step.size for step in steps]
        assert [s.size for s in steps] == sorted({s.size for s in steps})
        assert all(0 <= s.tuning <= 1 for s in steps)
        again = method.path(
            Task(problem, weights, max_size=size, seed=1, every_size=False, n_threads=2)
        )
        assert [(s.tuning, s.size) for s in steps] == [(s.tuning, s.size) for s in again]


def test_entropy_finds_the_signal(mixed):
    fit = treeselect.select(
        "died ~ . - dose", mixed, method="rrf", k=2, seed=1, criterion="entropy", gain="decrease",
        **FEW,
    )  # fmt: skip
    assert "site" in fit.selected
    assert {"signal", "copy"} & set(fit.selected)


def test_an_offset_takes_the_place_of_what_it_explains():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=500), "b": rng.normal(size=500)})
    data["y"] = 5 * data["a"] + data["b"] + 0.1 * rng.normal(size=500)
    data["known"] = 5 * data["a"]
    for k, expected in ((None, ("a",)), ("known", ("b",))):
        fit = treeselect.select("y ~ a + b", data, method="rrf", k=1, offset=k, seed=1, **FEW)
        assert fit.selected == expected
        assert fit.search.steps[-1].train_score > 0.5


@pytest.mark.parametrize("kind", [RRF, GRRF])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"lam": 1.5}, "`lam` of .* must be a finite number at least 0 and at most 1"),
        ({"lam": "half"}, "`lam`"),
        ({"n_trees": 0}, "`n_trees` of .* at least 1"),
        ({"mtry": 0}, "`mtry`"),
        ({"sample_fraction": 0.0}, "finite number above 0 and at most 1"),
        ({"replace": 1}, "True or False"),
        ({"screen": 1}, "True or False"),
        ({"min_leaf": 0}, "`min_leaf`"),
        ({"criterion": "mse"}, "'gini' or 'entropy'"),
        ({"gain": "centred"}, "'uncentred' or 'decrease'"),
        ({"ties": "first"}, "'used' or 'random'"),
        ({"criterion": "entropy"}, "can't have `criterion='entropy'` and `gain='uncentred'`"),
    ],
)
def test_options_are_checked_when_built(kind, options, says):
    with pytest.raises(MethodError, match=says):
        kind(**options)


def test_gamma_is_checked():
    with pytest.raises(MethodError, match=r"`gamma` of GRRF must be .* or None"):
        GRRF(gamma=-0.1)


def test_entropy_is_for_classes(mixed):
    with pytest.raises(MethodError, match="needs a response with classes and no offset"):
        treeselect.select(
            "dose ~ signal", mixed, method="rrf", k=1, criterion="entropy", gain="decrease"
        )


@pytest.mark.parametrize(
    ("n_rows", "options", "n_trees", "in_bag"),
    [
        (1_000, {}, 1_000, 632),
        (10_000, {}, 316, 6_320),
        (100_000, {}, 200, 10_000),
        (100_000, {"n_trees": 7, "sample_fraction": 0.5}, 7, 50_000),
        (100_000, {"sample_fraction": 1.0}, 200, 100_000),
    ],
)
def test_long_data_have_fewer_trees_of_fewer_rows_unless_told(n_rows, options, n_trees, in_bag):
    weights = row_weights(np.ones(n_rows, dtype=np.int64))
    found, share = RRF(**options)._sizes(Task(None, weights, max_size=1, seed=1))
    assert found == n_trees
    assert share * n_rows == pytest.approx(in_bag)
