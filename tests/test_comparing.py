"""compare(): the same folds, arrays and seeds as select(), and what it refuses."""

import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from quick import normal
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import TimeSeriesSplit
from survival_data import small_fit

import treeselect
from treeselect import GRRF, MRMR, RRF, ControlBurn
from treeselect.comparison.methods import read_methods, read_sizes
from treeselect.errors import DataError, MethodError, OptionError
from treeselect.resampling.cross_validation import paired_difference

QUICK = ControlBurn(forests=1, n_trees=10)
FORMULA = "died ~ . - dose"


@pytest.fixture(scope="module")
def compared(mixed):
    return treeselect.compare(
        FORMULA, mixed, [QUICK, MRMR(), RRF(n_trees=10)], folds=2, repeats=2, seed=4, n_jobs=1
    )


@pytest.mark.parametrize("method", [QUICK, MRMR()])
def test_scores_by_size_are_those_of_select(mixed, compared, method):
    fit = treeselect.select(FORMULA, mixed, method=method, folds=2, repeats=2, seed=4)
    path = fit.path.set_index("k").dropna(
        subset="cv_score"
    )  # sizes that few paths reach have no score there
    assert len(path) > 4
    curves = compared.curves()
    own = curves[curves["method"] == method.name].set_index("k")
    assert own.index.tolist() == [*range(7)]
    np.testing.assert_array_equal(own.loc[path.index, "score"], path["cv_score"])
    np.testing.assert_array_equal(own.loc[path.index, "standard_error"], path["cv_se"])


def test_groups_weights_scoring_and_rows_in_order_of_time_are_those_of_all(fitted, mixed):
    one, two, three = fitted.data.design.problems_for([QUICK, RRF(), GRRF()])
    assert one.data is two.data is three.data
    assert one.exact is None
    assert two.exact is three.exact is not None
    data = mixed.assign(patient=np.repeat(np.arange(40), 10))
    found = treeselect.compare(FORMULA, data, ["mrmr"], k=2, fold_groups="patient", seed=1)
    assert "of whole patient clusters" in found.scheme
    assert not found.terms()["term"].isin(["patient"]).any()
    data = mixed.assign(w=np.arange(400) % 3)
    found = treeselect.compare(
        "dose ~ signal + noise + site + flag", data, ["lasso", "mrmr"], k="best",
        groups={"panel": ["signal", "noise"]}, weights="w", folds=TimeSeriesSplit(3),
        scoring="neg_mean_absolute_error", seed=1,
    )  # fmt: skip
    assert found.score_name == "neg_mean_absolute_error"
    assert found.n_train.tolist() == sorted(found.n_train)
    assert (found.n_test == found.n_test[0]).all()
    assert {("signal", "noise"), ("noise", "signal")} & {
        row[:2] for row in found.tidy()["terms"] if len(row) > 1
    }
    forced = treeselect.compare("dose ~ signal + site", data, ["mrmr"], k="best", folds=2,
                                keep=["signal", "site"], seed=1)  # fmt: skip
    assert "own k by the best score, from 2\n" in forced.summary().as_text()


def test_names_calls_and_any_order_of_columns_and_methods(mixed, compared):
    turned = mixed[mixed.columns[::-1]]
    methods = [RRF(n_trees=10), MRMR(), QUICK]
    again = treeselect.compare(FORMULA, turned, methods, folds=2, repeats=2, seed=4)
    keys = ["method", "repeat", "fold", "k"]
    pd.testing.assert_frame_equal(
        again.tidy().drop(columns="seconds").sort_values(keys, ignore_index=True),
        compared.tidy().drop(columns="seconds").sort_values(keys, ignore_index=True),
    )
    labels = [label for label, _ in read_methods(["rrf", RRF(n_trees=50), RRF(lam=0.5), "mrmr"])]
    assert labels == ["rrf()", "rrf(n_trees=50)", "rrf(lam=0.5)", "mrmr"]
    assert [label for label, _ in read_methods({"mine": "rrf", "other": RRF()})] == [
        "mine",
        "other",
    ]
    assert "[treeselect.ControlBurn(forests=1, n_trees=10), treeselect.MRMR()," in compared.call
    for methods in ((name for name in ["mrmr", "cfs"]), np.array(["mrmr", "cfs"])):
        found = treeselect.compare(FORMULA, mixed, methods, k=[1], folds=3, seed=1)
        assert found.methods == ("mrmr", "cfs")
        assert 'methods=["mrmr", "cfs"]' in found.call


