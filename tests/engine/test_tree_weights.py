"""The sparse forest against cvxpy, its optimality conditions, and its path."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest

from treeselect.engine import naive
from treeselect.engine.losses import LogisticLoss, SquaredLoss
from treeselect.engine.tree_weights import SparseForest, coordinate_descent, correlate
from treeselect.engine.weight_path import solution_path, support, weighted_importance

N_ROWS, N_TREES, N_GROUPS = 300, 40, 8


def problem(loss, *, free_trees=0, seed=0):
    """Random trees of 2 to 8 leaves, integer weights with zeros, prices from groups."""
    rng = np.random.default_rng(seed)
    leaves, values = [], []
    for _ in range(N_TREES):
        n_leaves = int(rng.integers(2, 9))
        leaves.append(rng.integers(0, n_leaves, size=N_ROWS).astype(np.uint16))
        values.append(rng.normal(size=n_leaves))
    signal = sum(values[t][leaves[t]] for t in range(0, 12, 2)) / 2
    y = signal + rng.normal(size=N_ROWS)
    if isinstance(loss, LogisticLoss):
        y = (y > 0).astype(float)
    weight = rng.integers(0, 3, size=N_ROWS)
    uses = rng.random((N_TREES, N_GROUPS)) < 0.25
    uses[np.arange(N_TREES), np.arange(N_TREES) % N_GROUPS] = True
    prices = uses.sum(axis=1).astype(float)
    prices[:free_trees] = 0.0
    base = loss.constant(y, weight)
    forest = SparseForest(leaves, values, loss, y, weight, base, prices)
    columns = np.column_stack([v[leaf] for v, leaf in zip(values, leaves, strict=True)])
    return forest, columns, y, weight, base, uses


def reference(loss, columns, y, weight, base, prices, lam):
    """The optimal objective by CLARABEL."""
    rows = weight > 0
    share = weight[rows] / weight[rows].sum()
    w, b = cp.Variable(columns.shape[1], nonneg=True), cp.Variable()
    eta = base + b + columns[rows] @ w
    if isinstance(loss, SquaredLoss):
        mean = cp.sum(cp.multiply(share / 2, cp.square(y[rows] - eta)))
    else:
        mean = cp.sum(cp.multiply(share, cp.logistic(eta) - cp.multiply(y[rows], eta)))
    task = cp.Problem(cp.Minimize(mean + lam * (prices @ w)))
    task.solve(solver=cp.CLARABEL)
    return task.value


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()], ids=["squared", "logistic"])
@pytest.mark.parametrize("share", [0.8, 0.5, 0.2, 0.05, 0.01])
@pytest.mark.parametrize("free_trees", [0, 3])
def test_objective_is_cvxpys(loss, share, free_trees):
    forest, columns, y, weight, base, _ = problem(loss, free_trees=free_trees)
    empty = forest.empty()
    lam = share * forest.largest_lam(empty)
    ours = forest.objective(forest.solve(lam, empty))
    theirs = reference(loss, columns, y, weight, base, forest.prices, lam)
    # CLARABEL stops at a gap of 1e-8: ours may be that much better, but not worse.
    assert ours <= theirs * (1 + 1e-8)
    assert ours == pytest.approx(theirs, rel=1e-7)


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()], ids=["squared", "logistic"])
def test_optimality_conditions(loss):
    forest, columns, y, weight, base, _ = problem(loss, seed=1)
    lam = 0.1 * forest.largest_lam(forest.empty())
    solution = forest.solve(lam, forest.empty())
    eta = base + solution.intercept + columns @ solution.weights
    residual = weight / weight.sum() * loss.negative_gradient(y, eta)
    excess = columns.T @ residual - lam * forest.prices
    inside = solution.weights > 0
    assert 0 < inside.sum() < N_TREES
    assert np.abs(excess[inside]).max() < 1e-6
    assert excess[~inside].max() < 1e-6
    assert abs(residual.sum()) < 1e-6
    np.testing.assert_allclose(solution.eta, eta[weight > 0], atol=1e-12)


def test_warm_and_cold_starts_agree():
    forest, *_ = problem(LogisticLoss(), seed=2)
    empty = forest.empty()
    lam = 0.05 * forest.largest_lam(empty)
    warm = forest.solve(lam, forest.solve(2 * lam, empty))
    np.testing.assert_allclose(warm.weights, forest.solve(lam, empty).weights, atol=1e-4)


def test_nothing_is_in_above_the_largest_penalty():
    forest, *_ = problem(SquaredLoss())
    empty = forest.empty()
    largest = forest.largest_lam(empty)
    assert not forest.solve(1.001 * largest, empty).weights.any()
    assert forest.solve(0.99 * largest, empty).weights.any()


def test_path_goes_up_and_ends_in_time():
    forest, _, _, _, _, uses = problem(SquaredLoss())
    keep = np.zeros(N_GROUPS, dtype=bool)
    path = solution_path(forest, uses, keep, 5)
    sizes = [int(support(s, uses, keep).sum()) for s in path]
    assert sizes[0] == 0
    assert sizes == sorted(set(sizes))
    assert sizes[-1] >= 5 > sizes[-2]
    assert all(a.lam > b.lam for a, b in itertools.pairwise(path))
    wanted = path[1].lam * 0.3
    ended = solution_path(forest, uses, keep, 1, last_lam=wanted)
    assert ended[-1].lam == wanted


def test_kept_groups_count_from_the_start():
    forest, _, _, _, _, uses = problem(SquaredLoss())
    keep = np.zeros(N_GROUPS, dtype=bool)
    keep[[2, 5]] = True
    first = solution_path(forest, uses, keep, 4)[0]
    np.testing.assert_array_equal(support(first, uses, keep), keep)


def test_importance_is_shared_by_gain():
    forest, _, _, _, _, uses = problem(SquaredLoss())
    solution = forest.empty()._replace(weights=np.eye(N_TREES)[4])
    gains = np.where(uses, 2.0, 0.0)
    importance = weighted_importance(solution, forest.spread(), gains)
    np.testing.assert_allclose(importance, uses[4] / uses[4].sum())


def test_correlation_is_its_naive_twin():
    forest, columns, _, weight, _, _ = problem(SquaredLoss())
    residual = np.random.default_rng(3).normal(size=int((weight > 0).sum()))
    fast = correlate(forest._leaves, forest._flat, forest._start, residual)
    np.testing.assert_allclose(fast, naive.correlate(columns[weight > 0], residual), atol=1e-11)
    spread = np.sqrt(
        np.average(columns**2, axis=0, weights=weight)
        - np.average(columns, axis=0, weights=weight) ** 2
    )
    np.testing.assert_allclose(forest.spread(), spread, atol=1e-12)


def test_coordinate_descent_is_its_naive_twin():
    rng = np.random.default_rng(4)
    for _ in range(20):
        a = rng.normal(size=(30, 7))
        hessian, linear = a.T @ a, rng.normal(size=7) * 5
        price = np.concatenate([[0.0], rng.random(6)])
        x = np.zeros(7)
        coordinate_descent(hessian, linear, price, x, 1e-12)
        expected = naive.non_negative_lasso(hessian, linear, price, 3000)
        np.testing.assert_allclose(x, expected, atol=1e-9)
