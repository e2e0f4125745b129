"""Tests of terms and profile intervals beside those of R."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import optimize, stats

import treeselect
from treeselect.errors import DataError, OptionError, TreeselectWarning
from treeselect.models.linear import tests
from treeselect.models.linear.coefficients import wald_test

LEFT = {
    "gaussian": "y", "binomial": "b", "poisson": "n", "multinomial": "m",
    "cox": "Surv(time, event)",
}  # fmt: skip
NUMBERS = ["df", "deviance", "statistic", "p_value"]


@pytest.fixture(scope="module")
def survey():
    return pd.read_csv("tests/reference/survey_data.csv")


def fitted(family, data, right="x + g", **options):
    k = right.count("+") + 1
    formula = f"{LEFT[family]} ~ {right}"
    fit = treeselect.select(formula, data, family=family, method="mrmr", k=k, seed=1, **options)
    return fit.refit("glm")


@pytest.fixture(scope="module")
def models(survey):
    """Of each family without and with an interaction."""
    found = {family: fitted(family, survey) for family in LEFT}
    with_product = {f: fitted(f, survey, "x + g + x:g") for f in LEFT if f != "multinomial"}
    return {"drop1 plain": found, "drop1": with_product, "anova": with_product}


REFERENCE = pd.read_csv("tests/reference/terms.csv")


@pytest.mark.parametrize(("test", "family"), list(REFERENCE.groupby(["test", "family"]).groups))
def test_tests_of_terms_are_those_of_r(test, family, models):
    model = models[test][family]
    table = (model.anova() if test == "anova" else model.drop1()).tidy().set_index("term")
    here = REFERENCE[(REFERENCE["test"] == test) & (REFERENCE["family"] == family)]
    assert table.index.tolist()[1:] == here["term"].tolist()  # marginality: x and g stay
    for row in here.to_dict("records"):
        own = table.loc[row["term"]]
        np.testing.assert_allclose(own[NUMBERS], [row[n] for n in NUMBERS], rtol=1e-5, atol=1e-9)
        if np.isfinite(row["aic"]):
            assert own["aic"] == pytest.approx(row["aic"], rel=1e-7)


def test_wald_and_sums_of_deviances(models):
    for model in models["drop1 plain"].values():
        table = model.anova().tidy()
        first, last = table["resid_deviance"].iloc[[0, -1]]
        assert table["deviance"].sum() == pytest.approx(first - last)
    for family, model in models["drop1 plain"].items():
        ends = ["ci_low", "ci_high"]
        pd.testing.assert_frame_equal(model.confint(method="wald")[ends], model.tidy()[ends])
        if family == "gaussian":
            pd.testing.assert_frame_equal(model.confint()[ends], model.tidy()[ends])
        wide = model.confint(method="wald", level=0.99)
        assert (wide["ci_high"] > model.tidy()["ci_high"]).all()
    with pytest.raises(OptionError, match="`exponentiate` must be False"):
        models["drop1 plain"]["gaussian"].summary(exponentiate=True)


@pytest.mark.parametrize("family", ["binomial", "poisson", "cox"])
def test_profile_intervals_are_those_of_r(family, models):
    expected = pd.read_csv("tests/reference/intervals.csv")
    expected = expected[expected["family"] == family]
    found = models["drop1 plain"][family].confint()
    # R interpolates the profile by a spline
    np.testing.assert_allclose(found["ci_low"], expected["low"], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found["ci_high"], expected["high"], rtol=1e-3, atol=1e-3)


def test_the_intercept_has_a_profile_alone_and_sampling_weights_wald_tests(survey):
    model = fitted("poisson", survey.assign(x=0.0, g="a"), "x + g")
    assert model.tidy()["term"].tolist() == ["Intercept"]
    (low,), (high,) = (model.confint()[end] for end in ("ci_low", "ci_high"))
    mean, n = survey["n"].mean(), len(survey)
    for end in np.exp([low, high]):  # twice the difference of Poisson log-likelihoods
        ratio = 2 * n * (mean * np.log(mean / end) - (mean - end))
        assert ratio == pytest.approx(3.841459, rel=1e-4)
    model = fitted("binomial", survey, weights="w", weights_kind="sampling")
    fit = model._terms().fit  # far from a maximum, as where classes are separated:
    odd = dataclasses.replace(fit, covariance=fit.covariance - np.diag([0, 0, 9, 0]))
    assert np.isnan(wald_test(odd, np.array(odd.terms) == "g")).all()
    assert wald_test(odd, np.array(odd.terms) == "x") == wald_test(fit, np.array(fit.terms) == "x")
    by_term = model.drop1().tidy().set_index("term")
    own = model.tidy().set_index("term")
    assert by_term["p_value"]["x"] == pytest.approx(own["p_value"]["x"])
    assert by_term["aic"].isna().all()
    assert "Wald F" in str(model.anova())
    for kind in ("sampling", "precision"):
        squares = fitted("gaussian", survey, weights="w", weights_kind=kind)
        assert np.isnan(squares.glance()["aic"].item())
        assert squares.drop1().tidy()["aic"].isna().all()
        assert squares.anova().tidy()["aic"].isna().all()
    with pytest.raises(OptionError, match="standard errors are robust"):
        model.confint(method="profile")
    ends = ["ci_low", "ci_high"]
    pd.testing.assert_frame_equal(model.confint()[ends], model.tidy()[ends])


@pytest.fixture(scope="module")
def visits():
    """Counts of a Pearson dispersion of about 4, in 60 clusters that share an effect."""
    rng = np.random.default_rng(4)
    ward = np.repeat(np.arange(60), 6)
    x, g = rng.normal(size=360), rng.choice(list("abc"), 360)
    mean = np.exp(1 + 0.3 * x + 0.5 * rng.normal(size=60)[ward]) * rng.gamma(1.5, 1 / 1.5, 360)
    calm = rng.poisson(np.exp(1 + 0.3 * x))
    return pd.DataFrame({"x": x, "g": g, "ward": ward, "n": rng.poisson(mean), "calm": calm})


def test_overdispersed_counts_are_quasi_poisson(visits):
    model = fitted("poisson", visits)
    matrix = pd.get_dummies(visits[["x", "g"]], drop_first=True, dtype=float).assign(one=1.0)
    expected = sm.GLM(visits["n"], matrix, sm.families.Poisson()).fit(scale="X2")
    scale = expected.scale
    assert scale > 2
    own = model.tidy().set_index("column").loc[["x", "g[T.b]", "g[T.c]", "Intercept"]]
    np.testing.assert_allclose(own["estimate"], expected.params, rtol=1e-6)
    np.testing.assert_allclose(own["std_error"], expected.bse, rtol=1e-6)
    p_values = 2 * stats.t.sf(np.abs(expected.params / expected.bse), 356)
    np.testing.assert_allclose(own["p_value"], p_values, rtol=1e-4)
    text = " ".join(str(model.summary()).split())
    assert "GLM, quasi-Poisson family, log link (statsmodels)" in text
    assert f"Dispersion: {scale:.3g} (Pearson; 1 if Poisson), above chance: quasi-Poisson" in text
    assert model.statistics["dispersion"] == pytest.approx(scale)
    assert not {"aic", "bic", "log_lik"} & model.statistics.keys()
    less = sm.GLM(visits["n"], matrix[["x", "one"]], sm.families.Poisson()).fit()
    row = model.drop1().tidy().set_index("term").loc["g"]
    f = (less.deviance - expected.deviance) / 2 / scale
    assert row["statistic"] == pytest.approx(f, rel=1e-5)
    assert row["p_value"] == pytest.approx(stats.f.sf(f, 2, 356), rel=1e-4)
    assert "F tests" in str(model.anova())
    profile, wald = (np.ptp(table.loc[1, ["ci_low", "ci_high"]].astype(float))
                     for table in (model.confint(), model.tidy()))  # fmt: skip
    assert profile == pytest.approx(wald, rel=0.05)


def test_few_clusters_and_counts_of_chance(visits):
    model = fitted("poisson", visits.assign(n=visits["calm"]))
    text = str(model.summary())
    assert "GLM, Poisson family" in text
    assert "within chance" in text
    assert "aic" in model.statistics
    tests = model.anova().tidy()  # without x the counts vary more than chance allows
    beyond = tests["aic"] - tests["resid_deviance"] + 2 * tests["resid_df"]
    np.testing.assert_allclose(beyond, beyond[0])
    few = visits.assign(ward=visits["ward"] // 20)
    with pytest.warns(TreeselectWarning, match="Found: 3 clusters and 4 coefficients"):
        model = fitted("poisson", few, fold_groups="ward")
    pd.testing.assert_frame_equal(model.tidy(), fitted("poisson", few).tidy())
    for shown in (model.summary(), model.drop1()):
        assert "rows of the same `ward` as independent" in " ".join(str(shown).split())


@pytest.mark.parametrize("family", ["poisson", "binomial", "gaussian"])
def test_clusters_are_robust_everywhere(family, visits):
    frame = visits.assign(b=visits["n"] > 3, y=np.sqrt(visits["n"]))
    model = fitted(family, frame, fold_groups="ward")
    matrix = pd.get_dummies(frame[["x", "g"]], drop_first=True, dtype=float).assign(one=1.0)
    kind = {"poisson": sm.families.Poisson, "binomial": sm.families.Binomial,
            "gaussian": sm.families.Gaussian}[family]()  # fmt: skip
    y = frame[LEFT[family]].astype(float)
    how = {"cov_type": "cluster", "cov_kwds": {"groups": frame["ward"]}, "use_t": True}
    expected = sm.GLM(y, matrix, kind).fit(**how)
    own = model.tidy().set_index("column").loc[["x", "g[T.b]", "g[T.c]", "Intercept"]]
    np.testing.assert_allclose(own["std_error"], expected.bse, rtol=1e-5)
    ends = model.confint()[["ci_low", "ci_high"]]
    pd.testing.assert_frame_equal(ends, model.tidy()[["ci_low", "ci_high"]])
    by_term = model.drop1().tidy().set_index("term")
    assert by_term["p_value"]["x"] == pytest.approx(own["p_value"]["x"])
    text = " ".join(str(model.summary()).split())
    assert "Std. errors: cluster-robust, 60 `ward` clusters, 59 degrees of freedom" in text
    assert "Wald F tests with robust standard errors" in " ".join(str(model.drop1()).split())


@pytest.mark.parametrize(
    ("how", "left"), [("firth", "b"), ("glm", "m"), ("ordinal", "m"), ("glm", LEFT["cox"])]
)
def test_unit_and_origin_of_a_column_change_no_interval_or_diagnostic(how, left, survey):
    survey = survey.assign(m=pd.Categorical(survey["m"], ordered=how == "ordinal"))
    found = []
    for unit, origin in ((1.0, 0.0), (1e10, 0.0), (1.0, 2e4)):
        data = survey.assign(x=unit * survey["x"] + origin)
        fit = treeselect.select(f"{left} ~ x + g", data, method="mrmr", k=2, seed=1)
        model = fit.refit(how)
        ends = model.confint().loc[model.tidy()["term"] == "x", ["ci_low", "ci_high"]]
        checks = model.diagnostics(folds=2)
        ends, leverage = unit * ends.to_numpy().ravel(), checks.tidy()["leverage"].head()
        hazards = [] if checks.hazards is None else checks.hazards["p_value"]
        found.append([*ends, *checks.terms["gvif"], *checks.scores, *leverage, *hazards])
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-5)


@pytest.mark.parametrize(("unit", "origin"), [(1e16, 0.0), (1e-16, 0.0), (1e3, 1e9)])
def test_a_column_that_is_lost_beside_another_is_refused(unit, origin, survey):
    data = survey.assign(x=unit * survey["x"] + origin)
    for family in ("gaussian", "binomial", "poisson", "multinomial"):
        with pytest.raises(DataError, match="differ so much in size"):
            fitted(family, data)
    assert fitted("cox", data).tidy()["estimate"][0] * unit == pytest.approx(
        fitted("cox", survey).tidy()["estimate"][0], rel=1e-4
    )


def test_reference_levels_have_rows(models, survey):
    model = models["drop1 plain"]["binomial"]
    table = model.tidy(exponentiate=True, reference=True)
    assert table["column"].tolist() == ["Intercept", "x", "g[a]", "g[T.b]", "g[T.c]"]
    assert table["estimate"][2] == 1
    assert table.iloc[2, 3:].isna().all()
    assert "g: a (reference)" in str(model.summary())
    several = models["drop1 plain"]["multinomial"]
    assert several.tidy(reference=True)["column"].str.contains(r": g\[a\]").sum() == 2
    assert "m: g: a (reference)" in str(several.summary())
    labelled = fitted("binomial", survey, "x + g + x:g", labels={"g": "Group"})
    assert "Group: a (reference)" in str(labelled.summary())
    survey = survey.assign(g=pd.Categorical(survey["g"], list("zabcy")))  # z and y have no rows
    assert "g: a (reference)" in str(fitted("binomial", survey).summary())


def test_glance_is_that_of_r_and_what_is_refused_and_said(models):
    found = {family: models["drop1 plain"][family].glance().iloc[0] for family in LEFT}
    expected = pd.read_csv("tests/reference/glance.csv").set_index("family")
    for family, row in expected.iterrows():
        for name in expected.columns:
            if np.isfinite(row[name]):
                assert found[family][name] == pytest.approx(row[name], rel=1e-7), (family, name)
    assert np.isnan(found["gaussian"]["events"])
    model = models["drop1 plain"]["multinomial"]
    with pytest.raises(OptionError, match="more than two classes are not profiled"):
        model.confint(method="profile")
    assert model.confint().notna().all(axis=None)
    with pytest.raises(OptionError, match="for this model: its likelihood is not profiled"):
        treeselect.select(
            "n ~ x", pd.read_csv("tests/reference/survey_data.csv"), family="poisson", k=1
        ).refit("negative-binomial").confint(method="profile")
    with pytest.raises(OptionError, match="`method` must be"):
        model.confint(method="exact")
    tests = models["drop1"]["gaussian"].drop1()
    text = " ".join(str(tests).split())
    assert "an interaction contains them: x, g." in text
    assert "No selection affects these p-values" in text


def test_the_table_of_a_paper_and_the_report(survey, tmp_path):
    fit = treeselect.select("b ~ x + g", survey, method="mrmr", k=2, seed=1)
    model = fit.refit("glm")
    summary = model.summary(exponentiate=True)
    assert summary.content.columns == ("Column", "Odds ratio", "95% interval", "P-value")
    rows = {row[0]: row for row in summary.content.rows}
    ratio = model.tidy(exponentiate=True).set_index("column")["estimate"]["x"]
    assert float(rows["x"][1]) == pytest.approx(ratio, abs=0.005)  # two decimals
    assert rows["g: a (reference)"][1] == "1"
    page = fit.report(tmp_path / "r.html", linear=model).read_text()
    assert 'id="linear"' in page
    for part in ("Odds ratio", "g: a (reference)", "No selection affects"):
        assert part in page
    assert 'id="linear"' not in fit.report(tmp_path / "r.html").read_text()
    other = treeselect.select("b ~ x + g", survey, method="mrmr", k=1, seed=1)
    with pytest.raises(OptionError, match="`linear` must belong to the same fit"):
        other.report(tmp_path / "r.html", linear=model)
    with pytest.raises(OptionError, match="`linear` must be what"):
        fit.report(tmp_path / "r.html", linear=fit)


def test_profiles_start_where_the_others_are_expected():
    """Nearly collinear columns: from 0, Cox's model has no maximum on the way to an end."""
    rng = np.random.default_rng(0)
    x = rng.exponential(size=150)
    data = pd.DataFrame({"x": x, "time": rng.exponential(size=150) + 0.01, "event": 1})
    fit = treeselect.select("Surv(time, event) ~ x + log(x + 1)", data, method="mrmr", k=2, seed=1)
    model = fit.refit("gam")
    found, wald = model.confint(), model.confint(method="wald")
    width = wald["ci_high"] - wald["ci_low"]
    for end in ("ci_low", "ci_high"):
        assert (np.abs(found[end] - wald[end]) < 0.3 * width).all()


