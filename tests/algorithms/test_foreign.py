"""Selectors of scikit-learn as methods: equal to themselves, and good members of the family."""

import dataclasses
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from quick import WITH_GAPS, normal
from round_numbers import with_round_numbers
from sklearn.base import BaseEstimator
from sklearn.cluster import FeatureAgglomeration
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFdr,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
)
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tasks import sizes_of, task_of

import treeselect
from treeselect import ForeignSelector
from treeselect.algorithms.linear.penalised import linear_columns
from treeselect.algorithms.method import OWN, Method
from treeselect.algorithms.registry import find_method
from treeselect.designs.estimators import seeded, text_of
from treeselect.errors import MethodError, OptionError

pytestmark = WITH_GAPS


LEAST_SQUARES = LinearRegression()


@pytest.fixture(scope="module")
def linear():
    """Numbers without missing values: `a`, `b` and `c` matter, less and less; the rest is noise."""
    return normal(4, 150, ["a", "b", "c", "n0", "n1", "n2", "n3"], a=3, b=-2, c=1)


def select(data, selector, formula="y ~ .", **arguments):
    return treeselect.select(formula, data, method=selector, **{"seed": 2, **arguments})


def taken_by(selector, data):
    """What scikit-learn itself selects of the numbers, standardised."""
    x = data.drop(columns="y")
    fitted = selector.fit(StandardScaler().fit_transform(x), data["y"])
    return set(x.columns[fitted.get_support()])


@pytest.mark.parametrize(
    "of_size",
    [
        lambda k: SelectKBest(f_regression, k=k),
        lambda k: RFE(LEAST_SQUARES, n_features_to_select=k),
        lambda k: RFE(LEAST_SQUARES, n_features_to_select=k, step=3),
        lambda k: SelectFromModel(LEAST_SQUARES, max_features=k, threshold=-np.inf),
        lambda k: make_pipeline(StandardScaler(), SelectKBest(f_regression, k=k)),
    ],
)
def test_every_step_is_what_scikit_learn_selects(linear, of_size):
    method = ForeignSelector(of_size(2))
    task = task_of(linear, method, max_size=7, seed=5)
    names, steps = np.array(task.problem.groups.names), method.path(task)
    assert sizes_of(steps) == list(range(8))
    assert [step.tuning for step in steps] == [np.inf, *range(1, 8)]
    for step in steps[1:]:
        twin = of_size(step.size)
        x = StandardScaler().fit_transform(linear[names])
        last = twin.fit(x, linear["y"])
        last = last[-1] if hasattr(last, "steps") else last
        assert set(names[step.selected]) == set(names[last.get_support()])


def test_steps_forward_and_an_own_size_or_number_of_columns(linear):
    data = linear.drop(columns=["n2", "n3"])
    for direction in ("forward", "backward"):
        selector = SequentialFeatureSelector(LEAST_SQUARES, cv=3, direction=direction)
        fit = select(data, selector, k=2)
        assert set(fit.selected) == taken_by(selector.set_params(n_features_to_select=2), data)
    assert [s.size for s in fit.search.steps] == [0, 2]  # smaller ones are not looked for
    assert select(data, selector, k=5).k == 5  # which scikit-learn refuses to select
    assert select(linear, SelectKBest(f_regression, k=4), columns="own").k == 4
    three = select(linear, SelectKBest(f_regression), columns=3)
    assert set(three.selected) == {"a", "b", "c"}
    assert three._fit.call.rule == "columns = 3 (fixed)"
    assert select(linear, SelectKBest(f_regression), columns=99).k == 7
    lasso = SelectFromModel(Lasso(alpha=0.3))
    assert set(select(linear, lasso, k=7).selected) == taken_by(lasso, linear)
    with pytest.raises(MethodError, match="`columns` can't be a number for SelectFdr"):
        ForeignSelector(SelectFdr(), columns=3)


@pytest.mark.parametrize(
    "selector",
    [SelectFdr(f_regression), RFECV(LEAST_SQUARES, cv=3), SelectFdr(f_regression, alpha=1e-300)],
)
def test_a_set_of_its_own_size(linear, selector):
    fit = select(linear, selector)
    assert set(fit.selected) == taken_by(selector, linear)
    assert fit.search.scores is None
    assert fit._fit.call.rule == f"k chosen by {type(selector).__name__}"
    if fit.k:
        (step,) = fit.search.steps
        assert step.tuning == fit.k
        cut = select(linear, selector, k=1)
        assert cut.selected == ("a",)
        assert cut.search.step.cut_from == fit.k
        again = cut.resample(2).stability.selected
        assert again.sum(axis=1).tolist() == [1, 1]
    else:
        assert "No term was selected by SelectFdr." in fit.summary().as_text()


