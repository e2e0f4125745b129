"""Formulas of R get a hint, and what the hint says to write works."""

import re

import numpy as np
import pandas as pd
import pytest

from treeselect.designs.evaluation import evaluate
from treeselect.errors import DataError, FormulaError
from treeselect.formula import parse_formula
from treeselect.frames.values import read_column

DATA = pd.DataFrame(
    {
        "y": np.arange(8) % 2,
        "x": [1.5, 2, 3, 4, 5, 6, 7, 8],
        "z": [2.0, 1, 2, 1, 2, 1, 2, 1],
        "age": [20, 30, 40, 50, 60, 70, 80, 90],
        "site": list("abababab"),
        "flag": [True, False] * 4,
    }
)
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
    "ns(age, 3)": "cr(age, df=4)",
    "s(age)": "bs(age, df=4)",
    "lo(age)": "poly(age, 2)",
    "rcs(age, 4)": "cr(age, df=4)",
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
