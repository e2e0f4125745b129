"""RBoost: limit cases, known truth, and what its options mean."""

from __future__ import annotations

import numpy as np
import pytest

import treeselect
from treeselect import RBoost
from treeselect.algorithms.forests import regularised
from treeselect.algorithms.task import Task
from treeselect.errors import MethodError


@pytest.fixture(scope="module")
def friedman():
    """Ten variables, the last five noise, and copies of the first five: two classes."""
    data = treeselect.datasets.simulate_friedman(n=400, seed=3).data.copy()
    data["y"] = (data["y"] > data["y"].median()).astype(int)
    return data


def step(data, formula="y ~ .", seed=1, **options):
    method = RBoost(**options)
    fit = treeselect.select(formula, data, method=RBoost(n_trees=1), k=1, seed=1)
    problem = fit.data.design.problem_for(method)
    found = method.path(Task(problem, fit.data.design.row_weights, max_size=15, seed=seed))[-1]
    return found, np.array(problem.groups.names)


@pytest.mark.parametrize("form", ["reweighting", "gradient"])
def test_lambda_0_selects_nothing_and_copies_stay_out(friedman, form):
    assert step(friedman, lam=0.0, form=form)[0].size == 0
    found, names = step(friedman, lam=0.9, form=form)
    used = set(names[found.selected])
    assert {"X4", "X14"} & used
    if form == "reweighting":  # the other form scores leaves before it knows what opens
        assert not any({f"X{j}", f"X{j + 10}"} <= used for j in range(1, 6))


def test_more_trees_use_more_units(friedman):
    few, many = (step(friedman, lam=0.3, n_trees=n, mtry=1)[0] for n in (1, 60))
    assert few.selected.sum() <= many.selected.sum()


def test_a_boosted_ensemble_learns_its_rows(friedman):
    assert step(friedman, lam=1.0, n_trees=30)[0].train_score == pytest.approx(1.0, abs=1e-3)
    assert step(friedman, lam=1.0, n_trees=30, max_depth=1)[0].train_score > 0.85


def test_numbers_are_boosted_by_gradients(friedman):
    data = friedman.assign(y=friedman["X4"] * 10 + friedman["X1"])
    a = step(data, lam=0.8)[0]
    b = step(data, lam=0.8, form="gradient")[0]
    np.testing.assert_array_equal(a.importance, b.importance)
    assert a.train_score > 0.9
    with pytest.raises(MethodError, match="needs a response with classes"):
        step(data, lam=0.8, form="reweighting")


def test_gini_and_the_uncentred_form_are_options(friedman):
    plain = step(friedman, lam=0.6, criterion="gini")[0]
    harsh = step(friedman, lam=0.6, criterion="gini", gain="uncentred")[0]
    assert 1 <= harsh.size <= plain.size


def test_bags_have_as_many_rows_as_there_are_copies(friedman, monkeypatch):
    """Weights of 2 and 3 are not a bag of a third of the rows."""
    grow, drawn = regularised.bagged_forest, []

    def noted(data, target, counts, **options):
        drawn.append(counts.sum())
        return grow(data, target, counts, **options)

    monkeypatch.setattr(regularised, "bagged_forest", noted)
    half = np.arange(400) % 2
    for weight, n_rows in ((np.full(400, 3) - half, 1000), (np.full(400, 0.3) + half, 400)):
        treeselect.select("y ~ .", friedman, method=RBoost(n_trees=2, lam=0.9), weights=weight)
        assert set(drawn) == {n_rows}
        drawn.clear()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"lam": 2.0}, "`lam` of RBoost must be .* or None"),
        ({"n_trees": 0}, "`n_trees`"),
        ({"form": "ada"}, "'auto' or 'reweighting' or 'gradient'"),
        ({"criterion": "entropy", "gain": "uncentred"}, "can't have"),
        ({"form": "gradient", "ties": "random"}, "can't have"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        RBoost(**options)