def test_a_tuning_value_leads_to_one_set_and_selectors_take_part(mixed):
    methods = {"strict": RRF(n_trees=10, lam=0.01), "all": RRF(n_trees=10, lam=1.0)}
    found = treeselect.compare(FORMULA, mixed, methods, k=1, folds=3, seed=1)
    tidy = found.tidy()
    assert tidy["k"].isna().all()
    assert len(tidy) == 6
    assert (tidy.loc[tidy["method"] == "all", "n_selected"] > 3).all()
    assert (tidy.loc[tidy["method"] == "strict", "n_selected"] <= 3).all()
    assert "the set at each method's given tuning parameter" in str(found.summary())
    selectors = [SelectKBest(k=1), SelectKBest(f_classif), VarianceThreshold(), "mrmr"]
    found = treeselect.compare(FORMULA, mixed, selectors, k=2, folds=2, seed=1)
    assert found.methods == (
        "SelectKBest(k=1)", "SelectKBest()", "VarianceThreshold", "mrmr",
    )  # fmt: skip
    glance = found.glance().set_index("method")
    assert np.isnan(glance.loc["VarianceThreshold", "stability"])
    assert glance.loc["VarianceThreshold", "n_selected"] == 6
    assert glance["k"].isna().tolist() == [False, False, True, False]
    assert '[SelectKBest(k=1), SelectKBest(), VarianceThreshold(), "mrmr"]' in found.call


@pytest.mark.parametrize("rule", ["1se", "best"])
def test_no_rule_leaves_out_what_is_kept(mixed, rule):
    """Nothing predicts better than what is kept; select() has it all the same, and so has this."""
    made = {"k": rule, "keep": ["noise", "flag"], "folds": 3, "seed": 1}
    data = mixed.assign(died=np.random.default_rng(4).permutation(mixed["died"]))
    found = treeselect.compare("died ~ noise + flag + copy", data, ["mrmr"], **made)
    fit = treeselect.select("died ~ noise + flag + copy", data, method="mrmr", **made)
    assert found.curves()["score"].idxmax() == 0
    assert found.glance()[["k", "k_1se"]].to_numpy().tolist() == [[2, 2]]
    assert set(fit.selected) == {"noise", "flag"} == set(found.terms()["term"])
    assert "from 2 to 3" in str(found.summary())
    assert "The same folds chose k" in str(found.summary())


def test_one_size_is_not_chosen(mixed):
    made = {"keep": ["noise"], "folds": 2, "seed": 1}
    for formula, k in (("died ~ noise + copy", [2]), ("died ~ noise", "best")):
        said = str(treeselect.compare(formula, mixed, ["mrmr", "lasso"], k=k, **made).summary())
        assert "The same folds chose k" not in said
        assert "k (1 s.e.)" not in said
    one = treeselect.compare("died ~ noise + copy + flag", mixed, ["mrmr"], k=[2], **made)
    assert "k = 2: the largest set of at most 2 terms" in str(one.summary())


def test_tables_are_in_the_library_of_the_data_or_of_a_file(mixed, tmp_path):
    data = pl.from_pandas(mixed)
    found = treeselect.compare(FORMULA, data, ["mrmr", "importance"], k=1, folds=2, seed=1)
    for table in (found.tidy(), found.curves(), found.glance(), found.terms()):
        assert isinstance(table, pl.DataFrame)
    assert found.differences()["reference"].to_list() == [found.best]
    path = tmp_path / "patients.csv"
    mixed.to_csv(path, index=False)
    found = treeselect.compare(FORMULA, path, ["mrmr"], k=1, folds=2, seed=1)
    assert found.data == "patients.csv"
    assert 'treeselect.compare("died ~ . - dose"' in found.call


@pytest.mark.parametrize(
    ("methods", "kind", "message"),
    [
        ("rrf", OptionError, "must be a list"),
        ([], OptionError, "at least one method"),
        ({}, OptionError, "at least one method"),
        ({1: "rrf"}, OptionError, "text keys"),
        (["rrf", "rrf"], OptionError, "twice"),
        (["rrf", RRF()], OptionError, "twice"),
        (["rrf", "laso"], MethodError, "Did you mean `lasso`"),
        (["rrf", 7], MethodError, "Found: int"),
    ],
)
def test_methods_are_refused(methods, kind, message):
    with pytest.raises(kind) as error:
        read_methods(methods)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("k", "message"),
    [
        ([], "empty list"),
        ([1, 9], "the number of candidate terms"),
        ([1, 2.5], "whole number"),
        (0, "at least 1"),
        (9, "the number of candidate terms"),
        ("1.se", "must be a whole number"),
        ({1, 2}, "whole number"),
    ],
)
def test_sizes_are_refused(fitted, k, message):
    groups = fitted.data.design.arrays.groups
    with pytest.raises(OptionError) as error:
        read_sizes(k, groups)
    assert message in str(error.value)


