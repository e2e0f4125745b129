"""What a formula may not do, and what it may: two tables."""

from __future__ import annotations

import pytest

import treeselect
from treeselect.errors import FormulaError, NotBuiltError
from treeselect.formula import parse_formula

COLUMNS = ["y", "x", "z", "age", "a b", "it's", 'say "hi"', "größe", "<script>", "class", "1st"]

ATTACKS = """
y ~ I(__import__('os').system('touch pwned'))
y ~ {__import__('os').system('touch pwned') + x}
y ~ log(__import__('os').system('touch pwned'))
bs(__import__('os').system('touch pwned')) ~ x
poly(__import__('os').system('touch pwned'), 2) ~ x
I(open('pwned', 'w').write('x')) ~ x
y ~ I(open('pwned', 'w'))
y ~ {open('pwned', 'w') and x}
y ~ {exec("open('pwned', 'w')")}
y ~ {eval("open('pwned', 'w')")}
y ~ {compile('x', 'x', 'eval')}
y ~ {().__class__.__base__.__subclasses__()}
y ~ {x.__class__}
y ~ {x.to_csv('pwned')}
y ~ {x.to_csv('pwned') or x}
y ~ {x.values}
y ~ {np.savetxt('pwned', x) or x}
y ~ np.log(x)
y ~ {np.load('pwned', allow_pickle=True)}
y ~ log(x, out=open('pwned', 'w'))
y ~ log(x, out=x)
y ~ log(*[x])
y ~ log(**{'x': x})
y ~ log(x, x)
y ~ I(x)[0]
y ~ {x[0]}
y ~ {x[x > 0]}
y ~ {(lambda: open('pwned', 'w'))()}
y ~ {(lambda v: v)(x)}
y ~ {[v for v in x]}
y ~ {sum(v for v in x)}
y ~ {{v for v in x}}
y ~ {f'{x}'}
y ~ {(q := x)}
y ~ {x if x else z}
y ~ {x and z}
y ~ {not x}
y ~ {x in [1, 2]}
y ~ {x is None}
y ~ {x @ z}
y ~ {x << 99999999}
y ~ {x * 'a'}
y ~ {'a' * 999999999}
y ~ {9**9**9 + x}
y ~ {x ** 9 ** 9}
y ~ {x ** 1000}
y ~ {2 ** 16 + x}
y ~ {x ** z}
y ~ {getattr(x, 'to_csv')('pwned')}
y ~ {globals()}
y ~ {vars(x)}
y ~ {print(x)}
y ~ {input()}
y ~ {breakpoint()}
y ~ {__builtins__}
y ~ {__FORMULAIC_CONTEXT__}
y ~ {_x}
y ~ {...}
y ~ {None}
y ~ {1j * x}
y ~ {b'a' == x}
y ~ {0 < x < 1}
y ~ {yield}
y ~ {x; z}
y ~ Q('x')
y ~ hashed(x)
y ~ lag(x)
y ~ C(x, contr.treatment('a'))
y ~ C(x, levels=[1, 2])
y ~ {1 + 1}
y ~ x ** 999999
y ~ (x + z) ** 99
y ~ [x ~ z]
""".strip().splitlines()

HONEST = """
y ~ x
y ~ .
y ~ . - x
y ~ . - x - z
y ~ . - (x + z)
y ~ x + z - 1
y ~ 0 + x
y ~ log(x)
log(y) ~ log(x) + z
I(y > 3) ~ x
y ~ I(x > 3)
y ~ I((x > 3) & (z < 2))
y ~ I((x == 1) | ~(z >= 2))
y ~ I(x == 'north')
y ~ I('north' == x)
y ~ {x + z}
y ~ {x * z / 2 - 1}
y ~ {x % 2} + {x // 2}
y ~ {-x}
y ~ {x ** 2}
y ~ {x ** -0.5}
y ~ sqrt(x) + exp(z) + abs(age)
y ~ log1p(x) + log10(z) + log2(age) + expm1(x)
y ~ scale(x) + center(z)
y ~ C(x) + C(`a b`)
y ~ `a b` + `it's` + `say "hi"` + größe
y ~ `<script>` + `class` + `1st`
y ~ log(`a b`) + I(`<script>` > 2)
y ~ log(log(x + 1) + 1)
y ~ floor(x) + ceil(x) + sin(x) + cos(x) + tanh(x)
y ~ I(x > 1e3) + I(x <= .5)
y ~ I(x == True)
""".strip().splitlines()


@pytest.mark.parametrize("formula", ATTACKS)
def test_attacks_are_refused_and_nothing_runs(formula, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((FormulaError, NotBuiltError)):
        parse_formula(formula, COLUMNS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("formula", HONEST)
def test_honest_formulas_are_accepted(formula):
    parsed = parse_formula(formula, COLUMNS)
    assert parsed.terms
    assert all(v in COLUMNS for term in parsed.terms for v in term.variables)


def test_deep_and_long_expressions_are_refused():
    for formula in (
        f"y ~ {'(' * 60}x{')' * 60}",
        f"y ~ {{{'-' * 4000}x}}",
        f"y ~ {{{'+'.join(['x'] * 5000)}}}",
    ):
        with pytest.raises(FormulaError):
            parse_formula(formula, COLUMNS)


def test_a_keyword_as_a_column_of_an_expression():
    with pytest.raises(FormulaError, match="named like a Python keyword"):
        parse_formula("y ~ I(`class` == 'it')", COLUMNS)


def test_f11_a_column_that_shadows_a_function_is_refused():
    with pytest.raises(FormulaError, match="Can't tell the column `log` from the function `log`"):
        parse_formula("y ~ log(x)", ["y", "x", "log"])
    assert parse_formula("y ~ log + x", ["y", "x", "log"]).terms[0].name == "log"


def test_a_column_named_like_an_expression_is_refused():
    with pytest.raises(FormulaError, match="Rename the column"):
        parse_formula("y ~ . + log(x)", ["y", "x", "log(x)"])


def test_trusted_opens_the_guard(mixed):
    fit = treeselect.select(
        "dose ~ signal + {signal.abs()} + np.sign(noise)",
        mixed, k=1, seed=1, trusted=True, forests=1, n_trees=3,
    )  # fmt: skip
    assert set(fit.tidy()["term"]) == {"signal", "signal.abs()", "np.sign(noise)"}
    with pytest.raises(FormulaError, match="trusted=True"):
        treeselect.select("dose ~ signal + {signal.abs()}", mixed, k=1)


def test_f15_the_callers_variables_never_enter(mixed):
    secret = mixed["dose"]
    assert secret is not None
    with pytest.raises(FormulaError, match="Can't find column `secret`"):
        treeselect.select("dose ~ signal + secret", mixed, k=1)
    with pytest.raises(FormulaError, match="Can't find column `secret`"):
        treeselect.select("dose ~ signal + log(secret)", mixed, k=1)
