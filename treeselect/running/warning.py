"""Warnings that point to the user's line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings

from treeselect.errors import TreeselectWarning

_INSIDE = ("treeselect", "contextlib")


def warn(text: str) -> None:
    """Issue a TreeselectWarning at the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, TreeselectWarning, stacklevel=level)


def _is_inside(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _INSIDE
