"""Forests that others have fitted, sparsified as they are."""

from contextlib import nullcontext

import lightgbm
import numpy as np
import pandas as pd
import pytest
from quick import normal
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from tasks import task_of

import treeselect
from treeselect import ControlBurn
from treeselect.algorithms.controlburn.solve import imported_pool
from treeselect.errors import MethodError

COLUMNS = ["e", "d", "c", "b", "a"]


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    frame = normal(0, 400, COLUMNS, 0.5, a=2, b=1)
    return frame.assign(two=(frame["y"] > 0).astype(int), three=np.digitize(frame["y"], [-1, 1]))


def models(data):
    X = data[COLUMNS]
    forest = {"n_estimators": 40, "max_depth": 3, "random_state": 1, "max_features": 2}
    quiet = {"verbose": -1, "random_state": 1, "n_jobs": 1}
    return {
        "forest of classes": (RandomForestClassifier(**forest).fit(X, data["two"]), "two"),
        "three classes": (RandomForestClassifier(**forest).fit(X, data["three"]), "three"),
        "forest of numbers": (RandomForestRegressor(**forest).fit(X, data["y"]), "y"),
        "boosting": (
            GradientBoostingClassifier(n_estimators=20, max_depth=2).fit(X, data["two"]), "two",
        ),
        "LightGBM": (
            lightgbm.LGBMRegressor(n_estimators=20, num_leaves=6, **quiet).fit(X, data["y"]), "y",
        ),
    }  # fmt: skip


KINDS = ["forest of classes", "three classes", "forest of numbers", "boosting", "LightGBM"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fitted_forest_is_sparsified(data, kind):
    model, response = models(data)[kind]
    family = "multinomial" if response == "three" else "auto"
    formula = f"{response} ~ {' + '.join(reversed(COLUMNS))}"
    frame = data.astype({"three": str})
    fit = treeselect.select(
        formula, frame, method=ControlBurn(forest=model), k=2, seed=1, family=family
    )
    assert set(fit.selected) == {"a", "b"}
    text = fit.summary().as_text()
    assert f"a fitted {type(model).__name__}" in text


@pytest.mark.parametrize("response", ["two", "three"])
def test_classes_in_another_order_are_refused(data, response):
    model, _ = models(data)[{"two": "forest of classes", "three": "three classes"}[response]]
    turned = data.assign(
        **{response: pd.Categorical(data[response], [1, 0, 2][: model.n_classes_])}
    )
    for frame, refused in ((turned, True), (data.astype({response: "category"}), False)):
        with pytest.raises(MethodError, match="same order") if refused else nullcontext():
            formula = f"{response} ~ {' + '.join(COLUMNS)}"
            treeselect.select(formula, frame, method=ControlBurn(forest=model), k=1, seed=1)


def test_columns_are_the_models_own_predictions(data):
    model, _ = models(data)["forest of numbers"]
    task = task_of(data, ControlBurn(forest=model), "y ~ a + b + c + d + e")
    pool = imported_pool(model, task.problem.columns, 1)
    ours = np.mean([v[leaf, 0] for v, leaf in zip(pool.values, pool.leaves, strict=True)], axis=0)
    np.testing.assert_allclose(ours, model.predict(data[COLUMNS]))
    names = np.array(task.problem.groups.names)
    for tree, own in zip(pool.uses, model.estimators_, strict=True):
        used = {COLUMNS[f] for f in own.tree_.feature if f >= 0}
        assert set(names[tree]) == used


def test_names_with_spaces_which_lightgbm_does_not_keep(data):
    frame = data.rename(columns={"a": "an a"})
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1)
    method = ControlBurn(forest=model.fit(frame[["an a", "b"]], frame["y"]))
    assert treeselect.select("y ~ `an a` + b", frame, method=method, k=1).selected == ("an a",)


def test_trees_of_very_many_leaves_are_taken_as_they_are():
    frame = normal(0, 70_000, "ab", a=1)
    model = DecisionTreeRegressor(random_state=0).fit(frame[["a", "b"]], frame["y"])
    assert model.get_n_leaves() > 2**16
    pool = imported_pool(model, task_of(frame, ControlBurn(forest=model)).problem.columns, 1)
    np.testing.assert_allclose(pool.values[0][pool.leaves[0], 0], model.predict(frame[["a", "b"]]))
    columns = pool.columns(np.arange(70_000), 1)
    np.testing.assert_allclose(columns.combine(np.ones(1)), model.predict(frame[["a", "b"]]))


def test_a_saved_fit_knows_that_the_forest_is_gone(data, tmp_path):
    model, _ = models(data)["forest of numbers"]
    fit = treeselect.select(
        "y ~ a + b + c + d + e", data, method=ControlBurn(forest=model), k=1, seed=1, n_trees=5
    )
    fit.save(tmp_path / "m.treeselect", include_data=True)
    again = treeselect.load(tmp_path / "m.treeselect")
    np.testing.assert_array_equal(again.predict(data), fit.predict(data))
    with pytest.raises(
        MethodError, match="a fitted RandomForestRegressor, which model files don't store"
    ):
        again.resample(2, seed=1)


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("y ~ a + b + c + d", "`e` of the forest isn't a numeric term"),
        ("y ~ a + b + c + d + e + two", "the forest lacks `two`"),
        ("y ~ a + b + c + d + C(e > 0)", "`e` of the forest isn't a numeric term"),
        ("three ~ a + b + c + d + e", "must predict 3 values"),
    ],
)
def test_other_columns(data, formula, found):
    model, _ = models(data)["forest of numbers"]
    with pytest.raises(MethodError) as error:
        treeselect.select(
            formula, data.astype({"three": str}), method=ControlBurn(forest=model), k=1, seed=1
        )
    assert found in str(error.value)


def test_a_forest_without_names_and_options_that_would_grow_one(data):
    model = RandomForestRegressor(n_estimators=3).fit(data[COLUMNS].to_numpy(), data["y"])
    with pytest.raises(MethodError, match="fitted to an array"):
        treeselect.select("y ~ a + b + c + d + e", data, method=ControlBurn(forest=model), k=1)
    with pytest.raises(MethodError, match="`forests` controls how ControlBurn grows"):
        ControlBurn(forest=model, forests=2)
    with pytest.raises(MethodError, match="`forest` of ControlBurn must be"):
        ControlBurn(forest="random")
