"""The final model that is asked for: linear models and their splines, in fits, folds and files."""

import numpy as np
import pandas as pd
import pytest
from quick import with_responses
from scipy.interpolate import CubicSpline
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    RidgeClassifier,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeselect
from treeselect.algorithms.method import refit_by
from treeselect.errors import DataError, ModelFileError, OptionError, TreeselectWarning
from treeselect.models.linear.model import LinearModel, refit_linear, spline_basis

FEW = {"method": "mrmr", "seed": 1, "n_jobs": 1, "progress": False, "resamples": 0}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 300
    data = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    data["site"] = np.array(list("uvw"))[rng.integers(3, size=n)]
    data["sex"] = np.array(["f", "m"])[rng.integers(2, size=n)]
    eta = np.sin(2 * data["a"]) + data["c"] * (data["sex"] == "m") + 0.5 * (data["site"] == "u")
    data.loc[:30, "b"] = np.nan
    data.loc[20:50, "site"] = None
    return with_responses(data, eta, rng).assign(
        stratum=np.array(["s", "t"])[rng.integers(2, size=n)],
        exposure=rng.uniform(0, 1, n),
        times=rng.integers(0, 4, n),
    )


def select(frame, response, terms, model, **options):
    known = {**FEW, "keep": terms, "k": len(terms), "model": model, **options}
    return treeselect.select(f"{response} ~ {' + '.join(terms)}", frame, **known)


TERMS = ["a", "b", "site", "sex"]


@pytest.mark.parametrize(
    ("response", "terms", "options"),
    [
        ("y", TERMS, {}),
        ("y", ["a", "b", "c:sex", "site:sex"], {"weights": "exposure"}),
        ("y", ["a", "poly(c, 2)", "a:c"], {"offset": "exposure"}),
        ("yes", ["sex", "c", "c:sex"], {"weights": "times"}),
        ("yes", TERMS, {"weights": "exposure", "weights_kind": "sampling"}),
        ("yes", TERMS, {"offset": "exposure"}),
        ("count", TERMS, {"family": "poisson", "offset": "exposure", "weights": "times"}),
        ("three", ["a", "site"], {"weights": "times"}),
        ("Surv(time, event)", TERMS, {}),
        ("Surv(time, event)", ["a", "c:sex"], {"weights": "exposure"}),
    ],
)
def test_a_linear_final_model_predicts_what_the_published_one_does(frame, response, terms, options):
    if "site:sex" in terms:  # a term is missing or not, but the published model codes its factors
        frame = frame.dropna()
    fit = select(frame, response, terms, "glm", **options)
    assert isinstance(fit._fit.model, LinearModel)
    published = fit.refit("glm", missing="indicator")
    np.testing.assert_allclose(fit.predict(frame), published.predict(frame), rtol=1e-5, atol=1e-7)
    if response.startswith("Surv"):
        asked = {"type": "survival", "times": [0.3, 1.0]}
        own, other = (model.predict(frame.head(9), **asked) for model in (fit, published))
        np.testing.assert_allclose(own, other, rtol=1e-5)


@pytest.mark.parametrize("model", ["glm", "boosting"])
def test_the_linear_predictor_goes_on_where_probabilities_end(frame, model):
    data = frame.assign(known=np.linspace(-60, 60, len(frame)))
    fit = select(data, "yes", ["c"], model, offset="known")
    eta = np.array(fit.predict(data, type="link"))
    alone = np.array(fit.predict(data.assign(known=0.0), type="link"))
    np.testing.assert_allclose(eta - data["known"], alone, atol=1e-9)


