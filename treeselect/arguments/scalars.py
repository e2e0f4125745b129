"""Single values from users: NumPy scalars become Python's, and nothing else is accepted."""

from __future__ import annotations

import math
import re
import reprlib

import numpy as np

_LONGEST = 120
"""Maximum number of characters of a value in a message."""


class NotGiven(str):
    """A default value that behaves as text and can be recognised as not supplied by the user."""

    __slots__ = ()


def whole(value: object) -> int | None:
    """A whole number as a Python int; None for anything else, including bool."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
        return int(value)
    return None


def finite(value: object) -> int | float | None:
    """A finite number as a Python float or int; None for anything else."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return whole(value)


def truth(value: object) -> bool | None:
    """A Python bool; None for anything else, including 0 and 1."""
    return bool(value) if isinstance(value, bool | np.bool_) else None


def plain(value: object) -> object:
    """A NumPy scalar as Python's; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def answer(value: object, name: str) -> object:
    """An attribute of any value; None if it has none or reading it fails."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def described(value: object) -> str:
    """Any value in a message: as it could be typed, on one line, and short.

    The type is added where the text does not show it; arrays are described by their shape.
    """
    value = plain(value)
    kind = type(value).__name__[:_LONGEST]
    if isinstance(value, type):
        return f"the class {value.__name__[:_LONGEST]}"
    shape = answer(value, "shape")
    if isinstance(shape, tuple) and shape and all(type(n) is int for n in shape):
        return f"{kind} of shape {shape}"
    try:
        text = " ".join(_SHORT.repr(value).split())
    except Exception:  # a foreign repr, or a number with more digits than Python prints
        return f"a value of type {kind}"
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    told = type(value).__module__ == "builtins" or kind in text
    return text if told else f"{text} ({kind})"


class _Short(reprlib.Repr):
    """Representations limited to the length that can be shown."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = self.maxlong = 2 * _LONGEST
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 12

    def repr_instance(self, x: object, level: int) -> str:
        return re.sub(r" at 0x[0-9a-fA-F]+", "", super().repr_instance(x, level))


_SHORT = _Short()
