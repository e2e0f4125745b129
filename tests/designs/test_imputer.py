"""What replaces missing values: against the definition, closed forms and simulated truth."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs.imputer import MOST_DIMENSIONS, estimate, expect, learn_imputer
from treeselect.designs.preparing import Request, prepare
from treeselect.errors import OptionError

QUICK = {"method": "mrmr", "seed": 1, "resamples": 0}


def naive_estimate(z, mass, n_rounds):
    """EM, row by row, by the conditional normal distribution."""
    d, known = z.shape[1], ~np.isnan(z)
    mean = np.array([np.average(z[k, j], weights=mass[k]) for j, k in enumerate(known.T)])
    away = [(z[k, j] - mean[j]) ** 2 for j, k in enumerate(known.T)]
    cov = np.diag([np.average(a, weights=mass[k]) for a, k in zip(away, known.T, strict=True)])
    for _ in range(n_rounds):
        first, second = np.zeros(d), np.zeros((d, d))
        for row, o, m in zip(z, known, mass, strict=True):
            gain = cov[:, o] @ np.linalg.inv(cov[np.ix_(o, o)])
            filled = mean + gain @ (row[o] - mean[o])
            first += m * filled
            second += m * (np.outer(filled, filled) + cov - gain @ cov[o])
        mean = first / mass.sum()
        cov = second / mass.sum() - np.outer(mean, mean)
    return mean, cov


@pytest.fixture(scope="module")
def normal():
    rng = np.random.default_rng(3)
    root = np.array([[1, 0, 0], [0.8, 0.6, 0], [0.3, -0.5, 0.9]])
    z = rng.normal(size=(120, 3)) @ root.T + [1, 2, 3]
    z[rng.random((120, 3)) < [0, 0.3, 0.2]] = np.nan
    return z, rng.integers(1, 4, 120).astype(float)


def test_estimates_and_expectations_are_those_of_the_definition(normal):
    found, naive = estimate(*normal, 0), naive_estimate(*normal, 60)
    for own, other in zip(found, naive, strict=True):  # EM stops at 1e-4 of the scale
        assert np.allclose(own, other, atol=2e-3)
    z, mass = normal
    mean, covariance = estimate(z, mass, 0)
    filled, rest = expect(z, mean, covariance, mass)
    assert (filled[~np.isnan(z)] == z[~np.isnan(z)]).all()
    row = int(np.flatnonzero(np.isnan(z[:, 1]) & ~np.isnan(z[:, 2]))[0])
    known = [0, 2]
    slopes = np.linalg.solve(covariance[np.ix_(known, known)], covariance[known, 1])
    assert filled[row, 1] == pytest.approx(mean[1] + slopes @ (z[row, known] - mean[known]))
    assert np.linalg.eigvalsh(rest).min() > -1e-9


def test_numbers_stay_within_their_range_and_odd_columns_are_left():
    rng = np.random.default_rng(5)
    x = rng.exponential(size=400)
    level = np.where(x > 1, 1, np.where(x > 0.3, 2, 3)).astype(np.uint8)
    columns = np.where(rng.random(400) < 0.2, np.nan, x), level.copy()
    columns[1][rng.random(400) < 0.2] = 0
    found = learn_imputer(columns, ((None, 1), (3, 0)), np.ones(400))
    number, codes = found.fill(columns)
    gaps, lost = np.isnan(columns[0]), columns[1] == 0
    assert (number[~gaps] == columns[0][~gaps]).all()
    assert np.nanmin(columns[0]) <= number.min() <= number.max() <= np.nanmax(columns[0])
    assert set(codes) == {1, 2, 3}
    assert np.mean(codes[lost & ~gaps] == level[lost & ~gaps]) > 0.8
    alone = found.only(np.array([False, True]))
    most = np.bincount(columns[1])[1:].argmax() + 1
    assert set(alone.fill(columns[1:])[0][lost]) == {most}  # nothing else is known
    nothing, same = np.full(30, np.nan), np.where(np.arange(30) < 9, np.nan, 4.0)
    wide = np.zeros(30, dtype=np.uint8)
    found = learn_imputer(
        (nothing, same, wide, wide), ((None, 1), (None, 1), (0, 0), (0, 0)), np.ones(30)
    )
    filled = found.fill((nothing, same, wide, wide))
    assert np.isnan(filled[0]).all()
    assert (filled[1] == 4).all()
    assert not filled[2].any()
    many = [np.arange(30.0)] * (MOST_DIMENSIONS + 1)
    with pytest.raises(OptionError, match="at most 400 numbers"):
        learn_imputer(many, [(None, 1)] * len(many), np.ones(30))


def at_random(n, seed=0):
    """A step in `seen`, beyond which most values of `lost` are missing: complete cases hardly see
    what happens there."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(size=n)
    lost = 0.8 * seen + 0.6 * rng.normal(size=n)
    y = lost + 2 * (seen > 0) + 0.5 * rng.normal(size=n)
    arm = np.where(rng.random(n) < 1 / (1 + np.exp(-3 * lost)), "a", "b")
    noise = rng.normal(size=n)
    whole = pd.DataFrame({"y": y, "lost": lost, "seen": seen, "arm": arm, "noise": noise})
    gone = (seen > 0) & (rng.random(n) < 0.9)
    return whole, whole.assign(lost=whole["lost"].mask(gone))


