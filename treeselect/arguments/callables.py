"""Functions supplied by users."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any


def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Parameters by name, in order; empty if unknown, as for some functions written in C.

    Examples
    --------
    >>> from treeselect.arguments.callables import parameters_of
    >>> list(parameters_of(lambda y_true, y_pred: 0.0)), list(parameters_of(type))
    (['y_true', 'y_pred'], [])
    """
    try:
        return inspect.signature(function).parameters
    except Exception:  # foreign objects may fail in any way
        return {}
