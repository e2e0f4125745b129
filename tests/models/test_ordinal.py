"""Proportional odds models, beside R's MASS."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import treeselect
from treeselect.errors import DataError, OptionError, TreeselectWarning
from treeselect.models.linear.rule import LinearRule

SURVEY = pd.read_csv("tests/reference/survey_data.csv")
SURVEY["o"] = np.minimum(SURVEY["w"] // 9, 4)
SURVEY["often"] = 1 + (np.arange(len(SURVEY)) + 1) % 3
EXPECTED = pd.read_csv("tests/reference/ordinal.csv").set_index(["kind", "column"])
NAMES = {"x": "x", "gb": "g[T.b]", "gc": "g[T.c]"}


def fitted(data=SURVEY, right="x + g", **options):
    options = {"method": "mrmr", "k": 2, "seed": 1, "family": "multinomial"} | options
    return treeselect.select(f"o ~ {right}", data, **options)


@pytest.mark.parametrize(("kind", "weights"), [("plain", None), ("weighted", "often")])
def test_it_is_that_of_r(kind, weights):
    model, expected = fitted(weights=weights).refit("ordinal"), EXPECTED.loc[kind]
    own = model.tidy().set_index("column")
    for theirs, name in NAMES.items():
        assert own.loc[name, "estimate"] == pytest.approx(
            expected.loc[theirs, "estimate"], rel=1e-5
        )
        assert own.loc[name, "std_error"] == pytest.approx(
            expected.loc[theirs, "std_error"], rel=1e-4
        )
    cuts = [f"{k}|{k + 1}" for k in range(4)]
    np.testing.assert_allclose(
        model.result.thresholds, expected.loc[cuts, "estimate"], rtol=1e-5, atol=1e-6
    )
    errors = np.sqrt(np.diag(model.result.whole_covariance))[-4:]
    np.testing.assert_allclose(errors, expected.loc[cuts, "std_error"], rtol=1e-4)
    glance = model.glance().iloc[0]
    assert glance["log_lik"] == pytest.approx(expected.loc["logLik", "estimate"], rel=1e-9)
    assert glance["aic"] == pytest.approx(expected.loc["AIC", "estimate"], rel=1e-9)
    share = model.predict(SURVEY.head(4))
    for k in range(5):
        theirs = [expected.loc[f"p{i}_{k}", "estimate"] for i in range(4)]
        np.testing.assert_allclose(share[str(k)], theirs, rtol=1e-4)
    if kind == "plain":
        ends = model.confint().set_index("column")[["ci_low", "ci_high"]]
        theirs = expected.loc[list(NAMES), ["ci_low", "ci_high"]]
        np.testing.assert_allclose(ends.loc[list(NAMES.values())], theirs, rtol=5e-4)


def test_clusters_are_robust():
    alone = SURVEY.assign(id=np.arange(len(SURVEY)))
    robust = fitted(alone, fold_groups="id").refit("ordinal")
    twice = fitted(pd.concat([alone, alone], ignore_index=True), fold_groups="id").refit("ordinal")
    np.testing.assert_allclose(robust.tidy()["std_error"], twice.tidy()["std_error"], rtol=1e-6)
    assert not np.allclose(
        robust.tidy()["std_error"], fitted().refit("ordinal").tidy()["std_error"]
    )


def test_errors_of_probabilities_are_by_the_delta_method():
    rng = np.random.default_rng(2)
    at = np.array([0.4, -0.3, -1.0, 0.2, 1.5])  # two coefficients, three thresholds
    half = rng.normal(size=(5, 5))
    x, covariance = rng.normal(size=(6, 2)), half @ half.T / 50
    rule = LinearRule("ordinal", at, covariance, None, np.zeros(2), 0.0)
    found = rule.predict(x, 0.0, on_link=True, level=0.95)

    def log_shares(own):
        below = expit(own[2:] - (x @ own[:2])[:, None])
        ends = np.column_stack([np.zeros(6), below, np.ones(6)])
        return np.log(np.diff(ends, axis=1))

    np.testing.assert_allclose(found.fit, log_shares(at), rtol=1e-10)
    step = 1e-6 * np.eye(5)
    slopes = np.array([(log_shares(at + own) - log_shares(at - own)) / 2e-6 for own in step])
    error = np.sqrt(np.einsum("aik,ab,bik->ik", slopes, covariance, slopes))
    np.testing.assert_allclose(found.se, error, rtol=1e-5)


def test_it_says_the_order_what_ratios_are_of_and_constant_columns():
    model = fitted().refit("ordinal")
    facts = dict(model.summary().content.facts)
    assert facts["Response"] == "o"
    assert facts["Classes"] == "0 < 1 < 2 < 3 < 4"
    assert facts["Thresholds"].startswith("0|1 -2.666, 1|2 -1.593")
    assert "Odds ratios are of a higher class" in str(model.summary())
    assert model.drop1().tidy()["resid_df"].iloc[0] == len(SURVEY) - 3 - 4
    assert model.regression_table().summary().content.title == "Odds ratios: o"
    assert model.diagnostics(folds=2).tidy()["quantile"].std() == pytest.approx(1, abs=0.15)
    assert model.plot("x").get_ylabel() == "effect on the linear predictor"
    data = SURVEY.assign(z=np.where(SURVEY.index < 60, 3.0, 3.0 + 1e-14))
    model = fitted(data.assign(twin=1 - data["x"]), "x + twin + z", k=3).refit("ordinal")
    assert np.isfinite(model.tidy()["std_error"]).all()
    assert len(model.left_out) == 2
    fit = treeselect.select("y ~ x", SURVEY, method="mrmr", k=1)
    with pytest.raises(OptionError, match=r'`model="ordinal"` needs ordered classes'):
        fit.refit("ordinal")
    two = fit.update("b ~ x", data=SURVEY.assign(b=SURVEY["x"] > 0))
    with pytest.raises(OptionError, match=r'`binomial`. Use `refit\("glm"\)`'):
        two.refit("ordinal")
    weighted = fitted(weights="w", weights_kind="sampling").refit("ordinal")
    assert "compare AIC" in str(fitted().refit("ordinal").summary())
    assert "AIC" not in str(weighted.summary())


def test_an_order_of_the_alphabet_is_refused():
    names = SURVEY["o"].map(dict(enumerate(["none", "few", "some", "most", "all"])))
    with pytest.raises(OptionError, match="Found: text, in alphabetical order: `all`, `few`, `mos"):
        fitted(SURVEY.assign(o=names)).refit("ordinal")
    with pytest.raises(OptionError, match="Make `o` an ordered categorical"):
        fitted(SURVEY.assign(o=names.astype("category"))).refit("ordinal")
    numbers = fitted().refit("ordinal").tidy()["estimate"]
    for ordered in (True, False):
        kind = pd.CategoricalDtype(["none", "few", "some", "most", "all"], ordered=ordered)
        own = fitted(SURVEY.assign(o=names.astype(kind))).refit("ordinal")
        np.testing.assert_allclose(own.tidy()["estimate"], numbers)
    letters = SURVEY["o"].map(dict(enumerate("abcde")))
    kind = pd.CategoricalDtype(list("abcde"), ordered=True)
    own = fitted(SURVEY.assign(o=letters.astype(kind))).refit("ordinal")
    np.testing.assert_allclose(own.tidy()["estimate"], numbers)


def test_estimates_that_diverge_are_told():
    data = SURVEY.assign(g=np.where((SURVEY["o"] == 0) & (SURVEY.index % 2 == 0), "u", SURVEY["g"]))
    with pytest.warns(TreeselectWarning, match=r"estimates diverge, of `g\[T.u\]`.$"):
        model = fitted(data).refit("ordinal")
    assert np.isfinite(model.confint()["ci_low"]).all()
    with pytest.raises(DataError, match="can't be profiled"):
        model.confint(method="profile")
    row = model.regression_table(["selected"]).tidy().set_index("column").loc["g[T.u]"]
    assert row["ci_high"] > 1e6
    with pytest.warns(TreeselectWarning) as said:
        fitted(data.assign(id=np.arange(len(data)) // 2), fold_groups="id").refit("ordinal")
    assert str(said[0].message).count("diverge") == 1
    fit = fitted(data.assign(w=data["often"] * 1.5), weights="w", weights_kind="sampling")
    with pytest.warns(TreeselectWarning, match="not robust"):
        model = fit.refit("ordinal")
    rule, n = model.predictor.rule, len(model.coef)
    np.testing.assert_array_equal(rule.covariance[:n, :n], model.fitted.fit.covariance)
    assert not rule.covariance[list(model.coef.index).index("g[T.u]"), n:].any()
    exact = pd.DataFrame({"x": np.repeat([0, 1], 20), "z": np.tile(np.arange(4), 10)})
    with pytest.warns(TreeselectWarning, match="estimates diverge, of `x`, `z`"):
        fitted(exact.assign(o=exact["x"] + (exact["z"] > 2)), "x + z").refit("ordinal")
    near = SURVEY.assign(twin=SURVEY["x"] + 1e-5 * SURVEY["x"] ** 2)  # large errors, but a maximum
    assert not fitted(near, "x + twin").refit("ordinal").fitted.fit.problems