def test_splines_are_natural_cubic_ones():
    knots = np.array([-1.3, 0.1, 0.4, 2.0])
    inside, beyond = np.linspace(-1.3, 2, 101), np.array([-9, -6, -3, 3, 6, 9.0])
    basis = spline_basis(inside, knots)
    assert basis.shape == (101, 3)
    for column, at_knots in zip(basis.T, spline_basis(knots, knots).T, strict=True):
        natural = CubicSpline(knots, at_knots, bc_type="natural")
        np.testing.assert_allclose(column, natural(inside), atol=1e-12)
    bent = spline_basis(beyond, knots)
    np.testing.assert_allclose(np.diff(bent[:3], 2, axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.diff(bent[3:], 2, axis=0), 0, atol=1e-9)
    step, far = np.diff(spline_basis(np.array([2.0, 3.0]), knots), axis=0), np.array([1e10, 1e200])
    np.testing.assert_allclose(spline_basis(far, knots), far[:, np.newaxis] * step, rtol=1e-9)
    large = spline_basis(1e150 * inside, 1e150 * knots)
    np.testing.assert_allclose(large, 1e150 * basis, rtol=1e-12)
    assert spline_basis(beyond, np.empty(0)).tolist() == beyond[:, np.newaxis].tolist()


def test_splines_bend_numbers_and_leave_factors_and_few_values_alone(frame):
    fit = select(frame, "y", ["a", "b", "times", "sex"], "gam")
    assert {len(part.knots) for part in fit._fit.model.parts} == {0, 4}
    straight = select(frame, "y", ["a", "b", "times", "sex"], "glm")
    errors = [((frame["y"] - one.predict(frame)) ** 2).mean() for one in (fit, straight)]
    assert errors[0] < 0.75 * errors[1]  # a sine of the first term
    flat = select(frame, "y", ["times", "sex"], "gam"), select(frame, "y", ["times", "sex"], "glm")
    np.testing.assert_allclose(*(one.predict(frame) for one in flat), rtol=1e-9)
    heavy = frame.assign(a=np.where(frame["a"] < 0.5, 0.0, frame["a"]))  # three knots, or none
    assert len(select(heavy, "y", ["a"], "gam")._fit.model.parts[0].knots) == 0
    third = frame.assign(a=np.where(frame["a"] < -0.4, -1.0, frame["a"]))
    assert len(select(third, "y", ["a"], "gam")._fit.model.parts[0].knots) == 3


def test_held_out_rows_and_later_calls_have_the_model_of_the_training_rows(frame):
    import statsmodels.formula.api as smf

    fit = select(frame, "yes", ["a", "c", "sex"], None)
    fold = np.arange(len(frame)) % 3
    found = fit.performance(fold, model="glm")
    assert found.model == "a generalised linear model of the selected terms"
    assert np.isnan(found.path_score)
    own = found.predictions().sort_values("row")["predicted"].to_numpy()
    for number in range(3):
        here = fold == number
        known = smf.logit("yes ~ a + c + sex", frame[~here]).fit(disp=False)
        np.testing.assert_allclose(own[here], known.predict(frame[here]), rtol=1e-5)
    assert 'model="glm"' in found.call
    assert "Final model:  a generalised linear model" in str(found.summary())
    fit = treeselect.select("y ~ a + c", frame.head(120), **{**FEW, "resamples": 4}).refit("stack")
    assert fit.performance(3).mean == fit.performance(3, model="stack").mean
    previous = "Scores belong to the previous model."
    assert previous in fit.summary().as_markdown()
    assert ", on held-out halves, of the previous model\n" in repr(fit)
    again = fit.resample(4)
    assert previous not in again.summary().as_markdown()
    assert again.path["cv_score"].tolist() != fit.path["cv_score"].tolist()
    assert previous not in again.refit("stack").summary().as_markdown()  # scored already
    back = again.refit("forest")
    assert previous in back.summary().as_markdown()
    assert back.search.call.endswith('.refit("stack").resample(4, seed=1).refit("forest")')
    assert np.isnan(fit.performance(2).path_score)  # that of the path is of the forest
    told = treeselect.select("y ~ a + c", frame.head(120), **{**FEW, "resamples": 4}).performance(2)
    assert told.path_words == "on held-out halves; tests on all rows chose k"
    assert told.path_words in " ".join(str(told.summary()).split())


@pytest.mark.parametrize("model", ["forest", "boosting", "gam"])
def test_a_final_model_goes_with_the_fit_everywhere(frame, tmp_path, model, monkeypatch):
    monkeypatch.setattr("treeselect.models.boosting.MOST_ROUNDS", 15)
    frame = frame.head(120)
    fit = select(frame, "y", ["a", "b", "c"], model, keep=["a", "c"], k=2)
    again = select(frame, "y", ["a", "b", "c"], None, keep=["a", "c"], k=2)
    scores = [one.performance(3).mean for one in (fit, again)]
    assert scores[0] == again.performance(3, model=model).mean
    assert (scores[0] == scores[1]) is (model == "forest")
    assert len(fit.selected) == 2
    assert set(fit.selected) == set(again.selected)
    assert fit._fit.model.description in str(fit.summary()).replace("\n              ", " ")
    assert (fit.tidy()["importance"].dropna() >= 0).all()
    fit.save(tmp_path / "fit.treeselect", include_data=True)
    loaded = treeselect.load(tmp_path / "fit.treeselect")
    np.testing.assert_array_equal(loaded.predict(frame), fit.predict(frame))
    assert loaded.performance(3).mean == scores[0]
    effects = fit.resample(20, effects=True).model.effects()
    assert np.isfinite(effects[["effect", "low", "high"]].to_numpy(dtype=float)).all()
    assert fit.report(tmp_path / "fit.html").exists()


def test_effects_of_a_linear_model_are_its_coefficients_without_divergence(frame):
    x = np.where(np.arange(8000) % 20 == 0, np.arange(8000.0) ** 2, 0.0)  # the last bins are wide
    wide = pd.DataFrame({"x": x, "y": x * 1e-6})
    for model in ("glm", "gam", LinearRegression()):
        fit = select(wide, "y", ["x"], model)
        (row,) = fit.model.effects().to_dict("records")
        assert (row["direction"], row["step"]) == ("up", "range")
        assert row["effect"] == pytest.approx(x.max() * 1e-6)
        shape = fit.model.shape("x")
        np.testing.assert_allclose(shape["mean"], shape["x"] * 1e-6, rtol=1e-6, atol=1e-6)
    shape = select(frame, "three", ["a", "times"], "glm").model.shape("a")
    effects = shape[["effect_x", "effect_y", "effect_z"]].to_numpy()
    assert (np.ptp(effects, axis=0) > 0.01).all()
    np.testing.assert_allclose(effects.sum(axis=1), 0, atol=1e-9)
    fit = select(frame, "y", ["a", "sex"], "glm", new_levels="other")
    mean = fit.predict(frame.assign(a=frame["a"].mean())).mean()
    odd = pd.DataFrame({"a": [np.nan, frame["a"].mean()], "sex": ["f", "other"]})
    known = fit.predict(odd.assign(a=frame["a"].mean(), sex="f"))
    assert fit.predict(odd).tolist() == pytest.approx([known[0], mean])
    rare = frame.assign(site=np.where(np.arange(300) < 2, "odd", "usual"))
    rare.loc[:1, "yes"] = 1
    fit = select(rare, "yes", ["a", "site"], "glm")
    importance = fit.tidy().set_index("term")["importance"]
    assert importance["site"] < 0.05 < importance["a"]
    plain = select(frame, "y", ["a", "sex"], "glm")
    share = plain.tidy().set_index("term")["importance"]
    coef = plain.refit("glm").coef
    spread = np.array([np.std(frame["a"]), np.std(frame["sex"] == "m")])
    spread *= np.abs(coef.iloc[1:3].to_numpy())
    assert share["a"] == pytest.approx(spread[0] / spread.sum())


def test_classes_and_columns_that_a_fold_lacks_do_no_harm(frame):
    data = select(frame.assign(one=np.arange(300) == 0), "three", ["a", "one"], "glm")._fit.design
    for absent in range(3):
        rows = np.flatnonzero(data.response.y != absent)[1:]
        weights = data.row_weights.only(rows)
        model = refit_linear(data.problem, weights, np.array([True, True]))
        predicted = model.predict(data.problem)
        np.testing.assert_allclose(predicted.sum(axis=1), 1)
        assert predicted[:, absent].max() < 1e-6


@pytest.mark.parametrize(
    ("response", "estimator", "options"),
    [
        ("y", LinearRegression(), {"weights": "exposure"}),
        ("y", make_pipeline("passthrough", LinearRegression()), {"weights": "exposure"}),
        ("y", make_pipeline(StandardScaler(), LinearRegression()), {"weights": "times"}),
        ("yes", LogisticRegression(C=1e8, tol=1e-8, max_iter=5_000), {}),
        ("three", LogisticRegression(C=1e8, tol=1e-8, max_iter=5_000), {}),
        ("count", PoissonRegressor(alpha=0, tol=1e-9, max_iter=5_000), {"family": "poisson"}),
    ],
)
def test_an_estimator_has_the_columns_of_the_linear_model(frame, response, estimator, options):
    own, linear = (select(frame, response, TERMS, model, **options) for model in (estimator, "glm"))
    odd = frame.assign(site=frame["site"].where(frame["site"] != "u"), b=np.nan)
    for new in (frame, odd):
        np.testing.assert_allclose(own.predict(new), linear.predict(new), rtol=1e-3, atol=1e-4)
    if "times" in options.values():
        said = "StandardScaler(), then LinearRegression() on the selected terms"
        assert own._fit.model.description == said
    shares = [one.tidy().set_index("term")["importance"] for one in (own, linear)]
    if response == "y":
        np.testing.assert_allclose(*(share[TERMS] for share in shares), atol=0.03)


def test_an_estimator_goes_with_the_fit_everywhere(frame, tmp_path):
    frame = frame.head(150)
    model = DecisionTreeClassifier(max_features=1, max_depth=3, splitter="random")
    fit = select(frame, "yes", ["a", "b", "c"], model, keep=["a", "c"], k=2)
    words = 'DecisionTreeClassifier(max_depth=3, max_features=1, splitter="random")'
    assert words.replace('"', "'") in fit._fit.model.description
    assert f"model={words}" in fit.search.call
    assert "incomplete" not in str(fit.summary())
    again = select(frame[frame.columns[::-1]], "yes", ["c", "b", "a"], model, keep=["a", "c"], k=2)
    np.testing.assert_array_equal(fit.predict(frame), again.predict(frame))
    bare = select(frame, "yes", ["a", "b", "c"], None, keep=["a", "c"], k=2)
    assert fit.predict(frame.head(0)).dtype == np.float64  # scikit-learn refuses to predict no rows
    means = {fit.performance(3, n_jobs=jobs).mean for jobs in (1, 2)}
    means.add(bare.performance(3, model=model, checkpoint=tmp_path).mean)
    assert len(means) == 1
    other = model.set_params(max_depth=1)  # the fit has its own copy
    assert fit.performance(3).mean in means
    with pytest.warns(TreeselectWarning, match="From other calls"):
        assert bare.performance(3, model=other, checkpoint=tmp_path).mean not in means
    effects = fit.resample(20, effects=True).model.effects()
    assert np.isfinite(effects[["effect", "low", "high"]].to_numpy(dtype=float)).all()
    assert fit.report(tmp_path / "fit.html").exists()
    assert "Numbers as they are" in str(fit.search.checklist())
    with pytest.raises(ModelFileError, match="files hold no estimators"):
        fit.save(tmp_path / "fit.treeselect")
    fit.refit("forest").save(tmp_path / "fit.treeselect")
    assert not (
        treeselect.load(tmp_path / "fit.treeselect").predict(frame) == fit.predict(frame)
    ).all()
    compared = treeselect.compare("yes ~ a + c", frame, ["mrmr"], k=2, folds=3, seed=1, model=other)
    assert "those of DecisionTreeClassifier(max_depth=1" in str(compared.summary())


@pytest.mark.parametrize("model", [None, "glm", DecisionTreeRegressor(max_depth=4)])
def test_members_share_the_importance_of_their_group(frame, model):
    groups = {"both": ["a", "site", "c"]}
    fit = select(frame, "y", ["a", "site", "c", "sex"], model, keep=["both", "sex"], k=2,
                 groups=groups)  # fmt: skip
    found = fit.model.members()
    assert set(found["term"]) == {"a", "site", "c"}
    assert found["share"].sum() == pytest.approx(1)
    assert found["share"].is_monotonic_decreasing
    whole = fit.tidy().set_index("term")["importance"]["site"]
    assert found["importance"].sum() == pytest.approx(whole)
    assert found["term"].iloc[0] != "site"
    if model == "glm":
        coef, expected = fit.refit("glm", missing="indicator").coef, {}
        expected = {name: abs(coef[name]) * frame[name].std() for name in ("a", "c")}
        ratio = found.set_index("term")["share"]
        assert ratio["a"] / ratio["c"] == pytest.approx(expected["a"] / expected["c"], rel=0.1)
    assert select(frame, "y", ["a"], model).model.members().empty


def test_estimators_get_missing_numbers_copies_and_classes_that_folds_lack(frame):
    fit = select(frame, "y", ["b", "site"], DecisionTreeRegressor(max_leaf_nodes=4))
    coding = fit._fit.model.codings[0]
    assert coding.table.shape == (256, 1)
    assert np.isnan(coding.of(np.array([np.nan, 1.0]))).tolist() == [[True], [False]]
    assert np.isfinite(fit.predict(frame)).all()
    for one in (np.nan, "same"):
        empty = select(frame.assign(one=one, a=1.0), "y", ["one"], LinearRegression())
        found = empty.predict(frame.assign(one=1.0 if one != "same" else one)).unique()
        assert found == pytest.approx(frame["y"].mean())
    with pytest.raises(DataError, match=r"Found: `a`, with 1\.7e\+308"):
        select(frame.assign(a=np.where(frame["a"] > 0, 1.7e308, 0)), "y", ["a"], LinearRegression())
    fit = select(frame, "y", ["a", "c"], KNeighborsRegressor(5), weights="times")
    rows = frame.loc[frame.index.repeat(frame["times"])]
    known = KNeighborsRegressor(5).fit(rows[["a", "c"]], rows["y"]).predict(frame[["a", "c"]])
    np.testing.assert_allclose(fit.predict(frame), known)
    data = select(frame, "three", ["a", "site"], LogisticRegression())._fit.design
    weights = data.row_weights.only(np.flatnonzero(data.response.y != 1))
    model = refit_by(data.model)(data.problem, weights, np.array([True, True]), seed=1)
    predicted = model.predict(data.problem)
    assert predicted.shape == (300, 3)
    assert predicted[:, 1].max() == 0
    least = select(frame, "count", ["a"], LinearRegression(), family="poisson")
    assert least.predict(frame.assign(a=-1e9)).min() > 0


@pytest.mark.parametrize(
    ("response", "model", "message"),
    [
        ("y", LogisticRegression(), "must be a regressor"),
        ("yes", LinearRegression(), "must be a classifier"),
        ("yes", RidgeClassifier(), "gives probabilities"),
        ("y", LinearRegression, "not its class"),
        ("Surv(time, event)", LinearRegression(), "times to an event"),
        ("y + offset", LinearRegression(), "an offset, which it would ignore"),
        ("y + weights", KNeighborsRegressor(), "multiples of the smallest one"),
        ("y", KNeighborsRegressor(9_999), "KNeighborsRegressor says: "),
        ("y", 1, "must be one of `stack`"),
    ],
)
def test_an_estimator_that_can_not_be_is_refused(frame, response, model, message):
    response, *argument = response.split(" + ")
    with pytest.raises(OptionError, match=message):
        select(frame, response, ["a", "c"], model, **dict.fromkeys(argument, "exposure")).predict(
            frame
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "lm"}, "`model` must be one of `stack`.*\n.*Did you mean `glm`"),
        ({"model": LinearRegression(), "monotone": {"a": 1}},
         r"observed by the model `LinearRegression\(\)`"),
        ({"model": "glm", "monotone": {"a": 1}}, "`monotone` can't be observed by the model"),
        ({"model": "glm", "method": treeselect.ControlBurn(refit=None)},
         "`model` must be left out: with these options controlburn predicts"),
    ],
)  # fmt: skip
def test_a_model_that_can_not_be_is_refused(frame, options, message):
    with pytest.raises(OptionError, match=message):
        treeselect.select("y ~ a + c", frame, **{**FEW, "k": 1, **options})


