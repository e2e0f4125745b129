"""GLMs solved block by block of rows: the results of statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

import treeselect
from treeselect.models.linear import data as linear_data
from treeselect.models.linear import solving
from treeselect.models.linear.solving import LongGLM, least_squares

FAMILIES = {
    "binomial": sm.families.Binomial,
    "poisson": sm.families.Poisson,
    "gaussian": sm.families.Gaussian,
}


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Blocks of 40 rows, so that few rows are several of them."""
    monkeypatch.setattr(linear_data, "_BLOCK", 40)


def simulated(family, n, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 2)), rng.integers(2, size=n)])
    eta = X @ np.array([0.2, 0.5, -0.4, 0.6])
    if family == "binomial":
        return X, (rng.logistic(size=n) < eta).astype(float), rng
    if family == "poisson":
        return X, rng.poisson(np.exp(eta)).astype(float), rng
    return X, eta + rng.normal(size=n), rng


def both(family, X, y, offset=None, how=None, **weights):
    own = FAMILIES[family]()
    return [kind(y, X, own, offset, **weights).fit(**(how or {})) for kind in (sm.GLM, LongGLM)]


@pytest.mark.filterwarnings("ignore:cov_type not fully supported")
@given(
    family=st.sampled_from(sorted(FAMILIES)), n=st.integers(60, 300), seed=st.integers(0, 10**6),
    weights=st.sampled_from(["none", "freq_weights", "var_weights"]),
    how=st.sampled_from(["plain", "t", "robust", "clusters"]), shifted=st.booleans(),
)  # fmt: skip
def test_results_are_those_of_statsmodels(family, n, seed, weights, how, shifted):
    X, y, rng = simulated(family, n, seed)
    offset = rng.normal(size=n) / 5 if shifted else None
    own = {} if weights == "none" else {weights: rng.integers(1, 4, size=n).astype(float)}
    asked = {
        "plain": {},
        "t": {"use_t": True},
        "robust": {"cov_type": "HC1"},
        "clusters": {"cov_type": "cluster", "cov_kwds": {"groups": np.arange(n) % 20}},
    }[how]
    there, here = both(family, X, y, offset, asked, **own)
    assert here.converged == there.converged
    for name in ("params", "bse", "fittedvalues", "pvalues"):
        np.testing.assert_allclose(getattr(here, name), getattr(there, name), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(here.cov_params(), there.cov_params(), rtol=1e-6, atol=1e-12)
    for name in ("deviance", "scale", "llf", "aic", "null_deviance", "df_model", "df_resid"):
        assert getattr(here, name) == pytest.approx(getattr(there, name), rel=1e-8)
    assert here.fit_history["iteration"] == there.fit_history["iteration"]


@pytest.mark.filterwarnings("ignore:The design matrix is rank-deficient")
def test_columns_that_depend_on_others_are_left_to_statsmodels():
    X, y, _ = simulated("poisson", 200, 1)
    X = np.column_stack([X, X[:, 1] - X[:, 2]])
    assert least_squares(X, y, np.ones(200)) is None
    there, here = both("poisson", X, y)
    assert here.df_model == there.df_model == 3
    np.testing.assert_allclose(here.params, there.params, rtol=1e-6)


def test_separated_classes_are_warned_of_as_by_statsmodels():
    X, _, _ = simulated("binomial", 100, 2)
    y = (X[:, 1] > 0).astype(float)
    with pytest.warns(PerfectSeparationWarning):
        LongGLM(y, X, sm.families.Binomial()).fit()


def test_a_refit_is_the_same_in_blocks_and_without(monkeypatch):
    data = treeselect.datasets.load("titanic_correlated")
    fit = treeselect.select("survived ~ sex + pclass + age", data, method="mrmr", k=3, seed=1)
    usual = fit.refit("glm")
    assert type(usual.result.model) is sm.GLM
    monkeypatch.setattr(solving, "_LONG", 100)
    long = fit.refit("glm")
    assert type(long.result.model) is LongGLM
    np.testing.assert_allclose(long.tidy()["estimate"], usual.tidy()["estimate"], rtol=1e-7)
    assert str(long.summary()) == str(usual.summary())
