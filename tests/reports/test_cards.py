"""The three facts that a page begins with."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from quick import changed

import treeselect
from treeselect.reports.head import cards
from treeselect.reports.parts import FitMaterial
from treeselect.resampling.held_out import HeldOutScore


def gathered(fit, performance=None):
    return cards(FitMaterial(fit._fit, performance, None, {}, "now"))


def stability_of(fit, **changes):
    return gathered(changed(fit, resampled=dataclasses.replace(fit._fit.resampled, **changes)))[1]


def test_the_nested_score_stands_in_place_of_the_tuning_score(cross_validated):
    tuning = gathered(cross_validated)[0]
    glance = cross_validated.glance().iloc[0]
    assert (tuning.head, tuning.value) == ("R2, cross-validated", f"{glance['cv_score']:.3f}")
    assert "the same folds chose the number of terms" in tuning.details[0]
    assert tuning.details[1].startswith("On the same rows: ")
    assert "`fit.performance()`" in tuning.details[2]
    found = cross_validated.performance(2)
    nested = gathered(cross_validated, found)[0]
    assert (nested.head, nested.value) == ("R2, nested cross-validation", f"{found.mean:.3f}")
    low, high = found.mean_ci
    assert nested.details[0].startswith(f"95% interval {low:.3f} to {high:.3f}, mean of 2 folds.")
    perfect = dataclasses.replace(found, scores=np.ones(2), errors=np.zeros(2))
    assert gathered(cross_validated, perfect)[0].details[0].startswith("1 in each fold, mean of 2")
    unknown = dataclasses.replace(found, scores=np.array([np.nan, 1.0]))
    assert gathered(cross_validated, unknown)[0] == tuning


def test_a_score_of_the_rows_of_the_selection_is_none(fitted):
    score = gathered(fitted)[0]
    assert (score.head, score.value) == ("AUC on new rows", "Not assessed")


def test_rows_that_were_not_drawn_score_the_final_model(fitted):
    held = HeldOutScore("AUC", 0.8449, 709)
    score = gathered(changed(fitted, held_out=held))[0]
    assert (score.head, score.value) == ("AUC, held-out rows", "0.845")
    assert "on 709 rows not drawn into the sample" in score.details[0]
    undefined = changed(fitted, held_out=dataclasses.replace(held, score=np.nan))
    assert gathered(undefined)[0] == gathered(fitted)[0]


def test_the_stability_is_that_of_a_size(fitted):
    card = gathered(fitted)[1]
    assert card.head == "Stability, k fixed at 2"
    assert card.value in (
        "Stable",
        "Partly stable",
        "Unstable",
        "Stable up to interchangeable terms",
    )
    assert card.details[0].startswith(f"Index {fitted.stability.index:.2f} over 10 bootstrap")
    free = stability_of(fitted, fixed_size=False)
    assert free.head == "Stability"


def test_few_resamples_have_an_index_and_no_verdict(fitted):
    selected = fitted._fit.resampled.selected
    few = np.vstack([selected[:3], ~selected[:1]])
    card = stability_of(fitted, selected=few)
    assert card.head == "Stability, k fixed at 2: index"
    assert float(card.value) < 1
    assert card.details[-1] == "A verdict needs at least 10."


@pytest.mark.parametrize(("all_of_them", "which"), [(True, "every term"), (False, "no term")])
def test_undefined_stability_says_why(fitted, all_of_them, which):
    card = stability_of(fitted, selected=np.full_like(fitted._fit.resampled.selected, all_of_them))
    assert card.value == "Not defined"
    assert card.details == (f"Each of 10 bootstrap resamples selected {which}.",)


def test_nothing_selected(mixed):
    fit = treeselect.select(
        "dose ~ signal + noise", mixed, method="controlburn", lam=1e9, seed=1, forests=1, n_trees=5
    )
    card = gathered(fit)[1]
    assert card.value == "Not assessed"
    assert card.details[0].startswith("`fit.resample(100, k=1)`")
    assert fit.resample(2, k=1)._fit.resampled.n_resamples == 2


def test_rows_classes_and_missing_values(mixed, fitted, tmp_path):
    n = int(mixed["died"].sum())
    card = gathered(fitted)[2]
    incomplete = int(mixed[["noise", "site"]].isna().any(axis=1).sum())
    assert (card.head, card.value) == ("Data", "400 rows")
    assert card.details == (
        f"{n} with died = True, {400 - n} with False.",
        f"{incomplete} rows have missing values: noise (37) and site (31).",
    )
    counts = dataclasses.replace(fitted.data.design.rows, no_response=3, no_weight=1)
    fewer = changed(fitted, design=dataclasses.replace(fitted.data.design, rows=counts))
    assert gathered(fewer)[2].details[1] == (
        "3 more dropped because the response is missing; 1 more excluded with weight 0."
    )
    without = treeselect.load(fitted.save(tmp_path / "fit"))
    assert gathered(without)[2].details == ()
