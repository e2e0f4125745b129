"""Checks that methods make of their options when they are built."""

from __future__ import annotations

import numpy as np

from treeselect.errors import MethodError, quoted


def check_integer(
    method: object, option: str, *, least: int, most: int | None = None, optional: bool = False
) -> None:
    """Raise a MethodError unless the option is a whole number from `least` to `most`."""
    value = getattr(method, option)
    if value is None and optional:
        return
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most}"
        raise _error(method, option, f"a whole number, {bounds}", optional, value)


def check_number(method: object, option: str, *, above: float, optional: bool = False) -> None:
    """Raise a MethodError unless the option is a finite number greater than `above`."""
    value = getattr(method, option)
    if value is None and optional:
        return
    real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not real or not above < value < np.inf:
        raise _error(method, option, f"a finite number above {above:g}", optional, value)


def check_flag(method: object, option: str) -> None:
    """Raise a MethodError unless the option is True or False."""
    value = getattr(method, option)
    if not isinstance(value, bool):
        raise _error(method, option, "True or False", False, value)


def _error(method: object, option: str, allowed: str, optional: bool, value: object) -> MethodError:
    return MethodError(
        f"{quoted(option)} of {type(method).__name__} must be {allowed}"
        f"{', or None' if optional else ''}.\n  Found: {value!r}."
    )
