"""Notes on codes, levels and responses, with advice that works."""

import re

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs.preparing import Request, prepare

N = 30
DATA = pd.DataFrame({"y": np.arange(N) % 2, "x": np.sin(np.arange(N))})


def _notes(frame, formula="y ~ .", **arguments):
    return " ".join(prepare(Request(formula, **arguments), frame).notes)


@pytest.mark.parametrize(
    ("column", "note"),
    [
        (["1", "2", "3", "4", "?"] * 6, "a factor with 5 levels because of '?'"),
        (["1.5", "2", "3", "NA "] * 7 + ["2"] * 2, "because of 'NA '"),
        (["Yes", "Yes ", "no"] * 10, "'Yes', 'Yes ' of `v`"),
        (["a", "A", "b"] * 10, "'A', 'a' of `v`"),
        (["", "a", "b"] * 10, "empty text is a level of `v`"),
        ([*range(20, 48), 999, 999], "999 of `v` in 2 rows"),
        ([*range(20, 49), -9], "-9 of `v` in 1 row"),
        (["1 %", "2 %", "3 %"] * 10, "Numbers as text"),
    ],
)
def test_values_that_deserve_a_second_look(column, note):
    frame = DATA.assign(v=column)
    said = _notes(frame)
    assert note in said
    for way in re.findall(r"`na=(\{.*?\})`", said):
        assert note not in _notes(frame, na=eval(way))
    for way in re.findall(r"`(data\['v'\]\.str[^`]*)`", said):
        assert note not in _notes(frame.assign(v=eval(way, {"data": frame})))
    for way in re.findall(r"`(data\['v'\] = [^`]*)`", said):
        exec(way, {"data": frame, "pandas": pd})
        assert note not in _notes(frame)


@pytest.mark.parametrize(
    "column",
    [range(N), ["a", "b", "c"] * 10, [99.0, 50, 20] * 10, [1, 9] * 15, ["1", "2"] * 15,
     [np.nan, 1, 2] * 10],
)  # fmt: skip
def test_other_values_get_none(column):
    said = _notes(DATA.assign(v=column))
    assert not re.search("codes|copies|may be one|as text", said)


def test_copies_are_named():
    frame = DATA.assign(
        z=DATA["x"], one=list("ab") * 15, other=list("ab") * 15, c=1.0, d=1.0, e=np.nan
    )
    said = _notes(frame)
    assert "Exact copies: `x` = `z`; `one` = `other`." in said


@pytest.mark.parametrize("numbers", [[1, 2], [-1, 1], [1, 2, 3]])
def test_few_numbers_as_the_response(numbers):
    frame = DATA.assign(y=[numbers[i % len(numbers)] for i in range(N)])
    said = _notes(frame)
    assert f"`y` has only {len(numbers)} values" in said
    (family,) = re.findall(r'`family="(\w+)"`', said)
    found = prepare(Request("y ~ x", family), frame)
    assert found.response.classes == tuple(numbers)
    assert "only" not in " ".join(found.notes)
    assert "only" not in _notes(frame, family="gaussian")
    assert "only" not in _notes(frame.assign(y=frame["y"] + 0.5))


def test_classes_that_may_be_one():
    said = _notes(DATA.assign(y=["yes", "Yes ", "no"] * 10))
    assert "Classes that may be one: 'Yes ', 'yes' of `y`" in said


@pytest.mark.parametrize(
    ("right", "noted"), [("-1 + x", True), ("0 + x", True), ("x", False), (". - x", False)]
)
def test_that_an_intercept_stays_is_said(right, noted):
    data = pd.DataFrame({"y": np.arange(20.0) % 7, "x": np.arange(20.0) % 3, "z": np.arange(20.0)})
    fit = treeselect.select(f"y ~ {right}", data, method="mrmr", k=1, seed=1)
    assert any("the intercept is not a term" in note for note in fit.data.design.notes) == noted
    assert "Intercept" in fit.refit("glm").coef.index
