"""Numbers near the ends of what a number can hold: an answer or an error, and no warning."""

import dataclasses
import math
import sys
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from quick import WITH_GAPS

import treeselect
from treeselect.errors import DataError, NewDataError, OptionError
from treeselect.figures.axes import nice_ticks, position, tick_labels
from treeselect.figures.shapes import Curve, CurvePoint, panels
from treeselect.figures.svg import drawn

pytestmark = WITH_GAPS


N = 30
MOST = sys.float_info.max
LEAST = 5e-324
UNITS = {"largest": 1.7e308, "huge": 1e300, "tiny": 1e-300, "least": LEAST}


def data(unit: float) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    u = rng.uniform(-1, 1, size=N)
    x = np.round(8 * u) * unit if unit < 1e-310 else u * unit
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=N), "label": np.where(u > 0, "b", "a")})
    frame["y"] = u + 0.1 * frame["z"]
    frame["missing"] = frame["x"].where(frame["z"] > -1)
    return frame


@pytest.mark.parametrize("unit", UNITS)
def test_a_fit_is_reported_and_drawn(unit, tmp_path):
    frame = data(UNITS[unit])
    fit = treeselect.select(
        "y ~ x + missing + z", frame, method="rrf", k=3, seed=1, n_trees=5, keep=["x", "missing"]
    )
    shape = fit.model.shape("x")
    assert np.isfinite(shape["x"]).all()
    assert shape["x"].between(frame["x"].min(), frame["x"].max()).all()
    page = fit.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert not {"nan", "inf"} & set(page.replace("-", " ").replace('"', " ").split())
    pytest.importorskip("matplotlib").use("svg")
    import matplotlib.pyplot as plt

    every = [{"term": "x"}, {"term": "missing"}, {"term": "x", "other": "z"}]
    if unit == "largest":
        with pytest.raises(OptionError, match=r"can't draw values beyond 1e\+300"):
            fit.plot("shape", term="x")
        every = every[2:]
    for terms in every:
        ax = fit.plot("shape", **terms)
        ax.figure.savefig(tmp_path / "figure.svg")
        plt.close(ax.figure)
        ElementTree.parse(tmp_path / "figure.svg")
    with pytest.raises(DataError, match=r"absolute value from 1e-100 to 1e\+100(.|\n)*`x`"):
        fit.refit("glm")


@pytest.mark.parametrize("method", ["svm_rfe", "lasso", "stepwise", "rrf", "mrmr"])
@pytest.mark.parametrize("response", ["y", "label"])
def test_products_that_overflow_are_refused_by_name(method, response):
    frame = data(1e300).assign(w=1e200)
    with pytest.raises(DataError, match=r"products of `x:w` must be finite(.|\n)*30 rows"):
        treeselect.select(f"{response} ~ x*w + z", frame, method=method, k=1, seed=1)
    assert treeselect.select(
        f"{response} ~ I(x / 1e200):w + z", frame, method=method, k=1, seed=1
    ).selected


def test_products_of_new_data_that_overflow_are_refused_and_nothing_times_infinity_is_none():
    frame = data(1e300).assign(w=1e200, zero=0.0)
    with pytest.raises(DataError, match=r"products of `w:x:zero` must be finite|`x:w:zero`"):
        treeselect.select("y ~ x:w:zero + z", frame, method="rrf", k=1, seed=1, n_trees=3)
    frame = data(1.0)
    fit = treeselect.select("y ~ x:z", frame, method="rrf", k=1, seed=1, n_trees=3)
    with pytest.raises(NewDataError, match="products of `x:z` must be finite"):
        fit.predict(frame.assign(x=1e308, z=1e10))


@pytest.mark.parametrize(
    ("argument", "pair", "found"),
    [
        ("weights", [1.7e308, 1.7e308], r"must be from 1e-70 to 1e\+70"),
        ("weights", [1.5e100, 1.5e100], r"must be from 1e-70 to 1e\+70"),
        ("weights", [0.5, 1e300], r"must be from 1e-70 to 1e\+70"),
        ("offset", [1.7e308, 1.7e308], "must be at most 1e.70 in absolute value"),
        ("offset", [-1e300, -1e300], "must be at most 1e.70 in absolute value"),
    ],
)
def test_weights_and_offsets_have_an_end(argument, pair, found):
    with pytest.raises(OptionError, match=found):
        treeselect.select("y ~ z", data(1.0), **{argument: pair * (N // 2)})


# --- axes ----------------------------------------------------------------------------------------

RANGES = [
    (0.0, 1.0), (-MOST, MOST), (0.0, MOST), (-1.7e308, 1e308), (1e300, 1.1e300), (0.0, LEAST),
    (-LEAST, 3 * LEAST), (0.0, 1e-310), (1e-300, 3e-300), (1.0, math.nextafter(1.0, 2.0)),
    (5.0, 5.0), (1e17, 1e17), (MOST, MOST), (-MOST, -MOST), (0.0, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("about", [1, 2, 4, 5])
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_ticks_and_places_are_numbers(low, high, about):
    ticks = nice_ticks(low, high, about)
    assert ticks
    assert len(ticks) <= 2 * about + 4
    assert ticks == sorted(set(ticks))
    assert all(map(math.isfinite, ticks))
    assert len(tick_labels(ticks)) == len(ticks)
    assert position(low, low, high) in (0.0, 0.5)
    assert position(high, low, high) in (1.0, 0.5)
    assert 0 <= position(low / 2 + high / 2, low, high) <= 1


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_panels_have_places(low, high, missing):
    values = [low * (1 - share / 8) + high * (share / 8) for share in range(9)]
    points = [CurvePoint(v, f"{v:.3g}", 0.1, float(i), False) for i, v in enumerate(values)]
    if missing:
        points.append(CurvePoint(None, "missing", 0.1, 0.5, True))
    (panel,) = panels([Curve("x", "x", True, "mean response", tuple(points), 0)])
    svg = ElementTree.fromstring(drawn(dataclasses.replace(panel, key="id")))
    places = [float(text.get("x")) for text in svg.iter("text")]
    places += [float(own.get("d").split()[0][1:]) for own in svg.iter("path")]
    assert all(0 <= place <= 320 for place in places), places
