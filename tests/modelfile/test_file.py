"""Model files: what is saved is what is loaded."""

import dataclasses
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest
from quick import changed, traced

import treeselect
from treeselect import errors
from treeselect.algorithms.task import Trace

QUICK = {"method": "controlburn", "forests": 1, "n_trees": 12, "seed": 3}


@pytest.fixture(scope="module")
def fit(families):
    formula, options = FITS["transforms"]
    return treeselect.select(formula, families, seed=1, **options)


def test_a_round_trip_of_a_set_beyond_the_end_of_its_path(tmp_path):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=200)})
    data["b"] = data["a"] + 0.3 * rng.normal(size=200)
    data["y"] = data["a"] - data["b"] + 0.02 * rng.normal(size=200)
    data = data.assign(constant=1.0, empty=None)  # which are not selected with all others
    fit = treeselect.select("y ~ .", data, method="fcbf", k="best", folds=2, seed=1)
    assert np.isnan(fit.search.step.tuning)
    again = treeselect.load(fit.save(tmp_path / "m"))
    assert again.selected == fit.selected
    assert set(fit.selected) == {"a", "b"}


def correlation(y_true, prediction):
    """Not defined for a constant."""
    return float(np.corrcoef(y_true, prediction)[0, 1]) if np.ptp(prediction) > 0 else np.nan


@pytest.mark.parametrize("method", ["exchange", "mrmr", "lasso"])
@pytest.mark.parametrize("scoring", ["accuracy", correlation])
def test_a_round_trip_of_another_score(mixed, method, scoring, tmp_path):
    options = {"method": method, "scoring": scoring, "k": 1, "seed": 1}
    fit = treeselect.select("died ~ signal + noise", mixed, **options)
    assert fit.path["k"].tolist() == [0, 1]
    assert fit.path["train_score"].isna().tolist() == [scoring is correlation, False]
    pd.testing.assert_frame_equal(treeselect.load(fit.save(tmp_path / "m")).path, fit.path)


def test_calls_that_need_the_data_take_them(fit, families, tmp_path):
    again = treeselect.load(fit.save(tmp_path / "m"))
    with pytest.raises(errors.DataError, match="without the data"):
        again.data.design.model_matrix()
    found = again.with_data(families).resample(3).stability.tidy()
    pd.testing.assert_frame_equal(found, fit.resample(3).stability.tidy())
    with pytest.raises(errors.NewDataError, match="must be the data that the model was fitted to"):
        again.with_data(families.head(50)).resample(3)
    for own in (again, fit):
        with pytest.raises(
            errors.NewDataError, match="as many rows, with other values or in another"
        ):
            own.with_data(families[::-1])


def test_the_data_are_kept_if_asked_for(fit, tmp_path):
    again = treeselect.load(fit.save(tmp_path / "m", include_data=True))
    pd.testing.assert_frame_equal(
        again.resample(3).stability.tidy(), fit.resample(3).stability.tidy()
    )
    ours, theirs = again.data.design.model_matrix(), fit.data.design.model_matrix()
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
    without = treeselect.load(fit.save(tmp_path / "n"))
    with pytest.raises(errors.ModelFileError, match="loaded from a file without them"):
        without.save(tmp_path / "o", include_data=True)


def test_no_value_of_the_data_is_in_the_file_unless_asked_for(mixed, tmp_path):
    data = mixed.assign(secret=np.arange(400) + 0.123456789, name="Jane Doe")
    fit = treeselect.select("died ~ signal + site + colour", data, k=2, **QUICK)
    held = gzip.decompress(fit.save(tmp_path / "m").read_bytes())
    assert b"Jane Doe" not in held
    for column in ("signal", "died"):
        assert mixed[column].to_numpy(dtype=float).tobytes() not in held


def test_weights_that_were_an_array_are_asked_for(mixed, tmp_path):
    weights = np.arange(len(mixed)) % 3
    fit = treeselect.select("died ~ signal + site", mixed, k=1, weights=weights, **QUICK)
    again = treeselect.load(fit.save(tmp_path / "m"))
    with pytest.raises(errors.OptionError, match="`weights` must be given: the model was"):
        again.with_data(mixed).resample(2)
    found = again.with_data(mixed, weights=weights).resample(2).stability.tidy()
    pd.testing.assert_frame_equal(found, fit.resample(2).stability.tidy())


def test_the_library_of_the_data_is_remembered(mixed, tmp_path):
    fit = treeselect.select("dose ~ signal + noise", pl.from_pandas(mixed), k=1, **QUICK)
    again = treeselect.load(fit.save(tmp_path / "m"))
    assert isinstance(again.tidy(), pl.DataFrame)
    assert isinstance(again.predict(pl.from_pandas(mixed)), pl.Series)


