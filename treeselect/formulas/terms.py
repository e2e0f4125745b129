"""What an expression of a formula is once it has been checked: a tree of these records.

The guard makes the tree, and nothing else is ever evaluated: what has no record here can't be
computed, however it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Literal

from treeselect.frames.values import formula_name


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

    @property
    def is_comparison(self) -> bool:
        """Whether it compares its two operands."""
        return self.sign in COMPARISONS


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
        """Values of all arguments."""
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
        """Columns of the data that it reads."""
        if len(self.factors) == 1:
            return self.factors[0].variables
        return tuple(dict.fromkeys(v for factor in self.factors for v in factor.variables))

    @property
    def is_plain(self) -> bool:
        """Whether it is a column as it is."""
        return len(self.factors) == 1 and self.factors[0].is_plain

    @property
    def is_interaction(self) -> bool:
        """Whether it has more than one factor."""
        return len(self.factors) > 1

    @property
    def key(self) -> str:
        """The same for ``a:b`` and ``b:a``: no result may depend on their order."""
        if len(self.factors) == 1:
            return self.name
        return ":".join(sorted(factor.name for factor in self.factors))

    @property
    def text(self) -> str:
        """The term as a formula needs it."""
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
    def outcome_variables(self) -> tuple[str, ...]:
        """Columns of the data behind the response and the strata."""
        strata = (v for factor in self.strata for v in factor.variables)
        return tuple(dict.fromkeys([*self.response.variables, *strata]))

    def text_of(self, terms: Iterable[str]) -> str:
        """The formula with these of its terms alone, and with its strata."""
        texts = {term.name: term.text for term in self.terms}
        right = [texts[name] for name in terms]
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