def test_what_a_method_refuses_is_said_with_its_name_and_fold(mixed):
    with pytest.raises(MethodError, match="costs") as error:
        treeselect.compare(FORMULA, mixed, ["lasso", "mrmr"], costs={"site": 3.0}, seed=1)
    assert str(error.value).endswith("This was `mrmr` in fold 1.")


def test_data_and_folds_are_checked_as_by_select(mixed):
    with pytest.raises(OptionError) as error:
        treeselect.compare(FORMULA, mixed, ["mrmr"], folds=300, k=2)
    assert "needs none" not in str(error.value)
    one_class = np.where(mixed["died"], 0, 1)
    with pytest.raises(OptionError, match="every training set"):
        treeselect.compare(FORMULA, mixed, ["mrmr"], folds=one_class)


def test_reference_models_are_on_the_same_folds_and_no_methods(mixed, compared):
    found = compared.references()
    assert found["reference"].tolist() == ["null", "full"]
    p = len(compared.units)
    assert found["k"].tolist() == [0, p]
    assert found["score"][0] == 0.5
    assert len(compared.methods) == compared.glance()["method"].nunique() == 3
    assert set(compared.tidy()["method"]) == set(compared.methods)
    # A method that selects all units at the same fold and seed is refitted to the same forest.
    own = compared.curves().query("method == 'mrmr' and k == @p")
    np.testing.assert_allclose(own["score"], found["score"][1])
    assert "Reference models: AUC is 0.500" in str(compared.summary()).replace("\n", " ")


# --- two fits on the same rows, by the same folds -------------------------------------------------


@pytest.fixture(scope="module")
def data():
    frame = normal(5, 80, "abc", a=2)
    return frame.assign(site=np.repeat(list("uvwxyzst"), 10), w=np.tile([1, 2], 40))


@pytest.fixture(scope="module")
def fits(data):
    one = treeselect.select("y ~ a + b + c", data, method="mrmr", k=1, seed=2)
    return one, one.update("~ . - a", labels={"b": "Body mass"})


def pinball(tenths):
    return make_scorer(mean_pinball_loss, alpha=int(tenths) / 10, greater_is_better=False)