def test_the_longest_formula_is_kept(mixed, tmp_path):
    mixed = mixed.assign(**{letter * 5_000: mixed["signal"] for letter in "ab"})
    formula = "dose ~ " + " + ".join(list(mixed.columns[-2:]) * 49)
    fit = treeselect.select(formula, mixed, k=1, **QUICK)
    assert treeselect.load(fit.save(tmp_path / "m")).update(data=mixed).selected == fit.selected


def test_trusted_is_never_stored_and_the_guard_runs_again(mixed, tmp_path):
    fit = treeselect.select("dose ~ {signal.abs()} + noise", mixed, k=1, trusted=True, **QUICK)
    path = fit.save(tmp_path / "m")
    held = gzip.decompress(path.read_bytes())
    assert b"trusted" in held.replace(b"\xa7trusted", b"")  # in the words of the call, but no key
    assert b"\xa7trusted" not in held
    with pytest.raises(errors.FormulaError, match="its formula is not allowed"):
        treeselect.load(path)
    again = treeselect.load(path, trusted=True)
    pd.testing.assert_series_equal(again.predict(mixed), fit.predict(mixed))


@pytest.mark.parametrize("kind", ["sampling", "precision", "frequency"])
def test_the_kind_of_weights_is_kept(mixed, tmp_path, kind):
    weights = {"weights": np.arange(len(mixed)) % 3 + 1, "weights_kind": kind}
    fit = treeselect.select("dose ~ signal", mixed, method="mrmr", k=1, **weights)
    again = treeselect.load(fit.save(tmp_path / "m", include_data=True))
    assert again.data.design.row_weights.kind == kind


@pytest.mark.parametrize("labels", [pd.to_datetime(["2020-01-01", "2021-01-01"]), [b"a", b"b"]])
def test_labels_that_a_file_cannot_hold(labels, mixed, tmp_path):
    data = mixed.assign(day=pd.Categorical([*labels] * 200))
    fit = treeselect.select("dose ~ signal + day", data, k=1, **QUICK)
    with pytest.raises(errors.ModelFileError, match="labels must be text, numbers or truth values"):
        fit.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


# --- every family, final model and kind of record ------------------------------------------------


TERMS = "x + log(z) + bs(z, 4, extrapolation='clip') + site + flag + site:flag"

FITS = {
    "number": (
        f"number ~ {TERMS}",
        {"method": "rrf", "n_trees": 5, "resamples": 3, "monotone": {"x": 1}},
    ),
    "two": (f"two ~ {TERMS}", {"method": "mrmr", "labels": {"x": "Score", "site": "Hospital"}}),
    "three": (f"three ~ {TERMS}", {"method": "importance", "n_trees": 5}),
    "count": (f"count ~ {TERMS}", {"method": "mrmr", "offset": "exposure"}),
    "times": (f"Surv(time, event) ~ {TERMS} + strata(ward)", {"method": "mrmr"}),
    "sparse": (f"two ~ {TERMS}", {"method": "controlburn", "forests": 1, "refit": None}),
    "decisions": (
        "number ~ x + z + site + flag",
        {"method": "boruta", "n_trees": 10, "max_rounds": 12, "k": None},
    ),
    "search": ("number ~ x + z + site + flag", {"method": "exchange"}),
    "boosting": (f"two ~ {TERMS}", {"method": "rrf", "n_trees": 5}),
    "rows": (f"number ~ {TERMS}", {"method": "mrmr", "rows": 100}),
    "scores": (f"number ~ {TERMS}", {"method": "mrmr", "k": "1se", "folds": 3}),
    "tests": ("number ~ x + z", {"method": "exchange", "k": "auto"}),
    "transforms": (
        "number ~ x*site + poly(z, 2):flag + C(flag) + scale(z) + hashed(ward, 3) + `odd name`",
        {"method": "controlburn", "forests": 1, "n_trees": 5, "resamples": 3, "k": 6},
    ),
    "prices": (
        "number ~ x + z + site + flag",
        {"method": "controlburn", "forests": 1, "n_trees": 5, "k": "best", "folds": 3,
         "keep": "site", "weights": "copies", "groups": {"g": ["x", "flag"]}, "costs": {"g": 2.0},
         "new_levels": "other"},
    ),
    "real weights": ("two ~ x + z + site", {"method": "mrmr", "weights": "real", "resamples": 3}),
    "nothing": ("number ~ x + z", {"method": "controlburn", "forests": 1, "k": None, "lam": 1e6}),
    "no exchange": ("two ~ x + site", {"method": "mrmr"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def families():
    """The responses of all families, missing values, factors and a stratum."""
    rng = np.random.default_rng(24)
    n = 120
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n), "z": rng.exponential(size=n) + 0.1,
            "site": rng.choice(["Bath", "Leeds", "York"], n), "flag": rng.random(n) < 0.5,
            "exposure": rng.normal(size=n) / 10, "ward": rng.choice(["a", "b"], n),
            "odd name": np.arange(n) % 7, "copies": np.arange(n) % 3, "real": np.linspace(0, 1, n),
        }
    )  # fmt: skip
    eta = frame["x"] + np.log(frame["z"]) + (frame["site"] == "York")
    frame["number"] = eta + rng.normal(size=n) / 3
    frame["two"] = rng.random(n) < 1 / (1 + np.exp(-eta))
    frame["three"] = np.select([eta > 1, eta > 0], ["high", "mid"], "low")
    frame["count"] = rng.poisson(np.exp(eta / 2))
    frame["time"], frame["event"] = rng.exponential(np.exp(-eta)), rng.random(n) < 0.7
    frame.loc[::9, "x"] = np.nan
    frame.loc[::7, "site"] = None
    return frame


