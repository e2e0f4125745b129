"""What hostile users found, and ``benchmarks/hostile.py`` since: one row each, as small as it can
be.

Columns of the data: `y` (0 and 1), `x` (numbers), `g` (text: a, b, c), `a b` (numbers) and `v`
(whole numbers from 1 to 4).
"""

import datetime
import decimal
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import KFold

import treeselect
from treeselect.algorithms.forests.elimination import out_of_bag_error
from treeselect.designs.weights import RowWeights
from treeselect.errors import (
    DataError,
    FormulaError,
    MethodError,
    OptionError,
    StabilityError,
    TreeselectError,
    TreeselectWarning,
)  # fmt: skip

RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that steer a terminal or reorder text, and halves of characters."""

QUICK: dict[str, Any] = {"method": "fcbf", "k": 1, "seed": 1, "progress": False}


def make_data() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "y": [0, 1] * 12,
            "x": rng.normal(size=24).round(2),
            "g": list("abc") * 8,
            "a b": rng.normal(size=24).round(2),
            "v": rng.integers(1, 5, 24),
        }
    )


DATA = make_data()

REFUSED = (
    "y ~ eval('x')", "y ~ I(exec('1'))", "y ~ I(open('/etc/hostname'))",
    "y ~ I(compile('1', '', 'eval'))", "y ~ I(getattr(x, 'real'))", 'y ~ print(x)', 'y ~ x.real',
    'y ~ x.__class__', "y ~ x.to_csv('t')", 'y ~ I(x.map(print))', "y ~ np.save('t', x)",
    "y ~ np.load('t')", "y ~ np.fromfile('t')", 'y ~ np.frompyfunc(print, 1, 1)(x)',
    'y ~ np.exp.__class__', "y ~ np.lib.format.open_memmap('t')", 'y ~ np.exp(x, out=x)',
    'y ~ np.exp(x, where=False)', 'y ~ np.vectorize(print)(x)', 'y ~ np', 'y ~ poly.__globals__',
    "y ~ C.__globals__['x']", "y ~ __builtins__['open']", 'y ~ I(I)', 'y ~ (lambda: 1)()',
    'y ~ I((lambda: x)())', 'y ~ I({k: k for k in x})', 'y ~ I((z := x))', "y ~ I(f'{x}')",
    'y ~ I(**x)', 'y ~ log(x=x)', 'y ~ I(x is x)', 'y ~ I(x in x)', 'y ~ I(x[::-1])',
    'y ~ I((x, x))', 'y ~ I([x])', 'y ~ I({x})', "y ~ I({'a': x})", "y ~ I('a')", "y ~ I(g + 'a')",
    "y ~ I('a' * 3 == g)", 'y ~ I(x << 2)', 'y ~ I(x >> 2)', 'y ~ I(x ^ 2)', 'y ~ I(await x)',
    'y ~ I((yield))', 'y ~ I(1 < x < 2)', 'y ~ \uff49(x)', 'y ~ \uff4c\uff4f\uff47(x)',
    'y ~ I(\uff58)', 'y ~ nosuch(x)', 'y ~ lo(x)', 'y ~ bs(x, df=I(1))', 'y ~ bs(x, df=v)',
    'y ~ bs(x, knots=[x])', 'y ~ bs(x, knots=x)', "y ~ poly(x, 'a')", 'y ~ scale(x, center=x)',
    'y ~ hashed(g, levels=v)', "y ~ hashed(g, levels='a')", 'y ~ hashed(g, 2.5)',
    'y ~ hashed(g, -1)', 'y ~ hashed(g, 3, 4, 5)', 'y ~ C(g, levels=g)', 'y ~ C(g, contr.nosuch)',
    'y ~ C(g, Nosuch)', 'y ~ C(g, contr)', 'y ~ C()', 'y ~ I()', 'y ~ log()', 'y ~ Q()',
    "y ~ Q('nosuch')", 'y ~ I(C(g) == 1)', 'y ~ log(bs(x, 4))', 'y ~ C(bs(x, 4))', 'y ~ x %*% v',
    'y ~ x %+% v', 'y ~ x %/% v', 'y ~ x %% v', 'y ~ x %o% v', 'y ~ x |> v', 'y ~ x -> v',
    'y ~ x <- v', 'y ~ x :: v', 'y ~ x ::: v', 'y ~ x $ v', 'y ~ x @ v', 'y ~ x ! v', 'y ~ x = v',
    'y ~ x == v', 'y ~ x ? v', 'y ~ x && v', 'y ~ x || v', 'y ~ x | v', 'y ~ x;v', 'y ~ x, v',
    'y ~ x v', 'y x', 'y', '', ' ', '~', '~ x', 'y ~', 'y ~ ~ x', 'y ~ x ~ v', 'y ~ 0', 'y ~ 1',
    'y ~ 5', "y ~ 'x'", 'y ~ y', 'y ~ . - x - g - v - `a b`', 'y ~ (', 'y ~ )', 'y ~ (x', 'y ~ x)',
    'y ~ [x]', 'y ~ x[0]', 'y ~ `', 'y ~ ``', 'y ~ `x', 'y ~ x`', 'y ~ `nosuch`', 'y ~ \x00',
    'y ~ x\x1b[0m', 'y ~ \u202ex', 'y ~ \ud800', 'y ~ x + \x07', 'y ~ x #', 'y ~ \\', 'y ~ {',
    'y ~ {}', 'y ~ {x', 'y ~ x}', 'y ~ {{x}}', 'y + x ~ v', 'y * x ~ v', '. ~ x', '1 ~ x',
    'log(y) + 1 ~ x', 'y ~ (x + g)^0', 'y ~ (x + g)^-1', 'y ~ (x + g)^1.5', 'y ~ (x + g)^x',
    'y ~ (x+g)^2^2', 'y ~ (x + g)**2**2', 'y ~ (x + g)^999999999999', 'y ~ x^', 'y ~ ^2', 'y ~ x**',
    'y ~ x^02', 'y ~ (x + v)**٢', 'y ~ x:', 'y ~ :x', 'y ~ x*', 'y ~ *x', 'y ~ x/', 'y ~ /x',
    'y ~ x %in%', 'y ~ x -', 'y ~ - x', 'y ~ x - nosuch', 'y ~ x - g', 'y ~ offset(x)',
    'y ~ x + offset(v)', 'y ~ s(x)', 'y ~ factor(g)', 'y ~ as.factor(g)', 'y ~ ns(x, 3)',
    'y ~ te(x, v)', 'y ~ (1 | g)', 'y ~ x.y', 'y ~ np.nosuch(x)', 'y ~ math.log(x)',
    'y ~ pd.isna(x)', 'y ~ I(x).y', 'y ~ {`a b`}',
)  # fmt: skip
"""Formulas that are none, or ask for what is not there, beyond those of ``test_guard.py``."""

LONG = (
    "y ~ " + "x" * 1_000_000,
    "y ~ `" + "x" * 1_000_000 + "`",
    "y ~ I(g == '" + "x" * 1_000_000 + "')",
    "y ~ " + "(" * 100_000 + "x" + ")" * 100_000,
    "y ~ I(" + "(" * 1_000 + "x" + ")" * 1_000 + ")",
    "y ~ I(" + "-" * 4_000 + "x)",
    "y ~ I(x" + " + 1" * 100_000 + ")",
    "y ~ " + "log(" * 300 + "x" + ")" * 300,
    "y ~ " + "~" * 10_000 + "x",
    "y ~ " + "{" * 10_000 + "x" + "}" * 10_000,
    "y ~ " + "`" * 10_001,
    "y" * 100_000,
    "y ~ I(x == " + "'" * 10_001 + ")",
    "x" * 100_000 + " ~ y",
    "y ~ I(x ** " + "1" * 5_000 + ")",
    "y ~ x" + "^2" * 500,
    "y ~ x" + ":nosuch" * 2_000,
    "y ~ " + "I(" * 500 + "x" + ")" * 500,
    "y ~ x" + "+" * 400_000,
    "y ~ " + "f(x) + " * 5_000 + "x",
    "y ~ " + " + ".join(f"x{i}" for i in range(5_000)),
)
"""Formulas that are long or deep."""

NOT_FINITE = (
    'y ~ I(x // 0)', 'y ~ I(x % 0)', 'y ~ I(x / 0)', 'y ~ log(x - 1000)',
    'y ~ exp(exp(v + 100))',
)  # fmt: skip
"""Expressions without a finite value for each row."""

EITHER = (
    'y ~ I(x\n)', 'y ~ I(x # y\n)', 'y ~ I(x \\\n + 1)', "y ~ I(x == '\\x60')",
    "y ~ I(g == '\\N{GRAVE ACCENT}')", "y ~ I(g == '\\140')", 'y ~ x %in%v', 'y ~ I(v * g)',
    "y ~ I(g == '(')", 'y ~ I(x ** 0.5 * 0 + x)', 'y ~ hashed(g, 0)',
    "y ~ C(g, contr.treatment('zzz'))", 'y ~ I(g + g)', 'y ~ I(x > g)', 'y ~ log(g)', 'y ~ I(-g)',
    'y ~ scale(g)', 'y ~ poly(g, 2)', 'y ~ bs(g, 4)', "y ~ np.where(g == 'a', g, 'b')",
    'y ~ hashed(x, 3)', 'y ~ C(v, Treatment) + v', 'y ~ C(v, Poly)', 'C(v, Treatment) ~ x',
    'hashed(g, 2) ~ x', 'hashed(g, 2.5) ~ x', 'poly(x, 2) ~ v', 'scale(x) ~ v', 'bs(x, 4) ~ v',
    'y ~ scale((g == \'a"b\') + 0)', "y ~ I(g == '\\\\')", 'y ~ bs(x, 0)', 'y ~ bs(x, -1)',
    'y ~ poly(x, 0)', 'y ~ cr(x, 1)', 'y ~ cc(x, 2)', 'y ~ bs(x, knots=[])',
    'y ~ bs(x, knots=[99])', 'y ~ bs(x, df=4, lower_bound=0)',
    "y ~ bs(x, df=4, extrapolation='nosuch')", "y ~ cr(x, 4, constraints='nosuch')",
    'y ~ poly(x, 20)', 'y ~ bs(x, df=1000)', 'y ~ cc(x, df=1000)', 'y ~ scale(x, ddof=24)',
    'y ~ scale(x * 0)', 'y ~ I(x - x)', 'y ~ I(5 + 0 * x)', 'y ~ C(x):C(v)',
    'y ~ (x*g*v*`a b`)^4', "y ~ I(x == 'a')", 'y ~ I(g == 1)', 'y ~ I(x & v)', 'y ~ I(v & 1)',
    'y ~ I(~x)', 'y ~ I(x | 1.5)', 'y ~ I(10 ** v ** v)', 'y ~ exp10(v * 100)',
)  # fmt: skip
"""Formulas that may be answered or refused, but in no other way."""

ANSWERED = (
    'y ~ .', 'y~x', 'y ~ x + g', 'y ~ x - 1', 'y ~ x + 0', 'y ~ x + 1', 'y ~ 1 + x', 'y ~ . - g',
    'y ~ x:g', 'y ~ x*g', 'y ~ x/g', 'y ~ (x + g)^2', 'y ~ (x + g)**2', 'y ~ (x + g + v)^3',
    'y ~ g %in% v', 'y ~ `a b`', 'y ~ I(`a b` * 2)', 'y ~ {x + 1}',
    'y ~ log(x + 100)', 'y ~ np.log(x + 100)', 'y ~ I(x > 0)', 'y ~ I((x > 0) & (v < 3))',
    "y ~ I((g == 'a') | (g == 'b'))", 'y ~ I(~(x > 0))', 'y ~ I(-x)', 'y ~ I(+x)',
    'y ~ I(x // 1)', 'y ~ I(v % 2)', 'y ~ I(x ** 2)', 'y ~ I(v ** 16)', 'y ~ I(1_000 * x)',
    'y ~ I(0x10 * x)', 'y ~ I(True * x)', "y ~ I('a' == g)", "y ~ I(g < 'b')",
    'y ~ I(g == "it\'s")', 'y ~ I(g == \'say "x"\')', "y ~ I(g == '~')", "y ~ I(g == '|')",
    "y ~ I(g == ' + ')", "y ~ I(g == '#')", "y ~ I(g == '{x}')", "y ~ I(g == '%s')",
    "y ~ I(g == '')", 'y ~ scale(x)', 'y ~ scale(x, center=False)', 'y ~ scale(x, ddof=0)',
    'y ~ center(x)', 'y ~ standardize(x)', 'y ~ poly(x, 2)', 'y ~ poly(x, degree=3, raw=True)',
    'y ~ bs(x, 4)', "y ~ bs(x, df=5, degree=2, extrapolation='clip')",
    'y ~ bs(x, knots=[0, 0.5])', 'y ~ cr(x, 4)', 'y ~ cs(x, df=3)', 'y ~ cc(x, df=4)',
    'y ~ hashed(g, 3)', 'y ~ hashed(g, levels=10)', 'y ~ C(g)', 'y ~ C(v)', 'y ~ C(g, Treatment)',
    'y ~ C(g, contr.sum)', "y ~ C(g, contr.treatment('a'))", "y ~ C(g, levels=['a', 'b', 'c'])",
    'y ~ C(x > 0)', 'y ~ C(I(x > 0))', 'y ~ np.where(x > 0, x, v)', 'y ~ np.clip(x, 0, 1)',
    'y ~ np.maximum(x, v)', "y ~ Q('a b')", "y ~ Q('x')", 'I(x > 0) ~ v', 'log(v + 1) ~ x',
    'C(g) ~ x', 'g ~ x', '`a b` ~ x', 'x ~ .', 'v ~ x', 'y ~ x\n+ g', '  y  ~  x  ', 'y ~ x + x',
    'y ~ x:x', 'y ~ g:g + x', 'y ~ (x)', 'y ~ ((x))', 'y ~ x + (g + v)', 'y ~ -1 + x',
    'y ~ x + `x`', 'y ~ I(x) + x', 'y ~ I(I(x))', 'y ~ exp(log(v + 1))',
    'y ~ v + I(v**2) + I(v**3)', 'y ~ I(x * 2 + v / 3 - 1)',
    'y ~ x + log(v) + poly(x, 2) + C(g) + g:v',
)  # fmt: skip
"""Formulas that must go on to be answered."""

ARGUMENTS: tuple[tuple[str, Any, type[TreeselectError]], ...] = (
    *[("method", v, MethodError) for v in (np.array(["rrf", "x"]), "nosuch", "\x1b")],
    *[("k", v, OptionError) for v in (99, 2.0, "1SE", float("nan"), 10**30)],
    *[("weights", v, TreeselectError) for v in ([1] * 25, [-1] * 24, ["a"] * 24, [None] * 24,
    [float("nan")] * 24, [float("inf")] * 24, "g", [1j] * 24, [[1]] * 24, [0] * 24,
    np.full(24, 5e-324), [10**400] * 24)],
    *[("offset", v, OptionError) for v in ([1] * 25, ["a"] * 24, [None] * 24, [float("nan")] * 24,
    [float("inf")] * 24, "g", "y", [1j] * 24, [10**400] * 24)],
    *[("groups", v, OptionError) for v in ({"a": []}, {"a": ["nosuch"]}, {"a": "x"},
    {"x": ["v"]}, {1: ["x"]}, {"a": [1]}, {"a": None}, {"a": ["x"], "b": ["x"]}, {"a": ["y"]},
    {None: ["x"]}, {"a": pd.NA})],
    *[("costs", v, OptionError) for v in ({"nosuch": 1}, {"x": -1}, {"x": float("nan")},
    {"x": float("inf")}, {"x": "a"}, {"x": None}, {1: 1}, {"x": True}, {"x": [1]}, {"x": 1e300},
    {"x": 1j}, {"x": pd.NA}, {"y": 2}, {"x": 10**400}, {"x": 5e-324})],
    *[("keep", v, OptionError) for v in ("nosuch", ["x", "nosuch"], ["y"], [[]])],
    *[("folds", v, OptionError) for v in (1, [1] * 25, [0] * 24, [-1] * 24, ["a"] * 24, 99, KFold)],
    *[("fold_groups", v, OptionError) for v in ([1] * 24, [None] * 24, [float("nan")] * 24,
    [{}] * 24)],
    *[("scoring", v, OptionError) for v in ("nosuch", lambda: 1, lambda y, p: "x",
    lambda y, p: None, lambda y, p: float("nan"), lambda y, p: 1 / 0)],
    *[("lam", v, MethodError) for v in (-1, "a", float("nan"), True, np.array([1, 2]), 10**400)],
    *[("n_trees", v, MethodError) for v in (0, 1.5, "a", True, np.array([1, 2]), 10**30)],
    *[("max_rounds", v, MethodError) for v in (0, -1, 1.5, "a", None, 10**30)],
    ("unknown", 1, MethodError),
)  # fmt: skip
"""Values that an argument can't have, beyond those of ``test_refusals.py``."""

