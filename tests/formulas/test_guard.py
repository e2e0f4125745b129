"""What an expression may do, what R users are told, and names that stand elsewhere."""

import contextlib
import re
import sys
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeselect
from treeselect.designs.evaluation import evaluate
from treeselect.errors import DataError, FormulaError, OptionError, TreeselectError
from treeselect.formula import parse_formula
from treeselect.formulas.guard import updated_formula
from treeselect.formulas.terms import (
    Argument,
    Call,
    Column,
    Constant,
    Operation,
    Strata,
    Survival,
    nodes,
)
from treeselect.frames.values import read_column

COLUMNS = ["y", "x", "z", "age", "a b", "it's", 'say "hi"', "größe", "<script>", "class", "1st"]

ATTACKS = (
    "y ~ I(__import__('os').system('touch pwned'))",
    "y ~ {__import__('os').system('touch pwned') + x}",
    "y ~ log(__import__('os').system('touch pwned'))",
    "bs(__import__('os').system('touch pwned')) ~ x",
    "poly(__import__('os').system('touch pwned'), 2) ~ x", "I(open('pwned', 'w').write('x')) ~ x",
    "y ~ I(open('pwned', 'w'))", "y ~ {open('pwned', 'w') and x}",
    'y ~ {exec("open(\'pwned\', \'w\')")}', 'y ~ {eval("open(\'pwned\', \'w\')")}',
    "y ~ {compile('x', 'x', 'eval')}", 'y ~ {().__class__.__base__.__subclasses__()}',
    'y ~ {x.__class__}', "y ~ {x.to_csv('pwned')}", "y ~ {x.to_csv('pwned') or x}",
    'y ~ {x.values}', "y ~ {np.savetxt('pwned', x) or x}",
    "y ~ {np.load('pwned', allow_pickle=True)}", "y ~ log(x, out=open('pwned', 'w'))",
    'y ~ log(x, out=x)', 'y ~ log(*[x])', "y ~ log(**{'x': x})", 'y ~ log(x, x)', 'y ~ I(x)[0]',
    'y ~ {x[0]}', 'y ~ {x[x > 0]}', "y ~ {(lambda: open('pwned', 'w'))()}",
    'y ~ {(lambda v: v)(x)}', 'y ~ {[v for v in x]}', 'y ~ {sum(v for v in x)}',
    'y ~ {{v for v in x}}', "y ~ {f'{x}'}", 'y ~ {(q := x)}', 'y ~ {x if x else z}',
    'y ~ {x and z}', 'y ~ {not x}', 'y ~ {x in [1, 2]}', 'y ~ {x is None}', 'y ~ {x @ z}',
    'y ~ {x << 99999999}', "y ~ {x * 'a'}", "y ~ {'a' * 999999999}", 'y ~ {9**9**9 + x}',
    'y ~ {x ** 9 ** 9}', 'y ~ {x ** 1000}', 'y ~ {2 ** 16 + x}', 'y ~ {x ** z}',
    "y ~ {getattr(x, 'to_csv')('pwned')}", 'y ~ {globals()}', 'y ~ {vars(x)}', 'y ~ {print(x)}',
    'y ~ {input()}', 'y ~ {breakpoint()}', 'y ~ {__builtins__}', 'y ~ {__FORMULAIC_CONTEXT__}',
    'y ~ {_x}', 'y ~ {...}', 'y ~ {None}', 'y ~ {1j * x}', "y ~ {b'a' == x}", 'y ~ {0 < x < 1}',
    'y ~ {yield}', 'y ~ {x; z}', 'y ~ hashed(x)', 'y ~ lag(x)', 'y ~ {1 + 1}', 'y ~ x ** 999999',
    'y ~ (x + z) ** 99', 'y ~ [x ~ z]', "bs(x, df=__import__('os').system('touch pwned')) ~ z",
    "cr(x, df=open('pwned', 'w')) ~ z", "{open('pwned', 'w').write('x')} ~ x",
    'y ~ {f\'{open("pwned", "w")}\' == x}', 'y ~ {x == (lambda: 1)}',
    "y ~ {[open('pwned', 'w')][0] == x}", "y ~ {x == 'a' * 999999999}", "y ~ {x == 'a' + 'b'}",
    'y ~ {log}', 'y ~ {I(I)}', 'y ~ {(x).to_csv}', 'y ~ {C(x) + C(z)}', 'y ~ I(C(x))',
    'y ~ {True.__class__ == x}', 'y ~ {x ** -1000}', 'y ~ {x ** 1e9}', 'y ~ {x ** True ** 9}',
    'y ~ {*x}', 'y ~ {x: z}', 'y ~ log(x)(z)', 'y ~ {__class__ + x}', "y ~ `a b`.to_csv('pwned')",
    "y ~ {`a b`.to_csv('pwned')}", "y ~ {__\uff49mport__('os') + x}", 'y ~ Q(x)',
    "y ~ Q('__import__')",
    "y ~ Q('x', 'y')", "y ~ Q(f'{x}')", 'y ~ hashed(x, 10, hash_func=open)',
    'y ~ hashed(x, levels=10**9)', 'y ~ hashed(x, levels=999999999)',
    "y ~ hashed(open('pwned', 'w'), 3)", 'y ~ bs(x, df=10**8)', 'y ~ bs(x, df=100000000)',
    'y ~ bs(x, degree=100)', "y ~ bs(x, 4, knots=open('pwned', 'w'))",
    'y ~ bs(x, knots=[i for i in x])', 'y ~ bs(x, _state={})', "y ~ bs(x, **{'df': 4})",
    'y ~ bs(*[x, 4])', "y ~ cr(x, 3, constraints=open('pwned', 'w'))", 'y ~ poly(x, degree=z)',
    'y ~ poly(x, 2, _context=1)', 'y ~ poly(x, 2).T', 'y ~ {poly(x, 2) * 2}',
    'y ~ {cs(x, 3) + 1}', 'y ~ {cc(x, 3) + 1}', 'y ~ {cr(x, 3) + 1}', 'y ~ {hashed(x, 3) + 1}',
    'y ~ scale(x, ddof=1001)', 'y ~ scale(x, ddof=-1)', 'y ~ bs(x, df=1001)',
    'y ~ scale(x, out=z)', 'y ~ C(x, contr.custom([[1]]))', 'y ~ C(x, contr.__class__)',
    "y ~ C(x, contr.treatment(open('pwned', 'w')))", 'y ~ C(x, Treatment(x))',
    'y ~ C(x, np.array)', "y ~ C(x, levels=open('pwned', 'w'))", 'y ~ C(x, encoder=open)',
    "y ~ np.save('pwned', x)", "y ~ np.savetxt('pwned', x)", "y ~ np.fromfile('pwned')",
    'y ~ np.log(x, out=z)', 'y ~ np.log(x, where=x > 0)', "y ~ np.lib.npyio.np.save('pwned', x)",
    'y ~ np.vectorize(open)(x)', 'y ~ np.__builtins__', 'y ~ {np}',
    "y ~ np.where(x > 0, 'a', 'b')", "y ~ np.where(x > 0, open('pwned', 'w'), 1)", 'y ~ I(x, z)',
    "y ~ {x == open('pwned', 'w')}", "y ~ x:I(__import__('os').system('touch pwned'))",
    "y ~ (x + z)^2 + {open('pwned', 'w').write('x')}", 'y ~ (x + z)^99', 'y ~ x^{9**9}',
    "y ~ C(open('pwned', 'w'))", "y ~ I(x == '`age`') + z", "Surv(open('pwned', 'w'), y) ~ x",
    "Surv(x, __import__('os').system('touch pwned')) ~ z", "Surv(x, y == open('pwned', 'w')) ~ z",
    "Surv(x, event=open('pwned', 'w')) ~ z", "Surv(x, y, type=open('pwned', 'w')) ~ z",
    "Surv(*open('pwned', 'w')) ~ z", "Surv(**open('pwned', 'w')) ~ z", 'Surv(x, y).__class__ ~ z',
    'Surv(x, (lambda: y)()) ~ z',
    "Surv(x, '`' + str(__import__('os').system('touch pwned')) + '`') ~ z",
    "Surv(x, y) ~ z + strata(open('pwned', 'w'))", "Surv(x, y) ~ z + strata(*open('pwned', 'w'))",
    "Surv(x, y) ~ z + strata(age, labels=open('pwned', 'w'))",
    'Surv(x, y) ~ z + strata(age.__class__)', "Surv(x, y) ~ z + strata(f'{age}')",
)  # fmt: skip

