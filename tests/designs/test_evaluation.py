"""Values of the factors of a formula."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.designs.evaluation import evaluate
from treeselect.errors import DataError, FormulaError
from treeselect.formula import parse_formula
from treeselect.frames.values import Labels, read_column

COLUMNS = ["y", "id", "a", "b", "a b"]


def values_of(expression, frame, state=None):
    (term,) = parse_formula(f"y ~ {expression}", ["y", *frame.columns]).terms
    columns = {name: read_column(frame[name], name) for name in term.variables}
    return evaluate(term.factors[0], columns, {} if state is None else state)


FRAME = pd.DataFrame(
    {
        "x": [1.0, np.nan, 3.0, 8.0],
        "n": [1, 2, 2, 5],
        "s": ["a", None, "b", "a"],
        "t": [True, False, True, True],
        "a b": [1.0, 2.0, 4.0, 8.0],
        "u": pd.array([True, None, False, True], dtype="boolean"),
        "k": pd.Categorical([3, 1, None, 3], [3, 1, 7]),
        "o": pd.Categorical(["hi", "lo", None, "hi"], ["lo", "mid", "hi"], ordered=True),
        "none": np.nan,
        "one": 1.0,
        "missing": pd.Series([None] * 4, dtype=object),
    }
)


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


@pytest.mark.parametrize("expression", ["I(k > 1)", "C(k <= 1)"])
def test_categories_without_an_order_are_not_compared(expression):
    with pytest.raises(DataError, match="`k`: they are unordered"):
        values_of(expression, FRAME)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{(x > 2) + (n > 1)}", [0, np.nan, 2, 2]),  # numpy adds truth values to True
        ("{(n > 1) - t}", [-1, 1, 0, 0]),
        ("{n ** 16 * n ** 16 * n ** 16}", [1, 2.0**48, 2.0**48, 5.0**48]),  # int64 would overflow
        ("{n ** -1}", [1, 0.5, 0.5, 0.2]),
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
        ("log(s)", "Can't compute the term"),
        ("{s + 1}", "Can't compute the term"),
    ],
)
def test_expressions_that_cannot_be_computed(expression, says):
    with pytest.raises((DataError, FormulaError), match=says):
        values_of(expression, FRAME)


KNOWN = FRAME.loc[[0, 2, 3], ["x", "n", "a b"]].astype(float).reset_index(drop=True)
LEAVES = [
    *((name, KNOWN[column].to_numpy()) for name, column in [("x", "x"), ("`a b`", "a b")]),
    *((text, np.full(3, float(text))) for text in ("2", "0.5")),
]
BINARY = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide,
          "%": np.mod, "<": np.less, ">=": np.greater_equal, "==": np.equal}  # fmt: skip
UNARY = {"abs": np.abs, "np.floor": np.floor, "I": np.positive, "-": np.negative, "sqrt": np.sqrt}


def larger(inner):
    """A sign between two, or a function of one: each with its text and its values."""

    def joined(sign, a, b):
        unknown = np.isnan(a[1]) | np.isnan(b[1])
        values = np.where(unknown, np.nan, BINARY[sign](a[1], b[1]))
        return f"({a[0]} {sign} {b[0]})", values

    def called(name, a):
        return f"{name}({a[0]})", UNARY[name](a[1])

    def chosen(a, b, c):
        return f"np.where({a[0]} > 1, {b[0]}, {c[0]})", np.where(
            np.isnan(a[1]), np.nan, np.where(a[1] > 1, b[1], c[1])
        )

    return (
        st.builds(joined, st.sampled_from(sorted(BINARY)), inner, inner)
        | st.builds(called, st.sampled_from(sorted(UNARY)), inner)
        | st.builds(chosen, inner, inner, inner)
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the reference
@given(st.recursive(st.sampled_from(LEAVES), larger, max_leaves=12))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_expressions_compute_in_double_precision_with_truth_values_as_numbers(pair):
    text, expected = pair
    if np.isfinite(expected).all():
        found = values_of(f"I({text} + 0 * x)", KNOWN).values
        np.testing.assert_array_equal(found, expected)
    else:
        with pytest.raises(DataError, match="must be finite"):
            values_of(f"I({text} + 0 * x)", KNOWN)


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


def test_transforms_see_the_same_whatever_the_type_of_whole_numbers():
    for expression in ("hashed(z, 50)", "hashed(z * 2, 50)", "poly(z, 20, raw=True)"):
        whole = values_of(expression, pd.DataFrame({"z": range(1, 41)}))
        holed = values_of(expression, pd.DataFrame({"z": [np.nan, *range(1, 41)]}))
        if isinstance(whole, Labels):
            assert whole.codes.tolist() == holed.codes[1:].tolist()
        else:
            for a, b in zip(whole.columns, holed.columns, strict=True):
                np.testing.assert_array_equal(a, b[1:])
                assert (a > 0).all()


def test_numbers_too_large_to_be_whole_stay_different_levels():
    frame = pd.DataFrame({"u": np.array([2**63, 2**63 + 4096], dtype=np.uint64)})
    assert len(set(values_of("C(u)", frame).levels)) == 2


def test_f15_the_callers_variables_never_enter():
    hidden = pd.Series(np.arange(4.0))
    for formula in ("y ~ a + hidden", "y ~ log(hidden)", "y ~ {a + hidden}", "hidden ~ a"):
        with pytest.raises(FormulaError, match="Can't find column `hidden`"):
            parse_formula(formula, COLUMNS)
    # Not even in a formula that is trusted.
    (term,) = parse_formula("y ~ {n + hidden}", ["y", "n"], trusted=True).terms
    with pytest.raises(DataError, match="name 'hidden' is not defined"):
        evaluate(term.factors[0], {"n": read_column(FRAME["n"], "n")}, {})
    assert len(hidden) == 4
