"""The verdict on the stability: each class by its rule, and true for every input."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from quick import changed, selections, stability_of

import treeselect
from treeselect.resampling.stability import index_words
from treeselect.results.summary import stability_text
from treeselect.results.verdict import (
    model_sentence,
    outsiders_note,
    place_sentences,
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
    resampled = dataclasses.replace(found._fit.resampled, assessed=np.ones(5, dtype=bool))
    return changed(found, resampled=resampled)


def drawn(fit, *counted, **more):
    """The fit with these selections, each so many times."""
    selected = np.array(selections(*counted))
    return changed(
        fit, resampled=dataclasses.replace(fit._fit.resampled, selected=selected, **more)
    )


def said(fit):
    return verdict(fit._fit, fit.stability)


FREE = np.array([False, True, True, True, True])
KEPT = np.array([False, False, True, True, True])
OTHER = np.array([True, False, True, True, True])
RESAMPLES = "of 100 bootstrap resamples"
VERDICTS = [
    ([("11000", 80), ("10010", 20)], {},
     f"Stable (k fixed at 2): each of the 2 terms was selected in at least 80% {RESAMPLES}."),
    ([("11000", 30), ("10100", 70)], {},
     "Stable up to interchangeable terms (k fixed at 2): the other term was selected in at least"
     f" 80% {RESAMPLES}."),
    ([("11000", 30), ("10100", 70)], {"assessed": FREE},
     "Stable up to interchangeable terms (k fixed at 2): exactly one of c and b was selected in at"
     f" least 80% {RESAMPLES}."),
    ([("11000", 60), ("10010", 40)], {},
     f"Partly stable (k fixed at 2): 1 of 2 terms was selected in at least 80% {RESAMPLES}, the"
     " least frequent, b, in 60."),
    ([("11010", 60), ("11000", 40)], {"fixed_size": False},
     "Partly stable (2 to 3 terms on each resample): 2 of 2 terms were selected in at least 80%"
     f" {RESAMPLES}; 1 term outside the selection in at least half of them."),
    ([("11000", 100)], {"fixed_size": False},
     "Stable (2 terms on each resample): each of the 2 terms was selected in at least 80%"
     f" {RESAMPLES}."),
    ([("10010", 50), ("10001", 50)], {},
     f"Unstable (k fixed at 2): 1 of 2 terms was selected in none {RESAMPLES}."),
    ([("01010", 40), ("00011", 60)], {"k": 3},
     "Unstable (k fixed at 3, 2 in the fit): 2 of 2 terms were selected in fewer than half"
     f" {RESAMPLES}, 1 of them in none."),
    ([("10010", 45), ("01100", 35), ("11000", 20)], {},
     f"Unstable (k fixed at 2): none of the 2 terms was selected in at least 80% {RESAMPLES}, the"
     " least frequent, b, in 55."),
    ([("10010", 70), ("00010", 30)], {"assessed": OTHER},
     f"Partly stable (k fixed at 2): a was selected in 70 {RESAMPLES}; 1 term outside the selection"
     " in at least half of them."),
]  # fmt: skip


@pytest.mark.parametrize(("counted", "more", "text"), VERDICTS)
def test_the_verdict_in_words(fit, counted, more, text):
    found = drawn(fit, *counted, **more)
    assert said(found) == text
    assert verdict_words(found._fit, found.stability) == text.partition(" (")[0]
    note = ""  # where another sentence names interchangeable terms there is none, too
    if counted[0] == ("10010", 50):
        note = (
            "Not in the fit, but selected in more of 100 bootstrap resamples than b (0): d (50) and"
            " e (50)."
        )
    if text.startswith("Stable") or note:
        assert outsiders_note(found._fit, found.stability) == note


def with_step(fit, *selected):
    return changed(fit, step=dataclasses.replace(fit.search.step, selected=np.array(selected) > 0))


def test_terms_that_were_forced_in_are_not_judged(fit):
    wider = with_step(fit, 1, 1, 0, 1, 0)
    assert said(drawn(wider, ("11010", 90), ("10011", 10), assessed=FREE, k=3)) == (
        "Stable (k fixed at 3): each of the 2 terms not forced in was selected in at least 80%"
        f" {RESAMPLES}."
    )


@pytest.mark.parametrize(
    ("counted", "more", "text"),
    [
        ([("11000", 9)], {}, "9 bootstrap resamples, too few for a verdict"),
        ([("11111", 20)], {}, "no verdict: every resample selected all terms that it could"),
        ([("11000", 10), ("11100", 10)], {"assessed": KEPT},
         "no verdict, because every selected term was forced in"),
        ([("10000", 10), ("01000", 10)], {"k": 1}, "no verdict, because no term was selected"),
    ],
)  # fmt: skip
def test_why_there_is_no_verdict(fit, counted, more, text):
    chosen = with_step(fit, 0, 0, 0, 0, 0) if "no term" in text else fit
    found = drawn(chosen, *counted, **more)
    assert said(found) == ""
    assert stability_text(found._fit) == text


def test_frequencies_and_intervals_need_selections_that_vary(fit):
    every = drawn(fit, ("11111", 20), k=5)
    content = every.summary().content
    assert "Frequency" not in content.columns
    assert not any(note.startswith("The resamples selected") for note in content.notes)
    one_less = drawn(fit, ("11110", 10), ("11101", 10), k=4)
    assert "Frequency" in one_less.summary().content.columns
    short = drawn(fit, ("11111", 19), ("11110", 1), k=5).summary().content  # a path ended early
    assert "Frequency" in short.columns
    assert any("20 resamples selected 2 distinct sets" in note for note in short.notes)
    forced = drawn(fit, ("11000", 20), assessed=KEPT)
    assert "Frequency" not in forced.summary().content.columns
    text = " ".join(str(drawn(fit, ("11000", 20)).summary()).split())
    assert "over 20 bootstrap resamples: 1.00 (95% interval 0.75 to 1.00)" in text


def test_that_k_was_chosen_once_is_said(mixed):
    options = {"method": "importance", "seed": 1, "n_trees": 5}
    chosen = treeselect.select("dose ~ signal + site + noise", mixed, folds=3, **options)
    chosen = chosen.resample(2)
    assert "chosen on all rows and then fixed" in size_note(chosen._fit, chosen.stability)
    other = chosen.resample(2, k=2 if chosen.k == 1 else 1)
    assert size_note(other._fit, other.stability) == ""
    asked = treeselect.select("dose ~ signal + site", mixed, k=1, **options).resample(2)
    assert size_note(asked._fit, asked.stability) == ""


@given(arrays(bool, st.tuples(st.integers(10, 20), st.just(5))))
@settings(derandomize=True, max_examples=60)
def test_the_verdict_is_true(fit, selected):
    found = changed(fit, resampled=dataclasses.replace(fit._fit.resampled, selected=selected))
    text, frequency = said(found), selected[:, :2].mean(axis=0)
    assert text.partition(" (")[0] == verdict_words(found._fit, found.stability)
    if selected.all():
        assert text == ""
    elif text.startswith("Unstable"):
        assert (frequency < 0.5).any() or (frequency < 0.8 + 1e-9).all()
    elif text.startswith("Stable ("):
        assert (frequency >= 0.8 - 1e-9).all()
        assert (selected[:, 2:].mean(axis=0) < 0.5).all()
    elif text.startswith("Stable up to interchangeable terms ("):
        assert found.stability.places
        assert frequency[0] >= 0.8 - 1e-9
    else:
        assert text.startswith("Partly stable")
    others = selected.sum(axis=0)[2:] > selected.sum(axis=0)[:2].min()
    assert bool(outsiders_note(found._fit, found.stability)) <= others.any()


PEOPLE = ("age", "height", "sex")
AGE_OR_HEIGHT = selections(("101", 58), ("011", 31), ("001", 11))


def test_interchangeable_units_and_sets_in_words():
    stability = stability_of(AGE_OR_HEIGHT, PEOPLE)
    alike = dataclasses.replace(stability, association=lambda unit, other: 0.856)
    assert place_sentences(alike) == [
        "Interchangeable: exactly one of age (58) and height (31) was selected in 89 of 100"
        " resamples (association at least 0.85)."
    ]
    assert place_sentences(stability) == []
    own = stability_of(AGE_OR_HEIGHT, PEOPLE)
    assert model_sentence(own) == (
        "The 100 resamples selected 3 distinct sets; 58 of them selected that of the fit."
    )
    always = stability_of(selections(("101", 20)), PEOPLE)
    assert model_sentence(always) == "All 20 resamples selected the set of the fit."
    never = stability_of(selections(("101", 20)), PEOPLE, fitted=[0, 1, 0])
    assert model_sentence(never) == (
        "The 20 resamples selected one set; none of them selected that of the fit."
    )


INDEX = "; 1 means identical selections, 0 agreement by chance alone"


@pytest.mark.parametrize(
    ("drawn", "kept", "words"),
    [
        (AGE_OR_HEIGHT, 0, f"0.34 (95% interval 0.26 to 0.41){INDEX}"),
        (selections(("101", 20)), 0, f"1.00 (95% interval 0.56 to 1.00){INDEX}"),
        (selections(("111", 20)), 1,
         "not defined: every resample selected all terms that it could"),
        (selections(("000", 20)), 0, "not defined: no resample selected a term"),
        (selections(("100", 20)), 1,
         "not defined: no resample selected a term that was not forced in"),
    ],
)  # fmt: skip
def test_the_index_in_words(drawn, kept, words):
    assert index_words(stability_of(drawn, PEOPLE, kept=kept)) == words
