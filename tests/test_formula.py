"""Terms of a formula and the values of expressions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from treeselect.errors import DataError, FormulaError, NotBuiltError
from treeselect.formula import evaluate, parse_formula
from treeselect.frames import Labels, read_column

COLUMNS = ["y", "id", "a", "b", "a b"]


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("y ~ a", ["a"]),
        ("y ~ b + a", ["b", "a"]),
        ("y ~ .", ["id", "a", "b", "a b"]),
        ("y ~ . - id", ["a", "b", "a b"]),
        ("y ~ . - (id + a)", ["b", "a b"]),
        ("y ~ . - y - id", ["a", "b", "a b"]),
        ("y ~ . - id + I(a>3)", ["a", "b", "a b", "I(a > 3)"]),
        ("y ~ -1 + a", ["a"]),
        ("y ~ a + a + b", ["a", "b"]),
        ("log(y) ~ . - id", ["a", "b", "a b"]),
        ("y ~ log(`a b`)", ["log(`a b`)"]),
        ("y ~ a + (b + id) - id", ["a", "b"]),
        ("y ~ . - (id + a) - `a b`", ["b"]),
        ("y ~ . - 1 - id", ["a", "b", "a b"]),
        ("y ~ a + 0", ["a"]),
        ("y ~ log(a) + a - a", ["log(a)"]),
        ("I(y + a) ~ .", ["id", "b", "a b"]),
        ("y ~ . + .", ["id", "a", "b", "a b"]),
        ("y ~ a\n  + b", ["a", "b"]),
        ("y ~ C(a) + {C(b)}", ["C(a)", "C(b)"]),
    ],
)
def test_terms(formula, terms):
    assert [t.name for t in parse_formula(formula, COLUMNS).terms] == terms


def test_dot_leaves_out_hidden_columns():
    assert len(parse_formula("y ~ .", COLUMNS, hidden=["id", "b"]).terms) == 2
    # Taken off by hand all the same.
    assert len(parse_formula("y ~ . - id", COLUMNS, hidden=["id", "b"]).terms) == 2


def test_a_column_named_1_is_told_from_the_intercept():
    """formulaic takes it for the intercept: the column would be lost in silence."""
    for formula in ("y ~ .", "y ~ x + `1`", "`1` ~ x"):
        with pytest.raises(FormulaError, match="Can't tell the column `1` from the intercept"):
            parse_formula(formula, ["y", "x", "1", "0"])
    assert [t.name for t in parse_formula("y ~ x + `0`", ["y", "x", "1", "0"]).terms] == ["x", "0"]


def test_a_backtick_in_a_name_is_refused_where_it_is_used():
    assert parse_formula("y ~ x", ["y", "x", "a`b"]).terms[0].name == "x"
    with pytest.raises(FormulaError, match="must not have a backtick"):
        parse_formula("y ~ .", ["y", "x", "a`b"])


def test_variables_and_text_of_terms():
    terms = parse_formula("y ~ `a b` + I((a > 1) & (`a b` < b)) + {a + `a b`}", COLUMNS).terms
    assert [t.text for t in terms] == ["`a b`", "I((a > 1) & (`a b` < b))", "{a + `a b`}"]
    assert [t.variables for t in terms] == [("a b",), ("a", "a b", "b"), ("a", "a b")]


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("y ~ a + bb", "Can't find column `bb`"),
        ("y ~ . - idd", "Did you mean `id`"),  # F7: formulaic ignores it in silence
        ("y ~ . - log(a)", "Can't remove `log(a)`"),
        ("y ~ a - b", "Can't remove `b`"),
        ("~ a", "must name the response"),
        ("a + b", "must name the response"),
        ("y + a ~ b", "must name one response"),
        ("y ~ a ~ b", "must have one `~`"),
        ("y ~ a + y", "must not use the response"),
        ("log(y) ~ a + I(y > 2)", "must not use the response"),
        ("y ~ 1", "at least one term"),
        ("y ~ a - a", "at least one term"),
        ("y ~ (a + b", "Can't read the formula"),
        ("y ~ a + ", "Can't read the formula"),
        ("y ~ 5", "Can't read the formula"),
        ("y ~ 'a'", "Can't read the formula"),
        ("y ~ -id + .", "write removals last"),  # formulaic removes nothing, in silence
        ("y ~ -id", "write removals last"),
        ("y - a ~ b", "Can't remove `a`"),
        ("y ~ . - (id + b) - b", "Can't remove `b`"),
        ("y ~ a + (b - id)", "Can't remove `id`"),
        ("1 ~ a", "must name the response"),
        (". ~ a", "must name one response"),
        ("y ~ a > 3", "has no operator `>`"),
        ("y ~ a == 3", "has no operator `==`"),
        ("y ~ a, b", "has no operator `,`"),
        ("y ~ a b", "Missing operator"),
        ("y ~ {a}", "Write a column without braces"),
        ("log(y) ~ log(y)", "must not use the response"),
        ("", "must name the response"),
        (3, "must be text"),
    ],
)
def test_f7_formulas_that_cannot_be_meant(formula, says):
    with pytest.raises(FormulaError, match=says.replace("(", r"\(").replace(")", r"\)")):
        parse_formula(formula, COLUMNS)


@pytest.mark.parametrize(
    "formula", ["y ~ a:b", "y ~ a*b", "y ~ (a + b)^2", "y ~ a %in% b", "y ~ a/b", "y ~ a | b",
                "y ~ .^2", "y ~ a + b:-a", "y ~ bs(a, 4)", "y ~ poly(a, 2)", "y ~ cr(a)"]
)  # fmt: skip
def test_what_waits_says_so(formula):
    with pytest.raises(NotBuiltError, match="is not built yet"):
        parse_formula(formula, COLUMNS)


def values_of(expression, frame, state=None):
    term = parse_formula(f"y ~ {expression}", ["y", *frame.columns]).terms[0]
    columns = {name: read_column(frame[name], name) for name in term.variables}
    return evaluate(term, frame, {} if state is None else state, columns=columns)


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


@pytest.mark.parametrize("expression", ["I(o > 'lo')", "I('lo' <= o)", "C(o > 'lo')"])
def test_ordered_categories_are_not_compared_by_the_alphabet(expression):
    with pytest.raises(NotBuiltError, match="`o` is a category"):
        values_of(expression, FRAME)


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


def test_f15_the_callers_variables_never_enter():
    hidden = pd.Series(np.arange(4.0))
    for formula in ("y ~ a + hidden", "y ~ log(hidden)", "y ~ {a + hidden}", "hidden ~ a"):
        with pytest.raises(FormulaError, match="Can't find column `hidden`"):
            parse_formula(formula, COLUMNS)
    # Not even in a formula that is trusted.
    (term,) = parse_formula("y ~ {n + hidden}", ["y", "n"], trusted=True).terms
    with pytest.raises(DataError, match="name 'hidden' is not defined"):
        evaluate(term, FRAME, {}, trusted=True, columns={"n": read_column(FRAME["n"], "n")})
    assert len(hidden) == 4
