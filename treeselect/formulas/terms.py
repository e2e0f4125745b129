"""A formula that was read: its terms, products of factors that are columns or expressions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treeselect.formulas.expressions import (
    Call,
    Code,
    Column,
    Node,
    Strata,
    Survival,
    Transform,
)
from treeselect.frames.names import formula_name


@dataclass(frozen=True, slots=True)
class Factor:
    """A column of the data, or an expression of columns.

    Attributes
    ----------
    name : str
        As a formula writes it: ``age``, ``log(fare)``.
    variables : tuple of str
        Columns of the data that it reads.
    node : Node
        What is evaluated.
    """

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
        if isinstance(self.node, Code) and not self.node.is_call:
            return f"{{{self.name}}}"
        is_call = isinstance(self.node, Call | Transform | Code | Survival | Strata)
        return self.name if is_call else f"{{{self.name}}}"


@dataclass(frozen=True, slots=True)
class Term:
    """One side of the formula is a sum of these: a factor, or an interaction of several.

    Attributes
    ----------
    name : str
        As a formula writes it: ``age``, ``log(fare)``, ``age:sex``.
    factors : tuple of Factor
        At least one.
    """

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
    """A formula for given columns.

    Attributes
    ----------
    text : str
        What the user wrote.
    response : Term
    terms : tuple of Term
        The right-hand side without the intercept, ``.`` written out, by their degree.
    columns : tuple of str
        Columns of the data that it was read for.
    hidden : tuple of str
        Those that ``.`` does not stand for.
    strata : tuple of Factor
        What ``strata()`` is given, in alphabetical order; their combinations are the strata.
    has_intercept : bool
        False after ``-1`` or ``0 +``, which have no effect.
    """

    text: str
    response: Term
    terms: tuple[Term, ...]
    columns: tuple[str, ...]
    hidden: tuple[str, ...]
    strata: tuple[Factor, ...] = ()
    has_intercept: bool = True

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
