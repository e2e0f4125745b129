"""Risk groups: the curves at some times."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from survival_data import small_fit, small_times

from treeselect.errors import OptionError


@pytest.fixture(scope="module")
def found():
    return small_fit().risk_groups(folds=3)


@pytest.fixture(scope="module")
def late():
    return small_fit("Surv(late, time, dead) ~ risky + x + strata(site)", 1).risk_groups(2, folds=3)


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