def test_where_all_terms_were_forced_in_p_values_are_not_called_invalid(survey):
    fit = treeselect.select("b ~ x + g", survey, method="mrmr", k=2, seed=1, keep=["x", "g"])
    model = fit.refit("glm")
    for found in (model.summary(), model.summary(exponentiate=True), model.drop1().summary()):
        text = " ".join(str(found).split())
        assert "forced in" in text
        assert "not valid" not in text
    one = treeselect.select("b ~ x + g", survey, method="mrmr", k=1, seed=1).refit("glm")
    for found in (one.summary(), one.anova().summary()):
        assert "not valid" in str(found)


def test_ends_of_intervals_are_where_the_likelihood_says():
    """Far rows: beside them the first step of a usual fit of the other coefficients goes astray."""
    rng = np.random.default_rng(2)
    x = np.append(rng.normal(size=36), [30.0, 60.0, 90.0, 120.0])
    data = pd.DataFrame({"x": x, "z": rng.normal(size=40), "b": rng.integers(0, 2, size=40)})
    data.loc[36:, "b"] = 0
    table = fitted("binomial", data, "x + z").confint()
    columns = np.column_stack([np.ones(40), data["x"], data["z"]])

    def deviance(fixed, end):
        def lost(coefficients):
            eta = columns @ np.insert(coefficients, fixed, end)
            return 2 * np.sum(np.logaddexp(0, eta) - data["b"] * eta)

        start = np.delete(table["estimate"], fixed)
        return optimize.minimize(lost, start, method="Nelder-Mead", tol=1e-9).fun

    best = deviance(0, table["estimate"][0])
    for j in range(3):
        for end in ("ci_low", "ci_high"):
            excess = deviance(j, table[end][j]) - best
            assert excess == pytest.approx(3.841459, rel=1e-3), (j, end)


def jumps(value):
    return -4.0 if value < 0.6 else 800.0


def breaks_down(value):
    if value > 0.6:
        raise np.linalg.LinAlgError("Singular matrix")
    return -4.0


@pytest.mark.parametrize(
    "excess",
    [lambda value: 800.0, lambda value: -4.0, lambda value: np.nan, lambda value: np.inf, jumps,
     breaks_down],
)  # fmt: skip
def test_an_end_that_is_not_found_is_infinite(excess):
    assert tests._end(excess, 0.5, 1.0) == np.inf
    assert tests._end(lambda value: excess(1 - value), 0.5, -1.0) == -np.inf
    assert tests._end(lambda value: value**2 - 4.0, 0.5, 1.0) == pytest.approx(2.0)
