"""Values of checked expressions: a walk over their records, with numpy and nothing else.

Numbers are computed in float64, as in R: whole numbers don't overflow and truth values count as 0
and 1. Labels can be compared and no more.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.errors import listing, quoted
from treeselect.formulas.terms import Call, Column, Constant, Node, Operation, Transform
from treeselect.frames.values import LARGEST_WHOLE, Labels, Numbers, formula_name

Learner = Callable[[Transform, Numbers | Labels], Any]
"""Computes what a transform makes of its argument."""


class ComputationError(Exception):
    """Values to which an operation can't be applied."""


def value_of(node: Node, columns: Mapping[str, Numbers | Labels], learner: Learner) -> Any:
    """Value of an expression in rows without missing values: constants have one, columns one per
    row; transforms are handed to the learner."""
    match node:
        case Column():
            return columns[node.name]
        case Constant():
            return _constant(node.value)
        case Operation():
            return _operate(node, [value_of(part, columns, learner) for part in node.operands])
        case Call():
            return _call(node, [value_of(part, columns, learner) for part in node.arguments])
        case Transform():
            return learner(node, value_of(node.argument, columns, learner))
    raise TypeError(f"{type(node).__name__} is no part of an expression")


def _constant(value: Any) -> Numbers | str:
    if isinstance(value, str):
        return value
    flags = (isinstance(value, bool), isinstance(value, int) and not isinstance(value, bool))
    return Numbers(np.float64(value), *flags)  # type: ignore[arg-type]


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide,
    "//": np.floor_divide, "%": np.remainder, "**": np.power,
}  # fmt: skip

_COMPARISON: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

_WHOLE = frozenset(
    ["abs", "absolute", "negative", "sign", "square", "ceil", "floor", "rint", "trunc", "maximum",
     "minimum", "where", "clip"]
)  # fmt: skip
"""Functions that make whole numbers of whole numbers."""

_CHOOSING = frozenset(["maximum", "minimum", "where", "clip"])
"""Functions that give one of their arguments: truth values stay such."""

_OWN: dict[str, Callable[..., Any]] = {"exp10": lambda x: np.power(10.0, x)}


def _operate(node: Operation, values: list[Any]) -> Numbers:
    if node.is_comparison:
        return _compare(node, values)
    numbers = [_number(value, node.sign) for value in values]
    if node.sign in ("&", "|", "~"):
        return _logic(node.sign, numbers)
    if len(numbers) == 1:
        (one,) = numbers
        signed = -one.values if node.sign == "-" else +one.values
        return Numbers(signed, is_integer=_is_whole(one))
    with np.errstate(all="ignore"):
        found = _ARITHMETIC[node.sign](*(number.values for number in numbers))
    whole = node.sign != "/" and all(map(_is_whole, numbers))
    return _numbers(found, is_integer=whole)


def _is_whole(number: Numbers) -> bool:
    return number.is_bool or number.is_integer


def _numbers(values: Any, *, is_bool: bool = False, is_integer: bool = False) -> Numbers:
    """Whole numbers only while float64 tells them from their neighbours, and if they are whole."""
    if is_integer:
        with np.errstate(invalid="ignore"):
            is_integer = bool(np.all((abs(values) < LARGEST_WHOLE) & (values == np.floor(values))))
    return Numbers(values, is_bool=is_bool, is_integer=is_integer and not is_bool)


def _number(value: Any, what: str) -> Numbers:
    if isinstance(value, Numbers):
        return value
    found = "text" if isinstance(value, str) else _found(value)
    raise ComputationError(f"{quoted(what)} needs numbers. Found: {found}.")


def _found(value: Any) -> str:
    if isinstance(value, Labels):
        return f"{'categories' if value.declared else 'text'} ({listing(value.levels, 3)})"
    return "several columns"


def _logic(sign: str, numbers: list[Numbers]) -> Numbers:
    """Logic of truth values; 0 and 1 are such."""
    for number in numbers:
        plain = np.isin(number.values, (0.0, 1.0)) | np.isnan(number.values)
        if not number.is_bool and not plain.all():
            raise ComputationError(
                f"{quoted(sign)} needs logical values. Found: numbers other than 0 and 1; compare"
                " them first, as in `(x > 0) & (z > 0)`."
            )
    a = numbers[0].values
    if sign == "~":
        return Numbers(1.0 - a, is_bool=True)
    b, decides = numbers[1].values, 0.0 if sign == "&" else 1.0
    known = (a == decides) | (b == decides)  # whatever the other is, as in R
    unknown = np.isnan(a) | np.isnan(b)
    found = np.where(known, decides, np.where(unknown, np.nan, 1.0 - decides))
    return Numbers(np.asarray(found, dtype=np.float64), is_bool=True)


