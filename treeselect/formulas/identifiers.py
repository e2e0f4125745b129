"""Names and expressions of a formula as identifiers, so that no parser sees what they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from treeselect.errors import FormulaError, quoted
from treeselect.formulas.expressions import Column
from treeselect.formulas.guard import check_expression
from treeselect.formulas.quoting import Unquoted
from treeselect.formulas.terms import Factor, Term
from treeselect.formulas.tokens import Token


class Identifiers:
    """The columns and expressions of a formula, and the identifiers that stand for them.

    ``c7`` is a column, ``e7`` an expression: the parser multiplies terms out and sees nothing else.
    """

    def __init__(
        self, text: str, unquoted: Unquoted, columns: Sequence[str], trusted: bool
    ) -> None:
        self._text, self._unquoted, self._trusted = text, unquoted, trusted
        self._numbers = {name: i for i, name in enumerate(columns)}
        self._names = list(columns)
        self._factors: dict[str, Factor] = {}
        self._by_name: dict[str, str] = {}

    def column(self, name: str) -> str:
        """The identifier of a column."""
        return f"c{self._numbers[name]}"

    def numbered(self, token: Token) -> Token:
        """A token without names and expressions."""
        if token.kind == "name" and token.text != ".":
            return Token(self._name(token.text), "name")
        if token.kind == "python":
            return Token(self._expression(token.text), "name")
        return Token("%in%", "operator") if token.percent else token

    def _name(self, code: str) -> str:
        if code in self._unquoted.words:
            raise FormulaError.at(
                "Can't read the formula: quoted text is allowed only inside an expression.",
                self._text,
                self._unquoted.restore(code).strip(),
                "Put column names in backticks.",
            )
        name = self._unquoted.columns.get(code, code)
        if name not in self._numbers:
            raise FormulaError.unknown_column(name, self._text, self._names)
        return self.column(name)

    def _expression(self, code: str) -> str:
        expression = self._unquoted.restore(code)
        checked = check_expression(
            code, self._unquoted, self._text, self._numbers, trusted=self._trusted
        )
        if not checked.variables:
            raise FormulaError.at(
                f"The expression {quoted(expression)} must use a column of `data`.",
                self._text,
                expression,
            )
        if isinstance(checked.node, Column):
            raise FormulaError.at(
                f"The column {quoted(checked.node.name)} must not be in braces.",
                self._text,
                expression,
                "Write it without them.",
            )
        for name in {expression, checked.name} & self._numbers.keys():
            raise FormulaError.at(
                f"The column {quoted(name)} must not share its name with an expression.",
                self._text,
                expression,
                "Rename the column.",
            )
        if checked.name not in self._by_name:
            identifier = f"e{len(self._by_name)}"
            self._by_name[checked.name] = identifier
            self._factors[identifier] = Factor(checked.name, checked.variables, checked.node)
        return self._by_name[checked.name]

    def restore(self, message: str) -> str:
        """A message of the parser with names in the place of identifiers."""
        return re.sub(r"\b[ce]\d+\b", lambda found: self.factor(found[0]).name, message)

    def on_the_left(self, tokens: Sequence[Token]) -> list[str]:
        """Identifiers of the columns that the left-hand side reads; ``.`` leaves them out."""
        left = [token.text for token in takewhile(lambda t: t.text != "~", tokens)]
        named = [part for part in left if re.fullmatch(r"[ce]\d+", part)]
        return [self.column(v) for part in named for v in self.factor(part).variables]

    @property
    def expressions(self) -> list[Factor]:
        """Those of the formula."""
        return list(self._factors.values())

    def factor(self, identifier: str) -> Factor:
        """Our record of a column or expression."""
        if identifier in self._factors:
            return self._factors[identifier]
        name = self._names[int(identifier[1:])]
        return Factor(name, (name,), Column(name))

    def term(self, identifiers: Sequence[str]) -> Term:
        """Our record of a term."""
        factors = [self.factor(identifier) for identifier in identifiers]
        return Term(":".join(factor.name for factor in factors), tuple(factors))
