"""Looking inside: trees, shapes, interactions and importances on the path."""

from operator import attrgetter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from quick import burnt, leaf_value
from sklearn.ensemble import (
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import treeselect
from treeselect import ControlBurn
from treeselect.designs.modeldata import Coded, association, coded_number
from treeselect.errors import MethodError, OptionError
from treeselect.results.curves import curves, shape_map


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.uniform(-2, 2, size=(600, 5)), columns=list("abcde"))
    frame["soil"] = rng.choice(["clay", "sand", "silt"], size=600)
    frame["y"] = (
        frame["a"] ** 2 + frame["b"] * frame["c"] + 2 * (frame["soil"] == "sand")
    ) + 0.1 * rng.normal(size=600)
    frame["two"] = np.where(frame["y"] > frame["y"].median(), "yes", "no")
    frame.loc[::50, "a"] = np.nan
    return frame


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select("y ~ . - two", data, method="controlburn", k=4, seed=1, forests=2)


@pytest.fixture(scope="module")
def sparse(data):
    return treeselect.select(
        "y ~ . - two", data, method="controlburn", k=4, seed=1, forests=2, refit=None
    )


def test_trees_are_those_with_a_weight_and_tell_interactions_and_importances(fit, sparse):
    table = fit.model.trees()
    pd.testing.assert_frame_equal(
        table.drop(columns="terms"), sparse.model.trees().drop(columns="terms")
    )
    assert (table["weight"] > 0).all()
    assert table["share"].sum() == pytest.approx(1)
    assert table["share"].is_monotonic_decreasing
    assert set().union(*table["terms"]) == set(fit.selected)
    nodes = fit.model.nodes()
    for row in table.itertuples():
        own = nodes[nodes["tree"] == row.tree]
        assert own["depth"].max() == row.depth
        assert own["split"].isna().sum() == row.leaves
        assert set(own["term"].dropna()) == set(row.terms)
    assert fit.model.rules(int(table["tree"][0])).startswith("if ")
    table = fit.model.interactions()
    assert len(table) == 6
    assert set(table.loc[0, ["term", "other"]]) == {"b", "c"}
    assert table["strength"].between(0, 1).all()
    assert table["strength"][0] > 3 * table["strength"][1]
    table = fit.search.importance_path()
    assert list(table) == ["k", "tuning", "term", "selected", "importance"]
    for k, own in table.groupby("k"):
        assert own["selected"].sum() == k
        assert own["importance"].sum() == pytest.approx(1 if k else 0)
        assert ((own["importance"] > 0) == own["selected"]).all()


def test_weights_times_leaves_is_what_the_sparse_forest_predicts(data, sparse):
    model, data = sparse.model.fitted, data.iloc[::5]
    assert sparse.model.sparse is model
    assert "refit=None" in sparse.summary().as_text()
    nodes = sparse.model.nodes()
    weights = sparse.model.trees().set_index("tree")["weight"]
    total = np.full(len(data), float(model.constant[0]))
    for tree, own in nodes.groupby("tree"):
        leaves = [leaf_value(own, row) for row in data.to_dict("records")]
        total += weights[tree] * np.array(leaves)
    np.testing.assert_allclose(sparse.predict(data), total, atol=1e-9)
    problem = sparse.data.design.problem
    left = problem.y - model.predict(problem)
    assert np.mean(left) == pytest.approx(0, abs=1e-8)  # the intercept is free
    score = sparse.search.step.train_score
    assert 1 - np.var(left) / np.var(problem.y) == pytest.approx(score)