def _call(node: Call, values: list[Any]) -> Any:
    if node.function == "I":
        return values[0]
    numbers = [_number(value, node.function) for value in values]
    function = _OWN.get(node.function) or getattr(np, node.function)
    arrays: list[Any] = [number.values for number in numbers]
    if node.function == "where":
        unknown = np.isnan(arrays[0])
        arrays[0] = arrays[0] != 0
        arrays[1:] = [np.where(unknown, np.nan, array) for array in arrays[1:]]
        numbers = numbers[1:]
    with np.errstate(all="ignore"):
        found = function(*arrays)
    flags = all(number.is_bool for number in numbers) and node.function in _CHOOSING
    whole = node.function in _WHOLE and all(map(_is_whole, numbers))
    return _numbers(np.asarray(found, dtype=np.float64), is_bool=flags, is_integer=whole)


# --- comparison ----------------------------------------------------------------------------------


def _compare(node: Operation, values: list[Any]) -> Numbers:
    left, right = values
    sign = node.sign
    if isinstance(left, str | Numbers) and isinstance(right, Labels):
        left, right, sign = right, left, _FLIPPED[sign]
    if isinstance(left, Labels):
        _check_order(node, [v for v in (left, right) if isinstance(v, Labels)])
        if isinstance(right, Labels):
            found = _labels_with_labels(left, right, sign)
        else:
            found = _labels_with_value(left, right, sign)
    elif isinstance(left, Numbers) and isinstance(right, Numbers):
        unknown = np.isnan(left.values) | np.isnan(right.values)
        found = np.where(unknown, np.nan, _COMPARISON[sign](left.values, right.values))
    else:
        raise ComputationError(
            "Numbers can't be compared with text. Write the number without quotation marks, or"
            " read the column as text."
        )
    return Numbers(np.asarray(found, dtype=np.float64), is_bool=True)


def _check_order(node: Operation, labels: list[Labels]) -> None:
    """Text is compared by the alphabet; categories need an order to be compared by."""
    if node.sign in ("==", "!=") or all(v.ordered or not v.declared for v in labels):
        return
    name = next((part.name for part in node.operands if isinstance(part, Column)), "")
    text = formula_name(name)
    raise UnorderedError(
        f"Can't compare the categories of {quoted(name)}: they are unordered.",
        f"Name the levels, for example `I(({text} == 'a') | ({text} == 'b'))`, or order them:"
        f" `data[{name!r}].cat.as_ordered()`.",
    )


class UnorderedError(ComputationError):
    """Categories without an order are compared; the problem and the way out."""


def _labels_with_value(labels: Labels, value: str | Numbers, sign: str) -> NDArray[np.bool_]:
    found = _found(labels)
    head = f"{found[0].upper()}{found[1:]} can't be compared with"
    if isinstance(value, Numbers):
        if np.ndim(value.values):
            raise ComputationError(f"{head} a column of numbers.")
        plain: Any = bool(value.values) if value.is_bool else float(value.values)
    else:
        plain = value
    kinds = str if isinstance(plain, str) else (int, float, bool)
    if labels.levels and not any(isinstance(level, kinds) for level in labels.levels):
        number = "a number: write it in quotation marks"
        raise ComputationError(f"{head} {repr(value) if isinstance(value, str) else number}.")
    if labels.ordered and sign not in ("==", "!="):
        if plain not in labels.levels:
            raise ComputationError(
                f"{plain!r} is not one of the ordered levels {listing(labels.levels)}."
            )
        return np.asarray(_COMPARISON[sign](labels.codes, labels.levels.index(plain)))
    table = [_compared(level, plain, sign) for level in labels.levels]
    return np.array(table, dtype=bool)[labels.codes]


def _compared(level: Any, other: Any, sign: str) -> bool:
    try:
        return bool(_COMPARISON[sign](level, other))
    except TypeError:
        raise ComputationError(f"{level!r} and {other!r} can't be ordered.") from None


def _labels_with_labels(left: Labels, right: Labels, sign: str) -> NDArray[np.bool_]:
    if sign not in ("==", "!=") and (left.ordered or right.ordered):
        if left.levels != right.levels:
            raise ComputationError(
                "Ordered categories can only be compared with categories that have the same"
                f" levels. Found: {listing(left.levels)}, and {listing(right.levels)}."
            )
        return np.asarray(_COMPARISON[sign](left.codes, right.codes))
    # By the places of all levels in one order: no text is compared row by row.
    merged = {level: i for i, level in enumerate(_in_order([*left.levels, *right.levels], sign))}
    at = [np.array([merged[v] for v in side.levels], dtype=np.int64) for side in (left, right)]
    return np.asarray(_COMPARISON[sign](at[0][left.codes], at[1][right.codes]))


def _in_order(levels: list[Any], sign: str) -> list[Any]:
    distinct = list(dict.fromkeys(levels))
    if sign in ("==", "!="):
        return distinct
    try:
        return sorted(distinct)
    except TypeError:
        raise ComputationError("Text and numbers can't be ordered.") from None
