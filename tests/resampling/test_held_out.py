"""Predictions of held-out rows, and what is told of them: against scikit-learn and statsmodels."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve
from sklearn.model_selection import ShuffleSplit
from survival_data import small_fit

import treeselect
from treeselect.errors import OptionError
from treeselect.models.linear.statistics import recalibrate
from treeselect.resampling.held_out import (
    areas,
    cutoff_table,
    per_class_table,
    quantile_groups,
    recalibration,
)

N = 400


def of(data, formula, folds=3, *, family="auto", weights=None, **how):
    fit = treeselect.select(
        formula, data, method="mrmr", k=2, seed=1, family=family, weights=weights
    )
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


@pytest.fixture(scope="module")
def sick(mixed):
    counts = mixed.assign(visits=np.floor(np.abs(mixed["dose"])))
    return of(counts, "visits ~ signal + site + noise", family="poisson")


# --- predictions -------------------------------------------------------------------------------


def test_each_row_is_predicted_once_and_the_scores_are_those_of_the_predictions(mixed, died):
    table = died.predictions()
    assert list(table) == ["row", "fold", "observed", "predicted", "weight"]
    assert table["row"].to_list() == list(range(N))
    assert (table["observed"] == mixed["died"]).all()
    assert (table["weight"] == 1).all()
    for fold, own in table.groupby("fold"):
        assert roc_auc_score(own["observed"], own["predicted"]) == pytest.approx(
            died.scores[fold - 1]
        )


def test_rows_are_those_of_the_data(mixed):
    some = mixed.assign(dose=mixed["dose"].mask(mixed.index % 7 == 0))
    table = of(some, "dose ~ signal + noise").predictions()
    assert table["row"].to_list() == [row for row in range(N) if row % 7]
    assert np.array_equal(table["observed"], some["dose"].dropna())


def test_of_several_classes_there_is_a_column_for_each(mixed, site):
    table = site.predictions()
    names = [f"predicted_{label}" for label in ("Bath", "Leeds", "York")]
    assert list(table) == ["row", "fold", "observed", *names, "weight"]
    assert np.allclose(table[names].sum(axis=1), 1)
    assert (table["observed"].array == mixed["site"].dropna().array).all()


def test_of_times_what_was_observed_is_a_time_and_whether_the_event_came():
    found = small_fit().performance(2)
    table = found.predictions()
    assert list(table) == ["row", "fold", "start", "time", "event", "predicted", "weight"]
    assert table["event"].dtype == bool
    assert (table["start"] < table["time"]).all()
    with pytest.raises(
        OptionError, match=r"`calibration\(\)` needs .*\n.*`fit.model.risk_groups\(\)`"
    ):
        found.calibration()
    with pytest.raises(OptionError, match=r"`roc\(\)` needs a response with classes"):
        found.roc()
    assert recalibration(found.held_out) is None


def test_predictions_are_saved_with_the_folds(mixed, died, tmp_path):
    fit = treeselect.select("died ~ signal + site + noise", mixed, method="mrmr", k=2, seed=1)
    fit.performance(3, checkpoint=tmp_path)
    taken = []
    again = fit.performance(3, checkpoint=tmp_path, on_piece=lambda p: taken.append(p.was_saved))
    assert taken == [True] * 3
    assert again.predictions().equals(died.predictions())


# --- two classes -------------------------------------------------------------------------------


def test_the_curve_is_that_of_scikit_learn(died):
    table, found = died.predictions(), died.roc()
    false, true, cutoff = roc_curve(table["observed"], table["predicted"])
    assert np.allclose(found["false_positive_rate"], false)
    assert np.allclose(found["true_positive_rate"], true)
    assert np.allclose(found["cutoff"], cutoff)
    assert found["class"].unique().tolist() == [True]
    together, mean = areas(died.held_out, 1)
    assert together == pytest.approx(roc_auc_score(table["observed"], table["predicted"]))
    assert mean == pytest.approx(died.mean)


def test_groups_are_those_of_scikit_learn_where_nothing_ties(died):
    rng = np.random.default_rng(1)
    apart = died.held_out.predicted * 0.9 + rng.random(N) * 1e-3
    held = dataclasses.replace(died.held_out, predicted=apart)
    found = dataclasses.replace(died, held_out=held).calibration(5)
    observed, predicted = calibration_curve(held.y, apart, n_bins=5, strategy="quantile")
    assert found["n"].to_list() == [80.0] * 5
    assert np.allclose(found["observed"], observed)
    assert np.allclose(found["predicted"], predicted)
    assert ((found["ci_low"] < found["observed"]) & (found["observed"] < found["ci_high"])).all()


def test_equal_predictions_stay_together(died):
    held = dataclasses.replace(died.held_out, predicted=np.full(N, 0.25))
    found = dataclasses.replace(died, held_out=held).calibration()
    assert found["n"].to_list() == [N]
    assert np.isnan(recalibration(held).slope)
    assert recalibration(held).intercept == pytest.approx(
        np.log(held.y.mean() / (1 - held.y.mean())) - np.log(1 / 3)
    )


def test_confusion_and_cutoffs(died):
    table = died.predictions()
    taken = table["predicted"] >= 0.5
    expected = confusion_matrix(table["observed"], taken)
    found = died.confusion()
    assert found["n"].to_list() == expected.ravel().tolist()
    assert found.groupby("observed")["share"].sum().to_list() == pytest.approx([1, 1])
    half = cutoff_table(died.held_out, [0.5]).iloc[0]
    assert half["positive"] == taken.mean()
    assert half["sensitivity"] == taken[table["observed"]].mean()
    assert half["specificity"] == (~taken[~table["observed"]]).mean()


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


# --- others ------------------------------------------------------------------------------------


def test_numbers_in_groups(dose):
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
    line = recalibration(dose.held_out)
    assert line.intercept == pytest.approx((table["observed"] - table["predicted"]).mean())
    assert line.slope_low < line.slope < line.slope_high


def test_counts_have_a_slope_on_the_scale_of_logarithms(sick):
    line = recalibration(sick.held_out)
    assert line.regression == "Poisson regression on the log of the predictions"
    never = dataclasses.replace(sick.held_out, predicted=np.maximum(sick.held_out.predicted - 1, 0))
    assert np.isfinite(recalibration(never).slope)
    with pytest.raises(
        OptionError, match=r"(?s)`confusion\(\)` needs .* `calibration\(\)` also takes"
    ):
        sick.confusion()


def test_classes(site):
    table, found = site.predictions(), site.confusion()
    names = ["Bath", "Leeds", "York"]
    taken = table[[f"predicted_{n}" for n in names]].to_numpy().argmax(axis=1)
    true = np.array([names.index(label) for label in table["observed"]])
    assert found["n"].to_list() == confusion_matrix(true, taken).ravel().tolist()
    by = per_class_table(site.held_out).set_index("class")
    assert by.loc["York", "recall"] == (taken[true == 2] == 2).mean()
    assert by.loc["York", "area"] == pytest.approx(
        roc_auc_score(true == 2, table["predicted_York"])
    )
    assert site.roc()["class"].unique().tolist() == names
    assert site.calibration(2)["class"].unique().tolist() == names


# --- weights and repeats -----------------------------------------------------------------------


def test_whole_weights_are_copies_of_rows(mixed):
    found = of(mixed, "died ~ signal + noise", weights=np.where(mixed["flag"], 3, 1))
    table = found.predictions()
    written = table.loc[table.index.repeat(table["weight"].astype(int))]
    assert found.calibration()["n"].sum() == len(written)
    assert areas(found.held_out, 1)[0] == pytest.approx(
        roc_auc_score(written["observed"], written["predicted"])
    )
    assert found.held_out.like_rows() == len(written)


def test_other_weights_are_relative(mixed):
    one = of(mixed, "died ~ signal + noise", weights=np.full(N, 0.5))
    assert one.held_out.like_rows() == pytest.approx(N)
    uneven = of(mixed, "died ~ signal + noise", weights=np.where(mixed["flag"], 1.5, 0.5))
    weight = uneven.predictions()["weight"]
    assert uneven.held_out.like_rows() == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert uneven.calibration()["n"].sum() == pytest.approx(N)


def test_rows_that_are_held_out_again_count_once(mixed, died):
    twice = of(mixed, "died ~ signal + site + noise", repeats=2)
    assert len(twice.predictions()) == 2 * N
    assert twice.held_out.n_rows == N
    assert twice.calibration()["n"].sum() == N
    wide = (recalibration(f.held_out) for f in (twice, died))
    width = [own.slope_high - own.slope_low for own in wide]
    assert width[0] == pytest.approx(width[1], rel=0.2)


def test_rows_that_are_never_held_out_have_no_line(mixed):
    folds = ShuffleSplit(2, test_size=0.2, random_state=1)
    found = of(mixed, "died ~ signal + noise", folds)
    assert len(found.predictions()) == 160
    assert found.held_out.n_rows < 160
    assert found.calibration()["n"].sum() == pytest.approx(found.held_out.n_rows)


@pytest.mark.parametrize("n_groups", [1, 101, 2.5, "many"])
def test_the_number_of_groups_is_checked(died, n_groups):
    with pytest.raises(OptionError, match="`n_groups` must be"):
        died.calibration(n_groups)


# --- groups of rows that are cut at quantiles ----------------------------------------------------


@pytest.mark.parametrize(
    ("values", "weight", "n", "expected"),
    [
        ([3.0, 1.0, 2.0, 4.0], [1, 1, 1, 1], 2, [1, 0, 0, 1]),
        ([3.0, 1.0, 2.0, 4.0], [1, 3, 1, 1], 2, [1, 0, 1, 1]),
        ([0.1 + 0.2, 0.3, 0.3, 0.9], [1, 1, 1, 1], 4, [0, 0, 0, 1]),
        ([5.0, 5.0], [1, 1], 3, [0, 0]),
        ([1.0, 2.0], [1, 1], 20, [0, 1]),
    ],
)
def test_groups_are_cut_at_quantiles_and_ties_stay_together(values, weight, n, expected):
    assert quantile_groups(np.array(values), np.array(weight), n).tolist() == expected
