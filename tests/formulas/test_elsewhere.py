"""``fit.formula`` in statsmodels with its formulaic engine, in formulaic, back in ``select``."""

import formulaic
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula
import statsmodels.formula.api as smf
from numpy import log1p, sqrt  # noqa: F401  (formulas of statsmodels see the caller's names)

import treeselect

QUICK = {"method": "mrmr", "seed": 1}


@pytest.fixture(autouse=True)
def formulaic_engine(monkeypatch):
    monkeypatch.setattr(statsmodels.formula.options, "formula_engine", "formulaic")


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    n = 120
    data = pd.DataFrame(
        {
            "dose of x": rng.normal(size=n), "age": rng.uniform(20, 80, n),
            "site": rng.choice(list("abc"), n), "old": rng.random(n) < 0.4,
            "g": rng.integers(0, 3, n), "t": rng.uniform(0, 1, n),
            "stop": rng.exponential(size=n) + 0.1, "ev": rng.integers(0, 2, n),
        }
    )  # fmt: skip
    data["y"] = data["dose of x"] + 0.02 * data["age"] + rng.normal(size=n)
    data["count"] = rng.poisson(2, n)
    return data


@pytest.mark.filterwarnings("ignore:The design matrix is rank-deficient")  # `cs`
@pytest.mark.parametrize(
    "formula",
    [
        "y ~ site + age", "y ~ bs(age, df=4) + site", "y ~ cs(age, df=4)", "y ~ poly(age, 2)",
        "y ~ site * old", "y ~ site:age + age", "y ~ log(age) + I(t ** 2) + I(age > 40)",
        "y ~ sqrt(age) + log1p(t)", "y ~ C(g) + scale(age) + center(t)",
        "y ~ C(site, contr.treatment('b'))", "log(age) ~ y + I(site == 'a')",
    ],
)  # fmt: skip
def test_the_formula_gives_the_model_of_refit(data, formula):
    k = len(treeselect.select(formula, data, k=1, **QUICK).data.design.spec.terms)
    fit = treeselect.select(formula, data, k=k, **QUICK)
    other = smf.glm(fit.formula, data).fit()
    np.testing.assert_allclose(other.fittedvalues, fit.refit("glm").predict(data), rtol=1e-6)
    again = treeselect.select(fit.formula, data, k=k, **QUICK)
    assert (again.selected, again.formula) == (fit.selected, fit.formula)


def test_offsets_strata_and_backticks_go_into_select_and_formulaic(data):
    how = {"method": "lasso", "seed": 1, "family": "poisson", "offset": "t"}
    fit = treeselect.select("count ~ site + age", data, k=2, **how)
    family = sm.families.Poisson()
    other = smf.glm(fit.formula, data, family=family, offset=data["t"]).fit()
    np.testing.assert_allclose(other.fittedvalues, fit.refit("glm").predict(data), rtol=1e-6)
    fit = treeselect.select("Surv(stop, ev) ~ age + site + strata(old)", data, k=2, **QUICK)
    assert fit.formula.endswith("strata(old)")
    assert treeselect.select(fit.formula, data, k=2, **QUICK).formula == fit.formula
    # statsmodels 0.15 loses them when it writes the terms again.
    fit = treeselect.select("y ~ `dose of x` + site", data, k=2, **QUICK)
    y, matrix = formulaic.model_matrix(fit.formula, data)
    other = sm.OLS(np.asarray(y), np.asarray(matrix)).fit()
    np.testing.assert_allclose(other.fittedvalues, fit.refit("glm").predict(data), rtol=1e-6)
    assert treeselect.select(fit.formula, data, k=2, **QUICK).formula == fit.formula
