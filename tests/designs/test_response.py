"""Family, classes and rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from treeselect.designs.response import read_response
from treeselect.errors import DataError, OptionError
from treeselect.formula import parse_formula


def response(values, family="auto", left="y"):
    frame = pd.DataFrame({"y": values, "x": range(len(values))})
    return read_response(
        parse_formula(f"{left} ~ x", ["y", "x"]), frame, family, np.ones(len(frame))
    )


@pytest.mark.parametrize(
    ("values", "family", "classes", "y"),
    [
        ([0, 1, 1], "binomial", (0, 1), [0, 1, 1]),
        ([0.0, 1.0, np.nan], "binomial", (0, 1), [0, 1]),
        ([True, False, True], "binomial", (False, True), [1, 0, 1]),
        (["no", "yes", "no"], "binomial", ("no", "yes"), [0, 1, 0]),
        (["yes", None, "no"], "binomial", ("no", "yes"), [1, 0]),
        (pd.Categorical(["b", "a", "b"], ["b", "a"]), "binomial", ("b", "a"), [0, 1, 0]),
        (pd.Categorical(["b", "a", "b"], ["b", "z", "a", "q"]), "binomial", ("b", "a"), [0, 1, 0]),
        ([1, 2, 2], "gaussian", (), [1, 2, 2]),
        ([0.5, 1, 0], "gaussian", (), [0.5, 1, 0]),
        (pd.array([True, None, False], dtype="boolean"), "binomial", (False, True), [1, 0]),
        (pd.array([1, None, 0], dtype="Int64"), "binomial", (0, 1), [1, 0]),
        (pd.array(["b", None, "a"], dtype="string"), "binomial", ("a", "b"), [1, 0]),
        (pd.Categorical([1, 2, None], [2, 1]), "binomial", (2, 1), [1, 0]),
        (pd.Series([True, None, False], dtype=object), "binomial", (False, True), [1, 0]),
        ([3, None, 7, 8], "gaussian", (), [3, 7, 8]),
        ([-1, 1, 1], "gaussian", (), [-1, 1, 1]),
        (["b", "c", None, "a", "b"], "multinomial", ("a", "b", "c"), [1, 2, 0, 1]),
        (
            pd.Categorical(["b", "a", "c"], ["c", "z", "b", "a"]),
            "multinomial",
            ("c", "b", "a"),
            [1, 2, 0],
        ),
    ],
)
def test_f13_family_and_classes_are_found(values, family, classes, y):
    found = response(values)
    assert found.family.name == family
    assert found.classes == classes
    assert found.y.tolist() == y
    assert found.n_dropped == len(values) - len(y)


def test_family_can_be_asked_for():
    assert response([0, 1, 1], "gaussian").family.name == "gaussian"
    two = response([1, 2, 2], "binomial")
    assert (two.family.name, two.classes, two.y.tolist()) == ("binomial", (1, 2), [0, 1, 1])
    three = response([5, 1, 2, 1], "multinomial")
    assert (three.family.name, three.classes) == ("multinomial", (1, 2, 5))
    assert three.y.tolist() == [2, 0, 1, 0]
    assert response(["a", "b"], "multinomial").family.name == "binomial"
    counts = response([0, 3, 1], "poisson")
    assert (counts.family.name, counts.classes, counts.reason) == ("poisson", (), "as specified")


def test_expressions_on_the_left():
    assert response([1.0, 10.0, 100.0], left="log10(y)").y.tolist() == pytest.approx([0, 1, 2])
    over = response([1.0, 10.0, np.nan], left="I(y > 3)")
    assert (over.family.name, over.classes, over.n_dropped) == ("binomial", (False, True), 1)


@pytest.mark.parametrize(
    ("values", "family", "error", "says"),
    [
        (["a", "a"], "auto", DataError, "must have at least two classes.\n  Found: only 'a'"),
        ([1, 1], "auto", DataError, "Found: only 1"),
        ([True, True], "auto", DataError, "Found: only True"),
        ([3.5, 3.5], "auto", DataError, "must vary"),
        ([np.nan, np.nan], "auto", DataError, "Found: none"),
        ([None, None], "auto", DataError, "only missing values"),
        (["a", None], "auto", DataError, "Found: only 'a'"),
        ([0, 0], "binomial", DataError, "Found: only 0"),
        (pd.Categorical(["a", "a"], ["a", "b"]), "auto", DataError, "Found: only 'a'"),
        (["a", "b", "c"], "binomial", OptionError, "has 3: `a`, `b`, `c`"),
        ([str(i) for i in range(300)], "auto", DataError, "at most 255 classes"),
        (["a", "b", "c"], "poisson", OptionError, "needs a numeric response"),
        (pd.to_datetime(["2020", "2021"]), "auto", DataError, "dates or times"),
        ([1.0, np.inf], "auto", DataError, "`y` must be finite"),
        ([1, 2, 3], "binomial", OptionError, 'write `family="multinomial"`'),
        ([1.0, 1e200], "auto", DataError, "at most 1e\\+70 in absolute value"),
        ([1.0, -1e90], "auto", DataError, "at most 1e\\+70 in absolute value"),
        ([3e-90, -1e-90], "auto", DataError, "must reach an absolute value of 1e-70"),
        (["a", "b"], "gaussian", OptionError, "needs a numeric response"),
        ([1, 2.5], "poisson", OptionError, "Found: 2.5 in `y`. To model rates"),
        ([1, -1], "poisson", OptionError, "non-negative whole numbers"),
        ([0, 0], "poisson", DataError, "must vary"),
        ([1, 2], "normal", OptionError, "must be one of"),
    ],
)
def test_responses_that_cannot_be_used(values, family, error, says):
    with pytest.raises(error, match=says):
        response(values, family)


def test_rows_that_are_used_are_those_with_a_response():
    found = response([np.nan, 3.0, np.nan, 5.0, 4.0])
    assert (found.rows.tolist(), found.n_dropped) == ([1, 3, 4], 2)
    over = response([1.0, np.nan, 9.0], left="I(y > 3)")
    assert (over.rows.tolist(), over.y.tolist()) == ([0, 2], [0, 1])


def test_f13_the_reason_names_the_response():
    assert response(["a", "b"]).reason == "`y` is text with two classes"
    assert response(pd.Categorical(["a", "b"])).reason == "`y` is categorical with two classes"
    assert response([True, False]).reason == "`y` is logical"
    assert response([0, 1]).reason == "`y` is 0 or 1"
    assert response([0, 2]).reason == "`y` is numeric"
    assert response([0, 1], "gaussian").reason == "as specified"


def test_a_response_is_not_to_be_left_out():
    with pytest.raises(DataError) as error:
        response(pd.to_datetime(["2020", "2021"]))
    assert "leave it out" not in str(error.value)