HONEST = (
    'y ~ x', 'y ~ .', 'y ~ . - x', 'y ~ . - x - z', 'y ~ . - (x + z)', 'y ~ x + z - 1',
    'y ~ 0 + x', 'y ~ log(x)', 'log(y) ~ log(x) + z', 'I(y > 3) ~ x', 'y ~ I(x > 3)',
    'y ~ I((x > 3) & (z < 2))', 'y ~ I((x == 1) | ~(z >= 2))', "y ~ I(x == 'north')",
    "y ~ I('north' == x)", 'y ~ {x + z}', 'y ~ {x * z / 2 - 1}', 'y ~ {x % 2} + {x // 2}',
    'y ~ {-x}', 'y ~ {x ** 2}', 'y ~ {x ** -0.5}', 'y ~ sqrt(x) + exp(z) + abs(age)',
    'y ~ log1p(x) + log10(z) + log2(age) + expm1(x)', 'y ~ scale(x) + center(z)',
    'y ~ C(x) + C(`a b`)', 'y ~ `a b` + `it\'s` + `say "hi"` + größe',
    'y ~ `<script>` + `class` + `1st`', 'y ~ log(`a b`) + I(`<script>` > 2)',
    'y ~ log(log(x + 1) + 1)', 'y ~ floor(x) + ceil(x) + sin(x) + cos(x) + tanh(x)',
    'y ~ I(x > 1e3) + I(x <= .5)', 'y ~ I(x == True)',
    'y ~ log(`it\'s`) + {`say "hi"` * 2} + I(größe > 1)', 'y ~ {`größe` + `1st`}',
    'y ~ I(`a b` == "it\'s")', 'y ~ {C(x)}', '`a b` ~ x', 'log(`a b`) ~ . - `it\'s` - `say "hi"`',
    'y~x+z', 'y ~ np.log(x)', 'y ~ np.maximum(x, z) + np.where(x > 0, x, -z) + np.clip(x, 0, 1)',
    'y ~ Q(\'a b\') + Q("it\'s")', 'y ~ x:z', 'y ~ x*z*age', 'y ~ (x + z + age)^2',
    'y ~ (x + z)**2', 'y ~ .^2', 'y ~ x %in% z', 'y ~ x/z', 'y ~ . + x:z - age', 'y ~ .^2 - x:z',
    "y ~ `a b`:`it's` + größe:`<script>`", 'y ~ bs(x, 4)', 'y ~ bs(x, knots=[1])',
    'y ~ bs(x, df=5, degree=2, include_intercept=True)',
    "y ~ bs(`a b`, knots=[1.5, -2], lower_bound=-9, upper_bound=9, extrapolation='clip')",
    "y ~ cr(x, 3) + cc(z, df=4) + cs(age, df=3, constraints='center')",
    'y ~ poly(x, 3) + poly(z, degree=2, raw=True)', 'y ~ poly(log(x), 2):C(z)',
    'y ~ hashed(x, 10) + hashed(z, levels=20)', "y ~ C(x, contr.treatment('a'))",
    "y ~ C(x, contr.treatment(base='a')) + C(z, contr.sum)",
    "y ~ C(x, Treatment('a')) + C(z, Sum) + C(age, contr.poly)",
    "y ~ C(x, levels=['b', 'a', 'c'])", 'y ~ C(x, contr.helmert, levels=[3, 1])',
    'y ~ standardize(x) + scale(z, center=False) + scale(age, ddof=0)', 'y ~ 2:x',
    'y ~ x + z:C(age):bs(`1st`, 4)', 'Surv(x, y) ~ . + strata(age, z > 1)',
    "Surv(`a b` / 7, `it's` == 'dead') ~ x", 'Surv(time=`1st`, event=y) ~ x + strata(`<script>`)',
)  # fmt: skip


