"""Missing values in linear models, and contrasts of ordered factors."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import treeselect
from treeselect.errors import OptionError, TreeselectWarning

REFERENCE = Path(__file__).parents[1] / "reference"
QUICK = {"method": "mrmr", "seed": 1}


@pytest.fixture(scope="module")
def gaps() -> pd.DataFrame:
    """A number and a factor with missing values, and an ordered factor."""
    rng = np.random.default_rng(4)
    n = 90
    data = pd.DataFrame(
        {
            "x": rng.integers(0, 20, n).astype(float),
            "site": rng.choice(["Bath", "Leeds", "York"], n),
            "grade": pd.Categorical(rng.choice(list("abc"), n), list("abc"), ordered=True),
        }
    )
    data["y"] = 0.2 * data["x"] + (data["site"] == "York") + rng.normal(size=n)
    data.loc[::4, "x"] = np.nan
    data.loc[1::6, "site"] = None
    return data


@pytest.fixture(scope="module")
def fit(gaps):
    return treeselect.select("y ~ x + site", gaps, k=2, **QUICK)


def test_a_warning_says_what_is_dropped_and_the_way_out(fit, gaps):
    n = int(gaps[["x", "site"]].isna().any(axis=1).sum())
    said = rf"drops .*{n} of 90.*\n  Missing values: `x` \(23\), `site` \(15\)"
    resampled = fit.resample(2)
    for call in (
        resampled.inference,
        resampled.model.coefficient_stability,
        lambda: fit.refit("glm"),
    ):
        with pytest.warns(TreeselectWarning, match=said) as caught:
            glm = call()
        assert caught[0].filename == __file__
        assert "select(formula, frames)" in str(caught[0].message)
    assert "Missing values: x 23, site 15." in " ".join(str(glm.summary()).split())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = gaps.dropna()
        few.loc[few.index[:2], "x"] = np.nan
        treeselect.select("y ~ x + site", few, k=2, **QUICK).refit("glm")
        fit.refit("glm", missing="indicator")


def test_indicators_are_those_one_would_make_by_hand(fit, gaps):
    glm = fit.refit("glm", missing="indicator")
    assert (glm.n_used, glm.n_dropped) == (90, 0)
    known = np.sort(gaps["x"].dropna())
    median = known[(len(known) - 1) // 2]
    site = gaps["site"].fillna("gone")
    matrix = pd.DataFrame(
        {
            "Intercept": 1.0, "x": gaps["x"].fillna(median), "missing(x)": gaps["x"].isna() * 1.0,
            "site[T.Leeds]": (site == "Leeds") * 1.0, "site[T.York]": (site == "York") * 1.0,
            "site[T.(missing)]": (site == "gone") * 1.0,
        }
    )  # fmt: skip
    expected = sm.OLS(gaps["y"], matrix).fit()
    table = glm.tidy().set_index("column")
    assert set(table.index) == set(matrix.columns)
    assert table.loc["missing(x)", "term"] == "x"
    np.testing.assert_allclose(table.loc[matrix.columns, "estimate"], expected.params, atol=1e-10)
    np.testing.assert_allclose(table.loc[matrix.columns, "std_error"], expected.bse, atol=1e-10)
    text = " ".join(str(glm.summary()).split())
    assert f"Those of x are replaced by the median of the rows ({median:g})" in text
    assert "Those of site are a level of the factor." in text
    labelled = fit.update(labels={"x": "Age"}).refit("glm", missing="indicator").summary()
    assert "Those of Age are replaced by" in " ".join(str(labelled).split())
    found = pickle.loads(pickle.dumps(glm)).predict(gaps)
    np.testing.assert_allclose(found, expected.fittedvalues, atol=1e-10)


def test_coded_terms_and_ordered_factors_take_missing_values(gaps):
    formula = "y ~ log(x + 1) + C(site) + I(site == 'York'):x"
    fit = treeselect.select(formula, gaps, k=3, **QUICK)
    glm = fit.refit("glm", missing="indicator")
    assert glm.n_dropped == 0
    assert {"missing(x)", "missing(site)"} <= set(glm.tidy()["column"])
    np.testing.assert_allclose(glm.predict(gaps), glm.result.fittedvalues, atol=1e-10)
    coded = treeselect.select("y ~ C(site, contr.sum) + x", gaps, k=2, **QUICK)
    glm = coded.refit("glm", missing="indicator")
    table = glm.tidy().set_index("column")["estimate"]
    known = glm.result.fittedvalues[gaps["site"].isna()] - table["Intercept"]
    alone = known - table["missing(site)"] - table["missing(x)"] * gaps["x"].isna()
    median = np.sort(gaps["x"].dropna())[33]
    expected = (table["x"] * gaps["x"].fillna(median))[gaps["site"].isna()]
    np.testing.assert_allclose(alone[gaps["site"].isna()], expected, atol=1e-10)
    np.testing.assert_allclose(glm.predict(gaps), glm.result.fittedvalues, atol=1e-10)
    grade = gaps["grade"].cat.rename_categories([1, 2, 3])
    data = gaps.assign(grade=grade.where(np.arange(90) % 5 > 0))
    fit = treeselect.select("y ~ grade", data, k=1, **QUICK)
    glm = fit.refit("glm", missing="indicator")
    assert "grade[T.(missing)]" in glm.tidy()["column"].to_list()
    np.testing.assert_allclose(glm.predict(data), glm.result.fittedvalues, atol=1e-10)


def test_new_gaps_have_no_indicator_and_trees_have_no_such_rule(fit, gaps):
    graded = treeselect.select("y ~ x + grade", gaps.dropna(), k=2, **QUICK)
    glm = graded.refit("glm", missing="indicator")
    assert glm.predict(gaps).isna().equals(gaps["x"].isna())
    with pytest.raises(OptionError, match="`missing` must be left out unless the model is linear"):
        fit.refit("forest", missing="indicator")


@pytest.mark.parametrize(
    ("model", "formula"),
    [
        ("treatment", "x1 + grade"), ("scores", "x1 + score"),
        ("polynomial", "x1 + C(grade, contr.poly)"), ("crossed", "x1 * C(grade, contr.poly)"),
    ],
)  # fmt: skip
def test_ordered_factors_have_the_coefficients_of_r(model, formula):
    data = pd.read_csv(REFERENCE / "stepwise_data.csv")
    names = ["low", "middle", "high", "top"]
    data["grade"] = pd.cut(data["x2"], [-np.inf, -0.7, 0, 0.7, np.inf], labels=names)
    data["score"] = data["grade"].cat.codes + 1
    fit = treeselect.select(f"number ~ {formula}", data, k=formula.count("*") + 2, **QUICK)
    glm = fit.refit("glm")
    expected = pd.read_csv(REFERENCE / "ordered.csv").set_index("model").loc[model]
    table = glm.tidy()
    np.testing.assert_allclose(table["estimate"], expected["estimate"], rtol=1e-9)
    np.testing.assert_allclose(table["std_error"], expected["std_error"], rtol=1e-9)
    # Categories of new data need not be declared.
    new = data.assign(grade=data["grade"].astype(str)).iloc[[3, 9]]
    np.testing.assert_allclose(glm.predict(new), np.asarray(glm.result.fittedvalues)[[3, 9]])
    (split,) = fit.inference().splits
    assert not split.failure


def test_refusals(fit):
    with pytest.raises(OptionError, match="`missing` must be one of"):
        fit.refit("glm", missing="mean")
