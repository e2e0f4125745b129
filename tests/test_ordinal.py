"""Ordered classes: their score, texts and methods, and the proportional-odds model beside R."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import treeselect
from treeselect.designs.families import multinomial
from treeselect.errors import DataError, OptionError, TreeselectWarning
from treeselect.models.linear.likelihood import proportional_odds
from treeselect.models.linear.rule import LinearRule

LEVELS = ["none", "mild", "severe"]


def ordered(seed=0, n=240, cuts=(0.4, 0.7)):
    """A latent response of x0, x1 and noise, cut into classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=[f"x{j}" for j in range(6)])
    latent = 1.5 * frame["x0"] - frame["x1"] + rng.logistic(size=n)
    codes = np.digitize(latent, np.quantile(latent, cuts))
    levels = np.array(LEVELS)
    return frame.assign(y=pd.Categorical(levels[codes], LEVELS, ordered=True))


@given(st.integers(3, 6), st.integers(0, 10_000))
def test_the_skill_score_is_that_of_ranked_probabilities(n_classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.r_[np.arange(n_classes), rng.integers(n_classes, size=9)]).astype(float)
    weight = rng.integers(0, 3, size=len(y)) + 1
    prediction = rng.dirichlet(np.ones(n_classes), size=len(y))
    share = np.bincount(y.astype(int), weight, n_classes) / weight.sum()

    def ranked_score(rows):
        return sum(
            w * (sum(p[: k + 1]) - (label <= k)) ** 2
            for label, p, w in zip(y, rows, weight, strict=True)
            for k in range(n_classes - 1)
        )

    found = multinomial(n_classes, ordered=True).score(y, prediction, weight)
    assert found == pytest.approx(1 - ranked_score(prediction) / ranked_score([share] * len(y)))


@pytest.mark.parametrize("family", [multinomial(4, ordered=True), multinomial(4)])
def test_shares_of_classes_come_back_from_their_indicators(family):
    y = np.array([0.0, 3.0, 1.0, 2.0, 1.0])
    means = family.indicators(y).mean(axis=0, keepdims=True)
    assert family.shares(means)[0] == pytest.approx([0.2, 0.4, 0.2, 0.2])
    assert family.shares(family.indicators(y)) == pytest.approx(np.eye(4)[y.astype(int)])


def selected(frame, **options):
    return treeselect.select(
        "y ~ .", frame, **{"family": "ordinal", "seed": 1, "progress": False} | options
    )


def test_the_default_finds_what_moves_classes_and_distant_mistakes_are_worse():
    frame = ordered(n=120)
    turned = frame.assign(y=pd.Categorical(frame["y"], LEVELS[::-1], ordered=True))
    numbered = frame.assign(y=frame["y"].cat.codes)
    fits = [selected(frame), *(selected(each, k=2) for each in (turned, numbered))]
    assert set(fits[0].selected) == {"x0", "x1"}
    assert len({fit.selected for fit in fits}) == 1
    shares = [np.asarray(fit.predict(frame)) for fit in fits]
    assert shares[0].sum(axis=1) == pytest.approx(1)
    assert (shares[0] >= 0).all()
    assert shares[2] == pytest.approx(shares[0])
    assert shares[1][:, ::-1] == pytest.approx(shares[0], abs=1e-5)
    # A term that tells the middle from the ends tells little of the order.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["order", "middle"])
    y = np.digitize(frame["order"] + rng.normal(size=300), [-0.6, 0.6])
    frame["middle"] = (y == 1) + 0.5 * rng.normal(size=300)
    frame["y"] = y
    first = {f: selected(frame, family=f, k=1).selected for f in ("ordinal", "multinomial")}
    assert first == {"ordinal": ("order",), "multinomial": ("middle",)}


def test_forests_hold_the_shares_of_rows_under_relative_weights():
    frame = ordered().assign(x0=lambda f: f["x0"] > 0, w=lambda f: np.where(f["x0"], 1.7, 0.3))
    fit = selected(frame, k=1, keep="x0", method="mrmr", weights="w", model="forest")
    shares = pd.crosstab(frame["x0"], frame["y"], normalize="index")  # of bags nearly so
    np.testing.assert_allclose(fit.predict(shares.reset_index()), shares, atol=0.02)
    assert 0 < fit.glance()["train_score"][0] < 1


