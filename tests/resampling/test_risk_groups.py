"""Risk groups: the curves at some times."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from survival_data import small_fit, small_times

from treeselect.engine.survival.times import EVENT, STOP, STRATUM
from treeselect.errors import OptionError
from treeselect.models.forest import refit_forest
from treeselect.resampling.conditional import _held_out, _horizon
from treeselect.resampling.folds import Split


@pytest.fixture(scope="module")
def found():
    return small_fit().model.risk_groups(folds=3)


@pytest.fixture(scope="module")
def late():
    return small_fit("Surv(late, time, dead) ~ risky + x + strata(site)", 1).model.risk_groups(
        2, folds=3
    )


def test_numbers_at_risk_are_those_of_the_curves(found):
    for name, curve in zip(found.names, found.curves, strict=True):
        table = found.at(curve.time)
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


def test_nothing_is_known_after_the_last_row_unless_nobody_is_left(found):
    after = found.at([1e6])
    gone = np.array([curve.survival[-1] == 0 for curve in found.curves])
    assert (after["survival"].isna() == ~gone).all()
    assert (after["at_risk"] == 0).all()
    assert found.at([0])["survival"].to_list() == [1.0] * 3
    observed = found.at([found.horizon])["survival"].to_numpy()
    assert np.array_equal(observed, found.calibration()["observed"], equal_nan=True)


def test_types_are_the_same_for_whole_times(found):
    assert (found.at([1]).dtypes == found.at([1.5]).dtypes).all()
    assert len(dataclasses.replace(found, library="pandas").at((1, 2))) == 6


@pytest.mark.parametrize("times", [[], [-1], "ab", None, [np.nan], [[1]], 3])
def test_times_are_checked(found, times):
    with pytest.raises(OptionError, match="`times` must be one or more numbers of at least 0"):
        found.at(times)


# --- risks of rows that the model has not seen, and groups of them -------------------------------


@pytest.fixture(scope="module")
def fit():
    return small_fit("Surv(time, dead) ~ risky + x + strata(site)", 1)


@pytest.fixture(scope="module")
def four(fit):
    return fit.model.risk_groups(4, 300, folds=np.arange(90) // 30)


def test_a_row_has_no_say_in_its_own_prediction(fit):
    """Nor is anything told of a stratum of which the training rows have none."""
    design, rows = fit.data.design, np.arange(90)
    y = design.problem.y
    split = Split(rows[y[:, STRATUM] == 1], rows[y[:, STRATUM] == 0])
    other = y.copy()
    other[split.test, STOP] = 1.0 + rows[split.test]
    other[split.test, EVENT] = 1.0 - y[split.test, EVENT]
    selected = fit.search.step.selected
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
    found = four
    assert found.names == ("1", "2", "3", "4")
    assert found.n_rows.sum() == 90
    assert found.n_left_out == 0
    assert sum(curve.events.sum() for curve in found.curves) == small_times()["dead"].sum()
    assert (np.diff(found.risk) > 0).all()
    assert (np.diff(found.predicted) < 0).all()


def test_rows_whose_stratum_is_held_out_whole_are_left_out(fit):
    """Bath has every third row."""
    site = np.arange(90) % 3
    found = fit.model.risk_groups(2, 300, folds=site)
    assert (found.n_rows.sum(), found.n_left_out) == (60, 30)
    assert "30 rows were left out" in " ".join(found.summary().as_text().split())
    with pytest.raises(OptionError, match="must leave training rows of the strata"):
        fit.model.risk_groups(2, 300, folds=np.minimum(site, 1))


def test_the_median_time_of_the_events_is_the_horizon(fit):
    """Events count by their weights, as copies of them would."""
    data = small_times()
    times = np.sort(data.loc[data["dead"] == 1, "time"])
    assert fit.model.risk_groups(2, folds=2).horizon == times[(len(times) - 1) // 2]
    copies = 1 + 5 * (data["time"] > times[len(times) // 2])
    written_out = np.repeat(data["time"], copies * data["dead"])
    expected = np.sort(written_out)[(len(written_out) - 1) // 2]
    assert _horizon(None, fit.data.design, copies.to_numpy()) == expected > times[len(times) // 2]


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
def test_arguments_are_checked(fit, given, said):
    with pytest.raises(OptionError, match=said):
        fit.model.risk_groups(**given)


def test_other_responses_have_no_risk_groups(fitted):
    with pytest.raises(OptionError, match="need a survival response"):
        fitted.model.risk_groups()