def test_complete_cases_are_biased_and_imputation_is_not():
    whole, data = at_random(2000)
    columns = tuple(data[name].to_numpy() for name in ("lost", "seen", "noise"))
    found = learn_imputer(columns, [(None, 1)] * 3, np.ones(2000))
    error = whole["lost"].std() / np.sqrt(2000)
    assert abs(found.fill(columns)[0].mean() - whole["lost"].mean()) < 2 * error
    assert abs(data["lost"].mean() - whole["lost"].mean()) > 15 * error
    new = at_random(1000, seed=1)[0]
    fits = {
        rule: treeselect.select("y ~ lost + seen", data, k=2, missing=rule, **QUICK)
        for rule in ("impute", "drop")
    }
    missed = {rule: np.mean((fit.predict(new) - new["y"]) ** 2) for rule, fit in fits.items()}
    assert missed["impute"] - 0.25 < 0.7 * (missed["drop"] - 0.25)  # the variance of the noise


@pytest.fixture(scope="module")
def gaps():
    data = at_random(240, seed=2)[1]
    rng = np.random.default_rng(7)
    return data.assign(arm=data["arm"].mask(rng.random(240) < 0.2))


def test_only_training_rows_are_learned_from_in_folds_too(gaps):
    fold = np.arange(len(gaps)) % 2
    given = {"k": 3, "missing": "impute", "model": "glm", **QUICK}
    inside = treeselect.select("y ~ .", gaps, **given).performance(fold).predictions()
    for own in (0, 1):
        alone = treeselect.select("y ~ .", gaps[fold != own], **given)
        expected = alone.predict(gaps[fold == own]).to_numpy()
        found = inside["predicted"].to_numpy()[fold == own]
        assert np.allclose(found, expected, atol=1e-9)
    fit = treeselect.select("y ~ .", gaps, k=2, missing="impute", **QUICK)
    raw = fit.data.design.problem
    train = fit.data.design.row_weights.only(np.arange(0, 240, 2))
    ready = raw.ready(train)[0]
    own = tuple(column[::2] for column in raw.columns.columns)
    alone = learn_imputer(own, ready.imputer.blocks, np.ones(120))
    assert np.array_equal(ready.imputer.covariance, alone.covariance)
    for filled, before, here in zip(
        ready.columns.columns, raw.columns.columns, alone.fill(own), strict=True
    ):
        assert np.array_equal(filled[::2], here)
        assert np.array_equal(filled[1::2], before[1::2], equal_nan=before.dtype.kind == "f")


def test_the_unit_of_relative_weights_has_no_effect(gaps):
    weight = np.random.default_rng(1).uniform(1, 3, 240)
    given = {"k": 3, "missing": "impute", "model": "glm", "weights_kind": "sampling", **QUICK}
    one, other = (
        treeselect.select("y ~ .", gaps, weights=unit * weight, **given).predict(gaps).to_numpy()
        for unit in (1, 1e-5)
    )
    assert other == pytest.approx(one)


@pytest.mark.parametrize("model", ["stack", "forest", "boosting", "glm", "gam"])
def test_new_rows_are_imputed_by_the_selected_terms_alone(gaps, model, tmp_path):
    given = {"keep": ["lost", "seen"], "missing": "impute", "model": model, **QUICK}
    fit = treeselect.select("y ~ .", gaps, k=2, **given)
    new = gaps.head(60)[list(fit.variables)]
    filled = new.assign(lost=fit._fit.model.imputer.fill(tuple(
        fit.data.design.spec.encode(new, fit.selected)
    ))[[*sorted(fit.selected)].index("lost")])  # fmt: skip
    expected = fit.predict(filled)
    assert np.allclose(fit.predict(new), expected)
    fit.save(tmp_path / "fit.model")
    assert np.array_equal(treeselect.load(tmp_path / "fit.model").predict(new), fit.predict(new))


def test_the_sign_of_a_number_has_no_effect():
    x = np.random.default_rng(1).normal(size=700)
    z = x + np.random.default_rng(2).normal(size=700)
    lost = np.where(np.arange(700) % 4 == 1, np.nan, x)
    one, other = (
        learn_imputer((own, z), ((None, 1), (None, 1)), np.ones(700)).fill((own, z))[0]
        for own in (lost, -lost)
    )
    np.testing.assert_allclose(one, -other, atol=1e-9)


