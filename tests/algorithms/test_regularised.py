"""RRF, GRRF and RBoost: limit cases, known truth, and what their options mean."""

import dataclasses

import numpy as np
import pytest
from tasks import NO_PROBLEM, names_of, sizes_of, task_of, with_problem

import treeselect
from treeselect import GRRF, RRF, RBoost
from treeselect.algorithms.forests import regularised
from treeselect.algorithms.forests.scoring import grow_shared
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights
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
    data = treeselect.datasets.simulate_friedman(n=600, seed=3).data
    return data.assign(y=(data["y"] > data["y"].median()).astype(int))


@pytest.fixture(scope="module")
def task(friedman):
    return task_of(friedman, RRF(), max_size=9)


def test_lambda_1_with_random_ties_and_ordinary_sampling_is_the_plain_forest(task):
    problem = task.problem
    n_groups = len(problem.groups.names)
    method = RRF(
        lam=1.0, mtry=n_groups, ties="random", replace=True, sample_fraction=1.0, screen=False,
        **FEW,
    )  # fmt: skip
    (step,) = method.path(dataclasses.replace(task, seed=5))
    plain = bagged_forest(
        problem.exact, class_target(problem.y, 2), task.weight, n_trees=30,
        growth=Growth(UNBOUNDED, 1, n_groups, 0.0, order=BREADTH_FIRST, random_ties=True),
        seed=stream_seed(5, "trees", 0), rank=problem.groups.ranks(5), sampling=BOOTSTRAP,
    ).trees  # fmt: skip
    gains = group_gains(plain, problem.exact).sum(axis=0)
    # Not the same trees: in nodes of a few rows all columns tie, and coins fall in other orders.
    np.testing.assert_allclose(step.importance, gains / gains.sum(), atol=0.01)


def test_gamma_0_is_rrf_and_a_guided_forest_finds_the_five_groups(task):
    for lam in (0.6, 1.0):
        a, b = (
            method.path(task)[0]
            for method in (GRRF(gamma=0.0, lam=lam, **FEW), RRF(lam=lam, **FEW))
        )
        np.testing.assert_array_equal(a.selected, b.selected)
        np.testing.assert_array_equal(a.importance, b.importance)
        assert a.train_score == b.train_score
    # Table 1 of the paper, gamma 0.5: 4.95 of 5 groups, 0.75 others.
    found = []
    for seed in range(5):
        step = GRRF(gamma=0.5, n_trees=200).path(dataclasses.replace(task, seed=seed))[0]
        used = [int(name[1:]) for name in names_of(task, step.selected)]
        groups = {(j - 1) % 10 for j in used if (j - 1) % 10 < 5}
        found.append((len(groups), len(used) - len(groups)))
    groups, others = np.mean(found, axis=0)
    assert groups >= 4.8
    assert others <= 1


def test_lambda_0_leaves_what_is_kept_and_numbers_do_not_depend_on_their_mean(friedman, task):
    steps = [RRF(lam=lam, **FEW).path(task)[0] for lam in (0.0, 0.05, 0.3, 0.7, 1.0)]
    sizes = sizes_of(steps)
    assert sizes[0] == steps[0].importance.sum() == 0
    assert sizes[2] <= 2
    assert sizes == sorted(sizes)
    kept = task_of(friedman, RRF(), keep=["X6", "X7"])
    only = RRF(lam=0.0, **FEW).path(kept)[0]
    assert names_of(kept, only.selected) == {"X6", "X7"}
    assert only.importance.sum() == pytest.approx(1.0)
    data = friedman.drop(columns="y").assign(y=lambda d: d["X1"] * d["X2"] + d["X4"])
    moved = data.assign(y=data["y"] + 1000.0)
    for gain in ("uncentred", "decrease"):
        (a,), (b,) = (RRF(lam=0.7, gain=gain, **FEW).path(task_of(d, RRF())) for d in (data, moved))
        np.testing.assert_array_equal(a.selected, b.selected)
        np.testing.assert_allclose(a.importance, b.importance, rtol=1e-6)