class Watch:
    """What the interpreter runs, opens or imports while it is on; hooks can't be taken off."""

    on = False
    seen: ClassVar[list[str]] = []

    def hook(self, event, _):
        if self.on and event in ("exec", "open", "import", "os.system", "subprocess.Popen"):
            self.seen.append(event)


def test_no_formula_runs_opens_or_imports_anything(mixed):
    watch = Watch()
    sys.addaudithook(watch.hook)
    frame = pd.DataFrame({name: mixed["signal"].abs() + 1 for name in COLUMNS})
    columns = {name: read_column(frame[name], name) for name in COLUMNS}

    def handle(formula):
        with contextlib.suppress(TreeselectError):
            for term in parse_formula(formula, COLUMNS).terms:
                for factor in term.factors:
                    evaluate(factor, columns, {})

    try:
        for _ in range(2):  # the first time imports what formulaic and numpy load late
            for formula in (*HONEST, *ATTACKS):
                handle(formula)
            assert not watch.seen
            watch.on = True
        exec("1")
        assert watch.seen == ["exec"]  # it would have heard
    finally:
        watch.on = False


def test_what_is_evaluated_are_the_checked_records_and_never_text():
    (term,) = parse_formula("y ~ I(log(`a b`) > 2 * x)", COLUMNS).terms
    assert term.factors[0].node == Call(
        "I", (Operation(">", (Call("log", (Column("a b"),)),
                              Operation("*", (Constant(2), Column("x"))))),)
    )  # fmt: skip


