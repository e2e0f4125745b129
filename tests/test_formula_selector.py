"""The formula as a step of a pipeline: what it keeps of a frame, and what it learns from it."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    cross_val_score,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import treeselect
from treeselect import TreeSelector
from treeselect.errors import DataError, FormulaError, NewDataError, OptionError

QUICK = TreeSelector(
    "importance", 2, formula="died ~ . - copy", method_options={"n_trees": 5}, random_state=0
)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.fixture(scope="module")
def data(mixed):
    """Text, categories, logical and missing values, and the response."""
    return mixed.drop(columns="dose").assign(patient=np.arange(len(mixed)) // 4)


@pytest.fixture(scope="module")
def fitted(data):
    return clone(QUICK).fit(data)


def test_it_selects_what_select_does(fitted, data):
    fit = treeselect.select(QUICK.formula, data, method="importance", k=2, n_trees=5, seed=0)
    assert fitted.result_.formula == fit.formula
    assert list(fitted.get_feature_names_out()) == [n for n in data if n in fit.variables]
    assert list(fitted.feature_names_in_) == list(data)
    assert fitted.n_features_in_ == data.shape[1]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_frame_keeps_its_library_types_and_index(fitted, data, library):
    indexed = data.set_axis(range(100, 100 + len(data)), axis=0)
    frame = {"pandas": lambda: indexed, "polars": lambda: pl.from_pandas(data)}.get(
        library, lambda: pa.Table.from_pandas(data)
    )()
    out = fitted.transform(frame)
    assert type(out) is type(frame)
    if library == "pandas":
        pd.testing.assert_frame_equal(out, indexed[["signal", "site"]])
    wanted = clone(fitted).set_output(transform="polars").fit(frame).transform(frame)
    assert isinstance(wanted, pl.DataFrame)
    assert wanted.columns == ["signal", "site"]


def test_new_data_need_the_selected_columns_only(fitted, data):
    assert fitted.transform(data[["site", "signal"]].head(3)).shape == (3, 2)
    with pytest.raises(NewDataError, match="Missing: `site`"):
        fitted.transform(data[["signal"]])


def test_the_response_is_in_the_frame_or_given(data):
    X, y = data.drop(columns="died"), data["died"]
    inside = clone(QUICK).fit(data, y).result_
    given = clone(QUICK).fit(X, y).result_
    assert inside.formula == given.formula
    np.testing.assert_array_equal(inside.search.step.importance, given.search.step.importance)
    with pytest.raises(OptionError, match="`y` must equal the column `died` of X"):
        clone(QUICK).fit(data, ~y)
    with pytest.raises(FormulaError, match="`died`"):
        clone(QUICK).fit(X)
    logged = TreeSelector("mrmr", 1, formula="log(`a size`) ~ signal + noise", random_state=0)
    chosen = logged.fit(X, np.exp(X["signal"].fillna(0)).rename("other")).result_
    assert chosen.selected == ("signal",)
    assert chosen.formula == "log(`a size`) ~ signal"


def test_times_stay_in_the_frame():
    data = treeselect.datasets.load("gbsg2").head(120)
    response, first = "Surv(time, cens)", "pnodes"
    y = np.zeros(len(data), [("event", bool), ("time", float)])
    step = TreeSelector("mrmr", 1, formula=f"{response} ~ {first} + age", random_state=0)
    assert step.fit(data, y).result_.family == "cox"


def test_terms_as_numbers(data):
    step = clone(QUICK).set_params(
        formula="died ~ log(signal + 9) + site + flag", k=3, encode=True, new_levels="other"
    )
    out = step.fit(data).transform(data)
    names = list(step.get_feature_names_out())
    assert out.dtype == np.float64
    assert set(names) > {"log(signal + 9)", "flag"}
    levels = [name for name in names if name.startswith("site[")]
    missing = data["site"].isna().to_numpy()
    np.testing.assert_array_equal(out[:, [names.index(n) for n in levels]].sum(axis=1), ~missing)
    framed = clone(step).set_output(transform="pandas").fit_transform(data)
    assert list(framed) == names
    other = data.head(2).assign(site="elsewhere")
    assert step.transform(other)[:, [names.index(n) for n in levels]].sum() == 0
    strict = clone(step).set_params(new_levels="error").fit(data)
    with pytest.raises(NewDataError, match="elsewhere"):
        strict.transform(other)


def test_pipelines_select_in_the_training_rows_only(data):
    """The response stands in the frame all the time, and a permuted one is found out."""
    noise = data[["died"]].assign(
        **{f"noise{j}": np.random.default_rng(900 + j).normal(size=len(data)) for j in range(30)}
    )
    step = TreeSelector("mrmr", 2, formula="died ~ .", encode=True, random_state=0)
    model = make_pipeline(step, LogisticRegression())
    score = cross_val_score(model, noise, noise["died"], cv=4, scoring="roc_auc").mean()
    assert abs(score - 0.5) < 0.12  # selected on all rows, 0.6 and more
    with pytest.raises(ValueError, match="must equal the column `died`"):
        permutation_test_score(model, noise, noise["died"], n_permutations=1, cv=2)


def test_searches(data):
    step = clone(QUICK).set_params(method=treeselect.GRRF(n_trees=3), method_options=None)
    model = make_pipeline(step.set_params(encode=True), SimpleImputer(), TREE)
    model.set_params(treeselector__k="auto")  # `gamma` decides
    grid = {"treeselector__method__gamma": [0.0, 0.9]}
    search = GridSearchCV(model, grid, cv=2).fit(data, data["died"])
    assert set(search.best_params_) == set(grid)
    best = search.best_estimator_[0]
    assert best.method.gamma == search.best_params_["treeselector__method__gamma"]
    assert best.method.n_trees == 3
    model.set_params(treeselector__method=treeselect.ForestImportance(n_trees=3))
    halving = HalvingGridSearchCV(
        model, {"treeselector__k": [1, 2, 3]}, cv=2, random_state=0, min_resources=100
    )
    assert halving.fit(data, data["died"]).best_params_["treeselector__k"] in (1, 2, 3)


def test_columns_of_a_frame_by_another_transformer(data):
    parts = ColumnTransformer(
        [("few", clone(QUICK), ["signal", "site", "noise", "copy"])], remainder="drop"
    ).set_output(transform="pandas")
    out = parts.fit_transform(data, data["died"])
    assert list(out) == ["few__signal", "few__site"]


def test_clones_and_pickles_in_a_new_process(fitted, data, tmp_path):
    with pytest.raises(NotFittedError):
        clone(fitted).transform(data)
    encoder = clone(fitted).set_params(encode=True).fit(data)
    (tmp_path / "steps.pkl").write_bytes(pickle.dumps([fitted, encoder]))
    data.to_pickle(tmp_path / "data.pkl")
    program = (
        "import pickle, sys, pandas; folder = sys.argv[1];"
        "plain, encoder = pickle.load(open(folder + '/steps.pkl', 'rb'));"
        "data = pandas.read_pickle(folder + '/data.pkl');"
        "print(list(plain.transform(data)), encoder.transform(data).shape[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    n_columns = len(encoder.get_feature_names_out())
    assert done.stdout.strip() == f"['signal', 'site'] {n_columns}"


def test_weights_and_clusters_are_columns(data):
    step = clone(QUICK).set_params(formula="died ~ signal + site", fold_groups="patient", k=1)
    rows = step.fit(data).result_.data.design.row_weights
    assert len(np.unique(rows.groups)) == 100
    with pytest.raises(OptionError, match="`weights` must be the name of a column of X"):
        clone(QUICK).set_params(weights=np.ones(len(data))).fit(data)


def test_nothing_selected_is_a_warning(data):
    step = TreeSelector("lasso", None, formula="died ~ signal", method_options={"lam": 1e6})
    step.set_params(random_state=0).fit(data)
    with pytest.warns(UserWarning, match="No terms were selected"):
        assert step.transform(data).shape == (len(data), 0)


def test_what_is_not_allowed(data):
    with pytest.raises(DataError, match="`X` must be a pandas, polars or pyarrow table"):
        clone(QUICK).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    with pytest.raises(OptionError, match="`encode` must be True or False"):
        clone(QUICK).set_params(encode="yes").fit(data)
    with pytest.raises(FormulaError, match="`formula` must be text"):
        clone(QUICK).set_params(formula=3).fit(data, data["died"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(QUICK).fit(data, data["died"].head(3))
