"""The linear model of each resample: against a loop with statsmodels, all families, what fails."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from quick import WITH_GAPS, by_mrmr, changed, normal

import treeselect
from treeselect.errors import StabilityError, TreeselectWarning
from treeselect.resampling.assessing import resample_weights
from treeselect.resampling.coefficient_stability import (
    Refit,
    coefficient_spread,
    estimates_of,
    fit_terms,
)

pytestmark = WITH_GAPS


@pytest.fixture(scope="module")
def small():
    """90 rows of numbers and a factor with three responses; `a` and `b` resemble each other."""
    rng = np.random.default_rng(4)
    n = 90
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    data["b"] = 0.7 * data["a"] + 0.7 * data["b"]
    data["ward"] = rng.choice(["x", "y", "z"], size=n)
    eta = data["a"] + 0.4 * data["c"] + (data["ward"] == "z")
    data["y"] = eta + rng.normal(size=n)
    data["ill"] = rng.random(n) < 1 / (1 + np.exp(-eta))
    data["visits"] = rng.poisson(np.exp(0.4 * eta))
    data["kind"] = np.where(data["ill"], np.where(data["c"] > 0, "p", "q"), "r")
    return data


def selected_by_aic(data, formula="y ~ a + b + c + ward", **given):
    asked = {"method": "stepwise", "penalty": 2.0, "seed": 1, "resamples": 12}
    return treeselect.select(formula, data, **asked | given)


@pytest.fixture(scope="module")
def fit(small):
    return selected_by_aic(small)


def test_the_table_is_that_of_a_plain_loop(fit, small):
    """Every resample's formula fitted by statsmodels to its rows, written out."""
    full = smf.ols("y ~ a + b + c + ward", small).fit()
    names = list(full.params.index)
    stability = fit.stability
    estimate = []
    for number, chosen in enumerate(stability.selected):
        weights = resample_weights(
            fit.data.design.problem, fit.data.design.row_weights, "bootstrap", number,
            stability.seed,
        ).values  # fmt: skip
        rows = np.repeat(np.arange(len(small)), weights)
        terms = [unit for unit, is_in in zip(stability.units, chosen, strict=True) if is_in]
        own = smf.ols(f"y ~ {' + '.join(terms) or '1'}", small.iloc[rows]).fit()
        estimate.append([own.params.get(name, 0.0) for name in names])
    estimate = np.array(estimate)
    table = fit.model.coefficient_stability().tidy().set_index("column").loc[names]
    np.testing.assert_allclose(table["full_estimate"], full.params)
    np.testing.assert_allclose(table["full_std_error"], full.bse)
    rmsd = np.sqrt(((estimate - full.params.to_numpy()) ** 2).mean(axis=0))
    np.testing.assert_allclose(table["rmsd_ratio"], rmsd / full.bse.to_numpy())
    share = (estimate != 0).mean(axis=0)
    np.testing.assert_allclose(table["frequency"], share)
    assert 0 < share.min() < 1  # there is something to tell
    bias = estimate.mean(axis=0) / share / full.params.to_numpy() - 1
    np.testing.assert_allclose(table["relative_conditional_bias"], bias)
    limits = np.quantile(estimate, [0.025, 0.5, 0.975], axis=0)
    np.testing.assert_allclose(table[["ci_low", "median", "ci_high"]].to_numpy().T, limits)
    assert (table["n"] == 12).all()
    own = fit.refit("glm").tidy().set_index("column")
    np.testing.assert_allclose(table.loc[own.index, "estimate"], own["estimate"])
    np.testing.assert_allclose(table.loc[own.index, "std_error"], own["std_error"])
    assert table.drop(own.index)["estimate"].isna().all()


@pytest.mark.parametrize("response", ["ill", "visits", "kind"])
def test_classes_and_counts(small, response):
    family = {"visits": "poisson"}.get(response, "auto")
    fit = selected_by_aic(small, f"{response} ~ a + c", family=family, resamples=4)
    found = fit.model.coefficient_stability()
    assert found.n_refitted + sum(n for _, n in found.failures) == 4
    table = found.tidy()
    assert np.isfinite(table["full_std_error"]).all()
    assert len(table) == (6 if response == "kind" else 3)
    assert table["column"].str.startswith(("q: ", "r: ")).all() == (response == "kind")
    said = {"ill": "; positive class: True", "visits": "", "kind": "; compared with the class: p"}
    assert dict(found.facts())["Response"] == response + said[response]


