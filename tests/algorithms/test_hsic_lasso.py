"""HSIC lasso: the definition, another solver, signals of any form, and what options mean."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls
from tasks import names_of, task_of

import treeselect
from treeselect import HSICLasso
from treeselect.algorithms.linear import hsic as hsic_lasso
from treeselect.algorithms.linear.hsic import KernelFits, response_kernel, unit_kernel
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights
from treeselect.engine.linear.homotopy import all_rows


def frame(n, p, seed):
    """Numbers x0, x1, ..."""
    x = np.random.default_rng(seed).normal(size=(n, p))
    return pd.DataFrame(x, columns=[f"x{j}" for j in range(p)])


@pytest.fixture(scope="module")
def curves():
    """`a` by a sine, `b` by its square and the factor `site` matter; the rest is noise."""
    rng = np.random.default_rng(7)
    data = pd.DataFrame(rng.normal(size=(300, 5)), columns=["a", "b", "n0", "n1", "n2"])
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=300)
    curve = 2 * np.sin(2 * data["a"]) + data["b"] ** 2 + 2 * (data["site"] == "York")
    data["y"] = curve + 0.3 * rng.normal(size=300)
    return data


def problem_of(data, formula="y ~ .", **arguments):
    task = task_of(data, HSICLasso(), formula, **arguments)
    return task.problem, task.weight


def fits_of(problem, weight, seed=1):
    mass = weight[weight > 0] * 1.0
    return KernelFits(Task(problem, row_weights(weight), max_size=1, seed=seed), all_rows(mass))


def test_units_have_the_kernels_of_the_paper(curves):
    problem, weight = problem_of(curves, "y ~ a + site")
    rows, mass = np.arange(300), np.ones(300)
    a = unit_kernel(problem.columns, 0, rows, mass).between(rows[np.newaxis], rows[np.newaxis])[0]
    scaled = (curves["a"] / curves["a"].std(ddof=0)).to_numpy()
    np.testing.assert_allclose(a, np.exp(-((scaled[:, None] - scaled) ** 2) / 2), atol=1e-12)
    site = unit_kernel(problem.columns, 1, rows, mass).between(rows[np.newaxis], rows[np.newaxis])
    label = curves["site"].to_numpy()
    size = curves["site"].map(curves["site"].value_counts()).to_numpy()
    np.testing.assert_allclose(site[0], (label[:, None] == label) / size, atol=1e-12)
    classes = dataclasses.replace(problem, y=(curves["y"] > 1).to_numpy() * 1.0)
    classes = dataclasses.replace(classes, family=treeselect.designs.families.BINOMIAL)
    made = response_kernel(classes, weight, rows, mass)
    assert set(made.labels) == {0, 1}
    assert (made.scale**-2).tolist() == np.bincount(made.labels)[made.labels].tolist()
    data = frame(60, 2, 0).assign(f=["u", "v", "w"] * 20, g=["p", "q"] * 30)
    data["y"] = data["x0"]
    data.loc[::7, "x1"] = np.nan
    data.loc[::9, "f"] = None
    groups = {"all": ["x0", "x1", "f", "g"]}
    problem, _ = problem_of(data, "y ~ x0 + x1 + f + g", groups=groups)
    rows, mass = np.arange(60), np.ones(60)
    (found,) = unit_kernel(problem.columns, 0, rows, mass).between(rows[None], rows[None])
    filled = data["x1"].fillna(np.sort(data["x1"].dropna())[(data["x1"].notna().sum() - 1) // 2])
    x = np.array([data["x0"], filled])
    x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    gauss = np.exp(-((x[:, :, None] - x[:, None]) ** 2).sum(axis=0) / 4)
    missing = data["x1"].isna().to_numpy()
    level = data["f"].fillna("none") + data["g"]
    same = level.to_numpy()[:, None] == level.to_numpy()
    wanted = gauss * same * (missing[:, None] == missing) / same.sum(axis=0)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("lam", [0.2, 0.05, 0.01, 0.001])
def test_the_solution_is_that_of_non_negative_least_squares(curves, lam):
    """``|L - K a|^2 / 2 + lam sum a`` over whole matrices, as least squares with a root of K'K."""
    problem, weight = problem_of(curves.iloc[:60])
    rows, mass, n = np.arange(60), np.ones(60), 60
    centring = np.eye(n) - 1 / n

    def column(kernel):
        centred = centring @ kernel.between(rows[None], rows[None])[0] @ centring
        return centred.ravel() / np.linalg.norm(centred)

    k = np.array([column(unit_kernel(problem.columns, g, rows, mass)) for g in range(6)]).T
    response = column(response_kernel(problem, weight, rows, mass))
    root = np.linalg.cholesky(k.T @ k)
    wanted, _ = nnls(root.T, np.linalg.solve(root, k.T @ response - lam))
    fits = fits_of(problem, weight)
    np.testing.assert_allclose(fits.relevance, k.T @ response, atol=1e-10)
    np.testing.assert_allclose(fits.at(lam), wanted, atol=1e-8)
    (step,) = HSICLasso(lam=lam).path(Task(problem, row_weights(weight), max_size=6, seed=1))
    np.testing.assert_array_equal(step.selected, wanted > 0)
    np.testing.assert_allclose(step.importance, wanted / max(wanted.sum(), 1e-9), atol=1e-8)