NO_NAMES = ("", "1", ".", "~", "\ud800", "a\udc80", "`", "a`b", "``", None, 3, 1.5, ("a", "b"),
b"x", True,
    float("nan"))  # fmt: skip
"""What can't be the name of a column."""

ALIASES = (
    ("y ~ I(`a b` + 2 * _formulaic_a_b)", ("a b", "_formulaic_a_b"), lambda a, b: a + 2 * b),
    ("y ~ I(`a b` + 2 * a_b)", ("a b", "a_b"), lambda a, b: a + 2 * b),
    ("y ~ I(`a b c` + 2 * `a b`)", ("a b c", "a b"), lambda a, b: a + 2 * b),
    ("y ~ I(`a b` + 2 * `a b c`)", ("a b", "a b c"), lambda a, b: a + 2 * b),
    ("y ~ I(`a b` + 2 * _column_0)", ("a b", "_column_0"), lambda a, b: a + 2 * b),
    ("y ~ I(`a b` + 2 * _column_0_)", ("a b", "_column_0_"), lambda a, b: a + 2 * b),
    ("y ~ I(`1` + 2 * `11`)", ("1", "11"), lambda a, b: a + 2 * b),
    ("y ~ I(`11` + 2 * `1`)", ("11", "1"), lambda a, b: a + 2 * b),
    ("y ~ I(`1` * 11 + `11`)", ("1", "11"), lambda a, b: 11 * a + b),
    ('y ~ I(`it\'s` + 2 * `say "x"`)', ("it's", 'say "x"'), lambda a, b: a + 2 * b),
    ("y ~ I(`it's` + 2 * `it`)", ("it's", "it"), lambda a, b: a + 2 * b),
    ("y ~ I(`a-b` + 2 * `a+b`)", ("a-b", "a+b"), lambda a, b: a + 2 * b),
    ("y ~ I(`a.b` + 2 * `a_b`)", ("a.b", "a_b"), lambda a, b: a + 2 * b),
    ("y ~ I(`#` + 2 * `'`)", ("#", "'"), lambda a, b: a + 2 * b),
    ("y ~ I(`(` + 2 * `)`)", ("(", ")"), lambda a, b: a + 2 * b),
    ("y ~ I(x + 2 * xx)", ("x", "xx"), lambda a, b: a + 2 * b),
    ("y ~ I(`\\\\` + 2 * `\\n`)", ("\\\\", "\\n"), lambda a, b: a + 2 * b),
    ("y ~ log(`a b`):`a_b`", ("a b", "a_b"), lambda a, b: np.log(a) * b),
    ("y ~ np.maximum(`a b`, a_b)", ("a b", "a_b"), np.maximum),
)
"""A formula, the names of its two columns, and its one term by hand."""


