"""What resamples say in words: the full sentences, true for every input."""

from __future__ import annotations

import dataclasses

import pytest
from quick import stability_of

from treeselect.resampling.stability import index_words
from treeselect.results.verdict import model_sentence, place_sentences


def rows(*counted):
    """Selections as text, each so many times."""
    return [[c == "1" for c in text] for text, times in counted for _ in range(times)]


AGE_OR_HEIGHT = rows(("101", 58), ("011", 31), ("001", 11))
UNITS = ("age", "height", "sex")


def test_interchangeable_units_in_words():
    stability = stability_of(AGE_OR_HEIGHT, UNITS)
    alike = dataclasses.replace(stability, association=lambda unit, other: 0.856)
    assert place_sentences(alike) == [
        "Interchangeable: exactly one of age (58) and height (31) was selected in 89 of 100"
        " resamples (association at least 0.85)."
    ]
    assert place_sentences(stability) == []


def test_sets_in_words():
    own = stability_of(AGE_OR_HEIGHT, UNITS)
    assert model_sentence(own) == (
        "The 100 resamples selected 3 distinct sets; 58 of them selected that of the fit."
    )
    never = stability_of(rows(("101", 20)), UNITS, fitted=[0, 1, 0])
    assert model_sentence(never) == (
        "The 20 resamples selected one set; none of them selected that of the fit."
    )


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (AGE_OR_HEIGHT, "0.34 (95% interval 0.27 to 0.41); 1 means identical selections,"),
        (rows(("101", 20)), "1.00; 1 means identical selections, 0 agreement by chance alone"),
        (
            rows(("111", 20)),
            "not defined: every resample selected all terms that it could, or none",
        ),
    ],
)
def test_the_index_in_words(drawn, words):
    assert index_words(stability_of(drawn, UNITS)).startswith(words)
