"""Monotone constraints: predictions along the constrained terms, errors, words and files."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import MethodError, OptionError

MONOTONE = {"age": 1, "dose": -1}
RIGHT = "age + dose + z + sex + noise"
FEW = {"n_trees": 8}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    n = 150
    frame = pd.DataFrame(
        {
            "age": rng.uniform(20, 80, n).round(), "dose": rng.normal(size=n).round(1),
            "z": rng.normal(size=n), "sex": rng.choice(["f", "m"], n), "noise": rng.normal(size=n),
        }
    )  # fmt: skip
    eta = 0.03 * (frame["age"] - 50) - 0.4 * frame["dose"] + np.sin(3 * frame["z"])
    frame["number"] = eta + rng.normal(size=n)
    frame["ill"] = np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "yes", "no")
    frame["count"] = rng.poisson(np.exp(0.5 * eta))
    frame["time"], frame["event"] = rng.exponential(np.exp(-eta)), rng.random(n) < 0.7
    frame["exposure"] = np.log(rng.uniform(0.5, 2, n))
    frame["three"] = rng.choice(list("abc"), n)
    for name in ("age", "dose", "z"):
        frame.loc[rng.random(n) < 0.1, name] = np.nan
    return frame


def along(frame, name):
    """Ten rows, each with 30 values of a column."""
    rows = frame.sample(10, random_state=1)
    grid = np.linspace(frame[name].min() - 1, frame[name].max() + 1, 30)
    return rows.loc[np.repeat(rows.index, 30)].assign(**{name: np.tile(grid, 10)})


def assert_monotone(model, frame, selected=tuple(MONOTONE)):
    for name in selected:
        predicted = np.asarray(model.predict(along(frame, name))).reshape(10, 30)
        assert (np.diff(predicted, axis=1) * MONOTONE[name] >= 0).all()
        assert np.ptp(predicted) > 0


@pytest.mark.parametrize(
    ("response", "method", "options"),
    [
        ("number", "rrf", {**FEW, "k": 5}),
        ("ill", "rboost", FEW),
        ("ill", "grrf", {**FEW, "gain": "decrease", "criterion": "entropy", "k": 5}),
        ("count", "gbfs", {**FEW, "family": "poisson"}),
        ("count", "importance", {**FEW, "family": "poisson", "offset": "exposure", "k": 5}),
        ("Surv(time, event)", "rrf", {**FEW, "k": 5}),
        ("number", "controlburn", {"forests": 1, "refit": None, "max_depth": 3, "k": 4}),
        ("ill", "controlburn", {"forests": 1, "refit": None, "max_depth": 2, "offset": "exposure"}),
        ("ill", "lasso", {"k": 5}),
    ],
)
def test_final_models_are_monotone(data, response, method, options):
    """Whatever the other columns are, with missing values in them."""
    given = {"k": 3, **options}
    fit = treeselect.select(
        f"{response} ~ {RIGHT}", data, method=method, seed=1, monotone=MONOTONE, **given
    )
    found = [name for name in MONOTONE if name in fit.selected]
    assert found
    assert_monotone(fit, data, found)


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select(
        f"ill ~ {RIGHT}", data, method="rrf", k=5, n_trees=5, seed=1, monotone=MONOTONE
    )


def test_predictions_are_monotone_by_the_constraint_and_boosting_obeys(data, fit):
    free = treeselect.select(f"ill ~ {RIGHT}", data, method="rrf", k=5, n_trees=5, seed=1)
    predicted = np.asarray(free.predict(along(data, "age"))).reshape(10, 30)
    assert (np.diff(predicted, axis=1) < 0).any()
    none = treeselect.select(
        f"ill ~ {RIGHT}", data, method="rrf", k=5, n_trees=5, seed=1, monotone={}
    )
    np.testing.assert_array_equal(np.asarray(free.predict(data)), np.asarray(none.predict(data)))
    assert_monotone(fit.refit("boosting"), data)
    found = treeselect.select(
        "number ~ age + age:z", data, method="rrf", k=1, n_trees=2, seed=1, monotone={"age": 1}
    )
    first, *_, last = found.data.design.notes
    assert "linear models and selections without trees do not" in first
    assert "`age:z`" in last
    assert "not constrained" in last


def test_summary_and_shapes_agree(fit):
    words = " ".join(fit.summary().as_text().split())
    assert 'monotone={"age": 1, "dose": -1}' in words
    assert "never decrease with `age` and never increase with `dose`" in words
    assert fit.model.effects().set_index("term")["direction"][list(MONOTONE)].tolist() == [
        "up",
        "down",
    ]
    shape = fit.model.shape("age")
    known = np.asarray(shape["value" if "value" in shape else "age"], dtype=float)
    effect = np.asarray(shape["effect"])[~np.isnan(known)]
    assert (np.diff(effect) >= 0).all()


@pytest.mark.parametrize(
    ("formula", "monotone", "words"),
    [
        ("ill ~ age + sex", {"sex": 1}, "a single column.\n  Found: a factor of 2 levels."),
        ("ill ~ age + age:z", {"age:z": 1}, "a single column.\n  Found: an interaction."),
        ("ill ~ z + bs(age, 4)", {"bs(age, 4)": 1}, "Found: a transform of 4 columns."),
        ("ill ~ z + log(age)", {"age": 1}, "Found: a variable of `log(age)`."),
        ("ill ~ age", {"agee": 1}, "Did you mean `age`?"),
        ("ill ~ age", {"age": 2}, "must be 1 (predictions must not decrease with it) or -1"),
        ("ill ~ age", {"age": True}, "Found: True."),
        ("ill ~ age", ["age"], "`monotone` must be a dictionary from terms to 1 or -1."),
        ("three ~ age", {"age": 1}, "Found: 3 classes."),
    ],
)
def test_what_cant_be_constrained_is_refused(data, formula, monotone, words):
    known = data.fillna({"age": 50})
    with pytest.raises(OptionError) as error:
        treeselect.select(formula, known, method="rrf", k=1, seed=1, monotone=monotone)
    assert words in str(error.value)


def test_a_selector_takes_names_and_trees_of_another_library_are_refused(data):
    from sklearn.ensemble import RandomForestRegressor

    known = data[["age", "z"]].fillna(0)
    forest = RandomForestRegressor(5, max_depth=2, random_state=0).fit(known, data["number"])
    given = {"k": 1, "seed": 1, "monotone": {"age": 1}, "method": "controlburn", "forest": forest}
    known = known.assign(number=data["number"])
    with pytest.raises(MethodError, match="can't be observed by the trees of another library"):
        treeselect.select("number ~ age + z", known, refit=None, **given)
    assert treeselect.select("number ~ age + z", known, **given).k == 1
    X = data[["age", "dose", "sex"]]
    found = treeselect.TreeSelector(
        "rrf", 2, method_options=FEW, monotone={"age": 1}, random_state=1
    ).fit(X, data["ill"])
    assert dict(found.result_.data.design.arrays.directions) == {"age": 1}
