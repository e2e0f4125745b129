"""Columns of new data, read as those of the data of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.errors import DataError, NewDataError, quoted
from treeselect.frames.values import Labels, Numbers, read_column

if TYPE_CHECKING:
    import pandas as pd

_KINDS = {"number": "numbers", "logical": "logical values", "text": "text or categories"}


def kind_of(column: Numbers | Labels) -> str:
    """``"number"``, ``"logical"`` or ``"text"``."""
    if isinstance(column, Labels):
        return "text"
    return "logical" if column.is_bool else "number"


def read_learned(frame: pd.DataFrame, name: str, learned: str) -> Numbers | Labels:
    """A column of new data, of the kind that it was in the data of the fit.

    Parameters
    ----------
    frame : pandas.DataFrame
    name : str
    learned : {"number", "logical", "text"}

    Raises
    ------
    NewDataError
        If the column can't be used, or holds text instead of numbers or the reverse.
    """
    try:
        column = read_column(frame[name], name, needed=True)
    except DataError as error:
        raise NewDataError(str(error)) from None
    found = kind_of(column)
    if learned == "text" and found == "text":
        return column
    if isinstance(column, Numbers) and learned == "number":
        return Numbers(column.values, is_integer=column.is_integer or column.is_bool)
    if isinstance(column, Numbers) and learned == "logical":
        known = column.values[~np.isnan(column.values)]
        if np.isin(known, (0.0, 1.0)).all():
            return Numbers(column.values, is_bool=True)
    if frame[name].isna().all():
        # A column without a single value has no type of its own.
        if learned != "text":
            return Numbers(np.full(len(frame), np.nan), is_bool=learned == "logical")
        return Labels(np.full(len(frame), -1), ())
    way = {"number": "float", "logical": "bool", "text": "str"}[learned]
    raise NewDataError(
        f"Column {quoted(name)} must hold {_KINDS[learned]}, as it did when the model was"
        f" fitted.\n  Found: {_KINDS[found]} ({frame[name].dtype}).\n"
        f"  Convert it, for example with `.astype({way})`."
    )
