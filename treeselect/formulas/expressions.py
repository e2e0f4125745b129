"""What an expression of a formula is once it has been checked: a tree of these records.

The guard makes the tree, and nothing else is ever evaluated: what has no record here can't be
computed, however it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields


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
    """A function that learns from the whole column, such as ``scale`` or ``bs``.

    Attributes
    ----------
    function : str
    argument : Node
    options : tuple of (str, object)
        Constants, tuples of constants and :class:`Contrast`, by the names of the arguments.
    text : str
        As a formula writes it: what was learned is kept under this name.
    """

    function: str
    argument: Node
    options: tuple[tuple[str, object], ...]
    text: str

    def option(self, name: str) -> object:
        """Value of an option, None if it was not given."""
        return dict(self.options).get(name)


@dataclass(frozen=True, slots=True)
class Code:
    """Any Python expression, of a formula that the user trusts.

    Attributes
    ----------
    text : str
        Columns with odd names under the names in `aliases`.
    aliases : tuple of (str, str)
        A name in `text`, and the column behind it.
    columns : tuple of str
        Columns that it reads.
    is_call : bool
        Whether it is a single call.
    """

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