@pytest.mark.parametrize("formula", ATTACKS)
def test_attacks_are_refused_and_nothing_runs(formula, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormulaError):
        parse_formula(formula, COLUMNS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("formula", HONEST)
def test_honest_formulas_are_accepted(formula):
    parsed = parse_formula(formula, COLUMNS)
    assert parsed.terms
    assert all(term.name and term.factors for term in parsed.terms)
    assert all(v in COLUMNS for term in parsed.terms for v in term.variables)


@pytest.mark.parametrize("name", ["class", "True", "None", "lambda"])
def test_a_keyword_as_a_column_of_an_expression(name):
    """`True` would be evaluated as the constant: 2, 3, 4 for `x + True`, in silence."""
    columns = ["y", "x", name]
    assert parse_formula("y ~ .", columns).terms[1].name == name
    with pytest.raises(FormulaError, match="Its name is a Python keyword"):
        parse_formula(f"y ~ {{x + `{name}`}}", columns)


def test_columns_whose_names_are_code_are_only_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    odd = "__import__('os').system('touch pwned')"
    frame = pd.DataFrame({"y": [1.0, 2.0, 3.0], odd: [1.0, 2.0, 4.0]})
    term = parse_formula(f"y ~ log(`{odd}`)", list(frame.columns)).terms[0]
    values = evaluate(term.factors[0], {odd: read_column(frame[odd], odd)}, {})
    np.testing.assert_allclose(values.values, np.log([1, 2, 4]))
    assert list(tmp_path.iterdir()) == []


def test_a_dotted_column_is_told_from_an_attribute():
    columns = ["y", "Sepal.Length"]
    assert parse_formula("y ~ Sepal.Length", columns).terms[0].name == "Sepal.Length"
    with pytest.raises(FormulaError, match=r"Write log\(`Sepal\.Length`\)"):
        parse_formula("y ~ log(Sepal.Length)", columns)


def test_trusted_opens_the_guard(mixed):
    fit = treeselect.select(
        "dose ~ signal + {signal.abs()} + np.sign(noise) + {np.where(signal > 0, 1, 2)}",
        mixed, method="controlburn", k=1, seed=1, trusted=True, forests=1, n_trees=3,
    )  # fmt: skip
    assert set(fit.tidy()["term"]) == {
        "signal", "signal.abs()", "np.sign(noise)", "np.where(signal > 0, 1, 2)",
    }  # fmt: skip
    with pytest.raises(FormulaError, match="trusted=True"):
        treeselect.select("dose ~ signal + {signal.abs()}", mixed, k=1)
    with pytest.raises(OptionError, match="`trusted` must be True or False"):
        treeselect.select("dose ~ signal", mixed, k=1, trusted="no")
    with pytest.raises(FormulaError, match="Can't call `f`"):  # a factor must be known
        parse_formula("y ~ C(f(x))", COLUMNS, trusted=True)
    assert parse_formula("y ~ {x.shift(1)}", ["y", "x", "None"], trusted=True).terms[0].variables


def test_columns_named_like_functions_are_refused():
    with pytest.raises(
        FormulaError, match="The column `log` must not share its name with the function `log`"
    ):
        parse_formula("y ~ log(x)", ["y", "x", "log"])
    assert parse_formula("y ~ log + x", ["y", "x", "log"]).terms[0].name == "log"


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ("I(x == " + "''" * 100_000 + ")", "at most 5,000 characters"),
        ("(x + {" + "x + " * 2_000 + "x})", "at most 5,000 characters"),
        ("I(`" + "x" * 4_000 + "` + `" + "z" * 4_000 + "`)", "at most 5,000 characters"),
        ("I(" + "-" * 200 + "x)", "must not nest more than 200 operations"),
        ("x" + " . " * 100_000, r"Missing operator between `x` and `\.`"),
        ("x z", "Missing operator between `x` and `z`"),
        ("log(x) `z z`", r"Missing operator between `log\(x\)` and `z z`"),
    ],
    ids=["call", "braces", "columns", "depth", "dots", "names", "call and name"],
)
def test_what_would_take_minutes_is_refused(right, said):
    with pytest.raises(FormulaError, match=said):
        parse_formula(f"y ~ {right}", ["x", "y", "z", "z z"])


