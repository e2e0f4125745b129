"""Values of factors as formulaic has them, and data that can't be used or deserve a note."""

import re

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs.evaluation import evaluate
from treeselect.designs.preparing import Request, prepare
from treeselect.errors import DataError, FormulaError, NewDataError
from treeselect.formula import parse_formula
from treeselect.frames.values import Labels, number_text, read_column


def values_of(expression, frame, state=None):
    (term,) = parse_formula(f"y ~ {expression}", ["y", *frame.columns]).terms
    columns = {name: read_column(frame[name], name) for name in term.variables}
    return evaluate(term.factors[0], columns, {} if state is None else state)


FRAME = pd.DataFrame(
    {
        "x": [1.0, np.nan, 3.0, 8.0], "n": [1, 2, 2, 5], "s": ["a", None, "b", "a"],
        "t": [True, False, True, True], "a b": [1.0, 2.0, 4.0, 8.0],
        "u": pd.array([True, None, False, True], dtype="boolean"),
        "k": pd.Categorical([3, 1, None, 3], [3, 1, 7]),
        "o": pd.Categorical(["hi", "lo", None, "hi"], ["lo", "mid", "hi"], ordered=True),
        "none": np.nan, "one": 1.0, "missing": pd.Series([None] * 4, dtype=object),
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("log(x)", [0, np.nan, np.log(3), np.log(8)]),
        ("{x + n}", [2, np.nan, 5, 13]),
        ("log2(`a b`)", [0, 1, 2, 3]),
        ("I(x > 2)", [0, np.nan, 1, 1]),
        ("I(s == 'a')", [1, np.nan, 0, 1]),
        ("I(t & (n > 1))", [0, 0, 1, 1]),
        ("I(~t)", [0, 1, 0, 0]),
        ("{n ** 2 - 1}", [0, 3, 3, 24]),
        ("sqrt(n + 2) ", [3**0.5, 2, 2, 7**0.5]),
        ('I(s == "a")', [1, np.nan, 0, 1]),
        ("I(s != 'a')", [0, np.nan, 1, 0]),
        ("I((x > 2) | t)", [1, np.nan, 1, 1]),
        ("I(~u)", [0, np.nan, 1, 0]),
        ("I(u & t)", [1, np.nan, 0, 1]),
        ("center(u)", [1 / 3, np.nan, -2 / 3, 1 / 3]),
        ("I(k == 3)", [1, 0, np.nan, 1]),
        ("{x + none}", [np.nan] * 4),
        ("I(~none)", [np.nan] * 4),
        ("I(missing == 'a')", [np.nan] * 4),
    ],
)
def test_f17_an_expression_is_missing_where_its_columns_are(expression, expected):
    np.testing.assert_allclose(values_of(expression, FRAME).values, expected)


@pytest.mark.parametrize("function", ["scale", "center"])
def test_f16_scale_and_center_lose_only_the_missing_row(function):
    state = {}
    learned = values_of(f"{function}(x)", FRAME, state).values
    assert np.isnan(learned).tolist() == [False, True, False, False]
    known = FRAME["x"].dropna()
    expected = (known - known.mean()) / (known.std() if function == "scale" else 1)
    np.testing.assert_allclose(learned[[0, 2, 3]], expected)
    # New data are shifted by what was learned, not by their own mean.
    new = values_of(f"{function}(x)", FRAME.assign(x=[8.0, 8.0, 8.0, 8.0]), state).values
    np.testing.assert_allclose(new, learned[3])


def test_c_makes_levels_of_numbers_text_and_expressions():
    for expression, levels, codes in [
        ("C(n)", (1.0, 2.0, 5.0), [0, 1, 1, 2]),
        ("C(s)", ("a", "b"), [0, -1, 1, 0]),
        ("C(n > 1)", (0.0, 1.0), [0, 1, 1, 1]),
        ("C(x)", (1.0, 3.0, 8.0), [0, -1, 1, 2]),
        ("C(u)", (False, True), [1, -1, 0, 1]),
        ("C(`a b`)", (1.0, 2.0, 4.0, 8.0), [0, 1, 2, 3]),
        ("C(k)", (3, 1, 7), [0, 1, -1, 0]),
        ("C(o)", ("lo", "mid", "hi"), [2, 0, -1, 2]),
        ("I(o)", ("lo", "mid", "hi"), [2, 0, -1, 2]),
        ("C(none)", (), [-1] * 4),
        ("C(s == 'a')", (False, True), [1, -1, 0, 1]),
    ]:
        found = values_of(expression, FRAME)
        assert isinstance(found, Labels)
        assert (found.levels, found.codes.tolist()) == (levels, codes)


@pytest.mark.parametrize("expression", ["C(n)", "C(n % 2)", "C(n // 2)"])
def test_labels_of_whole_numbers_are_whole(expression):
    assert all(isinstance(level, int) for level in values_of(expression, FRAME).levels)


