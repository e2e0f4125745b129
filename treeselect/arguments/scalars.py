"""Single values as users give them: numpy's are Python's, and nothing else passes for them."""

from __future__ import annotations

import math
import re
import reprlib

import numpy as np

_LONGEST = 120
"""Most characters of a value in a message."""


class NotGiven(str):
    """A default of an argument that is text for everybody, and tells that nobody gave it."""

    __slots__ = ()


def whole(value: object) -> int | None:
    """A whole number as Python's; None for anything else, truth values too."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
        return int(value)
    return None


def finite(value: object) -> int | float | None:
    """A finite number as Python's, a whole one as it is; None for anything else."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return whole(value)


def truth(value: object) -> bool | None:
    """A truth value as Python's; None for anything else, 0 and 1 too."""
    return bool(value) if isinstance(value, bool | np.bool_) else None


def plain(value: object) -> object:
    """A single value of numpy as Python's; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def answer(value: object, name: str) -> object:
    """An attribute of a value of any kind; None if it has none, or fails to give it."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def described(value: object) -> str:
    """A value in a message: as it could be typed, on one line, and short, whatever it is.

    Its type is told where the text alone does not, and its shape in place of what is in an array.
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
    except Exception:  # a repr of somebody else's, or a number of more digits than Python writes
        return f"a value of type {kind}"
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    told = type(value).__module__ == "builtins" or kind in text
    return text if told else f"{text} ({kind})"


class _Short(reprlib.Repr):
    """Representations of which no more is made than can be shown."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = self.maxlong = 2 * _LONGEST
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 12

    def repr_instance(self, x: object, level: int) -> str:
        return re.sub(r" at 0x[0-9a-fA-F]+", "", super().repr_instance(x, level))


_SHORT = _Short()
