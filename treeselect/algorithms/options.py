"""Ranges of a method's options: metadata of its fields, checked when it is created.

Every number has an upper bound: each stands for work or memory, or is a factor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treeselect.arguments.checks import (
    described,
    finite,
    found_near,
    is_one_of,
    plain,
    truth,
    whole,
)
from treeselect.designs.problem import FeatureGroups, Problem
from treeselect.engine.tree.workspace import UNBOUNDED
from treeselect.errors import MethodError, quoted

MOST_TREES = 1_000_000
"""Most trees; the bound of all options without their own."""

MOST_LEAF = 10**12
"""Upper bound of the minimum number of rows in a leaf."""

MOST_DEPTH = UNBOUNDED
"""Greatest depth, which no tree reaches."""

MOST_UNITS = 10**9
"""Most units that can be tried at a node."""

_LARGEST = 1e150
"""Largest number whose square is finite."""


def integer(**bounds: Any) -> dict[str, Any]:
    return by(check_integer, **bounds)


def number(**bounds: Any) -> dict[str, Any]:
    return by(check_number, **bounds)


def choice(*allowed: str | None) -> dict[str, Any]:
    return by(check_choice, allowed=allowed)


def flag() -> dict[str, Any]:
    return by(check_flag)


def by(check: Callable[..., None], **bounds: Any) -> dict[str, Any]:
    """Metadata of a field whose value a function checks and converts."""
    return {"check": check, "bounds": bounds}


def check_options(record: Any) -> None:
    """Check all options of a dataclass by the metadata of its fields, or of its parents' fields by
    the same name; None is allowed where it is the default."""
    for name in (own.name for own in dataclasses.fields(record)):
        for kind in type(record).__mro__:
            own = vars(kind).get("__dataclass_fields__", {}).get(name)
            if own is not None and "check" in own.metadata:
                optional = {"optional": True} if own.default is None else {}
                own.metadata["check"](record, name, **optional | own.metadata["bounds"])
                break


def check_integer(
    method: object, option: str, *, least: int, most: int = MOST_TREES, optional: bool = False
) -> None:
    """Convert the option to an int; a MethodError unless it is from `least` to `most`."""
    found = whole(getattr(method, option))
    if found is not None and not least <= found <= most:
        found = None
    _convert(method, option, found, f"a whole number from {least} to {most:,}", optional)


def check_number(
    method: object,
    option: str,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    optional: bool = False,
) -> None:
    """Convert the option to a finite float; a MethodError unless it is within the bounds."""
    found = finite(getattr(method, option))
    bounds = [f"above {above:g}"] if above is not None else []
    bounds += [f"at least {least:g}"] if least is not None else []
    bounds += [f"at most {most:g}"] if most is not None else []
    if found is not None:
        if abs(found) > _LARGEST:
            found, bounds = None, [f"from {-_LARGEST:g} to {_LARGEST:g}"]
        elif (
            (above is not None and found <= above)
            or (least is not None and found < least)
            or (most is not None and found > most)
        ):
            found = None
        elif abs(found) > 2**53:  # numpy would convert a larger int to an object
            found = float(found)
    _convert(method, option, found, f"a finite number {' and '.join(bounds)}", optional)


def check_choice(method: object, option: str, allowed: Sequence[str | None]) -> None:
    """Convert the option to a str; a MethodError unless it is one of the allowed."""
    value = plain(getattr(method, option))
    known = [choice for choice in allowed if choice is not None]
    if not is_one_of(value, known) and not (value is None and None in allowed):
        words = " or ".join(repr(choice) for choice in allowed)
        raise MethodError(
            f"{quoted(option)} of {owner_of(method)} must be {words}.\n{found_near(value, known)}"
        )
    object.__setattr__(method, option, value)


def refuse_together(method: object, *, way: str, **values: str) -> None:
    if all(getattr(method, option) == value for option, value in values.items()):
        said = " and ".join(f"`{option}={value!r}`" for option, value in values.items())
        raise MethodError(f"{type(method).__name__} can't have {said} together.\n  {way}")


def refuse_costs(method: object, groups: FeatureGroups) -> None:
    if (groups.item_costs != 1).any():
        raise MethodError(
            f"{type(method).__name__} can't take `costs` into account.\n"
            "  Leave them out, or choose a method that can, such as `exchange`."
        )


def refuse_offset(method: Any, problem: Problem) -> None:
    """For methods that find any dependence: what an offset leaves of classes, counts and times has
    a spread that depends on the offset. Where all is forced in, there is nothing to find."""
    varies = problem.offset is not None and np.ptp(problem.offset) > 0
    if varies and not problem.groups.keep.all() and not problem.family.loss.is_squared:
        raise MethodError(
            f"{method.name} can't use an `offset` with a {problem.family.name} response.\n"
            "  Leave it out, or choose a method that can, such as `exchange`."
        )


def check_flag(method: object, option: str, *, optional: bool = False) -> None:
    """Convert the option to a bool; a MethodError unless it is one."""
    _convert(method, option, truth(getattr(method, option)), "True or False", optional)


def owner_of(record: object) -> str:
    """Name of the class whose options they are, or that keywords stand for."""
    return getattr(record, "owner", type(record).__name__)


def _convert(method: object, option: str, found: Any, allowed: str, optional: bool) -> None:
    """Set the option to what its value was found to be; a MethodError if that is nothing."""
    value = getattr(method, option)
    if found is not None:
        object.__setattr__(method, option, found)  # allowed in the checks of a frozen record
    elif value is not None or not optional:
        raise MethodError(
            f"{quoted(option)} of {owner_of(method)} must be {allowed}"
            f"{', or None' if optional else ''}.\n  Found: {described(value)}."
        )
