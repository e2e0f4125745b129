"""Checks that frames are imputations of the same data: rows, columns, kinds and response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeselect.arguments.checks import members
from treeselect.arguments.scalars import described
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import prepare
from treeselect.designs.request import Request
from treeselect.engine.arrays import IntArray
from treeselect.errors import DataError, OptionError, TreeselectError, listing, quoted
from treeselect.frames.labels import labels_in
from treeselect.frames.reading import read_data

_KINDS = {"number": "numbers", "logical": "truth values", "text": "text or categories"}


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties of a frame that must be the same in all frames.

    Attributes
    ----------
    n_rows : int
    columns : tuple of str
    kinds : mapping of str to str
        Kind of each column behind the terms.
    response, family : str
    classes : tuple
    rows : ndarray of int64
        Rows that have a response and a weight.
    """

    n_rows: int
    columns: tuple[str, ...]
    kinds: Mapping[str, str]
    response: str
    family: str
    classes: tuple[Any, ...]
    rows: IntArray


def read_frames(frames: object) -> list[Any]:
    """The frames as a list.

    Raises
    ------
    OptionError
        If it is not a list of at least two tables or paths.
    """
    found = None if isinstance(frames, Mapping) else members(frames)
    if found is None:
        raise OptionError(
            "`frames` must be a list of tables or paths, one for each imputation.\n"
            f"  Found: {described(frames)}."
        )
    if len(found) < 2:
        raise OptionError(
            "`frames` must hold at least two imputations, whose differences show the uncertainty"
            f" due to missing values.\n  Found: {len(found)}. For one table use `select()`."
        )
    return found


@contextmanager
def in_frame(number: int, n_frames: int) -> Iterator[None]:
    """Name the frame in an error message, unless an error in the first may concern all frames."""
    try:
        yield
    except TreeselectError as error:
        if number == 0 and not isinstance(error, DataError):
            raise
        raise type(error)(
            f"{error}\n  This was in frame {number + 1} of the {n_frames} in `frames`."
        ) from error


def check_alike(request: Request, frames: Sequence[Any]) -> tuple[int, int]:
    """Numbers of rows and columns, if all frames agree.

    Raises
    ------
    DataError
        If a frame differs from the first in a property that no imputation changes, or can't be
        used.
    FormulaError, OptionError
        As ``preparing.prepare``.
    """
    first = None
    for number, data in enumerate(frames):
        with in_frame(number, len(frames)):
            frame = read_data(data)
        if first is not None:
            _check_shape(first, len(frame), tuple(map(str, frame.columns)), number)
        with in_frame(number, len(frames)):
            model_data = prepare(request, frame, labels_in(data))
        traits = _traits(model_data, len(frame), tuple(map(str, frame.columns)))
        if first is None:
            first = traits
        else:
            _check_variables(first, traits, number)
            _check_response(first, traits, number)
    assert first is not None
    return first.n_rows, len(first.columns)


def _traits(data: ModelData, n_rows: int, columns: tuple[str, ...]) -> Traits:
    response = data.response
    return Traits(
        n_rows, columns, data.spec.schema, response.name, response.family.name, response.classes,
        response.rows,
    )  # fmt: skip


def _check_shape(first: Traits, n_rows: int, columns: tuple[str, ...], number: int) -> None:
    here = f"frame {number + 1}"
    if n_rows != first.n_rows:
        raise DataError(
            "`frames` must have the same rows.\n"
            f"  Found: {first.n_rows:,} in frame 1, {n_rows:,} in {here}. Imputation fills in"
            " values and drops no rows."
        )
    known, found = set(first.columns), set(columns)
    lost = [name for name in first.columns if name not in found]
    new = [name for name in columns if name not in known]
    for names, one, without in ((lost, "frame 1", here), (new, here, "frame 1")):
        if names:
            raise DataError(
                "`frames` must have the same columns.\n"
                f"  Found: {listing(names)} in {one} and not in {without}. Drop columns that are"
                " not in all frames."
            )


def _check_variables(first: Traits, other: Traits, number: int) -> None:
    for name, kind in first.kinds.items():
        if other.kinds[name] != kind:
            raise DataError(
                f"Column {quoted(name)} must be of the same kind in all `frames`.\n"
                f"  Found: {_KINDS[kind]} in frame 1, {_KINDS[other.kinds[name]]} in frame"
                f" {number + 1}. Convert one of them, for example with `.astype`."
            )


def _check_response(first: Traits, other: Traits, number: int) -> None:
    name, here = quoted(first.response), f"frame {number + 1}"
    if first.family != other.family:
        raise DataError(
            f"The response {name} must be of the same family in all `frames`.\n"
            f"  Found: {first.family} in frame 1, {other.family} in {here}. Impute possible values"
            " of the response, or give `family`."
        )
    if first.classes != other.classes:
        raise DataError(
            f"The response {name} must have the same classes in all `frames`.\n"
            f"  Found: {listing(first.classes)} in frame 1, {listing(other.classes)} in {here}."
        )
    lacking = np.setdiff1d(first.rows, other.rows), np.setdiff1d(other.rows, first.rows)
    for rows, one, without in ((lacking[0], "frame 1", here), (lacking[1], here, "frame 1")):
        if len(rows):
            more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
            raise DataError(
                "Rows with a response and a weight must be the same in all `frames`.\n"
                f"  Found: row {rows[0]}{more}, counted from 0, in {one} and not in {without}.\n"
                f"  Impute {name} in these rows in all frames or in none; a weight of 0 also"
                " excludes a row."
            )
