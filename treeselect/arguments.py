"""Checks of arguments, once, where the user gives them; numpy's single values become Python's."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treeselect.errors import OptionError, listing
from treeselect.scalars import NotGiven, finite, shown, whole

if TYPE_CHECKING:
    from treeselect.design import FeatureGroups

USUAL_SIZE: Any = NotGiven("1se")
"""The default of `k`: the rule of one standard error, unless the method decides by itself."""

MOST_RESAMPLES = 100_000
"""Most resamples of a fit."""

MOST_REPEATS = 10_000
"""Most repeats of folds, and most splits of an inference."""

MOST_FOLDS = 1_000_000
"""Most folds that can be asked for, whatever the number of rows."""

MOST_SEED = 2**64 - 1
"""Largest seed, and the largest that `stream_seed` gives: 64 bits."""


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise an OptionError unless `value` is one of the allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise OptionError(f"`{name}` must be one of {listing(allowed)}.\n  Found: {shown(value)}.")


def check_count(name: str, value: object, *, least: int, most: int | None = None) -> int:
    """The whole number as Python's; an OptionError unless it is from `least` to `most`."""
    found = whole(value)
    if found is None or found < least or (most is not None and found > most):
        bounds = f"at least {least}" + ("" if most is None else f", at most {most:,}")
        raise OptionError(f"`{name}` must be a whole number, {bounds}.\n  Found: {shown(value)}.")
    return found


def check_number(name: str, value: object, *, least: float, most: float) -> float:
    """The number as Python's; an OptionError unless it is from `least` to `most`."""
    found = finite(value)
    if found is None or not least <= found <= most:
        raise OptionError(
            f"`{name}` must be a number from {least:g} to {most:g}.\n  Found: {shown(value)}."
        )
    return float(found)


def check_share(name: str, value: object) -> float:
    """The number as Python's; an OptionError unless it is above 0 and below 1."""
    found = finite(value)
    if found is None or not 0 < found < 1:
        raise OptionError(
            f"`{name}` must be a number above 0 and below 1.\n  Found: {shown(value)}."
        )
    return float(found)


def check_size(k: object, groups: FeatureGroups) -> int:
    """The number as Python's; an OptionError unless so many units can be selected."""
    size = check_count("k", k, least=1)
    n_units, n_kept = len(groups.names), int(groups.keep.sum())
    if size > n_units:
        raise OptionError(
            f"`k` must be at most the number of units, {n_units}.\n  Found: {shown(size)}."
        )
    if size < n_kept:
        raise OptionError(
            f"`k` must be at least the number of kept units, {n_kept}: they count.\n"
            f"  Found: {size}."
        )
    return size


def read_seed(seed: object, name: str = "seed") -> int:
    """The seed as Python's, one that is drawn where it is None.

    Every seed that a user gives comes through here.

    Parameters
    ----------
    seed : int or None
    name : str
        What the argument is called.

    Raises
    ------
    OptionError
        If it is not a whole number from 0 to 2**64 - 1.
    """
    if seed is None:
        return secrets.randbelow(2**31)
    return check_count(name, seed, least=0, most=MOST_SEED)
