"""P-values after selection on other rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.ensemble import RandomForestRegressor

import treeselect
from treeselect.choosing import Choice, choose
from treeselect.engine.random import stream_seed
from treeselect.errors import DataError, OptionError
from treeselect.folds import Folds
from treeselect.inference import aggregate_p_values, part_rows

QUICK = {"method": "gbfs", "n_trees": 15, "prune": False, "progress": False}


def numbers(seed, n=150, p=10, slopes=()):
    """Normal columns; the first ones move the response."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"x{i}" for i in range(p)])
    frame["y"] = rng.normal(size=n) + frame.iloc[:, : len(slopes)].to_numpy() @ np.array(slopes)
    return frame


@pytest.fixture(scope="module")
def strong():
    data = numbers(1, slopes=(2.0, -2.0, 2.0))
    return data, treeselect.select("y ~ .", data, k=3, seed=3, **QUICK)


# --- aggregation -------------------------------------------------------------------------------


def test_aggregation_is_that_of_the_paper_worked_out_by_hand():
    of_terms = [[0.01, 0.03, 0.02, 0.04], [0.001, 1, 1, 1], [1, 1, 1, 1], [0.2, 0.1, 0.4, 0.3]]
    p_values = np.array(of_terms).T
    # Sorted and times 4/1, 4/2, 4/3, 4/4: first 0.04, 0.04, 0.04, 0.04; second 0.004, 2, ...;
    # fourth 0.4, 0.4, 0.4, 0.4.
    factor = 1 - np.log(0.05)
    expected = [factor * 0.04, factor * 0.004, 1.0, 1.0]
    np.testing.assert_allclose(aggregate_p_values(p_values), expected)
    # Above 0.5 only the third and fourth quantile are looked at: 0.03 * 4/3 and 0.04.
    factor = 1 - np.log(0.5)
    expected = [factor * 0.04, 1.0, 1.0, factor * 0.4]
    np.testing.assert_allclose(aggregate_p_values(p_values, 0.5), expected)


def test_aggregation_is_the_least_over_a_fine_grid():
    rng = np.random.default_rng(0)
    p_values = rng.uniform(size=(23, 6)) ** 4
    gammas = np.linspace(0.1, 1, 20_001)[1:]
    quantiles = np.quantile(p_values, gammas, axis=0, method="inverted_cdf")
    least = np.minimum(quantiles / gammas[:, np.newaxis], 1).min(axis=0)
    expected = np.minimum((1 - np.log(0.1)) * least, 1)
    np.testing.assert_allclose(aggregate_p_values(p_values, 0.1), expected, rtol=1e-3)


# --- one split ---------------------------------------------------------------------------------


def test_one_split_is_least_squares_on_the_rows_that_were_not_selected_on(strong):
    data, fit = strong
    found = fit.inference(split=0.4, level=0.9)
    first, second = part_rows(
        fit.design.problem, fit.design.weight, 0.4, stream_seed(3, "inference", 0)
    )
    assert (len(first), len(second)) == (60, 90)
    assert sorted([*first, *second]) == list(range(150))
    (split,) = found.splits
    here = data.iloc[second]
    expected = sm.OLS(here["y"], sm.add_constant(here[list(split.selected)])).fit()
    table = found.tidy()
    assert table["term"].tolist() == ["Intercept", *split.selected]
    for column, values in (
        ("estimate", expected.params),
        ("std_error", expected.bse),
        ("statistic", expected.tvalues),
        ("p_value", expected.pvalues),
    ):
        np.testing.assert_allclose(table[column], values)
    interval = expected.conf_int(0.1).to_numpy()
    np.testing.assert_allclose(table[["ci_low", "ci_high"]].to_numpy(), interval)
    text = found.summary().as_text()
    assert "60 rows to select on, 90 to fit on" in text
    assert "90 % interval" in text
    assert "Valid for the submodel" in text


def test_selection_is_that_of_the_first_part_alone(strong):
    _, fit = strong
    own = stream_seed(3, "inference", 0)
    problem, weight = fit.design.problem, fit.design.weight
    first, _ = part_rows(problem, weight, 0.5, own)
    chosen = choose(
        problem, fit.chosen_method, np.isin(np.arange(150), first).astype(np.int64), Choice(3),
        seed=own,
    )  # fmt: skip
    names = np.array(fit.design.arrays.groups.names)[chosen.step.selected]
    assert set(fit.inference().splits[0].selected) == set(names)


