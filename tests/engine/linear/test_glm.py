"""Generalised linear models of groups: statsmodels, and fits made together against single ones."""

import numpy as np
import pytest
import statsmodels.api as sm

from treeselect.engine.linear.glm import Glm
from treeselect.engine.losses import LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss
from treeselect.engine.survival.cox import CoxLoss
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM, as_times

LOSSES = {
    "gaussian": SquaredLoss(), "binomial": LogisticLoss(), "poisson": PoissonLoss(),
    "multinomial": MultinomialLoss(3),
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", LOSSES)


def problem(name, n=120, weighted=True):
    """Groups of 1, 1, 2, 0, 3 (of which one is a combination), 1 (a copy of the first) columns."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 8))
    x[:, 6] = x[:, 4] - x[:, 5]
    x[:, 7] = x[:, 0]
    mass = rng.integers(1, 4, size=n) * 1.0 if weighted else np.ones(n)
    x -= mass @ x / mass.sum()
    x /= np.sqrt(mass @ x**2 / mass.sum())
    eta = x[:, 0] - 0.7 * x[:, 2] + 0.4 * x[:, 4]
    y = {
        "gaussian": eta + rng.normal(size=n),
        "binomial": (eta + rng.logistic(size=n) > 0) * 1.0,
        "poisson": rng.poisson(np.exp(eta / 2)) * 1.0,
        "multinomial": np.digitize(eta + rng.logistic(size=n), [-0.5, 0.8]) * 1.0,
    }[name]
    offset = None if name == "multinomial" else 0.3 * rng.normal(size=n)
    return x, np.array([0, 1, 2, 4, 4, 7, 8]), y, mass, LOSSES[name], offset


def groups_of(*members):
    return np.isin(np.arange(6), members)


@EVERY
@pytest.mark.parametrize("members", [(), (0, 2), (1, 2, 3, 4)])
def test_misfit_and_means_are_those_of_statsmodels(name, members):
    x, start, y, mass, loss, offset = problem(name)
    columns = [j for g in members for j in range(start[g], start[g + 1]) if j != 6]
    design = sm.add_constant(x[:, columns], has_constant="add")
    glm = Glm(x, start, y, mass, loss, offset)
    fit = glm.fit(groups_of(*members))
    eta = glm.eta(fit)
    assert fit.n_coefs == design.shape[1] * (2 if name == "multinomial" else 1)
    if name == "gaussian":
        twin = sm.WLS(y - offset, design, mass).fit()
        n = mass.sum()
        assert fit.misfit == pytest.approx(n * np.log(mass @ twin.resid**2 / n))
        np.testing.assert_allclose(eta, twin.fittedvalues + offset, atol=1e-9)
    elif name == "multinomial":
        rows = np.repeat(np.arange(len(y)), mass.astype(int))
        twin = sm.MNLogit(y[rows], design[rows]).fit(disp=0, tol=1e-12)
        assert fit.misfit == pytest.approx(-2 * twin.llf)
        np.testing.assert_allclose(
            np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True), twin.predict(design), atol=1e-5
        )
    else:
        family = sm.families.Binomial() if name == "binomial" else sm.families.Poisson()
        twin = sm.GLM(y, design, family, offset=offset, freq_weights=mass).fit(tol=1e-12)
        assert fit.misfit == pytest.approx(twin.deviance)
        np.testing.assert_allclose(eta, design @ twin.params + offset, atol=1e-5)


@EVERY
def test_fits_made_together_are_the_single_ones(name):
    glm = Glm(*problem(name))
    free = 2 if name == "multinomial" else 1
    fit = glm.fit(groups_of(0, 1))
    others = np.array([2, 3, 4, 5])
    misfit, added = glm.additions(fit, others)
    assert added.tolist() == [2 * free, 0, 2 * free, 0]
    for i in (0, 2, 3):
        single = glm.fit(groups_of(0, 1, others[i]))
        assert misfit[i] == pytest.approx(single.misfit, abs=1e-7)
    assert misfit[1] == np.inf  # it has no columns
    assert misfit[3] == pytest.approx(fit.misfit, abs=1e-7)
    for members, n_gone in (((0, 1, 2), [1, 1, 2]), ((0, 4, 5), [0, 2, 0])):
        fit = glm.fit(groups_of(*members))
        misfit, gone = glm.removals(fit, np.array(members))
        assert gone.tolist() == [free * n for n in n_gone]
        for i, g in enumerate(members):
            single = glm.fit(groups_of(*(set(members) - {g})))
            assert misfit[i] == pytest.approx(single.misfit, abs=1e-7)


@EVERY
def test_chunks_do_not_change_the_answer(name, monkeypatch):
    glm = Glm(*problem(name))
    fit, others = glm.fit(groups_of(1)), np.array([0, 2, 4, 5])
    whole = glm.additions(fit, others)
    monkeypatch.setattr("treeselect.engine.linear.glm._CELLS", 1)
    for a, b in zip(whole, glm.additions(fit, others), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8)


@pytest.mark.parametrize("name", ["binomial", "poisson"])
@pytest.mark.parametrize("seed", range(4))
def test_steps_come_to_rest_from_far_away(name, seed):
    """Offsets and columns with outliers: rows that are told wrongly, but with certainty."""
    rng = np.random.default_rng(seed)
    x = rng.lognormal(size=(300, 4)) ** 3
    y = (x[:, 0] > 1) * 1.0 if name == "binomial" else rng.poisson(np.log1p(x[:, 0])) * 1.0
    offset = (8 if name == "binomial" else 4) * rng.normal(size=300)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    loss = LOSSES[name]
    glm = Glm(x, np.arange(5), y, np.ones(300), loss, offset)
    every = np.ones(4, dtype=bool)
    for fit in (glm.fit(every), glm.fit(every, glm.fit(~every))):
        slope = fit.basis.T @ loss.negative_gradient(y, glm.eta(fit))
        # Against slopes of tens at the constant model.
        np.testing.assert_allclose(slope, 0, atol=1e-3)


@EVERY
def test_what_is_explained_has_a_floor_and_no_warning(name):
    """Separated classes, counts of 0 on one side, and numbers on a line."""
    x, start, *_, loss, _ = problem(name, weighted=False)
    y = {
        "gaussian": 2 * x[:, 0] - x[:, 1],
        "binomial": (x[:, 0] > 0) * 1.0,
        "poisson": np.where(x[:, 0] > 0, 3.0, 0.0),
        "multinomial": np.digitize(x[:, 0], [-0.5, 0.5]) * 1.0,
    }[name]
    glm = Glm(x, start, y, np.ones(len(y)), loss)
    fit = glm.fit(groups_of(0, 1))
    if name != "poisson":  # a line is no step
        assert fit.misfit == glm.best_misfit
        assert glm.additions(fit, np.array([2]))[0][0] == glm.best_misfit
    assert glm.additions(glm.fit(groups_of()), np.array([0, 1, 2]))[0].argmin() == 0
    constant = Glm(x, start, np.full(len(y), 1.0), np.ones(len(y)), loss)
    assert constant.fit(groups_of()).misfit == constant.best_misfit


def times(late=True):
    """Times that tie, three strata, late entry; groups of 1, 2 and 1 columns, the last a copy."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(150, 4))
    x[:, 3] = x[:, 0]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    stop = np.ceil(20 * rng.exponential(size=150) * np.exp(0.4 * x[:, 1] - 0.8 * x[:, 0]))
    # Half days: statsmodels has rows at risk at the time at which they enter.
    start = np.floor(0.4 * rng.random(150) * stop) + 0.5 if late else None
    y = as_times(stop, rng.random(150) < 0.6, start, rng.integers(0, 3, 150))
    return x, np.array([0, 1, 3, 4]), y, np.ones(150), CoxLoss(), 0.3 * rng.normal(size=150)


def test_of_times_it_is_statsmodels_proportional_hazards():
    x, start, y, mass, loss, offset = times()
    glm = Glm(x, start, y, mass, loss, offset)
    nothing, some = (glm.fit(np.array(g, dtype=bool)) for g in ([0, 0, 0], [1, 1, 0]))
    twin = sm.PHReg(
        y[:, STOP], x[:, :3], y[:, EVENT], y[:, START], y[:, STRATUM], offset, ties="efron"
    ).fit()
    assert nothing.misfit - some.misfit == pytest.approx(
        2 * (twin.llf - twin.model.loglike(np.zeros(3))), rel=1e-8
    )
    eta = glm.eta(some) - x[:, :3] @ twin.params - offset
    np.testing.assert_allclose(eta, np.full(150, eta[0]), atol=1e-6)
    # The exact second derivative: next to the optimum the gradient is nothing but rounding.
    down = glm._rows.negative_gradient(glm.eta(some))
    np.testing.assert_allclose(x.T @ down, np.zeros(4), atol=1e-9)


@pytest.mark.parametrize("name", ["binomial", "poisson", "times"])
@pytest.mark.parametrize("seed", range(3))
def test_what_bounds_leave_has_the_best_fit(name, seed):
    rng = np.random.default_rng(seed)
    if name == "times":
        x, start, y, mass, loss, offset = times(late=False)
        x, start = np.hstack([x, rng.normal(size=(150, 6))]), np.append(start, np.arange(5, 11))
    else:
        x = rng.normal(size=(200, 12)) ** 3
        x[:, 11] = 1 - x[:, 9] - x[:, 10]  # three levels, all in one group
        x, start = (x - x.mean(axis=0)) / x.std(axis=0), np.array([*range(10), 12])
        y = np.exp(0.4 * (x[:, 0] - x[:, 1]) + 0.2 * x[:, 2])
        y = (rng.random(200) < y / (1 + y)) * 1.0 if name == "binomial" else rng.poisson(y) * 1.0
        mass, loss, offset = np.ones(200), LOSSES[name], None
    glm, n = Glm(x, start, y, mass, loss, offset), len(start) - 1
    fit = glm.fit(np.arange(n) % 2 == 0)
    for ask, sign, groups in (
        (glm.additions, 1, np.arange(1, n, 2)), (glm.removals, -1, np.arange(0, n, 2)),
    ):  # fmt: skip
        (every, coefs), (told, same) = ask(fit, groups), ask(fit, groups, 2.0)
        best = int((every + 2 * sign * coefs).argmin())
        assert (coefs == same).all()
        assert (told + 2 * sign * same).argmin() == best
        assert told[best] == pytest.approx(every[best], abs=1e-7)
        assert (told >= every - 1e-6).all()