def test_weights_offset_and_groups_go_along(small):
    data = small.assign(times=np.arange(len(small)) % 2 + 1, log_time=0.1, site=np.arange(90) // 3)
    fit = selected_by_aic(
        data, "visits ~ a + c", family="poisson", weights="times", offset="log_time",
        fold_groups="site", resamples=4,
    )  # fmt: skip
    found = fit.model.coefficient_stability()
    assert "whole site clusters" in found.resamples
    once = found.table.set_index("column")["full_estimate"]
    twice = data.loc[data.index.repeat(data["times"])]
    expected = smf.poisson("visits ~ a + c", twice, offset=twice["log_time"]).fit(disp=False)
    np.testing.assert_allclose(once[expected.params.index], expected.params, rtol=1e-5)
    plain = selected_by_aic(
        data, "visits ~ a + c", family="poisson", weights="times", offset="log_time"
    )
    of_rows = plain.model.coefficient_stability().table["full_std_error"]
    assert not np.allclose(found.table["full_std_error"], of_rows)  # cluster-robust


def test_full_models_of_too_many_terms_and_of_separated_classes():
    data = normal(0, 20, [f"x{i}" for i in range(30)], x7=3)
    found = by_mrmr("y ~ .", data, k=1, resamples=4).model.coefficient_stability()
    assert found.full_failure == "There are 30 terms for 20 rows."
    assert found.table["rmsd_ratio"].isna().all()
    assert found.table["median"].notna().all()
    text = " ".join(str(found.summary()).split())
    assert "could not be fitted: There are 30 terms for 20 rows." in text
    assert "RMSD ratio:" not in text
    # A term that tells the classes apart on most resamples.
    x = np.repeat([0.0, 1.0], 15)
    data = pd.DataFrame({"x": x, "z": np.tile([0.0, 1.0, 2.0], 10)})
    data["ill"] = x.astype(bool)
    data.loc[3, "ill"] = True
    fit = treeselect.select("ill ~ x + z", data, method="lasso", k=1, seed=1, resamples=12)
    found = fit.model.coefficient_stability()
    assert 0 < found.n_refitted < 12
    ((why, n),) = found.failures
    assert "separate the classes" in why
    assert n == 12 - found.n_refitted
    assert (found.table["n"] == found.n_refitted).all()
    assert f"Resamples without a linear model ({n}): {why}" in found.notes()
    # A term that has no value, beside ordered classes.
    fit = by_mrmr("z ~ x + gap", data.assign(gap=np.nan), k=1, family="ordinal", resamples=4)
    with pytest.warns(TreeselectWarning, match="drops 30 of 30 rows"):
        found = fit.model.coefficient_stability()
    assert found.full_failure == "A linear model needs more complete cases than columns."
    # A level whose few rows are all of one class: the models have estimates, which are infinite.
    data = pd.DataFrame({"g": np.repeat(["a", "b", "c"], [40, 40, 4])})
    data["ill"] = (np.arange(84) % 3 == 0) & (data["g"] != "c")
    fit = treeselect.select("ill ~ g", data, method="lasso", k=1, seed=1, resamples=6)
    found = fit.model.coefficient_stability()
    (said,) = [note for note in found.notes() if "some estimates are then infinite" in note]
    n = found.table.set_index("column").loc["g[T.c]", "n"]  # the others do not have the level
    assert said.endswith(f"So in the full model and {n} of 6 resamples.")


def test_a_level_that_a_resample_does_not_hold_is_missing_there():
    rng = np.random.default_rng(1)
    ward = ["first", *["second"] * 19, *["third"] * 20]
    data = pd.DataFrame({"ward": ward, "x": rng.normal(size=40)})
    data["y"] = data["x"] + (data["ward"] == "third") * 3 + rng.normal(size=40)
    late = data.assign(ward=data["ward"].replace({"first": "zero"}))
    found, other = (
        treeselect.select(
            "y ~ ward", own, method="lasso", k=1, seed=1, resamples=20
        ).model.coefficient_stability()
        for own in (data, late)
    )
    # Without its only row the level that all are compared with is gone: no coefficient means
    # the same there.
    assert 0 < found.n_refitted < 20
    assert found.failures[0][0] == "Columns of the resample are collinear."
    table = other.table.set_index("column")
    assert other.n_refitted == 20
    assert 0 < table.loc["ward[T.zero]", "n"] < 20 == table.loc["ward[T.third]", "n"]


def test_estimates_by_hand_and_what_no_resample_tells_is_missing():
    refits = [
        Refit(("a",), {("Intercept", "Intercept"): 1.0, ("a", "a"): 2.0}, {}),
        Refit((), {("Intercept", "Intercept"): 3.0}, {}),
        Refit(("a",), {}, {}, "No."),
        Refit(("a",), {("Intercept", "Intercept"): 4.0}, {}),  # its column has no estimate
    ]
    estimate, in_model = estimates_of(refits, [("Intercept", "Intercept"), ("a", "a")])
    nan = np.nan
    np.testing.assert_array_equal(estimate, [[1, 2], [3, 0], [nan, nan], [4, nan]])
    assert in_model.tolist() == [[True, True], [True, False], [False, False], [True, False]]
    nothing = np.full((3, 2), np.nan)
    full = np.array([1.0, np.nan])
    found = coefficient_spread(nothing, np.isfinite(nothing), full, np.ones(2))
    assert found.pop("n").tolist() == [0, 0]
    assert all(np.isnan(values).all() for values in found.values())
    absent = np.zeros((3, 1))
    alone = coefficient_spread(absent, absent > 0, np.array([np.nan]), np.ones(1))
    assert np.isnan(alone["rmsd_ratio"][0])
    assert alone["median"][0] == 0.0


def test_sums_of_columns_are_left_out_of_the_full_model_and_so_are_rows_with_gaps(small):
    data = small.assign(double=2 * small["a"])
    fit = selected_by_aic(data, "y ~ a + double + c", resamples=4)
    refit = fit_terms(fit.data.design, ["a", "double", "c"])
    assert {name for name, _ in refit.estimate} == {"Intercept", "a", "c"}
    assert fit.model.coefficient_stability().n_refitted == 4
    data = small.assign(a=small["a"].mask(np.arange(90) < 7))
    fit = treeselect.select("y ~ a + c", data, method="mrmr", k=1, seed=1).resample(3)
    found = fit.model.coefficient_stability()
    assert found.n_dropped == 7
    said = " ".join(found.summary().as_text().split())
    assert "in which one of its terms is missing, the full model 7." in said
    full = smf.ols("y ~ a + c", data).fit()
    table = found.tidy().set_index("column")
    np.testing.assert_allclose(table.loc["c", "full_estimate"], full.params["c"])


def test_the_summary_is_that_of_the_table(fit, snapshot):
    found = fit.model.coefficient_stability()
    rounded = found.table.copy()
    for place, name in enumerate(rounded.columns[2:-1]):
        rounded[name] = [(place + row) / 4 - 1 for row in range(len(rounded))]
    rounded.loc[2, ["estimate", "std_error"]] = np.nan
    assert str(dataclasses.replace(found, table=rounded).summary()) == snapshot
    assert repr(found) == "<CoefficientStability on 12 bootstrap resamples>"


def test_resamples_without_a_model_or_of_a_stopped_call(fit, small):
    """Classes that a term separates everywhere."""
    partial = dataclasses.replace(fit.stability, asked=100)
    with pytest.raises(StabilityError, match="Found: 12 of 100, as the call was stopped"):
        changed(fit, resampled=partial).model.coefficient_stability()
    data = small.assign(late=small["a"] > 0)
    fit = treeselect.select("late ~ a + c", data, method="mrmr", k=1, seed=1).resample(3)
    found = fit.model.coefficient_stability()
    assert len(found.tidy()) == found.n_refitted == 0
    assert "none could be fitted" in found.summary().as_text()
    assert sum(n for _, n in found.failures) == 3
