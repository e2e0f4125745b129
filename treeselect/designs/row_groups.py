"""Groups of rows as users give them: a column or an array, to one number per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import as_group_numbers, length
from treeselect.arguments.scalars import described
from treeselect.engine.arrays import IntArray
from treeselect.errors import OptionError, did_you_mean, listing, near, quoted

if TYPE_CHECKING:
    import pandas as pd


def read_groups(given: str | Sequence[Any], frame: pd.DataFrame, rows: IntArray) -> IntArray:
    """Number of the group of each of these rows, in order of appearance in the data.

    Raises
    ------
    OptionError
        If the column is not there, there is not one value per row of the data, the group of a row
        is not known, or there are fewer than two.
    """
    return _known(_numbers(given, frame)[rows])


def _numbers(given: str | Sequence[Any], frame: pd.DataFrame) -> IntArray:
    """Number of each row's group, -1 where it is missing."""
    if isinstance(given, str):
        if given not in frame:
            close = near(given, frame.columns)
            raise OptionError(
                f"Can't find the column {quoted(given)}, named in `fold_groups`.\n"
                f"  {did_you_mean(close) if close else f'Columns: {listing(frame.columns)}.'}"
            )
        labels: str | Sequence[Any] | pd.Series[Any] = frame[given]
    else:
        labels = given
    n = length(labels)
    if n != len(frame):
        found = described(labels) if n is None else f"{n} values"
        raise OptionError(
            "`fold_groups` must be the name of a column, or an array with one value per row,"
            f" {len(frame)}.\n  Found: {found}."
        )
    numbers = as_group_numbers(labels)
    if numbers is None or len(numbers) != n:
        raise OptionError(
            "`fold_groups` must have one label per row, such as a number or text.\n"
            f"  Found: {described(labels)}."
        )
    return numbers


def _known(groups: IntArray) -> IntArray:
    """Raise an OptionError if one is not known, or there are fewer than two."""
    if n := int((groups < 0).sum()):
        raise OptionError(
            "`fold_groups` must not be missing in any row that is used.\n"
            f"  Found: {n:,} row{'' if n == 1 else 's'} in which it is missing. Drop such rows, or"
            " give each its own group."
        )
    if (groups == groups[0]).all():
        raise OptionError(
            "`fold_groups` must have at least two groups, so that one can be held out.\n"
            "  Found: one group of all rows. Leave `fold_groups` out."
        )
    return groups
