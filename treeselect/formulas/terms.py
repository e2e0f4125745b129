"""What an expression of a formula is once it has been checked: a tree of these records.

The guard makes the tree, and nothing else is ever evaluated: what has no record here can't be
computed, however it was written. Values are computed with numpy: numbers in float64, as in R, so
that whole numbers don't overflow and truth values count as 0 and 1; labels can be compared and no
more.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treeselect.errors import column_code, listing, literal, quoted
from treeselect.frames.values import LARGEST_WHOLE, Labels, Numbers, formula_name, recoded


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the data."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, truth value or, in a comparison, text."""

    value: float | int | bool | str


@dataclass(frozen=True, slots=True)
class Operation:
    """Arithmetic, comparison or logic of one or two operands; `sign` is Python's."""

    sign: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of each row by itself, such as ``log``."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Contrast:
    """A coding of a factor for linear models, such as ``contr.treatment(base="a")``."""

    name: str
    arguments: tuple[object, ...] = ()
    options: tuple[tuple[str, object], ...] = ()

    @property
    def constants(self) -> tuple[object, ...]:
        return (*self.arguments, *(value for _, value in self.options))


@dataclass(frozen=True, slots=True)
class Transform:
    """A function that learns from the whole column, such as ``scale`` or ``bs``; its options are
    constants, tuples of constants and :class:`Contrast`, by the names of the arguments. What was
    learned is kept under its text."""

    function: str
    argument: Node
    options: tuple[tuple[str, object], ...]
    text: str

    def option(self, name: str) -> object:
        """Value of an option, None if it was not given."""
        return dict(self.options).get(name)


@dataclass(frozen=True, slots=True)
class Code:
    """Any Python expression, of a formula that the user trusts, and the columns that it reads;
    `aliases` are names in the text with the columns behind them."""

    text: str
    aliases: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    is_call: bool


@dataclass(frozen=True, slots=True)
class Argument:
    """What stands in a call of ``Surv()`` or ``strata()``, and as what the formula writes it."""

    text: str
    node: Node


@dataclass(frozen=True, slots=True)
class Survival:
    """``Surv(time, event)``, or ``Surv(start, stop, event)``: times to an event."""

    start: Argument | None
    stop: Argument
    event: Argument


@dataclass(frozen=True, slots=True)
class Strata:
    """``strata(a, b)``: columns whose combinations have a baseline hazard each."""

    arguments: tuple[Argument, ...]


Node = Column | Constant | Operation | Call | Transform | Code | Survival | Strata

COMPARISONS = frozenset(["==", "!=", "<", "<=", ">", ">="])
"""Signs of comparisons."""


def nodes(node: Node) -> Iterator[Node]:
    """A node and all nodes below it, in order of appearance."""
    yield node
    for part in fields(node):
        value = getattr(node, part.name)
        for below in value if isinstance(value, tuple) else (value,):
            if isinstance(below, Argument):
                yield from nodes(below.node)
            elif isinstance(below, Node):
                yield from nodes(below)


def variables(node: Node) -> tuple[str, ...]:
    """Columns that an expression reads, in order of appearance, each once."""
    found: dict[str, None] = {}
    for part in nodes(node):
        if isinstance(part, Column):
            found[part.name] = None
        elif isinstance(part, Code):
            found |= dict.fromkeys(part.columns)
    return tuple(found)


# --- A formula that was read: its terms, products of factors that are columns or expressions -----


@dataclass(frozen=True, slots=True)
class Factor:
    """A column of the data, or an expression of columns (`variables`): its name as a formula
    writes it, ``age`` or ``log(fare)``, and the node that is evaluated."""

    name: str
    variables: tuple[str, ...]
    node: Node

    @property
    def is_plain(self) -> bool:
        """Whether it is a column as it is."""
        return isinstance(self.node, Column)

    @property
    def written(self) -> str:
        """As it stands inside of a call: odd columns in backticks."""
        return formula_name(self.name) if self.is_plain else self.name

    @property
    def text(self) -> str:
        """As a formula needs it: odd columns in backticks, bare expressions in braces."""
        if self.is_plain:
            return formula_name(self.name)
        is_call = isinstance(self.node, Call | Transform | Survival | Strata)
        is_call = self.node.is_call if isinstance(self.node, Code) else is_call
        return self.name if is_call else f"{{{self.name}}}"