@pytest.mark.parametrize("name", FITS)
def test_a_round_trip_of_every_kind(families, name, tmp_path):
    formula, options = FITS[name]
    fit = treeselect.select(formula, families, **{"k": 2, "seed": 1} | options)
    fit = fit.refit("boosting") if name == "boosting" else fit
    if name == "no exchange":
        fit = changed(fit, step=dataclasses.replace(fit.search.step, trace=Trace((), (), 0, 0)))
    new = families.sample(frac=1, random_state=0).assign(ward="a")
    for include_data in (False, True):
        again = treeselect.load(fit.save(tmp_path / "m", include_data=include_data))
        for kind in ("response", "link") + ("class",) * (fit.family == "binomial"):
            assert again.predict(new, kind).equals(fit.predict(new, kind))
        assert again.data.design.response.follow_up == fit.data.design.response.follow_up
        assert again.data.design.sample == fit.data.design.sample
        assert_same_words(again, fit, NO_NAMES, ("tidy", "glance", "summary"))
        assert_same_words(again._fit, fit._fit, NO_NAMES)
        assert_same_words(again.search, fit.search, NO_NAMES, TABLES)
        if "resamples" in options:
            assert_same_words(again.stability, fit.stability, MEASURED, ("summary",))
        ours, theirs = again.data.design.with_data(families), fit.data.design
        np.testing.assert_array_equal(ours.response.y, theirs.response.y)
        np.testing.assert_array_equal(ours.weight, theirs.weight)
        assert ours.labels == theirs.labels
        twice = again.save(tmp_path / "n", include_data=include_data)
        assert twice.read_bytes() == (tmp_path / "m").read_bytes()
    assert again.report(tmp_path / "r.html").exists()


def test_a_round_trip_of_the_trace_of_a_search(mixed, tmp_path):
    fit = traced(mixed)
    again = treeselect.load(fit.save(tmp_path / "m"))
    assert again.search.step.trace == fit.search.step.trace
    assert_same_words(again.search, fit.search, NO_NAMES, (*TABLES, "alternatives"))


NO_NAMES = {"n_jobs", "progress", "design", "model", "resampled", "call", "chosen_method", "choice",
            "step", "steps", "effect_record", "baseline", "scores", "asked", "source", "search",
            "data", "given", "method"}  # fmt: skip
"""Records of the parts of a fit, which its tables and predictions are read from."""

MEASURED = {"association", "measured_places", "measured_associations"}
"""Functions of the columns, and what a file stores of their answers."""

TABLES = ("importance_path", "history", "exchanges")


def public(found, skipped=frozenset()):
    """Names of all properties and fields of a record."""
    names = {name for name in dir(type(found)) if not name.startswith("_")} - skipped
    return sorted(name for name in names if not callable(getattr(type(found), name)))


def said(found, name):
    """A value or table as text, or the error instead of it."""
    try:
        value = getattr(found, name)
        value = value() if callable(value) else value
    except errors.TreeselectError as error:
        return str(error)
    return value.to_csv() if hasattr(value, "to_csv") else str(value)


def assert_same_words(one, other, skipped, more=()):
    """All that is public, and what some methods return."""
    for name in (*public(other, skipped), *more):
        assert said(one, name) == said(other, name), name
