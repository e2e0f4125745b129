"""Terms in words: the labels of their columns in the place of the names, as the terms are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from treeselect.formulas.expressions import (
    Argument,
    Call,
    Column,
    Constant,
    Contrast,
    Node,
    Operation,
    Strata,
    Survival,
    Transform,
    variables,
)
from treeselect.formulas.terms import Factor, Term

TIMES = " × "
"""Between the factors of an interaction."""

_SILENT = ("C", "I")
"""Functions that say how a column is coded or an expression written, not what is computed."""


def term_label(term: Term, labels: Mapping[str, str]) -> str:
    """What a term is called: its label, or one made of the labels of its columns; its name if there
    are none.

    Parameters
    ----------
    term : Term
    labels : mapping of str to str
        By the names of columns and terms.

    Examples
    --------
    >>> from treeselect.formula import parse_formula
    >>> from treeselect.formulas.wording import term_label
    >>> read = parse_formula("y ~ log(wbc) + wbc:age", ["y", "wbc", "age"])
    >>> [term_label(term, {"wbc": "White cells"}) for term in read.terms]
    ['log(White cells)', 'White cells × age']
    """
    own = labels.get(term.name)
    if own is not None:
        return own
    found = [factor_label(factor, labels) for factor in term.factors]
    if found == [factor.name for factor in term.factors]:
        return term.name
    return TIMES.join(found)


def factor_label(factor: Factor, labels: Mapping[str, str]) -> str:
    """The same of one factor of a term."""
    own = labels.get(factor.name)
    if own is not None:
        return own
    if not any(name in labels for name in factor.variables):
        return factor.name
    return _worded(factor.node, labels, factor.name)


def part_label(part: Argument, labels: Mapping[str, str]) -> str:
    """The same of what stands in a call of ``Surv()``."""
    return _worded(part.node, labels, part.text) if _has_label(part, labels) else part.text


def _has_label(part: Argument, labels: Mapping[str, str]) -> bool:
    return any(name in labels for name in variables(part.node))


def _worded(node: Node, labels: Mapping[str, str], name: str) -> str:
    """An expression with labels; one that is not looked into under its name."""
    if isinstance(node, Column):
        return labels.get(node.name, node.name)
    if isinstance(node, Constant):
        return repr(node.value) if isinstance(node.value, str) else str(node.value)
    if isinstance(node, Operation):
        parts = [_operand(part, labels, name) for part in node.operands]
        return f"{node.sign}{parts[0]}" if len(parts) == 1 else f" {node.sign} ".join(parts)
    if isinstance(node, Call):
        inner = [_worded(part, labels, name) for part in node.arguments]
        return _called(node.function, inner, ())
    if isinstance(node, Transform):
        argument = _worded(node.argument, labels, name)
        return _called(node.function, [argument], node.options)
    if isinstance(node, Survival):
        given = [part for part in (node.start, node.stop, node.event) if part is not None]
        return _called("Surv", [part_label(part, labels) for part in given], ())
    if isinstance(node, Strata):
        return _called("strata", [part_label(part, labels) for part in node.arguments], ())
    return name


def _operand(node: Node, labels: Mapping[str, str], name: str) -> str:
    """A part of an operation, between parentheses if it is one itself."""
    text = _worded(node, labels, name)
    return f"({text})" if isinstance(node, Operation) else text


def _called(function: str, inner: list[str], options: Iterable[tuple[str, object]]) -> str:
    if function in _SILENT:
        return inner[0]
    given = [f"{key}={_option(value)}" for key, value in options]
    return f"{function}({', '.join([*inner, *given])})"


def _option(value: object) -> str:
    return value.name if isinstance(value, Contrast) else repr(value)
