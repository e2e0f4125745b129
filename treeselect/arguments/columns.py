"""Columns that a user gives by name or by number, from 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from treeselect.arguments.checks import members
from treeselect.arguments.scalars import described, whole
from treeselect.errors import OptionError


def _name(column: Any, names: Sequence[str], argument: str) -> Any:
    """The name of a column given by its number; anything else unchanged."""
    if whole(column) is None:
        return column
    if not 0 <= column < len(names):
        raise OptionError(
            f"A column in `{argument}` must be a name, or a number from 0 to {len(names) - 1}.\n"
            f"  Found: {described(column)}."
        )
    return names[int(column)]


def named_groups(groups: Any, names: Sequence[str]) -> Any:
    """The members of each group by name; anything but a dictionary unchanged."""
    if not isinstance(groups, Mapping):
        return groups
    listed = {group: members(columns) for group, columns in groups.items()}
    return {
        group: groups[group] if inside is None else [_name(c, names, "groups") for c in inside]
        for group, inside in listed.items()
    }


def named_keys(given: Any, names: Sequence[str], argument: str) -> Any:
    """Values by the names of columns; anything but a dictionary unchanged."""
    if not isinstance(given, Mapping):
        return given
    return {_name(column, names, argument): value for column, value in given.items()}


def named_keep(keep: Any, names: Sequence[str]) -> Any:
    """Columns or groups that are forced in, by name."""
    if keep is None or isinstance(keep, str):
        return keep
    listed = None if isinstance(keep, Mapping) else members(keep)
    if listed is None:
        return _name(keep, names, "keep")
    return [_name(column, names, "keep") for column in listed]
