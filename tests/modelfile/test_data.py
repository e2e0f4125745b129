"""Model files of times to an event: the round trip, and records and arrays that are no times."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import FormulaError, ModelFileError

FORMULA = "Surv(begin, end, status == 'dead') ~ . + strata(site)"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame["begin"] = rng.integers(0, 3, 60) * 1.0
    frame["end"] = frame["begin"] + rng.exponential(np.exp(-frame["a"])).round(1) + 0.1
    frame["status"] = rng.choice(["dead", "alive"], 60, p=[0.7, 0.3])
    return frame.assign(site=rng.choice(["Bath", "York"], 60))


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select(FORMULA, data, method="rrf", n_trees=5, k=1, seed=1, progress=False)


@pytest.fixture(scope="module")
def file(fit, tmp_path_factory):
    return fit.save(tmp_path_factory.mktemp("models") / "times", include_data=True)


@pytest.mark.parametrize("include_data", [False, True])
def test_a_round_trip_keeps_times_and_strata(fit, data, include_data, tmp_path):
    loaded = treeselect.load(fit.save(tmp_path / "fit", include_data=include_data))
    ours, theirs = fit.data.design.response, loaded.data.design.response
    assert theirs.follow_up == ours.follow_up
    assert theirs.follow_up.levels == (("Bath",), ("York",))
    assert (theirs.family_text, theirs.in_linear_models) == (
        ours.family_text,
        ours.in_linear_models,
    )
    assert theirs.y.shape == (60 if include_data else 0, 4)
    assert loaded.formula == fit.formula
    assert np.array_equal(loaded.data.design.with_data(data).response.y, ours.y)


def test_a_call_that_was_put_into_the_formula_is_refused(file, tmp_path):
    def edit(document):
        text = document["formula"]["text"]
        document["formula"]["text"] = text.replace("end, status", "open('x')")

    with pytest.raises(FormulaError, match="Can't call `open`"):
        treeselect.load(changed(file, tmp_path, edit))


def changed(file, folder, document=None, array=None, name="y"):
    with zipfile.ZipFile(file) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    if document is not None:
        found = json.loads(content["model.json"])
        document(found["content"])
        content["model.json"] = json.dumps(found).encode()
    if array is not None:
        held = np.load(io.BytesIO(content[f"arrays/{name}.npy"]))
        buffer = io.BytesIO()
        np.save(buffer, array(held))
        content[f"arrays/{name}.npy"] = buffer.getvalue()
    path = folder / "changed"
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in content.items():
            archive.writestr(name, part)
    return path


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("n_rows", 61), ("n_rows", "60"), ("n_rows", True), ("n_events", 0), ("n_events", 61),
        ("n_events", 1), ("median", "a"), ("median", -1.0), ("levels", []),
        ("levels", [["Bath"], ["Bath"]]), ("levels", [["Bath"]]), ("levels", [["Bath"], []]),
        ("levels", [["Bath"], [{}]]), ("levels", [["Bath"], ["York"], ["Leeds"]]),
    ],
)  # fmt: skip
def test_records_that_tell_of_other_times(file, part, value, tmp_path):
    def edit(document):
        document["response"]["follow_up"][part] = value

    with pytest.raises(ModelFileError):
        treeselect.load(changed(file, tmp_path, edit))


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d["response"].update(follow_up=None),
        lambda d: d["response"].update(family="gaussian"),
        lambda d: d["response"].update(family="gaussian", follow_up=None),
        lambda d: d["formula"].update(text="a ~ b + c"),
        lambda d: d["formula"].update(text=d["formula"]["text"].replace("strata(site)", "site")),
    ],
)
def test_families_and_formulas_of_another_response(file, edit, tmp_path):
    with pytest.raises(ModelFileError):
        treeselect.load(changed(file, tmp_path, edit))


@pytest.mark.parametrize(
    "edit",
    [
        lambda y: y[:, 1],
        lambda y: y[:, :3],
        lambda y: y[:-1],
        lambda y: y * np.nan,
        lambda y: y[:, [1, 0, 2, 3]],
        lambda y: y - [0, 0, 0, 1],
        lambda y: y + np.array([0, 0, 0.5, 0]),
        lambda y: y * [1, 1, 1, 0],
    ],
)
def test_arrays_that_are_no_times(file, edit, tmp_path):
    with pytest.raises(ModelFileError):
        treeselect.load(changed(file, tmp_path, array=edit))


@pytest.mark.parametrize(
    ("part", "edit"),
    [
        ("time", lambda t: t[::-1]), ("time", lambda t: t * np.inf), ("time", lambda t: t[1:]),
        ("begin", lambda b: b + 1), ("begin", lambda b: b[::-1]), ("begin", lambda b: b * 1.0),
        ("hazard", lambda h: -h), ("hazard", lambda h: h[::-1]), ("hazard", lambda h: h[:, None]),
        ("level", lambda v: v * np.nan), ("level", lambda v: v[:1]), ("until", lambda u: u[:1]),
        ("until", lambda u: u * np.inf),
    ],
)  # fmt: skip
def test_arrays_that_are_no_baseline_hazard(file, part, edit, tmp_path):
    with pytest.raises(ModelFileError, match="baseline hazard"):
        treeselect.load(changed(file, tmp_path, array=edit, name=f"baseline_{part}"))
