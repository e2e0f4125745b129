"""All problems of the data in one error, with advice that works."""

import re

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs.preparing import Request, prepare
from treeselect.errors import DataError, FormulaError, NewDataError
from treeselect.frames.values import number_text

N = 24
DATA = pd.DataFrame({"y": [0, 1] * (N // 2), "x": np.arange(N) * 1.5, "cat": list("abc") * 8})


def _prepared(frame, formula="y ~ .", **arguments):
    return prepare(Request(formula, **arguments), frame)


def _refused(frame, formula="y ~ ."):
    with pytest.raises(DataError) as error:
        _prepared(frame, formula)
    return str(error.value)


NUMBER_TEXTS = {
    "percent": ([f"{i} %" for i in range(N)], [float(i) for i in range(N)]),
    "decimal commas": ([f"{i},5" for i in range(N)], [i + 0.5 for i in range(N)]),
    "currency": ([f"€ {i}" for i in range(N)], [float(i) for i in range(N)]),
    "thousands": ([f"{i + 1},000" for i in range(N)], [1000.0 * (i + 1) for i in range(N)]),
    "both": ([f"1.{i + 100},5 €" for i in range(N)], [1100.5 + i for i in range(N)]),
    "units": ([f"-{i}.5kg" for i in range(N)], [-i - 0.5 for i in range(N)]),
    "codes": ([*(f"{i}.5" for i in range(N - 1)), "?"], [*(i + 0.5 for i in range(N - 1)), np.nan]),
}


@pytest.mark.parametrize("case", NUMBER_TEXTS)
@pytest.mark.parametrize("dtype", ["object", "string"])
def test_numbers_as_text_say_how_to_convert(case, dtype):
    text, numbers = NUMBER_TEXTS[case]
    frame = DATA.assign(v=pd.Series(text, dtype=dtype))
    frame.loc[0, "v"] = None
    said = _refused(frame, "y ~ v + cat")
    assert "`v` holds numbers as text" in said
    assert "To leave it out: `y ~ cat`." in said
    if case == "codes":
        assert "`na={'v': ['?']}`" in said
        kept = _prepared(frame, "y ~ v + cat", na={"v": ["?"]})
        assert kept.spec.schema["v"] == "number"
    (way,) = re.findall(r"`(data\['v'\] = [^`]*)`", said)
    exec(way, {"data": frame, "pandas": pd})
    found = frame["v"].astype(float).tolist()
    np.testing.assert_array_equal(found, [np.nan, *numbers[1:]])


@pytest.mark.parametrize(
    "levels",
    [[f"key{i}" for i in range(9)], ["12a", "12b", "7c", "9d"], ["1", "2", "a"], ["2020-01-02"] * 3,
     ["a", "b"], [], [f"id {i}" for i in range(9)]],
)  # fmt: skip
def test_other_text_is_no_number(levels):
    assert number_text(levels) is None


def test_all_problems_stand_in_one_error():
    frame = DATA.assign(
        day=pd.to_datetime(["2020-01-01"] * N), far=np.inf, key=[f"k{i}" for i in range(N)],
        price=[f"{i} €" for i in range(N)], y="one",
    )  # fmt: skip
    said = _refused(frame)
    assert said.startswith("`data` has 5 problems.")
    for name in ("`y`", "`day`", "`far`", "`key`", "`price`"):
        assert name in said
    (way,) = re.findall(r"To leave them out: `([^`]*)`", said)
    assert way == "y ~ . - day - far - key - price"
    _prepared(frame.assign(y=DATA["y"]), way)


def test_many_problems_are_counted():
    frame = DATA.assign(**{f"d{i}": pd.Timestamp("2020") for i in range(17)})
    said = _refused(frame)
    assert "has 17 problems" in said
    assert "10. Column `d9`" in said
    assert "And 7 more." in said
    assert "d10" not in said.partition("And 7 more")[0]


@pytest.mark.parametrize(
    ("formula", "way"),
    [
        ("y ~ x + day", "y ~ x"),
        ("y ~ x + day:cat + cat", "y ~ x + cat"),
        ("y ~ . - cat", "y ~ . - cat - day"),
        ("y ~ day", None),
    ],
)
def test_the_formula_without_a_column_is_one(formula, way):
    frame = DATA.assign(day=pd.Timestamp("2020"))
    said = _refused(frame, formula)
    assert re.findall(r"leave it out: `([^`]*)`", said) == ([] if way is None else [way])
    if way:
        _prepared(frame, way)


def test_all_problems_of_a_formula():
    with pytest.raises(FormulaError) as error:
        _prepared(DATA, "y ~ xx + log(zz) + factor(cat) + xx")
    said = str(error.value)
    assert said.startswith("The formula has 3 problems.")
    for part in ("`xx`", "`zz`", "Write `C(cat)`"):
        assert part in said


def test_all_problems_of_new_data():
    frame = DATA.assign(flag=[True, False] * (N // 2), size=[1, 2] * (N // 2))
    frame["size"] = frame["size"].astype(str)
    spec = _prepared(frame).spec
    new = frame.assign(x="n/a", flag=2, size=1.0, cat="d").drop(columns="y")
    with pytest.raises(NewDataError) as error:
        spec.encode(new)
    said = str(error.value)
    assert said.startswith("`data` has 4 problems.")
    assert '"d"' in said
    for way in re.findall(r"for example `([^`]*)`", said):
        name = re.findall(r"'(\w+)'", way)[0]
        new[name] = eval(way, {"data": new, "pandas": pd})
    spec.encode(new.assign(cat="a"))
    with pytest.raises(NewDataError, match=r"(?s)Missing: `x`.*`flag` must hold logical"):
        spec.encode(frame.drop(columns="x").assign(flag="no"))


def test_select_says_the_same():
    with pytest.raises(DataError, match="To leave it out: `y ~ x`"):
        treeselect.select("y ~ x + day", DATA.assign(day=pd.Timestamp("2020")))


N_NOTED = 30
NOTED = pd.DataFrame({"y": np.arange(N_NOTED) % 2, "x": np.sin(np.arange(N_NOTED))})


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
    frame = NOTED.assign(v=column)
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
    [range(N_NOTED), ["a", "b", "c"] * 10, [99.0, 50, 20] * 10, [1, 9] * 15, ["1", "2"] * 15,
     [np.nan, 1, 2] * 10],
)  # fmt: skip
def test_other_values_get_none(column):
    said = _notes(NOTED.assign(v=column))
    assert not re.search("codes|copies|may be one|as text", said)


def test_copies_are_named():
    frame = NOTED.assign(
        z=NOTED["x"], one=list("ab") * 15, other=list("ab") * 15, c=1.0, d=1.0, e=np.nan
    )
    said = _notes(frame)
    assert "Exact copies: `x` = `z`; `one` = `other`." in said


@pytest.mark.parametrize("numbers", [[1, 2], [-1, 1], [1, 2, 3]])
def test_few_numbers_as_the_response(numbers):
    frame = NOTED.assign(y=[numbers[i % len(numbers)] for i in range(N_NOTED)])
    said = _notes(frame)
    assert f"`y` has only {len(numbers)} values" in said
    (family,) = re.findall(r'`family="(\w+)"`', said)
    found = prepare(Request("y ~ x", family), frame)
    assert found.response.classes == tuple(numbers)
    assert "only" not in " ".join(found.notes)
    assert "only" not in _notes(frame, family="gaussian")
    assert "only" not in _notes(frame.assign(y=frame["y"] + 0.5))


def test_classes_that_may_be_one():
    said = _notes(NOTED.assign(y=["yes", "Yes ", "no"] * 10))
    assert "Classes that may be one: 'Yes ', 'yes' of `y`" in said


@pytest.mark.parametrize(
    ("right", "noted"), [("-1 + x", True), ("0 + x", True), ("x", False), (". - x", False)]
)
def test_that_an_intercept_stays_is_said(right, noted):
    data = pd.DataFrame({"y": np.arange(20.0) % 7, "x": np.arange(20.0) % 3, "z": np.arange(20.0)})
    fit = treeselect.select(f"y ~ {right}", data, method="mrmr", k=1, seed=1)
    assert any("the intercept is not a term" in note for note in fit.data.design.notes) == noted
    assert "Intercept" in fit.refit("glm").coef.index
