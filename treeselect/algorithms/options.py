"""Checks that methods make of their options when they are built."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeselect.design import FeatureGroups
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


def check_number(
    method: object,
    option: str,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    optional: bool = False,
) -> None:
    """Raise a MethodError unless the option is a finite number above, or from, one to another."""
    value = getattr(method, option)
    if value is None and optional:
        return
    real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if (
        not real
        or not np.isfinite(value)
        or (above is not None and value <= above)
        or (least is not None and value < least)
        or (most is not None and value > most)
    ):
        bounds = [f"above {above:g}"] if above is not None else []
        bounds += [f"at least {least:g}"] if least is not None else []
        bounds += [f"at most {most:g}"] if most is not None else []
        raise _error(method, option, f"a finite number {' and '.join(bounds)}", optional, value)


def check_choice(method: object, option: str, allowed: Sequence[str | None]) -> None:
    """Raise a MethodError unless the option is one of the allowed."""
    value = getattr(method, option)
    if value not in allowed:
        words = " or ".join(repr(choice) for choice in allowed)
        raise _error(method, option, words, False, value)


def refuse_together(method: object, *, way: str, **values: str) -> None:
    """Raise a MethodError if all these options have these values."""
    if all(getattr(method, option) == value for option, value in values.items()):
        said = " and ".join(f"`{option}={value!r}`" for option, value in values.items())
        raise MethodError(f"{type(method).__name__} can't have {said} together.\n  {way}")


def refuse_costs(method: object, groups: FeatureGroups) -> None:
    """Raise a MethodError if anything has a price other than 1."""
    if (groups.item_costs != 1).any():
        raise MethodError(
            f"{type(method).__name__} ranks units by what they tell, and has no part for `costs`.\n"
            "  Leave them out, or take a method that knows prices, such as `controlburn`."
        )


def check_flag(method: object, option: str, *, optional: bool = False) -> None:
    """Raise a MethodError unless the option is True or False."""
    value = getattr(method, option)
    if not isinstance(value, bool) and not (optional and value is None):
        raise _error(method, option, "True or False", optional, value)


def _error(method: object, option: str, allowed: str, optional: bool, value: object) -> MethodError:
    return MethodError(
        f"{quoted(option)} of {type(method).__name__} must be {allowed}"
        f"{', or None' if optional else ''}.\n  Found: {value!r}."
    )
