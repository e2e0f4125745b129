"""Negative binomial regression of the selected terms, beside R's MASS."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs import row_sample
from treeselect.errors import OptionError

SURVEY = pd.read_csv("tests/reference/survey_data.csv")
EXPECTED = pd.read_csv("tests/reference/negative_binomial.csv").set_index("what")


def fitted(data=SURVEY, left="w", family="poisson", **options):
    options = {"method": "mrmr", "k": 2, "seed": 1} | options
    return treeselect.select(f"{left} ~ x + g", data, family=family, **options)


@pytest.fixture(scope="module")
def model():
    return fitted().refit("negative-binomial")


def test_it_is_that_of_r(model):
    own = model.tidy().set_index("column")[["estimate", "std_error"]]
    names = {"Intercept": "(Intercept)", "x": "x", "g[T.b]": "gb", "g[T.c]": "gc"}
    expected = EXPECTED.loc[[names[column] for column in own.index], ["value", "std_error"]]
    np.testing.assert_allclose(own, expected, rtol=1e-4)
    assert model.statistics["theta"] == pytest.approx(EXPECTED.loc["theta", "value"], rel=1e-4)
    assert model.glance()["aic"].item() == pytest.approx(EXPECTED.loc["AIC", "value"], rel=1e-7)
    tests = model.drop1().tidy().set_index("term")
    assert tests.loc["g", "p_value"] == pytest.approx(EXPECTED.loc["g", "value"], rel=1e-4)
    assert "-2 log-lik." in str(model.drop1())  # no deviance, which the summary has
    assert tests.loc["(none)", "aic"] == pytest.approx(EXPECTED.loc["AIC", "value"], rel=1e-7)


def test_it_says_its_dispersion_and_copies_and_predictions_are_rates(model, monkeypatch):
    rng = np.random.default_rng(0)
    even = SURVEY.assign(w=rng.binomial(10, 0.5, len(SURVEY)))
    facts = dict(fitted(even).refit("negative-binomial").content.facts)
    assert "theta at its bound: the counts vary no more than Poisson counts" in facts["Model"]
    assert "theta 4.054" in dict(model.content.facts)["Model"]
    note = next(n for n in fitted().refit("glm").content.notes if "vary more" in n)
    assert 'refit("negative-binomial")' in note
    poisson = fitted(SURVEY, "n").refit("glm")
    assert not any("vary more" in note for note in poisson.content.notes)
    once = SURVEY.assign(often=1 + SURVEY.index % 2)
    long = once.loc[once.index.repeat(once["often"])].reset_index(drop=True)
    expected = fitted(long).refit("negative-binomial")
    monkeypatch.setattr(row_sample, "_MOST_COPIES", 1)  # copies remain together
    monkeypatch.setattr(row_sample, "_MOST_OF_ROW", 1)
    found = fitted(once, weights="often").refit("negative-binomial")
    pd.testing.assert_frame_equal(found.tidy(), expected.tidy(), rtol=1e-5)
    pd.testing.assert_frame_equal(found.glance(), expected.glance(), rtol=1e-5)
    link = model.predict(SURVEY, type="link")
    np.testing.assert_allclose(model.predict(SURVEY), np.exp(link))
    assert "negative binomial regression of 120 rows" in str(model.regression_table())
    assert "Rate ratio" in model.summary(exponentiate=True).as_text()
    assert (model.confint()["ci_low"] < model.tidy()["estimate"]).all()


@pytest.mark.parametrize(("left", "family"), [("y", "gaussian"), ("b", "binomial")])
def test_it_needs_counts(left, family):
    with pytest.raises(OptionError, match=f'needs counts.*\n.*`{family}`.*family="poisson"'):
        fitted(SURVEY, left, family).refit("negative-binomial")


def test_counts_that_are_predicted_exactly_have_no_classes():
    data = pd.DataFrame({"x": np.repeat([0, 1], 20), "z": np.tile(np.arange(4), 10)})
    fit = treeselect.select(
        "y ~ x + z", data.assign(y=3 * data["x"]), method="mrmr", k=2, family="poisson"
    )
    with pytest.warns(UserWarning, match="The terms predict the response completely"):
        fit.refit("glm")
