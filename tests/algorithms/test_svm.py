"""SVM-RFE: known truth, scikit-learn's RFE, columns, weights and what the machine minimises."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import treeselect
from treeselect import SVMRFE
from treeselect.algorithms.linear.svm import LinearMachine
from treeselect.algorithms.task import Task
from treeselect.designs.families import POISSON, multinomial
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError


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


def problem_of(data, formula="y ~ .", **arguments):
    k = max(1, len(arguments.get("keep", ())))
    fit = treeselect.select(formula, data, method="lasso", seed=1, k=k, **arguments)
    return fit.data.design.problem_for(SVMRFE()), fit.data.design.weight


def machine_of(problem, weight, C=1.0, epsilon=0.1):
    return LinearMachine(Task(problem, row_weights(weight), max_size=1, seed=1), C, epsilon)


def classes_of(data):
    return data.assign(y=(data["y"] > 1).astype(int))


def test_signal_outlives_noise_in_every_family(linear):
    problem, weight = problem_of(linear)
    names = np.array(problem.groups.names)
    y = linear["y"].to_numpy(copy=True)  # kernels know arrays that can be written to
    two = (y > 1).astype(float)
    three = np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float)
    counts = np.random.default_rng(0).poisson(np.exp(y / 3)).astype(float)
    binomial = problem_of(classes_of(linear))[0].family
    for response, family in (
        (y, problem.family), (two, binomial), (three, multinomial(3)), (counts, POISSON),
    ):  # fmt: skip
        here = dataclasses.replace(problem, y=response, family=family)
        steps = SVMRFE().path(Task(here, row_weights(weight), max_size=7, seed=2))
        assert [step.size for step in steps] == list(range(8))
        assert set(names[steps[3].selected]) == {"a", "b", "site"}
        for small, large in pairwise(steps):
            assert not (small.selected & ~large.selected).any()


def test_the_same_numbers_as_scikit_learns_elimination(linear):
    from sklearn.feature_selection import RFE
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    data = classes_of(linear).drop(columns="site")
    problem, weight = problem_of(data)
    names = np.array(problem.groups.names)
    x = StandardScaler().fit_transform(data[names])
    steps = SVMRFE(C=0.5).path(Task(problem, row_weights(weight), max_size=6, seed=2))
    twin = LinearSVC(C=0.5, dual=False, intercept_scaling=10.0, tol=1e-8)
    for size in range(1, 7):
        found = RFE(twin, n_features_to_select=size).fit(x, data["y"])
        np.testing.assert_array_equal(steps[size].selected, found.support_)
        squares = found.estimator_.coef_[0] ** 2
        np.testing.assert_allclose(
            steps[size].importance[found.support_], squares / squares.sum(), atol=1e-4
        )


def test_the_machine_minimises_what_the_notes_say(linear):
    """By a general minimiser; the intercept is all but free there, too."""
    problem, weight = problem_of(classes_of(linear))
    machine = machine_of(problem, weight, C=0.3)
    x, sign = machine._x, 2 * machine._y - 1

    def objective(b):
        slack = np.maximum(1 - sign * (x @ b[1:] + b[0]), 0)
        return (b[0] / 10) ** 2 / 2 + b[1:] @ b[1:] / 2 + 0.3 * (slack**2).sum()

    best = minimize(objective, np.zeros(x.shape[1] + 1), options={"gtol": 1e-6})
    found = machine.weights(np.arange(x.shape[1]))
    np.testing.assert_allclose(found[0], best.x[1:], atol=1e-4)


def test_more_columns_than_rows_are_solved_the_same():
    from sklearn.svm import LinearSVC, LinearSVR

    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(40, 90)), columns=[f"x{j}" for j in range(90)])
    for response in (rng.integers(2, size=40), rng.integers(3, size=40), rng.normal(size=40)):
        problem, weight = problem_of(data.assign(y=response.astype(type(response[0]))))
        if len(np.unique(response)) == 3:
            problem = dataclasses.replace(problem, y=response * 1.0, family=multinomial(3))
        machine = machine_of(problem, weight)
        kind = LinearSVC if problem.family.has_classes else LinearSVR
        own = {"epsilon": 0.1, "loss": "squared_epsilon_insensitive"} if kind is LinearSVR else {}
        twin = kind(dual=False, tol=1e-8, intercept_scaling=10.0, **own)
        twin.fit(machine._x, machine._y, machine._mass)
        found = machine.weights(np.arange(90))
        np.testing.assert_allclose(found, np.atleast_2d(twin.coef_), atol=1e-4)


def test_a_unit_has_the_squares_of_all_its_columns_and_classes(linear):
    problem, weight = problem_of(linear, groups={"both": ["a", "n0"]})
    three = np.searchsorted(np.quantile(problem.y, [0.3, 0.6]), problem.y).astype(float)
    here = dataclasses.replace(problem, y=three, family=multinomial(3))
    machine, names = machine_of(here, weight), here.groups.names
    every = np.ones(len(names), dtype=bool)
    squares = machine.weights(np.arange(machine._x.shape[1])) ** 2
    assert squares.shape == (3, 5 + 3 + 1)
    found = machine.judge(every)
    for g, n_columns in ((names.index("both"), 2), (names.index("site"), 3)):
        own = machine._unit == g
        assert own.sum() == n_columns
        assert found[g] == pytest.approx(squares[:, own].sum(), rel=1e-6)


def test_whole_weights_are_copies_and_relative_ones_have_no_unit(linear):
    data = classes_of(linear)
    count = np.random.default_rng(1).integers(0, 3, size=len(data))
    problem, _ = problem_of(data)
    again, ones = problem_of(data.loc[np.repeat(data.index, count)].reset_index(drop=True))
    every = np.ones(len(problem.groups.names), dtype=bool)
    a = machine_of(problem, count).judge(every)
    b = machine_of(again, ones).judge(every)
    np.testing.assert_allclose(a, b, rtol=1e-4)
    low, high = (machine_of(problem, count * unit).judge(every) for unit in (0.1, 7.0))
    np.testing.assert_allclose(low, high, rtol=1e-5)


def test_copies_share_places_across_seeds(linear):
    data = linear[["a", "n0", "y"]].assign(copy=linear["a"])
    problem, weight = problem_of(data)
    names, found = np.array(problem.groups.names), set()
    for seed in range(12):
        steps = SVMRFE().path(Task(problem, row_weights(weight), max_size=1, seed=seed))
        found |= set(names[steps[1].selected])
    assert found == {"a", "copy"}


def test_an_offset_takes_what_it_explains_from_classes_and_counts():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(600, 2))
    data = pd.DataFrame(x, columns=["a", "b"])
    known = 2.5 * x[:, 0]
    data["y"] = (rng.random(600) < 1 / (1 + np.exp(-known - x[:, 1]))).astype(int)
    counts = rng.poisson(np.exp(0.8 * x[:, 0] + 0.5 * x[:, 1])).astype(float)
    problem, weight = problem_of(data)
    for y, family, part in (
        (problem.y, problem.family, known), (counts, POISSON, 0.8 * x[:, 0]),
    ):  # fmt: skip
        for offset, first in ((None, "a"), (part, "b")):
            here = dataclasses.replace(problem, y=y, family=family, offset=offset)
            step = SVMRFE().path(Task(here, row_weights(weight), max_size=1, seed=2))[1]
            assert np.array(problem.groups.names)[step.selected].tolist() == [first]


def test_many_go_by_shares_and_thirty_one_by_one():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(120, 80)), columns=[f"x{j}" for j in range(80)])
    data["y"] = (data["x0"] + data["x1"] > 0).astype(int)
    problem, weight = problem_of(data)
    sizes = [
        s.size
        for s in SVMRFE(step=0.5).path(Task(problem, row_weights(weight), max_size=80, seed=1))
    ]
    assert sizes == [*range(31), 40, 80]
    for step in SVMRFE(step=0.5).path(Task(problem, row_weights(weight), max_size=3, seed=1))[1:]:
        (one,) = SVMRFE(step=0.5, share=step.tuning).path(
            Task(problem, row_weights(weight), max_size=3, seed=1)
        )
        np.testing.assert_array_equal(one.selected, step.selected)
    fit = treeselect.select("y ~ .", data, method="svm_rfe", k=2, seed=1)
    assert set(fit.selected) == {"x0", "x1"}


def test_kept_units_never_go_and_columns_without_values_never_come(linear):
    data = linear.assign(same=1.0)
    data.loc[::7, "a"] = np.nan
    problem, weight = problem_of(data, keep=["n0", "n1"])
    steps = SVMRFE().path(Task(problem, row_weights(weight), max_size=8, seed=2))
    assert [step.size for step in steps] == [2, 3, 4, 5, 6, 7]
    assert all(step.selected[problem.groups.keep].all() for step in steps)
    names = np.array(problem.groups.names)
    assert set(names[steps[3].selected]) == {"n0", "n1", "a", "b", "site"}
    assert "same" not in names[steps[-1].selected]


def test_rows_of_one_class_tell_nothing(linear):
    problem, weight = problem_of(classes_of(linear))
    steps = SVMRFE().path(Task(problem, row_weights(weight * (problem.y == 1)), max_size=2, seed=2))
    assert [step.size for step in steps] == [0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"share": 0.0}, "`share` of SVMRFE must be .* or None"),
        ({"step": 1.0}, "`step` .* above 0 and at most 0.9"),
        ({"C": 0}, "`C` of SVMRFE must be a finite number above 0"),
        ({"epsilon": -1.0}, "`epsilon` .* at least 0"),
        ({"prune": 1}, "True or False"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        SVMRFE(**options)
