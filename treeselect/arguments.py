"""Checks of arguments, once, where the user gives them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from treeselect.design import FeatureGroups
from treeselect.errors import OptionError, listing


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise an OptionError unless `value` is one of the allowed."""
    if value not in allowed:
        raise OptionError(f"`{name}` must be one of {listing(allowed)}.\n  Found: {value!r}.")


def check_count(name: str, value: object, *, least: int) -> None:
    """Raise an OptionError unless `value` is a whole number of at least `least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        raise OptionError(
            f"`{name}` must be a whole number, at least {least}.\n  Found: {value!r}."
        )


def check_share(name: str, value: object) -> None:
    """Raise an OptionError unless `value` is a number above 0 and below 1."""
    real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not real or not 0 < value < 1:  # type: ignore[operator]
        raise OptionError(f"`{name}` must be a number above 0 and below 1.\n  Found: {value!r}.")


def check_size(k: int, groups: FeatureGroups) -> None:
    """Raise an OptionError unless `k` units can be selected."""
    check_count("k", k, least=1)
    n_units, n_kept = len(groups.names), int(groups.keep.sum())
    if k > n_units:
        raise OptionError(f"`k` must be at most the number of units, {n_units}.\n  Found: {k}.")
    if k < n_kept:
        raise OptionError(
            f"`k` must be at least the number of kept units, {n_kept}: they count.\n  Found: {k}."
        )


def read_seed(seed: int | None) -> int:
    """The seed, one that is drawn where it is None.

    Raises
    ------
    OptionError
        If it is not a whole number of at least 0.
    """
    if seed is None:
        return secrets.randbelow(2**31)
    check_count("seed", seed, least=0)
    return int(seed)
