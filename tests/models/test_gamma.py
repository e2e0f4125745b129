"""Gamma regression of the selected terms, beside R."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError

SURVEY = pd.read_csv("tests/reference/survey_data.csv")
NAMES = {"(Intercept)": "Intercept", "x": "x", "gb": "g[T.b]", "gc": "g[T.c]"}


def fitted(left="time", data=SURVEY, **options):
    return treeselect.select(f"{left} ~ x + g", data, method="mrmr", k=2, seed=1, **options)


def test_it_is_that_of_r_and_predicts_means_and_ratios():
    expected = pd.read_csv("tests/reference/gamma.csv").set_index("what")
    model = fitted().refit("gamma")
    own = model.tidy().set_index("column")
    for theirs, ours in NAMES.items():
        row, columns = expected.loc[theirs], ["estimate", "std_error", "p_value"]
        np.testing.assert_allclose(
            own.loc[ours, columns].astype(float), row[["value", "std_error", "p_value"]], rtol=1e-5
        )
    test = model.drop1().tidy().set_index("term").loc["g"]
    assert [test["statistic"], test["p_value"]] == pytest.approx(
        expected.loc["F", ["value", "p_value"]].tolist(), rel=1e-5
    )
    rows = model.diagnostics(folds=2).tidy()
    for name, what in (("cooks_distance", "cook"), ("standardised", "standardised")):
        assert rows[name][0] == pytest.approx(expected.loc[what, "value"], rel=1e-5)
    mean = model.predict(SURVEY.head(5), se=True)
    link = model.predict(SURVEY.head(5), "link", se=True)
    np.testing.assert_allclose(mean["fit"], np.exp(link["fit"]))
    np.testing.assert_allclose(mean["se"], mean["fit"] * link["se"])
    assert "Mean ratio" in str(model.summary(exponentiate=True))
    pearson = model.result.pearson_chi2 / model.result.df_resid
    assert dict(model.summary().content.facts)["Dispersion"] == f"{pearson:.3g} (Pearson)"
    assert "Mean ratios: " in model.regression_table().summary().as_text()
    rng = np.random.default_rng(3)
    data = SURVEY.iloc[np.arange(2000) % len(SURVEY)].reset_index(drop=True)
    data["time"] = rng.gamma(2.0, np.exp(0.5 * data["x"]) / 2)
    found = fitted(data=data).refit("gamma").diagnostics(folds=2).tidy()["quantile"]
    assert abs(found.mean()) < 0.1
    assert found.std() == pytest.approx(1, abs=0.05)


def test_steps_that_would_overflow_are_halved():
    rng = np.random.default_rng(3)  # where statsmodels' own steps, and R's, diverge
    data = pd.DataFrame({"x": rng.normal(size=40)})
    data["y"] = rng.gamma(0.3, np.exp(3 * rng.normal(size=40))) + 1e-6
    fit = treeselect.select("y ~ x", data, method="mrmr", k=1, seed=1)
    mean = fit.refit("gamma").predict(data)
    score = (data["y"] / mean - 1).to_numpy()
    assert np.abs([score.sum(), score @ data["x"]]).max() < 1e-6 * np.abs(score).sum()


def test_what_is_refused():
    with pytest.raises(OptionError, match=r'`model="gamma"` needs a response above 0'):
        fitted("y").refit("gamma")
    with pytest.raises(OptionError, match=r'`model="gamma"` needs numbers'):
        fitted("b", family="binomial").refit("gamma")
    with pytest.raises(OptionError, match='`interval="prediction"` needs a numeric response'):
        fitted().refit("gamma").predict(SURVEY.head(2), interval="prediction")


def test_precision_weights_divide_the_dispersion_and_sampling_weights_leave_it():
    rng = np.random.default_rng(4)
    data = SURVEY.iloc[np.arange(1500) % len(SURVEY)].reset_index(drop=True)
    data["weight"] = np.resize([0.2, 3.8], len(data))
    mean, scale = np.exp(0.5 * data["x"]), 0.8 / data["weight"]
    data["time"] = rng.gamma(1 / scale, mean * scale) + 1e-300
    model = fitted(data=data, weights="weight", weights_kind="precision").refit("gamma")
    found = model.diagnostics(folds=2).tidy().groupby(data["weight"])["quantile"].std()
    np.testing.assert_allclose(found, 1, atol=0.08)
    rng = np.random.default_rng(5)
    data = SURVEY.iloc[np.arange(1500) % len(SURVEY)].reset_index(drop=True)
    data["weight"], data["y"] = np.resize([0.2, 3.8], len(data)), rng.normal(size=len(data))
    data["time"] = rng.gamma(2.0, size=len(data))
    for left, kind in (("y", "glm"), ("time", "gamma")):
        fit = fitted(left, data, weights="weight", weights_kind="sampling").refit(kind)
        found = fit.diagnostics(folds=2).tidy().groupby(data["weight"])["quantile"].std()
        np.testing.assert_allclose(found, 1, atol=0.08)
    model = fitted(weights="w", weights_kind="sampling").refit("gamma")
    x, mass = np.asarray(model.result.model.exog), (SURVEY["w"] / SURVEY["w"].mean()).to_numpy()
    mean = model.predict(SURVEY).to_numpy()
    scores = x * (mass * (SURVEY["time"] - mean) / mean).to_numpy()[:, np.newaxis]
    inverse = np.linalg.inv((x.T * mass) @ x)  # of expected information
    moved = scores @ inverse * np.sqrt(len(x) / (len(x) - 1))
    np.testing.assert_allclose(
        model.tidy()["std_error"], np.sqrt((moved**2).sum(axis=0)), rtol=1e-6
    )
