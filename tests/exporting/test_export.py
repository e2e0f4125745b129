"""Exported models predict what the fit predicts, without treeselect."""

from __future__ import annotations

import runpy
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError

QUICK = {"method": "rrf", "n_trees": 5, "seed": 1}
ODD = "q\"u'o; drop"
TERMS = f"x + log(z) + scale(z) + `{ODD}` + flag + C(num) + I(x * z) + `{ODD}`:C(num)"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    n = 150
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "z": rng.exponential(size=n) + 0.1,
            ODD: rng.choice(["a", "b'c", '"d"'], n),
            "flag": rng.random(n) < 0.5,
            "num": rng.integers(0, 4, n),
            "exposure": rng.normal(size=n) / 10,
            "id": np.arange(n),
        }
    )
    eta = frame["x"] + np.log(frame["z"]) + (frame[ODD] == "a") - frame["flag"] + 0.3 * frame["num"]
    frame["number"] = eta + rng.normal(size=n) * 0.3
    frame["two"] = rng.random(n) < 1 / (1 + np.exp(-eta))
    frame["three"] = np.select([eta > 1, eta > 0], ["high", "mid"], "low")
    frame["count"] = rng.poisson(np.exp(eta / 2))
    frame["time"], frame["event"] = rng.exponential(np.exp(-eta)), rng.random(n) < 0.7
    frame.loc[::9, "x"] = np.nan
    frame.loc[::7, ODD] = None
    return frame


CASES = {
    "number": ("number", "forest", {}),
    "two": ("two", "boosting", {"new_levels": "other"}),
    "three": ("three", "forest", {"new_levels": "missing"}),
    "three boosted": ("three", "boosting", {}),
    "count": ("count", "forest", {"offset": "exposure"}),
    "times": ("Surv(time, event)", "boosting", {}),
}


@pytest.fixture(scope="module", params=CASES)
def fit(request, frame):
    response, model, options = CASES[request.param]
    found = treeselect.select(f"{response} ~ {TERMS}", frame, k=8, **QUICK, **options)
    return found.refit(model) if model == "boosting" else found


@pytest.fixture(scope="module")
def new(fit, frame):
    """New rows, some with a level that the fit has not."""
    found = frame.drop(columns=["number", "two", "three", "count", "time", "event"])
    if fit.design.spec.new_levels != "error":
        found = found.astype({ODD: object})
        found.loc[3:6, ODD] = "new"
    return found


def wanted(fit, new):
    return np.asarray(fit.predict(new), dtype=np.float64).reshape(len(new), -1)


def in_sqlite(query, new):
    """The answer of SQLite, which Python has."""
    with closing(sqlite3.connect(":memory:")) as connection:
        new.to_sql("rows", connection, index=False)
        return pd.read_sql(query, connection).sort_values("id", ignore_index=True)


def test_python_predicts_the_same(fit, new, tmp_path):
    model = runpy.run_path(str(fit.export(tmp_path / "model.py")))
    found = model["predict_rows"](new.to_dict("records"))
    if isinstance(found[0], dict):
        assert list(found[0]) == list(fit.predict(new).columns)
        found = [list(row.values()) for row in found]
    np.testing.assert_allclose(
        np.array(found).reshape(len(new), -1), wanted(fit, new), rtol=1e-9, atol=1e-12
    )  # only the order of sums differs


def test_sql_predicts_the_same(fit, new, tmp_path):
    path = fit.export(tmp_path / "model.sql", table="rows", columns="id")
    found = in_sqlite(path.read_text(), new).drop(columns="id")
    expected = wanted(fit, new)
    assert list(found) == (["prediction"] if expected.shape[1] == 1 else list(fit.predict(new)))
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def plain(frame):
    return treeselect.select(f"number ~ log(z) + `{ODD}`", frame, k=2, **QUICK)


def test_new_levels_and_infinite_terms_have_no_prediction(plain, frame, tmp_path):
    new = frame.head(4).assign(z=[1.0, 0.0, 1.0, np.nan])
    new.loc[2, ODD] = "new"
    model = runpy.run_path(str(plain.export(tmp_path / "model.py")))
    for row in (1, 2):
        with pytest.raises(ValueError, match=r"math domain|new level"):
            model["predict"](new.iloc[row].to_dict())
    with pytest.raises(ValueError, match="columns are missing: z"):
        model["predict"]({ODD: "a"})
    path = plain.export(tmp_path / "model.sql", table="rows", columns=["id"])
    found = in_sqlite(path.read_text(), new)["prediction"]
    assert found.isna().tolist() == [False, True, True, False]


def test_names_are_quoted(plain, tmp_path):
    path = plain.export(tmp_path / "m.sql", table=('a"b', "rows; drop table x"))
    text = path.read_text()
    assert 'FROM "a""b"."rows; drop table x" AS t' in text
    assert f't."{ODD.replace(chr(34), chr(34) * 2)}"' in text
    assert "'b''c'" in text


def test_models_of_rounded_numbers_keep_their_thresholds():
    from treeselect.exporting.program import _unrounded
    from treeselect.models.importing import ImportedBins

    rng = np.random.default_rng(2)
    edges = np.sort(rng.normal(size=40))
    edges[::2] = edges[::2].astype(np.float32)
    bins = ImportedBins((edges,), np.array([0]), 1, True)
    exact = _unrounded(bins, edges)
    near = np.concatenate([np.nextafter(exact, side) for side in (-np.inf, np.inf)] + [exact])
    rounded = near.astype(np.float32).astype(np.float64)
    np.testing.assert_array_equal(near[:, None] <= exact, rounded[:, None] <= edges)


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("m.txt", {}, "`path` must end in"),
        ("m.sql", {}, "`table` must be a name"),
        ("m.sql", {"table": "t", "columns": [1]}, "`columns` must be a name"),
        ("m.py", {"table": "t"}, "are for SQL only"),
    ],
)
def test_what_does_not_suit_is_refused(plain, tmp_path, path, options, message):
    with pytest.raises(OptionError, match=message):
        plain.export(tmp_path / path, **options)


@pytest.mark.parametrize(
    "term", ["poly(z, 2)", "I(z > 1)", "x:flag:C(num)", "C(num, levels=[0, 1, 2, 3])"]
)
def test_terms_without_a_translation_are_named(frame, tmp_path, term):
    fit = treeselect.select(f"number ~ {term}", frame, k=1, **QUICK)
    with pytest.raises(OptionError, match=r"Can't export the term") as caught:
        fit.export(tmp_path / "m.py")
    assert term.split(":")[0] in str(caught.value)


def test_the_offset_must_be_a_column(frame, tmp_path):
    offset = frame["exposure"].to_numpy()
    fit = treeselect.select("count ~ z", frame, k=1, offset=offset, **QUICK)
    with pytest.raises(OptionError, match="read its offset from a column"):
        fit.export(tmp_path / "m.py")
