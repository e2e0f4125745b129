"""Survival and cumulative hazards of new rows."""

import numpy as np
import pandas as pd
import pytest
from naive_survival import breslow_hazard
from quick import by_mrmr
from survival_data import small_fit, small_times

import treeselect
from treeselect.engine.survival.times import STOP, STRATUM
from treeselect.errors import OptionError

TIMES = [0.0, 60.0, 250.5]


@pytest.fixture(scope="module")
def fit():
    return small_fit("Surv(time, dead) ~ risky + x + strata(site)", 1)


@pytest.fixture(scope="module")
def data():
    return small_times()


@pytest.mark.parametrize("site", ["Bath", "York"])
def test_the_hazard_is_that_of_the_rows_own_stratum_times_its_risk(fit, data, site):
    y, weight = fit.data.design.response.y, fit.data.design.weight
    eta = fit.predict(data, type="link").to_numpy()
    new = data[data["site"] == site].head(3)
    found = fit.predict(new, type="cumulative_hazard", times=TIMES)
    baseline = [breslow_hazard(y, eta, weight, t, ["Bath", "York"].index(site)) for t in TIMES]
    expected = np.outer(fit.predict(new), baseline)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(
        fit.predict(new, type="survival", times=TIMES), np.exp(-expected), rtol=1e-9
    )
    assert found.index.equals(new.index)


def test_nothing_is_known_without_a_stratum_or_after_its_last_row(fit, data):
    y = fit.data.design.response.y
    last = [y[y[:, STRATUM] == s, STOP].max() for s in (0, 1)]
    new = pd.DataFrame({"risky": 0.0, "site": ["Bath", "York", None]})
    found = fit.predict(new, type="survival", times=last)
    expected = [[t <= own for t in last] for own in [*last, -1]]
    np.testing.assert_array_equal(found.notna(), expected)
    assert fit.predict(new).notna().all()


def test_rows_that_are_left_out_of_training_have_no_part_in_the_hazard(data):
    gaps = data.assign(x=data["x"].mask(data.index % 4 == 0))
    found = []
    for times in (gaps["time"], gaps["time"].mask(gaps["x"].isna(), 1.0)):
        fit = by_mrmr("Surv(time, dead) ~ risky + x", gaps.assign(time=times), k=2, model="glm",
                      missing="drop")  # fmt: skip
        told = fit.performance(2, horizon=200).predictions()["probability"]
        found.append([*fit.predict(data, "survival", times=200)["200"], *told[gaps["x"].notna()]])
    np.testing.assert_allclose(*found)


def test_columns_are_named_by_their_times(fit, data):
    found = fit.predict(data.head(2), type="survival", times=[365, 1e6, 1e6 + 0.5, 0.1 + 0.2])
    assert found.columns.to_list() == ["365", "1000000", "1000000.5", "0.3"]
    assert fit.predict(data.head(2), "survival", times=60).columns.to_list() == ["60"]


def test_a_file_keeps_the_baseline_hazard(fit, data, tmp_path):
    loaded = treeselect.load(fit.save(tmp_path / "fit"))
    here, there = (f.predict(data, type="survival", times=TIMES) for f in (fit, loaded))
    pd.testing.assert_frame_equal(here, there)


@pytest.mark.parametrize(
    ("kind", "times", "said"),
    [
        ("cumulative_hazard", [1, -2], r"at least 0.\n  Found: -2"),
        ("survival", [60, 80, 60], r"must differ.*\n  Found: 60 more than once"),
        ("response", 60, "`times` must be left out"),
    ],
)
def test_times_must_be_needed_and_differ(fit, data, kind, times, said):
    with pytest.raises(OptionError, match=said):
        fit.predict(data, kind, times=times)