def test_columns_as_they_are_constant_ones_and_offsets(linear):
    wide = linear.assign(n2=30 * linear["n2"], n0=5 * linear["n0"])
    with pytest.raises(MethodError, match="No feature in X meets the variance threshold"):
        select(wide, VarianceThreshold(10.0))
    fit = select(wide, VarianceThreshold(10.0), standardise=False)
    assert set(fit.selected) == {"n0", "n2"}
    counts = wide.assign(y=linear["y"] > 0, a=np.exp(linear["a"]), b=linear["a"] ** 2)[list("yab")]
    with pytest.raises(MethodError, match=r"non-negative(.|\n)*`standardise=False` passes them"):
        select(counts, SelectKBest(chi2), k=1)
    assert select(counts, SelectKBest(chi2), k=1, standardise=False).selected == ("a",)
    data = pd.DataFrame({"y": [0.0, 1.0, 2.0, 3.0] * 5, "a": 1.0, "b": np.nan})
    for selector in (SelectKBest(f_regression), SelectFdr(f_regression)):
        assert select(data, selector, k=1).selected == ()
    assert select(data, SelectFdr(f_regression)).selected == ()
    known = 3.0 * linear["a"].to_numpy()
    best = SelectKBest(f_regression)
    assert select(linear, best, k=1).selected == ("a",)
    assert select(linear, best, k=1, offset=known).selected == ("b",)
    with pytest.raises(MethodError, match="can't use an `offset` with a binomial response"):
        select(linear.assign(y=linear["y"] > 0), SelectKBest(), k=1, offset=known)


def test_importances_are_scores_then_importances_then_ranks(linear):
    x = StandardScaler().fit_transform(linear[["a", "b", "c"]])
    wanted = {
        SelectKBest(f_regression): f_regression(x, linear["y"])[0],
        SelectFromModel(LEAST_SQUARES, threshold=-np.inf): np.abs(
            LinearRegression().fit(x, linear["y"]).coef_
        ),
        RFE(LEAST_SQUARES): np.array([1, 1 / 2, 1 / 3]),
        SequentialFeatureSelector(LEAST_SQUARES): np.ones(3),
    }
    for selector, worth in wanted.items():
        fit = select(linear, selector, "y ~ a + b + c", k=3)
        np.testing.assert_allclose(fit.search.step.importance, worth / worth.sum(), rtol=1e-9)


def test_a_factor_is_in_with_any_of_its_levels(mixed):
    selector = SelectKBest(f_classif)
    fit = select(mixed, selector, "died ~ . - dose", k=3)
    design = fit.data.design
    columns = linear_columns(design.arrays, design.weight, np.arange(6))
    unit = np.repeat(np.arange(6), np.diff(columns.start))
    scores = f_classif(columns.x, mixed["died"])[0]
    best = {unit[j] for j in np.argsort(-scores)[: int(fit.search.step.tuning)]}
    assert set(np.flatnonzero(fit.search.step.selected)) == best
    assert {"site", "signal", "copy"} == set(fit.selected)
    missing = mixed.assign(noise=np.where(mixed["died"], np.nan, mixed["noise"]))
    assert select(missing, selector, "died ~ noise + flag", k=1).selected == ("noise",)


class NeedsCopies(BaseEstimator):
    """Takes columns by the number of rows with positive values, which weights do not tell."""

    def fit(self, X, y):
        self.seen_ = X.copy()
        self.support_ = (X > 0).sum(axis=0) >= np.median((X > 0).sum(axis=0))
        return self

    def transform(self, X):
        return X[:, self.support_]


@pytest.mark.parametrize(
    "selector", [SelectFdr(f_regression, alpha=1e-6), NeedsCopies(), SelectKBest(f_regression)]
)
def test_weights_are_copies_of_rows(linear, selector):
    weight = np.random.default_rng(0).integers(0, 4, size=len(linear))
    copies = linear.loc[linear.index.repeat(weight)]
    once = select(linear, selector, weights=weight, k=3)
    twice = select(copies, selector, k=3)
    assert once.selected == twice.selected
    np.testing.assert_allclose(once.search.step.importance, twice.search.step.importance, rtol=1e-9)
    shares = select(linear, selector, weights=weight * 0.7, k=3)
    assert set(shares.selected) == set(once.selected)


class Weighted(BaseEstimator):
    """Takes the columns whose weighted mean product with y is above a half."""

    def fit(self, X, y, sample_weight=None):
        self.mask_ = np.abs(np.average(X.T * y, axis=1, weights=sample_weight)) > 0.5
        return self

    def get_support(self):
        return self.mask_


