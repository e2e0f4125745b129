"""Gamma and Tweedie regression of the selected terms, beside R."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError

SURVEY = pd.read_csv("tests/reference/survey_data.csv")
SURVEY["spent"] = np.maximum(SURVEY["time"] - 0.5, 0)
NAMES = {"(Intercept)": "Intercept", "x": "x", "gb": "g[T.b]", "gc": "g[T.c]"}


def fitted(left="time", data=SURVEY, **options):
    return treeselect.select(f"{left} ~ x + g", data, method="mrmr", k=2, seed=1, **options)


@pytest.mark.parametrize(("kind", "left"), [("gamma", "time"), ("tweedie", "spent")])
def test_it_is_that_of_r(kind, left):
    expected = pd.read_csv(f"tests/reference/{kind}.csv").set_index("what")
    model = fitted(left).refit(kind)
    own = model.tidy().set_index("column")
    for theirs, ours in NAMES.items():
        row, columns = expected.loc[theirs], ["estimate", "std_error", "p_value"]
        np.testing.assert_allclose(
            own.loc[ours, columns].astype(float), row[["value", "std_error", "p_value"]], rtol=1e-5
        )
    assert "as R's `anova` of two models" in " ".join(str(model.drop1()).split())
    test = model.drop1().tidy().set_index("term").loc["g"]
    assert [test["statistic"], test["p_value"]] == pytest.approx(
        expected.loc["F", ["value", "p_value"]].tolist(), rel=1e-5
    )
    rows = model.diagnostics(folds=2).tidy()
    for name, what in (("cooks_distance", "cook"), ("standardised", "standardised")):
        assert rows[name][0] == pytest.approx(expected.loc[what, "value"], rel=1e-5)


def test_it_predicts_means_and_ratios():
    model = fitted().refit("gamma")
    mean = model.predict(SURVEY.head(5), se=True)
    link = model.predict(SURVEY.head(5), "link", se=True)
    np.testing.assert_allclose(mean["fit"], np.exp(link["fit"]))
    np.testing.assert_allclose(mean["se"], mean["fit"] * link["se"])
    assert "Ratio of means" in str(model.summary(exponentiate=True))
    rng = np.random.default_rng(3)
    data = SURVEY.iloc[np.arange(2000) % len(SURVEY)].reset_index(drop=True)
    data["time"] = rng.gamma(2.0, np.exp(0.5 * data["x"]) / 2)
    found = fitted(data=data).refit("gamma").diagnostics(folds=2).tidy()["quantile"]
    assert abs(found.mean()) < 0.1
    assert found.std() == pytest.approx(1, abs=0.05)


def test_sums_of_gamma_numbers_have_their_power_and_normal_quantiles():
    rng = np.random.default_rng(4)
    data = SURVEY.iloc[np.arange(1500) % len(SURVEY)].reset_index(drop=True)
    mean, scale, power = np.exp(0.5 * data["x"]), 1.2, 1.6
    n = rng.poisson(mean ** (2 - power) / (scale * (2 - power)))
    unit = scale * (power - 1) * mean ** (power - 1)
    data["spent"] = rng.gamma(np.maximum(n, 1e-9) * (2 - power) / (power - 1)) * unit * (n > 0)
    model = fitted("spent", data).refit("tweedie")
    assert model.result.family.var_power == pytest.approx(power, abs=0.05)
    assert "power 1.6" in str(model.summary())
    assert model.coef["x"] == pytest.approx(0.5, abs=0.1)
    found = model.diagnostics(folds=2).tidy()["quantile"]
    assert abs(found.mean()) < 0.1
    assert found.std() == pytest.approx(1, abs=0.06)
    part = model.drop1().tidy().set_index("term")
    assert part.loc["x", "p_value"] < 1e-6
    assert model.regression_table().summary().as_text()


@pytest.mark.parametrize("kind", ["gamma", "tweedie"])
def test_steps_that_would_overflow_are_halved(kind):
    rng = np.random.default_rng(3)  # where statsmodels' own steps, and R's, diverge
    data = pd.DataFrame({"x": rng.normal(size=40)})
    data["y"] = rng.gamma(0.3, np.exp(3 * rng.normal(size=40))) + 1e-6
    fit = treeselect.select("y ~ x", data, method="mrmr", k=1, seed=1)
    model = fit.refit(kind)
    mean = model.predict(data)
    power = model.result.family.var_power if kind == "tweedie" else 2.0
    score = ((data["y"] - mean) * mean ** (1 - power)).to_numpy()
    assert np.abs([score.sum(), score @ data["x"]]).max() < 1e-6 * np.abs(score).sum()


def test_what_is_refused():
    with pytest.raises(OptionError, match=r'`model="gamma"` needs a response above 0'):
        fitted("y").refit("gamma")
    with pytest.raises(OptionError, match=r'`model="tweedie"` needs a response of at least 0'):
        fitted("y").refit("tweedie")
    with pytest.raises(OptionError, match=r'`model="gamma"` needs numbers'):
        fitted("b", family="binomial").refit("gamma")
    with pytest.raises(OptionError, match='`interval="prediction"` needs a numeric response'):
        fitted().refit("gamma").predict(SURVEY.head(2), interval="prediction")


def test_precision_weights_divide_the_dispersion_of_a_row():
    rng = np.random.default_rng(4)
    data = SURVEY.iloc[np.arange(1500) % len(SURVEY)].reset_index(drop=True)
    data["weight"] = np.resize([0.2, 3.8], len(data))
    mean, scale, power = np.exp(0.5 * data["x"]), 0.8 / data["weight"], 1.6
    data["time"] = rng.gamma(1 / scale, mean * scale) + 1e-300
    n = rng.poisson(mean ** (2 - power) / (scale * (2 - power)))
    unit = scale * (power - 1) * mean ** (power - 1)
    data["spent"] = rng.gamma(np.maximum(n, 1e-9) * (2 - power) / (power - 1)) * unit * (n > 0)
    how = {"weights": "weight", "weights_kind": "precision"}
    for left, kind in (("time", "gamma"), ("spent", "tweedie")):
        model = fitted(left, data, **how).refit(kind)
        found = model.diagnostics(folds=2).tidy().groupby(data["weight"])["quantile"].std()
        np.testing.assert_allclose(found, 1, atol=0.08)
    assert model.result.family.var_power == pytest.approx(power, abs=0.05)


def test_sampling_weights_leave_the_spread_of_a_row():
    rng = np.random.default_rng(5)
    data = SURVEY.iloc[np.arange(1500) % len(SURVEY)].reset_index(drop=True)
    data["weight"], data["y"] = np.resize([0.2, 3.8], len(data)), rng.normal(size=len(data))
    data["time"] = rng.gamma(2.0, size=len(data))
    for left, kind in (("y", "glm"), ("time", "gamma")):
        fit = fitted(left, data, weights="weight", weights_kind="sampling").refit(kind)
        found = fit.diagnostics(folds=2).tidy().groupby(data["weight"])["quantile"].std()
        np.testing.assert_allclose(found, 1, atol=0.08)


@pytest.mark.parametrize(("kind", "left"), [("gamma", "time"), ("tweedie", "spent")])
def test_errors_of_sampling_weights_are_those_of_survey(kind, left):
    model = fitted(left, weights="w", weights_kind="sampling").refit(kind)
    x, mass = np.asarray(model.result.model.exog), (SURVEY["w"] / SURVEY["w"].mean()).to_numpy()
    power = model.result.family.var_power if kind == "tweedie" else 2.0
    mean = model.predict(SURVEY).to_numpy()
    scores = x * (mass * (SURVEY[left] - mean) * mean ** (1 - power)).to_numpy()[:, np.newaxis]
    inverse = np.linalg.inv((x.T * (mass * mean ** (2 - power))) @ x)  # of expected information
    moved = scores @ inverse * np.sqrt(len(x) / (len(x) - 1))
    np.testing.assert_allclose(
        model.tidy()["std_error"], np.sqrt((moved**2).sum(axis=0)), rtol=1e-6
    )
