"""Forests of other libraries predict as they did."""

import lightgbm
import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from treeselect.engine.forest.walk import predict_sum
from treeselect.engine.tree.nodes import group_gains
from treeselect.errors import DataError, NotBuiltError
from treeselect.models.importing import import_forest

N, P = 900, 5
QUIET = {"verbose": -1, "min_child_samples": 5, "n_jobs": 1}


def simulate(missing=0.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=N)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, np.searchsorted([-0.5, 0.8], y)


def predictions(model, X):
    """Sums of the trees of boosting, beside its constant, or means of those of forests."""
    forest = import_forest(model)
    data = forest.bins.bin(list(X.T), range(P))
    total = predict_sum(forest.trees, data)
    if hasattr(model, "learning_rate"):
        return total + model._raw_predict_init(X[:1]), forest, data
    is_mean = "lightgbm" not in type(model).__module__
    return total / (forest.trees.n_trees if is_mean else 1), forest, data


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(random_state=0),
        RandomForestRegressor(20, random_state=0),
        BaggingRegressor(n_estimators=20, max_features=0.6, random_state=0),
    ],
    ids=["tree", "forest", "bagging"],
)
def test_numbers(model, missing):
    X, y, _ = simulate(missing)
    model.fit(X, y)
    found, forest, data = predictions(model, X)
    np.testing.assert_allclose(found[:, 0], model.predict(X), atol=1e-12)
    if not isinstance(model, DecisionTreeRegressor):  # more thresholds than a column has codes
        assert len(forest.bins.source) > P
    if hasattr(model, "feature_importances_"):
        gains = group_gains(forest.trees, data).mean(axis=0)
        np.testing.assert_allclose(gains / gains.sum(), model.feature_importances_, atol=0.02)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_classes(kind):
    X, _, label = simulate()
    model = kind(15, random_state=0, max_depth=6).fit(X, label)
    found, _, _ = predictions(model, X)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-12)


def test_gradient_boosting_and_groups():
    X, y, label = simulate()
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    np.testing.assert_allclose(predictions(model, X)[0][:, 0], model.predict(X), atol=1e-10)
    for classes in (label, label > 0):
        model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, classes)
        expected = model.decision_function(X).reshape(N, -1)
        np.testing.assert_allclose(predictions(model, X)[0], expected, atol=1e-10)
    X, y, _ = simulate()
    forest = import_forest(RandomForestRegressor(3, random_state=0).fit(X, y))
    data = forest.bins.bin(list(X.T), [0, 0, 1, 1, 2])
    assert data.n_groups == 3
    assert group_gains(forest.trees, data).shape == (3, 3)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_lightgbm(missing):
    X, y, label = simulate(missing)
    model = lightgbm.LGBMRegressor(n_estimators=25, **QUIET).fit(X, y).booster_
    new = X.copy()
    new[::7, 1] = np.nan  # also where there were none: LightGBM takes them for 0
    for rows in (X, new):
        expected = model.predict(rows)
        np.testing.assert_allclose(predictions(model, rows)[0][:, 0], expected, atol=1e-10)
    classes = lightgbm.LGBMClassifier(n_estimators=8, **QUIET).fit(X, label)
    expected = classes.booster_.predict(X, raw_score=True)
    np.testing.assert_allclose(predictions(classes.booster_, X)[0], expected, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda X, y: import_forest(RandomForestRegressor()), DataError, "must be fitted"),
        (lambda X, y: import_forest(HistGradientBoostingRegressor().fit(X, y)), NotBuiltError,
         "HistGradientBoostingRegressor"),
        (lambda X, y: import_forest("forest"), NotBuiltError, "builtins.str"),
        (lambda X, y: import_forest(lightgbm.LGBMRegressor(zero_as_missing=True, **QUIET)
                                    .fit(np.maximum(X, 0), y)), NotBuiltError, "zeros treated"),
        (lambda X, y: import_forest(lightgbm.LGBMRegressor(**QUIET).fit(
            np.round(X[:, :2] * 2) + 9, y, categorical_feature=[0])), NotBuiltError,
         "categorical splits"),
        (lambda X, y: import_forest(lightgbm.LGBMRegressor(linear_tree=True, **QUIET)
                                    .fit(X, y)), NotBuiltError, "linear models in their leaves"),
        (lambda X, y: import_forest(DecisionTreeRegressor().fit(X, y)).bins.bin([X[:, 0]], [0]),
         DataError, "must have the 5 features"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported(call, error, says):
    X, y, _ = simulate()
    with pytest.raises(error, match=says):
        call(X, y)
