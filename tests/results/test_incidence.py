"""Cumulative incidence of competing events: R's numbers, sums, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import DataError, OptionError

REFERENCE = Path(__file__).parents[1] / "reference"
NEW = pd.DataFrame({"x": [-1, 0, 1.5], "z": list("abb")})
QUICK = {"method": "mrmr", "k": 2, "seed": 1, "resamples": 0}


@pytest.fixture(scope="module")
def data():
    return pd.read_csv(REFERENCE / "competing_data.csv")


def fitted(data, model, more=""):
    return {
        kind: treeselect.select(
            f"Surv(stop, kind == '{kind}') ~ x + z{more}", data, model=model, **QUICK
        )
        for kind in ("relapse", "death")
    }


def test_incidences_of_cox_models_are_those_of_r(data):
    of_r = pd.read_csv(REFERENCE / "competing.csv")
    found = treeselect.cumulative_incidence(fitted(data, "glm"), NEW, [2, 5, 12])
    pd.testing.assert_frame_equal(found[of_r.columns], of_r, check_dtype=False, rtol=1e-9)


@pytest.mark.parametrize("model", ["forest", "stack"])
def test_incidences_sum_to_one_rise_and_stay_below_those_of_a_world_without_the_others(data, model):
    sites = np.where(np.arange(len(data)) % 2, "u", "v")
    fits = fitted(data.assign(site=sites), model, more=" + strata(site)")
    new = NEW.assign(site=["u", "v", None])
    times = [0.001, 2.0, 5.0, 12.0, 1e6]
    found = treeselect.cumulative_incidence(fits, new, times)
    table = found[["relapse", "death", "none"]].to_numpy().reshape(3, 5, 3)
    assert np.isnan(table[2]).all()  # the stratum is missing
    assert np.isnan(table[:, -1]).all()  # beyond the follow-up
    np.testing.assert_allclose(table[:2, :-1].sum(axis=2), 1.0)
    assert (np.diff(table[:2, :-1, :2], axis=1) >= 0).all()
    assert (table[:2, 0, :2] == 0).all()
    alone = fits["relapse"].predict(new.head(2), "survival", times=times[:-1]).to_numpy()
    assert (table[:2, :-1, 0] <= 1 - alone + 1e-12).all()
    one = treeselect.cumulative_incidence(fits, new, 5.0)
    assert one["death"][0] == table[0, 2, 1]


def test_what_is_refused(data):
    fits = fitted(data, "glm")
    other = treeselect.select("x ~ stop + z", data, **QUICK)
    for wrong in ({"relapse": fits["relapse"]}, [*fits.values()], fits | {"x": other}, None,
                  {"none": fits["relapse"], "death": fits["death"]}):  # fmt: skip
        with pytest.raises(OptionError, match="`fits` must be a dictionary"):
            treeselect.cumulative_incidence(wrong, NEW, 5.0)
    with pytest.raises(DataError, match="an event in `death` and in `again`"):
        treeselect.cumulative_incidence(fits | {"again": fits["death"]}, NEW, 5.0)
    later = treeselect.select("Surv(stop * 2, kind == 'death') ~ x + z", data, **QUICK)
    with pytest.raises(OptionError, match="the same times"):
        treeselect.cumulative_incidence({"relapse": fits["relapse"], "death": later}, NEW, 5.0)
    with pytest.raises(OptionError, match="`times` must be"):
        treeselect.cumulative_incidence(fits, NEW, -1)
