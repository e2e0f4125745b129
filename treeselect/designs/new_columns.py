"""Columns of new data, read as those of the data of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.errors import DataError, NewDataError, quoted
from treeselect.frames.number_text import number_text
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
        column = read_column(frame[name], name)
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
    raise NewDataError(
        f"Column {quoted(name)} must hold {_KINDS[learned]}, as it did when the model was"
        f" fitted.\n  Found: {_KINDS[found]} ({frame[name].dtype}).\n"
        f"  Convert it, for example `{_conversion(column, name, learned)}`."
    )


def _conversion(column: Numbers | Labels, name: str, learned: str) -> str:
    """Python code that makes of a column what the model knows."""
    text = f"data[{name!r}]"
    if isinstance(column, Numbers):
        known = column.values[~np.isnan(column.values)]
        whole = column.is_integer or bool((known == np.floor(known)).all())
        kind = ".astype('Int64').astype('string')" if whole else ".map(str, na_action='ignore')"
        return f"{text} != 0" if learned == "logical" else f"{text}{kind}"
    if learned == "logical":
        return f"{text} == {column.levels[-1]!r}"
    found = number_text(column.levels)
    plain = f"pandas.to_numeric({text}, errors='coerce')"
    return plain if found is None else found.conversion(name)
