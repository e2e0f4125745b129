"""A table of counts gives the answer of the rows that it counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeselect
from treeselect.designs import row_sample
from treeselect.designs.weights import RowWeights

OUTCOMES = {
    "survived": "binomial",
    "pclass": "multinomial",
    "age": "gaussian",
    "sibsp": "poisson",
    "Surv(age, survived)": "cox",
}


@pytest.fixture(scope="module")
def people():
    """One row per person, in the order of the table."""
    data = treeselect.datasets.load("titanic")[["survived", "pclass", "sex", "sibsp", "age"]]
    data = data.dropna().head(500).assign(age=lambda d: (d["age"] // 15 * 15 + 1).clip(upper=46))
    return data.sort_values(list(data)).reset_index(drop=True)


@pytest.fixture(scope="module")
def table(people):
    """One row per cell; the last row counts nobody."""
    found = people.value_counts(sort=False).rename("n").reset_index()
    return pd.concat([found, found.head(1).assign(n=0)], ignore_index=True)


def both(outcome, people, table, **options):
    arguments = {"family": OUTCOMES[outcome], "seed": 1, "progress": False} | options
    counted = treeselect.select(
        f"{outcome} ~ .", table, weights="n", weights_kind="frequency", **arguments
    )
    return counted, treeselect.select(f"{outcome} ~ .", people, **arguments)


def assert_same(counted, rows):
    assert counted.selected == rows.selected
    pd.testing.assert_frame_equal(counted.tidy(), rows.tidy())


@pytest.mark.parametrize("method", treeselect.methods()["method"])
def test_every_method_takes_copies_for_observations(people, table, method):
    options = {"n_trees": 30} if method in ("rrf", "grrf", "rboost", "boruta") else {}
    assert_same(*both("survived", people, table, method=method, k=2, **options))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_family(people, table, outcome):
    counted, rows = both(outcome, people, table, method="mrmr", k="best", resamples=5)
    assert_same(counted, rows)
    np.testing.assert_array_equal(counted.search.scores.scores, rows.search.scores.scores)
    pd.testing.assert_frame_equal(counted.stability.tidy(), rows.stability.tidy())


def test_default_finds_what_the_people_tell(people, table):
    counted, rows = both("survived", people, table)
    assert_same(counted, rows)
    assert "sex" in counted.selected
    one, two = (fit.performance(folds=3, seed=1) for fit in (counted, rows))
    np.testing.assert_array_equal(one.scores, two.scores)
    assert one.mean > 0.7
    assert set(one.predictions()["row"]) == set(range(len(table) - 1))


def test_people_are_counted_in_print(people, table, tmp_path):
    counted, rows = both("survived", people, table, method="importance", k=2)
    n, died = len(people), int(people["survived"].sum())
    for text in (counted.summary(), rows.summary()):
        assert f"({died} of {n})" in str(text).replace("\n", " ").replace("  ", "")
    assert f"Rows used: {n}, copies counted. Excluded because their weight is 0: 1." in str(
        counted.summary()
    )
    assert f"{n} rows" in counted.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_linear_models_are_those_of_the_people(people, table):
    counted, rows = both("survived", people, table, method="importance", k=2)
    one, two = (fit.refit("glm").tidy() for fit in (counted, rows))
    pd.testing.assert_frame_equal(one, two)
    one, two = (fit.inference(seed=2).tidy() for fit in (counted, rows))
    pd.testing.assert_frame_equal(one, two)


def test_clusters_and_given_folds_keep_copies_together(table):
    cell = np.arange(len(table))
    arguments = {"weights": "n", "weights_kind": "frequency", "method": "mrmr", "seed": 1}
    fit = treeselect.select("survived ~ .", table, fold_groups=cell, k=2, **arguments)
    out = fit.performance(folds=3, seed=1).predictions()
    assert (out.groupby("row")["fold"].nunique() == 1).all()
    fit = treeselect.select("survived ~ .", table, k=2, **arguments)
    out = fit.performance(folds=cell % 3, seed=1).predictions()
    assert (out["fold"] == out["row"] % 3 + 1).all()
    out = fit.performance(folds=3, seed=1).predictions()
    assert (out.groupby("row")["fold"].nunique() > 1).any()


def test_model_file_without_data_takes_the_table_again(table, people, tmp_path):
    fit, _ = both("survived", people, table, method="mrmr", k=2)
    fit.save(tmp_path / "fit.treeselect", include_data=False)
    again = treeselect.load(tmp_path / "fit.treeselect")
    assert again.with_data(table).refit("glm").n_used == len(people)
    fit.save(tmp_path / "with.treeselect", include_data=True)
    again = treeselect.load(tmp_path / "with.treeselect")
    np.testing.assert_array_equal(
        again.performance(folds=3, seed=1).scores, fit.performance(folds=3, seed=1).scores
    )


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(1, 200))
def test_lots_keep_the_counts_and_are_nearly_equal(counts, most):
    values = np.array(counts)
    if not values.any():
        return
    lots, rows = RowWeights(values, are_copies=True).written_out(most)
    np.testing.assert_array_equal(np.bincount(rows, lots.values, len(values)), values)
    assert len(rows) <= max(most, (values > 0).sum())
    for row in np.unique(rows):
        assert np.ptp(lots.values[rows == row]) <= 1
    each, rows = RowWeights(values, are_copies=True).written_out()
    assert (each.values == 1).all()
    np.testing.assert_array_equal(rows, np.repeat(np.arange(len(values)), values))


def test_large_counts_are_drawn_in_lots(people, table, monkeypatch):
    many = table.assign(n=table["n"] * 1000)
    monkeypatch.setattr(row_sample, "_MOST_COPIES", 300)
    fit = treeselect.select(
        "survived ~ .", many, weights="n", weights_kind="frequency", method="mrmr", k=2, seed=1
    )
    assert "sex" in fit.selected
    assert len(fit.data.design.row_weights) <= 300
    died = 1000 * int(people["survived"].sum())
    assert f"({died:,} of {1000 * len(people):,})" in " ".join(str(fit.summary()).split())
    assert fit.refit("glm").n_used == 1000 * len(people)