def _frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"y": [0, 1] * 6, "x": np.arange(12.0), **columns})


FRAMES = (
    lambda: pd.DataFrame(), lambda: pd.DataFrame({"y": []}), lambda: pd.DataFrame({"y": [0, 1]}),
    lambda: _frame().head(0), lambda: _frame().head(1), lambda: _frame().head(2),
    lambda: pd.concat([_frame(), _frame()], axis=1), lambda: _frame().set_index("x"),
    lambda: _frame().set_index(["x", "y"], drop=False), lambda: pd.DataFrame(np.ones((4, 2))),
    lambda: _frame().T, lambda: pl.DataFrame(), lambda: pa.table({}),
    lambda: pl.DataFrame({"y": [0, 1] * 6, "": range(12)}),
    lambda: pl.DataFrame({"y": [0, 1] * 6, "a\x00b": range(12)}),
    lambda: pa.table([[0, 1], [1, 2]], names=["y", "y"]),
    lambda: pa.table({"y": [0, 1, None] * 4, "x": pa.array(["a", "b"] * 6, pa.string_view())}),
    lambda: pa.table({"y": [0, 1, None] * 4, "x": pa.array([[1]] * 12, pa.list_view(pa.int64()))}),
    lambda: pa.table({"y": [0, 1] * 6, "x": pa.array([b"a", b"b"] * 6, pa.binary_view())}),
    lambda: pa.table({"y": pa.array(["0", "1"] * 6, pa.large_string()), "x": range(12)}),
    *(lambda z=z: _frame(z=z) for z in (
        np.nan, None, 1.0, np.inf, [1.0] * 11 + [1.0 + 1e-16], [0.0] * 11 + [5e-324],
        [1e300, -1e300] * 6, [1.7e308, -1.7e308] * 6, [2.0**53, 2.0**53 + 2] * 6,
        np.array([2**63 - 1, -(2**63)] * 6), np.array([2**64 - 1, 0] * 6, dtype=np.uint64),
        [2**70, 1] * 6, pd.array([None] * 12, dtype="Int64"), pd.Categorical([None] * 12),
        pd.Categorical([None] * 12, categories=["a"]), pd.Categorical([1.5, True] * 6),
        pd.Categorical(list("ab") * 6, categories=list("bac")), [1, "a"] * 6, [None, "a"] * 6,
        [True, None] * 6, [True, "a"] * 6, [(1,), (2,)] * 6, [{}, {}] * 6,
        [decimal.Decimal(1), decimal.Decimal("NaN")] * 6, [datetime.date(2020, 1, 1)] * 12,
        [pd.NA, 1] * 6, [pd.NaT, 1] * 6, [object()] * 12, ["\x00", "\x1b"] * 6, ["", " "] * 6,
        pd.Series(["\ud800", "a"] * 6, dtype=object), ["nan", "None"] * 6, ["x" * 5000, "y"] * 6,
        list("abcdefghijkl"),
    )),
)  # fmt: skip
"""Frames of which each is answered or refused, with all its rows."""


