"""Folds as users give them: numbers, splitters, arrays; and clusters that are given later."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from treeselect.arguments.checks import (
    MOST_FOLDS,
    MOST_REPEATS,
    as_floats,
    check_count,
)
from treeselect.arguments.scalars import answer, described, whole
from treeselect.designs.modeldata import ModelData
from treeselect.designs.row_groups import read_groups
from treeselect.engine.arrays import IntArray
from treeselect.errors import OptionError, quoted
from treeselect.frames.reading import read_data
from treeselect.resampling.folds import Folds, Splitter

if TYPE_CHECKING:
    pass


_HIGHEST_FOLD = 2**31
"""Largest number of a fold."""


def read_folds(
    folds: object,
    repeats: object,
    fold_groups: str | Sequence[Any] | None,
    n_rows: int,
    name: str = "folds",
) -> Folds:
    """Check the first two arguments against all rows of the data.

    Parameters
    ----------
    fold_groups : str, sequence or None
        Only its name is used: the clusters themselves are stored with the weights of the rows.
    n_rows : int
        Of the data.
    name : str
        Name of the argument `folds`.

    Raises
    ------
    OptionError
        If an argument is not allowed.
    """
    n_repeats = check_count("repeats", repeats, least=1, most=MOST_REPEATS)
    if isinstance(folds, bool) or whole(folds) is not None:
        known: int | Splitter | IntArray = check_count(name, folds, least=2, most=MOST_FOLDS)
    else:
        if n_repeats != 1:
            raise OptionError(
                "`repeats` needs a number of folds, which are drawn anew in each repeat.\n"
                f"  Found: {n_repeats} repeats of {type(folds).__name__}. Omit `repeats`, or give"
                " a repeated splitter such as `RepeatedStratifiedKFold` as `folds`."
            )
        known = folds if _is_splitter(folds) else _fold_numbers(folds, n_rows, name)
    return Folds(
        folds=known,
        repeats=n_repeats,
        groups_name=_name_of(fold_groups),
    )


def _is_splitter(value: object) -> TypeGuard[Splitter]:
    """Whether it is a splitter, not the class of one."""
    methods = (answer(value, "split"), answer(value, "get_n_splits"))
    return all(map(callable, methods)) and not isinstance(value, type)


def _fold_numbers(given: object, n_rows: int, name: str) -> IntArray:
    """The fold number of each row."""
    allowed = (
        f"`{name}` must be a whole number of at least 2, a scikit-learn splitter, or an array with"
        " the fold number of each row.\n"
    )
    values = None if isinstance(given, str) else as_floats(given)
    if values is None or values.ndim == 0:
        is_list = isinstance(given, list | tuple)
        found = f"a {type(given).__name__} of non-numbers" if is_list else described(given)
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


def in_own_groups(here: ModelData, folds: Folds, data: Any) -> ModelData:
    """The rows of a fit with its clusters, if these are known or a column of the data."""
    name = folds.groups_name
    if here.row_weights.groups is not None or not isinstance(name, str):
        return here
    frame = _all_rows(here, data)
    if name not in frame:
        return here
    groups = read_groups(name, frame, here.response.rows)
    return dataclasses.replace(here, row_weights=here.row_weights.in_groups(groups))


def with_groups(
    here: ModelData, folds: Folds, given: str | Sequence[Any] | None, data: Any
) -> tuple[ModelData, Folds]:
    """The rows and folds of a fit with the given clusters; with its own if none are given.

    Parameters
    ----------
    here : ModelData
    folds : Folds
    given : str, array of shape (n_rows,) or None
        The argument ``fold_groups``.
    data : frame or path, or None
        All rows of the data; without it, only the columns behind the terms are known.

    Raises
    ------
    OptionError
        If the clusters can't be found.
    """
    here, name = in_own_groups(here, folds, data), folds.groups_name
    known = here.row_weights.groups is not None
    if (given is None and (known or name is False)) or (
        known and isinstance(given, str) and given == name
    ):
        return here, folds
    frame = _all_rows(here, data)
    if isinstance(given, str) and given not in frame:
        raise OptionError(
            "`fold_groups` must be a column of `data`; give `data` if no term uses the column.\n"
            f"  Found: {quoted(given)}."
        )
    if given is None:
        column = f"`data` with the column {quoted(name)}, or " if isinstance(name, str) else ""
        raise OptionError(
            "`fold_groups` must be given: the fit used them, and the model file does not hold"
            f" them.\n  Give {column}`fold_groups=` with one value per row."
        )
    groups = read_groups(given, frame, here.response.rows)
    here = dataclasses.replace(here, row_weights=here.row_weights.in_groups(groups))
    return here, dataclasses.replace(folds, groups_name=_name_of(given))


def _all_rows(here: ModelData, data: Any) -> Any:
    return here.all_rows() if data is None else read_data(data)


def _name_of(groups: object) -> str | bool:
    """The column of clusters, or whether clusters were given."""
    return groups if isinstance(groups, str) else groups is not None