class Locked:
    """A score whose parts can't be read."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, truth, prediction):
        return -float(np.abs(truth - prediction).max())


def test_differences_of_fits_are_those_of_their_performance(fits):
    found = treeselect.compare(fits, folds=3, seed=7)
    one, two = (fit.performance(3, seed=7) for fit in fits)
    np.testing.assert_array_equal(found.scores, [one.scores, two.scores])
    expected = paired_difference(two.scores - one.scores, (one.n_test / one.n_train).mean())
    assert found.difference == expected
    assert found.difference.mean < 0
    row = found.glance().iloc[0]
    assert (row["difference"], row["p_value"]) == (expected.mean, expected.p_value)
    table = found.tidy()
    np.testing.assert_array_equal(table["difference"], table["score_2"] - table["score_1"])
    held_out = [np.sort(part.predictions()["row"]) for part in (one, two)]
    np.testing.assert_array_equal(*held_out)
    text = str(found.summary(digits=2))
    for part in ("Only in model 1: a", "Body mass", "model 2 minus model 1", "Nadeau"):
        assert part in text
    assert len(repr(found).splitlines()) == 1
    forth = treeselect.compare(fits, folds=3, seed=7).difference
    back = treeselect.compare(fits[::-1], folds=3, seed=7).difference
    assert back.mean == pytest.approx(-forth.mean)
    itself = treeselect.compare([fits[0], fits[0]], folds=2).difference
    assert (itself.mean, itself.p_value) == (0, 1)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"formula": "log(. + 20) ~ ."}, "same response"),
        ({"weights": "w", "weights_kind": "precision"}, "different case weights"),
        ({"offset": "w"}, "different offset"),
        ({"fold_groups": "site"}, "different clusters"),
    ],
)
def test_other_rows_are_refused(changes, found, fits):
    other = fits[0].update(**changes)
    with pytest.raises(DataError, match=found):
        treeselect.compare([fits[0], other], folds=2)


def test_what_is_refused_and_rows_that_one_fit_drops(data, fits):
    with pytest.raises(DataError, match="different rows"):
        treeselect.compare([fits[0], fits[0].update(data=data.head(60))])
    with pytest.raises(DataError, match="different values"):
        treeselect.compare([fits[0], fits[0].update(data=data.iloc[::-1])])
    for given in ([fits[0], "other"], [fits[0]], {"one": fits[0], "other": fits[1]}, []):
        with pytest.raises(OptionError, match="a list of results"):
            treeselect.compare(given)
    for name, value in {"k": 2, "data": data, "family": "gaussian", "na": -9}.items():
        with pytest.raises(OptionError, match=f"`{name}` must be left out"):
            treeselect.compare(fits, **{name: value})
    with pytest.raises(OptionError, match="no argument `fold`"):
        treeselect.compare(fits, fold=3)
    with pytest.raises(OptionError, match="`methods` must be"):
        treeselect.compare("y ~ .", data)
    named = fits[0].update(scoring="neg_mean_squared_error")
    # Functions of one name are told apart by what they compute.
    high, low, again = (fits[0].update(scoring=pinball(a), seed=i) for i, a in enumerate("991"))
    for pair in ([fits[0], named], [high, named], [high, again]):
        with pytest.raises(OptionError, match="`scoring` must be given: the fits have different"):
            treeselect.compare(pair)
    locked = fits[0].update(scoring=Locked())
    for pair in ([high, low], [named, named.update(seed=1)], [locked, locked.update(seed=1)]):
        assert treeselect.compare(pair, folds=3).scores.shape == (2, 3)
    some = data.assign(b=data["b"].where(data["b"] < 0.5))
    one = treeselect.select("y ~ a + b + c", some, method="mrmr", k=1, seed=2)
    two = one.update(missing="drop")
    found, other = (treeselect.compare(own, folds=3) for own in ([one, two], [two, one]))
    n_train = two.performance(3).n_train
    assert found.tidy()["n_train"].to_list() == other.tidy()["n_train"].to_list() == list(n_train)
    assert max(n_train) < min(one.performance(3).n_train)
    assert found.difference.p_value == other.difference.p_value
    assert treeselect.compare([one, one, two], folds=3).differences[1] == found.difference


def test_a_score_is_the_same_by_default_and_by_its_name():
    one = small_fit()
    found = treeselect.compare([one, one.update(scoring="harrell_c")], folds=2)
    assert found.difference.mean == 0


def test_growing_training_sets_have_one_ratio_of_held_out_rows_everywhere(fits, data):
    folds = TimeSeriesSplit(4)
    one = fits[0].performance(folds)
    ratio = (one.n_test / one.n_train).mean()
    assert ratio > 1.2 * one.n_test.sum() / one.n_train.sum()
    found = treeselect.compare(fits, folds=folds)
    assert found.difference == paired_difference(found.scores[1] - found.scores[0], ratio)
    compared = treeselect.compare(
        "y ~ a + b + c", data, ["mrmr", "importance"], k=[1, 3], folds=folds, seed=1
    )
    first, second = (run.scores[:, -1] for run in compared.runs)
    expected = paired_difference(first - second, ratio).p_value
    rows = compared.differences(reference="importance", k=3)
    assert rows["p_value"].iloc[0] == pytest.approx(expected)


def test_methods_are_scored_as_they_are_published():
    """The lasso by a linear model, exchange search by the stack, others by forests."""
    data = treeselect.datasets.load("titanic_correlated").head(300)
    given = {"methods": ["lasso", "mrmr", "exchange"], "k": [1, 2], "folds": 2, "seed": 1}
    tables = {
        model: treeselect.compare("survived ~ .", data, model=model, **given).tidy()
        for model in ("own", "glm", "stack", None)
    }
    for method, other in (("lasso", "glm"), ("mrmr", None), ("exchange", "stack")):
        own, like = (tables[m][tables[m]["method"] == method] for m in ("own", other))
        assert own["score"].tolist() == like["score"].tolist()
    said = treeselect.compare("survived ~ .", data, model="own", **given).summary().as_text()
    assert "forest of the selected terms, but for lasso" in " ".join(said.split())
    with pytest.raises(OptionError, match="`gam`, `own`"):
        treeselect.compare("survived ~ .", data, model="lm", **given)


def test_a_constant_column_makes_no_selection_more_stable():
    data = treeselect.datasets.load("titanic_correlated").head(200)[["survived", "sex", "age"]]
    others = data.assign(age=np.roll(data["age"], 1))
    given = {"method": "mrmr", "k": 2, "seed": 1}
    for frame in (data, data.assign(same=1.0)):
        fit = treeselect.select("survived ~ .", frame, resamples=3, **given)
        frames = [frame, others.assign(**frame.drop(columns=data.columns))]
        imputed = treeselect.select("survived ~ .", frames, resamples=3, **given)
        compared = treeselect.compare("survived ~ .", frame, ["mrmr"], k=2, folds=2, seed=1)
        indices = [
            fit.stability.index,
            fit.search.learning_curve([1], folds=2).tidy()["stability"][0],
            compared.glance()["stability"][0],
            *imputed.glance()[["index", "resample_index"]].iloc[0],
        ]
        assert np.isnan(indices).all()  # all that could be was always selected
        assert compared.curves()["k"].min() == 0