def test_a_factor_is_tested_as_one(mixed):
    fit = treeselect.select("dose ~ signal + site", mixed, k=2, seed=1, **QUICK)
    found = fit.inference()
    (split,) = found.splits
    expected = split.fit.result.f_test(
        np.array([[c.startswith("site") and c == own for c in split.fit.names] for own in
                  split.fit.names if own.startswith("site")], dtype=float)
    )  # fmt: skip
    assert split.p_values["site"] == pytest.approx(float(expected.pvalue))
    at = found.terms.index("site")
    assert found.p_values[0, at] == pytest.approx(min(1.0, 2 * float(expected.pvalue)))
    assert split.n_dropped + split.n_fitted == 200


# --- several splits ----------------------------------------------------------------------------


def test_p_values_are_multiplied_by_the_size_and_1_if_not_selected(strong):
    _, fit = strong
    found = fit.inference(repeats=4)
    assert found.n_splits == 4
    for row, split in zip(found.p_values, found.splits, strict=True):
        for term, p in zip(found.terms, row, strict=True):
            assert p == (min(1, 3 * split.p_values[term]) if term in split.selected else 1.0)
    table = found.tidy().set_index("term")
    expected = aggregate_p_values(found.p_values)
    np.testing.assert_allclose(table.loc[list(found.terms), "p_value"], expected)


def test_true_terms_are_found_and_noise_is_not(strong):
    _, fit = strong
    table = fit.inference(repeats=10).tidy().set_index("term")
    true = ["x0", "x1", "x2"]
    assert (table.loc[true, "p_value"] < 0.01).all()
    assert (table.drop(index=true)["p_value"] > 0.05).all()
    assert (table.loc[true, "selected"] >= 8).all()


def test_noise_gives_no_small_p_values_beyond_their_level():
    false = 0
    for seed in range(20):
        fit = treeselect.select("y ~ .", numbers(100 + seed), k=3, seed=seed, **QUICK)
        false += bool((fit.inference(repeats=10).tidy()["p_value"] < 0.05).any())
    assert false <= 3


def test_answer_depends_on_the_seed_alone(strong):
    _, fit = strong
    one = fit.inference(repeats=3, seed=5, n_jobs=1)
    two = fit.inference(repeats=3, seed=5, n_jobs=2)
    assert (one.p_values == two.p_values).all()
    assert (one.p_values != fit.inference(repeats=3, seed=6).p_values).any()
    assert str(one.summary()) == str(two.summary())


@pytest.mark.parametrize("k", ["1se", "best"])
def test_the_rule_is_that_of_the_fit(strong, k):
    data, _ = strong
    fit = treeselect.select("y ~ .", data, k=k, folds=3, seed=1, **QUICK)
    found = fit.inference(repeats=2)
    assert ("1 s.e. rule" if k == "1se" else "best score") in str(found.summary())
    problem, own = fit.design.problem, stream_seed(1, "inference", 1)
    first, _ = part_rows(problem, fit.design.weight, 0.5, own)
    weight = np.isin(np.arange(150), first).astype(np.int64)
    chosen = choose(problem, fit.chosen_method, weight, Choice(k, Folds(3)), seed=own)
    assert len(found.splits[1].selected) == chosen.step.size


def test_a_tuning_value_stays(strong):
    data, _ = strong
    fit = treeselect.select("y ~ .", data, mu=0.2, seed=1, **QUICK)
    assert "mu = 0.2" in str(fit.inference().summary())


def test_saved_models_know_their_rule(strong, tmp_path):
    data, fit = strong
    loaded = treeselect.load(fit.save(tmp_path / "fit"))
    assert loaded.choice.k == 3
    with pytest.raises(DataError, match="`data=`"):
        loaded.inference()
    found = loaded.inference(repeats=2, data=data)
    assert (found.p_values == fit.inference(repeats=2).p_values).all()


# --- classes, counts, weights ------------------------------------------------------------------


def test_classes_are_spread_evenly_and_tested(mixed):
    data = mixed.assign(kind=np.array(["a", "b", "c"])[np.digitize(mixed["dose"], [-3, 2])])
    fit = treeselect.select("kind ~ signal + noise", data, k=2, seed=1, **QUICK)
    first, second = part_rows(
        fit.design.problem, fit.design.weight, 0.5, stream_seed(1, "inference", 0)
    )
    y = fit.design.response.y
    counts = np.bincount(y[first].astype(int)) - np.bincount(y[second].astype(int))
    assert np.abs(counts).max() <= 1
    found = fit.inference(repeats=3)
    assert found.tidy().set_index("term").loc["signal", "p_value"] < 0.01


