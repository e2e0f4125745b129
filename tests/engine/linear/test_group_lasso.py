"""The group lasso against cvxpy and its own conditions of optimality."""

from itertools import pairwise

import numpy as np
import pytest

from treeselect.engine.linear import group_lasso
from treeselect.engine.linear.group_lasso import GroupLasso, minimise_model
from treeselect.engine.losses import LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss
from treeselect.engine.survival.cox import CoxLoss
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM, as_times


def columns(seed, n=200, p=8):
    """Correlated columns of mean 0 and variance 1, and a linear predictor of three of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) + 0.7 * rng.normal(size=(n, 1))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return x, 0.8 * x[:, 0] - 0.6 * x[:, 3] + 0.4 * x[:, -1], rng


def problem(kind, sizes, seed=0, **changes):
    x, eta, rng = columns(seed, p=sum(sizes))
    y, loss = {
        "gaussian": lambda: (eta + rng.normal(size=len(x)), SquaredLoss()),
        "binomial": lambda: ((rng.random(len(x)) < 1 / (1 + np.exp(-eta))) * 1.0, LogisticLoss()),
        "poisson": lambda: (rng.poisson(np.exp(eta / 2)) * 1.0, PoissonLoss()),
        "multinomial": lambda: (
            np.searchsorted([-0.5, 0.7], eta + rng.logistic(size=len(x))) * 1.0,
            MultinomialLoss(3),
        ),
    }[kind]()
    arguments = {
        "x": np.asfortranarray(x), "start": np.cumsum([0, *sizes]), "y": y, "loss": loss,
        "price": np.sqrt(np.array(sizes, dtype=float)), "share": np.full(len(x), 1 / len(x)),
    }  # fmt: skip
    return GroupLasso(**{**arguments, **changes})


def solved(solver, share):
    """A share of the penalty at which the first group enters, and the fit there."""
    first = solver.first()
    lam = share * solver.dearest(first)
    return lam, solver.solve(lam, first)


KINDS = pytest.mark.parametrize("kind", ["gaussian", "binomial", "poisson", "multinomial"])


def objective(solver, fit, lam):
    return float(
        solver.share @ solver.loss.value(solver.y, fit.eta) + lam * solver.price @ solver.norms(fit)
    )


@KINDS
@pytest.mark.parametrize("share", [0.6, 0.1])
def test_groups_are_those_of_cvxpy(kind, share):
    import cvxpy as cp

    solver = problem(kind, [1, 3, 2, 1, 4])
    lam, fit = solved(solver, share)
    n_outputs = solver.loss.n_outputs
    coef, intercept = cp.Variable((11, n_outputs)), cp.Variable((1, n_outputs))
    eta = solver.x @ coef + np.ones((len(solver.y), 1)) @ intercept
    eta = eta if n_outputs > 1 else eta[:, 0]
    edges = solver.start
    penalty = sum(
        p * cp.norm(coef[a:b], "fro")
        for p, a, b in zip(solver.price, edges[:-1], edges[1:], strict=True)
    )
    loss = solver.loss.modelled(solver.y, eta, solver.share)
    least = cp.Problem(cp.Minimize(loss + lam * penalty)).solve(solver=cp.CLARABEL)
    assert objective(solver, fit, lam) == pytest.approx(least, abs=1e-7)
    np.testing.assert_allclose(fit.coef, coef.value, atol=1e-4)


def assert_optimal(solver, fit, lam, atol, excess):
    """Within a group in use the gradient is the price along the coefficients; elsewhere at most the
    price."""
    down = solver.rows.negative_gradient(fit.eta).reshape(len(solver.y), -1)
    assert not solver.loss.has_constant or np.abs(solver.share @ down).max() < 1e-7
    pull = solver.x.T @ (solver.share[:, np.newaxis] * down)
    assert_balanced(pull, fit.coef, solver.start, lam * solver.price, atol, excess)


def assert_balanced(pull, coef, start, prices, atol, excess):
    for price, (a, b) in zip(prices, pairwise(start), strict=True):
        norm = np.linalg.norm(coef[a:b])
        if norm > 0:
            np.testing.assert_allclose(pull[a:b], price * coef[a:b] / norm, atol=atol)
        else:
            assert np.linalg.norm(pull[a:b]) <= price * (1 + excess)


@KINDS
def test_nothing_enters_at_the_dearest_penalty_and_one_group_just_below(kind):
    solver = problem(kind, [2, 3, 1, 2], seed=1)
    first = solver.first()
    top = solver.dearest(first)
    assert (solver.norms(solver.solve(top, first)) > 0).sum() == 0
    assert (solver.norms(solver.solve(0.999 * top, first)) > 0).sum() == 1


def test_rounding_is_no_pull_and_whole_weights_are_copies():
    """Of columns and classes that are independent a path of penalties from 1e-17 down was followed,
    for half a minute."""
    y = np.tile([0.0, 1.0, 2.0, 0.0, 1.0, 0.0], 4)
    noise = np.random.default_rng(0).normal(size=(24, 2))
    x = np.linalg.qr(np.column_stack([np.ones(24), y == 0, y == 1, noise]))[0][:, 3:]
    for unit in (1.0, 1e-12):
        for signal in (0.0, 1e-6):
            own = np.asfortranarray(unit * (x + signal * (y == 0)[:, np.newaxis]))
            solver = GroupLasso(own, np.array([0, 2]), np.ones(1), y, np.full(24, 1 / 24),
                                MultinomialLoss(3))  # fmt: skip
            first = solver.first()
            assert np.abs(own.T @ solver.rows.negative_gradient(first.eta)).max() > 0
            assert (solver.dearest(first) > 0) == (signal > 0)
    whole = np.random.default_rng(0).integers(0, 4, size=200)
    plain = problem("poisson", [2, 3, 1])
    rows = np.repeat(np.arange(200), whole)
    offset = 0.3 * plain.x[:, 0]
    weighted = problem("poisson", [2, 3, 1], share=whole / whole.sum(), offset=offset)
    copied = problem(
        "poisson", [2, 3, 1], x=plain.x[rows], y=plain.y[rows],
        share=np.full(len(rows), 1 / len(rows)), offset=offset[rows],
    )  # fmt: skip
    one, other = (solver.solve(0.02, solver.first()) for solver in (weighted, copied))
    np.testing.assert_allclose(one.coef, other.coef, atol=1e-7)
    moved = weighted.solve(1e-6, weighted.first())
    free = problem("poisson", [2, 3, 1], share=whole / whole.sum())
    known = free.solve(1e-6, free.first()).coef[0, 0]
    assert moved.coef[0, 0] == pytest.approx(known - 0.3, abs=1e-4)


@pytest.mark.parametrize("sizes", [[1, 1], [3, 3]])
def test_of_equal_groups_the_first_takes_all(sizes):
    solver = problem("binomial", [2, *sizes])
    width = sizes[0]
    x = solver.x[:, [*range(2, 2 + width), 0, 1, *range(2, 2 + width)]]
    same = problem("binomial", [width, 2, width], x=x, y=solver.y)
    first = same.first()
    fit = first
    for share in np.geomspace(0.9, 0.02, 12):
        fit = same.solve(share * same.dearest(first), fit)
        assert same.norms(fit)[2] == 0
    assert same.norms(fit)[0] > 0


def test_separated_classes_and_collinear_groups_come_to_rest():
    solver = problem("binomial", [1] * 4)
    parted = problem("binomial", [1] * 4, y=(solver.x[:, 0] > 0) * 1.0)
    fit = parted.solve(1e-4, parted.first())
    assert np.isfinite(fit.coef).all()
    free = problem("binomial", [1] * 4, y=parted.y, price=np.zeros(4))
    assert np.isfinite(free.first().coef).all()
    plain = problem("gaussian", [1] * 4)
    large = problem("gaussian", [1] * 4, y=1e9 + 1e6 * plain.y)
    one, other = plain.solve(0.1, plain.first()), large.solve(1e5, large.first())
    np.testing.assert_allclose(other.coef, 1e6 * one.coef, rtol=1e-6)
    # Descent alone takes tens of thousands of sweeps here; the free ones are collinear, too.
    rng = np.random.default_rng(4)
    root = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 14)) + 1e-2 * rng.normal(size=(40, 14))
    root[:, 1] = root[:, 0]
    hessian, slope = root.T @ root / 40, 0.3 * root.T @ rng.normal(size=40)
    start, price = np.array([0, 2, 5, 6, 9, 12, 14]), np.array([0.0, 0.02, 0.01, 0.02, 0.03, 0.02])
    found = minimise_model(hessian, slope, np.zeros(14), start, price, 1e-10)
    assert found[0] == pytest.approx(found[1])  # of what is flat the middle
    assert_balanced(-slope - hessian @ found, found, start, price, 1e-8, 1e-6)
    assert 3 <= sum(found[a:b].any() for a, b in pairwise(start)) < 6


def test_the_quadratic_model_is_minimised():
    """The kernel against a naive descent along the gradient."""
    rng = np.random.default_rng(2)
    root = rng.normal(size=(9, 6))
    hessian, slope, start = root.T @ root, rng.normal(size=6), np.array([0, 1, 4, 6])
    price = np.array([0.0, 0.7, 0.4])
    found = minimise_model(hessian, slope, np.zeros(6), start, price, 1e-12)
    naive, rate = np.zeros(6), 1 / np.linalg.eigvalsh(hessian)[-1]
    for _ in range(20_000):
        before, naive = naive, naive - rate * (slope + hessian @ naive)
        for a, b, p in zip(start[:-1], start[1:], price, strict=True):
            norm = np.linalg.norm(naive[a:b])
            naive[a:b] *= max(0.0, 1 - rate * p / norm) if norm > 0 else 0.0
        if np.abs(naive - before).max() < 1e-14:
            break
    np.testing.assert_allclose(found, naive, atol=1e-9)


def test_free_groups_of_a_rare_class_are_at_their_optimum():
    """A factor that is kept is collinear with the intercepts, and one class has a single row."""
    rng = np.random.default_rng(6)
    n = 300
    level = rng.integers(0, 5, size=n)
    own = (level[:, np.newaxis] == np.arange(5)) * 1.0
    x = np.column_stack([(own - own.mean(axis=0)) / own.std(axis=0), rng.normal(size=(n, 2))])
    y = rng.integers(0, 2, size=n) * 1.0
    y[7] = 2.0
    solver = problem(
        "multinomial", [5, 1, 1], x=np.asfortranarray(x), y=y, price=np.array([0.0, 1.0, 1.0]),
        share=np.full(n, 1 / n),
    )  # fmt: skip
    first = solver.first()
    fit = solver.solve(0.1 * solver.dearest(first), first)
    for each in (first, fit):
        down = solver.loss.negative_gradient(y, each.eta) / n
        assert np.abs(np.column_stack([np.ones(n), x[:, :5]]).T @ down).max() < 1e-5
        # No class is the base. Levels without rows of the class are far off, where all is flat.
        np.testing.assert_allclose(each.coef.sum(axis=1), 0, atol=1e-5)


def times(n=200, sizes=(1, 2, 3, 1, 1)):
    """Times that tie, with strata and late entry."""
    x, eta, rng = columns(3, n, sum(sizes))
    stop = np.ceil(50 * rng.exponential(size=n) * np.exp(-eta))
    start = np.floor(0.5 * rng.random(n) * stop) + 0.5  # statsmodels has them at risk there
    y = as_times(stop, rng.random(n) < 0.6, start, rng.integers(0, 2, n))
    return GroupLasso(
        np.asfortranarray(x), np.cumsum([0, *sizes]), np.sqrt(sizes), y, np.full(n, 1 / n),
        CoxLoss(), 0.3 * rng.normal(size=n),
    )  # fmt: skip


def test_of_times_paths_are_at_their_optimum_and_end_in_maximum_likelihood():
    from statsmodels.api import PHReg

    solver = times()
    y = solver.y
    twin = PHReg(
        y[:, STOP], solver.x, y[:, EVENT], y[:, START], y[:, STRATUM], solver.offset, ties="efron"
    ).fit()
    fit = solver.solve(1e-12, solver.first())
    np.testing.assert_allclose(fit.coef[:, 0], twin.params, rtol=0, atol=1e-6)
    fit = solver.first()
    for lam in solver.dearest(fit) * np.array([0.9, 0.5, 0.1]):
        fit = solver.solve(lam, fit)
        assert_optimal(solver, fit, lam, 1e-9, 1e-6)
        assert fit.intercept == [0.0]


def test_as_many_columns_as_rows_are_solved_where_their_products_are_singular():
    rng = np.random.default_rng(5)
    half = rng.integers(-2, 3, (3, 12)).astype(float)  # rank 3 of 12
    hessian, slope = half.T @ half, -half.T @ np.array([9.0, -5.0, 7.0])
    start, price = np.arange(13), np.full(12, 0.5)
    found = minimise_model(hessian, slope, np.zeros(12), start, price, 1e-10)
    assert_balanced(-slope - hessian @ found, found, start, price, 1e-6, 1e-3)
    singular = np.outer([1.0, 2.0, 1.0], [1.0, 2.0, 1.0])
    step = group_lasso._solved(singular, singular @ np.ones(3))
    np.testing.assert_allclose(singular @ step, singular @ np.ones(3), atol=1e-12)
