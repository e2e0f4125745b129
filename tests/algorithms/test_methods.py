"""What every method promises, asked of each."""

import contextlib
import dataclasses
import functools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from tasks import in_families, task_of, with_problem

import treeselect
from treeselect.algorithms.registry import METHODS
from treeselect.designs.modeldata import RowCounts
from treeselect.errors import MethodError

QUICK = {
    **{name: {} for name in METHODS},
    **{name: {"n_trees": 20} for name in ("exchange", "rrf", "grrf")},
    **{name: {"n_trees": 50} for name in ("importance", "varselrf")},
    "controlburn": {"forests": 1, "n_trees": 10}, "rboost": {"n_trees": 10},
    "gbfs": {"n_trees": 30}, "rfe": {"n_trees": 30}, "boruta": {"n_trees": 20, "max_rounds": 12},
}  # fmt: skip
WITHOUT_PRICES = (
    *("importance", "rfe", "boruta", "mrmr", "cfs", "fcbf", "svm_rfe", "varselrf", "stepwise"),
)
WITH_COPIES = {"importance", "rfe", "boruta", "cfs", "svm_rfe", "varselrf"}
"""A copy may come right after what it copies: importance is divided among them, or the merit falls
less by a copy than by a weak unit."""

ENDS_EARLY = {"fcbf": 2, "hsic_lasso": 3}
"""How many of the six units those find worth taking that do not take all of them in the end."""

ANY_DEPENDENCE = ("mrmr", "cfs", "fcbf", "hsic_lasso")  # on the spread, too
EVERY = pytest.mark.parametrize("method", METHODS)


def select(formula, data, method, **arguments):
    return treeselect.select(
        formula, data, method=method, **{"seed": 3, **QUICK[method], **arguments}
    )


@pytest.fixture(scope="module")
def plain(mixed):
    """Fits without anything else, each made once for all tests that look at it."""

    @functools.cache
    def fit(method, k, formula="died ~ . - dose"):
        return select(formula, mixed, method, k=k)

    return fit


@EVERY
@pytest.mark.parametrize("formula", ["died ~ . - dose", "dose ~ . - died"])
def test_the_signal_is_found_among_factors_and_missing_values(plain, mixed, method, formula):
    k = 3 if method in WITH_COPIES else 2
    fit = plain(method, k, formula)
    assert fit.k == k
    assert "site" in fit.selected
    assert {"signal", "copy"} & set(fit.selected)
    assert len(fit.predict(mixed)) == len(mixed)


@EVERY
def test_paths_rise_to_the_size_of_k_and_importance_is_that_of_the_selected(plain, method):
    fit = plain(method, 5)
    sizes = [step.size for step in fit.search.steps]
    assert sizes == sorted(set(sizes))
    for step in fit.search.steps:
        assert not step.importance[~step.selected].any()
        assert step.importance.sum() == pytest.approx(1.0 if step.importance.any() else 0.0)
        assert np.isfinite(step.train_score)
    for k in (1, 5):
        assert plain(method, k).k == min(k, ENDS_EARLY.get(method, k))


@EVERY
def test_scores_that_nobody_looks_at_change_nothing(mixed, method):
    chosen = METHODS[method](**QUICK[method])
    task = task_of(mixed, chosen, "died ~ . - dose", max_size=3, seed=4)
    scored, quick = map(chosen.path, (task, with_problem(task, wants_scores=False)))
    for one, other in zip(scored, quick, strict=True):
        assert one.tuning == other.tuning
        np.testing.assert_array_equal(one.selected, other.selected)
        if other.importance.any():  # stepwise selection leaves out what nobody reads
            np.testing.assert_array_equal(one.importance, other.importance)
        assert np.isnan(other.train_score) or one.train_score == other.train_score


@EVERY
def test_kept_units_are_in_every_step_and_groups_come_as_one(mixed, method):
    fit = select("died ~ . - dose", mixed, method, k=3, keep=["noise"])
    at = fit.data.design.arrays.groups.names.index("noise")
    assert all(step.selected[at] for step in fit.search.steps)
    assert "noise" in fit.selected
    groups = {"both": ["signal", "site"]}
    fit = select("died ~ . - dose - copy", mixed, method, k=1, groups=groups)
    assert fit.groups == ("both",)
    assert set(fit.selected) == {"signal", "site"}


@EVERY
def test_of_two_copies_the_cheaper_one_is_taken(mixed, method):
    if method in WITHOUT_PRICES:
        with pytest.raises(MethodError, match="can't take `costs`"):
            select("died ~ signal + copy", mixed, method, k=1, costs={"copy": 3.0})
        return
    for dear, cheap in (("signal", "copy"), ("copy", "signal")):
        fit = select("died ~ signal + copy + noise", mixed, method, k=1, costs={dear: 3.0})
        assert fit.selected == (cheap,)


