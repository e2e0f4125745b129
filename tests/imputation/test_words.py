"""The summary over imputations: full texts, with numbers made by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from quick import changed
from round_numbers import with_round_numbers

import treeselect


@pytest.fixture(scope="module")
def found(mixed):
    """Three frames of 120 rows, on which numbers are replaced; two resamples of each."""
    data = mixed.drop(columns=["dose", "flag"]).iloc[:120]
    frames = [data.assign(noise=data["noise"].fillna(value)) for value in (-1.0, 0.0, 1.0)]
    return treeselect.select(
        "died ~ .", frames, method="importance", k=2, n_trees=5, seed=1, resamples=2
    )


def selecting(found, *sets, resampled=True, **changes):
    """The same with these sets in the imputations."""
    fits = [
        with_round_numbers(f, *s) if s else nothing(f)
        for f, s in zip(found.fits, sets, strict=True)
    ]
    if not resampled:
        fits = [changed(fit, resampled=None) for fit in fits]
    return dataclasses.replace(found, records=tuple(f._fit for f in fits), **changes)


def nothing(fit):
    return with_round_numbers(changed(fit, resampled=None))


def test_a_term_in_two_of_three(found, snapshot):
    made = selecting(found, ("signal", "site"), ("signal", "copy"), ("site", "signal"))

    one, two, three = made.records
    noted = dataclasses.replace(two, notes=("No more than 2 units enter the path.",))
    made = dataclasses.replace(made, records=(one, noted, three), resamples=10)
    assert made.summary().as_text() == snapshot


def test_all_agree_without_resamples(found, snapshot):
    made = selecting(found, *[("signal", "site")] * 3, resampled=False, resamples=0)
    assert made.summary().as_text() == snapshot


NONE, ONE, TWO = (), ("signal",), ("signal", "copy")

SENTENCES = [
    ((NONE, NONE, NONE), "None of the 3 imputations selected any term."),
    ((NONE, NONE, NONE), "No imputation selected anything, so none was resampled."),
    ((ONE, NONE, NONE), "No term was selected in enough imputations."),
    (
        (ONE, NONE, NONE),
        "Intervals are for this frame alone and ignore variation between imputations.",
    ),
    ((ONE, NONE, NONE), "2 of 3 imputations selected nothing and were not resampled"),
    ((ONE, TWO, NONE), "3 different sets of terms; 1 of them selected exactly the final"),
    ((ONE, TWO, NONE), "Each imputation: 1, 2 and 0 of 5 terms"),
    ((ONE, TWO, NONE), "of 20 resamples, 10 bootstrap resamples from each imputed frame with"),
    ((TWO, ("signal", "site"), ("site", "copy")), "none of them selected exactly the final"),
    ((TWO, TWO, TWO), "All 3 imputations selected the same terms."),
]


@pytest.mark.parametrize(("sets", "said"), SENTENCES)
def test_sentences_hold_for_what_was_selected(found, sets, said):
    made = selecting(found, *sets, resamples=10)
    assert said in " ".join(made.summary().as_text().split())


def test_all_must_agree(found):
    made = selecting(found, ("signal", "site"), ("signal",), ("signal",), least_share=1.0)
    assert made.selected == ("signal",)
    text = " ".join(made.summary().as_text().split())
    assert "Selected (k): 1 of 5 terms, selected in all 3 imputations" in text
    assert "2 of them selected exactly the final set" in text
    assert np.isfinite(made.index)


def test_groups_have_a_column_of_their_own(mixed):
    frames = [mixed.assign(noise=mixed["noise"].fillna(value)).iloc[:80] for value in (0.0, 1.0)]
    found = treeselect.select(
        "died ~ signal + noise + site",
        frames,
        method="importance",
        k=1,
        n_trees=5,
        seed=1,
        groups={"pair": ["signal", "noise"]},
        keep="pair",
    )
    assert found.selected == ("signal", "noise")
    assert "Group" in found.summary().as_text()
    assert '<th scope="col">Group</th>' in found.summary()._repr_html_()
    assert "pair" in found.summary().as_latex()


def test_labels_are_shown(found):
    labels = {name: f"The {name} (mV)" for name in ("signal", "copy", "site")}
    designs = [dataclasses.replace(fit.data.design, labels=labels) for fit in found.fits]
    fits = [changed(f, design=d) for f, d in zip(found.fits, designs, strict=True)]
    labelled = dataclasses.replace(found, records=tuple(f._fit for f in fits))
    name, text = found.selected[0], labelled.summary().as_text()
    assert f"Names in code: `{name}` is The {name} (mV);" in text
    assert name in set(labelled.tidy()["term"])
    assert labelled.formula == found.formula
    pooled = labelled.pooled()
    assert f"The {name} (mV)" in pooled.summary().as_text()
    assert name in set(pooled.tidy()["term"])
