"""ControlBurn against limit cases and known truth."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import ControlBurn
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError, TreeselectWarning


def path_of(fit, method, **arguments):
    arguments = {"max_size": 6, "seed": 3} | arguments
    return method.path(Task(fit.data.design.problem, fit.data.design.row_weights, **arguments))


def test_path_starts_empty_and_grows(fitted):
    steps = path_of(fitted, ControlBurn(forests=2))
    sizes = [s.size for s in steps]
    assert sizes[0] == 0
    assert sizes == sorted(set(sizes))
    assert all(a.tuning > b.tuning for a, b in itertools.pairwise(steps))
    for step in steps[1:]:
        assert step.importance.sum() == pytest.approx(1.0)
        assert ((step.importance > 0) == step.selected).all()


def test_path_ends_when_it_has_enough(fitted):
    assert path_of(fitted, ControlBurn(forests=2), max_size=2)[-1].size >= 2
    assert path_of(fitted, ControlBurn(forests=2), max_size=2)[-2].size < 2


def test_threads_do_not_change_the_path(fitted):
    one, two = (path_of(fitted, ControlBurn(), n_threads=n) for n in (1, 2))
    assert [s.tuning for s in one] == [s.tuning for s in two]
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.importance, b.importance)


def test_an_enormous_penalty_selects_nothing_and_a_tiny_one_every_used_unit(fitted):
    nothing = path_of(fitted, ControlBurn(lam=1e6))
    assert nothing[-1].size == 0
    everything = path_of(fitted, ControlBurn(lam=1e-7, forests=2))
    assert everything[-1].size == 5  # the copy of `signal` is never used
    assert everything[-1].tuning == 1e-7


def test_kept_units_are_in_from_the_first_step(mixed):
    fit = treeselect.select(
        "died ~ . - dose",
        mixed,
        method="controlburn",
        k=3,
        keep=["noise", "flag"],
        seed=1,
        forests=1,
        n_trees=5,
    )
    first = fit.search.steps[0]
    names = np.array(fit.data.design.arrays.groups.names)
    assert set(names[first.selected]) == {"noise", "flag"}
    assert all(set(terms) >= {"noise", "flag"} for terms in fit.path["terms"].iloc[1:])


def test_units_that_cost_nothing_are_not_penalised(mixed):
    free = {name: 0.0 for name in ("signal", "copy")}
    fit = treeselect.select(
        "died ~ . - dose",
        mixed,
        method="controlburn",
        k=2,
        costs=free,
        seed=1,
        forests=1,
        n_trees=5,
    )
    names = np.array(fit.data.design.arrays.groups.names)
    assert set(names[fit.search.steps[0].selected]) <= {"signal", "copy"}
    assert fit.search.steps[0].size == 1
    assert fit.search.steps[0].train_score > 0.7


def test_prices_do_not_depend_on_their_unit(fitted):
    """Doubling all prices halves the penalties and changes nothing else."""
    problem = fitted.data.design.problem
    groups = problem.groups
    double = dataclasses.replace(
        problem, groups=dataclasses.replace(groups, item_costs=2 * groups.item_costs)
    )
    one, two = (
        ControlBurn(forests=2).path(Task(p, fitted.data.design.row_weights, max_size=4, seed=1))
        for p in (problem, double)
    )
    assert [s.size for s in one] == [s.size for s in two]
    np.testing.assert_allclose([s.tuning for s in one[1:]], [2 * s.tuning for s in two[1:]])


def test_published_form_differs_from_the_default():
    published = ControlBurn.published()
    assert (published.forests, published.adaptive) == (1, False)
    assert published != ControlBurn()


def test_one_and_several_forests_and_both_prices_work(mixed):
    for options in ({"forests": 1}, {"adaptive": False}, {"max_depth": 3}, {"tail": 8}):
        fit = treeselect.select(
            "dose ~ . - died", mixed, method="controlburn", k=2, seed=1, n_trees=5, **options
        )
        assert fit.k == 2


def test_depth_one_trees_use_one_unit_each(mixed):
    """With stumps alone the trees' prices are those of single units: the path can't jump."""
    fit = treeselect.select(
        "noise ~ . - died", mixed, method="controlburn", k=4, seed=1, max_depth=1, n_trees=5
    )
    assert fit.k >= 2
    assert [s.size for s in fit.search.steps] == list(range(fit.k + 1))


def test_feature_sparse_trees_use_fewer_units(fitted):
    """Section 3.2.4: a cost within each tree, which forgets it at its end."""
    problem, weight = fitted.data.design.problem, fitted.data.design.weight
    per_tree = []
    for cost in (0.0, 0.02, 0.1):
        method = ControlBurn(forests=1, tree_cost=cost, max_depth=4)
        per_tree.append(
            method.pool(Task(problem, row_weights(weight), seed=1, max_size=9))[0]
            .uses.sum(axis=1)
            .mean()
        )
    assert per_tree[0] > per_tree[1] > per_tree[2] > 0
    assert path_of(fitted, ControlBurn(forests=1, tree_cost=50.0))[-1].size == 0
    sparse = path_of(fitted, ControlBurn(forests=2, tree_cost=0.02))
    names = np.array(problem.groups.names)
    two = next(step for step in sparse if step.size >= 2)
    assert "site" in names[two.selected]


@pytest.mark.parametrize("forest", ["bag-boosting", "bagging", "double bag-boosting"])
def test_every_way_to_grow_finds_the_signal(fitted, forest):
    steps = path_of(fitted, ControlBurn(forest=forest, forests=2, max_depth=4))
    names = np.array(fitted.data.design.problem.groups.names)
    two = next(step for step in steps if step.size >= 2)
    assert "site" in names[two.selected]
    assert {"signal", "copy"} & set(names[two.selected])


def test_too_many_trees_are_bounded_with_a_warning(mixed):
    method = ControlBurn(forests=1, tolerance=1e-9, max_depth=1, n_trees=5)
    with pytest.warns(TreeselectWarning, match="200 trees of one depth") as caught:
        fit = treeselect.select("died ~ . - dose", mixed, method=method, k=2, seed=1)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert fit.k == 1
    assert "200 trees of one depth" in fit.summary().as_text()


def test_a_ridge_keeps_correlated_units_together():
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.normal(size=600)})
    data["y"] = 2 * data["a"] + rng.normal(size=600)
    data["near"] = data["a"] + 0.3 * rng.normal(size=600)
    data["noise"] = rng.normal(size=600)
    shares = []
    for ridge in (0.0, 1.0):
        fit = treeselect.select(
            "y ~ .",
            data,
            method="controlburn",
            lam=0.05,
            ridge=ridge,
            adaptive=False,
            max_features=0.5,
            seed=1,
        )
        importance = dict(
            zip(fit.data.design.problem.groups.names, fit.search.step.importance, strict=True)
        )
        shares.append(importance["near"])
    assert shares[1] > shares[0] + 0.02


def test_a_sketch_of_the_rows(fitted):
    whole = path_of(fitted, ControlBurn(forests=2))
    same = path_of(fitted, ControlBurn(forests=2, sketch=10_000))
    assert [s.tuning for s in whole] == [s.tuning for s in same]
    half = path_of(fitted, ControlBurn(forests=2, sketch=200))
    assert [s.tuning for s in whole] != [s.tuning for s in half]
    names = np.array(fitted.data.design.problem.groups.names)
    assert {"signal", "site", "copy"} & set(names[half[1].selected])


def test_a_gaussian_sketch_is_near_the_whole(mixed, fitted):
    data = mixed.drop(columns="died")
    data["dose"] = data["dose"].fillna(0.0)
    fit = treeselect.select("dose ~ .", data, method="controlburn", k=1, seed=1, forests=1)
    whole, near = (
        path_of(fit, ControlBurn(forests=1, adaptive=False, **sketch))
        for sketch in ({}, {"sketch": 5000, "sketch_kind": "gaussian"})
    )
    assert near[1].tuning == pytest.approx(whole[1].tuning, rel=0.15)
    assert near[1].tuning != whole[1].tuning
    np.testing.assert_array_equal(near[1].selected, whole[1].selected)
    with pytest.raises(MethodError, match="squared error"):
        path_of(fitted, ControlBurn(sketch=50, sketch_kind="gaussian"))
    with pytest.raises(MethodError, match="needs a `sketch`"):
        ControlBurn(sketch_kind="gaussian")


def test_constant_and_missing_columns_give_an_empty_path():
    data = pd.DataFrame({"y": [0.0, 1.0, 2.0, 3.0] * 5, "a": 1.0, "b": np.nan})
    fit = treeselect.select("y ~ .", data, method="controlburn", k=1, seed=1, forests=1, n_trees=3)
    assert fit.selected == ()
    assert fit.predict(data).nunique() == 1


def test_refit_uses_the_selected_units_only(fitted, mixed):
    changed = mixed.assign(noise=0.0, colour="red", flag=True)
    np.testing.assert_array_equal(fitted.predict(mixed), fitted.predict(changed))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"lam": 0.0}, "`lam` of ControlBurn must be a finite number above 0, or None"),
        ({"lam": np.inf}, "`lam`"),
        ({"forests": 1.5}, "`forests`"),
        ({"tail": 1}, "at least 2"),
        ({"tree_cost": -1.0}, "`tree_cost` of ControlBurn must be a finite number at least 0"),
        ({"max_depth": 17}, "from 1 to 16, or None"),
        ({"n_trees": True}, "`n_trees`"),
        ({"adaptive": "yes"}, "must be True or False"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        ControlBurn(**options)


def test_trees_that_tell_nothing_but_rounding_are_left_out_at_once(monkeypatch):
    """A fold in which they are uncorrelated with the classes: the solver looked for minutes for an
    optimum finer than numbers are."""
    from treeselect.engine.sparse import weights as tree_weights

    n_calls = [0]
    descend = tree_weights.coordinate_descent

    def counted(*arguments):
        n_calls[0] += 1
        assert n_calls[0] < 500
        descend(*arguments)

    monkeypatch.setattr(tree_weights, "coordinate_descent", counted)
    data = pd.DataFrame(
        {"y": [1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0],
         "x": np.array([1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0], dtype=bool)}
    )  # fmt: skip
    fit = treeselect.select(
        "y ~ x", data, method="controlburn", seed=1, k="1se", folds=2, forests=1, n_trees=5
    )
    assert len(fit.path) >= 1
