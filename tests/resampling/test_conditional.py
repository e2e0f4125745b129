"""Conditional importance: against forests made by hand, on simulated truth, and what it says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from quick import changed

import treeselect
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError
from treeselect.models.forest import refit_forest
from treeselect.resampling.cross_validation import held_out_score


@pytest.fixture(scope="module")
def data():
    """A number with its near copy, a factor and a pair that matter, and noise."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(240, 5))
    frame = pd.DataFrame(x, columns=["a", "near", "b", "c", "noise"])
    frame["near"] = frame["a"] + 0.01 * frame["near"]
    frame["site"] = rng.choice(["north", "south", "west"], 240)
    y = 2 * frame["a"] + 2 * (frame["site"] == "west") + frame["b"] + frame["c"]
    return frame.assign(y=y + 0.3 * rng.normal(size=240), patient=np.arange(240) // 4)


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select(
        "y ~ . - patient", data, method="importance", k=4, seed=1, groups={"pair": ["b", "c"]},
        keep=["a", "near", "pair", "site"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def found(fit):
    return fit.model.conditional_importance(repeats=2)


def test_copies_lose_nothing_and_what_matters_does(found):
    table = found.tidy().set_index("term")
    assert set(table.index) == {"a", "near", "pair", "site"}
    assert table["importance"].is_monotonic_decreasing
    assert table.loc[["pair", "site"], "p_value"].max() < 0.01
    assert table.loc[["a", "near"], "importance"].max() < 0.1
    assert (table["ci_low"] <= table["importance"]).all()


def test_scores_are_those_of_forests_with_and_without_each_unit(fit, found):
    problem = dataclasses.replace(fit.data.design.problem, wants_scores=False)
    weights, seed = fit.data.design.row_weights, stream_seed(1, "conditional")
    from treeselect.resampling.folds import Folds, split_rows

    split = split_rows(problem, weights, Folds(5, 2, choose=False), seed)[3]
    train, test = split.weights(weights)
    own = stream_seed(1, "conditional", 3)
    names = list(problem.groups.names)
    without = fit.search.step.selected.copy()
    without[names.index("site")] = False
    for one, score in (
        (fit.search.step.selected, found.score[3]),
        (without, found.others[3, found.units.index("site")]),
    ):
        forest = refit_forest(problem, train, one, seed=own)
        assert held_out_score(problem, forest, train, test) == score


def test_a_term_that_is_not_selected_is_added(fit):
    found = fit.model.conditional_importance(3, terms=["noise", "site", "b"], repeats=1)
    table = found.tidy().set_index("term")
    assert table["selected"].to_dict() == {"pair": True, "site": True, "noise": False}
    expected = table["score_with"] - table["score_without"]
    np.testing.assert_allclose(table["importance"], expected, atol=1e-12)
    assert table.loc["noise", "importance"] < 0.05
    text = " ".join(found.summary().as_text().split())
    assert "A term that is not selected is added to the selected ones." in text
    assert "Selected Loss" in text


def test_threads_change_nothing(fit):
    one, two = (changed(fit, n_jobs=n).model.conditional_importance(3, repeats=1) for n in (1, 2))
    pd.testing.assert_frame_equal(one.tidy(), two.tidy())


def test_whole_groups_are_held_out(fit, data):
    found = fit.with_data(data).model.conditional_importance(
        3, terms="site", fold_groups="patient", scoring="neg_mean_absolute_error"
    )
    assert found.scheme == "3-fold cross-validation of whole patient clusters repeated 5 times"
    assert found.score.max() < 0
    assert "pair" not in repr(found)


def test_folds_of_ones_own_are_taken_once(fit, data):
    found = fit.model.conditional_importance(np.arange(len(data)) % 2, terms="site")
    assert len(found.score) == 2
    assert "given folds" in found.scheme


def test_what_is_not_allowed(fit, data):
    with pytest.raises(OptionError, match=r"`terms` must be terms of the formula.*\n.*'sight'"):
        fit.model.conditional_importance(terms="sight")
    with pytest.raises(OptionError, match="`terms` must name at least one"):
        fit.model.conditional_importance(terms=[])
    empty = treeselect.select("y ~ noise", data, method="lasso", lam=1e9)
    with pytest.raises(OptionError, match="`terms` must be given because nothing is selected"):
        empty.model.conditional_importance()


def test_no_test_without_variation(found):
    same = dataclasses.replace(found, others=found.score[:, np.newaxis] - np.zeros((1, 4)))
    assert (same.tidy()["p_value"] == 0.5).all()
    apart = dataclasses.replace(same, others=same.others - 0.5)
    assert apart.tidy()["p_value"].isna().all()
    assert "unknown" in apart.summary().as_text()


def test_full_text(found, snapshot):
    shown = dataclasses.replace(
        found,
        score=np.tile([0.9, 0.8, 0.85, 0.9], 2),
        others=np.tile([0.9, 0.8, 0.85, 0.9], 2)[:, np.newaxis]
        - np.array([0.25, 0.1, 0.0, -0.01]) * np.tile([1.0, 0.5, 1.5, 1.0], 2)[:, np.newaxis],
        units=("site", "pair", "a", "near"),
    )
    assert shown.summary().as_text() == snapshot
