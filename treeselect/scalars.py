"""Single values as users give them: numpy's are Python's, and nothing else passes for them."""

from __future__ import annotations

import math

import numpy as np

_LONGEST = 120
"""Most characters of a value in a message."""


class NotGiven(str):
    """A default of an argument that is text for everybody, and tells that nobody gave it."""

    __slots__ = ()


def whole(value: object) -> int | None:
    """A whole number as Python's; None for anything else, truth values too."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
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


def shown(value: object) -> str:
    """A value in a message: as it could be typed, on one line, and short."""
    try:
        text = " ".join(repr(plain(value)).split())
    except Exception:  # a repr of somebody else's, or a number of more digits than Python writes
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
