"""Functions as users give them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any


def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Parameters by name, in their order; none if they are not known, as of some that are written
    in C.

    Examples
    --------
    >>> from treeselect.arguments.callables import parameters_of
    >>> list(parameters_of(lambda y_true, y_pred: 0.0)), list(parameters_of(type))
    (['y_true', 'y_pred'], [])
    """
    try:
        return inspect.signature(function).parameters
    except Exception:  # an object of others may fail at whatever it is asked
        return {}
