"""Names and values that nobody expects, as text that Python reads: a case is kept as JSON."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import math
import pathlib
import uuid
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

PLAIN = ("x", "z", "age", "dose", "site", "fare", "n1", "v_2", "Group", "sepal.length")
"""Names as users give them."""

HOSTILE = (
    "", " ", "  ", "a b", " a", "a ", "1", "11", "1.5", "1e5", ".", "..", "...", "~", "y ~ x", "-",
    "+", "*", "a:b", "a*b", "a+b", "a-b", "x^2", "x**2", "a|b", "a/b", "%", "%in%", "(", ")", "()",
    "{", "}", "{x}", "[", "]", "x[0]", ",", ";", "#", "a#b", "!", "?", "@", "$", "&", "=", "==",
    "a=b", "'", '"', "it's", 'say "x"', "a'b\"c", "\\", "a\\", "\\n", "\\x60", "`", "``", "a`b",
    "`a`", "_", "__", "___", "__class__", "__import__", "__builtins__", "__dict__", "self", "cls",
    "np", "pd", "I", "C", "Q", "log", "exp", "poly", "bs", "hashed", "scale", "center", "lag",
    "contr", "contr.treatment", "np.log", "eval", "exec", "open", "print", "type", "len", "str",
    "True", "False", "None", "if", "for", "lambda", "class", "import", "def", "in", "is", "not",
    "and", "or", "async", "match", "Intercept", "(Intercept)", "_formulaic_a_b", "_formulaic_1",
    "_column_0", "_column_0_", "a_b", "fitted", "index", "level_0", "values", "shape", "T",
    "columns", "weights", "missing", "other", "nan", "NaN", "inf", "NA", "null", "\x00", "a\x00b",
    "\x1b[31mred\x1b[0m", "\x07", "\x08", "\r", "\n", "a\nb", "\t", "\x7f", "\x85", "\u202eevil",
    "\u2066a\u2069", "\u200b", "a\u200bb", "\ufeffx", "\u2028", "\xa0", "\xad", "\ud800", "a\udc80",
    "\udcff", "\U0001f600", "\U0001f468\u200d\U0001f469", "\u00b5", "\u03bc", "\uff41",
    "\uff4c\uff4f\uff47", "\u212b", "\ufb01", "\u00e9", "e\u0301", "\u0130", "\u0131", "\u017f",
    "\u00df", "\u0391", "\u0410", "\u4e2d\u6587", "\u05e9\u05dc\u05d5\u05dd", "\u0663", "x\u0663",
    "\u0968", "\u00b2", "x\u00b2", "\u2460", "\u216b", "\ufdfa", "\U0001d4d0", "<b>x</b>",
    "<script>alert(1)</script>", "&amp;", "</svg>", "]]>", "<!--", "{{ x }}", "{% raw %}", "$x$",
    "\\textbf{x}", "\\input{x}", "a_b^c", "|", "a|b|c", "[x](y)", "=1+1", "@SUM(A1)", "-1", "+1",
    "%s", "%d", "%n", "{0}", "{0.__class__}", "nowhere/../../x", "/nowhere/passwd", "C:\\x",
    "x" * 300, "x" * 10_000, "`" * 50, "a " * 500, "(" * 200, "\u0301" * 100,
)  # fmt: skip
"""Names that break what was not written for them."""

VALUES = (
    "None", "True", "False", "0", "1", "2", "3", "-1", "-2**63", "2**31", "2**63", "10**30", "0.0",
    "0.5", "1.0", "2.5", "-0.5", "float('nan')", "float('inf')", "-float('inf')", "1e300", "5e-324",
    "1j", "''", "' '", "'x'", "'abc'", "'1'", "'y'", "'auto'", "'best'", "'1se'", "'log'",
    "'\\x00'", "'\\x1b[31m'", "'\\ud800'", "'`'", "'a`b'", "'\\u202e'", "'x' * 10000", "b'x'",
    "bytearray(b'x')", "[]", "[1]", "[0, 1]", "['x']", "[None]", "[[1]]", "[1, 'a']", "()",
    "(1, 2)", "(1,)", "{}", "{'x': 1}", "{1: 2}", "{'x': None}", "{'x': ['z']}", "{'g': ['x']}",
    "{'g': 'x'}", "{'g': []}", "set()", "{'x'}", "frozenset('x')", "range(3)", "iter([1])",
    "np.array(3)", "np.array('x')", "np.array([1, 2])", "np.array([])", "np.array([['x']])",
    "np.array([1.5, None], dtype=object)", "np.zeros((2, 2))", "np.int64(3)", "np.int8(1)",
    "np.uint64(2)", "np.float32(0.5)", "np.float64('nan')", "np.bool_(True)", "np.str_('x')",
    "np.bytes_(b'x')", "np.datetime64('2020-01-01')", "np.datetime64('NaT')", "np.timedelta64(1)",
    "np.complex128(1)", "np.ma.masked", "np.ma.array([1], mask=[1])", "pd.NA", "pd.NaT",
    "pd.Timestamp('2020')", "pd.Series([1.0, 2.0])", "pd.Series(['x'])",
    "pd.Series([], dtype=float)", "pd.Index(['x'])", "pd.DataFrame({'x': [1]})",
    "pd.array([1, None])", "pd.Categorical(['x'])", "pa.array([1, 2])", "pl.Series([1, 2])",
    "decimal.Decimal('1.5')", "decimal.Decimal('NaN')", "fractions.Fraction(1, 2)",
    "datetime.date(2020, 1, 1)", "pathlib.Path('x')", "object()", "bool", "int", "str", "print",
    "len", "...", "NotImplemented", "lambda *a: 1", "(i for i in 'x')", "slice(1)",
    "type('Own', (str,), {})('x')", "type('Own', (int,), {})(2)", "Strange()", "math",
    "uuid.UUID(int=1)", "Colour.RED", "np.nan", "np.random.default_rng(1)",
    "np.random.RandomState(1)", "memoryview(b'x')", "complex('nan')", "[float('nan')]",
    "[1e308] * 3", "['a'] * 1000",
)  # fmt: skip
"""Values for any argument."""


class Raises:
    """An object of which nothing can be asked."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__module__", "__dict__", "__doc__"):
            return object.__getattribute__(self, name)
        raise RuntimeError("asked for " + name)

    def __repr__(self) -> str:
        raise RuntimeError("asked for its text")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __bool__(self) -> bool:
        raise RuntimeError("asked for its truth")

    def __hash__(self) -> int:
        raise RuntimeError("hashed")


class Strange:
    """An object whose text is a control character."""

    def __repr__(self) -> str:
        return "\x1b[2J\x00"


def namespace() -> dict[str, Any]:
    """What the text of a value may name."""
    return {
        "__name__": "hostile", "np": np, "pd": pd, "pl": pl, "pa": pa, "decimal": decimal,
        "fractions": fractions, "datetime": datetime, "pathlib": pathlib, "math": math,
        "uuid": uuid, "Raises": Raises, "Strange": Strange, "Colour": enum.Enum("Colour", ["RED"]),
        "nan": math.nan, "inf": math.inf,
    }  # fmt: skip
