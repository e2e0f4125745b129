"""The verdict on the stability: each class by its rule, and true for every input."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import treeselect
from treeselect.results.verdict import (
    agreement_note,
    outsiders_note,
    size_note,
    verdict,
    verdict_words,
)

UNITS = ("a", "b", "c", "d", "e")


@pytest.fixture(scope="module")
def fit():
    """a and b are selected; of all pairs only b and c are associated."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 5)), columns=list(UNITS))
    data["c"] = data["b"] + 0.1 * rng.normal(size=60)
    data["y"] = 3 * data["a"] + data["b"]
    found = treeselect.select("y ~ .", data, method="importance", keep=["a", "b"], k=2, seed=1,
                              n_trees=5).resample(2)  # fmt: skip
    assert found.stability.units == UNITS
    resampled = dataclasses.replace(found.resampled, assessed=np.ones(5, dtype=bool))
    return dataclasses.replace(found, resampled=resampled)


def drawn(fit, *counted, **more):
    """The fit with these selections, each so many times."""
    selected = np.array([[c == "1" for c in text] for text, n in counted for _ in range(n)])
    return dataclasses.replace(
        fit, resampled=dataclasses.replace(fit.resampled, selected=selected, **more)
    )


def said(fit):
    return verdict(fit, fit.stability)


def test_stable(fit):
    found = drawn(fit, ("11000", 80), ("10010", 20))
    assert said(found) == (
        "Stable, with k fixed at 2: each of the 2 terms was selected in at least 80% of 100"
        " bootstrap resamples."
    )
    assert outsiders_note(found, found.stability) == ""


def test_stable_but_for_who_holds_a_place(fit):
    found = drawn(fit, ("11000", 30), ("10100", 70))
    assert said(found) == (
        "Stable, with k fixed at 2, but for who holds one place: the other term was selected in at"
        " least 80% of 100 bootstrap resamples."
    )
    assert outsiders_note(found, found.stability) == ""  # c is named with the place


def test_partly_stable(fit):
    found = drawn(fit, ("11000", 60), ("10010", 40))
    assert said(found) == (
        "Partly stable, with k fixed at 2: 1 of 2 terms was selected in at least 80% of 100"
        " bootstrap resamples, the least frequent, b, in 60."
    )
    crowded = drawn(fit, ("11010", 60), ("11000", 40), fixed_size=False)
    assert said(crowded) == (
        "Partly stable, with 2 to 3 terms on each resample: 2 of 2 terms were selected in at least"
        " 80% of 100 bootstrap resamples; 1 outside the selection in at least half of them."
    )


def test_unstable(fit):
    never = drawn(fit, ("10010", 50), ("10001", 50))
    assert said(never) == (
        "Unstable, with k fixed at 2: 1 of 2 terms was never selected again in 100 bootstrap"
        " resamples."
    )
    assert outsiders_note(never, never.stability) == (
        "Not in the selection, but selected in more of 100 bootstrap resamples than b (0), which"
        " is: d (50) and e (50)."
    )
    seldom = drawn(fit, ("01010", 40), ("00011", 60), k=3)
    assert said(seldom) == (
        "Unstable, with k fixed at 3 (2 in the fit): 2 of 2 terms were selected in less than half"
        " of 100 bootstrap resamples, 1 of them never."
    )


def test_unstable_where_nothing_is_steady(fit):
    found = drawn(fit, ("10010", 45), ("01100", 35), ("11000", 20))
    assert said(found) == (
        "Unstable, with k fixed at 2: none of the 2 terms was selected in at least 80% of 100"
        " bootstrap resamples, the least frequent, b, in 55."
    )


def test_of_one_term_it_says_how_often(fit):
    one = np.array([True, False, True, True, True])
    assert said(drawn(fit, ("10010", 70), ("00010", 30), assessed=one)) == (
        "Partly stable, with k fixed at 2: a was selected in 70 of 100 bootstrap resamples;"
        " 1 outside the selection in at least half of them."
    )


def test_an_index_of_one_beside_another_verdict_is_explained(fit):
    found, same = drawn(fit, ("10010", 20)), drawn(fit, ("11000", 20))
    assert (verdict_words(found, found.stability), found.stability.index) == ("Unstable", 1)
    said = "The resamples agree with each other, not with the fit."
    assert agreement_note(found, found.stability) == said
    assert any(said in note for note in found.summary().content.notes)
    assert agreement_note(same, same.stability) == ""


def test_no_verdict(fit):
    assert said(drawn(fit, ("11000", 9))) == ""
    assert said(drawn(fit, ("11111", 20))) == ""
    kept = np.array([False, False, True, True, True])
    assert said(drawn(fit, ("11000", 20), assessed=kept)) == ""


def test_that_k_was_chosen_once_is_said(mixed):
    options = {"method": "importance", "seed": 1, "n_trees": 5}
    chosen = treeselect.select("dose ~ signal + site + noise", mixed, folds=3, **options)
    chosen = chosen.resample(2)
    assert "chosen on all rows and not again" in size_note(chosen, chosen.stability)
    asked = treeselect.select("dose ~ signal + site", mixed, k=1, **options).resample(2)
    assert size_note(asked, asked.stability) == ""


def test_the_same_selection_each_time_has_no_interval(fit):
    text = " ".join(str(drawn(fit, ("11000", 20)).summary()).split())
    assert "Stability index (Nogueira): 1.00; 1 is the same" in text
    assert "1.00 to 1.00;" not in text


@given(arrays(bool, st.tuples(st.integers(10, 20), st.just(5))))
@settings(derandomize=True, max_examples=60)
def test_the_verdict_is_true(fit, selected):
    found = dataclasses.replace(
        fit, resampled=dataclasses.replace(fit.resampled, selected=selected)
    )
    text, frequency = said(found), selected[:, :2].mean(axis=0)
    assert verdict_words(found, found.stability).startswith(text.partition(",")[0])
    if selected.all():
        assert text == ""
    elif text.startswith("Unstable"):
        assert (frequency < 0.5).any() or (frequency < 0.8 + 1e-9).all()
    elif text.startswith("Stable") and "but for" not in text:
        assert (frequency >= 0.8 - 1e-9).all()
        assert (selected[:, 2:].mean(axis=0) < 0.5).all()
    elif "but for" in text:
        assert found.stability.places
        assert frequency[0] >= 0.8 - 1e-9
    else:
        assert text.startswith("Partly stable")
    others = selected.sum(axis=0)[2:] > selected.sum(axis=0)[:2].min()
    assert bool(outsiders_note(found, found.stability)) <= others.any()