@pytest.mark.parametrize("response", ["y", "two"])
def test_a_forest_of_others_can_be_pruned_and_predicts(data, response, tmp_path):
    numbers = ["e", "d", "c", "b", "a"]
    frame = data.fillna({"a": 0.0})
    kind = GradientBoostingRegressor if response == "y" else RandomForestClassifier
    model = kind(n_estimators=60, max_depth=3, max_features=2, random_state=0)
    model.fit(frame[numbers], frame[response])
    fit = treeselect.select(
        f"{response} ~ a + b + c + d + e", frame, seed=1, k=4, method=ControlBurn(forest=model,
        refit=None),
    )  # fmt: skip
    assert fit.model.trees()["terms"].explode().isin(fit.selected).all()
    truth = frame["y"] if response == "y" else (frame["two"] == "yes").astype(float)
    chosen = treeselect.select(
        f"{response} ~ a + b + c + d + e", frame, seed=1, folds=3, keep="e",
        method=ControlBurn(forest=model, refit=None),
    )  # fmt: skip
    assert "e" in chosen.selected
    assert chosen.path["cv_score"].max() > 0.3
    assert np.corrcoef(fit.predict(frame), truth)[0, 1] > 0.6
    again = treeselect.load(fit.save(tmp_path / "fit", include_data=True))
    pd.testing.assert_series_equal(again.predict(frame), fit.predict(frame))
    pd.testing.assert_frame_equal(again.model.nodes(), fit.model.nodes())
    pd.testing.assert_frame_equal(again.model.shape("b"), fit.model.shape("b"))


def test_cut_and_empty_selections_have_sparse_forests_of_their_own(data):
    for k in range(1, 6):
        fit = treeselect.select(
            "y ~ . - two", data, method="controlburn", k=k, seed=3, forests=1, refit=None,
            adaptive=False, tail=2, min_trees=2,
        )  # fmt: skip
        if fit.search.step.cut_from is not None:
            break
    assert fit.search.step.cut_from is not None
    assert fit.model.trees()["terms"].explode().isin(fit.selected).all()
    assert np.mean(fit.predict(data)) == pytest.approx(data["y"].mean())
    for options in ({"lam": 1e6}, {"lam": 1e6, "refit": None}):
        fit = treeselect.select(
            "y ~ . - two", data, method="controlburn", seed=1, forests=1, **options
        )
        assert len(fit.model.trees()) == 0
        assert len(fit.model.interactions()) == 0
        with pytest.raises(OptionError, match="no trees to show"):
            fit.model.nodes()
        with pytest.raises(OptionError, match="Selected: nothing"):
            fit.model.shape("a")
        assert fit.predict(data).nunique() == 1


def test_sparse_forests_add_offsets_and_grow_trees_once_in_each_fold(data, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(size=500), "z": rng.uniform(size=500)})
    frame["time"] = np.log(rng.uniform(1, 5, size=500))
    frame["n"] = rng.poisson(np.exp(frame["time"] + frame["x"]))
    fit = treeselect.select(
        "n ~ x + z", frame, method="controlburn", family="poisson", offset="time", k=1, seed=1,
        forests=1, refit=None,
    )  # fmt: skip
    later = frame.assign(time=frame["time"] + np.log(2))
    np.testing.assert_allclose(fit.predict(later), 2 * fit.predict(frame))
    assert fit.predict(frame).mean() == pytest.approx(frame["n"].mean(), rel=1e-6)
    grown, pool = [], ControlBurn.pool
    monkeypatch.setattr(ControlBurn, "pool", lambda *a, **b: grown.append(1) or pool(*a, **b))
    fit = treeselect.select(
        "y ~ . - two", data, method="controlburn", seed=1, forests=1, refit=None, folds=3
    )
    assert fit.path["cv_score"].max() > 0.5
    assert len(grown) == 4  # three folds and the fit
    three = data.assign(y=pd.cut(data["y"], 3, labels=["low", "middle", "high"]))
    classes = treeselect.select(
        "y ~ . - two", three, method="controlburn", seed=1, k=3, forests=1, refit=None
    )
    np.testing.assert_allclose(classes.predict(data).sum(axis=1), 1)
    shape = classes.model.shape(classes.selected[0])
    assert {"mean_low", "effect_high"} <= set(shape)


