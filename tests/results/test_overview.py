"""Tables of the selected terms, of those that came near, and of rows and missing values."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from quick import changed, stability_of

import treeselect
from treeselect.results.summary import overview_table
from treeselect.results.tables import class_counts, missing_counts, selected_first
from treeselect.results.verdict import each_selected_all, kept_units, sizes_of_resamples


@pytest.fixture
def drawn(fitted):
    """`fitted`, with as many of twenty resamples that selected each unit as a test says."""
    names = fitted.data.design.arrays.groups.names

    def make(counts, kept=()):
        selected = np.zeros((20, len(names)), dtype=bool)
        for name, count in counts.items():
            selected[:count, names.index(name)] = True
        resampled = stability_of(
            selected, names, fitted=fitted.search.step.selected, assessed=~np.isin(names, kept)
        )
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


def test_what_is_kept_and_sizes_of_resamples(fitted, drawn):
    first, second = fitted.groups
    assert kept_units(drawn({first: 20, second: 5}, kept=[first]).resampled) == {first}
    assert sizes_of_resamples(drawn({first: 20, second: 5}).resampled) == (1, 2)
    assert not each_selected_all(drawn({first: 20}).resampled)
    units = fitted.data.design.arrays.groups.names
    assert each_selected_all(drawn(dict.fromkeys(units, 20)).resampled)


@pytest.fixture(scope="module")
def table():
    """Of ten units the last three, which resamples never select, are in the fit."""
    return pd.DataFrame(
        {
            "term": list("abcdefghij"),
            "frequency": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0, 0, 0],
            "selected": [False] * 7 + [True] * 3,
        }
    )


@pytest.mark.parametrize(
    ("length", "most", "terms"),
    [(5, 8, "hijab"), (2, 8, "hij"), (2, 2, "hi"), (20, 50, "hijabcdefg")],
)
def test_the_selection_comes_first_and_is_never_left_out_for_others(table, length, most, terms):
    assert "".join(selected_first(table, length, most)["term"]) == terms


def test_of_an_empty_selection_the_most_frequent_units_are_shown(table):
    shown = selected_first(table.assign(selected=False), 3, 5)
    assert "".join(shown["term"]) == "abc"


def test_counts_are_those_of_the_data(mixed, fitted, tmp_path, cross_validated):
    counts = {str(label): int(n) for label, n in mixed["died"].value_counts().items()}
    assert class_counts(fitted._fit) == tuple(sorted(counts.items(), key=lambda own: own[1]))
    incomplete = int(mixed[["noise", "site"]].isna().any(axis=1).sum())
    assert missing_counts(fitted._fit) == ([("noise", 37), ("site", 31)], incomplete)
    loaded = treeselect.load(fitted.save(tmp_path / "fit"))
    assert class_counts(loaded._fit) == class_counts(fitted._fit)
    assert class_counts(cross_validated._fit) == ()