def test_many_terms_between_parentheses_are_read():
    names = [f"x{i}" for i in range(1_000)]
    found = parse_formula(f"y ~ ({' + '.join(names)})", ["y", *names])
    assert [term.name for term in found.terms] == names


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("y ~ . - id", "~ . - age", "y ~ . - id - age"),
        ("y ~ a + b", ". ~ . + x", "y ~ a + b + x"),
        ("y ~ a + b", "log(.) ~ .", "log(y) ~ a + b"),
        ("y ~ a + b", "~ .:x", "y ~ (a + b):x"),
        ("y ~ a", "~ .:x", "y ~ a:x"),
        ("a - b ~ x", "1 / . ~ .", "1 / (a - b) ~ x"),
        ("y ~ a", "z ~ b", "z ~ b"),
        ("y ~ a", "~ I(b * 1.5) + np.log(c) + .5", "y ~ I(b * 1.5) + np.log(c) + .5"),
        ("`y ~ .` ~ `a.b`", "~ . + `c . d`", "`y ~ .` ~ `a.b` + `c . d`"),
        ('y ~ C(g, levels=["u . v"])', "~ . + x", 'y ~ C(g, levels=["u . v"]) + x'),
        ("Surv(t, e) ~ .", "~ . + strata(s)", "Surv(t, e) ~ . + strata(s)"),
    ],
)
def test_a_dot_stands_for_the_old_side(old, new, found):
    assert updated_formula(old, new) == found


@pytest.mark.parametrize("new", [". - age", "y ~ a ~ b", "~", "y ~ "])
def test_what_is_no_formula(new):
    with pytest.raises(FormulaError):
        updated_formula("y ~ a", new)
    with pytest.raises(FormulaError) as caught:
        updated_formula("y ~ a", "x" * 10_000)
    assert len(str(caught.value)) < 500


# --- formulas of R get a hint, and what the hint says to write works ------------------------------


DATA = pd.DataFrame(
    {
        "y": np.arange(8) % 2, "x": [1.5, 2, 3, 4, 5, 6, 7, 8], "z": [2.0, 1, 2, 1, 2, 1, 2, 1],
        "age": [20, 30, 40, 50, 60, 70, 80, 90], "site": list("abababab"),
        "flag": [True, False] * 4,
    }
)  # fmt: skip
FRAME = DATA.assign(a=DATA["site"], b=DATA["site"])
EXPRESSION = re.compile(r"`([^`]+)`")

