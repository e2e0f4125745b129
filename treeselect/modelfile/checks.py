"""What is asked of the parts of a model file, which may be hostile."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST = 1e72
"""No response is larger; of larger numbers what is computed would not be finite."""

_NEAR = 1e-6
"""How far shares may be from a sum of 1."""


def check(holds: bool | np.bool_, what: str) -> None:
    """Raise a ValueError unless it holds."""
    if not holds:
        raise ValueError(f"{what} do not fit together")


def are_shares(values: NDArray[Any]) -> bool:
    """Whether numbers, or each row of them, are shares of one whole, or of nothing."""
    if not bool(((values >= 0) & (values <= 1 + _NEAR)).all()):
        return False
    total = values.sum(axis=-1)
    return bool(((np.abs(total - 1) <= _NEAR) | (total == 0)).all())


def are_plain(*arrays: NDArray[Any]) -> bool:
    """Whether all numbers are finite and of a size that a model has."""
    return all(bool((np.abs(array) <= _LARGEST).all()) for array in arrays)