@pytest.mark.parametrize(
    ("shape", "response", "found"),
    [
        (
            (200, 60, 3),
            lambda x0, x1, x2, x3, e: -2 * np.sin(2 * x0) + x1**2 + x2 + np.exp(-x3) + e,
            {"x0", "x1", "x2", "x3"},
        ),
        ((60, 200, 8), lambda x0, x1, x2, x3, e: 2 * x0 + 2 * x1**2 + 0.3 * e, {"x0", "x1"}),
    ],
    ids=["additive, of the paper", "few rows"],
)
def test_signals_of_any_form_are_found(shape, response, found):
    data = frame(*shape)
    noise = np.random.default_rng(shape[2] + 1).normal(size=shape[0])
    data["y"] = response(*(data[f"x{j}"] for j in range(4)), noise)
    fit = treeselect.select("y ~ .", data, method="hsic_lasso", k=len(found), seed=1)
    assert set(fit.selected) == found


def test_most_units_are_never_looked_at_and_never_needed(curves, monkeypatch):
    problem, weight = problem_of(curves)
    everything = fits_of(problem, weight).path(6)
    lam = everything[2][0]
    at_lam = fits_of(problem, weight).at(lam)
    monkeypatch.setattr(hsic_lasso, "_FIRST_UNITS", 1)
    few = fits_of(problem, weight)
    asked = []
    gram = few.gram
    few.gram = lambda units: asked.append(len(units)) or gram(units)
    for (one, weights), (other, others) in zip(few.path(6), everything, strict=True):
        assert one == pytest.approx(other, rel=1e-8)
        np.testing.assert_allclose(weights, others, atol=1e-8)
    assert asked == [1, 4, 6]
    np.testing.assert_allclose(few.at(lam), at_lam, atol=1e-9)
    assert asked[-1] < 6


def test_free_units_do_not_hide_the_others(curves, monkeypatch):
    monkeypatch.setattr(hsic_lasso, "_FIRST_UNITS", 1)
    task = task_of(curves, HSICLasso(), max_size=3, costs={"a": 0.0})
    steps = HSICLasso().path(task)
    assert names_of(task, steps[0].selected) == {"a"}  # which is not penalised
    assert names_of(task, steps[-1].selected) == {"a", "b", "site"}


def test_blocks_find_the_same_signals(curves):
    task = task_of(curves, HSICLasso(), max_size=3)
    whole = HSICLasso(block_size=300).path(task)
    for step, one in zip(HSICLasso().path(task), whole, strict=True):
        np.testing.assert_array_equal(step.importance, one.importance)
    method = HSICLasso(block_size=40, n_shuffles=3)
    steps, again, other = (method.path(dataclasses.replace(task, seed=seed)) for seed in (2, 2, 3))
    np.testing.assert_array_equal(steps[3].selected, whole[3].selected)
    assert [s.tuning for s in again] == [s.tuning for s in steps]
    assert [s.tuning for s in other] != [s.tuning for s in steps]


def test_blocks_are_for_many_rows_or_for_those_who_ask():
    def shape(n, **options):
        weight = np.append(np.ones(n, dtype=np.int64), 0)
        return HSICLasso(**options)._blocks(row_weights(weight), 1).rows.shape

    assert shape(1000) == (1, 1000)
    assert shape(1001) == (11, 91)
    assert shape(1001, block_size=1001, n_shuffles=2) == (1, 1001)
    assert shape(1000, block_size=250, n_shuffles=2) == (8, 250)