@pytest.mark.parametrize("expression", ["I(o > 'lo')", "I('lo' < o)"])
def test_ordered_categories_are_compared_by_their_order(expression):
    np.testing.assert_array_equal(values_of(expression, FRAME).values, [1, 0, np.nan, 1])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{(x > 2) + (n > 1)}", [0, np.nan, 2, 2]),  # numpy adds truth values to True
        ("{(n > 1) - t}", [-1, 1, 0, 0]),
        ("{n ** 16 * n ** 16 * n ** 16}", [1, 2.0**48, 2.0**48, 5.0**48]),  # int64 would overflow
        ("{n ** -1}", [1, 0.5, 0.5, 0.2]),
        ("{x / n}", [1, np.nan, 1.5, 1.6]),
        ("{-n // 2}", [-1, -1, -1, -3]),
        ("{-n % 3}", [2, 1, 1, 1]),
        ("abs(n - x)", [0, np.nan, 1, 3]),
        ("I(n >= 2)", [0, 1, 1, 1]),
        ("{-t + 1}", [0, 1, 0, 0]),
        ("np.where(n > 1, n, -n)", [-1, 2, 2, 5]),
        ("np.reciprocal(n)", [1, 0.5, 0.5, 0.2]),
        ("exp10(n)", [10, 100, 100, 1e5]),
        ("I(s == o)", [0, np.nan, np.nan, 0]),
        ("I(o != 'lo')", [1, 0, np.nan, 1]),
        ("I('a' < s)", [0, np.nan, 1, 0]),
        ("I(`it's` == \"it's\")", [1, 0, 0, 0]),
        ("I(`it's` == 'it\\'s')", [1, 0, 0, 0]),
        ("I(`it's` == ')')", [0, 1, 0, 0]),
        ("I(`it's` == '\\\\')", [0, 0, 1, 0]),
        ("I(I(n))", [1, 2, 2, 5]),
        ("{`a b` + 2 * _formulaic_a_b}", [21, 42, 64, 88]),
        ("{`a b c` + 2 * `a b`}", [102, 204, 308, 416]),
    ],
)
def test_values_are_those_that_r_gives(expression, expected):
    odd = {"it's": ["it's", ")", "\\", "b"], "_formulaic_a_b": [10.0, 20.0, 30.0, 40.0],
           "a b c": [100.0, 200.0, 300.0, 400.0]}  # fmt: skip
    np.testing.assert_allclose(values_of(expression, FRAME.assign(**odd)).values, expected)


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("{s * 10000000}", r"`\*` needs numbers. Found: text"),
        ("{s + s}", r"`\+` needs numbers"),
        ("{k + 1}", "Found: categories"),
        ("{x & t}", "`&` needs logical values"),
        ("I(~n)", "`~` needs logical values"),
        ("I(x == 'a')", "Numbers can't be compared with text"),
        ("I(s == 3)", "write it in quotation marks"),
        ("I(s == x)", "with a column of numbers"),
        ("I(k == 'a')", "can't be compared with 'a'"),
        ("I(k > 1)", "`k`: they are unordered"),
        ("C(k <= 1)", "`k`: they are unordered"),
        ("I(o > 'none')", "is not one of the ordered levels"),
        ("scale(s)", "`scale` needs numbers"),
        ("np.where(s, 1, n)", "`where` needs numbers"),
    ],
)
def test_labels_are_compared_with_labels_and_no_more(expression, says):
    with pytest.raises(DataError, match=says):
        values_of(expression, FRAME)


def test_a_basis_that_would_fill_the_memory_is_refused_before_it_is_made():
    frame = pd.DataFrame({"x": np.zeros(100_000)})
    for expression in ("bs(x, df=900)", f"cr(x, knots={list(range(900))})"):
        with pytest.raises(DataError, match="at most 50,000,000 values"):
            values_of(expression, frame)


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("scale(one)", "nan in row 0"),
        ("{1 / (n - 1)}", "inf in row 0"),
        ("log(n - 1)", "-inf in row 0"),
        ("sqrt(1 - n)", "nan in row 1"),
    ],
)
def test_expressions_that_cannot_be_computed(expression, says):
    with pytest.raises((DataError, FormulaError), match=says):
        values_of(expression, FRAME)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("I((n > 9) & (log(-n) > 0))", [0, 0, 0, 0]),
        ("I((n > 0) | (log(-n) > 0))", [1, 1, 1, 1]),
        ("I((n > 0) & (log(-n) > 0))", None),
        ("I(log(-n) > 0)", None),
        ("I(~(log(-n) > 0))", None),
        ("np.where(log(-n) > 0, 1, 2)", None),
    ],
)
def test_what_is_no_number_is_neither_true_nor_false(expression, expected):
    if expected is not None:
        assert values_of(expression, FRAME).values.tolist() == expected
        return
    with pytest.raises(DataError, match="must be finite"):
        values_of(expression, FRAME)


