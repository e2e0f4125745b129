"""`Surv()` and `strata()`: what they are read as, and what they may not be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.errors import FormulaError
from treeselect.formula import parse_formula
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

COLUMNS = ["time", "status", "age", "sex", "site", "begin", "end", "a b"]


def parsed(formula, **options):
    return parse_formula(formula, COLUMNS, **options)


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
        ("Surv(*time, status) ~ age", "must have two or three arguments"),
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
        ("Surv(time, status) ~ site + strata(site)", "a term or a stratum variable, not both"),
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
