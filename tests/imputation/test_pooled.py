"""The pooled linear model: R's mice, refusals, and what it says."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import DataError, TreeselectWarning
from treeselect.imputation.pooled import table_rows

REFERENCE = Path(__file__).parents[1] / "reference"

QUICK = {"method": "importance", "n_trees": 2, "seed": 1}


def mice_frames():
    long = pd.read_csv(REFERENCE / "imputed_data.csv")
    return [part.drop(columns=[".imp", ".id"]) for _, part in long.groupby(".imp")]


def select_all(formula, frames, k, **options):
    return treeselect.select(formula, frames, k=k, **QUICK | options)


@pytest.mark.parametrize("response", ["number", "two", "count"])
def test_numbers_of_mice(response):
    family = "poisson" if response == "count" else "auto"
    found = select_all(f"{response} ~ x + z + site", mice_frames(), 3, family=family)
    mine = found.pooled().tidy().set_index("column")
    theirs = pd.read_csv(REFERENCE / "imputed.csv").query("response == @response")
    names = theirs["term"].replace({"(Intercept)": "Intercept"})
    theirs = theirs.set_index(names.str.replace(r"site (\w+)", r"site[T.\1]", regex=True))
    assert set(mine.index) == set(theirs.index)
    columns = {
        "estimate": "estimate", "std_error": "std_error", "statistic": "statistic", "df": "df",
        "p_value": "p_value", "ci_low": "2_5 %", "ci_high": "97_5 %", "riv": "riv", "fmi": "fmi",
    }  # fmt: skip
    for own, other in columns.items():
        # Iterations of generalised linear models end at 1e-8 of the deviance.
        np.testing.assert_allclose(mine[own], theirs.loc[mine.index, other], rtol=1e-5, err_msg=own)


def test_the_full_text(snapshot):
    found = select_all("number ~ x + z + scale(x) - x", mice_frames(), 2)
    fit = found.pooled()
    table = fit.table.assign(
        estimate=[0.25, -2.5, 12.5], std_error=[0.5, 0.125, 2.0], statistic=[0.5, -20.0, 6.25],
        df=[12.0, 1234567.0, 48.25], p_value=[0.6261, 0.0, 1e-5], ci_low=[-0.8394, -2.745, 8.48],
        ci_high=[1.339, -2.255, 16.52], riv=[0.5, 0.0, 0.125], fmi=[0.4375, 0.0, 0.15],
    )  # fmt: skip
    made = dataclasses.replace(fit.content, rows=table_rows(table))
    assert dataclasses.replace(fit, content=made).summary().as_text() == snapshot
    assert repr(fit) == "<PooledFit over 4 frames of 60 rows, 0 dropped>"


def test_nothing_selected_leaves_the_intercept():
    rng = np.random.default_rng(3)
    frames = [pd.DataFrame({"y": rng.normal(size=30), "x": rng.normal(size=30)}) for _ in range(2)]
    found = treeselect.select("y ~ x", frames, method="stepwise", seed=1)
    assert found.selected == ()
    table = found.pooled().tidy()
    assert table["column"].tolist() == ["Intercept"]
    assert table["estimate"][0] == pytest.approx(np.mean([frame["y"].mean() for frame in frames]))


def test_a_level_that_one_imputation_lacks():
    frames = mice_frames()
    frames[2] = frames[2].assign(site=frames[2]["site"].replace("York", "Bath"))
    found = select_all("number ~ x + site", frames, 2)
    with pytest.raises(DataError) as caught:
        found.pooled()
    assert str(caught.value) == (
        "Pooling needs the same coefficients of the linear model in all frames.\n"
        "  Found: `site[T.York]` in frame 1 and not in frame 3.\n"
        "  A level that only some imputations contain makes such a difference: combine rare levels,"
        " or use frames that contain all levels."
    )


def test_values_that_are_still_missing():
    frames = [frame.assign(x=frame["x"].mask(frame.index % 60 < 3)) for frame in mice_frames()]
    found = select_all("number ~ x", frames, 1)
    fit = found.pooled()
    assert (fit.n_used, fit.n_dropped) == (57, 3)
    frames[1] = frames[1].assign(x=frames[1]["x"].fillna(0.0))
    for order, where in ((frames, (1, 2)), (frames[::-1], (4, 3))):
        found = select_all("number ~ x", order, 1)
        with pytest.raises(DataError, match=r"complete selected terms in the same rows") as caught:
            found.pooled()
        assert "3 rows with a missing value in frame 1, complete in frame" in str(caught.value)
        assert f"complete in frame {where[1]}." in str(caught.value)


def test_problems_name_their_frames():
    frames = mice_frames()
    frames[1] = frames[1].assign(two=(frames[1]["x"] > 0).astype(int))
    found = select_all("two ~ x", frames, 1)
    with pytest.warns(TreeselectWarning, match=r"\(Frame 2\.\)"):
        fit = found.pooled()
    assert any("(Frame 2.)" in note for note in fit.content.notes)


def test_more_than_two_classes():
    frames = [f.assign(kind=pd.cut(f["z"], [-9, -0.5, 0.5, 9]).astype(str)) for f in mice_frames()]
    table = select_all("kind ~ x", frames, 1).pooled().tidy()
    assert len(table) == 4
    assert table["std_error"].notna().all()
