"""Model frequencies, pairs and the co-selection matrix as tables."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError
from treeselect.resampling.agreement import correlated_index
from treeselect.resampling.stability import Stability


def stability_of(rows, *, fitted, assessed=None, units=("age", "height", "sex")):
    selected = np.array(rows, dtype=bool)
    free = np.ones(len(units), dtype=bool) if assessed is None else np.array(assessed, dtype=bool)
    return Stability(
        units=units,
        fitted=np.array(fitted, dtype=bool),
        assessed=free,
        selected=selected,
        scheme="bootstrap",
        k=2,
        seed=0,
    )


ROWS = [[1, 0, 1]] * 4 + [[0, 1, 1]] * 3 + [[0, 0, 1]] + [[1, 1, 1]] * 2


def test_models_by_hand():
    stability = stability_of(ROWS, fitted=[0, 1, 1])
    table = stability.models()
    assert table["terms"].to_list() == [
        ("sex", "age"), ("sex", "height"), ("sex", "age", "height"), ("sex",),
    ]  # fmt: skip
    assert table["size"].to_list() == [2, 2, 3, 1]
    assert table["count"].to_list() == [4, 3, 2, 1]
    np.testing.assert_allclose(table["cumulative"], [0.4, 0.7, 0.9, 1.0])
    assert table["selected"].to_list() == [False, True, False, False]
    assert (stability.n_models, stability.same_model) == (4, 3)


def test_the_set_of_the_fit_is_listed_wherever_it_stands():
    stability = stability_of(ROWS, fitted=[0, 0, 1])
    table = stability.models(1)
    assert table["terms"].to_list() == [("sex", "age"), ("sex",)]
    np.testing.assert_allclose(table["cumulative"], [0.4, 1.0])
    assert len(stability_of(ROWS, fitted=[1, 0, 0]).models(1)) == 1  # which never came up
    assert len(stability.models(None)) == 4


@pytest.mark.parametrize("n", [0, 1.0, "all", True])
def test_the_number_of_models_is_checked(n):
    with pytest.raises(OptionError, match="`n` must be a whole number, at least 1"):
        stability_of(ROWS, fitted=[0, 0, 1]).models(n)


def test_the_empty_set_is_a_set():
    table = stability_of([[0, 0, 0], [0, 0, 1], [0, 0, 0]], fitted=[0, 0, 1]).models()
    assert table["terms"].to_list() == [(), ("sex",)]


def test_pairs_leave_out_what_never_changes():
    stability = stability_of([*ROWS, *([[1, 0, 1], [0, 1, 1]] * 10)], fitted=[0, 1, 1])
    (row,) = stability.pairs().to_dict("records")
    assert (row["term"], row["other"], row["sign"]) == ("age", "height", "-")
    assert row["together"] == pytest.approx(2 / 30)
    assert row["expected"] == pytest.approx(16 / 30 * 15 / 30)
    assert row["ratio"] == pytest.approx(row["together"] / row["expected"])
    assert stability.pairs(level=1e-9)["sign"].to_list() == [""]
    with pytest.raises(OptionError, match="`level`"):
        stability.pairs(level=1)


def test_pairs_of_units_that_never_change_are_an_empty_table():
    table = stability_of([[1, 0, 1]] * 3, fitted=[1, 0, 1]).pairs()
    assert len(table) == 0
    assert table["p_value"].dtype == "float64"


def test_co_selection_has_named_rows():
    table = stability_of(ROWS, fitted=[0, 1, 1]).co_selection()
    assert list(table) == list(table.index) == ["sex", "age", "height"]
    assert table.loc["age", "height"] == table.loc["height", "age"] == pytest.approx(0.2)
    assert np.diag(table).tolist() == [1.0, 0.6, 0.5]


def test_the_correlated_index_leaves_out_kept_units_and_needs_the_data():
    stability = stability_of(ROWS, fitted=[0, 1, 1], assessed=[1, 1, 0])
    assert np.isnan(stability.correlated_index)
    apart = dataclasses.replace(stability, similarity=lambda: np.eye(3))
    assert apart.correlated_index == pytest.approx(apart.index)
    copies = np.eye(3)
    copies[0, 1] = copies[1, 0] = 0.99
    alike = dataclasses.replace(stability, similarity=lambda: copies)
    expected = correlated_index(stability.selected[:, :2], copies[:2, :2])
    assert alike.correlated_index == expected != apart.index


def test_tables_of_a_fit_come_in_the_library_of_the_data(mixed):
    polars = pytest.importorskip("polars")
    asked = {"method": "lasso", "k": 2, "seed": 1, "resamples": 6}
    formula = "dose ~ signal + copy + site + noise"
    fit = treeselect.select(formula, polars.from_pandas(mixed), **asked).stability
    models, pairs = fit.models(), fit.pairs()
    assert isinstance(models, polars.DataFrame)
    assert isinstance(pairs, polars.DataFrame)
    assert isinstance(fit.co_selection(), pd.DataFrame)
    twin = treeselect.select(formula, mixed[mixed.columns[::-1]], **asked, n_jobs=2).stability
    assert [tuple(t) for t in models["terms"].to_list()] == twin.models()["terms"].to_list()
    assert pairs["p_value"].to_list() == twin.pairs()["p_value"].to_list()
    assert fit.correlated_index == pytest.approx(twin.correlated_index)