# What is written in R; what the error must propose, or a part of its advice.
HABITS = {
    "I(x^2)": "I(x ** 2)",
    "log(x^2 + age^3)": "log(x ** 2 + age ** 3)",
    "factor(x)": "C(x)",
    "as.factor(x)": "C(x)",
    "as.character(x)": "C(x)",
    "relevel(site, ref='a')": "C(site, contr.treatment('a'))",
    "ns(age, 3)": "cr(age, df=4, constraints='center')",
    "s(age)": "bs(age, df=4)",
    "lo(age)": "poly(age, 2)",
    "rcs(age, 4)": "cr(age, df=4, constraints='center')",
    "cut(age, 3)": "I(age > 40)",
    "x %in% c(1, 2)": "I((x == 1) | (x == 2))",
    "I(x %in% c(1, 2))": "I((x == 1) | (x == 2))",
    "I(x %% 2)": "I(x % 2)",
    "x %% 2": "I(x % 2)",
    "I(x %/% 2)": "I(x // 2)",
    "pmin(x, z)": "np.minimum(x, z)",
    "pmax(x, z)": "np.maximum(x, z)",
    "round(x)": "np.rint(x)",
    "trunc(x)": "np.trunc(x)",
    "ceiling(x)": "ceil(x)",
    "square(x)": "I(x ** 2)",
    "log(x, 2)": "log2(x)",
    "log(x, 3)": "I(log(x) / log(3))",
    "as.integer(x)": "np.trunc(x)",
    "as.logical(x)": "I(x != 0)",
    "droplevels(site)": "site",
    "interaction(a, b)": "a:b",
    "I(!flag)": "I(~(x > 1))",
}
SAID = {
    "offset(x)": "`offset=`",
    "weights(x)": "`weights=`",
    "cluster(site)": "`fold_groups=`",
    "frailty(site)": "`strata(site)` gives each site",
    "tt(age)": "Time-varying effects",
    "pspline(age)": "Trees fit non-linear effects",
    "I(d$age)": "Name columns without their data frame",
    "x | site": "`fold_groups=`",
    "(1 | site)": "`fold_groups=`",
    "(x || site)": "`fold_groups=`",
    "Error(site)": "`fold_groups=`",
    "I(is.na(x))": "data['x'].isna()",
    "I(x == NA)": "data['x'].isna()",
    "as.numeric(x)": "pandas.to_numeric(data['x'], errors='coerce')",
    "as.ordered(x)": "ordered=True",
    "as.Date(x)": "pandas.to_datetime",
    "ifelse(x > 1, 1, 0)": "np.where(condition, yes, no)",
    "I(x > 1 && z > 1)": "Write `&` and `|`",
    "poly(x, 2, raw=TRUE)": "Write `True`",
    "sin(pi * x)": "Write 3.14159",
    "median(x)": "computed column to `data`",
    "Surv(x, y)": "`Surv(time, event) ~ .`",
    "splines::ns(x)": "without their package",
    "x, data=df": "outside its quotation marks",
    "!flag": "Write `I(~x)`",
}


def _error(formula: str) -> str:
    with pytest.raises(FormulaError) as caught:
        parse_formula(formula, list(FRAME))
    return str(caught.value)


@pytest.mark.parametrize("habit", HABITS)
def test_what_a_hint_proposes_works(habit):
    said = _error(f"y ~ {habit}")
    proposed = HABITS[habit]
    assert f"`{proposed}`" in said.split("\n", 1)[1]
    (term,) = parse_formula(f"y ~ {proposed}", list(FRAME)).terms
    for factor in term.factors:
        columns = {name: read_column(FRAME[name], name) for name in factor.variables}
        evaluate(factor, columns, {})


@pytest.mark.parametrize("habit", SAID)
def test_other_habits_get_advice(habit):
    assert SAID[habit] in _error(f"y ~ {habit}")


def test_an_equals_sign_is_no_tilde():
    assert "separated by `~`" in _error("y = x")


@pytest.mark.parametrize(
    "call", ["bs(age, df=4)", "bs(age, 4, degree=2)", "cr(age, df=4, extrapolation='raise')"]
)
def test_a_spline_beyond_its_range_names_choices_that_work(call):
    (term,) = parse_formula(f"y ~ {call}", list(FRAME)).terms
    (factor,) = term.factors
    state: dict = {}
    evaluate(factor, {"age": read_column(FRAME["age"], "age")}, state)
    new = pd.DataFrame({"age": [10, 50, 95]})
    with pytest.raises(DataError, match="range of the spline, 20 to 90") as caught:
        evaluate(factor, {"age": read_column(new["age"], "age")}, state)
    _, *proposals = EXPRESSION.findall(str(caught.value))
    (term,) = parse_formula(f"y ~ {proposals[0]}", list(FRAME)).terms
    (again,) = term.factors
    learned: dict = {}
    evaluate(again, {"age": read_column(FRAME["age"], "age")}, learned)
    beyond = evaluate(again, {"age": read_column(new["age"], "age")}, learned)
    assert np.isfinite(np.array(beyond.columns)).all()
    exec(proposals[1], {"data": new})
    assert new["age"].tolist() == [20, 50, 90]
    evaluate(factor, {"age": read_column(new["age"], "age")}, state)


# --- `Surv()` and `strata()`: what they are read as, and what they may not be ---------------------


SURVIVAL_COLUMNS = ["time", "status", "age", "sex", "site", "begin", "end", "a b"]


def parsed(formula, **options):
    return parse_formula(formula, SURVIVAL_COLUMNS, **options)