def numbered(rows: tuple[Any, ...]) -> list[str]:
    """Rows have numbers for names: what they hold can't be shown."""
    return [str(i) for i in range(len(rows))]


def check_said(error: pytest.ExceptionInfo[TreeselectError]) -> None:
    """A message says something, about something, in characters that can be shown."""
    said = str(error.value)
    assert re.search(r"[`='\"]|formula|expression|weights|offset", said)
    assert not RAW.search(said)
    assert len(said) < 8_000


def check_answer_or_refusal(formula: str, data: Any) -> None:
    """An answer has all rows; either can be shown."""
    try:
        fit = treeselect.select(formula, data, **QUICK)
        said = fit.summary().as_text()
    except TreeselectError as error:
        fit, said = None, str(error)
    assert not RAW.search(said)
    assert fit is None or len(fit.predict(data)) == len(data)


REFUSALS = [
    pytest.param(formula, error, id=f"{kind} {i}")
    for kind, formulas, error in (
        ("refused", REFUSED, FormulaError), ("long", LONG, FormulaError),
        ("not finite", NOT_FINITE, DataError),
    )
    for i, formula in enumerate(formulas)
]  # fmt: skip


@pytest.mark.parametrize(("formula", "error"), REFUSALS)
def test_a_formula_is_refused(formula, error):
    with pytest.raises(error, match="must be finite" if error is DataError else None) as found:
        treeselect.select(formula, DATA, **QUICK)
    check_said(found)


