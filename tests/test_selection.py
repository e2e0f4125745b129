"""select(): arguments, invariance, and answers that are known."""

import re

import numpy as np
import pandas as pd
import pytest
from quick import by_mrmr, normal

import treeselect
from treeselect import ControlBurn, datasets
from treeselect.errors import OptionError

FAST = {"method": "controlburn", "forests": 2, "n_trees": 10, "seed": 4}


def test_seeds_are_drawn_and_told_and_copies_share_one_place(mixed):
    one = treeselect.select("died ~ . - dose", mixed, k=2, **{**FAST, "seed": 1})
    two = treeselect.select("died ~ . - dose", mixed, k=2, **{**FAST, "seed": 2})
    assert not np.array_equal(one.predict(mixed), two.predict(mixed))
    fit = treeselect.select(
        "died ~ signal + site", mixed, method="controlburn", k=1, forests=1, n_trees=5
    )
    again = treeselect.select(
        "died ~ signal + site", mixed, method="controlburn", k=1, forests=1, n_trees=5,
        seed=fit.search.seed,
    )  # fmt: skip
    np.testing.assert_array_equal(fit.predict(mixed), again.predict(mixed))
    fit = treeselect.select("died ~ . - dose", mixed, k=2, resamples=12, **FAST)
    stability = fit.stability
    place = [stability.units.index(name) for name in ("signal", "copy")]
    assert (stability.selected[:, place].sum(axis=1) == 1).all()
    assert 0 < stability.frequency[place[0]] < 1


def test_labels_come_with_the_data_and_unused_units_are_not_made_up(mixed):
    """The exact copy of `signal` never wins a tie, so a sixth unit can't be had."""
    fit = treeselect.select("died ~ . - dose", mixed, k=6, **FAST)
    assert fit.k == 5
    said = str(fit.summary()).replace("\n ", "")
    assert "The call requests 6 terms, but only 5 enter the path" in said
    plain = treeselect.select("died ~ . - dose", mixed, method="mrmr", k=2, seed=1)
    data = mixed[mixed.columns[::-1]]
    data.attrs["variable_labels"] = {"site": "Hospital", "signal": "in the data"}
    fit = by_mrmr("died ~ . - dose", data, k=2, labels={"signal": "Signal"})
    assert list(fit.data.design.labels.items()) == [("signal", "Signal"), ("site", "Hospital")]
    assert fit.selected == plain.selected
    np.testing.assert_array_equal(fit.predict(mixed), plain.predict(mixed))
    assert "Hospital" in fit.summary().as_text()


@pytest.mark.parametrize("k", ["1se", "best"])
def test_rules_choose_the_real_terms(mixed, k):
    fit = treeselect.select("dose ~ . - died", mixed, k=k, folds=3, **FAST)
    assert "site" in fit.selected
    assert len({"signal", "copy"} & set(fit.selected)) >= 1


def test_noise_alone_selects_nothing():
    data = normal(1, 200, "abcdef")
    fit = treeselect.select("y ~ .", data, resamples=5, **FAST)
    assert fit.selected == ()
    assert fit.formula == "y ~ 1"
    assert fit.predict(data).nunique() == 1
    assert "No term was selected" in str(fit.summary())
    assert "Minimal selection" not in str(fit.summary())


def test_real_weights_are_relative_and_hardly_any_says_hardly_anything(mixed):
    weight = np.random.default_rng(0).random(len(mixed)) + 0.1
    fits = [
        treeselect.select("died ~ . - dose", mixed, k=2, weights=factor * weight, **FAST)
        for factor in (1.0, 1e-5, 1e5)
    ]
    for other in fits[1:]:
        assert other.selected == fits[0].selected
        np.testing.assert_allclose(other.predict(mixed), fits[0].predict(mixed), atol=1e-6)
    assert not np.allclose(
        fits[0].predict(mixed),
        treeselect.select("died ~ . - dose", mixed, k=2, **FAST).predict(mixed),
    )
    data, first = normal(0, 400, "abcd", 0.1), np.arange(400) < 200
    data["y"] += np.where(first, data["a"], data["b"])
    for heavy, expected in ((first, "a"), (~first, "b")):
        fit = treeselect.select(
            "y ~ .", data, k=1, weights=np.where(heavy, 1.5, 1e-6), resamples=4, **FAST
        )
        assert fit.selected == (expected,)
        assert fit.stability.tidy().set_index("term")["frequency"][expected] == 1


