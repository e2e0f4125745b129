"""What a formula may not do, and what it may: two tables."""

from __future__ import annotations

import contextlib
import sys
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs.evaluation import evaluate
from treeselect.errors import FormulaError, OptionError, TreeselectError
from treeselect.formula import parse_formula
from treeselect.formulas.guard import updated_formula
from treeselect.formulas.terms import Call, Column, Constant, Operation
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
    "y ~ `a b`:`it's` + größe:`<script>`", 'y ~ bs(x, 4)',
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


def test_trusted_must_be_a_truth_value(mixed):
    with pytest.raises(OptionError, match="`trusted` must be True or False"):
        treeselect.select("dose ~ signal", mixed, k=1, trusted="no")


def test_f11_a_column_that_shadows_a_function_is_refused():
    with pytest.raises(
        FormulaError, match="The column `log` must not share its name with the function `log`"
    ):
        parse_formula("y ~ log(x)", ["y", "x", "log"])
    assert parse_formula("y ~ log + x", ["y", "x", "log"]).terms[0].name == "log"


def test_a_column_named_like_an_expression_is_refused():
    with pytest.raises(FormulaError, match="Rename the column"):
        parse_formula("y ~ . + log(x)", ["y", "x", "log(x)"])


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
