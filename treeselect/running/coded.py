"""Results as JSON, in files that are untrusted, so that reading checks everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray


class Coded(NamedTuple):
    """How a value is written as JSON, and read: an error of any kind unless it can be one."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def number_read(saved: Any) -> float:
    """A finite number; otherwise a ValueError."""
    if type(saved) not in (int, float) or not math.isfinite(saved):
        raise ValueError("no number")
    return float(saved)


NUMBER = Coded(float, number_read)
NOTHING = Coded(lambda found: None, lambda saved: None)


def optional(own: Coded) -> Coded:
    """A value, or None."""
    return Coded(
        lambda found: None if found is None else own.write(found),
        lambda saved: None if saved is None else own.read(saved),
    )


def array(*shape: int, known: bool = False) -> Coded:
    """Numbers; NaN, where they need not be known, is written as None."""

    def write(found: FloatArray) -> list[float | None]:
        return [None if number != number else number for number in np.ravel(found).tolist()]

    def read(saved: Any) -> FloatArray:
        if not isinstance(saved, list) or len(saved) != math.prod(shape):
            raise ValueError("another table")
        numbers = [math.nan if s is None and not known else number_read(s) for s in saved]
        return np.array(numbers, dtype=np.float64).reshape(shape)

    return Coded(write, read)


def units(n_units: int, most: int | None = None) -> Coded:
    """Distinct numbers of units, in their order."""

    def read(saved: Any) -> IntArray:
        if not isinstance(saved, list) or not all(type(unit) is int for unit in saved):
            raise ValueError("no units")
        if len(set(saved)) < len(saved) or len(saved) > (n_units if most is None else most):
            raise ValueError("other units")
        if saved and not 0 <= min(saved) <= max(saved) < n_units:
            raise ValueError("units that are not there")
        return np.array(saved, dtype=np.int64)

    return Coded(lambda found: found.tolist(), read)


def members(n_units: int, most: int | None = None) -> Coded:
    """Whether each unit is one of some, written as their numbers."""
    own = units(n_units, most)
    return Coded(
        lambda found: own.write(np.flatnonzero(found)),
        lambda saved: np.isin(np.arange(n_units), own.read(saved)),
    )


def record(
    make: Callable[..., Any], *parts: Coded, of: Callable[[Any], Iterable[Any]] = iter
) -> Coded:
    """What is made of some parts, and gives them back."""
    return Coded(
        lambda found: [own.write(value) for own, value in zip(parts, of(found), strict=True)],
        lambda saved: make(*(own.read(value) for own, value in zip(parts, saved, strict=True))),
    )