def test_ties_go_to_a_unit_in_use_and_paths_reach_the_size_asked_for(task):
    """peers.md, section 1: lambda 1 lets both copies of every pair in, if a coin decides."""
    pairs = [[f"X{j}", f"X{j + 10}"] for j in range(1, 6)]
    both = {}
    for ties in ("used", "random"):
        used = names_of(task, RRF(lam=1.0, ties=ties, n_trees=100).path(task)[0].selected)
        both[ties] = sum(used >= set(pair) for pair in pairs)
    assert both == {"used": 0, "random": 5}
    method = RRF(screen=False, **FEW)
    for size in (3, 6):
        one, two = (
            method.path(
                dataclasses.replace(task, max_size=size, seed=1, every_size=False, n_threads=n)
            )
            for n in (1, 2)
        )
        assert size in sizes_of(one)
        assert sizes_of(one) == sorted(set(sizes_of(one)))
        assert all(0 <= step.tuning <= 1 for step in one)
        assert [(s.tuning, s.size) for s in one] == [(s.tuning, s.size) for s in two]


def test_prices_are_powers_of_the_coefficient(friedman, task):
    costs = np.where(np.array(task.problem.groups.names) == "X4", 3.0, 1.0)
    groups = dataclasses.replace(task.problem.groups, item_costs=costs)
    priced, method = with_problem(task, groups=groups), RRF(lam=0.7, screen=False, **FEW)
    direct = grow_shared(priced, method._rules(priced), 0.7**costs)
    np.testing.assert_array_equal(method.path(priced)[0].selected, direct.gains > 0)
    free = task_of(friedman, RRF(), costs={"X6": 0.0})
    assert "X6" in names_of(free, RRF(lam=0.01, **FEW).path(free)[0].selected)


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
    found, share = RRF(**options)._sizes(Task(NO_PROBLEM, weights, max_size=1, seed=1))
    assert found == n_trees
    assert share * n_rows == pytest.approx(in_bag)


# --- RBoost ---


def step(data, **options):
    return RBoost(**options).path(task_of(data, RBoost(), max_size=15, seed=1))[-1]


@pytest.mark.parametrize("form", ["reweighting", "gradient"])
def test_lambda_0_selects_nothing_and_copies_stay_out(friedman, form):
    thirds = friedman.assign(y=np.array(list("abc"))[(friedman["X4"] * 3).astype(int)])
    for data, null in ((friedman, 0.5), (thirds, 0.0)):
        nothing = step(data, lam=0.0, form=form)
        assert nothing.size == 0
        assert nothing.train_score == null  # votes of roots would be shares of 0 and 1
    task = task_of(friedman, RBoost(), max_size=15, seed=1)
    used = names_of(task, step(friedman, lam=0.9, form=form).selected)
    assert {"X4", "X14"} & used
    if form == "reweighting":  # the other form scores leaves before it knows what opens
        assert not any({f"X{j}", f"X{j + 10}"} <= used for j in range(1, 6))


def test_boosted_ensembles_learn_by_more_units_from_bags_of_copies(friedman, monkeypatch):
    few, many = (step(friedman, lam=0.3, n_trees=n, mtry=1) for n in (1, 60))
    assert few.selected.sum() <= many.selected.sum()
    assert step(friedman, lam=1.0, n_trees=30).train_score == pytest.approx(1.0, abs=1e-3)
    assert step(friedman, lam=1.0, n_trees=30, max_depth=1).train_score > 0.85
    plain = step(friedman, lam=0.6, criterion="gini")
    harsh = step(friedman, lam=0.6, criterion="gini", gain="uncentred")
    assert 1 <= harsh.size <= plain.size
    data = friedman.assign(y=friedman["X4"] * 10 + friedman["X1"])
    a, b = (step(data, lam=0.8, form=form) for form in ("auto", "gradient"))
    np.testing.assert_array_equal(a.importance, b.importance)
    assert a.train_score > 0.9
    for option in ({"form": "reweighting"}, {"ties": "random"}):
        with pytest.raises(MethodError, match=r"needs a response with classes and no offset\."):
            step(data, lam=0.8, **option)
    # Weights of 2 and 3 are not a bag of a third of the rows.
    grow, drawn = regularised.bagged_forest, []

    def noted(data, target, counts, **options):
        drawn.append(counts.sum())
        return grow(data, target, counts, **options)

    monkeypatch.setattr(regularised, "bagged_forest", noted)
    half = np.arange(600) % 2
    for weight, n_rows in ((np.full(600, 3) - half, 1500), (np.full(600, 0.3) + half, 600)):
        treeselect.select("y ~ .", friedman, method=RBoost(n_trees=2, lam=0.9), weights=weight)
        assert set(drawn) == {n_rows}
        drawn.clear()
