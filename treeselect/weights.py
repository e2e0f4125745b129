"""Case weights: a column or an array, to whole numbers per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.design import IntArray
from treeselect.errors import (
    DataError,
    NotBuiltError,
    OptionError,
    did_you_mean,
    listing,
    near,
    quoted,
)
from treeselect.frames import Numbers, read_column

if TYPE_CHECKING:
    import pandas as pd

_LARGEST_WEIGHT = 2**31
"""Most weight in all: a sum of gradients shares 64 bits with it."""


def read_weights(weights: str | Sequence[float] | None, frame: pd.DataFrame) -> IntArray:
    """Case weights of all rows, 1 by default."""
    if weights is None:
        return np.ones(len(frame), dtype=np.int64)
    name = quoted(weights) if isinstance(weights, str) else "`weights`"
    if isinstance(weights, str) and weights not in frame:
        close = near(weights, frame.columns)
        raise OptionError(
            f"Can't find the column {name}, named in `weights`.\n"
            f"  {did_you_mean(close) if close else f'Columns: {listing(frame.columns)}.'}"
        )
    given: object = weights
    if isinstance(weights, str):
        column = read_column(frame[weights], weights, needed=True)
        given = column.values if isinstance(column, Numbers) else frame[weights].to_numpy()
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        kind = frame[weights].dtype if isinstance(weights, str) else type(weights).__name__
        raise OptionError(
            f"Case weights ({name}) must be numbers.\n"
            f"  Found: {kind}. Give one whole number per row, at least 0."
        ) from None
    if values.shape != (len(frame),):
        raise OptionError(
            f"Case weights ({name}) must have one value per row, {len(frame)}.\n"
            f"  Found: an array of shape {values.shape}."
        )
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
        row = int(np.flatnonzero(values != np.floor(values))[0])
        raise NotBuiltError(
            f"Case weights ({name}) that are not whole numbers are not built yet.\n"
            f"  Found: {values[row]:g} in row {row} (counted from 0).\n"
            "  Give whole numbers: a weight of 2 is two copies of the row."
        )
    if values.sum() > _LARGEST_WEIGHT:
        raise OptionError(
            f"Case weights ({name}) must sum to at most {_LARGEST_WEIGHT:,}.\n"
            f"  Found: {values.sum():g}. Divide them by a common number."
        )
    return values.astype(np.int64)


def check_weight(weight: IntArray, y: np.ndarray[Any, Any]) -> None:
    """Raise a DataError unless the response varies where there is weight."""
    if not weight.any():
        raise DataError("Case weights must be positive in some row with a known response.")
    if len(np.unique(y[weight > 0])) < 2:
        raise DataError(
            "The response must vary among the rows with a positive weight.\n"
            "  Found: one value only."
        )
