"""The sparse forest: against cvxpy, its conditions and path; constraints and best subsets."""

import itertools

import naive
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
from treeselect.engine.sparse import weights
from treeselect.engine.sparse.forest import GramForest, HingeForest, ModelledForest, sparse_forest
from treeselect.engine.sparse.path import (
    SubsetValues,
    best_subset,
    solution_path,
    support,
    weighted_importance,
)
from treeselect.engine.sparse.weights import SparseForest, TreeColumns, coordinate_descent
from treeselect.engine.survival.cox import CoxLoss
from treeselect.engine.survival.times import as_times
from treeselect.errors import MethodError

N_ROWS, N_TREES, N_GROUPS = 300, 40, 8


SMOOTH = {
    "squared": SquaredLoss(), "logistic": LogisticLoss(), "poisson": PoissonLoss(),
    "multinomial": MultinomialLoss(3),
}  # fmt: skip
EVERY_LOSS = pytest.mark.parametrize("loss", SMOOTH.values(), ids=SMOOTH)


def response(loss, signal, rng):
    """What a signal, shape (n_rows, n_outputs), gives rise to."""
    noisy = signal + rng.normal(size=signal.shape)
    if isinstance(loss, MultinomialLoss):
        return noisy.argmax(axis=1).astype(float)
    if isinstance(loss, PoissonLoss):
        return rng.poisson(np.exp(0.5 * signal[:, 0])).astype(float)
    return (noisy[:, 0] > 0).astype(float) if isinstance(loss, LogisticLoss) else noisy[:, 0]


def random_trees(loss, *, free_trees=0, seed=0, ridge=0.0):
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


def modelled(forest, constrain=None):
    """The same problem as cvxpy states it."""
    return ModelledForest(
        forest.columns, forest.loss, forest.y, forest.share, forest.base, forest.prices,
        ridge=forest.ridge, constrain=constrain,
    )  # fmt: skip


@EVERY_LOSS
@pytest.mark.parametrize(("free_trees", "ridge"), [(0, 0.0), (3, 0.0), (2, 0.1)])
def test_objective_is_cvxpys(loss, free_trees, ridge):
    forest, *_ = random_trees(loss, free_trees=free_trees, ridge=ridge)
    empty, model = forest.empty(), modelled(forest)
    largest = forest.largest_lam(empty)
    for share in (0.8, 0.5, 0.2, 0.05, 0.01):
        # Rounded, since CLARABEL may stop elsewhere if the penalty differs in its last digit.
        lam = round(share * largest, 10)
        ours = forest.objective(forest.solve(lam, empty))
        theirs = forest.objective(model.solve(lam, None))
        # CLARABEL stops at a gap of 1e-8: ours may be that much better, but not worse.
        assert ours <= theirs + 1e-8 * abs(theirs)
        assert ours == pytest.approx(theirs, rel=1e-7)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("free_trees", [0, 3])
def test_the_exact_path_of_the_squared_error_is_that_of_newtons_steps(free_trees, ridge):
    forest, *_ = random_trees(SquaredLoss(), free_trees=free_trees, ridge=ridge)
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


def test_a_path_near_a_separation_takes_few_steps(monkeypatch):
    """Trees that tell the order of the events: predictors grow without end as the penalty falls."""
    monkeypatch.setattr(weights, "_MAX_NEWTON", 15)
    rng = np.random.default_rng(3)
    n, n_trees = 40, 80
    y = as_times(rng.exponential(size=n), rng.random(n) < 0.7)
    leaves = [rng.integers(0, 30, size=n).astype(np.uint16) for _ in range(n_trees)]
    values = [rng.normal(size=30) for _ in leaves]
    trees = TreeColumns(leaves, values, np.arange(n))
    forest = SparseForest(trees, CoxLoss(), y, np.ones(n), np.zeros(n), np.ones(n_trees))
    current = forest.empty()
    largest = forest.largest_lam(current)
    for share in 0.7 ** np.arange(1, 21):
        current = forest.solve(share * largest, current)
        excess = forest.correlation(current.eta) - current.lam * forest.prices
        inside = current.weights > 0
        assert np.abs(excess[inside]).max() <= 2e-6 * largest
        assert excess[~inside].max() <= 2e-6 * largest
    assert np.ptp(current.eta) > 15
    assert not current.intercept.any()


