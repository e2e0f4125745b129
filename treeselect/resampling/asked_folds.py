"""Folds and groups as users give them: numbers, splitters, arrays, columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import (
    MOST_FOLDS,
    MOST_REPEATS,
    as_floats,
    as_group_numbers,
    check_count,
    length,
)
from treeselect.arguments.scalars import answer, described, whole
from treeselect.engine.arrays import IntArray
from treeselect.errors import (
    OptionError,
    did_you_mean,
    listing,
    near,
    quoted,
)
from treeselect.resampling.folds import Folds, Splitter

if TYPE_CHECKING:
    import pandas as pd


_HIGHEST_FOLD = 2**31
"""Largest number of a fold."""


def read_folds(
    folds: object,
    repeats: object,
    fold_groups: str | Sequence[Any] | None,
    frame: pd.DataFrame,
    name: str = "folds",
) -> Folds:
    """Check the arguments of that name against all rows of the data.

    Parameters
    ----------
    name : str
        What the argument `folds` is called.

    Raises
    ------
    OptionError
        If one of them is not allowed.
    """
    n_repeats = check_count("repeats", repeats, least=1, most=MOST_REPEATS)
    if isinstance(folds, bool) or whole(folds) is not None:
        known: int | Splitter | IntArray = check_count(name, folds, least=2, most=MOST_FOLDS)
    else:
        if n_repeats != 1:
            raise OptionError(
                "`repeats` needs a number of folds, which it draws anew each time.\n"
                f"  Found: {n_repeats} repeats of {type(folds).__name__}. Leave it out, or give"
                " `RepeatedStratifiedKFold` or the like as `folds`."
            )
        known = folds if _is_splitter(folds) else _fold_numbers(folds, len(frame), name)  # type: ignore[assignment]
    return Folds(
        folds=known,
        repeats=n_repeats,
        groups=None if fold_groups is None else read_groups(fold_groups, frame),
        groups_name=fold_groups if isinstance(fold_groups, str) else fold_groups is not None,
    )


def _is_splitter(value: object) -> bool:
    """Whether it is a splitter, and not the class of one."""
    methods = (answer(value, "split"), answer(value, "get_n_splits"))
    return all(map(callable, methods)) and not isinstance(value, type)


def _fold_numbers(given: object, n_rows: int, name: str) -> IntArray:
    """Fold of each row, whole numbers."""
    allowed = (
        f"`{name}` must be a whole number of at least 2, a splitter of scikit-learn, or an array"
        " with the fold number of each row.\n"
    )
    values = None if isinstance(given, str) else as_floats(given)
    if values is None or values.ndim == 0:
        is_list = isinstance(given, list | tuple)
        found = f"{type(given).__name__} of other things" if is_list else described(given)
        raise OptionError(f"{allowed}  Found: {found}.")
    if values.shape != (n_rows,):
        raise OptionError(
            f"{allowed}  Found: an array of shape {values.shape} for {n_rows} rows of data."
        )
    is_number = (values == np.floor(values)) & (np.abs(values) <= _HIGHEST_FOLD)
    if not is_number.all():
        odd = values[~is_number][0]
        is_large = odd == np.floor(odd)
        why = f"which is beyond {_HIGHEST_FOLD:,}" if is_large else "which is not a whole number"
        raise OptionError(f"{allowed}  Found: {odd:g}, {why}.")
    return values.astype(np.int64)


def read_groups(given: str | Sequence[Any], frame: pd.DataFrame) -> IntArray:
    """Number of each row's group, in order of appearance, -1 where it is missing.

    Raises
    ------
    OptionError
        If the column is not there, or there is not one value per row.
    """
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
            "`fold_groups` must have one label per row: a number, text, or the like.\n"
            f"  Found: {described(labels)}."
        )
    return numbers


def with_groups(
    of_fit: Folds, given: str | Sequence[Any] | None, frame: pd.DataFrame, rows: IntArray
) -> Folds:
    """The folds of a fit with the groups asked for later; with its own if none are.

    Parameters
    ----------
    of_fit : Folds
    given : str, array of shape (n_rows,) or None
        The argument ``fold_groups``.
    frame : DataFrame
        All rows of the data, as far as their columns are known.
    rows : ndarray of int64
        Those with a known response.

    Raises
    ------
    OptionError
        If the groups can't be found.
    """
    here = of_fit.groups is not None
    if (given is None and (here or of_fit.groups_name is False)) or (
        here and isinstance(given, str) and given == of_fit.groups_name
    ):
        return of_fit
    if isinstance(given, str) and given not in frame:
        raise OptionError(
            "`fold_groups` must be a column of `data`, which must be given if it is not behind the"
            f" terms.\n  Found: {quoted(given)}."
        )
    name = of_fit.groups_name
    if given is None and not (isinstance(name, str) and name in frame):
        column = f"`data` with the column {quoted(name)}, or " if isinstance(name, str) else ""
        raise OptionError(
            "`fold_groups` must be given: the fit had them, and they are not in the file that the"
            f" model was loaded from.\n  Give {column}`fold_groups=` with one value per row."
        )
    found = name if given is None else given
    return dataclasses.replace(
        of_fit,
        groups=read_groups(found, frame)[rows],  # type: ignore[arg-type]
        groups_name=found if isinstance(found, str) else True,
    )