def test_a_monotone_fit_is_not_scored_by_what_can_not_be_monotone(frame):
    fit = select(frame, "y", ["a", "c"], None, monotone={"a": 1})
    with pytest.raises(OptionError, match="`monotone` can't be observed by the model `glm`"):
        fit.performance(3, model="glm")


@pytest.mark.parametrize(
    ("response", "words"),
    [("y", "a generalised linear model"), ("Surv(time, event)", "a Cox model")],
)
def test_more_columns_than_rows_have_a_fit(frame, response, words):
    few = frame.tail(40)
    names = [f"x{j}" for j in range(60)]
    noise = np.random.default_rng(1).standard_normal((len(few), 60))
    wide = pd.concat([few.reset_index(drop=True), pd.DataFrame(noise, columns=names)], axis=1)
    fit = select(wide, response, names, "gam")
    assert np.isfinite(fit.predict(wide)).all()
    assert fit._fit.model.description.startswith(words)
    assert fit.performance(2, model="glm").model.startswith(words)


def test_linear_final_models_have_no_trees_and_checkpoints_of_their_own(frame, tmp_path):
    fit = select(frame, "y", ["a", "c"], None)
    first = fit.performance(3, checkpoint=tmp_path)
    with pytest.warns(TreeselectWarning, match="From other calls: 3 finished folds"):
        other = fit.performance(3, model="glm", checkpoint=tmp_path)
    assert other.mean == fit.performance(3, model="glm").mean != first.mean
    fit = select(frame, "y", ["a", "c"], "glm")
    with pytest.raises(OptionError, match=r"(?s)no trees to show.*generalised linear model"):
        fit.model.nodes()
    with pytest.raises(OptionError, match="needs out-of-bag predictions"):
        fit.predict(frame, interval="prediction")
