"""Diagnostics of linear models: those of R, limit cases, and what they say."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from quick import normal
from scipy import stats

import treeselect
from treeselect.errors import OptionError, TreeselectWarning

SURVEY = pd.read_csv("tests/reference/survey_data.csv")
REFERENCE = pd.read_csv("tests/reference/diagnostics.csv")
LEFT = {"gaussian": "y", "binomial": "b", "poisson": "n", "weighted": "y"}
LEFT["cox"] = "Surv(time, event)"
RIGHT = "x + g + site"


def fitted(left, data=SURVEY, right=RIGHT, **options):
    options = {"method": "mrmr", "k": right.count("+") + 1, "seed": 1} | options
    return treeselect.select(f"{left} ~ {right}", data, **options)


@pytest.mark.parametrize("family", LEFT)
def test_numbers_are_those_of_r(family):
    options = {"weights": "w", "weights_kind": "precision"} if family == "weighted" else {}
    if family in ("poisson", "binomial"):
        options = {"family": family}
    found = fitted(LEFT[family], **options).refit("glm").diagnostics(folds=3)
    expected = REFERENCE[REFERENCE["family"] == family]
    seen = 0
    for what, part in expected.groupby("what"):
        if what == "zph":
            ours = found.hazards.replace({"term": {"(all)": "GLOBAL"}})
            own = ours.set_index("term")["statistic"][part["at"]]
        elif what == "gvif":
            own = found.terms.set_index("term")["gvif"][part["at"]]
        else:
            own = found.tidy().set_index("row")[what][part["at"].astype(int)]
        np.testing.assert_allclose(own, part["value"], rtol=2e-5, err_msg=f"{family} {what}")
        seen += len(part)
    assert seen > 19


@pytest.mark.parametrize("kind", ["sampling", "clusters"])
def test_hazards_have_robust_tests_where_coefficients_do(kind):
    n = len(SURVEY)
    data = SURVEY.assign(w=1 + np.arange(n) % 7 / 3, c=np.arange(n) % 40, time=np.arange(n) * 7 % n)
    is_sample = kind == "sampling"
    by = {"weights": "w", "weights_kind": kind} if is_sample else {"fold_groups": "c"}
    model = fitted(LEFT["cox"], data, "x + g", **by).refit("glm")
    found = model.diagnostics(folds=2)
    assert "`cox.zph`), with robust variances." in " ".join(str(found).split())
    x = np.column_stack([data["x"], pd.get_dummies(data["g"]).iloc[:, 1:]]).astype(float)
    mass = (data["w"] / data["w"].mean()).to_numpy() if is_sample else np.ones(n)
    risk, p, km = np.exp(x @ model.tidy()["estimate"].to_numpy()), x.shape[1], 1.0
    scores, information = np.zeros((n, 2 * p)), np.zeros((2 * p, 2 * p))
    for i in np.flatnonzero(data["event"])[np.argsort(data["time"][data["event"] > 0])]:
        at_risk = (data["time"] >= data["time"][i]).to_numpy()
        share = mass * risk * at_risk / (mass * risk)[at_risk].sum()
        z = np.column_stack([x, (1 - km) * x])
        apart = z - share @ z
        scores -= (mass[i] * share)[:, None] * apart
        scores[i] += mass[i] * apart[i]
        information += mass[i] * (apart.T * share) @ apart
        km *= 1 - 1 / at_risk.sum()
    own = scores[:, p:] - scores[:, :p] @ np.linalg.solve(information[:p, :p], information[:p, p:])
    sums = pd.DataFrame(own).groupby(data.index if is_sample else data["c"]).sum().to_numpy()
    left, total = sums.T @ sums * len(sums) / (len(sums) - 1), sums.sum(axis=0)
    expected = total @ np.linalg.solve(left, total)
    assert found.hazards["statistic"].iloc[-1] == pytest.approx(expected, rel=1e-6)


def test_inflation_of_several_classes_is_that_of_weighted_rows():
    data = SURVEY.assign(w=1 + np.arange(len(SURVEY)) % 2)
    rows = data.loc[data.index.repeat(data["w"])]
    by = {"weights": "w", "weights_kind": "sampling"}
    once, each = (fitted("m", own, **how).refit("glm") for own, how in ((data, by), (rows, {})))
    once, each = (model.diagnostics(folds=2).terms["gvif"] for model in (once, each))
    np.testing.assert_allclose(once, each)


def drawn(kind, rng, n=1500):
    """Data of a model that is right, and the response of one that bends."""
    x, z = rng.normal(size=(2, n))
    eta = 0.6 * x - 0.4 * z
    data = pd.DataFrame({"x": x, "z": z})
    if kind == "gaussian":
        return data.assign(y=eta + rng.normal(size=n))
    if kind == "binomial":
        return data.assign(y=(rng.uniform(size=n) < 1 / (1 + np.exp(-eta))).astype(int))
    if kind == "multinomial":
        share = np.exp(np.column_stack([np.zeros(n), eta, -eta]))
        share = np.cumsum(share / share.sum(axis=1, keepdims=True), axis=1)
        return data.assign(y=np.array(["a", "b", "c"])[(rng.uniform(size=(n, 1)) > share).sum(1)])
    if kind == "poisson":
        return data.assign(y=rng.poisson(np.exp(1 + eta)))
    if kind in ("quasi", "negative-binomial"):
        return data.assign(y=rng.poisson(np.exp(1 + eta) * rng.gamma(2, 0.5, size=n)))
    time, censored = rng.exponential(np.exp(-eta)), rng.exponential(2, size=n)
    return data.assign(time=np.minimum(time, censored), event=(time <= censored).astype(int))


KINDS = ["gaussian", "binomial", "multinomial", "poisson", "quasi", "negative-binomial", "cox"]


@pytest.mark.parametrize("kind", KINDS)
def test_quantile_residuals_are_normal_where_the_model_is_right(kind):
    data = drawn(kind, np.random.default_rng(5))
    family = {"quasi": "poisson", "negative-binomial": "poisson"}.get(kind, kind)
    left = "Surv(time, event)" if kind == "cox" else "y"
    fit = fitted(left, data, "x + z", family=family)
    model = fit.refit(kind if kind == "negative-binomial" else "glm")
    found = model.diagnostics(folds=2)
    if kind != "quasi":  # whose variance alone is modelled
        assert stats.kstest(found.tidy()["quantile"], "norm").pvalue > 0.02
    assert np.abs(found.tidy()["quantile"].mean()) < 0.1
    assert not any("forest" in note for note in found.summary().content.notes)
    if found.calibration is not None:
        assert found.calibration.slope_low < 1 < found.calibration.slope_high
    if kind == "cox":
        assert found.hazards["p_value"].min() > 0.01


def test_what_bends_is_said_and_hazards_interactions_and_problems():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=600), "z": rng.normal(size=600)})
    data["y"] = data["x"] + data["x"] ** 2 + 0.5 * data["z"] + 0.5 * rng.normal(size=600)
    data["twin"] = data["z"] + 0.05 * rng.normal(size=600)
    found = fitted("y", data, "x + z + twin").refit("glm").diagnostics()
    text = str(found.summary())
    assert "A forest of the same terms predicts better: R2 higher by" in text
    assert "Collinear with other terms: z, twin." in text
    assert found.difference.low > 0
    assert found.difference.mean == pytest.approx((found.forest_scores - found.scores).mean())
    bent = fitted("y", data, "x + z").refit("gam").diagnostics()
    assert bent.difference.high < 0 or bent.difference.low < 0
    rng = np.random.default_rng(4)
    g = rng.integers(0, 2, size=800)
    time = np.where(g == 1, rng.weibull(3.0, size=800), rng.weibull(0.7, size=800))
    data = pd.DataFrame({"time": time, "event": 1, "g": g, "z": rng.normal(size=800)})
    found = fitted("Surv(time, event)", data, "g + z").refit("glm").diagnostics(folds=3)
    assert "hazard ratio seems to change over time: g." in str(found.summary())
    data = SURVEY.assign(x=SURVEY["x"] + 9)
    found = fitted("y", data, "x + site + x:site").refit("glm").diagnostics(folds=2)
    assert "An interaction is collinear with the terms that it contains" in str(found)
    data = SURVEY.assign(g=np.where(SURVEY["b"] == 1, "u", SURVEY["g"]))
    with pytest.warns(TreeselectWarning, match="separate the classes"):
        model = fitted("b", data, "x + g", family="binomial").refit("glm")
    assert "separate the classes" in " ".join(str(model.diagnostics(folds=2)).split())
    data = normal(8, 400, "xzu", x=1, z=1, u=1)
    data["y"] += data["x"] * data["z"]
    text = str(fitted("y", data, "x + z + u").refit("glm").diagnostics(folds=2).summary())
    assert "Interactions that add to the model" in text
    assert "x × z (<0.0001). A formula with `*` has them." in " ".join(text.split())


def test_gamma_models_are_calibrated_and_numbers_may_go_as_far_as_they_can():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(300, 2)), columns=["x", "z"])
    data["y"] = rng.gamma(2, np.exp(1 + 0.8 * data["x"]) / 2)
    found = fitted("y", data, "x + z").refit("gamma").diagnostics(folds=3)
    held, law = found.held_out, sm.families.Gamma(sm.families.links.Log())
    own = sm.GLM(held.y, sm.add_constant(np.log(held.predicted)), law).fit()
    told = found.calibration
    assert told.slope == pytest.approx(own.params[1])
    assert (told.slope_low, told.slope_high) == pytest.approx(tuple(own.conf_int()[1]))
    data = SURVEY.copy()
    data.loc[7, ["x", "b"]] = -1e6, 0
    with pytest.warns(TreeselectWarning, match="Fitted probabilities of 0 or 1"):
        model = fitted("b", data, right="x", family="binomial").refit("glm")
    found = model.diagnostics(folds=2).tidy().loc[7]
    assert found["fitted"] < -1e4
    assert found["residual"] == found["cooks_distance"] == 0


def test_a_copied_outlier_has_the_influence():
    data = SURVEY.copy()
    data.loc[7, ["x", "y"]] = 9.0, -20.0
    found = fitted("y", data, right="x + site").refit("glm").diagnostics(folds=3)
    assert found.tidy()["cooks_distance"].idxmax() == 7
    assert "Rows of most influence, numbered from 0, with Cook's distance: 7 (" in str(found)


@pytest.mark.parametrize("left", ["b", "m"])
def test_figures(left):
    import matplotlib.pyplot as plt

    family = "binomial" if left == "b" else "auto"
    found = fitted(left, family=family).refit("glm").diagnostics(folds=2)
    page = found.plot()
    assert page.shape == (2, 2)
    first = "" if left == "m" else "Residuals"  # of which there is no single linear predictor
    assert [ax.get_title(loc="left") for ax in page[0]] == [first, "Normal quantiles"]
    if left == "m":
        with pytest.raises(OptionError, match="more than two classes no influence"):
            found.plot("influence")
    else:
        assert "Cook's distance" in found.plot("influence").get_ylabel()
    plt.close("all")


def test_what_is_refused():
    model = fitted("y").refit("glm")
    with pytest.raises(OptionError, match="`folds` must be a whole number, at least 2"):
        model.diagnostics(folds=1)
    with pytest.raises(OptionError, match="`seed` must be"):
        model.diagnostics(seed=-1)
    clustered = fitted("y", SURVEY.assign(c=np.arange(len(SURVEY)) % 5), "x", fold_groups="c")
    with pytest.raises(OptionError, match=r"Found: 5\. Give other `folds`\.$"):
        clustered.refit("glm").diagnostics()
    found = model.diagnostics(folds=2)
    with pytest.raises(OptionError, match="`kind` must be one of"):
        found.plot("qq")
    with pytest.raises(OptionError, match="`ax` must be left out without a `kind`"):
        found.plot(ax=object())
    noise = pd.DataFrame(np.random.default_rng(1).normal(size=(80, 3)), columns=["y", "x", "z"])
    empty = treeselect.select("y ~ .", noise, seed=1)
    assert empty.selected == ()
    with pytest.raises(OptionError, match="Diagnostics need a model with terms"):
        empty.refit("glm").diagnostics()


def test_residuals_of_ordered_classes_do_not_depend_on_the_linear_predictor():
    rng = np.random.default_rng(6)
    data = pd.DataFrame({"x": rng.normal(size=3000), "z": rng.normal(size=3000)})
    data["y"] = np.digitize(data["x"] + rng.logistic(size=3000), [1.0, 2.5])
    found = fitted("y", data, "x + z", family="multinomial").refit("ordinal").diagnostics(folds=2)
    table = found.tidy()
    means = table.groupby(pd.qcut(table["fitted"], 6))["quantile"].mean()
    assert np.abs(means).max() < 0.15
    assert found.plot("residuals").get_xlabel() == "linear predictor"


@pytest.mark.parametrize("left", ["y", "Surv(time, event)"])
def test_terms_without_coefficients_have_no_inflation(left):
    data = SURVEY.assign(twin=3 * SURVEY["x"])
    fit = fitted(left, data, "x + twin + g", keep=["x", "twin", "g"])
    found = fit.refit("glm").diagnostics(folds=2)
    (twin,) = found.terms.query("df == 0").to_dict("records")
    assert np.isnan([value for name, value in twin.items() if name not in ("term", "df")]).all()
    text = " ".join(str(found).split())
    assert f"as linear combinations of the other columns: {twin['term']}." in text
    assert "selected" not in text  # all are forced in
    assert "All rows selected" in str(fitted("y", k=1).refit("glm").diagnostics(folds=2))


@pytest.mark.parametrize(
    ("left", "model"),
    [(left, "glm") for left in ("y", "b", "n", "Surv(time, event)", "m")]
    + [("b", "firth"), ("I(exp(y))", "gamma")],
)
def test_interactions_are_those_of_the_formula_with_them(left, model):
    family = {"b": "binomial", "n": "poisson", "m": "multinomial"}.get(left, "auto")
    found = fitted(left, family=family).refit(model).diagnostics(folds=2).interactions
    assert len(found) == 3
    assert (found["p_adjusted"] >= found["p_value"]).all()
    whole = fitted(left, right=f"{RIGHT} + x:g", family=family, k=4).refit(model)
    test = whole.drop1().tidy().set_index("term").loc["x:g"]
    row = found[(found["term"] == "x") & (found["other"] == "g")].iloc[0]
    assert row["df"] == test["df"]
    assert row["statistic"] == pytest.approx(test["statistic"], rel=1e-6)
    assert row["p_value"] == pytest.approx(test["p_value"], rel=1e-5)
    again = whole.diagnostics(folds=2).interactions
    assert {"x", "g"} not in [{a, b} for a, b in zip(again["term"], again["other"], strict=True)]
