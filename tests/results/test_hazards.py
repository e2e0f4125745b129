"""Survival, cumulative hazards and cumulative incidence of new rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from naive_survival import baseline_hazard
from quick import by_mrmr
from scipy.linalg import expm
from survival_data import small_fit, small_times

import treeselect
from treeselect.engine.survival.times import STOP, STRATUM
from treeselect.errors import DataError, OptionError

TIMES = [0.0, 60.0, 250.5]
REFERENCE = Path(__file__).parents[1] / "reference"
NEW = pd.DataFrame({"x": [-1, 0, 1.5], "z": list("abb")})
QUICK = {"method": "mrmr", "k": 2, "seed": 1, "resamples": 0}


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
    baseline = [
        baseline_hazard(y, eta, weight, t, ["Bath", "York"].index(site), True) for t in TIMES
    ]
    expected = np.outer(fit.predict(new), baseline)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(
        fit.predict(new, type="survival", times=TIMES), np.exp(-expected), rtol=1e-9
    )
    assert found.index.equals(new.index)


def test_nothing_is_known_without_a_stratum_or_of_rows_left_out(fit, data):
    y = fit.data.design.response.y
    last = [y[y[:, STRATUM] == s, STOP].max() for s in (0, 1)]
    new = pd.DataFrame({"risky": 0.0, "site": ["Bath", "York", None]})
    found = fit.predict(new, type="survival", times=last)
    expected = [[t <= own for t in last] for own in [*last, -1]]
    np.testing.assert_array_equal(found.notna(), expected)
    assert fit.predict(new).notna().all()
    gaps = data.assign(x=data["x"].mask(data.index % 4 == 0))
    found = []
    for times in (gaps["time"], gaps["time"].mask(gaps["x"].isna(), 1.0)):
        fit = by_mrmr("Surv(time, dead) ~ risky + x", gaps.assign(time=times), k=2, model="glm",
                      missing="drop")  # fmt: skip
        told = fit.performance(2, horizon=200).predictions()["probability"]
        found.append([*fit.predict(data, "survival", times=200)["200"], *told[gaps["x"].notna()]])
    np.testing.assert_allclose(*found)


def test_columns_are_named_by_their_times_and_a_file_keeps_the_baseline_hazard(fit, data, tmp_path):
    found = fit.predict(data.head(2), type="survival", times=[365, 1e6, 1e6 + 0.5, 0.1 + 0.2])
    assert found.columns.to_list() == ["365", "1000000", "1000000.5", "0.3"]
    assert fit.predict(data.head(2), "survival", times=60).columns.to_list() == ["60"]
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


# --- cumulative incidence of competing events ----------------------------------------------------


@pytest.fixture(scope="module")
def competing():
    return pd.read_csv(REFERENCE / "competing_data.csv")


def fitted(data, model, more=""):
    return {
        kind: treeselect.select(
            f"Surv(stop, kind == '{kind}') ~ x + z{more}", data, model=model, **QUICK
        )
        for kind in ("relapse", "death")
    }


def test_incidences_of_cox_models_are_those_of_r(competing):
    of_r = pd.read_csv(REFERENCE / "competing.csv")
    found = treeselect.cumulative_incidence(fitted(competing, "glm"), NEW, [2, 5, 12])
    pd.testing.assert_frame_equal(found[of_r.columns], of_r, check_dtype=False, rtol=1e-9)


def test_incidences_of_tied_events_are_the_product_integral_of_their_hazards(competing):
    """As R's: matrix exponentials; most times have events of both kinds."""
    fits = fitted(competing.assign(stop=np.ceil(competing["stop"])), "glm")
    times = np.arange(0.0, 13.0)
    hazards = [fit.predict(NEW, "cumulative_hazard", times=times).T for fit in fits.values()]
    found = treeselect.cumulative_incidence(fits, NEW, times)
    for row, own in found.groupby("row"):
        state = np.array([1.0, 0.0, 0.0])
        steps = np.diff([hazard[row] for hazard in hazards], axis=1, prepend=0.0).T
        for (one, two), known in zip(steps, own.to_numpy()[:, 2:], strict=True):
            state = state @ expm([[-one - two, one, two], [0, 0, 0], [0, 0, 0]])
            assert known == pytest.approx([*state[1:], state[0]], abs=1e-12)


@pytest.mark.parametrize("model", ["forest", "stack"])
def test_incidences_sum_to_one_rise_and_stay_below_those_of_a_world_without_the_others(
    competing, model
):
    sites = np.where(np.arange(len(competing)) % 2, "u", "v")
    fits = fitted(competing.assign(site=sites), model, more=" + strata(site)")
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


def test_what_is_refused(competing):
    fits = fitted(competing, "glm")
    other = treeselect.select("x ~ stop + z", competing, **QUICK)
    linear = {name: fit.refit("glm") for name, fit in fits.items()}
    for wrong in (linear, {"relapse": fits["relapse"]}, [*fits.values()], fits | {"x": other}, None,
                  {"none": fits["relapse"], "death": fits["death"]}):  # fmt: skip
        with pytest.raises(OptionError, match=r"results of `select\(\)`"):
            treeselect.cumulative_incidence(wrong, NEW, 5.0)
    with pytest.raises(DataError, match="an event in `death` and in `again`"):
        treeselect.cumulative_incidence(fits | {"again": fits["death"]}, NEW, 5.0)
    for times in ("stop * 2", "0 * stop, stop"):
        left = f"Surv({times}, kind == 'death')"
        later = treeselect.select(f"{left} ~ x + z", competing, **QUICK)
        with pytest.raises(OptionError, match="the same times"):
            treeselect.cumulative_incidence({"relapse": fits["relapse"], "death": later}, NEW, 5.0)
    with pytest.raises(OptionError, match="`times` must be"):
        treeselect.cumulative_incidence(fits, NEW, -1)