def test_shapes_are_those_of_the_truth_and_each_point_is_the_mean_prediction_there(fit, data):
    shape = fit.model.shape("a")
    known = shape.dropna()
    assert list(shape) == ["a", "share", "mean", "effect"]
    assert shape["share"].sum() == pytest.approx(1)
    assert shape["effect"] @ shape["share"] == pytest.approx(0, abs=1e-12)
    assert np.corrcoef(known["a"] ** 2, known["effect"])[0, 1] > 0.95
    assert shape["a"].isna().sum() == 1  # missing is a value of its own
    soil = fit.model.shape("soil").set_index("soil")["effect"]
    assert soil["sand"] > 1 > soil[["clay", "silt"]].max() + 1
    both = fit.model.shape("b", "c")
    assert np.corrcoef(both["b"] * both["c"], both["interaction"])[0, 1] > 0.8
    # Also of a thinned grid: what is told of a point is where the prediction was made.
    for terms in (["a"], ["b", "c"]):
        shape = fit.model.shape(*terms)
        for _, point in shape.iloc[:: max(1, len(shape) // 12)].iterrows():
            there = data.assign(**{term: point[term] for term in terms})
            assert fit.predict(there).mean() == pytest.approx(point["mean"])


@pytest.mark.parametrize("term", ["bs(x, 5)", "poly(x, 3)", "I((x - 3) ** 2)", "I(x > 3)"])
def test_the_shape_of_a_transform_is_that_of_the_number_behind_it(term):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 6, 800)})
    frame["y"] = np.sin(frame["x"]) + 0.1 * rng.normal(size=800)
    if term.startswith("I("):
        frame["y"] += (frame["x"] - 3) ** 2 * (term == "I((x - 3) ** 2)")
        frame.loc[::40, "x"] = np.nan
    fit = burnt(f"y ~ {term}", frame, k=1, n_trees=20)
    shape = fit.model.shape(fit.selected[0]).dropna()
    assert next(iter(shape)) == "x"
    assert shape["x"].is_monotonic_increasing
    assert len(shape) >= 39
    if term == "I((x - 3) ** 2)":  # the same on both sides of 3
        assert shape["mean"].max() > shape["mean"].min() + 5
        above, below = (np.interp(x, shape["x"], shape["mean"]) for x in ([4, 5], [2, 1]))
        np.testing.assert_allclose(above, below, atol=0.4)  # neighbouring points of the grid
    else:
        truth = np.sign(3 - shape["x"]) if term == "I(x > 3)" else np.sin(shape["x"])
        assert np.corrcoef(truth, shape["mean"])[0, 1] > 0.97


def test_associations_count_copies_and_know_constants():
    rng = np.random.default_rng(2)
    n = 400
    frame = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    frame["monotone"] = np.exp(frame["x"])
    frame["site"] = np.where(frame["x"] > 0, "east", "west")
    frame["same"] = frame["site"].map({"east": "a", "west": "b"})
    frame.loc[::9, "x"] = np.nan
    frame["y"] = frame["monotone"] + frame["z"] + (frame["site"] == "east")
    fit = treeselect.select(
        "y ~ x + z + monotone + site + same + bs(z, 4)", frame, k=6, seed=1, method="rrf",
        n_trees=5, keep=["x", "z", "monotone", "site", "same", "bs(z, 4)"],
    )  # fmt: skip
    table = fit.data.neighbours()
    assert list(table)[:4] == ["term", "other", "measure", "association"]
    assert len(table) == fit.k * (fit.k - 1)
    by_pair = {frozenset((r.term, r.other)): r for r in table.itertuples()}
    known = frame.dropna()

    def pair(a, b):
        return by_pair[frozenset((a, b))]

    assert pair("x", "monotone").association == pytest.approx(1)
    assert pair("x", "z").association == pytest.approx(
        abs(known["x"].corr(known["z"], method="spearman"))
    )
    assert pair("site", "same")[3:5] == ("Cramer's V", pytest.approx(1))
    ratio = pair("monotone", "site")
    assert ratio.measure == "correlation ratio"
    ranks = frame["monotone"].rank()  # of two levels it is the correlation with their indicator
    indicator = (frame["site"] == "east").astype(float)
    assert ratio.association == pytest.approx(ranks.corr(indicator))
    assert pair("z", "bs(z, 4)").association > 0.9
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 9, size=(2, 50)).astype(float)
    b[:30] = a[:30]
    level = Coded(rng.integers(-1, 3, size=50), True)
    other = Coded(rng.integers(0, 4, size=50), True)
    weight = rng.integers(0, 4, size=50)
    again = np.repeat(np.arange(50), weight)
    ones = np.ones(len(again))
    numbers = coded_number(a), coded_number(b)
    for first, second in [numbers, (numbers[0], level), (level, numbers[0]), (level, other)]:
        copied = [c._replace(codes=c.codes[again]) for c in (first, second)]
        found = association(first, second, weight)
        assert found == pytest.approx(association(*copied, ones))
        assert found == pytest.approx(association(second, first, weight))
        assert 0 < found < 1
    constant = Coded(np.zeros(50, dtype=np.int64), True)
    unknown = Coded(np.full(50, -1), False)
    for one in (constant, unknown, coded_number(np.ones(50))):
        assert association(one, numbers[0], weight) == 0
        assert association(one, level, weight) == 0