def test_of_a_factor_times_numbers_what_is_missing_is_imputed():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 200))
    data = pd.DataFrame({"y": x, "sex": ["f", "m"] * 100, "x": np.exp(x + z), "z": z})
    whole = data.copy()
    data.loc[:59, "x"], data.loc[50:79, "sex"] = np.nan, None
    right = "sex:poly(log(x), 2) + z + sex:log(x)"
    design = prepare(Request(f"y ~ {right}", missing="impute"), data)
    ready = design.problem.ready(design.row_weights)[0]
    assert ready.imputer.blocks == ((2, 1), (2, 2), (None, 1))
    number, other, *squares, _ = ready.columns.columns
    assert ((number != 0) + (other != 0) == 1).all()  # also where the level is imputed
    assert not number[1:50:2].any()
    assert not other[:50:2].any()
    assert np.corrcoef(number[:50:2], np.log(whole["x"][:50:2]))[0, 1] > 0.5
    assert (np.abs(squares) > 0).sum() == 2 * 200
    assert np.isnan(design.arrays.columns[0][:50]).sum() == 25  # a man has 0 for women
    alone = ready.imputer.only(np.repeat([False, True], [2, 5]))
    assert alone.blocks == ((2, 2), (None, 1))


@pytest.mark.parametrize("method", ["controlburn", "rrf", "gbfs", "lasso", "stepwise", "exchange"])
def test_methods_see_no_missing_value(gaps, method):
    """The answer is that to data that were filled in by the same imputer, for methods that look at
    all rows at once."""
    given = {"seed": 1, "method": method, "k": 2, "resamples": 0, "model": "glm"}
    given |= {"n_trees": 20} if method in ("rrf", "gbfs", "exchange") else {}
    fit = treeselect.select("y ~ .", gaps, missing="impute", **given)
    columns = fit.data.design.problem.ready(fit.data.design.row_weights)[0].columns
    filled = gaps.copy()
    for name, column, n in zip(
        columns.column_names, columns.columns, columns.n_levels, strict=True
    ):
        levels = np.array(sorted(gaps[name].dropna().unique())) if n else None
        filled[name] = column if n is None else levels[column.astype(int) - 1]
    assert set(fit.selected) == set(treeselect.select("y ~ .", filled, **given).selected)


def test_treatments_stand_side_by_side(gaps, snapshot, tmp_path):
    given = {"keep": ["lost", "seen"], "model": "glm", **QUICK}
    fit = treeselect.select("y ~ .", gaps, k=2, **given)
    rules = ("level", "impute", "drop")
    found = treeselect.compare([fit.update(missing=rule) for rule in rules], folds=2, seed=1)
    assert found.tidy().columns.to_list()[3:6] == ["score_3", "difference_2", "difference_3"]
    mean = found.glance().iloc[0]
    assert mean["difference_3"] == pytest.approx(mean["mean_3"] - mean["mean_1"])
    assert mean["mean_2"] > mean["mean_3"]
    n_gaps = int(gaps.drop(columns="y").isna().any(axis=1).sum())
    dropped = fit.update(missing="drop")
    told, curve = dropped.performance(3), dropped.search.learning_curve([0.5, 1.0], folds=3)
    assert 2 * (len(gaps) - n_gaps) == told.n_train.sum() == curve.n_train[1].sum()
    assert told.n_test.sum() == len(gaps)  # all are scored
    assert curve.test_share > curve.ratio == pytest.approx(0.5, abs=0.01)
    both = treeselect.compare("y ~ .", gaps, ["mrmr"], k=1, folds=3, seed=1, missing="drop")
    assert both.n_train.sum() == told.n_train.sum()
    text = " ".join(dropped.summary().as_text().split())
    assert (
        f"{n_gaps} of the rows used with a missing value in a candidate term have no part" in text
    )
    loaded = treeselect.load(dropped.save(tmp_path / "fit.model"))
    assert loaded.summary().as_text() == dropped.summary().as_text()
    assert found.summary().as_text() == snapshot


def test_rows_without_a_term_are_told_and_what_is_refused(gaps):
    data = pd.DataFrame({"x": np.arange(60) % 3, "y": np.random.default_rng(0).normal(size=60)})
    fit = treeselect.select("y ~ C(x, levels=[0, 1])", data, k=1, missing="drop", **QUICK)
    assert fit.data.design.problem.ready(fit.data.design.row_weights)[1].used.sum() == 40
    assert "20 of the rows used with a missing value in a candidate term have" in str(fit.summary())
    assert "20 rows with missing values" in fit.search.citation().methods
    nothing = gaps.assign(noise=gaps["noise"].where(np.arange(240) < 5))
    with pytest.raises(OptionError, match="at least 10 rows"):
        treeselect.select("y ~ .", nothing, k=1, missing="drop", **QUICK)
    with pytest.raises(OptionError, match="`missing` must be one of"):
        treeselect.select("y ~ .", gaps, k=1, missing="mice", **QUICK)