def plain(name):
    return Argument(name, Column(name))


@pytest.mark.parametrize(
    ("left", "start", "stop", "event"),
    [
        ("Surv(time, status)", None, "time", "status"),
        ("{Surv(time, status)}", None, "time", "status"),
        ("Surv(begin, end, status)", "begin", "end", "status"),
        ("Surv(time=end, event=status)", None, "end", "status"),
        ("Surv(event=status, time=end)", None, "end", "status"),
        ("Surv(end, event=status)", None, "end", "status"),
        ("Surv(time=begin, time2=end, event=status)", "begin", "end", "status"),
        ("Surv(begin, end, event=status)", "begin", "end", "status"),
        ("Surv(start=begin, stop=end, event=status)", "begin", "end", "status"),
        ("Surv(`a b`, status)", None, "a b", "status"),
        ("Surv(Q('a b'), status)", None, "a b", "status"),
    ],
)
def test_arguments_by_place_and_by_name(left, start, stop, event):
    node = parsed(f"{left} ~ age").response.factors[0].node
    assert node == Survival(None if start is None else plain(start), plain(stop), plain(event))


def test_expressions_are_records():
    found = parsed("Surv(time / 7, status == 'dead') ~ age")
    assert found.response.name == "Surv(time / 7, status == 'dead')"
    assert found.response.factors[0].node == Survival(
        None,
        Argument("time / 7", Operation("/", (Column("time"), Constant(7)))),
        Argument("status == 'dead'", Operation("==", (Column("status"), Constant("dead")))),
    )


@pytest.mark.parametrize(
    ("right", "terms", "strata"),
    [
        (".", ["age", "sex", "site", "begin", "end", "a b"], []),
        (". + strata(site)", ["age", "sex", "begin", "end", "a b"], ["site"]),
        ("strata(site) + .", ["age", "sex", "begin", "end", "a b"], ["site"]),
        (". - site + strata(site)", ["age", "sex", "begin", "end", "a b"], ["site"]),
        (". + strata(site, sex)", ["age", "begin", "end", "a b"], ["sex", "site"]),
        (". + strata(site) + strata(sex)", ["age", "begin", "end", "a b"], ["sex", "site"]),
        ("age + strata(site) + strata(site)", ["age"], ["site"]),
        ("age + strata(`a b`)", ["age"], ["a b"]),
        ("age + strata(age > 60)", ["age"], ["age > 60"]),
        ("age:site + strata(site)", ["age:site"], ["site"]),
    ],
)
def test_strata_are_no_terms(right, terms, strata):
    found = parsed(f"Surv(time, status) ~ {right}")
    assert [term.name for term in found.terms] == terms
    assert [factor.name for factor in found.strata] == strata