def test_whole_numbers_are_the_same_of_any_type_and_too_large_ones_stay_apart():
    for expression in ("hashed(z, 50)", "hashed(z * 2, 50)", "poly(z, 20, raw=True)"):
        whole = values_of(expression, pd.DataFrame({"z": range(1, 41)}))
        holed = values_of(expression, pd.DataFrame({"z": [np.nan, *range(1, 41)]}))
        if isinstance(whole, Labels):
            assert whole.codes.tolist() == holed.codes[1:].tolist()
        else:
            for a, b in zip(whole.columns, holed.columns, strict=True):
                np.testing.assert_array_equal(a, b[1:])
                assert (a > 0).all()
    frame = pd.DataFrame({"u": np.array([2**63, 2**63 + 4096], dtype=np.uint64)})
    assert len(set(values_of("C(u)", frame).levels)) == 2


def test_f15_the_callers_variables_never_enter():
    hidden = pd.Series(np.arange(4.0))
    for formula in ("y ~ a + hidden", "y ~ log(hidden)", "y ~ {a + hidden}", "hidden ~ a"):
        with pytest.raises(FormulaError, match="Can't find column `hidden`"):
            parse_formula(formula, ["y", "id", "a", "b", "a b"])
    # Not even in a formula that is trusted.
    (term,) = parse_formula("y ~ {n + hidden}", ["y", "n"], trusted=True).terms
    with pytest.raises(DataError, match="name 'hidden' is not defined"):
        evaluate(term.factors[0], {"n": read_column(FRAME["n"], "n")}, {})
    assert len(hidden) == 4


# --- all problems of the data in one error, with advice that works --------------------------------


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
    "small decimals": (
        [f"{i % 2},{i + 100}" for i in range(N)],
        [i % 2 + (i + 100) / 1000 for i in range(N)],
    ),
    "German dates": ([f"{i + 1}.12.{2000 + i}" for i in range(N)], [*range(2000, 2000 + N)]),
    "dates": ([f"{2000 + i}-12-01 09:00" for i in range(N)], [*range(2000, 2000 + N)]),
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
    assert f"`v` holds {'dates' if 'dates' in case else 'numbers'} as text" in said
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
    [[f"key{i}" for i in range(9)], ["12a", "12b", "7c", "9d"], ["1", "2", "a"], ["2020-01"] * 3,
     ["a", "b"], [], [f"id {i}" for i in range(9)]],
)  # fmt: skip
def test_other_text_is_no_number(levels):
    assert number_text(levels) is None


def test_all_problems_stand_in_one_error_or_are_counted():
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
    frame = DATA.assign(**{f"d{i}": pd.Timestamp("2020") for i in range(17)})
    said = _refused(frame)
    assert "has 17 problems" in said
    assert "10. Column `d9`" in said
    assert "And 7 more." in said
    assert "d10" not in said.partition("And 7 more")[0]
    with pytest.raises(FormulaError) as error:
        _prepared(DATA, "y ~ xx + log(zz) + factor(cat) + xx")
    said = str(error.value)
    assert said.startswith("The formula has 3 problems.")
    for part in ("`xx`", "`zz`", "Write `C(cat)`"):
        assert part in said
    with pytest.raises(DataError, match="To leave it out: `y ~ x`"):
        treeselect.select("y ~ x + day", DATA.assign(day=pd.Timestamp("2020")))
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
        new[name] = eval(way.replace("...", "1"), {"data": new, "pandas": pd})
    spec.encode(new.assign(cat="a"))
    with pytest.raises(NewDataError, match=r"(?s)Missing: `x`.*`flag` must hold logical"):
        spec.encode(frame.drop(columns="x").assign(flag="no"))


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
        ([*range(20, 47), 998, 998, 999], "999, 998 of `v` in 3 rows"),
        ([*range(0, 56, 2), 88, 999], "999 of `v` in 1 row"),
        ([*range(11)] * 2 + [*[77] * 8], "77 of `v` in 8 rows"),
        ([20191231, 20200101, 20200229] * 10, "Dates written as numbers"),
        (["1 %", "2 %", "3 %"] * 10, "Numbers or dates as text"),
        (["2020-01-01", "2020-01-09", "2021-01-01"] * 10, "Numbers or dates as text"),
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


def test_copies_and_classes_that_may_be_one_are_named():
    frame = NOTED.assign(
        z=NOTED["x"], one=list("ab") * 15, other=list("ab") * 15, c=1.0, d=1.0, e=np.nan
    )
    said = _notes(frame)
    assert "Exact copies: `x` = `z`; `one` = `other`." in said
    said = _notes(NOTED.assign(y=["yes", "Yes ", "no"] * 10))
    assert "Classes that may be one: 'Yes ', 'yes' of `y`" in said


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


@pytest.mark.parametrize(("right", "noted"), [("-1 + x", True), (". - x", False)])
def test_that_an_intercept_stays_is_said(right, noted):
    data = pd.DataFrame({"y": np.arange(20.0) % 7, "x": np.arange(20.0) % 3, "z": np.arange(20.0)})
    fit = treeselect.select(f"y ~ {right}", data, method="mrmr", k=1, seed=1)
    assert any("the intercept is not a term" in note for note in fit.data.design.notes) == noted
    assert "Intercept" in fit.refit("glm").coef.index
