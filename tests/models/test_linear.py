"""Linear models: columns, coefficients, statistics, Rubin's rules."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from statsmodels.genmod.generalized_linear_model import GLM

import treeselect
from treeselect.models.linear import data, solving
from treeselect.models.linear.coefficients import coefficient_table, pool
from treeselect.models.linear.data import independent_columns
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.statistics import fit_facts, fit_statistics
from treeselect.models.linear.tests import fit_terms


@pytest.mark.parametrize(
    ("estimate", "variances", "column", "expected"),
    [([2.0, 1.0], [4.0, -1e-20], "std_error", 2.0), ([2.0, 0.0], [0.0, 0.0], "statistic", np.inf)],
)
def test_negative_variances_have_no_error_and_exact_fits_no_bound(
    estimate, variances, column, expected
):
    names, covariance = ("a", "b"), np.diag(variances)
    fit = LinearFit(None, "GLM", names, names, np.array(estimate), covariance, None, ())
    first, second = coefficient_table(fit)[column]
    assert first == expected
    assert np.isnan(second)


# --- Columns that are linear combinations of others, in long matrices ---


def test_long_matrices_are_judged_as_short_ones(monkeypatch):
    rng = np.random.default_rng(1)
    codes = rng.integers(6, size=1000)
    dummies = (codes[:, None] == np.arange(6)).astype(float)  # their sum is the intercept
    x, scale = rng.normal(size=(1000, 3)), np.array([1e-6, 1.0, 1e8])
    near = x[:, :1] + 1e-5 * rng.normal(size=(1000, 1))  # no combination, but close to one
    only_last = (np.arange(1000) == 999).astype(float)[:, None]
    matrix = np.hstack(
        [np.ones((1000, 1)), dummies, x * scale, near, x.sum(axis=1)[:, None], only_last,
         np.zeros((1000, 1)), x[:, 1:2] * 3]
    )  # fmt: skip
    whole = independent_columns(matrix)
    monkeypatch.setattr(data, "_BLOCK", 64)
    assert_array_equal(independent_columns(matrix), whole)
    assert_array_equal(np.flatnonzero(~whole), [6, 11, 13, 14])


# --- Deviance, AIC and the like, and how they are said ---


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    x = rng.normal(size=90)
    return pd.DataFrame(
        {
            "x": x, "number": x + rng.normal(size=90), "ill": rng.random(90) < 0.5,
            "visits": rng.poisson(2.0, size=90), "kind": rng.choice(list("abc"), size=90),
            "times": rng.integers(1, 4, size=90), "share": rng.random(90) + 0.5,
        }
    )  # fmt: skip


def statistics(rows, response, **more):
    fit = treeselect.select(f"{response} ~ x", rows, method="mrmr", k=1, seed=1, **more)
    data = fit.data.design
    own = fit_terms(data, ("x",))[2]
    found = fit_statistics(own, are_copies=data.row_weights.are_copies)
    return found, dict(fit_facts(own, found))


def test_least_squares_as_r_prints_them_of_copies_too(rows):
    found, said = statistics(rows, "number")
    line = np.polyfit(rows["x"], rows["number"], 1)
    left = rows["number"] - np.polyval(line, rows["x"])
    assert found["sigma"] == pytest.approx(math.sqrt((left**2).sum() / 88))
    assert found["r2"] == pytest.approx(1 - left.var() / rows["number"].var())
    assert said["Residual s.e."].endswith(" on 88 degrees of freedom")
    assert said["R-squared"].startswith(f"{found['r2']:.3f}, adjusted ")
    written_out = rows.loc[rows.index.repeat(rows["times"])].reset_index(drop=True)
    copies, _ = statistics(rows, "number", weights="times")
    assert copies == pytest.approx(statistics(written_out.drop(columns="times"), "number")[0])


@pytest.mark.parametrize(("response", "more"), [("ill", {}), ("visits", {"family": "poisson"})])
def test_deviances_and_aic(rows, response, more):
    found, said = statistics(rows, response, **more)
    assert (found["df_resid"], found["df_null"]) == (88, 89)
    assert found["null_deviance"] > found["deviance"]
    assert found["aic"] == pytest.approx(4 - 2 * found["log_lik"])
    assert said["Deviance"].endswith(f"; null {found['null_deviance']:,.2f} on 89 df")
    assert said["AIC"] == f"{found['aic']:,.2f}"


def test_classes_have_a_deviance_and_relative_weights_no_aic(rows):
    found, said = statistics(rows, "kind")
    assert found["aic"] == pytest.approx(found["deviance"] + 8)
    assert set(said) == {"Deviance", "AIC"}
    found, said = statistics(rows, "ill", weights="share")
    assert "aic" not in found
    assert "AIC" not in said
    assert "Deviance" in said


# --- Rubin's rules: against their definition, and where nothing is missing ---


def pooled_naively(estimates, variances, n):
    """One coefficient, as Rubin (1987) and Barnard and Rubin (1999) have it."""
    m = len(estimates)
    q = sum(estimates) / m
    u = sum(variances) / m
    b = sum((e - q) ** 2 for e in estimates) / (m - 1)
    t = u + (1 + 1 / m) * b
    r = (1 + 1 / m) * b / u
    share = (1 + 1 / m) * b / t
    old = (m - 1) * (1 + 1 / r) ** 2
    observed = np.inf if n is None else (n + 1) / (n + 3) * n * (1 - share)
    df = 1 / (1 / old + 1 / observed)
    return q, t**0.5, df, r, (r + 2 / (df + 3)) / (r + 1)


def test_what_has_no_variance_has_no_error():
    found = pool(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([[np.nan, 1.0], [1.0, 1.0]]), 5.0)
    assert np.isnan(found.std_error).tolist() == [True, False]
    assert found.estimate.tolist() == [1.5, 1.5]


@given(
    arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 3)), elements=st.floats(-9, 9)),
    st.sampled_from([None, 1.0, 7.0, 500.0]),
    st.integers(0, 9),
)
def test_against_the_definition(estimates, df_complete, seed):
    rng = np.random.default_rng(seed)
    estimates = estimates + 0.01 * rng.normal(size=estimates.shape)
    variances = rng.uniform(0.1, 2, size=estimates.shape)
    found = pool(estimates, variances, df_complete)
    for j in range(estimates.shape[1]):
        expected = pooled_naively(estimates[:, j].tolist(), variances[:, j].tolist(), df_complete)
        mine = [a[j] for a in (found.estimate, found.std_error, found.df, found.riv, found.fmi)]
        assert mine == pytest.approx(expected, rel=1e-9)
    assert ((found.fmi >= 0) & (found.fmi <= 1)).all()


@pytest.mark.parametrize(("df_complete", "df"), [(None, np.inf), (12.0, 12 * 13 / 15)])
def test_imputations_that_agree_lack_nothing(df_complete, df):
    # 0.1 has no exact mean: what is rounded is no difference between imputations.
    found = pool(np.full((3, 1), 0.1), np.full((3, 1), 0.25), df_complete)
    assert (found.riv[0], found.std_error[0]) == (0.0, 0.5)
    assert found.df == pytest.approx([df])
    assert found.fmi == pytest.approx([2 / (df + 3)])


MODELS = [("glm", "binomial"), ("glm", "poisson"), ("negative-binomial", "poisson")]


@pytest.mark.parametrize(("model", "family"), MODELS)
def test_a_long_refit_is_the_same_in_fewer_steps(model, family, monkeypatch):
    data = treeselect.datasets.load("titanic_correlated")
    left = {"binomial": "survived", "poisson": "pclass"}[family]
    fit = treeselect.select(f"{left} ~ sex + age", data, method="mrmr", k=2, seed=1, family=family)
    usual, asked = fit.refit(model), []
    own = GLM.fit
    monkeypatch.setattr(
        GLM, "fit", lambda glm, **how: asked.append(how["start_params"]) or own(glm, **how)
    )
    monkeypatch.setattr(solving, "_LONG", 100)
    long = fit.refit(model)
    np.testing.assert_allclose(long.tidy()["estimate"], usual.tidy()["estimate"], rtol=1e-6)
    assert str(long.summary()) == str(usual.summary())
    assert all(start is not None for start in asked)
    if model == "glm":
        assert long.result.fit_history["iteration"] < usual.result.fit_history["iteration"]


def test_where_there_is_no_end_statsmodels_starts_as_usual(monkeypatch):
    monkeypatch.setattr(solving, "_LONG", 100)
    data = treeselect.datasets.load("titanic_correlated")
    data["died"] = data["survived"] + (data["age"] > 30)
    data["site"] = np.where(data["died"] == 0, "a", "b")
    fit = treeselect.select("died ~ site", data, method="mrmr", k=1, seed=1, family="poisson")
    with pytest.warns(UserWarning, match="diverge"):
        fit.refit("glm")
