"""Areas under ROC curves at given times: scikit-survival's numbers, the definition, the truth."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import given, settings

import treeselect
from treeselect.engine.survival.curves import censoring_curve
from treeselect.engine.survival.times import EVENT, STOP, as_times
from treeselect.errors import OptionError
from treeselect.resampling.held_out import uno_areas

REFERENCE = Path(__file__).parents[1] / "reference"


def test_areas_are_those_of_scikit_survival():
    data = pd.read_csv(REFERENCE / "survival_data.csv")
    of_python = pd.read_csv(REFERENCE / "survival_python.csv").set_index("figure")["value"]
    y = as_times(data["stop"].to_numpy(float), data["event"].to_numpy() > 0)
    found = uno_areas(y, data["z"].to_numpy(), np.ones(len(y)), np.arange(2.0, 13.0))
    np.testing.assert_allclose(found, of_python["areas"], atol=1e-12)


@given(SEEDS)
@settings(max_examples=30)
def test_areas_by_their_definition(seed):
    y, weight, risk = survival_rows(seed, late=False, strata=1)
    time = 4.0
    seen = censoring_curve(y, weight).at(y[:, STOP])
    above = total = 0.0
    for i in np.flatnonzero((y[:, EVENT] > 0) & (y[:, STOP] <= time) & (seen > 0)):
        for j in np.flatnonzero(y[:, STOP] > time):
            pair = weight[i] / seen[i] * weight[j]
            above += pair * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
            total += pair
    found = uno_areas(y, risk, weight, np.array([time]))[0]
    assert found == pytest.approx(above / total if total else np.nan, nan_ok=True)


def test_areas_of_a_performance():
    data = treeselect.datasets.load("gbsg2")
    fit = treeselect.select("Surv(time, cens) ~ age + pnodes", data, method="mrmr", k=1, seed=1)
    performance = fit.performance(2, horizon=1000)
    table = performance.auc([500, 1000])
    assert table.columns.to_list() == ["time", "cases", "controls", "auc", "ci_low", "ci_high"]
    assert (table["ci_low"] < table["auc"]).all()
    assert (table["auc"] < table["ci_high"]).all()
    event = (data["time"] <= 500) & (data["cens"] > 0)
    assert table["cases"][0] == event.sum()
    assert table["controls"][0] == (data["time"] > 500).sum()
    pd.testing.assert_frame_equal(
        performance.auc().iloc[[0]], table.iloc[[1]].reset_index(drop=True)
    )
    for wrong in ([0], [1e9], "x", []):
        with pytest.raises(OptionError, match="`times` must be"):
            performance.auc(wrong)
    y = performance.held_out.y.copy()
    y[0, 0] = 1.0
    late = replace(performance, held_out=replace(performance.held_out, y=y))
    with pytest.raises(OptionError, match="late entry"):
        late.auc()
