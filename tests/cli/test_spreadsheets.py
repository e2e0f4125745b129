"""Labels that a spreadsheet would run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from treeselect.cli.output import guard_formulas
from treeselect.shown import guarded

RUN = ("=1+1", "=HYPERLINK(\"x\")", "+cmd", "-cmd|' /C calc'!A0", "@SUM(A1)", "\tx", "\rx", " =1",
       "\N{FULLWIDTH EQUALS SIGN}1", "-", "- none", "+1 day", "|x", "%x", "\nx")  # fmt: skip
PLAIN = ("yes", "", "a=1", "1-2", "'", "-1", "+1", "-1.5e-3", "-.5", "+1.", "0")


@pytest.mark.parametrize("text", RUN)
def test_formulas_get_an_apostrophe(text):
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_and_numbers_stay(text):
    assert guarded(text) == text


@pytest.mark.parametrize("kind", [object, "str", "category"])
def test_a_table(kind):
    labels = pd.Series(["=1", "ok", None, "-2"], dtype=kind)
    frame = pd.DataFrame({"@name": labels, "x": [-1.5, np.nan, 1e300, -0.0], "n": [-1, 2, 3, 4]})
    done = guard_formulas(frame)
    assert list(done.columns) == ["'@name", "x", "n"]
    assert done["'@name"].tolist()[:2] == ["'=1", "ok"]
    assert done["'@name"].tolist()[3] == "-2"
    assert done["'@name"].isna().tolist() == [False, False, True, False]
    pd.testing.assert_frame_equal(done[["x", "n"]], frame[["x", "n"]])
    assert list(frame.columns) == ["@name", "x", "n"]
