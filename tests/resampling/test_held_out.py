"""Held-out rows: predictions, conditional importance and risk groups."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy
import statsmodels.api as sm
from quick import by_mrmr
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve
from sklearn.model_selection import KFold, ShuffleSplit
from survival_data import small_fit, small_times

import treeselect
from treeselect.designs.families import POISSON
from treeselect.engine.random import stream_seed
from treeselect.engine.survival.curves import kaplan_meier
from treeselect.engine.survival.times import EVENT, STOP, STRATUM, as_times
from treeselect.errors import OptionError
from treeselect.models.linear.statistics import recalibrate
from treeselect.models.stacked import refit_stack
from treeselect.resampling import held_out
from treeselect.resampling.cross_validation import held_out_score
from treeselect.resampling.decisions import rates_table
from treeselect.resampling.folds import Split
from treeselect.resampling.risk_groups import _held_out

N = 400


def of(data, formula, folds=3, *, family="auto", weights=None, **how):
    fit = by_mrmr(formula, data, k=2, family=family, weights=weights)
    return fit.performance(folds, **how)


@pytest.fixture(scope="module")
def died(mixed):
    return of(mixed, "died ~ signal + site + noise")


@pytest.fixture(scope="module")
def dose(mixed):
    return of(mixed, "dose ~ signal + site + noise")


@pytest.fixture(scope="module")
def site(mixed):
    return of(mixed.dropna(subset="site"), "site ~ signal + died + dose")


def test_predictions_are_of_each_row_once_and_the_scores_are_theirs(mixed, died, site):
    table = died.predictions()
    assert list(table) == ["row", "fold", "observed", "predicted", "weight"]
    assert table["row"].to_list() == list(range(N))
    assert (table["observed"] == mixed["died"]).all()
    assert (table["weight"] == 1).all()
    for fold, own in table.groupby("fold"):
        assert roc_auc_score(own["observed"], own["predicted"]) == pytest.approx(
            died.scores[fold - 1]
        )
    some = mixed.assign(dose=mixed["dose"].mask(mixed.index % 7 == 0))
    table = of(some, "dose ~ signal + noise").predictions()
    assert table["row"].to_list() == [row for row in range(N) if row % 7]
    assert np.array_equal(table["observed"], some["dose"].dropna())
    table = site.predictions()
    names = [f"predicted_{label}" for label in ("Bath", "Leeds", "York")]
    assert list(table) == ["row", "fold", "observed", *names, "weight"]
    assert np.allclose(table[names].sum(axis=1), 1)
    assert (table["observed"].array == mixed["site"].dropna().array).all()


def test_of_times_the_event_by_the_horizon_is_observed_and_predicted():
    found = small_fit().performance(2)
    table = found.predictions()
    known = ["row", "fold", "start", "time", "event", "predicted", "probability", "weight"]
    assert list(table) == known
    assert table["event"].dtype == bool
    assert (table["start"] < table["time"]).all()
    with pytest.raises(OptionError, match=r"`roc\(\)` needs a response with classes"):
        found.roc()
    slope = held_out.recalibration(found.held_out)  # of relative risks: no intercept
    assert slope.slope_low < slope.slope < slope.slope_high
    assert np.isnan(slope.intercept)
    found = small_fit().performance(3, horizon=200)
    held, table = found.held_out, found.calibration(3)
    groups = held_out.quantile_groups(held.event, np.ones(90), 3)
    for own, row in zip(groups, table.itertuples(), strict=True):
        curve = kaplan_meier(held.y[own], np.ones(len(own)))
        at = np.searchsorted(curve.time, 200, side="right") - 1
        assert row.predicted == pytest.approx(held.event[own].mean())
        assert row.observed == pytest.approx(1 - curve.survival[at])
        assert (row.ci_low, row.ci_high) == pytest.approx(
            (1 - curve.upper[at], 1 - curve.lower[at])
        )
    assert table["n"].sum() == 90


def test_curve_confusion_and_cutoffs_are_those_of_scikit_learn(died):
    table, found = died.predictions(), died.roc()
    false, true, cutoff = roc_curve(table["observed"], table["predicted"])
    assert np.allclose(found["false_positive_rate"], false)
    assert np.allclose(found["true_positive_rate"], true)
    assert np.allclose(found["cutoff"], cutoff)
    assert found["class"].unique().tolist() == [True]
    together, mean = held_out.areas(died.held_out, 1)
    assert together == pytest.approx(roc_auc_score(table["observed"], table["predicted"]))
    assert mean == pytest.approx(died.mean)
    table = died.predictions()
    taken = table["predicted"] >= 0.5
    expected = confusion_matrix(table["observed"], taken)
    found = died.confusion()
    assert found["n"].to_list() == expected.ravel().tolist()
    assert found.groupby("observed")["share"].sum().to_list() == pytest.approx([1, 1])
    few = confusion_matrix(table["observed"], table["predicted"] >= 0.2)
    assert died.confusion(0.2)["n"].to_list() == few.ravel().tolist()
    with pytest.raises(OptionError, match="`threshold` must be a number above 0 and below 1"):
        died.confusion(1.0)
    half = rates_table(died.held_out, [0.5]).iloc[0]
    assert half["positive"] == taken.mean()
    assert half["sensitivity"] == taken[table["observed"]].mean()
    assert half["specificity"] == (~taken[~table["observed"]]).mean()


def test_groups_are_those_of_scikit_learn_and_ties_stay_together(died):
    rng = np.random.default_rng(1)
    apart = died.held_out.predicted * 0.9 + rng.random(N) * 1e-3
    held = dataclasses.replace(died.held_out, predicted=apart)
    found = dataclasses.replace(died, held_out=held).calibration(5)
    observed, predicted = calibration_curve(held.y, apart, n_bins=5, strategy="quantile")
    assert found["n"].to_list() == [80.0] * 5
    assert np.allclose(found["observed"], observed)
    assert np.allclose(found["predicted"], predicted)
    assert ((found["ci_low"] < found["observed"]) & (found["observed"] < found["ci_high"])).all()
    held = dataclasses.replace(died.held_out, predicted=np.full(N, 0.25))
    found = dataclasses.replace(died, held_out=held).calibration()
    assert found["n"].to_list() == [N]
    for n_groups in (1, 101):
        with pytest.raises(OptionError, match="`n_groups` must be"):
            died.calibration(n_groups)
    assert np.isnan(held_out.recalibration(held).slope)
    assert held_out.recalibration(held).intercept == pytest.approx(
        np.log(held.y.mean() / (1 - held.y.mean())) - np.log(1 / 3)
    )


def test_slope_and_intercept_are_those_that_the_data_were_made_with():
    rng = np.random.default_rng(3)
    eta = rng.normal(size=4000)
    y = (rng.random(4000) < 1 / (1 + np.exp(-(0.5 + eta)))).astype(float)
    found = recalibrate("binomial", y, 2 * eta, np.ones(4000))
    assert found.slope == pytest.approx(0.5, abs=0.05)
    assert found.slope_high < 1
    moved = recalibrate("binomial", y, eta, np.ones(4000))
    assert moved.intercept == pytest.approx(0.5, abs=0.1)
    assert moved.intercept_low > 0
    model = sm.Logit(y, sm.add_constant(eta)).fit(disp=0)
    assert moved.slope == pytest.approx(model.params[1])
    assert [moved.slope_low, moved.slope_high] == pytest.approx(model.conf_int()[1].tolist())


def test_numbers_counts_and_classes_in_groups(dose, site, mixed):
    counts = mixed.assign(visits=np.floor(np.abs(mixed["dose"])))
    sick = of(counts, "visits ~ signal + site + noise", family="poisson")
    found, table = dose.calibration(4), dose.predictions()
    group = pd.qcut(table["predicted"], 4, labels=False)
    means = table.groupby(group)[["predicted", "observed"]].mean()
    assert np.allclose(found[["predicted", "observed"]], means)
    assert found["n"].to_list() == [100.0] * 4
    own = table["observed"][group == 0]
    error = own.std() / np.sqrt(len(own))
    half = (found["ci_high"] - found["ci_low"])[0] / 2
    assert half == pytest.approx(1.98422 * error, rel=1e-4)
    assert np.allclose(found["residual"], found["observed"] - found["predicted"])
    assert (found["residual_low"] < found["residual_high"]).all()
    line = held_out.recalibration(dose.held_out)
    assert line.intercept == pytest.approx((table["observed"] - table["predicted"]).mean())
    assert line.slope_low < line.slope < line.slope_high
    line = held_out.recalibration(sick.held_out)
    assert line.regression == "Poisson regression on the log of the predictions"
    never = dataclasses.replace(sick.held_out, predicted=np.maximum(sick.held_out.predicted - 1, 0))
    assert np.isfinite(held_out.recalibration(never).slope)
    with pytest.raises(
        OptionError, match=r"(?s)`confusion\(\)` needs .* `calibration\(\)` also takes"
    ):
        sick.confusion()
    table, found = site.predictions(), site.confusion()
    with pytest.raises(OptionError, match="Found: 3 classes"):
        site.confusion(0.5)
    names = ["Bath", "Leeds", "York"]
    taken = table[[f"predicted_{n}" for n in names]].to_numpy().argmax(axis=1)
    true = np.array([names.index(label) for label in table["observed"]])
    assert found["n"].to_list() == confusion_matrix(true, taken).ravel().tolist()
    by = held_out.per_class_table(site.held_out).set_index("class")
    assert by.loc["York", "recall"] == (taken[true == 2] == 2).mean()
    assert by.loc["York", "area"] == pytest.approx(
        roc_auc_score(true == 2, table["predicted_York"])
    )
    assert site.roc()["class"].unique().tolist() == names
    assert site.calibration(2)["class"].unique().tolist() == names


def test_sizes_of_weights_are_copies_and_rows_held_out_again_count_once(mixed, died):
    found = of(mixed, "died ~ signal + noise", weights=np.where(mixed["flag"], 3, 1))
    table = found.predictions()
    written = table.loc[table.index.repeat(table["weight"].astype(int))]
    assert found.calibration()["n"].sum() == len(written)
    assert held_out.areas(found.held_out, 1)[0] == pytest.approx(
        roc_auc_score(written["observed"], written["predicted"])
    )
    uneven = of(mixed, "died ~ signal + noise", weights=np.where(mixed["flag"], 1.5, 0.5))
    assert uneven.calibration()["n"].sum() == pytest.approx(N)
    twice = of(mixed, "died ~ signal + site + noise", repeats=2)
    assert len(twice.predictions()) == 2 * N
    assert twice.held_out.n_rows == N
    assert twice.calibration()["n"].sum() == N
    wide = (held_out.recalibration(f.held_out) for f in (twice, died))
    width = [own.slope_high - own.slope_low for own in wide]
    assert width[0] == pytest.approx(width[1], rel=0.2)
    folds = ShuffleSplit(2, test_size=0.2, random_state=1)
    found = of(mixed, "died ~ signal + noise", folds)
    assert len(found.predictions()) == 160
    assert found.held_out.n_rows < 160
    assert found.calibration()["n"].sum() == pytest.approx(found.held_out.n_rows)


# --- groups of rows that are cut at quantiles ----------------------------------------------------


@pytest.mark.parametrize(
    ("values", "weight", "n", "expected"),
    [
        ([3.0, 1.0, 2.0, 4.0], [1, 1, 1, 1], 2, [[1, 2], [0, 3]]),
        ([3.0, 1.0, 2.0, 4.0], [1, 3, 1, 1], 2, [[1], [0, 2, 3]]),
        ([0.1 + 0.2, 0.3, 0.3, 0.9], [1, 1, 1, 1], 4, [[0, 1, 2], [3]]),
        ([5.0, 5.0], [1, 1], 3, [[0, 1]]),
        ([1.0, 2.0], [1, 1], 20, [[0], [1]]),
    ],
)
def test_groups_are_cut_at_quantiles_and_ties_stay_together(values, weight, n, expected):
    found = held_out.quantile_groups(np.array(values), np.array(weight), n)
    assert [own.tolist() for own in found] == expected


# --- models of the selected terms on held-out rows: conditional importance, and risk groups -------


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


def test_copies_lose_nothing_what_matters_does_and_intervals_need_variation(found):
    table = found.tidy().set_index("term")
    assert set(table.index) == {"a", "near", "pair", "site"}
    assert table["importance"].is_monotonic_decreasing
    assert table.loc[["pair", "site"], "p_value"].max() < 0.01
    assert table.loc[["a", "near"], "importance"].max() < 0.1
    assert (table["ci_low"] <= table["importance"]).all()
    same = dataclasses.replace(found, others=found.score[:, np.newaxis] - np.zeros((1, 4)))
    assert (same.tidy()["ci_low"] == 0).all()
    apart = dataclasses.replace(same, others=same.others - 0.5)
    assert apart.tidy()["ci_low"].isna().all()
    assert "unknown" in apart.summary().as_text()


def test_scores_are_those_of_stacks_with_and_without_each_unit(fit, found):
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
        stack = refit_stack(problem, train, one, seed=own)
        assert held_out_score(problem, stack, train, test) == score


def test_a_term_that_is_not_selected_is_added(fit):
    found = fit.model.conditional_importance(3, terms=["noise", "site", "b"], repeats=1)
    table = found.tidy().set_index("term")
    assert table["selected"].to_dict() == {"pair": True, "site": True, "noise": False}
    expected = table["score_with"] - table["score_without"]
    np.testing.assert_allclose(table["importance"], expected, atol=1e-12)
    assert table.loc["noise", "importance"] < 0.05
    text = " ".join(found.summary().as_text().split())
    assert "A term that is not selected is added to the selected ones." in text
    assert "Selected p e Level Loss" in text


def test_folds_of_conditional_importance_are_of_whole_groups_or_ones_own(fit, data):
    found = fit.update(fold_groups="patient").model.conditional_importance(
        3, terms="site", scoring="neg_mean_absolute_error"
    )
    assert found.scheme == "3-fold cross-validation of whole patient clusters repeated 5 times"
    assert found.score.max() < 0
    assert "pair" not in repr(found)
    found = fit.model.conditional_importance(np.arange(len(data)) % 2, terms="site")
    assert len(found.score) == 2
    assert "given folds" in found.scheme


def test_terms_must_be_given_where_nothing_is_selected(fit, data):
    with pytest.raises(OptionError, match="`terms` must name at least one"):
        fit.model.conditional_importance(terms=[])
    for more in ({"repeats": 2}, {"scoring": "neg_log_loss"}):
        with pytest.raises(OptionError, match=f"`{next(iter(more))}` needs `folds`"):
            fit.model.conditional_importance(None, **more)
    empty = treeselect.select("y ~ noise", data, method="lasso", lam=1e9)
    with pytest.raises(OptionError, match="`terms` must be given because nothing is selected"):
        empty.model.conditional_importance()


def test_full_text(found, snapshot):
    shown = dataclasses.replace(
        found,
        is_chosen=True,  # all are forced in
        score=np.tile([0.9, 0.8, 0.85, 0.9], 2),
        others=np.tile([0.9, 0.8, 0.85, 0.9], 2)[:, np.newaxis]
        - np.array([0.25, 0.1, 0.0, -0.01]) * np.tile([1.0, 0.5, 1.5, 1.0], 2)[:, np.newaxis],
        units=("site", "pair", "a", "near"),
        p_value=np.array([1e-9, 0.001, 0.3, 1.0]),
        e_value=np.array([1.2e6, 40.0, 0.6, 1.0]),
        level=np.array([1e-6, 0.05, 0.9, 1.0]),
    )
    assert shown.summary().as_text() == snapshot


# --- risk groups: the curves at some times -------------------------------------------------------


@pytest.fixture(scope="module")
def late():
    return small_fit("Surv(late, time, dead) ~ risky + x + strata(site)", 1).model.risk_groups(
        2, folds=3
    )


def test_curves_of_risk_groups_after_the_last_row_and_without_a_selection():
    groups = small_fit().model.risk_groups(folds=3)
    for name, curve in zip(groups.names, groups.curves, strict=True):
        table = groups.at(curve.time)
        own = table[table["group"] == name]
        assert own["at_risk"].to_list() == curve.at_risk.tolist()
        assert own["survival"].to_list() == curve.survival.tolist()
        assert np.array_equal(own["ci_low"], curve.lower, equal_nan=True)
    assert (groups.at([1]).dtypes == groups.at([1.5]).dtypes).all()
    assert len(dataclasses.replace(groups, library="pandas").at((1, 2))) == 6
    with pytest.raises(OptionError, match="`times` must be one or more numbers of at least 0"):
        groups.at([-1])
    after = groups.at([1e6])
    gone = np.array([curve.survival[-1] == 0 for curve in groups.curves])
    assert (after["survival"].isna() == ~gone).all()
    assert (after["at_risk"] == 0).all()
    assert groups.at([0])["survival"].to_list() == [1.0] * 3
    observed = groups.at([groups.horizon])["survival"].to_numpy()
    assert np.array_equal(observed, groups.calibration()["observed"], equal_nan=True)
    whole = small_fit("Surv(time, dead) ~ risky + x").model
    found = [groups, whole.risk_groups(2, folds=2), whole.conditional_importance(None)]
    assert ["The terms were selected on" in str(own.summary()) for own in found] == [1, 0, 0]


def test_at_risk_is_who_has_entered_and_not_ended(late):
    data = small_times()
    times = [0, 30, 100.5, 10_000]
    total = late.at(times).groupby("time")["at_risk"].sum()
    for time in times[1:]:
        assert total[time] == ((data["late"] < time) & (time <= data["time"])).sum()
    assert total[0] == (data["late"] == 0).sum()


@pytest.mark.parametrize("n_units", [90, 30])
def test_robust_errors_of_survival_are_of_what_it_changes_by_with_the_weight_of_a_unit(n_units):
    data = small_times().assign(w=np.where(np.arange(90) % 9, 0.25, 7.0), unit=np.arange(90) % 30)
    options = {"method": "mrmr", "k": 2, "seed": 1, "model": "glm", "weights": "w"}
    options |= {"fold_groups": "unit"} if n_units == 30 else {}
    fit = treeselect.select("Surv(late, time, dead) ~ risky + x", data, **options)
    held = fit.performance(3).held_out
    found, y, mass = held_out.observed_curve(held), held.y, held.mass
    moved = [
        np.log(kaplan_meier(y, mass * (1 + 1e-6 * (held.unit == own))).survival / found.survival)
        for own in range(n_units)
    ]
    error = found.survival * np.sqrt(n_units / (n_units - 1) * (np.array(moved) ** 2).sum(0)) * 1e6
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-4)
    groups = fit.model.risk_groups(2, folds=3)
    assert groups.calibration()["events"].sum() == data["dead"].sum()
    for curve, (*_, weight) in zip(groups.curves, groups.spans, strict=True):
        assert curve.at_risk.max() <= weight.sum() * (1 + 1e-9)


def test_intervals_of_groups_are_those_of_as_many_clusters(died, dose):
    counts = dataclasses.replace(dose.held_out, family=POISSON, y=np.floor(2 * died.held_out.y))
    held = [died.held_out, dose.held_out, counts, small_fit().performance(3, horizon=200).held_out]
    for own in held:
        often = own.only(np.repeat(np.arange(len(own.row)), 4))
        one, together, apart, relative = (
            np.subtract(*held_out.calibration_table(each, 2)[["ci_high", "ci_low"]].to_numpy().T)
            for each in (
                own, dataclasses.replace(often, grouped=True), often,
                dataclasses.replace(own, are_copies=False, mass=7 * own.mass),
            )
        )  # fmt: skip
        assert together == pytest.approx(one, rel=0.06)
        assert relative == pytest.approx(one, rel=0.06)
        assert (apart < 0.6 * one).all()
    never = dataclasses.replace(counts, y=np.where(np.arange(N) == 3, 1.0, 0.0))
    table = held_out.calibration_table(never, 3)
    assert table["ci_low"].min() == 0  # of none seen
    assert (table["ci_low"] <= table["observed"]).all()
    assert table["ci_high"].between(0.01, 0.05).all()


# --- risks of rows that the model has not seen, and groups of them -------------------------------


@pytest.fixture(scope="module")
def timed():
    return small_fit("Surv(time, dead) ~ risky + x + strata(site)", 1)


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
            300.0, 3,
        )
        for own in (y, other)
    )  # fmt: skip
    np.testing.assert_array_equal(one[0], split.test)
    np.testing.assert_array_equal(one[1], two[1])
    assert np.isnan(one[2]).all()
    swapped = dataclasses.replace(design.problem, y=y * [1, 1, 1, 0])
    _, risk, survival = _held_out(swapped, design.row_weights, split, selected, 300.0, 3)
    order = np.argsort(risk)
    assert (np.diff(survival[order]) <= 1e-12).all()
    assert ((survival > 0) & (survival < 1)).all()


def test_groups_have_all_rows_but_those_whose_stratum_is_held_out_whole(timed):
    four = timed.model.risk_groups(4, 300, folds=np.arange(90) // 30)
    groups = four
    assert groups.names == ("1", "2", "3", "4")
    assert groups.n_rows.sum() == 90
    assert groups.n_left_out == 0
    assert sum(curve.events.sum() for curve in groups.curves) == small_times()["dead"].sum()
    assert (np.diff(groups.risk) > 0).all()
    assert (np.diff(groups.predicted) < 0).all()
    # Bath has every third row. Where its hazard is higher, so are its risks.
    site = np.arange(90) % 3
    fast = small_times().assign(time=lambda data: data["time"] / np.where(site, 1, 20))
    fit = by_mrmr("Surv(time, dead) ~ x + strata(site)", fast, k=1, model="glm")
    groups = fit.model.risk_groups(3, 20, folds=2)
    assert groups.n_rows[2] == 30
    assert groups.predicted[1] - groups.predicted[2] > 0.4
    assert "nan" not in str(fit.model.risk_groups(3, 0.001, folds=2).summary())
    groups = timed.model.risk_groups(2, 300, folds=site)
    assert (groups.n_rows.sum(), groups.n_left_out) == (60, 30)
    assert "30 rows were left out" in " ".join(groups.summary().as_text().split())
    with pytest.raises(OptionError, match="must leave training rows of the strata"):
        timed.model.risk_groups(2, 300, folds=np.minimum(site, 1))


def test_a_stratum_that_is_not_followed_until_the_horizon_has_no_risk():
    data = small_times()
    bath = data["site"] == "Bath"
    data = data.assign(time=data["time"].where(~bath, data["time"].clip(upper=200)))
    fit = by_mrmr("Surv(time, dead) ~ risky + x + strata(site)", data, k=1, model="glm")
    assert fit.predict(data, type="survival", times=300)["300"].isna().equals(bath)
    found = fit.performance(2, horizon=300).predictions()
    assert found["probability"].isna().equals(bath)
    groups = fit.model.risk_groups(2, 300, folds=2)
    assert groups.n_left_out == bath.sum()
    assert "nobody of it is followed until the horizon" in " ".join(str(groups.summary()).split())
    assert fit.validate(2, horizon=300).rows.tolist() == np.flatnonzero(~bath).tolist()


def test_a_row_that_is_held_out_several_times_has_all_its_predictions_in_risk_groups(timed):
    once, other = (KFold(2, shuffle=True, random_state=seed) for seed in (1, 2))
    splits = [*once.split(np.arange(90)), *other.split(np.arange(90))]
    twice = type("Twice", (KFold,), {"split": lambda self, *_: iter(splits)})(2)
    found = timed.model.risk_groups(2, 300, folds=twice)
    assert (found.n_rows.sum(), found.n_events.sum()) == (90, small_times()["dead"].sum())
    each = [timed.model.risk_groups(2, 300, folds=own) for own in (once, other)]
    mean = np.average(found.predicted, weights=[own[2].sum() for own in found.spans])
    assert mean == pytest.approx(np.mean([own.n_rows @ own.predicted / 90 for own in each]))


def after(truth, risk):
    return float(np.corrcoef(truth["time"], risk)[0, 1])


def test_risk_groups_need_no_score(timed, tmp_path):
    fit = timed.update(scoring=after)
    again = treeselect.load(fit.save(tmp_path / "fit.treeselect", include_data=True))
    tables = (own.model.risk_groups(2, 300, folds=2).tidy() for own in (fit, again, timed))
    own, *others = tables
    assert all(own.equals(other) for other in others)


def test_where_horizons_of_risk_groups_come_from(timed, fitted):
    """Events count by their weights, as copies of them would."""
    data = small_times()
    times = np.sort(data.loc[data["dead"] == 1, "time"])
    assert timed.model.risk_groups(2, folds=2).horizon == times[(len(times) - 1) // 2]
    copies = 1 + 5 * (data["time"] > times[len(times) // 2])
    written_out = np.repeat(data["time"], copies * data["dead"])
    expected = np.sort(written_out)[(len(written_out) - 1) // 2]
    found = held_out.read_horizon(None, timed.data.design, copies.to_numpy())
    assert found == expected > times[len(times) // 2]
    for n_groups in (1, 21):
        with pytest.raises(OptionError, match="`n_groups` must be"):
            timed.model.risk_groups(n_groups)
    with pytest.raises(OptionError, match="need a survival response"):
        fitted.model.risk_groups()


def test_intervals_of_calibration_allow_for_clusters_and_for_counts_that_vary_more(died):
    few = dataclasses.replace(died.held_out, unit=np.arange(N) % 5, grouped=True)
    own, eta = held_out.recalibration(few), held_out.linear_predictor(few.family, few.predicted)
    glm = sm.GLM(few.y, sm.add_constant(eta), sm.families.Binomial())
    error = glm.fit(cov_type="cluster", cov_kwds={"groups": few.units}).bse[1]
    half = (own.slope_high - own.slope_low) / 2
    assert half == pytest.approx(scipy.stats.t(4).ppf(0.975) * error, rel=1e-3)
    rng = np.random.default_rng(2)
    unit, eta = np.repeat(np.arange(200), 4), rng.normal(size=200).repeat(4)
    ones = np.ones(800)
    y = (rng.random(200) < 1 / (1 + np.exp(-eta[::4]))).repeat(4).astype(float)
    alone, once, each = (
        recalibrate("binomial", y[part], eta[part], ones[part], groups)
        for part, groups in ((slice(None, None, 4), None), (slice(None), unit), (slice(None), None))
    )
    for name in ("slope", "intercept"):
        width = [getattr(own, f"{name}_high") - getattr(own, f"{name}_low")
                 for own in (alone, once, each)]  # fmt: skip
        assert width[1] == pytest.approx(width[0], rel=0.12)
        assert width[2] == pytest.approx(width[0] / 2, rel=1e-4)
    time = as_times(rng.exponential(np.exp(-eta[::4])).repeat(4), np.ones(800))
    own, known = (recalibrate("cox", time, eta, ones, part) for part in (None, unit))
    assert known.slope_high - known.slope_low > 1.5 * (own.slope_high - own.slope_low)
    mean = np.exp(0.5 * eta)
    counts, plain = rng.poisson(mean * rng.gamma(0.5, 2.0, size=800)), rng.poisson(mean)
    wide, narrow = (
        recalibrate("poisson", own.astype(float), np.log(mean), ones) for own in (counts, plain)
    )
    ratio = (wide.slope_high - wide.slope_low) / (narrow.slope_high - narrow.slope_low)
    assert ratio > 1.3
    assert np.isnan(recalibrate("binomial", 0 * ones, eta, ones)[:6]).all()


def test_an_offset_has_no_part_in_the_slope_of_calibration():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"]).assign(
        time=rng.exponential(size=200), died=1, log=1.5 * rng.normal(size=200)
    )
    data["count"] = rng.poisson(np.exp(data["log"] + 1))
    for response, family in (("count", "poisson"), ("Surv(time, died)", "auto")):
        given = {"family": family, "offset": "log", "model": "glm", "keep": ["a", "b"]}
        fit = by_mrmr(f"{response} ~ a + b", data, k=2, **given)
        assert fit.validate(2).tidy()["apparent"][1] == pytest.approx(1, abs=1e-5)
        held = fit.performance(2).held_out
        assert held.offset.tolist() == data["log"][held.row].to_list()
        assert held_out.recalibration(held).slope < 0.8  # of noise
        alone = held.family.mean(held.offset + 0.3)
        assert np.isnan(held_out.recalibration(dataclasses.replace(held, predicted=alone)).slope)


@pytest.mark.parametrize("kind", ["calibration", "roc"])
def test_figures_are_of_the_tables(died, kind):
    import matplotlib.pyplot as plt

    ax = died.plot(kind)
    labels = {"calibration": "observed share of died = True", "roc": "sensitivity"}
    assert ax.get_ylabel() == labels[kind]
    table = died.calibration() if kind == "calibration" else died.roc()
    column = "observed" if kind == "calibration" else "true_positive_rate"
    drawn = np.concatenate([line.get_ydata() for line in ax.lines])
    assert np.abs(table[column].to_numpy()[:, None] - drawn).min(axis=1).max() < 0.005
    plt.close("all")


def test_figures_of_other_responses(mixed, died, dose):
    import matplotlib.pyplot as plt

    three = mixed.assign(dose=pd.cut(mixed["dose"], 3, labels=["low", "middle", "high"]))
    found = of(three, "dose ~ signal + noise", 2)
    assert found.plot(of_class="low").get_ylabel() == "observed share of dose = low"
    assert found.plot("roc", of_class="low").get_ylabel() == "sensitivity"
    for given in ({}, {"of_class": "none"}):
        with pytest.raises(OptionError, match="`of_class` must be one of more than two classes"):
            found.plot(**given)
    with pytest.raises(OptionError, match="`of_class` must be"):
        died.plot(of_class=True)
    times = small_fit().performance(2, horizon=200)
    assert times.plot().get_ylabel() == "observed share of event by time = 200"
    labelled = small_fit().update(labels={"time": "Days"})
    assert labelled.performance(2, horizon=200).held_out.event_words == "event by Days = 200"
    assert ("Predicted", "event by Days = 200") in labelled.validate(
        2, horizon=200
    ).summary().content.facts
    with pytest.raises(OptionError, match=r"`roc\(\)` needs a response with classes"):
        times.plot("roc")
    with pytest.raises(OptionError, match="`kind` must be one of `calibration`, `roc`"):
        times.plot("qq")
    assert dose.plot().get_ylabel() == "mean observed dose"
    plt.close("all")
