"""A known part of the linear predictor."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import treeselect
from treeselect.engine.losses import LogisticLoss, SquaredLoss
from treeselect.errors import NewDataError, OptionError

QUICK = {"method": "controlburn", "forests": 1, "n_trees": 40, "seed": 4}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    n = 600
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["x", "noise", "more", "z"])
    eta = 1.5 * frame["x"] + 3 * frame["z"]
    return frame.assign(
        died=(rng.random(n) < expit(eta)).astype(int), dose=eta + rng.normal(size=n)
    )


def test_a_numeric_response_less_its_offset_is_the_same_problem(data):
    with_offset = treeselect.select("dose ~ . - died", data, k=1, offset="z", **QUICK)
    assert with_offset.selected == ("x",)  # without it, z is not among the terms of `.`
    same = treeselect.select("{dose - z} ~ . - died - dose", data, k=1, **QUICK)
    assert same.selected == with_offset.selected
    np.testing.assert_allclose(with_offset.path["tuning"], same.path["tuning"], rtol=1e-9)
    np.testing.assert_allclose(with_offset.predict(data), same.predict(data) + data["z"], atol=1e-9)


def test_for_classes_it_is_added_on_the_scale_of_the_log_odds(data):
    fit = treeselect.select("died ~ x + noise + more", data, k=1, offset="z", **QUICK)
    assert fit.selected == ("x",)
    p = fit.predict(data)
    moved = fit.predict(data.assign(z=data["z"] + 1))
    np.testing.assert_allclose(logit(moved) - logit(p), 1, atol=1e-6)
    without = treeselect.select("died ~ x + noise + more", data, k=1, **QUICK)
    y = data["died"]

    def log_loss(p):
        return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))

    truth = expit(1.5 * data["x"] + 3 * data["z"])
    assert log_loss(truth) < log_loss(p) < 0.8 * log_loss(without.predict(data).clip(0.01, 0.99))
    assert abs(p.mean() - y.mean()) < 0.02


@pytest.mark.parametrize("response", ["died", "dose"])
def test_a_constant_offset_selects_what_none_selects(data, response):
    formula = f"{response} ~ x + noise + more + z"
    plain = treeselect.select(formula, data, k=2, **QUICK)
    shifted = treeselect.select(formula, data.assign(two=2.0), k=2, offset="two", **QUICK)
    assert shifted.selected == plain.selected
    np.testing.assert_allclose(shifted.path["tuning"], plain.path["tuning"], rtol=1e-6)


def test_cross_validation_and_resamples_use_it(data):
    fit = treeselect.select(
        "died ~ x + noise", data, offset="z", folds=3, resamples=3, n_jobs=1, **QUICK
    )
    null = fit.search.scores.mean[0]
    assert null > 0.75  # the offset alone tells much
    assert fit.search.scores.mean[1] > null
    assert "Offset: `z`, added to the linear predictor" in " ".join(fit.summary().as_text().split())
    assert 'offset="z"' in fit._fit.call.text


def test_a_column_an_array_and_a_file_give_the_same(data, tmp_path):
    named = treeselect.select("died ~ x + noise", data, k=1, offset="z", **QUICK)
    given = treeselect.select("died ~ x + noise", data, k=1, offset=data["z"].tolist(), **QUICK)
    pd.testing.assert_series_equal(named.predict(data), given.predict(data, offset=data["z"]))
    for fit in (named, given):
        again = treeselect.load(fit.save(tmp_path / "m", include_data=True))
        offset = None if fit is named else data["z"]
        pd.testing.assert_series_equal(
            again.predict(data, offset=offset), fit.predict(data, offset=offset)
        )
        pd.testing.assert_frame_equal(
            again.resample(2).stability.tidy(), fit.resample(2).stability.tidy()
        )
        bare = treeselect.load(fit.save(tmp_path / "n"))
        pd.testing.assert_frame_equal(
            bare.with_data(data, offset=offset).resample(2).stability.tidy(),
            fit.resample(2).stability.tidy(),
        )
    assert "fitted" in given.augment(data, offset=data["z"])


def test_what_prediction_needs_of_it(data):
    named = treeselect.select("died ~ x + noise", data, k=1, offset="z", **QUICK)
    given = treeselect.select("died ~ x + noise", data, k=1, offset=data["z"], **QUICK)
    plain = treeselect.select("died ~ x + noise", data, k=1, **QUICK)
    with pytest.raises(NewDataError, match="must have the column of the offset"):
        named.predict(data.drop(columns="z"))
    with pytest.raises(OptionError, match="`offset` must be given"):
        given.predict(data)
    with pytest.raises(OptionError, match="must have one value per row, 600"):
        given.predict(data, offset=[1.0])
    with pytest.raises(OptionError, match="`offset` must not be given"):
        plain.predict(data, offset=data["z"])
    with pytest.raises(OptionError, match="reads it from the column `z`"):
        named.predict(data, offset=data["z"] + 1)
    with pytest.raises(OptionError, match=r"finite and not missing(.|\n)*nan in row 3"):
        named.predict(data.assign(z=[*[0.5] * 3, np.nan, *[0.5] * 596]))


def test_the_response_is_no_offset(data):
    with pytest.raises(OptionError, match="must not be the response"):
        treeselect.select("log(dose) ~ x", data.assign(dose=1.5), k=1, offset="dose")


def test_an_empty_selection_predicts_the_constant_and_the_offset(data):
    fit = treeselect.select("dose ~ x + noise", data, lam=1e6, offset="z", **QUICK)
    mean = (data["dose"] - data["z"]).mean()
    np.testing.assert_allclose(fit.predict(data), mean + data["z"])


def test_the_best_constant_beside_an_offset():
    rng = np.random.default_rng(0)
    y, offset = (rng.random(50) < 0.3) * 1.0, rng.normal(size=50)
    weight = rng.integers(1, 4, size=50)
    for loss in (LogisticLoss(), SquaredLoss()):
        best = loss.constant(y, weight, offset)
        assert abs(weight @ loss.negative_gradient(y, best + offset)) < 1e-6
        nothing = loss.constant(y, weight, np.zeros(50))
        assert nothing == pytest.approx(loss.constant(y, weight))


@pytest.mark.parametrize("family", ["poisson", "binomial"])
def test_totals_of_the_forest_are_right(data, family):
    rng = np.random.default_rng(8)
    counts = data.assign(cases=rng.poisson(np.exp(0.5 * data["x"] + 0.3 * data["z"])))
    y = "cases" if family == "poisson" else "died"
    fit = treeselect.select(f"{y} ~ x + noise", counts, k=1, offset="z", family=family, **QUICK)
    assert fit.predict(counts).sum() == pytest.approx(counts[y].sum(), rel=1e-6)


@pytest.mark.parametrize("seed", [5, 6])
def test_rare_events_beside_an_offset_of_nothing(seed):
    """As without it: nowhere do log-odds run away."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(3000, 2)), columns=["x", "z"]).assign(none=0.0)
    data["y"] = (rng.random(3000) < 1 / (1 + np.exp(6 - 3 * data["x"]))).astype(int)
    train, new = data[:1000], data[1000:]
    lost = []
    for offset in (None, "none"):
        fit = treeselect.select("y ~ x + z", train, method="mrmr", k=1, offset=offset, seed=1)
        p = np.clip(np.asarray(fit.predict(new)), 1e-9, 1 - 1e-9)
        lost.append(-np.mean(np.log(np.where(new["y"] == 1, p, 1 - p))))
    assert lost[1] < 1.1 * lost[0]


def test_an_offset_that_tells_all_leaves_nothing_undefined():
    x = np.random.default_rng(1).normal(size=(50, 2))
    data = pd.DataFrame(x, columns=["a", "b"]).assign(known=np.where(x[:, 0] > 0, -500.0, 500.0))
    data["y"] = np.where(x[:, 0] > 0, "yes", "no")
    fit = treeselect.select("y ~ a + b", data, method="mrmr", k=1, offset="known", seed=1)
    assert np.isfinite(fit.predict(data)).all()


@pytest.mark.parametrize("method", ["gbfs", "rboost", "controlburn"])
def test_exposures_beyond_all_reason_overflow_nowhere(method):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"y": rng.poisson(2, 60), "x": rng.normal(size=60)})
    offset = rng.uniform(-30, 30, 60)
    fit = treeselect.select(
        "y ~ x", data, method=method, k=1, family="poisson", offset=offset, seed=1, n_trees=20
    )
    assert np.isfinite(fit.predict(data, offset=offset)).all()
