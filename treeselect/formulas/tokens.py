"""Tokens of a formula, and long sums of them nested for speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Kind = Literal["context", "name", "operator", "python", "value"]

_LONG_SUM = 50
"""Number of tokens from which on a formula is read with nested sums."""


@dataclass(frozen=True, slots=True)
class Token:
    """A name, sign, number or expression.

    Attributes
    ----------
    text : str
    kind : str
        ``"context"`` is a parenthesis or bracket, ``"python"`` an expression.
    percent : str
        An operator between percent signs as it is written; `text` has lost the signs.
    """

    text: str
    kind: Kind
    percent: str = ""

    @property
    def is_operator(self) -> bool:
        """Whether it joins terms."""
        return self.kind == "operator"


def balanced(tokens: Sequence[Token]) -> list[Token]:
    """The same formula with its long sums in nested parentheses.

    formulaic unites sums from left to right, which takes quadratic time: 10 s for 7,000 names.
    Neither union nor repeated removal depends on how it is nested.
    """
    if len(tokens) < _LONG_SUM:
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
    return [
        Token("(", "context"),
        *_nested(parts[:half]),
        Token("+", "operator"),
        *_nested(parts[half:]),
        Token(")", "context"),
    ]