def test_counts_with_weights_and_an_offset():
    data = numbers(4, slopes=(1.0,))
    rng = np.random.default_rng(0)
    data = data.assign(
        n=rng.poisson(np.exp(0.8 * data["x0"])), w=rng.integers(0, 3, 150), log_time=0.1
    )
    fit = treeselect.select(
        "n ~ . - y", data, family="poisson", weights="w", offset="log_time", k=1, seed=1, **QUICK
    )
    found = fit.inference(repeats=3)
    assert found.n_failed == 0
    assert sum(s.n_fitted for s in found.splits) <= 3 * (data["w"] > 0).sum() / 2 + 3
    assert found.tidy()["term"].iloc[0] == "x0"


# --- splits that fail --------------------------------------------------------------------------


def test_splits_without_a_linear_model_count_as_1_and_are_counted(strong):
    data, _ = strong
    fit = treeselect.select("y ~ x0 + x1 + twice", data.assign(twice=2 * data["x0"]), k=3,
                            keep=["x0", "twice"], seed=1, **QUICK)  # fmt: skip
    found = fit.inference(repeats=3)
    assert found.n_failed == 3
    assert (found.tidy()["p_value"] == 1).all()
    assert (found.tidy()["tested"] == 0).all()
    text = " ".join(str(found.summary()).split())
    assert "3, of which 3 failed" in text
    assert "3 splits without a linear model, p = 1 for its terms: Columns of `x0`" in text
    one = fit.inference()
    assert one.tidy()["p_value"].tolist() == [1.0, 1.0, 1.0]
    assert one.tidy()["estimate"].isna().all()
    assert "The split without a linear model" in " ".join(str(one.summary()).split())


def test_columns_that_are_sums_within_a_term_do_no_harm(mixed):
    data = mixed.assign(place=mixed["site"].astype(object))
    options = {"k": 2, "seed": 1, **QUICK}
    plain = treeselect.select("dose ~ signal + place", data, **options)
    hashed = treeselect.select("dose ~ signal + hashed(place, levels=6)", data, **options)
    fits = [fit.inference(repeats=2) for fit in (plain, hashed)]
    assert [found.n_failed for found in fits] == [0, 0]
    np.testing.assert_allclose(fits[0].p_values, fits[1].p_values)


def test_separated_classes_fail():
    data = numbers(2).assign(ill=lambda d: d["x0"] > 0)
    fit = treeselect.select("ill ~ x0 + x1", data, k=1, seed=1, **QUICK)
    found = fit.inference(repeats=2)
    assert found.n_failed == 2
    assert "separate the classes" in " ".join(str(found.summary()).split())


def test_an_empty_selection_has_an_intercept_only():
    fit = treeselect.select("y ~ x0 + x1", numbers(2), mu=1e9, seed=1, **QUICK)
    assert fit.inference().tidy()["term"].tolist() == ["Intercept"]
    assert (fit.inference(repeats=2).tidy()["p_value"] == 1).all()


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"split": 0}, "`split` must be a number above 0 and below 1"),
        ({"split": 1.0}, "`split` must be"),
        ({"split": "half"}, "`split` must be"),
        ({"repeats": 0}, "`repeats` must be a whole number, at least 1"),
        ({"repeats": 2.5}, "`repeats` must be"),
        ({"seed": -1}, "`seed` must be"),
        ({"gamma_min": 1}, "`gamma_min` must be"),
        ({"level": 95}, "`level` must be"),
        ({"n_jobs": 0}, "`n_jobs` must be"),
        ({"split": 0.02}, "`split` must leave at least 10 rows to select on"),
        ({"split": 0.98}, "`split` must leave at least 10 rows to fit on"),
    ],
)
def test_arguments_that_are_not_allowed(strong, arguments, said):
    with pytest.raises(OptionError, match=said):
        strong[1].inference(**arguments)


def test_each_class_needs_rows_in_both_parts():
    data = numbers(2).assign(ill=np.arange(150) < 3)
    fit = treeselect.select("ill ~ x0 + x1", data, k=1, seed=1, **QUICK)
    with pytest.raises(OptionError, match="at least 2 rows of each class to fit on"):
        fit.inference()


def test_trees_that_were_fitted_elsewhere_know_all_rows():
    data = numbers(2, slopes=(2.0,))
    forest = RandomForestRegressor(5, max_depth=2, random_state=0)
    forest.fit(data[["x0", "x1"]], data["y"])
    fit = treeselect.select("y ~ x0 + x1", data, k=1, seed=1, forest=forest)
    with pytest.raises(OptionError, match="fitted before"):
        fit.inference()
