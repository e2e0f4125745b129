"""What an expression of a formula may call, with which arguments: the list that the guard reads."""

from __future__ import annotations

import math
from typing import TypeGuard

LARGEST_POWER = 16
"""Largest exponent."""

LARGEST_LIST = 1_000
"""Most numbers in a list of knots, and most degrees of freedom of a spline."""

LARGEST_NUMBER = 1e300
"""Largest number that may stand in an expression."""

# fmt: off
ARITHMETIC: dict[str, int] = {
    **dict.fromkeys([
        "abs", "ceil", "cos", "exp", "exp10", "exp2", "expm1", "floor", "I", "log", "log10",
        "log1p", "log2", "sin", "sqrt", "tan", "tanh",
    ], 1),
}
"""Functions that work row by row, with their number of arguments."""

NUMPY: dict[str, int] = {
    **dict.fromkeys([
        "abs", "absolute", "arccos", "arcsin", "arcsinh", "arctan", "cbrt", "ceil", "cos", "cosh",
        "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "negative", "reciprocal",
        "rint", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
    ], 1),
    **dict.fromkeys(["maximum", "minimum", "hypot"], 2),
    **dict.fromkeys(["where", "clip"], 3),
}
"""The same behind ``np.``."""

NUMBER, WHOLE_NUMBER, FLAG, CENTERED, BEYOND = "number", "whole", "flag", "centered", "beyond"
NUMBERS, LABELS, CONTRASTS = "numbers", "labels", "contrasts"

_SMOOTH = {
    "df": WHOLE_NUMBER, "knots": NUMBERS, "lower_bound": NUMBER, "upper_bound": NUMBER,
    "constraints": CENTERED, "extrapolation": BEYOND,
}

LEARNING: dict[str, dict[str, str]] = {
    "center": {},
    "scale": {"center": FLAG, "scale": FLAG, "ddof": WHOLE_NUMBER},
    "standardize": {"center": FLAG, "rescale": FLAG, "ddof": WHOLE_NUMBER},
    "poly": {"degree": WHOLE_NUMBER, "raw": FLAG},
    "bs": {
        "df": WHOLE_NUMBER, "knots": NUMBERS, "degree": WHOLE_NUMBER, "include_intercept": FLAG,
        "lower_bound": NUMBER, "upper_bound": NUMBER, "extrapolation": BEYOND,
    },
    "cr": _SMOOTH, "cs": _SMOOTH, "cc": _SMOOTH,
    "hashed": {"levels": WHOLE_NUMBER, "contrasts": CONTRASTS, "spans_intercept": FLAG},
    "C": {"contrasts": CONTRASTS, "levels": LABELS, "spans_intercept": FLAG},
}
"""Functions that look at the whole column: their arguments after the column, and of what kind."""

WHOLE = frozenset(["poly", "bs", "cr", "cs", "cc", "hashed", "C"])
"""Functions that give a factor or several columns and can't stand inside an expression."""

CONTRAST_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "contr.treatment": ("base",), "contr.SAS": ("base",), "contr.sum": (), "contr.poly": (),
    "contr.helmert": ("reverse", "scale"), "contr.diff": ("backward",),
    "Treatment": ("reference",), "Sum": (), "Poly": (),
    "Helmert": ("reverse", "scale"), "Diff": ("backward",),
}
"""Contrasts of ``C()`` with their arguments. They matter for linear models only: trees use every
level."""

CONTRAST_NAMES = frozenset(CONTRAST_ARGUMENTS)
# fmt: on

SPECIAL = frozenset(["Surv", "strata"])
"""Functions that say what a column is for: they stand on one side, and are whole terms."""

FUNCTIONS = frozenset([*ARITHMETIC, *LEARNING, *SPECIAL, "Q"])
"""All functions that an expression may call."""

LIMITS = {
    "levels": (1, 10_000), "degree": (0, 20), "ddof": (0, 1_000), "df": (1, LARGEST_LIST)
}  # fmt: skip
"""Smallest and largest numbers of some arguments: more would only fill the memory."""

MAYBE_NONE = frozenset(["df", "knots", "lower_bound", "upper_bound", "constraints", "contrasts"])
"""Arguments that may be None."""

KINDS = {
    NUMBER: "a number",
    WHOLE_NUMBER: "a whole number",
    FLAG: "True or False",
    CENTERED: "'center'",
    BEYOND: "'raise', 'clip', 'na', 'zero' or 'extend'",
    NUMBERS: f"a list of at most {LARGEST_LIST:,} numbers",
    LABELS: f"a list of at most {LARGEST_LIST:,} labels, each once",
}
"""The kinds of arguments in words."""

_WORDS = {CENTERED: ("center",), BEYOND: ("raise", "clip", "na", "zero", "extend")}
"""The words of arguments that take one: formulaic would read others as code of its own."""


def is_of_kind(value: object, kind: str) -> bool:
    """Whether the value of an argument is of a kind."""
    if value is None:
        return True
    if kind == FLAG:
        return isinstance(value, bool)
    if kind in _WORDS:
        return isinstance(value, str) and value in _WORDS[kind]
    if kind in (NUMBER, WHOLE_NUMBER):
        return is_number(value) and (kind == NUMBER or value == math.floor(value))
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= LARGEST_LIST
        and all(is_number(v) or (kind == LABELS and isinstance(v, str | bool)) for v in value)
        and (kind == NUMBERS or len(set(value)) == len(value))
    )


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a number, truth values left out, that is not too large."""
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def is_finite(value: int | float) -> bool:
    """Whether a number is not too large, and not infinite or NaN."""
    return -LARGEST_NUMBER <= value <= LARGEST_NUMBER
