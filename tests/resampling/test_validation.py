"""The whole procedure on bootstrap samples: optimism, instability of predictions."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from quick import by_mrmr
from sklearn.metrics import roc_auc_score
from survival_data import small_times

import treeselect
from treeselect.engine.random import stream_seed
from treeselect.engine.survival.curves import kaplan_meier
from treeselect.engine.survival.times import STRATUM, as_times
from treeselect.errors import OptionError, StabilityError
from treeselect.models.linear.likelihood import fit_slope
from treeselect.models.linear.statistics import recalibrate
from treeselect.resampling.assessing import resample_weights
from treeselect.resampling.choosing import Choice, Procedure, run_selection
from treeselect.resampling.held_out import excess_events
from treeselect.resampling.validation import validation_figure


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(160, 4)), columns=list("abcd"))
    frame["sick"] = (rng.random(160) < 1 / (1 + np.exp(-1.2 * frame["a"]))).astype(int)
    return frame.assign(
        dose=frame["a"] + rng.normal(size=160), sex=np.where(frame["b"] > 0, "f", "m")
    )


def fitted(data, formula="sick ~ a + b + c + d", **options):
    given = {"method": "mrmr", "k": 2, "seed": 1, "model": "glm", **options}
    return treeselect.select(formula, data, **given)


@pytest.fixture(scope="module")
def fit(data):
    return fitted(data)


@pytest.fixture(scope="module")
def found(fit):
    return fit.validate(12)


def test_each_sample_is_a_selection_of_its_own(data, fit, found):
    """The naive twin: draw, select, refit by statsmodels, predict all rows."""
    own, seed = fit._fit, stream_seed(1, "validation")
    design, training, test, left = own.design, [], [], []
    for b in range(12):
        drawn = resample_weights(design.problem, design.row_weights, "bootstrap", b, seed)
        copies = data.loc[np.repeat(np.arange(160), drawn.values)].reset_index(drop=True)
        asked = Procedure(design.problem, own.chosen_method, drawn, Choice(2))
        terms = np.array(list("abcd"))[run_selection(asked, 1)[0].step.selected]
        glm = sm.GLM(copies["sick"], sm.add_constant(copies[terms]), family=sm.families.Binomial())
        predicted = glm.fit().predict(sm.add_constant(data[terms]))
        assert np.allclose(found.resampled[b], predicted, atol=1e-6)
        rows = np.flatnonzero(drawn.values == 0)
        training.append(roc_auc_score(data["sick"], predicted, sample_weight=drawn.values))
        test.append(roc_auc_score(data["sick"], predicted))
        left.append(roc_auc_score(data["sick"][rows], predicted[rows]))
    table = found.tidy().set_index("measure")
    auc = table.loc["AUC"]
    apparent = roc_auc_score(data["sick"], fit.predict(data))
    assert auc["apparent"] == pytest.approx(apparent)
    assert auc["optimism"] == pytest.approx(np.mean(training) - np.mean(test))
    assert auc["corrected"] == pytest.approx(apparent - auc["optimism"])
    assert auc["left_out"] == pytest.approx(np.mean(left))
    assert table.loc["slope", ["apparent", "training"]].to_list() == pytest.approx([1, 1], abs=1e-6)
    eta = np.log(found.resampled / (1 - found.resampled))
    y = data["sick"].to_numpy(dtype=float)
    slopes = [recalibrate("binomial", y, own, np.ones(160)).slope for own in eta]
    assert table.loc["slope", "test"] == pytest.approx(np.mean(slopes))


def test_instability_of_each_row_and_calibration_of_all_models(data, found):
    table = found.instability(0.5)
    assert table["row"].to_list() == list(range(160))
    error = np.abs(found.resampled - found.predicted).mean(axis=0)
    assert np.allclose(table["error"], error)
    assert found.mean_error == pytest.approx(error.mean())
    changed = ((found.resampled >= 0.5) != (found.predicted >= 0.5)).mean(axis=0)
    assert np.allclose(table["changed"], changed)
    assert ((table["low"] <= table["high"]) & (table["error"] > 0)).all()
    by = found.by("sex", 0.5).set_index("group")
    own = table[data["sex"] == "f"]
    assert by.loc["f", "n"] == len(own)
    assert by.loc["f", ["predicted", "error", "changed"]].to_list() == pytest.approx(
        own[["predicted", "error", "changed"]].mean().to_list()
    )
    assert by.loc["f", "width"] == pytest.approx((own["high"] - own["low"]).mean())
    women = (data["sex"] == "f").to_numpy()
    assert by.loc["f", "observed"] == pytest.approx(data["sick"][women].mean())
    ends = np.quantile(found.resampled[:, women].mean(axis=1), [0.025, 0.975])
    assert by.loc["f", ["mean_low", "mean_high"]].to_list() == pytest.approx(ends.tolist())
    same = found.by(data["sex"] == "f")
    assert same["group"].to_list() == ["False", "True"]
    assert np.allclose(same["error"][::-1], by["error"])
    table = found.calibration(4)
    assert table["sample"].nunique() == 13
    own = table[table["sample"] == 0]
    group = pd.qcut(found.predicted, 4, labels=False)
    assert np.allclose(own["observed"], data.groupby(group)["sick"].mean())
    assert np.allclose(own["predicted"], pd.Series(found.predicted).groupby(group).mean())


def test_a_procedure_without_choices_and_variation_is_stable(data, fit, found):
    """Without terms, predictions differ by the mean alone."""
    nothing = fitted(data, method="lasso", k=None, lam=1e3).validate(6)
    assert (nothing.k == 0).all()
    assert nothing.resampled.std(axis=1).max() < 1e-12
    assert np.isnan(nothing.tidy().set_index("measure").loc["slope", "corrected"])
    assert nothing.tidy()["n"].to_list() == [6, 0, 6]
    same = dataclasses.replace(found, resampled=np.tile(found.predicted, (3, 1)))
    assert same.mean_error == 0
    assert (same.instability(0.3)["changed"] == 0).all()


def test_weights_numbers_and_counts(data):
    """A frequency weight of 2 is two rows; clusters are drawn as a whole."""
    weights = np.r_[np.full(80, 2), np.full(80, 1)]
    copies = fitted(data, weights=weights).validate(4)
    assert len(copies.predicted) == 240
    assert copies.instability()["row"].value_counts().to_dict()[0] == 2
    ward = np.repeat(np.arange(40), 4)
    grouped = fitted(data.assign(ward=ward), fold_groups="ward").validate(4)
    assert "of whole clusters" in grouped.summary().as_text()
    relative = fitted(data, weights=weights / 3, weights_kind="sampling").validate(4)
    assert relative.mass.mean() == pytest.approx(1)
    assert np.allclose(relative.predicted, copies.predicted[np.r_[0:160:2, 160:240]], atol=1e-6)
    found = fitted(data, "dose ~ a + b + c + d").validate(5)
    assert found.tidy()["measure"].to_list() == ["R2", "slope", "intercept"]
    with pytest.raises(OptionError, match="`threshold` needs a response of two classes"):
        found.instability(0.5)
    counts = data.assign(n=np.floor(np.exp(data["a"])))
    found = fitted(counts, "n ~ a + b + c + d", family="poisson").validate(5)
    assert found.tidy().set_index("measure").loc["slope", "apparent"] == pytest.approx(1, abs=1e-4)


# --- times to an event ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def timed():
    fit = by_mrmr("Surv(time, dead) ~ risky + x + z", small_times(), k=2, model="glm")
    return fit, fit.validate(6, horizon=200)


def test_times_are_predicted_by_the_horizon(timed):
    fit, found = timed
    data = small_times()
    survival = fit.predict(data, "survival", times=[200.0])
    assert np.allclose(found.predicted, 1 - np.asarray(survival).ravel(), atol=1e-9)
    table = found.tidy().set_index("measure")
    assert table.loc["slope", "apparent"] == pytest.approx(1, abs=1e-6)
    assert table.loc["intercept", ["apparent", "training"]].to_list() == pytest.approx(
        [0, 0], abs=1e-9
    )
    own = found.calibration(3).iloc[0]
    first = found.predicted <= np.sort(found.predicted)[29]
    y = as_times(data["time"], data["dead"])
    curve = kaplan_meier(y[first], np.ones(30))
    assert own["observed"] == pytest.approx(1 - curve.at(np.array(200.0)))
    assert "event by time = 200" in found.summary().as_text()
    assert "Intercept (log of" in found.summary().as_text()


def test_slopes_of_times_are_those_of_a_cox_model_and_strata_may_have_no_risk():
    data = small_times()
    y = as_times(data["time"], data["dead"])
    eta = data["risky"].to_numpy()
    known = sm.PHReg(data["time"], eta[:, None], data["dead"], ties="efron").fit()
    slope, error = fit_slope(y, eta, np.ones(90))
    assert (slope, error) == pytest.approx((known.params[0], known.bse[0]), rel=1e-6)
    found = recalibrate("cox", y, eta, np.ones(90))
    assert found.slope_high == pytest.approx(slope + 1.96 * error, rel=1e-4)
    assert np.isnan(recalibrate("cox", y, np.zeros(90), np.ones(90)).slope)
    data = small_times().assign(site=np.r_[["Bath"] * 2, ["York"] * 88])
    data.loc[0, "dead"] = 1
    fit = by_mrmr("Surv(time, dead) ~ risky + x + strata(site)", data, k=1, model="glm")
    found = fit.validate(12, horizon=100)
    assert 0 < np.isnan(found.resampled[:, :2]).sum() < 24
    assert not np.isnan(found.instability(0.5)[["low", "error", "changed"]]).to_numpy().any()
    assert not np.isnan(found.calibration(2)["observed"]).all()
    y = as_times(np.arange(1.0, 7), np.ones(6), None, np.array([0, 0, 1, 1, 1, 1]))
    own = (
        excess_events(y, np.zeros(6), y[:, STRATUM], np.arange(n, 6), np.ones(6 - n))
        for n in (0, 2)
    )
    assert next(own) == pytest.approx(next(own))


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda fit, found: fit.validate(1), "`n` must be a whole number, at least 2"),
        (lambda fit, found: fit.validate(2, horizon=3), "`horizon` needs a survival response"),
        (lambda fit, found: fit.validate(2, on_piece=3), "`on_piece` must be"),
        (lambda fit, found: found.instability(1), "`threshold` must be a number above 0"),
        (lambda fit, found: found.calibration(1), "`n_groups` must be"),
        (lambda fit, found: found.plot("scatter"), "`kind` must be one of"),
    ],
)
def test_arguments_are_checked(fit, found, use, said):
    with pytest.raises(OptionError, match=said):
        use(fit, found)


def test_tests_take_copies_as_one_and_constant_samples_are_refused(data):
    three = data.assign(site=np.tile(list("abc"), 54)[:160])
    with pytest.raises(OptionError, match="Found: 3 classes"):
        fitted(three, "site ~ a + b + c + d").validate(2)
    few = data.assign(rare=np.r_[[1] * 2, [0] * 158])
    with pytest.raises(StabilityError, match="has a constant response"):
        fitted(few, "rare ~ a + b + c + d", model=None).validate(40)
    # Otherwise a bootstrap sample seems to know more than it does, and needs more terms.
    fit = treeselect.select(
        "dose ~ a + b + c + d", data, seed=1, resamples=0, model="glm", n_trees=20
    )
    assert fit.validate(6).k.mean() <= fit.k + 0.5


def test_what_is_printed_and_drawn(found):
    said = found.summary().as_text()
    assert "12, of the rows" in said
    assert max(map(len, said.splitlines())) <= 88
    assert "corrected for optimism, 12 bootstrap samples" in repr(found)
    drawn = validation_figure(found, "predictions")
    assert (drawn.series[0].x, len(drawn.rules)) == (sorted(drawn.series[0].x), 1)
    assert len(validation_figure(found, "calibration").series) == 13
