"""Expressions of a formula as nested operations that every language has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from treeselect.formulas.expressions import Call, Column, Constant, Node, Operation, Transform

Formula = tuple[Any, ...]
"""``("column", i)``, ``("number", x)``, or an operation and its operands (formulas): ``+``,
``-``, ``*``, ``/``, ``power``, ``ln``, ``exp``, ``sqrt``, ``abs``, ``floor``, ``ceil``."""

_PLAIN = {"log": "ln", "exp": "exp", "sqrt": "sqrt", "abs": "abs", "absolute": "abs",
          "floor": "floor", "ceil": "ceil"}  # fmt: skip

_OF_ONE = frozenset(["center", "scale", "standardize"])


class NotTranslated(Exception):
    """What has no translation, as a noun phrase."""


def translated(node: Node, state: Mapping[str, Any], number: Mapping[str, int]) -> Formula:
    """The formula of an expression of numbers.

    Raises
    ------
    NotTranslated
        If there is none.
    """

    def of(part: Node) -> Formula:
        return translated(part, state, number)

    match node:
        case Column(name):
            return ("column", number[name])
        case Constant(value) if isinstance(value, int | float):
            return ("number", float(value))
        case Operation(sign, (one,)) if sign in "+-":
            return ("-", ("number", 0.0), of(one)) if sign == "-" else of(one)
        case Operation("**", (one, Constant(value))) if isinstance(value, int | float) and value:
            return ("power", of(one), ("number", float(value)))
        case Operation(sign, (one, two)) if sign in "+-*/":
            return (sign, of(one), of(two))
        case Call("I", (one,)):
            return of(one)
        case Call(function, (one,)) if function in _PLAIN:
            return (_PLAIN[function], of(one))
        case Call("log2" | "log10", (one,)):
            base = 2.0 if node.function == "log2" else 10.0
            return ("/", ("ln", of(one)), ("number", math.log(base)))
        case Call("log1p", (one,)):
            return ("ln", ("+", ("number", 1.0), of(one)))
        case Call("square", (one,)):
            return ("*", of(one), of(one))
        case Transform(function, one) if function in _OF_ONE:
            return _scaled(of(one), state.get(node.text, {}))
        case Operation(sign):
            raise NotTranslated(f"the operator `{sign}`")
        case Call(function) | Transform(function):
            raise NotTranslated(f"`{function}()`")
    raise NotTranslated("an expression")


def _scaled(inner: Formula, learned: Mapping[str, Any]) -> Formula:
    """``(x - centre) / scale`` of what was learned."""
    known = set(learned) <= {"ddof", "center", "scale"}
    centre, scale = learned.get("center"), learned.get("scale")
    if not known or (centre is None and scale is None):
        raise NotTranslated("a transform")
    if centre is not None:
        inner = ("-", inner, ("number", float(centre)))
    if scale is not None:
        inner = ("/", inner, ("number", float(scale)))
    return inner


def product(formulas: Sequence[Formula]) -> Formula:
    """The product of formulas."""
    found = formulas[0]
    for other in formulas[1:]:
        found = ("*", found, other)
    return found
