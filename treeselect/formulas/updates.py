"""A new formula in terms of an old one, as R's ``update.formula``."""

from __future__ import annotations

import re

from treeselect.errors import FormulaError
from treeselect.formulas.quoting import unquote

_DOT = re.compile(r"(?<![\w.)\]])\.(?![\w.])")
"""A dot that stands for a side; not that of ``1.5``, ``.5`` or ``np.log``."""

_SUM = re.compile(r"\s*\.\s*([+-]|$)")
"""A right-hand side that begins with the old one and only adds to it or takes from it."""

_NAME = re.compile(r"\w+|`[^`]*`")


def updated_formula(old: str, new: str) -> str:
    """The new formula, with the sides of the old one in the place of its dots.

    Parameters
    ----------
    old : str
        With a response.
    new : str
        ``"~ . - age"``; without a left-hand side, the response is the old one.

    Raises
    ------
    FormulaError
        If the new formula has no ``~``, or several.

    Examples
    --------
    >>> from treeselect.formulas.updates import updated_formula
    >>> updated_formula("y ~ a + b", "~ . - b")
    'y ~ a + b - b'
    >>> updated_formula("y ~ a + b", "log(.) ~ .:x")
    'log(y) ~ (a + b):x'
    """
    left, right = _sides(old)
    response, terms = _sides(new)
    if not terms.strip():
        raise FormulaError(f"`formula` must have a right-hand side.\n  Found: {new}")
    terms = _put(terms, right, bare=_only_adds(terms))
    inside = "(" in response or response.strip() in ("", ".")
    response = _put(response or ".", left, bare=inside or _NAME.fullmatch(left) is not None)
    return f"{response} ~ {terms}"


def _sides(formula: str) -> tuple[str, str]:
    """What is to the left and to the right of the tilde."""
    plain = unquote(formula)
    parts = plain.code.split("~")
    if len(parts) != 2:
        raise FormulaError(
            f"`formula` must have one `~`, such as `~ . - age` or `log(.) ~ .`.\n  Found: {formula}"
        )
    left, right = (plain.restore(part).strip() for part in parts)
    return left, right


def _only_adds(terms: str) -> bool:
    plain = unquote(terms)
    return _SUM.match(plain.code) is not None and len(_DOT.findall(plain.code)) == 1


def _put(side: str, old: str, *, bare: bool) -> str:
    """A side with the old one in the place of each dot."""
    plain = unquote(side)
    given = old if bare or _NAME.fullmatch(old) else f"({old})"
    parts = _DOT.split(plain.code)
    return given.join(plain.restore(part) for part in parts).strip()