def test_the_linear_model_is_that_of_proportional_odds_of_classes_with_rows(tmp_path):
    frame = ordered()
    fit = selected(frame, k=2, method="importance", n_trees=30, model="glm")
    glm, proportional = fit.refit("glm"), fit.refit("ordinal")
    assert glm.tidy().equals(proportional.tidy())
    assert len(glm.tidy()) == 2  # one coefficient of each column, thresholds apart
    assert np.asarray(fit.predict(frame)) == pytest.approx(np.asarray(glm.predict(frame)))
    fit.save(tmp_path / "model.treeselect")
    loaded = treeselect.load(tmp_path / "model.treeselect")
    assert loaded.family == "ordinal"
    assert np.asarray(loaded.predict(frame)) == pytest.approx(np.asarray(fit.predict(frame)))
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(90, 2)), np.repeat([0, 1, 3], 30)
    weight = np.ones(90)
    few, slopes = proportional_odds(z, np.repeat([0, 1, 2], 30), weight, 3)
    thresholds, same = proportional_odds(z, y, weight, 5)
    assert same == pytest.approx(slopes)
    assert thresholds == pytest.approx([*few, few[1], 100.0])


def test_texts_tell_the_order_and_name_it_where_it_is_not_used():
    fit = selected(ordered(), k=1, method="mrmr")
    text = " ".join(str(fit.summary()).split())
    assert "classes: none (96) < mild (72) < severe (72)" in text
    assert "3 ordered classes, the smallest with 72 rows" in str(fit.search.citation())
    fit = selected(ordered(), k=1, method="mrmr", model="glm", resamples=2)
    assert fit.model.fitted.description == "a proportional odds model of the selected terms"
    (name,), shape = fit.selected, fit.model.shape(fit.selected[0])
    mean = fit.predict(ordered().assign(**{name: shape[name][0]})).mean()
    assert shape.filter(like="mean_").iloc[0].tolist() == pytest.approx(mean.tolist())
    said = fit.model.coefficient_stability().facts()
    assert ("Response", "y; a higher class of none < mild < severe") in said
    assert said[1] in fit.inference().summary().content.facts
    text = str(selected(ordered(), family="auto", k=1, method="mrmr").summary())
    assert '`y` is ordered: `family="ordinal"` scores by the order.' in text


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["low", "high", "middle"] * 20, "text, in alphabetical order: `high`, `low`, `middle`"),
        ([0, 1] * 30, 'more than two classes.*`family="binomial"`'),
    ],
)
def test_classes_without_an_order_are_refused(y, message):
    frame = pd.DataFrame({"x": np.arange(60.0), "y": y})
    with pytest.raises(treeselect.errors.OptionError, match=r'(?s)`family="ordinal"`.*' + message):
        selected(frame, k=1, method="mrmr")


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
    for column, rtol in (("estimate", 1e-5), ("std_error", 1e-4)):
        theirs = expected.loc[list(NAMES), column]
        np.testing.assert_allclose(own.loc[list(NAMES.values()), column], theirs, rtol=rtol)
    cuts = [f"{k}|{k + 1}" for k in range(4)]
    np.testing.assert_allclose(
        model.result.thresholds, expected.loc[cuts, "estimate"], rtol=1e-5, atol=1e-6
    )
    errors = np.sqrt(np.diag(model.result.whole_covariance))[-4:]
    np.testing.assert_allclose(errors, expected.loc[cuts, "std_error"], rtol=1e-4)
    glance = model.glance().iloc[0]
    for mine, theirs in (("log_lik", "logLik"), ("aic", "AIC")):
        assert glance[mine] == pytest.approx(expected.loc[theirs, "estimate"], rel=1e-9)
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
    plain = fitted().refit("ordinal").tidy()["std_error"]
    assert not np.allclose(robust.tidy()["std_error"], plain)


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
    fit = treeselect.select("o ~ x", SURVEY.assign(o=SURVEY["o"].astype(float)), method="mrmr", k=1)
    said = r'`model="ordinal"` needs ordered classes.*\n.*Select with `family="ordinal"`'
    with pytest.raises(OptionError, match=said):
        fit.refit("ordinal")
    assert fit.update(family="ordinal").refit("ordinal").tidy()["term"].tolist()[-1] == "x"
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