def test_a_penalty_is_done_where_no_decrease_is_left(monkeypatch):
    forest, *_ = random_trees(SquaredLoss(), ridge=0.1)
    far, none = np.full(forest.n_trees, 1e200), np.zeros(forest.n_trees)
    assert not forest._penalised(forest.base + 1e200, none, none, far) <= 1.0
    forest, *_ = random_trees(SquaredLoss())
    calls = []
    monkeypatch.setattr(forest, "_descend", lambda start, *_: calls.append(start) or start)
    forest.solve(
        0.0, weights.WeightedTrees(np.inf, np.zeros(forest.n_trees), np.zeros(1), forest.base)
    )
    assert len(calls) == 1


def test_copies_stay_together_with_a_ridge_and_take_few_steps(monkeypatch):
    _, columns, y, weight, base, _ = random_trees(SquaredLoss())
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
    # A sweep over more copies than rows moves each by little.
    steps, ones = [], np.ones(4)
    descend = weights.coordinate_descent
    monkeypatch.setattr(weights, "coordinate_descent", lambda *q: steps.append(descend(*q)))
    trees = TreeColumns(
        [np.array([0, 0, 1, 0], np.uint16)] * 100, [np.array([0.25, -0.75])] * 100, np.arange(4)
    )
    y, base = np.array([1.0, 1.0, 0.0, 1.0]), np.full(4, np.log(3))
    forest = SparseForest(trees, LogisticLoss(), y, ones, base, np.ones(100), ridge=0.0056)
    current = forest.empty()
    largest = forest.largest_lam(current)
    for share in 0.9 ** np.arange(1, 30):
        current = forest.solve(share * largest, current)
        excess = forest.correlation(current.eta) - 0.0056 * current.weights - current.lam
        assert np.abs(excess[current.weights > 0]).max() <= 2e-6 * largest
    assert len(steps) < 200


def test_paths_begin_above_the_largest_penalty_and_end_in_time():
    forest, _, _, _, _, uses = random_trees(SquaredLoss())
    empty = forest.empty()
    largest = forest.largest_lam(empty)
    assert not forest.solve(1.001 * largest, empty).weights.any()
    assert forest.solve(0.99 * largest, empty).weights.any()
    keep = np.zeros(N_GROUPS, dtype=bool)
    keep[[2, 5]] = True
    first = solution_path(forest, uses, keep, 4)[0]
    np.testing.assert_array_equal(support(first, uses, keep), keep)
    solution = forest.empty()._replace(weights=np.eye(N_TREES)[4])
    gains = np.where(uses, 2.0, 0.0)
    importance = weighted_importance(solution, forest.spread(), gains)
    np.testing.assert_allclose(importance, uses[4] / uses[4].sum())
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