def test_other_methods_show_their_forest_of_any_names(data):
    frame = data.rename(columns={"a": "share", "b": "mean", "c": "mean_value"})
    fit = burnt("y ~ . - two", frame, k=4, n_trees=20)
    shape = fit.model.shape("share")
    assert list(shape) == ["share_value", "share", "mean", "effect"]
    assert shape["share"].sum() == pytest.approx(1)
    both = fit.model.shape("mean", "mean_value")
    assert list(both)[:2] == ["mean_value_value", "mean_value"]
    found = curves(fit._fit, "share")[0]
    known = [p for p in found.points if not p.is_missing]
    assert len(known) == 20
    means = [sum(p.share * at for p, at in zip(known, own, strict=True)) for own in (
        [p.value for p in known], [p.effect for p in known]
    )]  # fmt: skip
    exact = shape.dropna()
    assert means == pytest.approx([exact["share"] @ exact[n] for n in ("share_value", "effect")])
    fit = treeselect.select("y ~ . - two", data, k=3, seed=1, method="rrf", n_trees=20)
    table = fit.model.trees()
    assert len(table) == 200
    assert (fit.refit("stack").model.trees()["weight"] == 1).all()
    assert fit.model.sparse is None
    np.testing.assert_allclose(table["weight"], 1 / 200)
    assert set(table["terms"][0]) <= set(fit.selected)
    assert len(fit.search.importance_path()) >= 3


def test_forests_that_predict_something_else_or_are_cut_to_no_tree_are_refused(data):
    frame = data.fillna({"a": 0.0})
    names = list("abcde")
    model = RandomForestRegressor(20, max_depth=6, random_state=0).fit(frame[names], frame["y"])
    with pytest.raises(MethodError, match="no tree uses only the 2 selected terms"):
        treeselect.select(
            "y ~ a + b + c + d + e", frame, k=2, seed=1,
            method=ControlBurn(forest=model, refit=None),
        )  # fmt: skip
    classifier = RandomForestClassifier(10, random_state=0).fit(frame[names], frame["two"])
    formula = "y ~ a + b + c + d + e"
    with pytest.raises(MethodError, match="must be a regressor for this response"):
        treeselect.select(formula, frame, k=2, method=ControlBurn(forest=classifier))
    fit = treeselect.select(formula, frame.assign(y=frame["two"]), k=2, seed=1,
                            method=ControlBurn(forest=classifier))  # fmt: skip
    text = " ".join(fit.summary().as_text().split())
    assert "assess only the choice among them" in text
    assert "min_trees" not in fit.search.method.options()


def test_splits_of_what_is_missing_are_kept_in_files(data, tmp_path):
    names = list("abcde")
    frame = data.assign(y=data["y"] + 5 * data["a"].isna())
    model = RandomForestRegressor(30, max_depth=3, random_state=0).fit(frame[names], frame["y"])
    fit = treeselect.select("y ~ a + b + c + d + e", frame, k=None, lam=1e-3, seed=1,
                            method=ControlBurn(forest=model, refit=None))  # fmt: skip
    assert fit.model.nodes()["split"].eq("a is known").any()
    again = treeselect.load(fit.save(tmp_path / "fit"))
    pd.testing.assert_series_equal(again.predict(frame), fit.predict(frame))
    pd.testing.assert_frame_equal(again.model.nodes(), fit.model.nodes())


def test_thresholds_are_told_with_the_digits_that_they_need():
    frame = pd.DataFrame({"day": 20230000.0 + np.arange(300) % 97})
    frame["y"] = (frame["day"] > 20230050) + 0.01 * np.arange(300)
    fit = treeselect.select(
        "y ~ day", frame, method="controlburn", k=1, refit=None, forests=1, seed=1
    )
    splits = fit.model.nodes().dropna(subset="threshold")
    for split, threshold in zip(splits["split"], splits["threshold"], strict=True):
        told = float(split.removeprefix("day <= "))
        assert ((frame["day"] <= told) == (frame["day"] <= threshold)).all()


