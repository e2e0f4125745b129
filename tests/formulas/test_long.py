"""Formulas that formulaic would read for minutes are refused before it sees them."""

import pytest

from treeselect.errors import FormulaError
from treeselect.formula import parse_formula


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ("I(x == " + "''" * 100_000 + ")", "at most 5,000 characters"),
        ("(x + {" + "x + " * 2_000 + "x})", "at most 5,000 characters"),
        ("x" + " . " * 100_000, r"Missing operator between `x` and `\.`"),
        ("x z", "Missing operator between `x` and `z`"),
        ("log(x) `z z`", r"Missing operator between `log\(x\)` and `z z`"),
    ],
    ids=["call", "braces", "dots", "names", "call and name"],
)
def test_what_would_take_minutes_is_refused(right, said):
    with pytest.raises(FormulaError, match=said):
        parse_formula(f"y ~ {right}", ["x", "y", "z", "z z"])


def test_many_terms_between_parentheses_are_read():
    names = [f"x{i}" for i in range(1_000)]
    found = parse_formula(f"y ~ ({' + '.join(names)})", ["y", *names])
    assert [term.name for term in found.terms] == names