def problem(
    loss, n_rows, n_trees, *, n_groups=8, free_trees=0, seed=0, ridge=0.0, unit=0.2, priced=True
):
    """Trees on one or two groups each, of which some matter; a unit of squared errors; weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_groups))
    uses = np.zeros((n_trees, n_groups), dtype=bool)
    leaves, values = [], []
    for t in range(n_trees):
        own = rng.choice(n_groups, size=int(rng.integers(1, 3)), replace=False)
        uses[t, own] = True
        leaf = (X[:, own] > 0.5 * rng.normal(size=len(own))) @ (2 ** np.arange(len(own)))
        leaves.append(leaf.astype(np.uint8))
        values.append(unit * rng.normal(size=2 ** len(own)))
    signal = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.5 * rng.normal(size=n_rows)
    y = unit * signal if loss.is_squared else (signal > 0.3).astype(float)
    weight = rng.integers(1, 3, size=n_rows)
    prices = uses.sum(axis=1) * (rng.uniform(0.5, 1.5, size=n_trees) if priced else 1.0)
    prices[:free_trees] = 0.0
    base = np.full(n_rows, loss.constant(y, weight))
    columns = TreeColumns(leaves, values, np.arange(n_rows))
    return sparse_forest(columns, loss, y, weight, base, prices, ridge=ridge), uses


@pytest.mark.parametrize("free_trees", [0, 3])
def test_objectives_of_the_hinge_loss_are_those_of_cvxpy(free_trees):
    forest, _ = problem(HingeLoss(), 400, 60, free_trees=free_trees)
    assert isinstance(forest, HingeForest)
    model, start = modelled(forest), forest.empty()
    largest = model.largest_lam(model.empty())
    for share in (0.7, 0.3, 0.1, 0.03, 0.01):
        ours = forest.solve(share * largest, start)
        theirs = model.solve(share * largest, None)
        assert forest.objective(ours) <= forest.objective(theirs) + 1e-8
        assert forest.objective(ours) >= forest.objective(theirs) - 1e-7
        assert (ours.weights >= 0).all()
        start = ours


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


FEW_GROUPS = 6


def small_problem(loss, seed, ridge, scale=1.0):
    unit = scale if loss.is_squared else 1.0
    return problem(
        loss, 80, 15, n_groups=FEW_GROUPS, seed=seed, ridge=ridge * unit**2, unit=unit, priced=False
    )


def value_of(forest, uses, groups):
    """Least objective with the trees that use no other groups."""
    outside = uses[:, ~groups].any(axis=1).astype(float)
    own = forest.with_prices(outside)
    return own.objective(own.empty()._replace(lam=0.0))


@given(
    loss=st.sampled_from([SquaredLoss(), LogisticLoss()]), seed=st.integers(0, 10_000),
    k=st.integers(1, 4), kept=st.booleans(), ridge=st.sampled_from([0.003, 0.1, 1.0]),
    scale=st.sampled_from([1e-4, 1.0, 1e4]),
)  # fmt: skip
@settings(derandomize=True, max_examples=60)
def test_no_other_set_is_better(loss, seed, k, kept, ridge, scale):
    forest, uses = small_problem(loss, seed, ridge, scale)
    keep = np.arange(FEW_GROUPS) == (5 if kept else -1)
    found = best_subset(SubsetValues(forest, uses), keep, k, [], time_limit=np.inf)
    sets = [np.isin(np.arange(FEW_GROUPS), s) for s in itertools.combinations(range(FEW_GROUPS), k)]
    best = min(value_of(forest, uses, s) for s in sets if s[keep].all())
    assert found.gap == 0.0
    assert found.groups[keep].all()
    assert found.groups.sum() <= k
    assert found.value == pytest.approx(best, rel=2e-4)
    assert found.value == pytest.approx(value_of(forest, uses, found.groups), rel=1e-12)
    assert found.bound <= best * (1 + 1e-9)


def test_without_time_the_best_start_comes_with_its_gap():
    forest, uses = small_problem(SquaredLoss(), 0, 0.01)
    none = np.zeros(FEW_GROUPS, dtype=bool)
    starts = [np.arange(FEW_GROUPS) < 2, np.arange(FEW_GROUPS) > 3]
    found = best_subset(SubsetValues(forest, uses), none, 2, starts[:1], time_limit=0.0)
    values = [value_of(forest, uses, s) for s in starts]
    assert found.value == values[0]
    least = value_of(forest, uses, ~none)
    assert found.gap == pytest.approx(1 - least / found.value)
    long = best_subset(SubsetValues(forest, uses), none, 2, starts, time_limit=np.inf)
    assert long.value <= min(values)
    assert long.gap == 0.0
    assert long.value <= found.value
