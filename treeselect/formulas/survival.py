"""`Surv()` and `strata()` in a formula: their arguments, and where they may stand."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Sequence

from treeselect.errors import FormulaError, listing, quoted
from treeselect.formulas.expressions import (
    Argument,
    Call,
    Code,
    Column,
    Node,
    Strata,
    Survival,
    Transform,
    nodes,
    variables,
)
from treeselect.formulas.terms import Factor, Term

_WRITE = "Write `Surv(time, event)` or `Surv(start, stop, event)`."

_NAMES = {"time": "stop", "start": "start", "stop": "stop", "time2": "stop", "event": "event"}
"""What the names of the arguments stand for; R has `time` and `time2` for start and stop."""


def read_special(
    call: ast.Call, name: str, read: Callable[[ast.expr], Node], formula: str
) -> Survival | Strata:
    """The record of a call of ``Surv`` or ``strata``.

    Parameters
    ----------
    call : ast.Call
        With the columns' own names.
    name : str
        Of the function.
    read : callable
        Reads an argument.
    formula : str
        For messages.

    Raises
    ------
    FormulaError
        For other arguments than the function has.
    """
    text = ast.unparse(call)
    if name == "strata":
        if call.keywords or not call.args or any(isinstance(a, ast.Starred) for a in call.args):
            raise FormulaError.at(
                "`strata()` must have one or more columns as its only arguments.",
                formula,
                text,
                "Write `strata(site)`, or `strata(site, sex)` for their combinations.",
            )
        return Strata(tuple(_argument(a, name, read, formula) for a in call.args))
    given = _by_name(call, text, formula)
    parts = {key: _argument(value, name, read, formula) for key, value in given.items()}
    return Survival(parts.get("start"), parts["stop"], parts["event"])


def _by_name(call: ast.Call, text: str, formula: str) -> dict[str, ast.expr]:
    """The arguments of ``Surv()`` as start, stop and event."""
    known = [extra.arg for extra in call.keywords]
    if other := [name for name in known if name not in _NAMES]:
        raise FormulaError.at(
            f"`Surv()` must not have the argument {quoted(other[0] or '**')}.",
            formula,
            text,
            f"{_WRITE} With two arguments, time runs from the start of observation; with three, a"
            " row is at risk after `start` up to `stop`. Left- and interval-censored times can't be"
            " modelled.",
        )
    for value in [*call.args, *(extra.value for extra in call.keywords)]:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            raise FormulaError.at(
                "`Surv()` must identify the event by a comparison.",
                formula,
                text,
                f"Found: the text {value.value!r}. Write it as in"
                f" `Surv(time, status == {value.value!r})`.",
            )
    n = len(call.args) + len(known)
    if n not in (2, 3) or any(isinstance(a, ast.Starred) for a in call.args):
        found = f"{n} argument{'' if n == 1 else 's'}" if n not in (2, 3) else "`*`"
        way = " If every row ended in an event, use a column of ones." if n == 1 else ""
        raise FormulaError.at(
            "`Surv()` must have two or three arguments.", formula, text, f"Found: {found}. "
            f"{_WRITE}{way}",
        )  # fmt: skip
    order = ("stop", "event") if n == 2 else ("start", "stop", "event")
    meaning = dict(_NAMES, time="start") if n == 3 and "stop" not in known else _NAMES
    names = [*order[: len(call.args)], *(meaning[str(name)] for name in known)]
    if sorted(names) != sorted(order):
        raise FormulaError.at(
            "`Surv()` must have each of its arguments exactly once.",
            formula,
            text,
            f"Found the names: {listing(map(str, known))}. {_WRITE}",
        )
    values = [*call.args, *(extra.value for extra in call.keywords)]
    given = dict(zip(names, values, strict=True))
    return {name: given[name] for name in order}


def _argument(
    value: ast.expr, function: str, read: Callable[[ast.expr], Node], formula: str
) -> Argument:
    node, text = read(value), ast.unparse(value)
    if any(isinstance(part, Transform | Code) for part in nodes(node)):
        raise FormulaError.at(
            f"The arguments of `{function}()` must be columns, arithmetic or comparisons.",
            formula,
            text,
            "Found: a function of a whole column. Add the computed column to `data` first.",
        )
    if not variables(node):
        raise FormulaError.at(
            f"Each argument of `{function}()` must use a column of `data`.", formula, text
        )
    match node:
        case Column(name) | Call("I", (Column(name),)):  # the latter of Q("odd name")
            return Argument(name, Column(name))
    return Argument(text, node)


# --- where they stand -----------------------------------------------------------------------------


def is_strata(factor: Factor) -> bool:
    """Whether a factor is a call of ``strata()``."""
    return isinstance(factor.node, Strata)


def plain_strata(factors: Collection[Factor]) -> list[str]:
    """Columns that are strata as they are: ``.`` does not stand for them."""
    return [
        part.node.name
        for factor in factors
        if isinstance(factor.node, Strata)
        for part in factor.node.arguments
        if isinstance(part.node, Column)
    ]


def check_left(response: Term, text: str) -> None:
    """``strata()`` does not stand on the left."""
    if any(map(is_strata, response.factors)):
        raise FormulaError.at(
            "`strata()` must be on the right-hand side of the formula.",
            text,
            response.name,
            "Write `Surv(time, event) ~ . + strata(site)`.",
        )


def check_kept(removed: Iterable[Term], text: str) -> None:
    """``strata()`` is not taken away again."""
    for term in removed:
        if any(map(is_strata, term.factors)):
            raise FormulaError.at(
                "`strata()` must not follow a minus sign.",
                text,
                term.name,
                "For a model without strata, leave `strata()` out.",
            )


def take_strata(
    terms: Sequence[Term], response: Term, text: str
) -> tuple[tuple[Term, ...], tuple[Factor, ...]]:
    """The terms without those of ``strata()``, and the factors whose combinations are strata.

    Raises
    ------
    FormulaError
        If ``Surv()`` is among them; if ``strata()`` is a part of an interaction, or stands beside
        another response than times; if a stratum's column is on the left, or is a term, too.
    """
    for term in terms:
        _check_place(term, text)
    calls = [term for term in terms if is_strata(term.factors[0])]
    kept = tuple(term for term in terms if not is_strata(term.factors[0]))
    if calls and not isinstance(response.factors[0].node, Survival):
        raise FormulaError.at(
            "`strata()` must be used with times to an event.",
            text,
            calls[0].name,
            f"Found: the response {quoted(response.name)}. Strata have separate baseline hazards,"
            " which only a response `Surv(time, event)` has; here write the columns as terms.",
        )
    found: dict[str, Factor] = {}
    for node in (term.factors[0].node for term in calls):
        assert isinstance(node, Strata)
        for part in node.arguments:
            found[part.text] = Factor(part.text, variables(part.node), part.node)
    if calls and not kept:
        raise FormulaError.at(
            "The formula must have at least one term besides its strata.",
            text,
            calls[0].name,
            "Strata are not candidate terms: write `. + strata(site)`, or name other terms.",
        )
    strata = tuple(found[key] for key in sorted(found))
    for factor in strata:
        _check_factor(factor, kept, response, text)
    return kept, strata


def _check_place(term: Term, text: str) -> None:
    if any(isinstance(factor.node, Survival) for factor in term.factors):
        raise FormulaError.at(
            "`Surv()` must be on the left-hand side of the formula.",
            text,
            term.name,
            "Write `Surv(time, event) ~ .`.",
        )
    if term.is_interaction and any(map(is_strata, term.factors)):
        both = all(map(is_strata, term.factors))
        raise FormulaError.at(
            "`strata()` must not be part of an interaction.",
            text,
            term.name,
            "For strata of several columns write `strata(a, b)`."
            if both
            else "To let an effect differ between strata, write the interaction with the column"
            " itself, as in `age:site + strata(site)`.",
        )


def _check_factor(factor: Factor, terms: Sequence[Term], response: Term, text: str) -> None:
    shared = set(factor.variables) & set(response.variables)
    if shared:
        raise FormulaError.at(
            f"The strata {quoted(factor.name)} must not use the response.",
            text,
            factor.name,
            f"Also on the left-hand side: {listing(sorted(shared))}.",
        )
    if any(len(t.factors) == 1 and t.factors[0].name == factor.name for t in terms):
        raise FormulaError.at(
            f"{quoted(factor.name)} must be a term or a stratum variable, not both.",
            text,
            factor.name,
            "It is constant within each stratum, so its effect can't be estimated. Remove the term,"
            " or remove it from `strata()`.",
        )
