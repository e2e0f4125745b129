"""Case weights and offset: a column or an array, to one number per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treeselect.arguments.checks import as_floats, values_text
from treeselect.arguments.scalars import described
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.errors import (
    OptionError,
    did_you_mean,
    listing,
    near,
    quoted,
)
from treeselect.frames.values import Numbers, read_column

if TYPE_CHECKING:
    import pandas as pd

LARGEST_WEIGHT = 2**31
"""Most weight in all: a sum of gradients shares 64 bits with it."""


_LARGEST = 1e70
"""Largest weight that is not whole, and largest offset: as of the response, fourth powers must be
numbers."""


def read_weights(
    weights: str | Sequence[float] | None, frame: pd.DataFrame, argument: str = "weights"
) -> WeightArray:
    """Case weights of all rows, 1 by default: integers if all are whole numbers, else floats."""
    if weights is None:
        return np.ones(len(frame), dtype=np.int64)
    name = quoted(weights) if isinstance(weights, str) else f"`{argument}`"
    values = _one_per_row(argument, f"Case weights ({name})", weights, frame)
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise OptionError(
            f"Case weights ({name}) must be known, finite and at least 0.\n"
            f"  Found: {values[row]:g} in row {row} (counted from 0), {int(bad.sum())} such"
            f" row{'s' if bad.sum() > 1 else ''} in all.\n"
            "  A weight of 0 leaves a row out."
        )
    if (values != np.floor(values)).any():
        if values.max() > _LARGEST:
            raise OptionError(
                f"Case weights ({name}) must be at most {_LARGEST:g}.\n"
                f"  Found: {values.max():g}. Divide them by a common number."
            )
        if values.max() < 1 / _LARGEST:
            raise OptionError(
                f"Case weights ({name}) must reach {1 / _LARGEST:g}.\n"
                f"  Found: {values.max():g} at most. Multiply them by a common number."
            )
        return values
    if values.max() > LARGEST_WEIGHT or values.sum() > LARGEST_WEIGHT:
        with np.errstate(over="ignore"):
            total = values.sum()
        raise OptionError(
            f"Case weights ({name}) must sum to at most {LARGEST_WEIGHT:,}.\n"
            f"  Found: {total:g}. Divide them by a common number."
        )
    return values.astype(np.int64)


def read_offset(offset: str | Sequence[float] | None, frame: pd.DataFrame) -> FloatArray | None:
    """Offset of all rows, NaN where it is missing; None if there is none."""
    if offset is None:
        return None
    name = quoted(offset) if isinstance(offset, str) else "`offset`"
    return _one_per_row("offset", f"The offset ({name})", offset, frame)


def check_offset(offset: FloatArray | None, rows: IntArray) -> None:
    """Raise an OptionError unless the offset of these rows is known and finite."""
    if offset is None:
        return
    bad = rows[~np.isfinite(offset[rows])]
    if len(bad):
        raise OptionError(
            "The offset must be known and finite wherever the response is known.\n"
            f"  Found: {offset[bad[0]]:g} in row {bad[0]} (counted from 0), {len(bad)} such"
            f" row{'s' if len(bad) > 1 else ''} in all.\n"
            "  A log exposure needs an exposure above 0; drop the rows without one."
        )
    largest = np.abs(offset[rows]).max(initial=0.0)
    if largest > _LARGEST:
        raise OptionError(
            f"The offset must be at most {_LARGEST:g} in size.\n"
            f"  Found: {largest:g}. It is on the scale of the linear predictor."
        )


def _one_per_row(
    argument: str, said: str, given: str | Sequence[float], frame: pd.DataFrame
) -> FloatArray:
    """Numbers of a column or an array, checked for type and length only."""
    found: object = given
    if isinstance(given, str):
        if given not in frame:
            close = near(given, frame.columns)
            raise OptionError(
                f"Can't find the column {quoted(given)}, named in `{argument}`.\n"
                f"  {did_you_mean(close) if close else f'Columns: {listing(frame.columns)}.'}"
            )
        column = read_column(frame[given], given, needed=True)
        found = column.values if isinstance(column, Numbers) else frame[given].to_numpy()
    values = as_floats(found)
    if values is None:
        kind = frame[given].dtype if isinstance(given, str) else values_text(given)
        raise OptionError(f"{said} must be numbers.\n  Found: {kind}. Give one number per row.")
    if values.shape != (len(frame),):
        found_shape = f"an array of shape {values.shape}" if values.ndim else described(given)
        raise OptionError(
            f"{said} must have one value per row, {len(frame)}.\n  Found: {found_shape}."
        )
    return values