@pytest.mark.parametrize("formula", EITHER, ids=numbered(EITHER))
def test_a_formula_is_answered_or_refused(formula):
    check_answer_or_refusal(formula, DATA)


@pytest.mark.parametrize("formula", ANSWERED, ids=numbered(ANSWERED))
def test_a_formula_is_answered(formula):
    fit = treeselect.select(formula, DATA, **QUICK)
    assert len(fit.predict(DATA)) == len(DATA)
    if fit.selected:
        again = treeselect.select(fit.formula, DATA, **QUICK)
        assert again.selected == fit.selected


@pytest.mark.parametrize(("argument", "value", "error"), ARGUMENTS, ids=numbered(ARGUMENTS))
def test_an_argument_is_refused(argument, value, error):
    arguments = {**QUICK, argument: value}
    if argument in ("folds", "repeats", "fold_groups", "scoring"):
        arguments = {"folds": 2, **arguments, "k": "1se"}
    if argument in ("lam", "n_trees", "max_rounds", "level"):
        arguments["method"] = "rrf" if argument in ("lam", "n_trees") else "boruta"
    if argument in ("lam", "level"):
        del arguments["k"]
    with pytest.raises(error) as found:
        treeselect.select("y ~ .", DATA, **arguments)
    check_said(found)
    assert argument.rstrip("s") in str(found.value).lower()