@EVERY
def test_a_tuning_value_decides_alone(mixed, method):
    name = METHODS[method].tuning_name
    tried = {"controlburn": 0.02, "gbfs": 0.005, "lasso": 0.05, "mrmr": 0.0, "cfs": 0.0,
             "fcbf": 0.01, "hsic_lasso": 0.05, "stepwise": 5.0}  # fmt: skip
    value = tried.get(method, 0.6)
    fit = select("died ~ . - dose", mixed, method, **{name: value})
    assert fit.search.step.tuning == value
    assert 1 <= fit.k <= 6


@EVERY
def test_cross_validation_chooses_a_size(mixed, method):
    fit = select("died ~ signal + site + noise", mixed, method, k="1se", folds=2)
    assert fit.search.scores is not None
    assert 1 <= fit.k <= 3
    assert fit.path["cv_score"].notna().all()


@EVERY
def test_offsets_take_the_place_of_what_they_explain_and_constants_never_come(method):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    data["known"] = 5 * data["a"]
    data["y"] = data["known"] + data["b"] + 0.1 * rng.normal(size=400)
    assert select("y ~ a + b", data, method, k=1).selected == ("a",)
    assert select("y ~ a + b", data, method, k=1, offset="known").selected == ("b",)
    counts = data.assign(known=data["a"], n=rng.poisson(np.exp(data["a"] + data["b"])))
    asked = {"k": 1, "family": "poisson", "offset": "known"}
    told = pytest.raises(MethodError, match=f"{method} can't use an `offset` with a poisson")
    with told if method in ANY_DEPENDENCE else contextlib.nullcontext():
        assert select("n ~ a + b", counts, method, **asked).selected == ("b",)
    data = pd.DataFrame({"y": [0.0, 1.0, 2.0, 3.0] * 5, "a": 1.0, "b": np.nan})
    fit = select("y ~ .", data, method, k=1)
    assert fit.selected == ()
    assert fit.predict(data).nunique() == 1


def assert_same_answer(one, other, data, rows=slice(None)):
    """Steps and predictions bit for bit; `other` may know more units."""
    names = [np.array(fit.data.design.arrays.groups.names) for fit in (one, other)]
    assert len(one.search.steps) == len(other.search.steps)
    for a, b in zip(one.search.steps, other.search.steps, strict=True):
        assert a.tuning == b.tuning or (np.isnan(a.tuning) and np.isnan(b.tuning))
        assert names[0][a.selected].tolist() == names[1][b.selected].tolist()
        assert a.importance[a.selected].tolist() == b.importance[b.selected].tolist()
    assert one.selected == other.selected
    np.testing.assert_array_equal(one.predict(data), np.asarray(other.predict(data))[rows])


@EVERY
def test_a_row_of_weight_0_is_not_there(mixed, method):
    mixed = mixed.iloc[::2].reset_index(drop=True)
    formula, (garbage, weight, there) = "died ~ . - dose", with_garbage(mixed)
    plain = select(formula, mixed, method, k=2, weights=weight[there])
    more = select(formula, garbage, method, k=2, weights=weight, new_levels="missing")
    assert_same_answer(plain, more, garbage[there])
    n = weight.sum()
    assert more.data.design.rows == RowCounts(n, 0, 150, more_copies=n - len(mixed))
    assert len(more.augment(garbage)) == len(garbage)


def with_garbage(mixed):
    """The rows and 150 others between them, of weight 0, whose like is not among them."""
    rng = np.random.default_rng(8)
    other = mixed.sample(150, replace=True, random_state=1, ignore_index=True)
    for name in ("signal", "copy", "noise", "dose"):
        other[name] = np.where(rng.random(150) < 0.1, np.nan, 1e6 * rng.normal(size=150))
    other["colour"] = [f"colour {i}" for i in range(150)]
    order = rng.permutation(350)
    order = order[np.argsort(np.where(order < 200, order, 200 * rng.random(350)), kind="stable")]
    garbage = pd.concat([mixed, other], ignore_index=True).iloc[order].reset_index(drop=True)
    there = order < 200
    pd.testing.assert_frame_equal(garbage[there].reset_index(drop=True), mixed)
    return garbage, np.where(there, rng.integers(1, 4, 350), 0), there


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rfe", {"share": 0.5}),
        ("svm_rfe", {"share": 0.5}),
        ("varselrf", {"c_sd": 1.0}),
        ("boruta", {"level": 0.3}),
        ("controlburn", {"forest": "single-feature", "k": 2}),
        ("controlburn", {"forest": "double bag-boosting", "max_features": 0.5, "k": 2}),
        ("rboost", {"form": "gradient", "k": 2}),
        ("rboost", {"ties": "random", "k": 2}),
        ("rrf", {"lam": 0.9, "ties": "random"}),
        ("rrf", {"folds": 2}),
    ],
)
def test_nor_do_they_with_other_options(mixed, method, options):
    plain = select("died ~ . - dose", mixed, method, **options)
    useless = mixed.assign(a=1.0, hollow=np.nan, one="same")
    more = select("died ~ . - dose", useless, method, **options)
    assert_same_answer(plain, more, useless)


