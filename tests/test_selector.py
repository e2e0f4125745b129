"""The selector of scikit-learn: its contract, columns of all kinds, and what it routes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import treeselect
from treeselect import TreeSelector
from treeselect.errors import DataError, MethodError, NewDataError, OptionError, TreeselectError

FOREST = {"n_trees": 5}
QUICK = TreeSelector("importance", 2, method_options=FOREST, random_state=0)


def allowed_to_fail(estimator):
    """Forests draw rows; copies of a row that one weight stands for are drawn together."""
    if estimator.method == "mrmr":
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": (
            "a bag takes all copies of a weighted row, and separate rows one by one: the two are"
            " equal in distribution only"
        )
    }


@parametrize_with_checks(
    [TreeSelector("mrmr", 1), TreeSelector("importance", 1, method_options={"n_trees": 3})],
    expected_failed_checks=allowed_to_fail,
    xfail_strict=False,
)
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data(mixed):
    """Columns of four kinds with missing values, and classes."""
    return mixed.drop(columns=["died", "dose", "copy"]), mixed["died"].to_numpy()


@pytest.mark.parametrize("missing", ["drop", "impute"])
def test_missing_values_are_treated_as_in_select(data, mixed, missing):
    X, y = data
    found = clone(QUICK).set_params(missing=missing, encode=True).fit(X, y)
    formula = "died ~ . - dose - copy"
    fit = treeselect.select(
        formula, mixed, method="importance", k=2, seed=0, missing=missing, **FOREST
    )
    assert found.result_.selected == fit.selected
    assert found.result_.predict(X).tolist() == fit.predict(mixed).tolist()
    unknown = X[[name for name in found.get_feature_names_out() if name in X]].isna()
    assert np.isnan(found.transform(X)).sum() == unknown.to_numpy().sum()


LEVELS = ["worse", "same", "better"]
ORDERED = pd.Series(pd.Categorical(LEVELS * 40, LEVELS, ordered=True), np.arange(120) * 2)


@pytest.mark.parametrize("formula", [None, "y ~ x + z"])
@pytest.mark.parametrize("y", [
    ORDERED, ORDERED.array, pl.Series(LEVELS * 40, dtype=pl.Enum(LEVELS)),
])  # fmt: skip
def test_categories_of_the_response_keep_their_order(formula, y):
    X = pd.DataFrame({"x": np.tile([1.0, 2.0, 3.0], 40), "z": np.arange(120.0) % 7})
    options = {"k": 1, "formula": formula, "random_state": 1}
    found = TreeSelector("mrmr", family="ordinal", **options).fit(X, y)
    assert found.result_.data.design.response.classes == tuple(LEVELS)
    found = TreeSelector("mrmr", **options).fit(X, pd.Categorical(["b", "a"] * 60, ["b", "a"]))
    assert found.result_.data.design.response.classes == ("b", "a")


def test_what_select_says_is_what_is_kept(data, mixed):
    X, y = data
    found = clone(QUICK).fit(X, y)
    fit = treeselect.select(
        "died ~ . - dose - copy", mixed, method="importance", k=2, seed=0, **FOREST
    )
    assert found.result_.selected == fit.selected == ("signal", "site")
    assert list(found.feature_names_in_) == list(X)
    assert list(found.get_feature_names_out()) == ["signal", "site"]
    np.testing.assert_array_equal(found.get_support(indices=True), [0, 1])
    tidy = fit.tidy().set_index("term")["importance"]
    np.testing.assert_array_equal(found.feature_importances_, tidy[list(X)])
    assert found.feature_importances_.sum() == pytest.approx(1)
    assert "Selected terms" in str(found.result_.summary())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library(data, library):
    X, y = data
    frame = {"pandas": lambda: X, "polars": lambda: pl.from_pandas(X)}.get(
        library, lambda: pa.Table.from_pandas(X)
    )()
    found = clone(QUICK).fit(frame, y)
    np.testing.assert_array_equal(found.get_support(), clone(QUICK).fit(X, y).get_support())
    assert found.transform(frame).shape == (len(y), 2)
    as_pandas = clone(found).set_output(transform="pandas").fit(frame, y).transform(frame)
    assert isinstance(as_pandas, pd.DataFrame)
    assert isinstance(as_pandas["site"].dtype, pd.CategoricalDtype)
    np.testing.assert_array_equal(as_pandas["signal"], X["signal"])
    as_polars = clone(found).set_output(transform="polars").fit(frame, y).transform(frame)
    assert isinstance(as_polars, pl.DataFrame)
    assert as_polars.columns == ["signal", "site"]
    assert as_polars["site"].null_count() == X["site"].isna().sum()


def test_frames_keep_their_index_and_any_order_of_columns(data):
    X, y = data
    X = X.set_axis(range(1000, 1000 + len(X)), axis=0)
    out = clone(QUICK).set_output(transform="pandas").fit_transform(X, y)
    assert out.index.equals(X.index)
    X, y = data
    names = list(X)[::-1]
    found = clone(QUICK).fit(X[names], y)
    assert set(found.get_feature_names_out()) == {"signal", "site"}
    whole = X.assign(noise=pd.array([pd.NA, *range(1, len(X))], dtype="Int64"))  # beside labels
    np.testing.assert_array_equal(found.transform(whole[names])[:, 1], X["signal"])
    first = clone(QUICK).fit(X, y)
    np.testing.assert_array_equal(found.feature_importances_, first.feature_importances_[::-1])
    with pytest.raises(OptionError, match="`y` must be in the order of the rows"):
        clone(QUICK).fit(X, pd.Series(y)[::-1])
    turned = pd.Series(np.arange(len(X)) % 4)[::-1]
    with pytest.raises(OptionError, match="`fold_groups` must be in the order of the rows"):
        clone(QUICK).fit(X, y, fold_groups=turned)
    with pytest.raises(OptionError, match="`folds` must be in the order of the rows"):
        clone(QUICK).set_params(k="best", folds=turned).fit(X, y)


def test_arrays_have_numbered_columns_groups_costs_and_kept_ones(data):
    X, y = data
    numbers = X[["noise", "signal"]].to_numpy()
    found = TreeSelector("importance", 1, method_options=FOREST, random_state=0).fit(numbers, y)
    assert found.result_.selected == ("x1",)
    assert not hasattr(found, "feature_names_in_")
    np.testing.assert_array_equal(found.transform(numbers), numbers[:, [1]])
    unnamed = pd.DataFrame(numbers)
    assert clone(found).fit(unnamed, y).result_.selected == ("x1",)
    mixed_array = X[["noise", "site"]].astype(object).to_numpy()
    found = TreeSelector("mrmr", 1, random_state=0).fit(mixed_array, y)
    assert found.result_.data.design.spec["x1"].kind == "factor"
    assert found.result_.selected == ("x1",)
    given = {"groups": {"pair": ["noise", "colour"]}, "keep": ["pair", "flag"]}
    found = clone(QUICK).set_params(k=3, **given).fit(X, y)
    np.testing.assert_array_equal(found.get_support(), [1, 0, 1, 1, 1])
    cheap = TreeSelector("lasso", 1, costs={"signal": 50.0}).fit(X, y)
    assert cheap.get_feature_names_out().tolist() == ["site"]
    assert TreeSelector("lasso", 1).fit(X, y).get_feature_names_out().tolist() == ["signal"]
    assert clone(QUICK).set_params(keep="x4").fit(X.to_numpy(object), y).get_support()[4]


def test_a_column_may_be_called_like_the_response_or_come_from_a_transformer(data):
    X, y = data
    renamed = X.rename(columns={"signal": "y", "noise": "y_"})
    found = clone(QUICK).fit(renamed, y)
    assert found.result_.formula == "y__ ~ y + site"
    parts = ColumnTransformer([("few", clone(QUICK), ["signal", "site", "noise"])])
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        frame = X if library == "pandas" else pl.from_pandas(X)
        out = clone(parts).set_output(transform=library).fit_transform(frame, y)
        assert isinstance(out, kind)
        assert list(out.columns) == ["few__signal", "few__site"]


def test_text_reaches_an_estimator_as_numbers(data):
    X, y = data
    X = X.assign(site=X["site"].astype(object))
    selector = clone(QUICK).set_params(k=4, keep=["site", "flag"], encode=True, new_levels="other")
    model = make_pipeline(selector, HistGradientBoostingClassifier(max_iter=5, random_state=0))
    assert cross_val_score(model, X, y, cv=2).mean() > 0.7
    found = clone(selector).fit(X, y)
    out, names = found.transform(X), list(found.get_feature_names_out())
    assert out.dtype == np.float64
    for level in X["site"].dropna().unique():
        np.testing.assert_array_equal(out[:, names.index(f"site[{level}]")], X["site"] == level)
    np.testing.assert_array_equal(out[:, names.index("flag")], X["flag"])
    framed = clone(found).set_output(transform="pandas").fit(X, y).transform(X)
    assert list(framed) == names
    with pytest.raises(OptionError, match="`inverse_transform` must"):
        found.inverse_transform(out)
    texts = X[["noise", "site"]].astype(object).to_numpy()
    by_number = clone(selector).set_params(k=1, keep=None, method="mrmr", method_options=None)
    assert by_number.fit(texts, y).get_feature_names_out()[0].startswith("x1[")
    assert by_number.transform(texts[:1]).shape[0] == 1
    with pytest.raises(NewDataError, match="elsewhere"):
        clone(found).set_params(new_levels="error").fit(X, y).transform(X.assign(site="elsewhere"))


def test_weights_and_groups_of_folds_are_routed(data):
    X, y = data
    weight, patient = np.ones(len(y)), np.arange(len(y)) // 4
    seen = []

    class Watched(TreeSelector):
        def fit(self, X, y, sample_weight=None, fold_groups=None):
            seen.append((len(sample_weight), len(fold_groups)))
            return super().fit(X, y, sample_weight, fold_groups)

    with sklearn.config_context(enable_metadata_routing=True):
        selector = Watched("mrmr", "best", folds=2, random_state=0)
        selector.set_fit_request(sample_weight=True, fold_groups=True)
        last = LogisticRegression().set_fit_request(sample_weight=False)
        model = make_pipeline(selector, last.set_score_request(sample_weight=False))
        numbers = X[["signal"]].assign(other=np.arange(len(y)) % 7)
        model.fit(numbers, y, sample_weight=weight, fold_groups=patient)
    assert seen == [(400, 400)]
    rows = model[0].result_.data.design.row_weights
    assert len(np.unique(rows.groups)) == 100


def test_rules_of_size_seeds_and_labels(data):
    X, y = data
    assert clone(QUICK).fit(X, y).result_.search.seed == 0
    seeds = [
        clone(QUICK).set_params(random_state=np.random.RandomState(3)).fit(X, y).result_.search.seed
        for _ in range(2)
    ]
    assert seeds[0] == seeds[1]
    assert clone(QUICK).set_params(random_state=None).fit(X, y).result_.search.seed >= 0
    found = TreeSelector("mrmr", "1se", folds=3, resamples=4, random_state=0).fit(X, y)
    assert found.result_.search.scores is not None
    assert found.result_.stability.n_resamples == 4
    labelled = X.copy(deep=False)
    labelled.attrs["labels"] = {X.columns[0]: "The first", "elsewhere": "none"}
    fit = TreeSelector("mrmr", k=1, random_state=1).fit(labelled, y).result_
    assert fit.data.design.labels == {X.columns[0]: "The first"}
    assert X.attrs == {}


def test_nothing_selected_is_a_warning(data):
    X, y = data
    found = TreeSelector("lasso", None, method_options={"lam": 1e6}, random_state=0).set_output(
        transform="polars"
    )
    found.fit(X, y)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert found.transform(pl.from_pandas(X)).shape[1] == 0
    found.set_output(transform="pandas")
    with pytest.warns(UserWarning, match="No features were selected"):
        assert found.transform(X).shape == (len(X), 0)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"costs": {-1: 2.0}}, OptionError, "Can.t find `-1`, named in `costs`"),
        ({"groups": {"a": ["sgnal"]}}, OptionError, "Did you mean `signal`"),
        ({"groups": {"a": "signal"}}, OptionError, "must list at least one term"),
        ({"method_options": {"gama": 1}}, MethodError, "no option `gama`"),
        ({"method_options": {"k": 1}}, MethodError, "no option `k`"),
        ({"k": 50}, OptionError, "`k` must be at most 5, the number of candidate terms"),
        ({"family": "poisson"}, OptionError, "`family='poisson'` needs a numeric response"),
    ],
)
def test_what_is_not_allowed(data, arguments, error, says):
    X, y = data
    labels = np.where(y, "yes", "no") if "family" in arguments else y
    with pytest.raises(error, match=says) as caught:
        clone(QUICK).set_params(**arguments).fit(X, labels)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, TreeselectError)


def test_frames_rows_and_responses_that_can_not_be_used(data):
    X, y = data
    with pytest.raises(DataError, match="`X` must be in memory"):
        clone(QUICK).fit(pl.from_pandas(X).lazy(), y)
    with pytest.raises(DataError, match="Found more than once: `signal`"):
        clone(QUICK).fit(X[["signal", "noise", "signal"]], y)
    with pytest.raises(DataError, match="`when`"):
        clone(QUICK).fit(X.assign(when=pd.Timestamp("2020-01-01")), y)
    with pytest.raises(TypeError, match="string names"):
        clone(QUICK).fit(X.rename(columns={"signal": 1}), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(QUICK).fit(X, y[:10])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(QUICK).fit(X, y, sample_weight=[1.0])
    with pytest.raises(OptionError, match=r"`y` and X .*\n  Found: 1 and"):
        clone(QUICK).set_params(formula="y ~ .").fit(X, (1,))
    with pytest.raises(ValueError, match="Input y contains NaN"):
        clone(QUICK).fit(X, np.where(y, 1.0, np.nan))


# --- times to an event ---------------------------------------------------------------------------


def times(rng, n=60):
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "time", "event"])
    time = rng.exponential(np.exp(-X["a"]))
    y = np.array(list(zip(rng.random(n) < 0.8, time, strict=True)), [("cens", bool), ("t", float)])
    return X, y


def test_structured_arrays_are_times_and_two_columns_no_response():
    y = np.column_stack([np.arange(20.0), np.arange(20) % 2])
    with pytest.raises(OptionError, match=r"Surv\.from_arrays"):
        TreeSelector("importance", k=1).fit(np.zeros((20, 2)), y)
    X, y = times(np.random.default_rng(1))
    y["t"][3] = np.nan
    with pytest.raises(ValueError, match=r"y\['t'\] contains NaN"):
        QUICK.fit(X, y)
    X, y = times(np.random.default_rng(1))
    chosen = TreeSelector("rrf", 1, method_options=FOREST, random_state=0).fit(X, y)
    response = chosen.result_.data.design.response
    assert response.name == "Surv(time_, event_)"
    assert response.y[:, 1].tolist() == pytest.approx(y["t"].tolist())
    assert response.y[:, 2].tolist() == y["cens"].tolist()
    assert chosen.get_feature_names_out().tolist() == ["a"]


@pytest.mark.parametrize(
    "y",
    [
        np.zeros(60, [("event", bool)]),
        np.zeros(60, [("event", int), ("time", float)]),
        np.zeros(60, [("event", bool), ("seen", bool)]),
        np.zeros(60, [("event", bool), ("start", float), ("time", float)]),
        np.zeros((60, 1), [("event", bool), ("time", float)]),
    ],
)
def test_structured_arrays_that_are_no_times(y):
    X, _ = times(np.random.default_rng(1))
    with pytest.raises(OptionError, match="must have two fields"):
        QUICK.fit(X, y)