def renamed(name: Any) -> pd.DataFrame:
    """The data with another name for `x`; halves of characters need an index of objects."""
    data = DATA.copy()
    data.columns = pd.Index([name if old == "x" else old for old in DATA.columns], dtype=object)
    return data


@pytest.mark.parametrize("name", NO_NAMES, ids=numbered(NO_NAMES))
def test_what_is_no_name_is_refused(name):
    with pytest.raises(TreeselectError) as error:
        treeselect.select("y ~ .", renamed(name), **QUICK)
    check_said(error)


@pytest.mark.parametrize(("formula", "names", "values"), ALIASES, ids=numbered(ALIASES))
def test_names_are_never_mixed_up(formula, names, values):
    """Each expression is worked out by hand from the columns that it names."""
    data = pd.DataFrame({"y": DATA["y"], names[0]: DATA["x"] + 3, names[1]: DATA["v"] * 1.0})
    fit = treeselect.select(formula, data, **QUICK)
    found = fit.data.design.model_matrix().iloc[:, -1]
    np.testing.assert_allclose(found, values(data[names[0]], data[names[1]]))


@pytest.mark.parametrize("make", FRAMES, ids=numbered(FRAMES))
def test_a_frame_is_answered_or_refused(make):
    check_answer_or_refusal("y ~ .", make())