@pytest.mark.parametrize("method", ["lasso", "stepwise", "gbfs", "controlburn"])
def test_scores_do_not_hang_on_the_last_bits_of_predictions(mixed, method):
    """Rows of the same levels tie, though another processor parts them by rounding."""
    chosen = METHODS[method](**QUICK[method])
    task = task_of(mixed, chosen, "died ~ site + colour + flag", max_size=3, seed=1)
    off = 1 + 4e-16 * np.random.default_rng(0).integers(-1, 2, len(mixed))
    mean = {"mean": lambda eta: expit(eta) * off[: len(eta)]}
    shaken = with_problem(task, family=dataclasses.replace(task.problem.family, **mean))
    plain, other = map(chosen.path, (task, shaken))
    scores = [step.train_score for step in plain]
    assert scores == [step.train_score for step in other]
    assert len(scores) > 2


@EVERY
def test_reports_and_summaries_name_the_method_and_say_what_scores_are(plain, method, tmp_path):
    fit = plain(method, 1)
    summary, report = fit.summary().as_text(), fit.report(tmp_path / "r.html").read_text()
    assert METHODS[method].title in summary
    assert METHODS[method].title in report
    out_of_bag = fit.search.method.tells_out_of_bag
    assert ("out of bag" in summary) == out_of_bag
    assert (", out of bag" in report) == out_of_bag


@pytest.mark.parametrize("method", ["rrf", "grrf", "rboost", "gbfs"])
def test_three_classes_and_counts_have_paths(mixed, method):
    chosen = METHODS[method](n_trees=100)
    task = task_of(mixed, chosen, "dose ~ . - died", max_size=2, seed=1)
    for here in in_families(task, 4.0)[1:]:
        best = next(step for step in chosen.path(here) if step.size >= 2)
        names = np.array(task.problem.groups.names)[np.argsort(-best.importance)[:3]]
        assert {"signal", "copy", "site"} & set(names[:1])
        assert "site" in names
        assert 0 < best.train_score <= 1


WHOLE = {
    "gbfs": {"n_trees": 20, "max_depth": 2},
    "rrf": {"lam": 0.5, "k": None, "n_trees": 5, "sample_fraction": 1.0, "screen": False},
    "grrf": {"gamma": 0.5, "k": None, "n_trees": 5, "sample_fraction": 1.0, "screen": False},
    "rboost": {"lam": 0.3, "k": None, "form": "gradient", "n_trees": 5, "screen": False},
    **{name: {} for name in ("lasso", "stepwise", "mrmr", "cfs", "fcbf", "hsic_lasso", "svm_rfe")},
}
"""Methods, and their options, that draw no rows. Others, and paths whose sets are compared out of
bag, draw distinct rows, each with all its copies; copies that stand in rows of their own are drawn
apart, in the bag and out of it."""

UNITS = (0.1, 0.7)


@pytest.mark.parametrize("method", WHOLE)
def test_whole_weights_are_copies_and_relative_ones_have_no_unit_where_no_rows_are_drawn(method):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=150)
    data["risk"] = 2 * data["a"] + 2 * (data["site"] == "York")
    data["died"] = rng.random(150) < expit(-data["risk"])
    data.loc[::9, "b"] = np.nan
    weight = rng.integers(0, 4, size=150)
    copied = data.iloc[np.repeat(np.arange(150), weight)].reset_index(drop=True)
    options = {"seed": 1, "k": 2, **WHOLE[method]}
    for formula in ("died ~ . - risk", "I(risk + c) ~ . - died - risk"):
        one, other, low, high = (
            treeselect.select(formula, frame, method=method, weights=own, **options)
            for frame, own in ((data, weight), (copied, None), *((data, weight * u) for u in UNITS))
        )
        edges = zip(one.data.design.arrays.edges, other.data.design.arrays.edges, strict=True)
        assert all(a is b is None or np.array_equal(a, b) for a, b in edges)
        for pair in ((one, other), (low, high)):
            for a, b in zip(*(fit.search.steps for fit in pair), strict=True):
                np.testing.assert_array_equal(a.selected, b.selected)
                # Sums are taken in another order, and what is solved in steps ends elsewhere.
                assert a.tuning == pytest.approx(b.tuning, rel=1e-5)
                np.testing.assert_allclose(a.importance, b.importance, atol=1e-5)
