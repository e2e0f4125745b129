"""One-line representations of records, with arrays abbreviated."""

from __future__ import annotations

import dataclasses
from typing import Any

from treeselect.shown import shown

_MOST = 6
"""Largest tuple that is listed."""

_LONGEST = 60
"""Longest text, in characters."""


def brief(record: Any) -> str:
    """The ``repr`` of a dataclass, with arrays by shape and long parts by size; assign it in the
    body of a class, ``__repr__ = brief``."""
    known = [f for f in dataclasses.fields(record) if f.repr]
    said = ", ".join(f"{f.name}={_part(getattr(record, f.name))}" for f in known)
    return f"{type(record).__name__}({said})"


def _part(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float | complex):
        return repr(value)
    if isinstance(value, str):
        text = shown(value)
        return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        size = " x ".join(map(str, value.shape)) or "no dimension"
        return f"<{value.dtype} array of {size}>"
    if type(value) in (tuple, list, set, frozenset, dict):
        plain = type(value) is tuple and len(value) <= _MOST
        if plain and all(isinstance(part, str | int | float) for part in value):
            inside = ", ".join(map(_part, value))
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        return f"<{type(value).__name__} of {len(value):,}>"
    return f"<{type(value).__name__}>"
