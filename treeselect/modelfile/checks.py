"""Checks of the parts of a model file, which may be hostile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.designs.encoding import DesignSpec

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


def directions(record: Mapping[str, Any], spec: DesignSpec) -> dict[str, int]:
    """The terms under monotone constraints; files of older versions have none."""
    single = {own.term.name for own in spec.terms if own.column_levels == (None,)}
    signs = list(record.values())
    check(set(record) <= single and all(type(s) is int and abs(s) == 1 for s in signs), "monotone")
    return dict(record)
