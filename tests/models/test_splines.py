"""Refits with restricted cubic splines: those of R's rms, what they allow, and what they say."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from quick import by_mrmr

import treeselect
from treeselect.errors import OptionError

SURVEY = pd.read_csv("tests/reference/survey_data.csv")
REFERENCE = pd.read_csv("tests/reference/splines.csv").set_index(["family", "what"])
LEFT = {"gaussian": "y", "binomial": "b", "poisson": "n", "cox": "Surv(time, event)"}


def fitted(right, left="y", data=SURVEY, **options):
    """The selection of all terms."""
    options = {"method": "mrmr", "k": right.count("+") + 1, "seed": 1} | options
    return treeselect.select(f"{left} ~ {right}", data, **options)


def quartiles(x):
    """Among the values, and those of -x with the other sign."""
    low, high = (np.quantile(own, 0.25, method="inverted_cdf") for own in (x, -x))
    return low, -high


@pytest.mark.parametrize("family", LEFT)
def test_splines_are_those_of_r(family):
    model = fitted("x + g", LEFT[family], family=family).refit("gam")
    expected, own = REFERENCE.loc[family], model.tidy().set_index("column")
    for name in ("x", "x'", "x''"):
        row = own.loc[name, ["estimate", "std_error"]].astype(float)
        np.testing.assert_allclose(row, expected.loc[name, row.index], rtol=1e-4)
    test = model.drop1().tidy().set_index("term").loc["x (nonlinear)"]
    assert test["p_value"] == pytest.approx(expected.loc["nonlinear", "p_value"], rel=1e-5)
    assert test["df"] == 2
    if family != "gaussian":
        step = expected.loc["quartiles", "estimate"]
        table = model.tidy(exponentiate=True)
        (row,) = table.query("column.str.startswith('x: ')").to_dict("records")
        assert row["estimate"] == pytest.approx(np.exp(step), rel=1e-5)
        assert row["std_error"] == pytest.approx(expected.loc["quartiles", "std_error"], rel=1e-5)


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson"])
def test_the_formula_gives_the_same_model_elsewhere(family):
    kind = {"gaussian": sm.families.Gaussian(), "binomial": sm.families.Binomial()}
    model = fitted("x + g", LEFT[family], family=family).refit("glm", splines=4)
    again = smf.glm(model.formula, SURVEY, family=kind.get(family, sm.families.Poisson())).fit(
        tol=1e-12
    )
    np.testing.assert_allclose(again.predict(SURVEY), model.predict(SURVEY), rtol=1e-5)
    ours = by_mrmr(model.formula, SURVEY, family=family, k=2).refit("glm")
    np.testing.assert_allclose(ours.predict(SURVEY), model.predict(SURVEY), rtol=1e-5)


@pytest.mark.parametrize("left", ["y", "b", "Surv(time, event)"])
def test_it_is_the_final_model_that_bends(left):
    gaps = SURVEY.assign(x=SURVEY["x"].mask(SURVEY["w"] > 38))
    fit = fitted("x + w + g", left, gaps, model="gam")
    model = fit.refit("gam", missing="indicator")
    low, high = quartiles(gaps["x"].dropna())
    assert f"x: {high:.4g} vs {low:.4g}" in str(model.summary())
    ours, theirs = fit.predict(gaps), model.predict(gaps)
    ratio = np.asarray(ours / theirs, dtype=float)
    np.testing.assert_allclose(ratio, ratio.mean() if "Surv" in left else 1.0, rtol=1e-5)


def test_degrees_of_freedom_quartiles_and_wald_tests_of_clusters():
    model = fitted("x + w + g").refit("glm", splines={"w": 2})
    assert model.tidy()["column"].tolist() == ["Intercept", "x", "w", "w'", "g[T.b]", "g[T.c]"]
    assert '.refit("glm", splines={"w": 2})' in dict(model.content.facts)["Call"]
    assert dict(model.content.facts)["Knots"].startswith("w at ")
    few = SURVEY.assign(few=SURVEY["w"] % 3)
    model = fitted("few + g", data=few).refit("gam")
    assert model.tidy()["column"].tolist() == ["Intercept", "few", "g[T.b]", "g[T.c]"]
    assert "Knots" not in dict(model.content.facts)
    assert model.content.title == "Linear model of the selected terms"
    model = fitted("x + g + x:g").refit("glm", splines=2)
    columns = model.tidy().query("term == 'x:g'")["column"].tolist()
    assert columns == ["x:g[T.b]", "x':g[T.b]", "x:g[T.c]", "x':g[T.c]"]
    assert "x (nonlinear)" not in model.drop1().tidy()["term"].tolist()  # `x` is not dropped
    text = str(fitted("x + w + x:w").refit("glm", splines=2).summary())
    assert [text.count(f"\n{name} ") for name in ("x:w", "x':w", "x:w'", "x':w'")] == [1] * 4
    assert "Knots" not in dict(fitted("x:w + g").refit("gam").content.facts)  # not bent
    fit = fitted("x + g", "b", labels={"x": "Dose (mg)"})
    model, (low, high) = fit.refit("gam"), quartiles(SURVEY["x"])
    ends = fit.model.effects().query("term == 'x'")[["from", "to"]].astype(float)
    np.testing.assert_allclose(ends, [[low, high]], rtol=1e-3)
    cells = [row[0] for row in model.summary().content.rows]
    assert f"Dose (mg): {high:.4g} vs {low:.4g}" in cells
    assert "Dose (mg)'" not in str(model.summary())
    assert "Dose (mg) (nonlinear)" in str(model.drop1())
    model = fitted("x + g", fold_groups="site").refit("gam")
    table = model.drop1().tidy().set_index("term")
    own = ["x'", "x''"]
    estimate, covariance = model.coef[own].to_numpy(), model.result.cov_params().loc[own, own]
    wald = estimate @ np.linalg.solve(covariance, estimate) / 2
    assert table.loc["x (nonlinear)", "statistic"] == pytest.approx(wald, rel=1e-6)


@pytest.mark.parametrize(
    ("model", "splines", "message"),
    [
        ("glm", 1, "`splines` must be a whole number, at least 2, at most 6"),
        ("gam", True, "`splines` must be a whole number"),
        ("glm", {"x": 9}, r"`splines\['x'\]` must be a whole number, at least 2, at most 6"),
        ("glm", {"g": 3}, "`g`, which is no single number"),
        ("gam", {"z": 3}, "`z`, which is not selected"),
        ("forest", 3, "`splines` must be left out unless the model is linear"),
    ],
)
def test_what_splines_may_be(model, splines, message):
    with pytest.raises(OptionError, match=message):
        fitted("x + g").refit(model, splines=splines)
