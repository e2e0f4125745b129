"""The sparse forest as cvxpy states it, with constraints, of the hinge loss; and best subsets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.engine.losses import (
    HingeLoss,
    LogisticLoss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
)
from treeselect.engine.sparse.forest import GramForest, HingeForest, ModelledForest, sparse_forest
from treeselect.engine.sparse.path import SubsetValues, best_subset, solution_path, support
from treeselect.engine.sparse.weights import TreeColumns
from treeselect.errors import MethodError

LOSSES = {
    "squared": SquaredLoss(),
    "logistic": LogisticLoss(),
    "poisson": PoissonLoss(),
    "multinomial": MultinomialLoss(3),
    "hinge": HingeLoss(),
}


def problem(loss, n_rows, n_trees, *, free_trees=0, seed=0):
    """Trees on eight groups, some of which matter, and case weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    uses = np.zeros((n_trees, 8), dtype=bool)
    leaves, values = [], []
    for t in range(n_trees):
        pair = rng.choice(8, size=2, replace=False)
        uses[t, pair] = True
        leaf = (X[:, pair] > rng.normal(size=2)) @ [1, 2]
        leaves.append(leaf.astype(np.uint8))
        values.append(0.2 * rng.normal(size=(4, loss.n_outputs)))
    signal = X[:, :1] + X[:, 1:2] * (X[:, 2:3] > 0) + 0.5 * rng.normal(size=(n_rows, 1))
    if loss.n_outputs == 3:
        y = np.digitize(signal[:, 0], [-0.5, 0.5]).astype(float)
    elif isinstance(loss, PoissonLoss):
        y = rng.poisson(np.exp(0.4 * signal[:, 0])).astype(float)
    else:
        y = signal[:, 0] if loss.is_squared else (signal[:, 0] > 0.3).astype(float)
    weight = rng.integers(1, 3, size=n_rows)
    prices = uses.sum(axis=1) * rng.uniform(0.5, 1.5, size=n_trees)
    prices[:free_trees] = 0.0
    constant = loss.constant(y, weight)
    base = np.full(n_rows, constant) if np.ndim(constant) == 0 else np.tile(constant, (n_rows, 1))
    columns = TreeColumns(leaves, values, np.arange(n_rows), loss.n_outputs)
    return sparse_forest(columns, loss, y, weight, base, prices), uses


def modelled(forest, constrain=None):
    """The same problem as cvxpy states it."""
    return ModelledForest(
        forest.columns, forest.loss, forest.y, forest.share, forest.base, forest.prices,
        ridge=forest.ridge, constrain=constrain,
    )  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_objectives_are_those_of_cvxpy(loss):
    forest, _ = problem(loss, 200 if loss.n_outputs > 1 else 400, 60)  # CLARABEL takes long
    model = modelled(forest)
    start = forest.empty()
    largest = model.largest_lam(model.empty())
    for share in (0.7, 0.3, 0.1, 0.03, 0.01):
        ours = forest.solve(share * largest, start)
        theirs = model.solve(share * largest, None)
        assert forest.objective(ours) <= forest.objective(theirs) + 1e-8
        assert forest.objective(ours) >= forest.objective(theirs) - 1e-7
        assert (ours.weights >= 0).all()
        start = ours


@pytest.mark.parametrize("free_trees", [0, 3])
def test_the_hinge_loss_by_its_conditions(free_trees):
    forest, uses = problem(HingeLoss(), 300, 40, free_trees=free_trees)
    assert isinstance(forest, HingeForest)
    empty = forest.empty()
    assert (empty.weights[free_trees:] == 0).all()
    above = forest.solve(1.01 * forest.largest_lam(empty), empty)
    assert (above.weights[free_trees:] == 0).all()
    path = solution_path(forest, uses, np.zeros(8, dtype=bool), 6)
    sizes = [int(support(s, uses, np.zeros(8, dtype=bool)).sum()) for s in path]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] >= 6
    rng = np.random.default_rng(1)
    for solution in path[1:]:
        best = forest.objective(solution)
        for _ in range(50):  # convex: no better point nearby means none at all
            weights = np.maximum(solution.weights + 0.01 * rng.normal(size=40), 0)
            intercept = solution.intercept + 0.01 * rng.normal(size=1)
            other = solution._replace(weights=weights, eta=forest.predictor(weights, intercept))
            assert forest.objective(other) >= best - 1e-12


def test_a_linear_program_that_fails_says_so(monkeypatch):
    import scipy.optimize

    forest, _ = problem(HingeLoss(), 100, 10)

    class Failed:
        status, message = 1, "Time limit reached."

    monkeypatch.setattr(scipy.optimize, "linprog", lambda *args, **options: Failed)
    with pytest.raises(MethodError, match=r"hinge loss could not be solved.\n.*Time limit"):
        forest.empty()


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()], ids=["squared", "logistic"])
def test_constraints_are_met_along_the_path(loss):
    forest, uses = problem(loss, 300, 40)
    keep = np.zeros(8, dtype=bool)

    def constrain(weights):
        return [sum_of(weights, 0) <= 0.2, sum_of(weights, 5) >= 0.1]

    def sum_of(weights, group):
        return uses[:, group].astype(float) @ weights

    model = modelled(forest, constrain)
    first = model.empty()
    assert sum_of(first.weights, 5) == pytest.approx(0.1, abs=1e-4)
    path = solution_path(model, uses, keep, 6)
    for solution in path:
        assert sum_of(solution.weights, 0) <= 0.2 + 1e-5
        assert sum_of(solution.weights, 5) >= 0.1 - 1e-5
    free = solution_path(forest, uses, keep, 6)
    assert sum_of(free[-1].weights, 0) > 0.2
    dearer = model.with_prices(2 * forest.prices)
    half = model.solve(0.02, None), dearer.solve(0.01, None)
    np.testing.assert_allclose(half[0].weights, half[1].weights, atol=1e-4)