def test_weights_are_passed_on_or_refused(linear):
    weight = 0.1 + np.random.default_rng(3).random(len(linear))
    x = linear.drop(columns="y")
    mean = np.average(x, axis=0, weights=weight)
    z = (x - mean) / np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weight))
    twin = Weighted().fit(z.to_numpy(), linear["y"].to_numpy(), weight)
    found = set(select(linear, Weighted(), weights=weight).selected)
    assert found == set(x.columns[twin.get_support()])
    with pytest.raises(MethodError, match="multiples of the smallest one, as SelectFdr has no"):
        select(linear, SelectFdr(f_regression), weights=weight)
    equal = np.full(len(linear), 0.3)
    fit = select(linear, SelectFdr(f_regression), weights=equal, resamples=3)
    assert fit.selected == select(linear, SelectFdr(f_regression)).selected


@pytest.mark.parametrize(
    "selector",
    [
        SelectFromModel(ExtraTreesClassifier(10)),
        SelectKBest(mutual_info_classif),
        SequentialFeatureSelector(LEAST_SQUARES, cv=KFold(3, shuffle=True)),
    ],
)
def test_one_seed_one_answer_for_any_order_and_number_of_jobs(mixed, selector):
    formula = "died ~ noise + colour + flag + signal"
    shuffled = mixed[np.random.default_rng(1).permutation(mixed.columns)]
    fits = [select(mixed, selector, formula, k=2, resamples=2)]
    other = "died ~ signal + flag + noise + colour"
    fits.append(select(shuffled, selector, other, k=2, resamples=2))
    with joblib.parallel_config("threading"):
        fits.append(select(mixed, selector, formula, k=2, resamples=2, n_jobs=2))
    for fit in fits[1:]:
        assert fit.selected == fits[0].selected
        np.testing.assert_array_equal(fit.search.step.importance, fits[0].search.step.importance)
        np.testing.assert_array_equal(fit.stability.selected, fits[0].stability.selected)


def test_selectors_are_sent_split_and_never_changed(linear):
    fit = select(linear, RFE(LEAST_SQUARES), "y ~ a + b + n0", folds=2)
    assert fit.search.scores is not None
    assert {"a", "b"} <= set(fit.selected)
    assert fit.performance(2).k.min() >= 1
    splits = select(linear, SelectFdr(f_regression)).inference(repeats=2)
    assert len(splits.tidy()) == 7
    assert "k chosen by SelectFdr" in splits.summary().as_text()
    pruned = select(linear, SelectKBest(f_regression), "y ~ a + b + n0", k=2, prune=True)
    assert set(pruned.selected) == {"a", "b"}
    fit = select(linear, SelectKBest(f_regression), k=2)
    method = fit.search.method
    for one in (method, pickle.loads(pickle.dumps(method))):
        step = one.path(task_of(linear, method, max_size=2))[-1]
        np.testing.assert_array_equal(step.selected, fit.search.step.selected)
    selector = RFE(LEAST_SQUARES, n_features_to_select=3)
    fit = select(linear, selector, k=1)
    assert selector.n_features_to_select == 3
    assert not hasattr(selector, "support_")
    selector.set_params(estimator=None)
    assert fit.resample(2).stability.selected.shape == (2, 7)


def test_it_keeps_the_interface_seeds_all_states_and_shows_no_addresses():
    first, second = (
        seeded(
            make_pipeline(
                StandardScaler(),
                RFECV(ExtraTreesClassifier(), cv=KFold(3, shuffle=True)),
                SelectKBest(mutual_info_classif),
            ),
            seed,
        ).get_params()
        for seed in (1, 2)
    )
    assert first["rfecv__estimator__random_state"] != second["rfecv__estimator__random_state"]
    assert first["rfecv__cv"].random_state != second["rfecv__cv"].random_state
    assert first["selectkbest__score_func"].keywords["random_state"] is not None
    fixed = SelectFromModel(ExtraTreesClassifier(random_state=7))
    assert seeded(fixed, 1).estimator.random_state == 7
    assert KFold(3, shuffle=True).random_state is None
    method = find_method(SelectKBest(k=3), {"prune": True})
    assert isinstance(method, Method)
    assert (method.name, method.title) == ("SelectKBest", "SelectKBest (scikit-learn)")
    assert method.options() == {
        "columns": "auto", "standardise": True, "prune": True, "refine": False,
        "selector": "SelectKBest(k=3)", "parameters": "k=3, score_func=f_classif",
    }  # fmt: skip
    assert hash(method) == hash(dataclasses.replace(method))
    assert repr(method) == "ForeignSelector(SelectKBest(k=3), prune=True)"
    assert method.tuning_value is None
    assert find_method(SelectFdr(), {}).tuning_value == OWN
    assert find_method(SelectFdr(), {}).giving_way(3).tuning_value is None
    assert find_method(method, {"columns": 3}).tuning_value == 3
    shown = text_of(make_pipeline(StandardScaler(), SelectKBest(f_regression, k=2)))
    assert shown == (
        "Pipeline(steps=[('standardscaler', StandardScaler()),"
        " ('selectkbest', SelectKBest(k=2, score_func=f_regression))])"
    )
    assert text_of(SelectKBest(lambda x, y: x)) == "SelectKBest(score_func=<lambda>)"
    assert text_of([object()]) == "[<object>]"


