"""Whole numbers in the narrowest type that holds them, and back, without loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from treeselect.modelfile.checks import check

_WIDTHS: tuple[type[np.integer[Any]], ...] = (
    np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64
)  # fmt: skip


def narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the first type that holds all of them; other arrays as they are."""
    if array.dtype.kind not in "iu" or array.size == 0:
        return array
    lowest, highest = int(array.min()), int(array.max())
    width = next(kind for kind in _WIDTHS if _holds(kind, lowest, highest))
    return array.astype(width)


def widened(array: NDArray[Any], kind: DTypeLike) -> NDArray[Any]:
    """Whole numbers of any width in the type of the model; other arrays as they are.

    Raises
    ------
    ValueError
        If the type does not hold them: they would become other numbers.
    """
    wanted = np.dtype(kind)
    if array.dtype.kind not in "iu" or wanted.kind not in "iu" or array.size == 0:
        return array
    check(_holds(wanted.type, int(array.min()), int(array.max())), "whole numbers")
    return array.astype(wanted, copy=False)


def _holds(kind: Any, lowest: int, highest: int) -> bool:
    limits = np.iinfo(kind)
    return bool(limits.min <= lowest and highest <= limits.max)
