"""What every method promises, asked of each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.algorithms.registry import METHODS
from treeselect.choosing import step_of_size
from treeselect.errors import MethodError
from treeselect.families import POISSON, multinomial

QUICK = {
    "controlburn": {"forests": 1, "n_trees": 10},
    "rrf": {"n_trees": 20},
    "grrf": {"n_trees": 20},
    "rboost": {"n_trees": 10},
    "gbfs": {"n_trees": 40},
    "importance": {"n_trees": 50},
    "rfe": {"n_trees": 30},
    "lasso": {},
    "mrmr": {},
    "cfs": {},
    "fcbf": {},
    "hsic_lasso": {},
    "boruta": {"n_trees": 20, "max_rounds": 12},
    "svm_rfe": {},
    "stepwise": {},
    "varselrf": {"n_trees": 50},
}
WITHOUT_PRICES = {
    "importance",
    "rfe",
    "boruta",
    "mrmr",
    "cfs",
    "fcbf",
    "svm_rfe",
    "varselrf",
    "stepwise",
}
WITH_COPIES = {"importance", "rfe", "boruta", "cfs", "svm_rfe", "varselrf"}
"""A copy may come right after what it copies: importance is divided among them, or the merit falls
less by a copy than by a weak unit."""

ENDS_EARLY = {"fcbf": 2, "hsic_lasso": 3}
"""How many of the six units those find worth taking that do not take all of them in the end."""

EVERY = pytest.mark.parametrize("method", METHODS)


def select(formula, data, method, **arguments):
    return treeselect.select(
        formula, data, method=method, **{"seed": 3, **QUICK[method], **arguments}
    )


@EVERY
@pytest.mark.parametrize("formula", ["died ~ . - dose", "dose ~ . - died"])
def test_the_signal_is_found_among_factors_and_missing_values(mixed, method, formula):
    k = 3 if method in WITH_COPIES else 2
    fit = select(formula, mixed, method, k=k)
    assert fit.k == k
    assert "site" in fit.selected
    assert {"signal", "copy"} & set(fit.selected)
    assert len(fit.predict(mixed)) == len(mixed)


@EVERY
def test_paths_rise_and_importance_is_that_of_what_is_selected(mixed, method):
    fit = select("died ~ . - dose", mixed, method, k=3)
    sizes = [step.size for step in fit.steps]
    assert sizes == sorted(set(sizes))
    for step in fit.steps:
        assert not step.importance[~step.selected].any()
        assert step.importance.sum() == pytest.approx(1.0 if step.importance.any() else 0.0)
        assert np.isfinite(step.train_score)


@EVERY
def test_scores_that_nobody_looks_at_change_nothing(mixed, method):
    fit = select("died ~ . - dose", mixed, method, k=2)
    problem, weight = fit.design.problem_for(fit.chosen_method), fit.design.weight
    blind = dataclasses.replace(problem, wants_scores=False)
    plain, quick = (
        fit.chosen_method.path(here, weight, max_size=3, seed=4) for here in (problem, blind)
    )
    for one, other in zip(plain, quick, strict=True):
        assert one.tuning == other.tuning
        np.testing.assert_array_equal(one.selected, other.selected)
        np.testing.assert_array_equal(one.importance, other.importance)
        assert np.isnan(other.train_score) or one.train_score == other.train_score


@EVERY
def test_k_is_exact(mixed, method):
    for k in (1, 3, 5):
        assert select("died ~ . - dose", mixed, method, k=k).k == min(k, ENDS_EARLY.get(method, k))


@EVERY
def test_kept_units_are_in_every_step(mixed, method):
    fit = select("died ~ . - dose", mixed, method, k=3, keep=["noise"])
    at = fit.design.arrays.groups.names.index("noise")
    assert all(step.selected[at] for step in fit.steps)
    assert "noise" in fit.selected


@EVERY
def test_groups_come_as_one(mixed, method):
    groups = {"both": ["signal", "site"]}
    fit = select("died ~ . - dose - copy", mixed, method, k=1, groups=groups)
    assert fit.groups == ("both",)
    assert set(fit.selected) == {"signal", "site"}


@EVERY
def test_of_two_copies_the_cheaper_one_is_taken(mixed, method):
    if method in WITHOUT_PRICES:
        with pytest.raises(MethodError, match="has no part for `costs`"):
            select("died ~ signal + copy", mixed, method, k=1, costs={"copy": 3.0})
        return
    for dear, cheap in (("signal", "copy"), ("copy", "signal")):
        fit = select("died ~ signal + copy + noise", mixed, method, k=1, costs={dear: 3.0})
        assert fit.selected == (cheap,)


@EVERY
def test_a_tuning_value_decides_alone(mixed, method):
    name = METHODS[method].tuning_name
    tried = {
        "controlburn": 0.02,
        "gbfs": 0.005,
        "lasso": 0.05,
        "mrmr": 0.0,
        "cfs": 0.0,
        "fcbf": 0.01,
        "hsic_lasso": 0.05,
        "stepwise": 5.0,
    }
    value = tried.get(method, 0.6)
    fit = select("died ~ . - dose", mixed, method, **{name: value})
    assert fit.step.tuning == value
    assert 1 <= fit.k <= 6


@EVERY
def test_cross_validation_chooses_a_size(mixed, method):
    fit = select("died ~ . - dose", mixed, method, k="1se", folds=3)
    assert fit.scores is not None
    assert 1 <= fit.k <= 6
    assert fit.path["cv_score"].notna().all()


@EVERY
def test_whole_weights_and_relative_ones(mixed, method):
    weight = np.random.default_rng(0).integers(0, 3, size=len(mixed))
    whole = select("died ~ . - dose", mixed, method, k=2, weights=weight)
    real = select("died ~ . - dose", mixed, method, k=2, weights=weight * 0.7)
    for fit in (whole, real):
        assert {"signal", "copy"} & set(fit.selected)
    nothing = weight * (mixed["signal"] < 10)  # rows of weight 0 have no part
    changed = mixed.copy()
    changed.loc[nothing == 0, "colour"] = "blue"
    again = select("died ~ . - dose", changed, method, k=2, weights=weight)
    assert again.selected == whole.selected


@EVERY
def test_an_offset_takes_the_place_of_what_it_explains(method):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    data["known"] = 5 * data["a"]
    data["y"] = data["known"] + data["b"] + 0.1 * rng.normal(size=400)
    assert select("y ~ a + b", data, method, k=1).selected == ("a",)
    assert select("y ~ a + b", data, method, k=1, offset="known").selected == ("b",)


@EVERY
def test_the_same_for_any_number_of_jobs_and_order_of_columns(mixed, method):
    one = select("died ~ . - dose", mixed, method, k=3, resamples=3, n_jobs=1)
    shuffled = mixed[np.random.default_rng(0).permutation(mixed.columns)]
    for other in (
        select("died ~ . - dose", mixed, method, k=3, resamples=3, n_jobs=2),
        select("died ~ . - dose", shuffled, method, k=3, resamples=3),
    ):
        assert other.selected == one.selected
        assert [s.tuning for s in other.steps] == [s.tuning for s in one.steps]
        np.testing.assert_array_equal(other.step.importance, one.step.importance)
        np.testing.assert_array_equal(other.stability.selected, one.stability.selected)
        np.testing.assert_array_equal(other.predict(mixed), one.predict(mixed))


@EVERY
def test_constant_and_missing_columns_are_never_selected(method):
    data = pd.DataFrame({"y": [0.0, 1.0, 2.0, 3.0] * 5, "a": 1.0, "b": np.nan})
    fit = select("y ~ .", data, method, k=1)
    assert fit.selected == ()
    assert fit.predict(data).nunique() == 1


@EVERY
def test_models_are_saved_and_loaded(mixed, method, tmp_path):
    fit = select("died ~ . - dose", mixed, method, k=2)
    fit.save(tmp_path / "model")
    loaded = treeselect.load(tmp_path / "model")
    assert loaded.chosen_method == fit.chosen_method
    np.testing.assert_array_equal(loaded.predict(mixed), fit.predict(mixed))


@EVERY
def test_reports_and_summaries_name_the_method(mixed, method, tmp_path):
    fit = select("died ~ . - dose", mixed, method, k=2)
    assert METHODS[method].title in fit.summary().as_text()
    assert METHODS[method].title in fit.report(tmp_path / "r.html").read_text()


@pytest.mark.parametrize("method", ["rrf", "grrf", "rboost", "gbfs"])
def test_three_classes_and_counts_have_paths(mixed, method):
    """``select()`` does not read them yet; the methods know them."""
    chosen = METHODS[method](n_trees=100)
    fit = select("died ~ . - dose", mixed, method, k=2)
    problem, weight = fit.design.problem_for(chosen), fit.design.weight
    dose = mixed["dose"].to_numpy()
    classes = np.searchsorted(np.quantile(dose, [0.3, 0.6]), dose).astype(float)
    counts = np.random.default_rng(0).poisson(np.exp(dose / 4)).astype(float)
    for y, family in ((classes, multinomial(3)), (counts, POISSON)):
        here = dataclasses.replace(problem, y=y, family=family)
        steps = chosen.path(here, weight, max_size=2, seed=1)
        best = next(step for step in steps if step.size >= 2)
        names = np.array(problem.groups.names)[np.argsort(-best.importance)[:3]]
        assert {"signal", "copy", "site"} & set(names[:1])
        assert "site" in names
        assert 0 < best.train_score <= 1


def test_an_exposure_is_an_offset_of_counts():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    data["y"] = rng.poisson(np.exp(0.8 * data["a"] + 0.6 * data["b"]))
    fit = select("y ~ a + b", data, "gbfs", k=1, offset=0.8 * data["a"])
    for offset, first in ((None, "a"), (fit.design.offset, "b")):
        problem = dataclasses.replace(fit.design.problem, family=POISSON, offset=offset)
        steps = METHODS["gbfs"](n_trees=30).path(problem, fit.design.weight, max_size=1, seed=1)
        one = step_of_size(steps, 1, problem.groups.keep)
        assert np.array(problem.groups.names)[one.selected].tolist() == [first]


@EVERY
def test_training_scores_are_called_what_they_are(mixed, method, tmp_path):
    fit = select("died ~ . - dose", mixed, method, k=2)
    out_of_bag = METHODS[method].scores_out_of_bag
    assert ("out of bag" in fit.summary().as_text()) == out_of_bag
    report = fit.report(tmp_path / "r.html").read_text()
    assert ("trees that have not seen it" in report) == out_of_bag
