"""States of transforms and options of methods, as JSON values and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """States and options for JSON: dictionaries become pairs, arrays get a mark."""
    if isinstance(value, dict):
        return {"dict": [[plain(k), plain(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": value.astype(np.float64).tolist()}
    if isinstance(value, list | tuple):
        return {"list": [plain(v) for v in value]}
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    return value


def unplain(value: Any) -> Any:
    """The inverse of :func:`plain`, with lists for tuples.

    Raises
    ------
    ValueError
        If there is an unknown mark.
    """
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "dict":
        return {unplain(k): unplain(v) for k, v in inner}
    if kind == "list":
        return [unplain(v) for v in inner]
    if kind == "array":
        return np.array(inner, dtype=np.float64)
    if kind == "number":
        return float(inner)
    raise ValueError(f"a value of the unknown kind {kind!r}")