def test_a_column_of_lists_is_no_column_of_groups():
    lists = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([[[1]] * 24])))
    for groups in (lists, "lists"):
        with pytest.raises(OptionError) as found:
            treeselect.select("y ~ x", DATA.assign(lists=lists), fold_groups=groups, **QUICK)
        check_said(found)
        assert "`fold_groups`" in str(found.value)


def test_rules_show_names_escaped():
    data = DATA.rename(columns={"x": "n\x1b[1m"})[["y", "n\x1b[1m"]]
    fit = treeselect.select("y ~ .", data, method="rrf", k=1, n_trees=3, seed=1, max_depth=2)
    for tree in (1, 2, 3):
        assert not RAW.search(fit.model.rules(tree))
    assert any("n\\x1b[1m" in fit.model.rules(tree) for tree in (1, 2, 3))


def test_codes_leave_columns_alone_that_they_do_not_concern():
    data = DATA.assign(c=DATA["x"] + 1j, none=pd.Series([None] * 24, dtype="str"))
    fit = treeselect.select("y ~ x + none", data, na=[-9, "?"], **QUICK)
    assert fit.selected == ("x",)
    with pytest.raises(DataError, match="complex"):
        treeselect.select("y ~ x + c", data, na=-9, **QUICK)


def test_a_summary_of_resamples_that_select_only_what_is_forced_in_has_even_rows():
    fit = treeselect.select("y ~ x + v", DATA, keep="x", **QUICK).resample(2)
    content = fit.summary().content
    assert all(len(row) == len(content.columns) for row in content.rows)
    assert "forced in" not in fit.summary().as_latex().split("\\bottomrule")[0]


