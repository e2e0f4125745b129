"""Decisions by predicted risk: net benefit, error rates, thresholds of costs, areas."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import given, settings
from survival_data import small_fit, small_times

import treeselect
from treeselect.designs.families import BINOMIAL, COX
from treeselect.engine.survival.curves import censoring_curve, kaplan_meier
from treeselect.engine.survival.times import EVENT, STOP, as_times
from treeselect.errors import OptionError
from treeselect.resampling.decisions import DecisionCurve, decide, decision_figure
from treeselect.resampling.held_out import HeldOut, uno_areas

REFERENCE = Path(__file__).parents[1] / "reference"


def held(risk, y, *, mass=None, unit=None, horizon=np.nan) -> HeldOut:
    """Held-out rows, each of which is held out once."""
    risk, n = np.asarray(risk, dtype=float), len(risk)
    is_timed = np.ndim(y) == 2
    mass = np.ones(n) if mass is None else np.asarray(mass, dtype=float)
    return HeldOut(
        row=np.arange(n), fold=np.ones(n, dtype=int), y=np.asarray(y, dtype=float), predicted=risk,
        weight=mass, mass=mass, times=np.ones(n, dtype=int), are_copies=True,
        grouped=unit is not None,
        family=COX if is_timed else BINOMIAL, classes=() if is_timed else ("no", "yes"),
        name="months" if is_timed else "sick", unit=np.arange(n) if unit is None else unit,
        horizon=horizon, event=risk if is_timed else None,
    )  # fmt: skip


def curve(rows: HeldOut, thresholds=None, costs=None) -> DecisionCurve:
    return decide(rows, thresholds, costs, scheme="2-fold cross-validation", seed=1)


@pytest.mark.parametrize("response", ["sick", "died"])
def test_net_benefit_is_that_of_dcurves(response):
    data = pd.read_csv(REFERENCE / "decisions_data.csv")
    known = pd.read_csv(REFERENCE / "decisions.csv")
    known = known[known["response"] == response].set_index("model")
    if response == "sick":
        rows = held(data["risk"], data["sick"])
    else:
        rows = held(data["risk"], as_times(data["months"], data["died"]), horizon=24)
    found = curve(rows, known.loc["risk", "threshold"]).tidy()
    own = known.loc["risk"].reset_index()
    last = found[own["net_benefit"].isna()]  # all have the event before the horizon
    assert len(last) == (response == "died")
    assert np.allclose(last["net_benefit"], last["positive"])
    assert np.allclose(found["all"], known.loc["all", "net_benefit"], atol=1e-9)
    own, found = own.drop(last.index), found.drop(last.index)
    assert np.allclose(found["net_benefit"], own["net_benefit"], atol=1e-9)
    assert np.allclose(found["positive"], own["test_pos_rate"], atol=1e-9)
    assert np.allclose(found["ppv"], own["tp_rate"] / own["test_pos_rate"], atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_rates_of_times_are_those_of_the_curves_of_the_rows_on_either_side(seed):
    """With weights and delayed entry."""
    rng = np.random.default_rng(seed)
    n, horizon = 40, 6.0
    stop, risk = rng.integers(3, 12, n), rng.integers(1, 10, n) / 10
    start = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), -1)
    y, mass = as_times(stop, rng.random(n) < 0.6, start), rng.integers(1, 4, n)
    found = curve(held(risk, y, mass=mass, horizon=horizon), [0.3, 0.5, 0.7])
    for row in found.tidy().itertuples():
        above = risk >= row.threshold
        share = mass[above].sum() / mass.sum()
        parts = []
        for side in (above, ~above):
            own = kaplan_meier(y[side], mass[side])
            is_seen = stop[side].max() >= horizon or own.survival[-1] == 0
            parts.append(1 - own.at(np.array(horizon)) if is_seen else np.nan)
        events, others = parts
        odds = row.threshold / (1 - row.threshold)
        benefit = share * (events - odds * (1 - events))
        assert np.allclose(
            [row.net_benefit, row.ppv, row.npv], [benefit, events, 1 - others], equal_nan=True
        )
        true, missed = share * events, (1 - share) * others
        assert np.isclose(row.sensitivity, true / (true + missed), equal_nan=True)


def test_perfect_risks_find_all_events_and_short_follow_up_tells_nothing():
    y = as_times([2, 3, 9, 9, 9], [1, 0, 0, 1, 0])
    found = curve(held([0.9, 0.8, 0.4, 0.3, 0.2], y, horizon=6.0), [0.1, 0.5, 0.95]).tidy()
    assert found["net_benefit"].isna().to_list() == [False, True, False]
    assert found["ci_low"].isna().to_list() == [False, True, False]
    assert found["npv"].isna().to_list() == [True, False, False]
    assert found["positive"].to_list() == [1.0, 0.4, 0.0]
    drawn = decision_figure(curve(held([0.9, 0.8, 0.4, 0.3, 0.2], y, horizon=6.0), [0.1, 0.5]))
    assert "at threshold 0.5 net benefit unknown, treating all" in drawn.text
    y = np.arange(50) < 15
    perfect = curve(held(np.where(y, 0.99, 0.01), y), [0.1, 0.3, 0.9]).tidy()
    assert np.allclose(perfect["net_benefit"], 0.3)
    assert (perfect[["sensitivity", "specificity", "ppv", "npv"]] == 1).all(axis=None)
    same = curve(held(np.full(50, 0.3), y), [0.1, 0.3, 0.9]).tidy()
    assert np.allclose(same["net_benefit"], [*same["all"][:2], 0.0])
    assert np.allclose(same["gain"], 0, atol=1e-12)
    assert same["ppv"].isna().to_list() == [False, False, True]
    assert same["npv"].isna().to_list() == [True, True, False]


def test_the_interval_is_that_of_a_mean_and_clusters_widen_it():
    rng = np.random.default_rng(3)
    risk, y = rng.random(60), rng.random(60) < 0.4
    one = curve(held(risk, y, mass=np.full(60, 3.0)), [0.3]).tidy().iloc[0]
    apart = held(np.repeat(risk, 3), np.repeat(y, 3))
    together = held(np.repeat(risk, 3), np.repeat(y, 3), unit=np.repeat(np.arange(60), 3))
    several, grouped = (curve(rows, [0.3]).tidy().iloc[0] for rows in (apart, together))
    assert np.isclose(one["net_benefit"], several["net_benefit"])
    assert one["ci_high"] == pytest.approx(several["ci_high"], abs=0.02)  # as many rows
    ratio = (grouped["ci_high"] - grouped["ci_low"]) / (several["ci_high"] - several["ci_low"])
    assert ratio == pytest.approx(3**0.5, rel=0.15)
    # Net benefit is the mean of a value of each row.
    rng = np.random.default_rng(5)
    risk = rng.random(400)
    y = rng.random(400) < risk
    row = curve(held(risk, y), [0.4]).tidy().iloc[0]
    worth = (risk >= 0.4) * np.where(y, 1.0, -0.4 / 0.6)
    half = 1.96 * worth.std(ddof=1) / 20
    assert row["net_benefit"] == pytest.approx(worth.mean())
    assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * half, rel=0.1)


def test_the_threshold_of_costs_has_the_least_cost():
    rng = np.random.default_rng(6)
    risk = rng.random(40_000)
    y = rng.random(40_000) < risk
    found = curve(held(risk, y), np.arange(1, 20) / 20, (1, 3))
    assert found.threshold == 0.25
    assert (found.tidy()["threshold"] == 0.25).sum() == 1
    cost = [(~y[risk >= t]).sum() + 3 * y[risk < t].sum() for t in found.tidy()["threshold"]]
    assert found.tidy()["threshold"][np.argmin(cost)] == 0.25
    odd = curve(held(risk[:99], y[:99]), [0.5], (0.2, 0.8))
    assert np.allclose(odd.tidy()["threshold"], [0.2, 0.5])
    said = odd.summary().as_text()
    assert "0.2, least expected cost at costs of 0.2 (false positive) and 0.8" in said
    assert "PPV" in said
    assert max(map(len, said.splitlines())) <= 88


@pytest.mark.parametrize(
    "given", [{"thresholds": [0.0]}, {"thresholds": [1]}, {"costs": (0, 1)}, {"costs": (1, 2, 3)}]
)
def test_thresholds_are_between_0_and_1_and_costs_two_numbers_above_0(given):
    with pytest.raises(OptionError, match="above 0"):
        curve(held([0.2, 0.7], [0, 1]), **given)


def test_a_fit_has_a_curve_of_its_held_out_rows_and_responses_without_risks_none(mixed):
    fit = treeselect.select("died ~ signal + site + noise", mixed, method="mrmr", k=2, seed=1)
    found = fit.performance(3)
    table, at = found.predictions(), found.decision_curve([0.4]).tidy().iloc[0]
    taken = table["predicted"] >= 0.4
    died = table["observed"]
    benefit = (taken & died).mean() - (taken & ~died).mean() * 2 / 3
    assert at["net_benefit"] == pytest.approx(benefit)
    drawn = decision_figure(found.decision_curve(costs=(1, 1)))
    assert [one.name for one in drawn.series] == ["model", "treat all", "treat none"]
    assert "at threshold 0.5 net benefit" in drawn.text
    assert repr(found.decision_curve([0.4])) == "<DecisionCurve: 1 thresholds, died = True>"
    fit = treeselect.select("dose ~ signal + noise", mixed, method="mrmr", k=1, seed=1)
    found = fit.performance(2)
    with pytest.raises(OptionError, match="needs a response of two classes, or times"):
        found.decision_curve()
    with pytest.raises(OptionError, match="`horizon` needs a survival response"):
        fit.performance(2, horizon=3)


def test_times_are_predicted_by_the_horizon():
    found = small_fit().performance(3, horizon=200)
    table = found.predictions()
    assert table["probability"].between(0, 1).all()
    for _, own in table.groupby("fold"):
        assert (own.sort_values("predicted")["probability"].diff().dropna() >= -1e-12).all()
    curve = found.decision_curve([0.3, 0.6])
    data = small_times()
    known = kaplan_meier(as_times(data["time"], data["dead"]), np.ones(len(data)))
    assert curve.prevalence == pytest.approx(1 - known.at(np.array(200.0)))
    said = curve.summary().as_text()
    assert f"event by time = 200, {curve.prevalence:.3f} of 90 rows" in said
    assert "Kaplan and Meier's" in said
    default = small_fit().performance(3).held_out
    assert default.horizon == small_fit().model.risk_groups(2, folds=2).horizon
    with pytest.raises(OptionError, match="`horizon` must be a time above 0"):
        small_fit().performance(3, horizon=-1)


# --- areas under ROC curves at given times -------------------------------------------------------


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
    again = performance.auc().iloc[[0]]
    pd.testing.assert_frame_equal(again, table.iloc[[1]].reset_index(drop=True))
    assert performance.auc([72])["ci_low"].isna().all()  # the first event has no spread
    for wrong in ([0], [1e9], "x", []):
        with pytest.raises(OptionError, match="`times` must be"):
            performance.auc(wrong)
    y = performance.held_out.y.copy()
    y[0, 0] = 1.0
    late = replace(performance, held_out=replace(performance.held_out, y=y))
    with pytest.raises(OptionError, match="late entry"):
        late.auc()