def test_a_tuning_value_decides_in_place_of_k_and_so_do_method_objects(mixed):
    few = treeselect.select("died ~ . - dose", mixed, lam=0.05, **FAST)
    many = treeselect.select("died ~ . - dose", mixed, lam=0.001, k=None, **FAST)
    assert few.k < many.k
    assert few.search.step.tuning == 0.05
    assert few.resample(3).stability.n_resamples == 3
    with pytest.raises(OptionError, match="can't both determine"):
        treeselect.select("died ~ . - dose", mixed, lam=0.05, k=2, **FAST)
    with pytest.raises(OptionError, match="Give `lam`"):
        treeselect.select("died ~ . - dose", mixed, k=None, **FAST)
    fit = treeselect.select("died ~ signal + site", mixed, method=ControlBurn.published(), k=1)
    assert fit.search.method.forests == 1
    changed = treeselect.select(
        "died ~ signal + site", mixed, method=ControlBurn(n_trees=7), k=1, forests=1
    )
    assert (changed.search.method.n_trees, changed.search.method.forests) == (7, 1)


def test_titanic_with_correlated_copies_keeps_one_of_them_for_nine_of_ten_seeds():
    """The original package of ControlBurn got 1 of 3 right."""
    data = datasets.load("titanic_correlated")
    body = {"age", "height", "weight", "femur", "tibia"}
    few = {"method": "controlburn", "forests": 3, "n_trees": 5}
    fits = [treeselect.select("survived ~ .", data, k=3, seed=0)]
    fits += [treeselect.select("survived ~ .", data, k=3, seed=seed, **few) for seed in range(9)]
    found = [set(fit.selected) for fit in fits]
    assert sum({"sex", "pclass"} < own and len(body & own) == 1 for own in found) >= 9


def test_a_method_that_is_not_tuned_needs_a_number_of_units(mixed):
    class Untuned(treeselect.Method):
        name = "untuned"

        def path(self, task):
            return []

    with pytest.raises(OptionError, match=r"untuned has none\.\n  Give `k`\."):
        treeselect.select("died ~ site", mixed, method=Untuned(), k=None)


def test_the_positive_class_may_be_named():
    data = treeselect.datasets.load("titanic_correlated").head(300)
    data["outcome"] = np.where(data["survived"] == 1, "alive", "dead")  # dead is the second
    call = {"method": "rrf", "k": 2, "n_trees": 20, "seed": 1}
    usual = treeselect.select("outcome ~ sex + age + pclass", data, **call)
    named = treeselect.select("outcome ~ sex + age + pclass", data, positive="alive", **call)
    assert named.selected == usual.selected
    np.testing.assert_allclose(named.predict(data), 1 - usual.predict(data), atol=1e-12)
    assert (named.predict(data, "class") == usual.predict(data, "class")).all()
    np.testing.assert_allclose(named.refit("glm").coef, -usual.refit("glm").coef, rtol=1e-6)
    assert named.performance(2).mean == pytest.approx(usual.performance(2).mean)
    assert "positive class: alive" in str(named.summary())
    for given in (0.0, False):
        zero = treeselect.select("survived ~ sex + age", data, positive=given, **call)
        assert "positive class: 0" in str(zero.summary())


@pytest.mark.parametrize(
    ("formula", "positive", "found"),
    [
        ("survived ~ sex", 2, "2; classes: `0`, `1`"),
        ("C(survived + 1) ~ sex", True, "True; classes: `1`, `2`"),
        ("age ~ sex", 1, "without classes"),
    ],
)
def test_the_positive_class_must_be_one_of_two(formula, positive, found):
    data = treeselect.datasets.load("titanic_correlated").head(100)
    with pytest.raises(
        OptionError, match=f"`positive` must be one of the two classes.*\n.*{found}"
    ):
        treeselect.select(formula, data, method="mrmr", k=1, positive=positive)


@pytest.mark.parametrize(
    ("values", "family", "note"),
    [
        ([0, 1, 2, 5, 9, 12, 30, 3, 2, 1] * 6, "auto", "whole numbers from 0 to 30"),
        (
            [0, 1, 2] * 20,
            "auto",
            r'`family="multinomial"` or `"ordinal"`, for counts `family="poisson"`',
        ),
        ([1, 2, 3] * 20, "auto", r'`family="multinomial"` or `"ordinal"`\.'),
        ([0, 1, 2, 5, 9, 12, 30, 3, 2, 1] * 6, "poisson", None),
        ([20, 31, 40, 50, 61, 72] * 10, "auto", None),
    ],
)
def test_whole_numbers_may_be_counts_or_codes(values, family, note):
    data = pd.DataFrame({"y": values, "x": np.arange(len(values))})
    fit = treeselect.select("y ~ x", data, method="mrmr", k=1, family=family, seed=1)
    told = [own for own in fit.summary().content.notes if "The response" in own]
    assert (len(told) == 1 and bool(re.search(note, told[0]))) if note else told == []
