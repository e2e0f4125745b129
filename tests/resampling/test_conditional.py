"""Models of the selected terms on held-out rows: conditional importance, and risk groups."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from quick import changed
from survival_data import small_fit, small_times

import treeselect
from treeselect.engine.random import stream_seed
from treeselect.engine.survival.times import EVENT, STOP, STRATUM
from treeselect.errors import OptionError
from treeselect.models.forest import refit_forest
from treeselect.resampling.conditional import _held_out, _horizon
from treeselect.resampling.cross_validation import held_out_score
from treeselect.resampling.folds import Split


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


# --- risk groups: the curves at some times -------------------------------------------------------


@pytest.fixture(scope="module")
def groups():
    return small_fit().model.risk_groups(folds=3)


@pytest.fixture(scope="module")
def late():
    return small_fit("Surv(late, time, dead) ~ risky + x + strata(site)", 1).model.risk_groups(
        2, folds=3
    )


def test_numbers_at_risk_are_those_of_the_curves(groups):
    for name, curve in zip(groups.names, groups.curves, strict=True):
        table = groups.at(curve.time)
        own = table[table["group"] == name]
        assert own["at_risk"].to_list() == curve.at_risk.tolist()
        assert own["survival"].to_list() == curve.survival.tolist()
        assert np.array_equal(own["ci_low"], curve.lower, equal_nan=True)


def test_at_risk_is_who_has_entered_and_not_ended(late):
    data = small_times()
    times = [0, 30, 100.5, 10_000]
    total = late.at(times).groupby("time")["at_risk"].sum()
    for time in times[1:]:
        assert total[time] == ((data["late"] < time) & (time <= data["time"])).sum()
    assert total[0] == (data["late"] == 0).sum()


def test_nothing_is_known_after_the_last_row_unless_nobody_is_left(groups):
    after = groups.at([1e6])
    gone = np.array([curve.survival[-1] == 0 for curve in groups.curves])
    assert (after["survival"].isna() == ~gone).all()
    assert (after["at_risk"] == 0).all()
    assert groups.at([0])["survival"].to_list() == [1.0] * 3
    observed = groups.at([groups.horizon])["survival"].to_numpy()
    assert np.array_equal(observed, groups.calibration()["observed"], equal_nan=True)


def test_types_are_the_same_for_whole_times(groups):
    assert (groups.at([1]).dtypes == groups.at([1.5]).dtypes).all()
    assert len(dataclasses.replace(groups, library="pandas").at((1, 2))) == 6


@pytest.mark.parametrize("times", [[], [-1], "ab", None, [np.nan], [[1]], 3])
def test_times_are_checked(groups, times):
    with pytest.raises(OptionError, match="`times` must be one or more numbers of at least 0"):
        groups.at(times)


# --- risks of rows that the model has not seen, and groups of them -------------------------------


@pytest.fixture(scope="module")
def timed():
    return small_fit("Surv(time, dead) ~ risky + x + strata(site)", 1)


@pytest.fixture(scope="module")
def four(timed):
    return timed.model.risk_groups(4, 300, folds=np.arange(90) // 30)


def test_a_row_has_no_say_in_its_own_prediction(timed):
    """Nor is anything told of a stratum of which the training rows have none."""
    design, rows = timed.data.design, np.arange(90)
    y = design.problem.y
    split = Split(rows[y[:, STRATUM] == 1], rows[y[:, STRATUM] == 0])
    other = y.copy()
    other[split.test, STOP] = 1.0 + rows[split.test]
    other[split.test, EVENT] = 1.0 - y[split.test, EVENT]
    selected = timed.search.step.selected
    one, two = (
        _held_out(
            dataclasses.replace(design.problem, y=own), design.row_weights, split, selected,
            refit_forest, 300.0, 3,
        )
        for own in (y, other)
    )  # fmt: skip
    np.testing.assert_array_equal(one[0], split.test)
    np.testing.assert_array_equal(one[1], two[1])
    assert np.isnan(one[2]).all()
    swapped = dataclasses.replace(design.problem, y=y * [1, 1, 1, 0])
    _, risk, survival = _held_out(
        swapped, design.row_weights, split, selected, refit_forest, 300.0, 3
    )
    order = np.argsort(risk)
    assert (np.diff(survival[order]) <= 1e-12).all()
    assert ((survival > 0) & (survival < 1)).all()


def test_what_is_said_of_the_groups(four):
    groups = four
    assert groups.names == ("1", "2", "3", "4")
    assert groups.n_rows.sum() == 90
    assert groups.n_left_out == 0
    assert sum(curve.events.sum() for curve in groups.curves) == small_times()["dead"].sum()
    assert (np.diff(groups.risk) > 0).all()
    assert (np.diff(groups.predicted) < 0).all()


def test_rows_whose_stratum_is_held_out_whole_are_left_out(timed):
    """Bath has every third row."""
    site = np.arange(90) % 3
    groups = timed.model.risk_groups(2, 300, folds=site)
    assert (groups.n_rows.sum(), groups.n_left_out) == (60, 30)
    assert "30 rows were left out" in " ".join(groups.summary().as_text().split())
    with pytest.raises(OptionError, match="must leave training rows of the strata"):
        timed.model.risk_groups(2, 300, folds=np.minimum(site, 1))


def test_the_median_time_of_the_events_is_the_horizon(timed):
    """Events count by their weights, as copies of them would."""
    data = small_times()
    times = np.sort(data.loc[data["dead"] == 1, "time"])
    assert timed.model.risk_groups(2, folds=2).horizon == times[(len(times) - 1) // 2]
    copies = 1 + 5 * (data["time"] > times[len(times) // 2])
    written_out = np.repeat(data["time"], copies * data["dead"])
    expected = np.sort(written_out)[(len(written_out) - 1) // 2]
    assert _horizon(None, timed.data.design, copies.to_numpy()) == expected > times[len(times) // 2]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_groups": 1}, "`n_groups` must be"),
        ({"n_groups": 21}, "`n_groups` must be"),
        ({"horizon": 0}, r"`horizon` must be a time above 0.*\n  Found: 0"),
        ({"horizon": 1e6}, "Observation ends at"),
        ({"horizon": "soon"}, "`horizon` must be a time"),
    ],
)
def test_arguments_are_checked(timed, given, said):
    with pytest.raises(OptionError, match=said):
        timed.model.risk_groups(**given)


def test_other_responses_have_no_risk_groups(fitted):
    with pytest.raises(OptionError, match="need a survival response"):
        fitted.model.risk_groups()
