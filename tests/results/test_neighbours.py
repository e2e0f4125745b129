"""Which terms resemble which in the data."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs.modeldata import Associations, Coded, association, coded_number
from treeselect.errors import DataError


def test_neighbours_of_one_term(fitted):
    table = fitted.data.neighbours("copy", most=3)
    assert list(table) == ["term", "other", "measure", "association", "selected"]
    assert (table["term"] == "copy").all()
    assert table["other"][0] == "signal"
    assert table["association"].is_monotonic_decreasing
    assert table["selected"].to_list() == [name in fitted.selected for name in table["other"]]
    others = set(fitted.data.neighbours("noise")["other"])
    assert others == {"signal", "copy", "site", "colour", "flag"}


def test_neighbours_of_all_selected_terms(fitted):
    table = fitted.data.neighbours(most=2)
    assert table["term"].to_list() == [name for name in fitted.selected for _ in range(2)]
    for name in fitted.selected:
        one = fitted.data.neighbours(name, most=2)
        pd.testing.assert_frame_equal(
            one, table[table["term"] == name].reset_index(drop=True), check_dtype=False
        )


def test_the_strongest_column_of_a_term_and_of_a_group_counts(mixed):
    rng = np.random.default_rng(0)
    data = mixed.assign(a=rng.normal(size=400), b=mixed["signal"] ** 3)
    fit = treeselect.select(
        "dose ~ signal + a + b + noise", data, groups={"pair": ["a", "b"]}, k=1, seed=1,
        method="importance", n_trees=5,
    )  # fmt: skip
    measured = Associations(fit.data.design)
    assert measured.units("signal", "pair") == pytest.approx(1)
    assert measured.terms("signal", "a")[1] < 0.3
    assert measured.units("pair", "noise") == max(
        measured.terms("a", "noise")[1], measured.terms("b", "noise")[1]
    )


def test_weights_are_copies(mixed):
    weight = np.arange(len(mixed)) % 3
    options = {"k": 1, "seed": 1, "method": "importance", "n_trees": 5}
    fit = treeselect.select("dose ~ signal + site + noise", mixed, weights=weight, **options)
    copied = mixed.loc[mixed.index.repeat(weight)].reset_index(drop=True)
    again = treeselect.select("dose ~ signal + site + noise", copied, **options)
    first, second = fit.data.neighbours("noise"), again.data.neighbours("noise")
    pd.testing.assert_frame_equal(first, second)


def test_columns_are_coded_once(fitted, monkeypatch):
    measured = Associations(fitted.data.design)
    found = measured.terms("signal", "noise")
    monkeypatch.setattr("treeselect.designs.modeldata.coded_number", None)
    assert measured.terms("signal", "noise") == found
    first, second = coded_number(np.array([1.0, 2.0])), Coded(np.array([0, 1]), True)
    assert association(first, second, np.ones(2)) == pytest.approx(1)


def test_without_the_data_there_are_none(fitted, tmp_path):
    loaded = treeselect.load(fitted.save(tmp_path / "fit"))
    with pytest.raises(DataError, match="without the data"):
        loaded.data.neighbours()


def test_a_factor_of_which_nothing_is_known_goes_together_with_nothing():
    data = pd.DataFrame({"y": [2.0, 1.0, 2.0, 3.0], "x": [-12.6, 6.2, -2.0, -5.1], "v": [None] * 4})
    data["v"] = data["v"].astype("string")
    fit = treeselect.select("y ~ x + v + x:v", data, k=1, method="mrmr", seed=1)
    assert (fit.data.neighbours("x:v")["association"] == 0).all()
    assert fit.data.neighbours("x")["association"].max() == 0
