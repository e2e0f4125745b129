"""The sparse forest against cvxpy, its optimality conditions, and its path."""

from __future__ import annotations

import itertools

import cvxpy as cp
import naive
import numpy as np
import pytest

from treeselect.engine.losses import LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss
from treeselect.engine.sparse.forest import GramForest
from treeselect.engine.sparse.path import solution_path, support, weighted_importance
from treeselect.engine.sparse.weights import SparseForest, TreeColumns, coordinate_descent

N_ROWS, N_TREES, N_GROUPS = 300, 40, 8


LOSSES = {
    "squared": SquaredLoss(),
    "logistic": LogisticLoss(),
    "poisson": PoissonLoss(),
    "multinomial": MultinomialLoss(3),
}
EVERY_LOSS = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def response(loss, signal, rng):
    """What a signal, shape (n_rows, n_outputs), gives rise to."""
    noisy = signal + rng.normal(size=signal.shape)
    if isinstance(loss, MultinomialLoss):
        return noisy.argmax(axis=1).astype(float)
    if isinstance(loss, PoissonLoss):
        return rng.poisson(np.exp(0.5 * signal[:, 0])).astype(float)
    return (noisy[:, 0] > 0).astype(float) if isinstance(loss, LogisticLoss) else noisy[:, 0]


def problem(loss, *, free_trees=0, seed=0, ridge=0.0):
    """Random trees of 2 to 8 leaves, integer weights with zeros, prices from groups."""
    rng = np.random.default_rng(seed)
    leaves, values = [], []
    for _ in range(N_TREES):
        n_leaves = int(rng.integers(2, 9))
        leaves.append(rng.integers(0, n_leaves, size=N_ROWS).astype(np.uint16))
        values.append(rng.normal(size=(n_leaves, loss.n_outputs)))
    signal = sum(values[t][leaves[t]] for t in range(0, 12, 2)) / 2
    y = response(loss, signal, rng)
    weight = rng.integers(0, 3, size=N_ROWS)
    uses = rng.random((N_TREES, N_GROUPS)) < 0.25
    uses[np.arange(N_TREES), np.arange(N_TREES) % N_GROUPS] = True
    prices = uses.sum(axis=1).astype(float)
    prices[:free_trees] = 0.0
    constant = loss.constant(y, weight)
    base = np.full(N_ROWS, constant) if np.ndim(constant) == 0 else np.tile(constant, (N_ROWS, 1))
    rows = np.flatnonzero(weight)
    trees = TreeColumns(leaves, values, rows, loss.n_outputs)
    forest = SparseForest(trees, loss, y[rows], weight[rows], base[rows], prices, ridge=ridge)
    columns = np.stack([v[leaf] for v, leaf in zip(values, leaves, strict=True)], axis=2)
    return forest, columns, y, weight, base, uses


def reference(loss, columns, y, weight, base, prices, lam, ridge=0.0):
    """The optimal objective by CLARABEL."""
    rows = weight > 0
    share, y = weight[rows] / weight[rows].sum(), y[rows]
    w, b = cp.Variable(columns.shape[2], nonneg=True), cp.Variable(loss.n_outputs)
    base = base.reshape(len(base), -1)
    eta = [base[rows, k] + b[k] + columns[rows, k] @ w for k in range(loss.n_outputs)]
    if isinstance(loss, SquaredLoss):
        each = cp.square(y - eta[0]) / 2
    elif isinstance(loss, PoissonLoss):
        each = cp.exp(eta[0]) - cp.multiply(y, eta[0])
    elif isinstance(loss, LogisticLoss):
        each = cp.logistic(eta[0]) - cp.multiply(y, eta[0])
    else:
        chosen = sum(cp.multiply(y == k, eta[k]) for k in range(loss.n_outputs))
        each = cp.log_sum_exp(cp.vstack(eta), axis=0) - chosen
    price = lam * (prices @ w) + ridge / 2 * cp.sum_squares(w)
    fixed = [b[-1] == 0] if loss.n_outputs > 1 else []  # a shift of all outputs changes nothing
    task = cp.Problem(cp.Minimize(cp.sum(cp.multiply(share, each)) + price), fixed)
    task.solve(solver=cp.CLARABEL)
    return task.value


@EVERY_LOSS
@pytest.mark.parametrize("share", [0.8, 0.5, 0.2, 0.05, 0.01])
@pytest.mark.parametrize(("free_trees", "ridge"), [(0, 0.0), (3, 0.0), (2, 0.1)])
def test_objective_is_cvxpys(loss, share, free_trees, ridge):
    forest, columns, y, weight, base, _ = problem(loss, free_trees=free_trees, ridge=ridge)
    empty = forest.empty()
    # Rounded, since CLARABEL may stop elsewhere if the penalty differs in its last digit.
    lam = round(share * forest.largest_lam(empty), 10)
    ours = forest.objective(forest.solve(lam, empty))
    theirs = reference(loss, columns, y, weight, base, forest.prices, lam, ridge)
    # CLARABEL stops at a gap of 1e-8: ours may be that much better, but not worse.
    assert ours <= theirs + 1e-8 * abs(theirs)
    assert ours == pytest.approx(theirs, rel=1e-7)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("free_trees", [0, 3])
