"""Frames that can't be imputations of the same data are told apart by their number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import DataError, FormulaError, OptionError


def frames(**changes):
    """Three frames of 12 rows, the third with columns changed, or dropped where None."""
    data = pd.DataFrame({"y": np.arange(12) % 5, "x": np.arange(12.0), "site": list("abc") * 4})
    third = data.assign(**{name: value for name, value in changes.items() if value is not None})
    return [data, data, third.drop(columns=[n for n, value in changes.items() if value is None])]


CASES = {
    "fewer rows": lambda: [*frames(), frames()[0].iloc[:11]],
    "no column": lambda: frames(site=None),
    "one column more": lambda: frames(age=1.0, income=2.0),
    "another kind": lambda: frames(x=[str(i % 3) for i in range(12)]),
    "another family": lambda: frames(y=list("ab") * 6),
    "a response less": lambda: frames(y=[None, None, *range(10)]),
    "a response more": lambda: [f.assign(y=y) for f, y in zip(
        frames(), ([None, *range(11)], [None, *range(11)], range(12)), strict=True)],
    "no variation": lambda: frames(y=7),
    "not a table": lambda: [*frames(), 3],
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_differs(case, snapshot):
    with pytest.raises(DataError) as caught:
        treeselect.select("y ~ .", CASES[case](), method="mrmr", k=1)
    assert str(caught.value) == snapshot


def test_classes_that_differ():
    data = [f.assign(y=f["y"] > 2) for f in frames()]
    data[1] = data[1].assign(y=data[1]["site"])
    with pytest.raises(DataError, match=r"binomial in frame 1, multinomial in frame 2"):
        treeselect.select("y ~ x", data, method="mrmr", k=1)
    data = [f.assign(y=list("abc") * 4) for f in frames()]
    data[2] = data[2].assign(y=list("abd") * 4)
    with pytest.raises(DataError, match=r"`a`, `b`, `c` in frame 1, `a`, `b`, `d` in frame 3"):
        treeselect.select("y ~ x", data, method="mrmr", k=1)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([], "a list of 0"), (frames()[:1], "a list of 1"),
    ],
)  # fmt: skip
def test_one_imputation_is_no_list(given, found):
    with pytest.raises(OptionError, match=r"^`data` must") as caught:
        treeselect.select("y ~ .", given)
    assert found in str(caught.value)


def test_what_is_wrong_in_all_frames_names_none():
    with pytest.raises(FormulaError) as caught:
        treeselect.select("y ~ xx", frames())
    assert "frame" not in str(caught.value)


def test_rows_may_lack_a_response_in_all_frames_and_columns_may_change_places():
    data = [f.assign(y=[None, *range(11)]) for f in frames()]
    data[1] = data[1][["site", "x", "y"]]
    found = treeselect.select("y ~ .", data, method="mrmr", k=1)
    assert found.glance()[["n", "n_dropped"]].to_numpy().tolist() == [[11, 1]]
