"""Paths of resamples and their q-values, from the calls on."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.algorithms.task import ranked_step
from treeselect.errors import OptionError, StabilityError
from treeselect.resampling.resampled import StabilityPath, path_lines, sets_by_size
from treeselect.resampling.stability import Stability


def step(*units, p=4):
    selected = np.isin(np.arange(p), units)
    return ranked_step(0.0, selected, np.arange(p, 0.0, -1), np.nan)


def test_sets_by_size_cuts_what_the_path_jumps_over():
    nothing = np.zeros(4, dtype=bool)
    sets = sets_by_size([step(), step(2), step(0, 1, 2)], 4, nothing)
    assert [s.tolist() for s in sets] == [[2], [0, 1], [0, 1, 2], [0, 1, 2]]


def test_sets_by_size_begins_above_the_kept_units():
    keep = np.array([False, False, False, True])
    sets = sets_by_size([step(3), step(1, 3), step(0, 1, 3)], 2, keep)
    assert [s.tolist() for s in sets] == [[1, 3], [0, 1, 3]]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((120, 6)), columns=list("abcdef"))
    level = rng.integers(3, size=120)
    frame["site"] = np.array(["x", "y", "z"])[level]
    y = 2 * frame["b"] + frame["e"] + 2.0 * (level == 1) + 0.5 * rng.standard_normal(120)
    return frame.assign(y=y)


@pytest.fixture(scope="module")
def fit(data):
    fit = treeselect.select("y ~ .", data, method="lasso", k=3, seed=1)
    return fit.resample(20, scheme="complementary", path=4)


def test_factors_are_units_with_q_values(fit):
    table = fit.stability.q_values()
    assert list(table.columns) == ["term", "efp", "q_value", "selected"]
    assert len(table) == 7
    assert table["efp"].is_monotonic_increasing
    assert table["q_value"].is_monotonic_increasing
    assert table["term"][0] == "b"
    assert set(fit.stability.q_values(cutoff=1.0)["term"][:3]) == {"b", "e", "site"}
    assert ((table["efp"] > 0) & (table["efp"] <= 7)).all()
    assert (table["q_value"] <= np.minimum(table["efp"], 1)).all()


def test_the_path_holds_the_frequency_at_k(fit):
    paths = fit.resample(20, scheme="complementary", path=3).stability
    wide = paths.path().pivot_table(index="k", columns="term", values="frequency")
    assert wide.index.to_list() == [1, 2, 3]
    assert (wide.sum(axis=1) <= wide.index + 1e-9).all()
    at_k = paths.tidy().set_index("term")["frequency"]
    pd.testing.assert_series_equal(
        wide.loc[3], at_k[wide.columns], check_names=False, check_index_type=False
    )


def test_paths_do_not_depend_on_the_order_of_columns_nor_on_processes(data, fit):
    turned = treeselect.select("y ~ .", data[data.columns[::-1]], method="lasso", k=3, seed=1)
    again = turned.resample(20, scheme="complementary", path=4, n_jobs=2)
    pd.testing.assert_frame_equal(again.stability.q_values(), fit.stability.q_values())


def test_true_is_as_many_sizes_as_q_values_look_at(data):
    fit = treeselect.select("y ~ .", data, method="mrmr", k=1, seed=1)
    paths = [fit.resample(4, scheme="complementary", path=p).stability for p in (True, 7)]
    assert paths[0].path()["k"].max() < 7
    pd.testing.assert_frame_equal(paths[0].q_values(), paths[1].q_values())
    wide = fit.resample(4, scheme="complementary", path=True, k=6).stability
    assert wide.path()["k"].max() == 6  # that of the resamples is among them


def test_kept_units_are_not_judged(data):
    fit = treeselect.select("y ~ .", data, method="mrmr", k=2, keep="c", seed=1)
    found = fit.resample(10, scheme="complementary", path=3).stability
    assert "c" not in set(found.q_values()["term"])
    assert found.path()["k"].unique().tolist() == [2, 3]


def test_the_set_of_a_tuning_value_is_ranked_by_importance(data):
    fit = treeselect.select(
        "y ~ .", data, method="gbfs", mu=0.0, n_trees=20, max_depth=1, prune=False, seed=1
    )
    found = fit.resample(10, scheme="complementary", path=2).stability
    assert found.path().groupby("k")["frequency"].sum().to_list() == pytest.approx([1.0, 2.0])
    assert found.q_values()["term"][0] == "b"


def test_a_file_holds_the_paths(fit, tmp_path):
    again = treeselect.load(fit.save(tmp_path / "model.zip")).stability
    pd.testing.assert_frame_equal(again.q_values(), fit.stability.q_values())
    pd.testing.assert_frame_equal(again.path(), fit.stability.path())


@pytest.fixture
def found():
    counts = np.array([[4, 0, 0], [4, 3, 1]])
    return Stability(
        units=("a", "b", "c"),
        fitted=np.array([False, True, False]),
        assessed=np.ones(3, dtype=bool),
        selected=np.tile([True, True, False], (4, 1)),
        scheme="complementary",
        k=2,
        seed=0,
        along=StabilityPath(counts, 4, 0),
    )


def test_q_values_by_hand(found):
    """Power 1: bounds 3 / 9 and 3 * 4 / 9, mean 5 / 6; scores 1 and 1 / 4."""
    table = found.q_values(power=1, cutoff=1.0)
    assert table["term"].to_list() == ["a", "b", "c"]
    np.testing.assert_allclose(table["efp"], [5 / 6, 3, 3])
    np.testing.assert_allclose(table["q_value"], [5 / 6, 1, 1])


def test_more_pairs_than_count_change_nothing(found):
    twice = dataclasses.replace(
        found,
        selected=np.tile(found.selected, (2, 1)),
        along=StabilityPath(2 * found.along.counts, 8, 0),
    )
    table = found.q_values(independent_pairs=2)
    pd.testing.assert_frame_equal(twice.q_values(independent_pairs=2), table)
    assert (twice.q_values(independent_pairs=4)["efp"] <= table["efp"]).all()


def test_lines_of_a_figure_begin_with_the_fit(found):
    lines = path_lines(found.along, found.units, found.fitted, most=2)
    assert (lines.sizes, lines.names, lines.more) == ((1, 2), ("b", "a"), 1)
    assert lines.values == ((0.0, 0.75), (1.0, 1.0))
    assert lines.selected == (True, False)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"along": None}, {}, "Can't compute q-values without the selection paths"),
        ({"scheme": "bootstrap"}, {}, "Q-values need complete complementary pairs"),
        ({}, {"power": 4}, "`power` must be 1, 2 or 3"),
        ({}, {"power": True}, "`power` must be 1, 2 or 3"),
        ({}, {"power": None}, "`power` must be 1, 2 or 3"),
        ({}, {"cutoff": 0}, "`cutoff` must be a number above 0"),
        ({}, {"independent_pairs": 0}, "`independent_pairs` must be"),
    ],
)
def test_q_values_refuse(found, change, options, message):
    changed = dataclasses.replace(found, **change)
    with pytest.raises((StabilityError, OptionError), match=message):
        changed.q_values(**options)


def test_q_values_refuse_half_a_pair(found):
    odd = dataclasses.replace(found, selected=found.selected[:3])
    with pytest.raises(StabilityError, match="complete complementary pairs"):
        odd.q_values()


def test_a_path_needs_resamples_that_followed_it(found):
    with pytest.raises(StabilityError, match="without the selection paths") as error:
        dataclasses.replace(found, along=None).path()
    assert "complementary" not in str(error.value)  # any resamples serve


@pytest.mark.parametrize("path", [0, 8, 2.5, "all", None])
def test_resample_refuses_what_is_no_number_of_units(fit, path):
    with pytest.raises(OptionError, match="`path` must be"):
        fit.resample(2, path=path)


def test_resample_refuses_paths_of_trees_that_have_seen_all_rows(data):
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(5, random_state=0).fit(data[list("abcdef")], data["y"])
    fit = treeselect.select(
        "y ~ a + b + c + d + e + f", data, method="controlburn", forest=forest, k=2, seed=1
    )
    with pytest.raises(OptionError, match="`path` must be False if the trees were grown earlier"):
        fit.resample(2, path=True)
    everything = treeselect.select("y ~ a + b", data, method="mrmr", k=2, keep=["a", "b"], seed=1)
    with pytest.raises(OptionError, match="`path` must be False if every candidate is forced in"):
        everything.resample(2, path=True)


def test_a_checkpoint_holds_the_paths(fit, tmp_path):
    pieces = []
    calls = [
        fit.resample(4, scheme="complementary", path=3, checkpoint=folder, on_piece=pieces.append)
        for folder in (None, tmp_path, tmp_path)
    ]
    assert [piece.was_saved for piece in pieces] == [False] * 8 + [True] * 4
    paths = [call.stability.path() for call in calls]
    pd.testing.assert_frame_equal(paths[1], paths[0])
    pd.testing.assert_frame_equal(paths[2], paths[0])
