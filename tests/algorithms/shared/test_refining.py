"""Refinement: sets that are no worse than the method's own, and what a path alone never finds."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest

import treeselect
from treeselect.algorithms.registry import METHODS, find_method
from treeselect.algorithms.search.exchange import Search
from treeselect.algorithms.search.revision import Refinement
from treeselect.algorithms.task import Step, Task, step_of_size
from treeselect.errors import MethodError

FORESTS = ("gbfs", "grrf", "importance", "rboost", "rfe", "rrf", "varselrf")

QUICK = {
    "boruta": {"max_rounds": 5, "n_trees": 10},
    "controlburn": {"forests": 1, "n_trees": 1},
    **{name: {"n_trees": 10} for name in FORESTS},
}


@pytest.fixture(scope="module")
def pair():
    """Two columns that tell nothing one by one, and everything together; four of noise."""
    x = np.random.default_rng(1).normal(size=(200, 6))
    data = pd.DataFrame(x, columns=[f"x{j}" for j in range(6)])
    return data.assign(y=((x[:, 0] > 0) != (x[:, 1] > 0)).astype(int))


@pytest.fixture(scope="module")
def copies():
    """Three columns that matter, the third least, near copies of the first two, and noise."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(250, 6))
    data = pd.DataFrame(x, columns=[f"x{j}" for j in range(6)])
    for j in (0, 1):
        data[f"near{j}"] = x[:, j] + 0.1 * rng.normal(size=250)
    return data.assign(y=2 * x[:, 0] + 2 * x[:, 1] + 0.7 * x[:, 2] + 0.5 * rng.normal(size=250))


def select(data, method, k=2, **options):
    return treeselect.select("y ~ .", data, method=method, k=k, seed=1, **options)


def tasks(fit, **asked):
    return Task(fit.data.design.problem, fit.data.design.row_weights, seed=1, **asked)


@pytest.fixture(scope="module")
def refined(pair):
    return select(pair, "mrmr", refine=True)


def test_a_pair_that_the_path_of_controlburn_misses(pair):
    quick = QUICK["controlburn"]
    assert set(select(pair, "controlburn", **quick).selected) != {"x0", "x1"}
    assert set(select(pair, "controlburn", refine=True, **quick).selected) == {"x0", "x1"}


@pytest.mark.parametrize("method", sorted({*METHODS} - {"exchange"}))
def test_every_method_can_be_refined(pair, method):
    quick = QUICK.get(method, {})
    fit = select(pair, method, refine=True, **quick)
    if method in ("fcbf", "hsic_lasso"):  # see no pairs, and may find no second one
        assert fit.k == 2 or any(
            "or do not lower the out-of-bag error" in n for n in fit.search.notes
        )
    else:
        assert set(fit.selected) == {"x0", "x1"}
    assert fit.search.method.refine
    assert fit.search.method.tells_out_of_bag
    assert fit.search.step.error is not None
    assert fit.search.step.trace is not None
    assert fit.model.importance.sum() == pytest.approx(1.0)
    with pytest.raises(MethodError, match=r"`refine` of .* True or False"):
        METHODS[method](refine=1)


def test_selectors_of_others_can_be_refined(pair):
    method = find_method(SelectKBest(), {"refine": True})
    assert repr(method) == "ForeignSelector(SelectKBest(), refine=True)"
    assert set(select(pair, method).selected) == {"x0", "x1"}


def test_exchange_search_has_nothing_to_be_refined(pair):
    with pytest.raises(MethodError, match="no option"):
        select(pair, "exchange", refine=True)


def test_no_copy_takes_the_place_of_a_weak_column(copies):
    fit = select(copies, "importance", 3, refine=True, prune=True, n_trees=50)
    one, other = ({f"x{j}", f"near{j}"} & set(fit.selected) for j in (0, 1))
    assert (len(one), len(other)) == (1, 1)
    assert "x2" in fit.selected


def test_what_was_there_before_is_told(pair, refined):
    own = select(pair, "mrmr").selected
    (said,) = [note for note in refined.search.notes if note.startswith("Selected before")]
    assert said == f"Selected before refinement: `{'`, `'.join(sorted(own))}`."
    assert "out of bag" in refined.summary().as_text()


@pytest.mark.parametrize("name", ["lasso", "cfs", "grrf"])
@pytest.mark.parametrize("every_size", [True, False])
def test_the_error_is_never_above_that_of_the_methods_own_set(copies, name, every_size):
    fit = treeselect.select("y ~ .", copies, method="lasso", k=1, seed=1)
    method = find_method(name, QUICK.get(name, {}))
    problem = fit.data.design.problem_for(method)
    task = Task(problem, fit.data.design.row_weights, max_size=3, seed=1, every_size=every_size)
    judge, keep = Search(task, n_trees=100, margin=1.0).judge, problem.groups.keep
    own = method.path(task)
    steps = dataclasses.replace(method, refine=True).path(task)
    assert [step.size for step in steps] == ([0, 1, 2, 3] if every_size else [0, 3])
    for step in steps:
        before = judge.error(step_of_size(own, step.size, keep).selected)
        assert step.error == judge.error(step.selected) <= before


def test_at_a_fixed_tuning_value_nothing_is_left_to_change(copies):
    fit = treeselect.select("y ~ .", copies, method="lasso", lam=0.01, refine=True, seed=1)
    own = treeselect.select("y ~ .", copies, method="lasso", lam=0.01, seed=1)
    assert fit.k < own.k
    assert fit.search.step.tuning == 0.01
    again = Refinement(tasks(fit, max_size=8)).at(fit.search.step)
    assert set(np.flatnonzero(again.selected)) == set(np.flatnonzero(fit.search.step.selected))
    assert len(fit.search.steps) == 1


def test_kept_units_stay(pair):
    fit = select(pair, "lasso", 3, refine=True, keep="x5")
    assert set(fit.selected) == {"x0", "x1", "x5"}
    fixed = treeselect.select(
        "y ~ .", pair, method="lasso", lam=1e-4, refine=True, keep="x5", seed=1
    )
    assert "x5" in fixed.selected
    alone = Step(np.inf, fixed.data.design.problem.groups.keep, np.zeros(6), 0.0)
    assert Refinement(tasks(fixed, max_size=3)).at(alone).size == 1


def test_threads_and_the_order_of_columns_change_nothing(pair, refined):
    other = select(pair[pair.columns[::-1]], "mrmr", refine=True, n_jobs=2)
    assert set(other.selected) == set(refined.selected)
    assert other.search.step.error == pytest.approx(refined.search.step.error)


def test_a_path_of_all_sizes_ends_where_more_units_do_not_help(pair):
    fit = select(pair, "lasso", "best", folds=2, refine=True)
    assert set(fit.selected) == {"x0", "x1"}
    assert fit.search.steps[-1].size < 6


def test_the_sparse_forest_predicts_from_a_set_that_is_not_on_its_path(copies):
    fit = select(
        copies, "controlburn", 3, refine=True, refit=None, forests=1, forest="single-feature"
    )
    assert fit.predict(copies).shape == (250,)


def test_what_nothing_replaces_is_found_at_any_price(pair):
    assert set(select(pair, "lasso", 2, refine=True, costs={"x0": 2.0}).selected) == {"x0", "x1"}