def test_the_columns_behind_the_outcome_and_the_formula_of_a_selection():
    found = parsed("Surv(time, status) ~ age + sex + strata(site, `a b`, begin > 2)")
    assert found.outcome_variables == ("time", "status", "a b", "begin", "site")
    text = found.text_of(["sex"])
    assert text == "Surv(time, status) ~ sex + strata(`a b`, begin > 2, site)"
    again = parsed(text)
    assert (again.strata, again.response) == (found.strata, found.response)
    assert parsed("log(age) ~ sex + `a b`").text_of(["a b"]) == "log(age) ~ `a b`"
    assert parsed("age ~ sex").text_of([]) == "age ~ 1"


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("Surv(time) ~ age", "must have two or three arguments"),
        ("Surv() ~ age", "Found: 0 arguments"),
        ("Surv(begin, end, status, age) ~ sex", "Found: 4 arguments"),
        ("Surv(*time, status) ~ age", r"must have two or three arguments(?s:.)*Found: `\*`"),
        ("Surv(time, status, type='right') ~ age", "must not have the argument `type`"),
        ("Surv(time, status, origin=0) ~ age", "must not have the argument `origin`"),
        ("Surv(**{'time': 1}) ~ age", r"must not have the argument `\*\*`"),
        ("Surv(time, status, 'dead') ~ age", "Surv\\(time, status == 'dead'\\)"),
        ("Surv(time, time=end) ~ age", "each of its arguments exactly once"),
        ("Surv(start=begin, event=status) ~ age", "each of its arguments exactly once"),
        ("Surv(time, 1) ~ age", "must use a column"),
        ("Surv(time, True) ~ age", "must use a column"),
        ("Surv(scale(time), status) ~ age", "a function of a whole column"),
        ("Surv(C(time), status) ~ age", r"`C\(\)` inside an expression"),
        ("Surv(strata(time), status) ~ age", r"`strata\(\)` inside an expression"),
        ("Surv(Surv(time, status), status) ~ age", r"`Surv\(\)` inside an expression"),
        ("log(Surv(time, status)) ~ age", r"`Surv\(\)` inside an expression"),
        ("Surv(tme, status) ~ age", "Did you mean `time`"),
        ("Surv(time, status) + sex ~ age", "must have a single response"),
        ("age ~ Surv(time, status)", "must be on the left-hand side"),
        ("Surv(time, status) ~ age:Surv(begin, sex)", "must be on the left-hand side"),
        ("Surv(time, status) ~ age + status", "must not use the response"),
        ("strata(site) ~ age", "must be on the right-hand side"),
        ("age ~ . + strata(site)", "must be used with times to an event"),
        ("Surv(time, status) ~ strata(site)", "at least one term besides its strata"),
        ("Surv(time, status) ~ . - strata(site)", "must not follow a minus sign"),
        ("Surv(time, status) ~ -strata(site)", "must not follow a minus sign"),
        ("Surv(time, status) ~ age:strata(site)", "age:site \\+ strata"),
        ("Surv(time, status) ~ age*strata(site)", "must not be part of an interaction"),
        ("Surv(time, status) ~ age + strata(sex):strata(site)", r"strata\(a, b\)"),
        ("Surv(time, status) ~ site + strata(site)", "`site` must not be a term: it uses"),
        ("Surv(time, status) ~ age + C(site):sex + strata(site, sex)", "uses stratum variables"),
        ("Surv(time, status) ~ age + strata(status)", "must not use the response"),
        ("Surv(time, status) ~ age + strata()", "one or more columns"),
        ("Surv(time, status) ~ age + strata(site, shortlabel=True)", "one or more columns"),
        ("Surv(time, status) ~ age + strata(C(site))", r"`C\(\)` inside an expression"),
        ("Surv(time, status) ~ age + strata(1)", "must use a column"),
        ("Surv(time, open('x')) ~ age", "Can't call `open`"),
        ("Surv(time, status.values) ~ age", "must not contain an attribute"),
        ("Surv(time, status) ~ age + strata(__import__('os'))", "Can't call"),
    ],
)
def test_what_they_may_not_be(formula, said, trusted):
    """A formula that is trusted may run code, but what is a time or a stratum must be known."""
    with pytest.raises(FormulaError, match=said):
        parsed(formula, trusted=trusted)


def test_names_that_are_near_or_the_same():
    with pytest.raises(FormulaError, match="Did you mean `Surv`"):
        parsed("surv(time, status) ~ age")
    with pytest.raises(FormulaError, match="must not share its name with the function `strata`"):
        parse_formula("Surv(t, e) ~ x + strata(strata)", ["t", "e", "x", "strata"])


PIECES = st.recursive(
    st.sampled_from(
        ["time", "status", "`a b`", "1", "'dead'", "True", "None", "...", "x", "__import__"]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "==", ">", "&", "@", ",", "=", "~"]), inner).map(
            " ".join
        ),
        st.tuples(
            st.sampled_from(["Surv", "strata", "I", "log", "C", "Q", "open", "eval", "", "time="]),
            inner,
        ).map(lambda parts: f"{parts[0]}({parts[1]})"),
        inner.map(lambda part: f"{part}.__class__"),
        inner.map(lambda part: f"*{part}"),
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=60)
@given(st.lists(PIECES, min_size=1, max_size=3).map(", ".join), st.booleans(), st.booleans())
def test_arguments_are_columns_and_arithmetic_or_an_error(arguments, on_the_left, trusted):
    formula = (
        f"Surv({arguments}) ~ age"
        if on_the_left
        else f"Surv(time, status) ~ age + strata({arguments})"
    )
    try:
        found = parsed(formula, trusted=trusted)
    except FormulaError:
        return
    node = found.response.factors[0].node
    for factor in (*found.response.factors, *found.strata):
        kinds = {type(part) for part in nodes(factor.node)}
        assert kinds <= {Survival, Strata, Column, Constant, Operation, Call}
    assert isinstance(node, Survival)
    assert parsed(found.text_of(["age"])).strata == found.strata
