"""Checks of the parts of a model file, which may be hostile."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST = 1e72
"""Largest response; with larger numbers, computed values would not be finite."""

_NEAR = 1e-6
"""Largest deviation of a sum of shares from 1."""


def check(holds: bool | np.bool_, what: str) -> None:
    """Raise a ValueError unless a condition holds."""
    if not holds:
        raise ValueError(f"inconsistent content: {what}")


def are_shares(values: NDArray[Any]) -> bool:
    """Whether numbers, or the numbers in each row, are shares that sum to 1, or all 0."""
    if not bool(((values >= 0) & (values <= 1 + _NEAR)).all()):
        return False
    total = values.sum(axis=-1)
    return bool(((np.abs(total - 1) <= _NEAR) | (total == 0)).all())


def are_plain(*arrays: NDArray[Any]) -> bool:
    """Whether all numbers are finite and within the range of a model."""
    return all(bool((np.abs(array) <= _LARGEST).all()) for array in arrays)
