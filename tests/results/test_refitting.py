"""Other models of the selected terms: forest, linear model, estimators of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from quick import WITH_GAPS
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import treeselect
from treeselect.errors import DataError, OptionError, TreeselectWarning

pytestmark = WITH_GAPS

BURNT = {"method": "controlburn", "forests": 1, "n_trees": 10}


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch):
    monkeypatch.setattr("treeselect.models.boosting.MOST_ROUNDS", 100)


@pytest.fixture(scope="module")
def trial() -> pd.DataFrame:
    """200 rows: responses of each family, a factor, and a number with missing values."""
    rng = np.random.default_rng(2)
    n = 200
    x, site = rng.normal(size=n), rng.choice(["Bath", "Leeds", "York"], size=n)
    eta = 0.8 * x + 0.9 * (site == "York")
    frame = pd.DataFrame({"x": x, "site": site, "noise": rng.normal(size=n)})
    frame["copies"] = rng.integers(0, 4, size=n)
    frame["share"] = rng.uniform(0.5, 2, size=n)
    frame["exposure"] = rng.uniform(-0.5, 0.5, size=n)
    frame["size"] = eta + rng.normal(size=n)
    frame["ill"] = rng.random(n) < 1 / (1 + np.exp(-eta))
    frame["count"] = rng.poisson(np.exp(0.5 * eta + frame["exposure"]))
    frame["kind"] = np.array(["a", "b", "c"])[np.digitize(eta + rng.normal(size=n), [0, 1])]
    frame.loc[::9, "x"] = np.nan
    return frame


def select(response, data, *, terms="x + site", k=2, **options):
    options = {"method": "lasso", "seed": 1} | options
    return treeselect.select(f"{response} ~ {terms}", data, k=k, **options)


def by_hand(part):
    """Matrix of the two terms as one writes it oneself."""
    site = part["site"]
    return pd.DataFrame(
        {
            "Intercept": 1.0, "x": part["x"], "site[T.Leeds]": (site == "Leeds").astype(float),
            "site[T.York]": (site == "York").astype(float),
        }
    )  # fmt: skip


def assert_same(fit, expected):
    order = [list(fit.result.model.exog_names).index(n) for n in expected.model.exog_names]
    np.testing.assert_allclose(np.asarray(fit.result.params)[order], expected.params, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(fit.result.bse)[order], expected.bse, rtol=1e-6)
    np.testing.assert_allclose(
        np.asarray(fit.result.pvalues)[order], expected.pvalues, rtol=1e-5, atol=1e-12
    )


def copied_least_squares(part, x):
    rows = np.repeat(np.arange(len(part)), part["copies"])
    return sm.OLS((part["size"] - part["exposure"]).iloc[rows], x.iloc[rows])


LINEAR = {
    "numbers": ("size", {}, lambda part, x: sm.OLS(part["size"], x)),
    "numbers, copies": ("size", {"weights": "copies", "offset": "exposure"}, copied_least_squares),
    "numbers, weights": (
        "size", {"weights": "share", "offset": "exposure"},
        lambda part, x: sm.WLS(part["size"] - part["exposure"], x, part["share"]),
    ),
    "counts, copies": (
        "count", {"family": "poisson", "weights": "copies", "offset": "exposure"},
        lambda part, x: sm.GLM(
            part["count"], x, sm.families.Poisson(), offset=part["exposure"],
            freq_weights=part["copies"],
        ),
    ),
    "classes, weights": (
        "ill", {"weights": "share"},
        lambda part, x: sm.GLM(
            part["ill"].astype(float), x, sm.families.Binomial(),
            var_weights=part["share"] / part["share"].mean(),
        ),
    ),
    "three classes": (
        "kind", {}, lambda part, x: sm.MNLogit(pd.Categorical(part["kind"]).codes, x),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LINEAR)
def test_linear_models_are_those_of_statsmodels_on_the_complete_rows(trial, case):
    response, options, made = LINEAR[case]
    fit = select(response, trial, **options).refit("glm")
    counts = trial["copies"] if options.get("weights") == "copies" else 0 * trial["copies"] + 1
    part, lost = trial[trial["x"].notna() & (counts > 0)], trial["x"].isna()
    more = {"disp": False} if response == "kind" else {}
    expected = made(part, by_hand(part)).fit(**more)
    assert_same(fit, expected)
    assert (fit.n_used, fit.n_dropped) == (counts[~lost].sum(), counts[lost].sum())
    assert fit.left_out == ()
    text = fit.summary().as_text()
    assert ("offset is part of the linear predictor" in text) == (response == "count")
    assert ("positive class: True" in text) == (response == "ill")
    if response == "kind":
        at = fit.tidy().set_index("column").loc["c: x"]
        assert len(fit.tidy()) == 8
        assert at["estimate"] == pytest.approx(expected.params.loc["x", 1])
        assert at["p_value"] == pytest.approx(expected.pvalues.loc["x", 1])
        assert at["term"] == "x"


def test_the_table_has_intervals_and_drops_rows_for_selected_terms_only(trial):
    for response in ("size", "ill"):
        fit = select(response, trial).refit("glm")
        table = fit.tidy()
        expected = fit.result.conf_int().to_numpy()
        np.testing.assert_allclose(table[["ci_low", "ci_high"]].to_numpy(), expected, rtol=1e-6)
        np.testing.assert_allclose(table["statistic"], fit.result.tvalues, rtol=1e-6)
        assert table["term"].tolist()[0] == "Intercept"
        assert set(table["term"]) == {"Intercept", "x", "site"}
    data = trial.assign(other=np.where(np.arange(len(trial)) < 90, np.nan, trial["noise"]))
    result = select("size", data, terms="x + site + other", k=2)
    assert set(result.selected) == {"x", "site"}
    assert result.refit("glm").n_dropped == trial["x"].isna().sum()


def test_columns_that_are_sums_of_others_or_have_no_rows(trial):
    data = trial.assign(twice=2 * trial["x"])
    fit = select("size", data, terms="x + site + twice", k=3, keep=["x", "twice"])
    fit = fit.refit("glm")
    assert len(fit.left_out) == 1
    assert set(fit.left_out) < {"x", "twice"}
    assert "linear combinations of preceding columns: `" in fit.summary().as_text()
    part = trial[trial["x"].notna()]
    expected = sm.OLS(part["size"], by_hand(part)).fit()
    assert fit.result.ssr == pytest.approx(expected.ssr)
    site = pd.Categorical(trial["site"], categories=["Rome", "York", "Leeds", "Bath"])
    data = trial.assign(site=site)
    result = select("size", data, terms="np.exp(x) + site + site:noise", k=3)
    fit = result.refit("glm")
    assert set(fit.tidy()["term"]) == {"Intercept", "np.exp(x)", "site", "site:noise"}
    assert fit.left_out == ()
    assert not any("Rome" in c for c in fit.tidy()["column"])


def test_an_empty_selection_has_an_intercept_and_too_few_rows_no_model(trial):
    result = treeselect.select("size ~ noise", trial, method="lasso", lam=1e9, seed=1)
    assert result.selected == ()
    fit = result.refit("glm")
    assert fit.result.params.iloc[0] == pytest.approx(trial["size"].mean())
    assert "p-values" not in f"{fit.drop1()} {fit.anova()}"  # there are none
    assert (result.refit(LinearRegression()).predict(trial) == trial["size"].mean()).all()
    boosted = result.refit("boosting")
    assert boosted.model.fitted.description == "the null model"
    assert boosted.predict(trial).tolist() == pytest.approx([trial["size"].mean()] * 200)
    data = trial.assign(x=np.where(np.arange(len(trial)) < 4, trial["noise"], np.nan))
    result = select("size", data, keep=["x", "site"])
    with pytest.raises(DataError, match="more complete cases than columns"):
        result.refit("glm")


def test_summary_reads_like_that_of_r_and_warns_of_its_p_values(trial):
    text = select("size", trial).refit("glm").summary().as_text()
    for said in ('.refit("glm")', "OLS, least squares (statsmodels)", "Rows used:     177",
                 "Rows dropped:  23 with a missing value in a selected term", "R-squared:     0.",
                 "Seed:          1", "P(>|t|)", "site[T.York]"):  # fmt: skip
        assert said in text
    assert "No selection affects these p-values" in text
    none = treeselect.select("y ~ x", pd.DataFrame({"x": [1, 2] * 30, "y": [0.1, 0.1, 0.7] * 20}))
    text = none.refit("glm").summary().as_text()
    assert "R-squared:     0.000, adjusted 0.000" in text
    assert "p-values" not in text
    text = select("size", trial, k=1).refit("glm").summary().as_text()
    assert "p-values and intervals are not valid" in text
    assert "`inference()`" in text
    text = select("size", trial, terms="site", k=1).refit("gam").summary().as_text()
    assert "No selected term has a spline" in text


def test_separated_classes_are_a_warning_in_any_library(trial):
    data = trial.assign(ill=trial["noise"] > 0)
    result = select("ill", data, terms="noise + site", k=1)
    with pytest.warns(TreeselectWarning, match="separate the classes"):
        fit = result.refit("glm")
    assert "separate the classes" in fit.summary().as_text()
    third = (data["site"] != "Bath") & (data["x"] > 1)
    three = data.assign(ill=data["ill"].astype(int).mask(third, 2).astype(str))
    with pytest.warns(TreeselectWarning, match="separate the classes"):  # and not: no convergence
        select("ill", three, terms="site", k=1).refit("glm")
    polars = pytest.importorskip("polars")
    fit = select("size", polars.from_pandas(trial)).refit("glm")
    assert isinstance(fit.tidy(), polars.DataFrame)
    assert "dropped" in repr(fit)


def test_forest_is_that_of_other_methods(trial, tmp_path):
    sparse = treeselect.select(
        "size ~ x + site", trial, method="controlburn", k=2, seed=1, forests=1, refit=None
    )
    forest = sparse.refit()
    assert forest.model.fitted.description.startswith("a random forest of 200 trees")
    assert forest.selected
    assert set(forest.selected) == set(sparse.selected)
    loaded = treeselect.load(forest.save(tmp_path / "fit"))
    assert (loaded.predict(trial) == forest.predict(trial)).all()
    assert (forest.predict(trial) != sparse.predict(trial)).any()


def boosted(response, trial, **options):
    fit = treeselect.select(
        f"{response} ~ x + site + noise", trial, method="gbfs", k=2, n_trees=10, prune=False,
        seed=1, keep=["x", "site"], **options,
    )  # fmt: skip
    return fit.refit("boosting")


@pytest.mark.parametrize(
    ("response", "options"),
    [
        ("size", {}),
        ("ill", {"weights": "share"}),
        ("kind", {"weights": "copies"}),
        ("count", {"family": "poisson", "offset": "exposure"}),
    ],
)
def test_boosted_trees_predict_and_survive_a_file(trial, tmp_path, response, options):
    fit = boosted(response, trial, **options)
    assert "gradient boosting model" in fit.model.fitted.description
    found = fit.predict(trial)
    loaded = treeselect.load(fit.save(tmp_path / "fit"))
    assert np.array_equal(loaded.predict(trial), found)
    at_fit = fit.model.fitted.predict(fit.data.design.problem)
    there = fit.data.design.response.rows  # not those of weight 0
    np.testing.assert_array_equal(np.asarray(found)[there], at_fit)
    assert set(loaded.tidy().query("importance > 0")["term"]) <= {"x", "site"}
    assert loaded.model.importance.sum() == pytest.approx(1)
    score = fit.data.design.response.family.score
    assert score(fit.data.design.response.y, at_fit, fit.data.design.weight) > 0.1


def test_boosted_trees_add_up_from_the_constant_model(trial):
    noise = trial.assign(noise=np.random.default_rng(1).normal(size=len(trial)))
    lone = treeselect.select("noise ~ x", noise, method="mrmr", k=1, model="boosting", seed=1)
    assert lone.model.fitted.description == (
        "a gradient boosting model of 1 tree on the selected terms"
    )
    fit = boosted("count", trial, family="poisson", offset="exposure")
    model = fit.model.fitted
    assert model.groups.tolist() == [n in fit.groups for n in fit.data.design.arrays.groups.names]
    rate = trial["count"].sum() / np.exp(trial["exposure"]).sum()
    assert model.constant == pytest.approx([np.log(rate)])
    link = fit.predict(trial, type="link") - trial["exposure"]
    columns = fit.data.design.arrays.columns
    names = fit.data.design.arrays.column_names
    own = tuple(c for n, c in zip(names, columns, strict=True) if n in fit.selected)
    data = model.bin(fit.data.design.arrays, own)
    np.testing.assert_allclose(model.score(data)[:, 0], link)
    # the mean count is fitted, but for shrinkage
    assert fit.predict(trial).sum() == pytest.approx(trial["count"].sum(), rel=0.05)


def test_what_summary_trees_and_shapes_tell_of_boosted_trees(trial, tmp_path):
    fit = boosted("size", trial)
    said = "Scores belong to the previous"
    assert said in " ".join(str(fit.summary()).split())
    assert str(fit.refit("boosting").summary()).count("was refitted") == 1
    assert said not in " ".join(str(fit.refit("forest").summary()).split())
    trees = fit.model.trees()
    assert len(trees) == fit.model.fitted.trees.n_trees
    assert (trees["weight"] == 1).all()
    shape = fit.model.shape("x").dropna()
    assert np.corrcoef(shape["x"], shape["effect"])[0, 1] > 0.8
    text = fit.report(tmp_path / "report.html").read_text()
    assert "gradient boosting model" in text
    sparse = select("size", trial, **BURNT).refit("boosting")
    assert len(sparse.model.trees()) == len(sparse.model.sparse.trees)
    assert f"predictions come from {sparse.model.fitted.description}." in " ".join(
        sparse.report(tmp_path / "report.html").read_text().split()
    )


def test_an_estimator_is_the_model_that_select_would_have_fitted(trial):
    for response, model in (
        ("size", LinearRegression()), ("kind", LogisticRegression()), ("ill", LogisticRegression()),
        ("size", HistGradientBoostingRegressor(max_iter=3, random_state=0)),
    ):  # fmt: skip
        fit = select(response, trial, weights="copies").refit(model)
        other = select(response, trial, weights="copies", model=model)
        assert fit.predict(trial).equals(other.predict(trial))
        assert fit.model.fitted.estimator is not model
        assert fit.performance(2).tidy().equals(other.performance(2).tidy())
        assert f".refit({model!r})" in fit.summary().as_text()
        assert "Scores belong to the previous model" in " ".join(fit.search.notes)


@pytest.mark.parametrize(
    ("model", "response", "options", "said"),
    [
        ("glmm", "size", {}, "Did you mean `glm`"),
        (
            "lasso", "size", {},
            "`boosting`, `glm`, `gam`, `negative-binomial`, `firth`, `ordinal`, `gamma`",
        ),
        (LinearRegression(), "ill", {}, "must be a classifier"),
        (LinearRegression(), "copies", {"monotone": {"x": 1}}, "`monotone` can't be observed"),
    ],
)  # fmt: skip
def test_models_that_can_not_be(trial, model, response, options, said):
    result = select(response, trial, **options)
    with pytest.raises(OptionError, match=said):
        result.refit(model)


def test_what_is_said_of_the_sparse_forest_goes_with_it(mixed):
    fit = treeselect.select(
        "dose ~ signal + site", mixed, method="controlburn", k=2, seed=1, forests=1, refit=None
    )
    assert any("shrunk towards the mean" in note for note in fit.search.notes)
    for model in ("forest", "boosting"):
        notes = fit.refit(model).search.notes
        assert not any("shrunk towards the mean" in note for note in notes)
        assert any(note.startswith("The final model was refitted:") for note in notes)


def test_terms_that_a_linear_model_cannot_have_are_refused_by_name():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 3)), columns=["y", "Intercept", "z"])
    options = {"method": "importance", "k": 2, "seed": 1, "n_trees": 3}
    fit = treeselect.select("y ~ Intercept + z", data, **options)
    with pytest.raises(DataError, match="No column may be called `Intercept`"):
        fit.refit("glm")
    many = treeselect.select("y ~ hashed(Intercept, 1000):hashed(z, 1000) + z", data, **options)
    with pytest.raises(DataError, match="has too many columns for a linear model"):
        many.refit("glm")
    parts = ":".join(f"hashed(z * {i}, 10000)" for i in range(1, 6))
    with pytest.raises(DataError, match=r"at most 2\*\*62 combinations"):
        treeselect.select(f"y ~ {parts}", data, **options)


@pytest.mark.parametrize(
    ("response", "how", "model"),
    [
        ("ill", {}, "glm"),
        ("ill", {}, "firth"),
        ("count", {"family": "poisson"}, "glm"),
        ("count", {"family": "poisson"}, "negative-binomial"),
        ("large", {}, "gamma"),
    ],
)
def test_a_constant_in_the_offset_is_one_of_the_intercept(trial, response, how, model):
    data = trial.assign(large=np.exp(trial["size"]))
    near = select(response, data, offset="exposure", **how).refit(model)
    far = select(response, data.eval("exposure = exposure + 50"), offset="exposure", **how)
    pd.testing.assert_frame_equal(far.refit(model).glance(), near.glance(), rtol=1e-6)


@pytest.mark.parametrize("unit", ["x / 1e7", "x + 2e5"])
def test_classes_are_as_probable_in_any_unit_of_a_number(trial, unit):
    data = [trial, trial.assign(x=trial.eval(unit))]
    found = [select("kind", part).refit("glm").predict(part) for part in data]
    pd.testing.assert_frame_equal(*found, rtol=1e-7)


def test_values_far_from_all_others_do_not_stop_a_model_of_classes_short():
    rng = np.random.default_rng(20)
    x = rng.standard_cauchy((60, 2)) ** 3
    data = pd.DataFrame(
        {"a": x[:, 0], "b": x[:, 1], "y": rng.choice(list("abc"), 60, p=[0.6, 0.3, 0.1])}
    )
    apart = data.assign(y=np.digitize(data["a"], [-1, 1]).astype(str))
    with pytest.warns(TreeselectWarning, match="Fitted probabilities of 0 or 1"):
        far, infinite = (
            select("y", part, terms="a + b").refit("glm").result for part in (data, apart)
        )
    assert far.llf == pytest.approx(-50.63699, abs=1e-5)  # as by BFGS
    assert not infinite.mle_retvals["converged"]


@pytest.mark.parametrize("kind", [None, "sampling"])
@pytest.mark.parametrize("model", ["glm", "negative-binomial"])
def test_a_level_whose_counts_are_all_0_has_no_estimate(trial, model, kind):
    data = trial.assign(count=trial["count"].mask(trial["site"] == "York", 0))
    how = {"weights": "share", "weights_kind": kind} if kind else {}
    fit = select("count", data, terms="site", k=1, family="poisson", **how)
    with pytest.warns(TreeselectWarning, match="diverge"):
        found = fit.refit(model)
    assert any("diverge" in note for note in found.summary().content.notes)
    assert found.tidy().set_index("column")["p_value"]["site[T.York]"] > 0.9


@pytest.mark.parametrize("response", ["ill", "kind", "Surv(time, ill)"])
def test_estimates_that_diverge_have_no_small_p_values_with_sampling_weights(trial, response):
    data = trial.assign(time=np.exp(-trial["size"]), kind=trial["kind"].astype("category"))
    data["kind"] = data["kind"].cat.as_ordered()
    data.loc[data["site"] == "York", ["ill", "kind"]] = [False, "a"]
    how = {"weights": "share", "weights_kind": "sampling", "method": "mrmr"}
    fit = treeselect.select(f"{response} ~ site", data, k=1, seed=1, **how)
    for model in ("glm", "ordinal") if response == "kind" else ("glm",):
        with pytest.warns(TreeselectWarning, match="their standard errors are not robust"):
            table = fit.refit(model).tidy()
        assert (table.loc[table["column"].str.endswith("York]"), "p_value"] > 0.9).all()