def test_the_exact_path_of_the_squared_error_is_that_of_newtons_steps(free_trees, ridge):
    forest, *_ = problem(SquaredLoss(), free_trees=free_trees, ridge=ridge)
    exact = GramForest(
        forest.columns, forest.loss, forest.y, forest.share, forest.base, forest.prices, ridge=ridge
    )
    empty = forest.empty()
    largest = forest.largest_lam(empty)
    assert exact.largest_lam(exact.empty()) == pytest.approx(largest)
    for lam in (np.inf, *(largest * np.array([1.1, 0.9, 0.5, 0.2, 0.05, 0.01, 0.001]))):
        theirs = forest.solve(lam, empty) if np.isfinite(lam) else empty
        ours = exact.solve(lam, None)
        np.testing.assert_allclose(ours.weights, theirs.weights, atol=1e-5)
        np.testing.assert_allclose(ours.intercept, theirs.intercept, atol=1e-5)
        np.testing.assert_allclose(ours.eta, theirs.eta, atol=1e-5)
    penalties = list(exact.penalties(largest, 0.01 * largest))
    assert penalties == sorted(penalties, reverse=True)
    sets = [tuple(exact.solve(lam, None).weights > 0) for lam in penalties]
    assert all(sum(np.abs(np.subtract(a, b, dtype=int))) == 1 for a, b in itertools.pairwise(sets))


@EVERY_LOSS
def test_optimality_conditions(loss):
    forest, columns, y, weight, base, _ = problem(loss, seed=1)
    lam = 0.1 * forest.largest_lam(forest.empty())
    solution = forest.solve(lam, forest.empty())
    eta = base + (solution.intercept + columns @ solution.weights).reshape(base.shape)
    share = weight / weight.sum()
    residual = share * loss.negative_gradient(y, eta).T
    excess = np.einsum("ki,ikt->t", np.atleast_2d(residual), columns) - lam * forest.prices
    inside = solution.weights > 0
    assert 0 < inside.sum() < N_TREES
    assert np.abs(excess[inside]).max() < 1e-6
    assert excess[~inside].max() < 1e-6
    np.testing.assert_allclose(residual.T.sum(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(solution.eta, eta[weight > 0], atol=1e-12)


def test_a_ridge_keeps_copies_together():
    _, columns, y, weight, base, _ = problem(SquaredLoss())
    rows = np.flatnonzero(weight)
    leaves = [np.unique(columns[:, 0, t], return_inverse=True)[1] for t in (0, 0, 2)]
    values = [np.unique(columns[:, 0, t]) for t in (0, 0, 2)]
    for ridge, together in ((0.0, False), (1e-3, True)):
        copies = SparseForest(
            TreeColumns(leaves, values, rows), SquaredLoss(), y[rows], weight[rows], base[rows],
            np.ones(3), ridge=ridge,
        )  # fmt: skip
        w = copies.solve(0.1 * copies.largest_lam(copies.empty()), copies.empty()).weights
        assert np.isclose(w[0], w[1], rtol=1e-3) == together


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


@pytest.mark.parametrize("n_leaves", [2, 8, 256, 257, 700])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_columns_are_their_naive_twins(n_leaves, n_outputs):
    rng = np.random.default_rng(3)
    leaves = [rng.integers(0, n, size=900).astype(np.uint16) for n in (n_leaves, 5, n_leaves)]
    values = [rng.normal(size=(n, n_outputs)) for n in (n_leaves, 5, n_leaves)]
    rows = np.flatnonzero(rng.random(900) < 0.7)
    trees = TreeColumns(leaves, values, rows, n_outputs)
    dense = np.column_stack([v[leaf[rows]].ravel() for v, leaf in zip(values, leaves, strict=True)])
    some = np.array([2, 0])
    for part in (slice(0, 100), slice(50, len(rows))):
        by_row = dense.reshape(len(rows), -1, 3)[part].reshape(-1, 3)
        np.testing.assert_array_equal(trees.block(some, part), by_row[:, some].T)
    combined = dense @ np.array([0.5, 0.0, 2.0])
    np.testing.assert_allclose(trees.combine(np.array([0.5, 0.0, 2.0])).ravel(), combined)
    residual = rng.normal(size=len(dense))
    np.testing.assert_allclose(
        trees.correlate(residual), naive.correlate(dense, residual), atol=1e-11
    )
    share = rng.random(len(rows))
    share /= share.sum()
    by_output = dense.reshape(len(rows), n_outputs, 3)
    mean = np.einsum("i,ikt->kt", share, by_output)
    square = np.einsum("i,ikt->kt", share, by_output**2)
    np.testing.assert_allclose(trees.spread(share), np.sqrt((square - mean**2).sum(axis=0)))


def test_coordinate_descent_is_its_naive_twin():
    rng = np.random.default_rng(4)
    for _ in range(20):
        a = rng.normal(size=(30, 7))
        hessian, linear = a.T @ a, rng.normal(size=7) * 5
        price = np.concatenate([[0.0], rng.random(6)])
        x = np.zeros(7)
        coordinate_descent(hessian, linear, price, x, 1, 1e-12)
        expected = naive.non_negative_lasso(hessian, linear, price, 3000)
        np.testing.assert_allclose(x, expected, atol=1e-9)
