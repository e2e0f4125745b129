"""Models in ONNX predict what the fit predicts, in onnxruntime."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    n = 120
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "z": rng.exponential(size=n) + 0.1,
            "site": rng.choice(["a", "b", "c"], n),
            "flag": rng.random(n) < 0.5,
        }
    )
    eta = frame["x"] + np.log(frame["z"]) + (frame["site"] == "a")
    frame["number"] = eta + rng.normal(size=n) / 3
    frame["two"] = rng.random(n) < 1 / (1 + np.exp(-eta))
    frame["three"] = np.select([eta > 1, eta > 0], ["high", "mid"], "low")
    frame.loc[::9, "x"] = np.nan
    frame.loc[::7, "site"] = None
    return frame


def predicted(path, new):
    """What onnxruntime predicts; a missing text is empty."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    columns = {}
    for column in session.get_inputs():
        own = new[column.name]
        own = own.fillna("").astype(object) if own.dtype.kind not in "fb" else own.astype(float)
        columns[column.name] = own.to_numpy().reshape(-1, 1)
    return session.run(None, columns)[0]


@pytest.mark.parametrize(
    ("response", "model"), [("number", "forest"), ("two", "boosting"), ("three", "boosting")]
)
def test_onnx_predicts_the_same(frame, tmp_path, response, model):
    formula = f"{response} ~ x + log(z) + site + flag + x:z"
    fit = treeselect.select(formula, frame, method="rrf", n_trees=5, k=5, seed=1)
    fit = fit.refit(model) if model == "boosting" else fit
    expected = np.asarray(fit.predict(frame), dtype=np.float64).reshape(len(frame), -1)
    found = predicted(fit.export(tmp_path / "m.onnx"), frame)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    new = frame.head(3).assign(site=["new", "a", None])
    known = np.isfinite(predicted(tmp_path / "m.onnx", new)).all(axis=1)
    assert known.tolist() == [False, True, True]


def test_factors_of_numbers_are_refused(frame, tmp_path):
    fit = treeselect.select("number ~ C(flag):site", frame, method="rrf", n_trees=5, k=1, seed=1)
    with pytest.raises(OptionError, match="to ONNX"):
        fit.export(tmp_path / "m.onnx")
