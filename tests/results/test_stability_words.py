"""What resamples say in words: the full sentences, true for every input."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treeselect.resampling.stability import Stability
from treeselect.results.verdict import (
    model_sentence,
    pair_sentence,
    place_sentences,
    recurrence_sentence,
)


def stability_of(selected, fitted, *, kept=(), scheme="bootstrap", units=None, **more):
    selected = np.asarray(selected, dtype=bool)
    units = units or ("age", "height", "sex", "weight", "wrist")[: selected.shape[1]]
    return Stability(
        units=tuple(units),
        fitted=np.isin(units, fitted),
        assessed=~np.isin(units, kept),
        selected=selected,
        scheme=scheme,
        k=2,
        seed=0,
        **more,
    )


def rows(*counted):
    """Selections as text, each so many times."""
    return [[c == "1" for c in text] for text, times in counted for _ in range(times)]


AGE_OR_HEIGHT = rows(("101", 58), ("011", 31), ("001", 11))


def test_the_sentence_of_the_readme():
    stability = stability_of(AGE_OR_HEIGHT, ["age", "sex"])
    assert recurrence_sentence(["sex", "age"], stability) == (
        "In 100 bootstrap resamples, sex was always selected; age in 58."
    )
    alike = dataclasses.replace(stability, association=lambda unit, other: 0.856)
    assert place_sentences(alike) == [
        "Interchangeable: exactly one of age (58) and height (31) was selected in 89 of 100"
        " resamples (association at least 0.85)."
    ]
    assert place_sentences(stability) == []


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        ("subsample", "In 100 subsamples, sex"),
        ("complementary", "In 100 half-samples, sex"),
    ],
)
def test_other_schemes_have_other_nouns(scheme, words):
    stability = stability_of(AGE_OR_HEIGHT, ["age", "sex"], scheme=scheme)
    assert recurrence_sentence(["sex", "age"], stability).startswith(words)


def test_whole_groups_are_said():
    stability = stability_of(AGE_OR_HEIGHT, ["sex"], groups_name="ward")
    assert recurrence_sentence(["sex"], stability) == (
        "In 100 bootstrap resamples of whole ward clusters, sex was always selected."
    )


def test_all_always_none_ever_and_nothing_to_say():
    stability = stability_of(rows(("101", 20)), ["age", "sex", "height"])
    assert recurrence_sentence(["sex", "age"], stability) == (
        "In 20 bootstrap resamples, sex and age were always selected."
    )
    assert recurrence_sentence(["height"], stability) == (
        "In 20 bootstrap resamples, height was selected in none."
    )
    assert recurrence_sentence([], stability) == ""
    kept = stability_of(rows(("101", 20)), ["age", "sex"], kept=["age", "sex"])
    assert recurrence_sentence(["age", "sex"], kept) == ""


def test_one_resample():
    stability = stability_of([[True, False, True]], ["age", "height"])
    assert recurrence_sentence(["age", "height"], stability) == (
        "In 1 bootstrap resample, age was selected; height was not selected."
    )
    half = stability_of([[True, False, True]], ["sex"], scheme="complementary")
    assert recurrence_sentence(["sex"], half) == ("In 1 half-sample, sex was selected.")


def test_many_terms_stay_short():
    units = [f"x{i:02d}" for i in range(60)]
    drawn = np.arange(100)[:, np.newaxis] >= np.maximum(np.arange(60) - 19, 0)
    stability = stability_of(drawn, units, units=units)
    text = recurrence_sentence(units, stability)
    assert text.startswith("In 100 bootstrap resamples, x00, x01, x02, x03, x04, x05, x06, x07 and")
    assert " and 12 more were always selected; x20 in 99; " in text
    assert text.endswith("; x27 in 92; the other 32 selected terms in at most 91 each.")
    assert len(text) < 300
    last = recurrence_sentence(units[:29], stability)
    assert last.endswith("; x27 in 92; x28 in 91.")


def test_sets_in_words():
    own = stability_of(AGE_OR_HEIGHT, ["age", "sex"])
    assert model_sentence(own) == (
        "The resamples selected 3 distinct sets; the set of the fit was the most frequent"
        " (58 of 100)."
    )
    other = stability_of(AGE_OR_HEIGHT, ["height", "sex"])
    assert model_sentence(other) == (
        "The resamples selected 3 distinct sets: the set of the fit in 31 of 100, the most"
        " frequent set in 58 (sex and age)."
    )
    never = stability_of(AGE_OR_HEIGHT, ["height"])
    assert "the set of the fit in none of 100, the most" in model_sentence(never)
    same = stability_of(rows(("101", 20)), ["age", "sex"])
    assert model_sentence(same) == "All 20 resamples selected the same set, as in the fit."
    same = stability_of(rows(("101", 20)), ["height"])
    assert model_sentence(same) == (
        "All 20 resamples selected the same set, not as in the fit: age and sex."
    )
    nothing = stability_of(rows(("000", 15), ("100", 5)), ["age"])
    assert model_sentence(nothing).endswith("in 15 (the empty set).")
    assert model_sentence(stability_of([[True, False]], ["age"])) == ""


def test_ties_among_the_most_frequent_sets():
    each = stability_of(rows(("101", 1), ("011", 1), ("001", 1)), ["age"])
    assert model_sentence(each) == (
        "The resamples selected 3 distinct sets, each once; the set of the fit is not among them."
    )
    among = stability_of(rows(("101", 4), ("011", 4), ("001", 2)), ["age", "sex"])
    assert model_sentence(among).endswith("set of the fit was among the most frequent (4 of 10).")
    tied = stability_of(rows(("101", 4), ("011", 4), ("001", 2)), ["sex"])
    assert model_sentence(tied) == (
        "The resamples selected 3 distinct sets: the set of the fit in 2 of 10, the 2 most"
        " frequent sets in 4 each."
    )


def test_pairs_are_not_told_where_there_is_room_for_one():
    """Of sets that differ in one unit no two that come and go can meet."""
    stability = stability_of(rows(("101", 50), ("011", 50)), ["age", "sex"])
    assert (stability.in_pandas.pairs()["sign"] == "-").all()
    assert pair_sentence(stability) == ""


def test_pairs_in_words():
    stability = stability_of(rows(("110", 50), ("001", 50)), ["age"])
    assert pair_sentence(stability) == (
        "By chi-squared tests (p < 0.01 each), selected together more often than by chance: age"
        " with height (50%, expected 25%); less often than by chance: age with sex (0%, expected"
        " 25%), height with sex (0%, expected 25%)."
    )
    blocks = np.repeat(np.arange(100)[:, np.newaxis] < 50, 5, axis=1)
    assert pair_sentence(stability_of(blocks, ["age"])).endswith(" and 7 more pairs.")
    assert pair_sentence(stability_of(rows(("101", 20)), ["age"])) == ""


@given(
    arrays(bool, st.tuples(st.integers(1, 25), st.integers(1, 4))),
    arrays(bool, 4),
    arrays(bool, 4),
    st.sampled_from(["bootstrap", "subsample", "complementary"]),
)
@settings(derandomize=True)
def test_counts_in_the_sentence_are_those_of_the_resamples(selected, fitted, kept, scheme):
    d = selected.shape[1]
    units = ("age", "height", "sex", "weight")[:d]
    chosen = [u for u, is_in in zip(units, fitted[:d], strict=True) if is_in]
    by_request = [u for u, is_kept in zip(units, kept[:d], strict=True) if is_kept]
    stability = stability_of(selected, chosen, kept=by_request, scheme=scheme)
    text = recurrence_sentence(chosen, stability)
    n, free = len(selected), [u for u in chosen if u not in by_request]
    assert (text == "") == (not free)
    if n == 1:
        return
    for unit in free:
        count = int(selected[:, units.index(unit)].sum())
        if count == n:
            assert unit in text.split(" selected")[0]
        else:
            times = str(count or "none")
            assert any(f"{unit}{verb} in {times}" in text for verb in ("", " was selected"))
    n_sets = len({tuple(row) for row in selected.tolist()})
    said = model_sentence(stability)
    assert f"{n_sets} distinct sets" in said or n_sets == 1
    counts = stability.models(None)["count"].to_list()
    assert "the most frequent set " not in said or counts[0] > counts[1]