def test_what_has_no_shape(fit, data):
    with pytest.raises(OptionError, match=r"Found: 'aa'\. Did you mean"):
        fit.model.shape("aa")
    with pytest.raises(OptionError, match="`other` must not be `term`"):
        fit.model.shape("a", "a")
    both = treeselect.select("y ~ a + I(a > 0)", data, method="mrmr", k=2, seed=1)
    with pytest.raises(OptionError, match="`other` must have other variables than `term`"):
        both.model.shape("a", "I(a > 0)")
    with pytest.raises(MethodError, match="`refit` of ControlBurn must be 'forest' or None"):
        treeselect.select("y ~ a", data, method="controlburn", k=1, refit="glm")


@pytest.fixture(scope="module")
def odd(data):
    rng = np.random.default_rng(7)
    frame = data[["a", "b"]].copy()
    frame["kind"] = rng.choice(["oak", "ash", None], size=len(frame))
    frame["wet"] = rng.random(len(frame)) < 0.5
    frame["size"] = pd.array(rng.integers(1, 9, size=len(frame)), dtype="Int64")
    frame.loc[5, "size"] = pd.NA
    frame["z"] = frame["b"] ** 2 + (frame["kind"] == "oak") * frame["wet"] + frame["size"].fillna(0)
    return frame.astype({"z": float})


def test_points_are_told_by_the_term_or_by_what_is_behind_it(odd):
    formula = "z ~ abs(b) + kind:wet + bs(a, 4) + size"
    fit = treeselect.select(
        formula, odd, method="controlburn", k=4, seed=1, forests=1, keep="bs(a, 4)"
    )
    absolute = fit.model.shape("abs(b)")
    assert absolute["b"].is_monotonic_increasing
    assert np.corrcoef(absolute["b"].abs(), absolute["effect"])[0, 1] > 0.9
    both = fit.model.shape("kind:wet")
    assert list(both)[:2] == ["kind", "wet"]
    assert both[["kind", "wet"]].iloc[-1].isna().all()  # a missing part: the term is missing
    best = both.loc[both["effect"].idxmax()]
    assert (best["kind"], best["wet"]) == ("oak", True)
    assert fit.model.shape("bs(a, 4)")["a"].dropna().is_monotonic_increasing
    size = fit.model.shape("size")
    assert size["size"].tolist()[:8] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert size["size"].isna().tolist() == [False] * 8 + [True]
    frame = odd.assign(wet=odd["wet"].astype("boolean").mask(odd["kind"].isna()))
    fit = treeselect.select("z ~ wet + b", frame, method="mrmr", k=2, seed=1)
    assert fit.model.shape("wet")["wet"].tolist() == [False, True, None]
    assert shape_map(fit._fit, "wet", "b").x == ("False", "True", "missing")


def test_tables_are_in_the_library_of_the_data(odd):
    formula = "z ~ b + kind + wet + size"
    asked = {"method": "controlburn", "k": 3, "seed": 1, "forests": 1, "resamples": 4}
    given = pl.from_arrow(pa.Table.from_pandas(odd))
    fits = [treeselect.select(formula, data, **asked) for data in (given, odd)]
    for call in (
        *(lambda fit, term=term: fit.model.shape(term) for term in fits[1].selected),
        lambda fit: fit.performance(2).tidy(),
        lambda fit: fit.stability.substitutes,
        *(lambda fit, name=name: attrgetter(name)(fit)() for name in (
            "model.trees", "model.nodes", "model.interactions", "search.importance_path", "tidy",
            "data.describe", "glance", "stability.tidy", "stability.models", "stability.pairs",
        )),
    ):  # fmt: skip
        found, expected = map(call, fits)
        assert type(found) is pl.DataFrame
        columns = found.to_dict(as_series=False)
        assert list(columns) == list(expected)
        for name, values in columns.items():
            assert (
                pd.isna(pd.Series(values, dtype=object)).tolist() == expected[name].isna().tolist()
            )
            if name in ("effect", "gain", "importance"):
                np.testing.assert_allclose(values, expected[name])