@dataclass(frozen=True, slots=True)
class Term:
    """One side of the formula is a sum of these: a factor, or an interaction of several, under the
    name that a formula writes: ``age``, ``log(fare)``, ``age:sex``."""

    name: str
    factors: tuple[Factor, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        if len(self.factors) == 1:
            return self.factors[0].variables
        return tuple(dict.fromkeys(v for factor in self.factors for v in factor.variables))

    @property
    def is_plain(self) -> bool:
        """Whether it is a column as it is."""
        return len(self.factors) == 1 and self.factors[0].is_plain

    @property
    def is_interaction(self) -> bool:
        return len(self.factors) > 1

    @property
    def key(self) -> str:
        """The same for ``a:b`` and ``b:a``: no result may depend on their order."""
        if len(self.factors) == 1:
            return self.name
        return ":".join(sorted(factor.name for factor in self.factors))

    @property
    def text(self) -> str:
        return ":".join(factor.text for factor in self.factors)


@dataclass(frozen=True, slots=True)
class ParsedFormula:
    """A formula for given columns."""

    text: str  # what the user wrote
    response: Term
    # the right-hand side without the intercept, ``.`` written out, by their degree
    terms: tuple[Term, ...]
    columns: tuple[str, ...]  # columns of the data that it was read for
    hidden: tuple[str, ...]  # those that ``.`` does not stand for
    # what ``strata()`` is given, in alphabetical order; their combinations are the strata
    strata: tuple[Factor, ...] = ()
    has_intercept: bool = True  # False after ``-1`` or ``0 +``, which have no effect

    @property
    def survival(self) -> Survival | None:
        """The call of ``Surv()`` on the left; None if the response is no times to an event."""
        node = self.response.factors[0].node
        return node if isinstance(node, Survival) else None

    @property
    def outcome_variables(self) -> tuple[str, ...]:
        """Columns of the data behind the response and the strata."""
        strata = (v for factor in self.strata for v in factor.variables)
        return tuple(dict.fromkeys([*self.response.variables, *strata]))

    def text_of(self, terms: Iterable[str], written: Mapping[str, str] | None = None) -> str:
        """The formula with these terms alone; `written` has other texts of factors."""
        new, own = written or {}, {term.name: term for term in self.terms}
        right = [":".join(new.get(f.name, f.text) for f in own[name].factors) for name in terms]
        if self.strata:
            right.append(f"strata({', '.join(factor.written for factor in self.strata)})")
        return f"{self.response.text} ~ {' + '.join(right) or '1'}"


# --- Tokens of a formula, and long sums of them nested for speed ---------------------------------

Kind = Literal["context", "name", "operator", "python", "value"]


@dataclass(frozen=True, slots=True)
class Token:
    """A name, sign, number or expression (kind ``"python"``; ``"context"`` is a parenthesis or
    bracket). An operator between percent signs is in `percent` as it is written."""

    text: str
    kind: Kind
    percent: str = ""

    @property
    def is_operator(self) -> bool:
        """Whether it joins terms."""
        return self.kind == "operator"


def balanced(tokens: Sequence[Token]) -> list[Token]:
    """The same formula with its long sums in nested parentheses. formulaic unites sums from left to
    right, which takes quadratic time: 10 s for 7,000 names. Neither union nor repeated removal
    depends on how it is nested."""
    if len(tokens) < 50:
        return list(tokens)
    opening = next((i for i, t in enumerate(tokens) if t.text == "~"), -1) + 1
    depth = 0
    parts: list[tuple[str, list[Token]]] = [("+", [])]
    for token in tokens[opening:]:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        sign = token.text if token.is_operator and depth == 0 else ""
        if sign in ("+", "-") and parts[-1][1]:
            parts.append((sign, []))
        elif sign in ("+", "-", "|", "~"):
            return list(tokens)  # a sign before a term, or several parts: leave it as it is
        else:
            parts[-1][1].append(token)
    nested = list(tokens[:opening])
    for sign, run in groupby(parts, key=lambda part: part[0]):
        if len(nested) > opening:
            nested.append(Token(sign, "operator"))
        nested += _nested([part for _, part in run])
    return nested


def _nested(parts: list[list[Token]]) -> list[Token]:
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    opening, plus, closing = Token("(", "context"), Token("+", "operator"), Token(")", "context")
    return [opening, *_nested(parts[:half]), plus, *_nested(parts[half:]), closing]


# --- Values of checked expressions: a walk over their records ------------------------------------


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
            value = node.value
            if isinstance(value, str):
                return value
            is_bool = isinstance(value, bool)
            array = np.asarray(value, dtype=np.float64)
            return Numbers(array, is_bool, isinstance(value, int) and not is_bool)
        case Operation():
            return _operate(node, [value_of(part, columns, learner) for part in node.operands])
        case Call():
            return _call(node, [value_of(part, columns, learner) for part in node.arguments])
        case Transform():
            return learner(node, value_of(node.argument, columns, learner))
    raise TypeError(f"{type(node).__name__} is no part of an expression")


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
    if node.sign in COMPARISONS:
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


def in_order(
    node: Node, columns: Mapping[str, Numbers | Labels], state: dict[str, Any]
) -> Mapping[str, Numbers | Labels]:
    """Labels without missing values that are compared by their order have the one that they had at
    first, which `state` keeps, or none, as text has: other data may have them as text, or in
    another order."""
    labels = {name: own for name, own in columns.items() if isinstance(own, Labels)}
    ranks = (isinstance(n, Operation) and n.sign in COMPARISONS - {"==", "!="} for n in nodes(node))
    if not labels or not any(ranks):
        return columns
    if "orders" not in state:
        state["orders"] = {n: [*own.levels] if own.ordered else [] for n, own in labels.items()}
        return columns
    return {
        **columns,
        **{n: _ordered(own, state["orders"].get(n, [])) for n, own in labels.items()},
    }


def _ordered(labels: Labels, levels: Sequence[Any]) -> Labels:
    if not levels:
        return replace(labels, declared=False, ordered=False)
    codes = recoded(labels, levels)
    if (unknown := labels.codes[codes < 0]).size:
        new, known = literal(labels.levels[unknown[0]]), listing(levels)
        raise ComputationError(f"{new} is not one of the ordered levels {known}.")
    return Labels(codes, tuple(levels), declared=True, ordered=True)


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
        f"Name the levels, for example `I(({text} == 'a') | ({text} == 'b'))`, or order them, in"
        f" pandas by `{column_code(name)}.cat.as_ordered()`.",
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
        raise ComputationError(f"{head} {literal(value) if isinstance(value, str) else number}.")
    if labels.ordered and sign not in ("==", "!="):
        if plain not in labels.levels:
            found, known = literal(plain), listing(labels.levels)
            raise ComputationError(f"{found} is not one of the ordered levels {known}.")
        return np.asarray(_COMPARISON[sign](labels.codes, labels.levels.index(plain)))
    try:
        table = [bool(_COMPARISON[sign](level, plain)) for level in labels.levels]
    except TypeError:
        raise ComputationError("Text and numbers can't be ordered.") from None
    return np.array(table, dtype=bool)[labels.codes]


def _labels_with_labels(left: Labels, right: Labels, sign: str) -> NDArray[np.bool_]:
    if sign not in ("==", "!=") and (left.ordered or right.ordered):
        if left.levels != right.levels:
            raise ComputationError(
                "Ordered categories can only be compared with categories that have the same"
                f" levels. Found: {listing(left.levels)}, and {listing(right.levels)}."
            )
        return np.asarray(_COMPARISON[sign](left.codes, right.codes))
    # By the places of all levels in one order: no text is compared row by row.
    levels = list(dict.fromkeys([*left.levels, *right.levels]))
    if sign not in ("==", "!="):
        try:
            levels.sort()
        except TypeError:
            raise ComputationError("Text and numbers can't be ordered.") from None
    return np.asarray(_COMPARISON[sign](recoded(left, levels), recoded(right, levels)))
