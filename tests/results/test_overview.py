"""The table of the selected terms and of those that came near."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from quick import changed

from treeselect.resampling.stability import Stability
from treeselect.results.summary import overview_table


@pytest.fixture
def drawn(fitted):
    """`fitted`, with as many of twenty resamples that selected each unit as a test says."""
    names = fitted.data.design.arrays.groups.names

    def make(counts, kept=()):
        selected = np.zeros((20, len(names)), dtype=bool)
        for name, count in counts.items():
            selected[:count, names.index(name)] = True
        resampled = Stability(
            units=names, fitted=fitted.search.step.selected, assessed=~np.isin(names, kept),
            selected=selected, scheme="bootstrap", k=2, seed=1,
        )  # fmt: skip
        return changed(fitted, resampled=resampled)._fit

    return make


def test_without_resamples_only_what_is_selected(fitted):
    found, more = overview_table(changed(fitted, resampled=None)._fit, 50, 10)
    assert tuple(found["term"]) == fitted.selected
    assert more == 0
    assert not any(found["substitutes"])
    assert overview_table(changed(fitted, resampled=None)._fit, 1, 10)[1] == 1


def test_outside_are_those_that_are_frequent(fitted, drawn):
    first, second = fitted.selected
    others = [n for n in fitted.data.design.arrays.groups.names if n not in fitted.selected]
    often, more_than_one_inside, rare, never = others[:4]
    found, more = overview_table(
        drawn({first: 20, second: 5, often: 10, more_than_one_inside: 6, rare: 5, never: 0}), 50, 10
    )
    assert tuple(found["term"]) == (*fitted.selected, often, more_than_one_inside)
    assert found["selected"].tolist() == [True, True, False, False]
    assert more == 0
    found, more = overview_table(drawn({first: 20, second: 0, often: 3, rare: 2}), 50, 1)
    assert tuple(found["term"]) == (*fitted.selected, often)
    assert more == 1


def test_a_kept_term_is_no_measure(fitted, drawn):
    first, second = fitted.selected
    other = next(n for n in fitted.data.design.arrays.groups.names if n not in fitted.selected)
    found, _ = overview_table(
        drawn({first: 20, second: 20, other: 9}, kept=(first, second)), 50, 10
    )
    assert tuple(found["term"]) == fitted.selected
    assert found["kept"].all()


def test_places_are_held_in_turn(drawn, fitted):
    names = fitted.data.design.arrays.groups.names
    fit = drawn({"site": 20})
    selected = fit.resampled.selected.copy()
    selected[:12, names.index("signal")] = True
    selected[12:, names.index("copy")] = True
    fit = dataclasses.replace(fit, resampled=dataclasses.replace(fit.resampled, selected=selected))
    found, _ = overview_table(fit, 50, 10)
    named = dict(zip(found["term"], found["substitutes"], strict=True))
    assert named["signal"] == ("copy",)
    assert named["copy"] == ("signal",)
    assert named["site"] == ()
