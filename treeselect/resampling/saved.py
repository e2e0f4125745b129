"""Reading and writing finished pieces; files are untrusted and are checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.running.pieces import Found

FEWEST = 2
"""Fewest resamples, folds or splits that make a partial result: one alone shows no variation."""


def units_read(said: Any, n_units: int, most: int | None = None) -> IntArray:
    """Distinct numbers of units, in their order.

    Raises
    ------
    ValueError
        If `said` is anything else, or there are more than `most`.
    """
    if not isinstance(said, list) or not all(type(unit) is int for unit in said):
        raise ValueError("no units")
    if len(set(said)) < len(said) or len(said) > (n_units if most is None else most):
        raise ValueError("other units")
    if said and not 0 <= min(said) <= max(said) < n_units:
        raise ValueError("units that are not there")
    return np.array(said, dtype=np.int64)


def number_read(said: Any) -> float:
    """A finite number; otherwise a ValueError."""
    if type(said) not in (int, float) or not math.isfinite(said):
        raise ValueError("no number")
    return float(said)


def table_said(values: FloatArray) -> list[list[float | None]]:
    """Rows of numbers, with None for missing values."""
    return [[None if number != number else number for number in row] for row in values.tolist()]


def table_read(said: Any, shape: tuple[int, int]) -> FloatArray:
    """The inverse of :func:`table_said`; a ValueError unless the shape matches."""
    if not isinstance(said, list) or len(said) != shape[0]:
        raise ValueError("another table")
    if not all(isinstance(row, list) and len(row) == shape[1] for row in said):
        raise ValueError("other columns")
    rows = [[math.nan if number is None else number_read(number) for number in row] for row in said]
    return np.array(rows, dtype=np.float64).reshape(shape)


def some(found: Found) -> Found:
    """The finished pieces, if there are two or more: see ``running.pieces.Kind.part``."""
    return found if len(found) >= FEWEST else {}