def test_units_that_are_constant_have_no_importance_in_decisions(tmp_path):
    data, options = DATA[["y"]].assign(g="a"), {"n_trees": 4, "max_rounds": 5, "progress": False}
    fit = treeselect.select("y ~ .", data, method="boruta", k=1, **options)
    assert "best shadow" not in fit.report(tmp_path / "r.html").read_text("utf-8")
    fit = treeselect.select("y ~ .", data.assign(x=DATA["x"]), method="boruta", k=1, **options)
    page = fit.report(tmp_path / "r.html").read_text("utf-8")
    assert "best shadow" in page
    assert not re.search(r"\bnan\b", page)


def test_a_factor_of_one_level_predicts_the_mean():
    level = pd.Series(["a", "a", None, "a"] * 6, dtype="str")
    fit = treeselect.select("y ~ g", DATA.assign(g=level), **QUICK)
    with pytest.warns(TreeselectWarning, match="drops 6 of 24 rows"):
        linear = fit.refit("glm")
    found = linear.predict(DATA.assign(g="a"), se=True)
    assert len(found) == 24
    assert np.isfinite(found.to_numpy()).all()


def test_a_fitted_probability_of_zero_is_told_without_warnings():
    x = np.r_[np.linspace(-1, 1, 23), -1e4]
    data = pd.DataFrame({"y": [0, 1, 0, 0, 1, 0, 0, 1] * 2 + [0, 1, 1, 0, 1, 1, 1, 0], "x": x})
    fit = treeselect.select("y ~ x", data, keep="x", **QUICK)
    with pytest.warns(TreeselectWarning, match="Fitted probabilities of 0 or 1"):
        linear = fit.refit("glm")
    assert "Fitted probabilities of 0 or 1" in linear.summary().as_text()
    assert len(linear.drop1().tidy()) >= 1


def test_a_forest_without_out_of_bag_rows_is_refused():
    weights = RowWeights(np.ones(3), are_copies=True)
    problem = treeselect.select("x ~ v", DATA[:3], **{**QUICK, "k": 1}).data.design.problem
    with pytest.raises(MethodError, match="`n_trees` is too small"):
        out_of_bag_error(problem, weights, np.full(3, np.nan))


@pytest.mark.parametrize("kind", [None, "frequency", "sampling"])
@pytest.mark.parametrize("values", [[1.0] * 24, [0.0, 2.0] * 12], ids=["ones", "zeros and twos"])
def test_a_loaded_model_says_the_same_of_its_weights(kind, values, tmp_path):
    fit = treeselect.select("y ~ x", DATA.assign(y=DATA["v"]), weights=values, weights_kind=kind,
                            **QUICK)  # fmt: skip
    said = fit.summary().as_text()
    assert treeselect.load(fit.save(tmp_path / "m")).summary().as_text() == said
    words = "equal in all rows used" if 0.0 in values else "all equal: they have no effect"
    no_effect = kind != "frequency" or 0.0 not in values
    assert (words in said) == no_effect
    assert ("weights were used" in fit.search.citation().methods) != no_effect


def test_resamples_without_events_say_whose_fault_it_is():
    data = pd.DataFrame({"t": [259.0, 66.0, 261.0], "d": [0, 1, 0], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(StabilityError, match="The response of resample"):
        treeselect.select("Surv(t, d) ~ x", data, **QUICK).resample(20)