def test_summary(linear, snapshot, tmp_path):
    fit = select(linear, SelectKBest(f_regression, k=3), k=2)
    assert with_round_numbers(fit, "a", "b").summary().as_text() == snapshot
    own = select(linear, SelectFdr(f_regression))
    made = with_round_numbers(own, "a", "b", "c", at_once=True)
    assert made.summary().as_text() == snapshot
    page = fit.report(tmp_path / "r.html").read_text()
    assert "k=3, score_func=f_regression" in page
    assert fit.glance()["method"].tolist() == ["SelectKBest"]


def test_models_are_saved_and_say_what_they_miss(mixed, tmp_path):
    for selector, arguments in ((SelectKBest(), {"k": 2}), (SelectFdr(), {})):
        fit = select(mixed, selector, "died ~ . - dose", **arguments)
        loaded = treeselect.load(fit.save(tmp_path / "model", include_data=True))
        np.testing.assert_array_equal(loaded.predict(mixed), fit.predict(mixed))
        name = type(selector).__name__
        assert loaded.summary().as_text() == fit.summary().as_text()
        assert loaded.search.method.name == name
        for call in (loaded.resample, loaded.performance, loaded.inference):
            with pytest.raises(
                MethodError, match=rf"select again with {name}(.|\n)*was {name}\(\). Fit again"
            ):
                call()
        again = treeselect.load(loaded.save(tmp_path / "again", include_data=True))
        assert again.search.method == loaded.search.method
        assert again.refit("forest").selected == fit.selected


class TooMany(BaseEstimator):
    """Has a `k` that is something else."""

    def __init__(self, k=5):
        self.k = k

    def fit(self, X, y):
        self.support_ = np.ones(X.shape[1], dtype=bool)
        return self

    def transform(self, X):
        return X


class Indices(TooMany):
    def get_support(self):
        return [0, 1]


@pytest.mark.parametrize(
    ("method", "says"),
    [
        (SelectKBest, r"Found: the class SelectKBest. Write `SelectKBest\(...\)`"),
        (LogisticRegression(), r"has no `get_support\(\)`. Wrap an estimator"),
        (object(), "Found: object"),
        (PCA(), "PCA, which has neither"),
        (make_pipeline(PCA(), SelectKBest()), "must keep the columns' names(.|\n)*PCA"),
        (make_pipeline(FeatureAgglomeration(), SelectKBest()), "FeatureAgglomeration"),
        (TooMany(), '`k` of TooMany must set(.|\n)*2 columns at `k=1`(.|\n)*`columns="own"`'),
        (Indices(), "True or False for each of 2 columns"),
        (RFE(object()), "RFE can't be fitted|Can't copy"),
        (SelectFromModel(make_pipeline(StandardScaler(), Lasso())), "fitted(.|\n)*have `coef_`"),
        (SelectFromModel(Lasso(alpha=-1.0)), "can't be fitted to 400 rows and 2 columns"),
    ],
)
def test_what_can_not_take_part(mixed, method, says):
    with pytest.raises(MethodError, match=says):
        select(mixed, method, "died ~ signal + flag", k=1)


@pytest.mark.parametrize(
    ("selector", "asked", "says"),
    [
        (
            SelectFdr(),
            {"k": "best"},
            "`k='best'` needs several sizes to choose from, and SelectFdr",
        ),
        (SelectKBest(), {"k": 2, "columns": 3}, "can't both determine"),
        (SelectKBest(), {"k": None}, "Give `columns`, or `k`"),
        (SelectKBest(), {"score": 1}, r"no option `score`(.|\n)*Set those of the selector"),
    ],
)
def test_options_that_do_not_go_together(linear, selector, asked, says):
    with pytest.raises((OptionError, MethodError), match=says):
        select(linear, selector, **asked)


def test_options_are_checked_when_built_and_warnings_said_twice(linear, mixed):
    for value in (0, True, 2.5, "all"):
        with pytest.raises(MethodError, match="`columns` of ForeignSelector must be"):
            ForeignSelector(SelectKBest(), columns=value)
    with pytest.raises(MethodError, match="`standardise` of ForeignSelector must be"):
        ForeignSelector(SelectKBest(), standardise=1)
    assert select(linear, TooMany(), columns="own").k == 7
    slow = SelectFromModel(LogisticRegression(max_iter=1), threshold=-np.inf)
    with pytest.warns(UserWarning, match="failed to converge") as said:
        fit = select(mixed, slow, "died ~ signal + flag", k=1)
    assert len(said) == 1
    issued = "SelectFromModel issued a ConvergenceWarning"
    assert sum(issued in note for note in fit.search.notes) == 1