def test_constraints_that_no_weights_meet():
    forest, _ = problem(SquaredLoss(), 100, 10)
    assert isinstance(forest, GramForest)
    model = modelled(forest, lambda weights: [weights[0] >= 1, weights[0] <= 0])
    with pytest.raises(MethodError, match="`constraints` can't be met"):
        model.empty()


@pytest.mark.parametrize(
    ("constrain", "says"),
    [
        (lambda weights: 3, "3, which is no constraint"),
        (lambda weights: [weights[0] <= 1, "one"], "one, which is no constraint"),
        (lambda weights: [weights[0] ** 2 >= 1], "which is not convex"),
    ],
)
def test_what_is_no_constraint(constrain, says):
    forest, _ = problem(SquaredLoss(), 100, 10)
    with pytest.raises(MethodError, match=says):
        modelled(forest, constrain)


def test_a_solver_that_gives_up_says_so(monkeypatch):
    forest, _ = problem(LogisticLoss(), 100, 10)
    model = modelled(forest)

    def give_up(**options):
        import cvxpy

        raise cvxpy.SolverError("out of iterations")

    monkeypatch.setattr(model._model, "solve", give_up)
    with pytest.raises(MethodError, match=r"could not be solved at the penalty 0.1.\n.*out of it"):
        model.solve(0.1, None)


N_GROUPS = 6


def small_problem(loss, seed, ridge, scale=1.0):
    rng = np.random.default_rng(seed)
    n_rows, n_trees = 80, 15
    X = rng.normal(size=(n_rows, N_GROUPS))
    uses = np.zeros((n_trees, N_GROUPS), dtype=bool)
    leaves, values = [], []
    for t in range(n_trees):
        pair = rng.choice(N_GROUPS, size=int(rng.integers(1, 3)), replace=False)
        uses[t, pair] = True
        leaves.append(((X[:, pair] > 0) @ (2 ** np.arange(len(pair)))).astype(np.uint8))
        unit = scale if loss.is_squared else 1.0
        values.append(unit * rng.normal(size=2 ** len(pair)))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n_rows)
    y = scale * signal if loss.is_squared else (signal > 0).astype(float)
    base = np.full(n_rows, loss.constant(y, np.ones(n_rows)))
    columns = TreeColumns(leaves, values, np.arange(n_rows))
    prices = uses.sum(axis=1).astype(float)
    ridge *= scale**2 if loss.is_squared else 1.0
    return sparse_forest(columns, loss, y, np.ones(n_rows), base, prices, ridge=ridge), uses


def value_of(forest, uses, groups):
    """Least objective with the trees that use no other groups."""
    outside = uses[:, ~groups].any(axis=1).astype(float)
    own = forest.with_prices(outside)
    return own.objective(own.empty()._replace(lam=0.0))


@given(
    loss=st.sampled_from([SquaredLoss(), LogisticLoss()]),
    seed=st.integers(0, 10_000),
    k=st.integers(1, 4),
    kept=st.booleans(),
    ridge=st.sampled_from([0.003, 0.1, 1.0]),
    scale=st.sampled_from([1e-4, 1.0, 1e4]),
)
@settings(deadline=None, derandomize=True, max_examples=60)
def test_no_other_set_is_better(loss, seed, k, kept, ridge, scale):
    forest, uses = small_problem(loss, seed, ridge, scale)
    keep = np.arange(N_GROUPS) == (5 if kept else -1)
    found = best_subset(SubsetValues(forest, uses), keep, k, [], time_limit=np.inf)
    sets = [np.isin(np.arange(N_GROUPS), s) for s in itertools.combinations(range(N_GROUPS), k)]
    best = min(value_of(forest, uses, s) for s in sets if s[keep].all())
    assert found.gap == 0.0
    assert found.groups[keep].all()
    assert found.groups.sum() <= k
    assert found.value == pytest.approx(best, rel=2e-4)
    assert found.value == pytest.approx(value_of(forest, uses, found.groups), rel=1e-12)
    assert found.bound <= best * (1 + 1e-9)


def test_without_time_the_best_start_comes_with_its_gap():
    forest, uses = small_problem(SquaredLoss(), 0, 0.01)
    none = np.zeros(N_GROUPS, dtype=bool)
    starts = [np.arange(N_GROUPS) < 2, np.arange(N_GROUPS) > 3]
    found = best_subset(SubsetValues(forest, uses), none, 2, starts[:1], time_limit=0.0)
    values = [value_of(forest, uses, s) for s in starts]
    assert found.value == values[0]
    least = value_of(forest, uses, ~none)
    assert found.gap == pytest.approx(1 - least / found.value)
    long = best_subset(SubsetValues(forest, uses), none, 2, starts, time_limit=np.inf)
    assert long.value <= min(values)
    assert long.gap == 0.0
    assert long.value <= found.value
