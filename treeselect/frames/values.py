"""The internal form of one column of the user's data.

A column is a :class:`Numbers` (float64, NaN for missing) or a :class:`Labels` (codes and levels).
Everything that differs between dtypes and libraries ends here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeselect.arguments.scalars import described
from treeselect.errors import DataError, quoted, shortened
from treeselect.frames.names import formula_name
from treeselect.shown import is_broken

if TYPE_CHECKING:
    import pandas as pd

LARGEST_WHOLE = 2.0**53
"""From here on float64 does not hold every whole number."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A numeric column.

    Attributes
    ----------
    values : ndarray of float64, shape (n_rows,)
        NaN is missing. A view of the frame's memory where that is possible.
    is_bool : bool
        Whether the column held logical values, now 0 and 1.
    is_integer : bool
        Whether the column's type was integer, or its non-missing values are whole: pandas has no
        other way to hold whole numbers with missing values.
    """

    values: NDArray[np.float64]
    is_bool: bool = False
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class Labels:
    """A column of labels.

    Attributes
    ----------
    codes : ndarray of signed int, shape (n_rows,)
        Position in `levels`, -1 where missing.
    levels : tuple
        The declared categories, or the labels found, sorted.
    declared : bool
        Whether the levels are those of a category.
    ordered : bool
        Whether these stand in an order that has a meaning.
    """

    codes: NDArray[Any]
    levels: tuple[Any, ...]
    declared: bool = False
    ordered: bool = False


def read_column(series: pd.Series[Any], name: str, *, needed: bool = False) -> Numbers | Labels:
    """The internal form of one column.

    Parameters
    ----------
    series : pandas.Series
        Numbers, truth values, text or categories, of any pandas, nullable or Arrow dtype.
    name : str
        Name for messages: a column or an expression.
    needed : bool
        Whether messages must not suggest leaving the column out.

    Raises
    ------
    DataError
        For dates, time spans, complex numbers, infinite values, lists and mixtures.
    """
    import pandas as pd

    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if isinstance(dtype, pd.CategoricalDtype):
        return Labels(
            series.cat.codes.to_numpy(),
            _whole(series.cat.categories.tolist(), name),
            declared=True,
            ordered=bool(dtype.ordered),
        )
    if isinstance(dtype, pd.ArrowDtype) and "dictionary" in str(dtype):
        return read_column(_from_dictionary(series), name, needed=needed)
    if str(dtype) == "null[pyarrow]":
        return Labels(np.full(len(series), -1), ())
    if kind in "mM" or isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype):
        raise _not_usable(series, name, needed)
    if kind == "c":
        raise DataError(
            f"Column {quoted(name)} must hold real numbers.\n"
            "  Found: complex numbers. Use the real and imaginary parts as two columns."
        )
    if pd.api.types.is_bool_dtype(dtype):
        return Numbers(_floats(series), is_bool=True)
    if pd.api.types.is_numeric_dtype(dtype):
        values = _finite(_floats(series), name)
        return Numbers(values, is_integer=_is_whole(values, dtype))
    if not pd.api.types.is_object_dtype(dtype) and pd.api.types.is_string_dtype(dtype):
        return _labels(series, name)
    return _read_objects(series, name, needed)


def to_series(column: Numbers | Labels, index: Any = None) -> pd.Series[Any]:
    """A pandas column of the type that the user sees; :func:`read_column` reads it as `column`.

    Truth values and whole numbers have a nullable type only where values are missing.
    """
    import pandas as pd

    if isinstance(column, Labels):
        if column.declared:
            kind = pd.CategoricalDtype(list(column.levels), ordered=column.ordered)
            return pd.Series(pd.Categorical.from_codes(column.codes, dtype=kind), index)
        levels = np.empty(len(column.levels) + 1, dtype=object)
        levels[:-1] = column.levels
        levels[-1] = None
        return pd.Series(levels[column.codes], index, dtype=object)
    known = ~np.isnan(column.values)
    if column.is_bool:
        return pd.Series(_maybe_missing(column.values, known, np.bool_), index)
    if column.is_integer and np.all(abs(column.values[known]) < LARGEST_WHOLE):
        return pd.Series(_maybe_missing(column.values, known, np.int64), index)
    return pd.Series(column.values, index)


def _maybe_missing(values: NDArray[np.float64], known: NDArray[np.bool_], kind: type) -> Any:
    import pandas as pd

    if np.all(known):
        return values.astype(kind)
    nullable = pd.arrays.BooleanArray if kind is np.bool_ else pd.arrays.IntegerArray
    return nullable(np.where(known, values, 0).astype(kind), ~known)


def _from_dictionary(series: pd.Series[Any]) -> pd.Series[Any]:
    import pyarrow as pa

    return pa.chunked_array([pa.array(series)]).to_pandas()


def _is_whole(values: NDArray[np.float64], dtype: Any) -> bool:
    import pandas as pd

    if pd.api.types.is_integer_dtype(dtype):
        return True
    known = values[~np.isnan(values)]
    return 0 < len(known) < len(values) and bool((known == np.floor(known)).all())


def _read_objects(series: pd.Series[Any], name: str, needed: bool) -> Numbers | Labels:
    """Python objects: text, truth values or numbers, but only one of these."""
    import pandas as pd

    present = series[series.notna()]
    kinds = {type(value) for value in present}
    if not kinds:
        return Labels(np.full(len(series), -1), ())
    if all(issubclass(kind, str) for kind in kinds):
        return _labels(series, name)
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return Numbers(_floats(series), is_bool=True)
    numbers = (int, float, np.integer, np.floating)
    if all(issubclass(kind, numbers) and not issubclass(kind, bool) for kind in kinds):
        values = _finite(_floats(series), name)
        whole = all(issubclass(kind, int | np.integer) for kind in kinds)
        return Numbers(values, is_integer=whole or _is_whole(values, series.dtype))
    named = ", ".join(sorted(kind.__name__ for kind in kinds))
    if any(hasattr(kind, "isoformat") or issubclass(kind, pd.Period) for kind in kinds):
        raise _not_usable(series, name, needed)
    leave = "" if needed else f", or leave it out with `- {shortened(formula_name(name))}`"
    raise DataError(
        f"Column {quoted(name)} must hold only numbers, only text or only logical values.\n"
        f"  Found: Python objects of type {named}, for example"
        f" {described(present.iloc[0])}.\n"
        f"  Convert it, for example with `.astype(float)` or `.astype(str)`{leave}."
    )


def _whole(levels: Iterable[Any], name: str) -> tuple[Any, ...]:
    """Levels of which none holds half a character."""
    levels = tuple(levels)
    for level in levels:
        if isinstance(level, str) and is_broken(level):
            raise DataError(
                f"Column {quoted(name)} must hold valid text.\n"
                f"  Found: {quoted(level)}, which contains an incomplete character (a lone"
                " surrogate): it was probably read in the wrong encoding.\n"
                '  Repair it, for example with `.str.encode("utf-8", "replace").str.decode()`.'
            )
    return levels


def _labels(series: pd.Series[Any], name: str) -> Labels:
    import pandas as pd

    codes, distinct = pd.factorize(series, use_na_sentinel=True)
    found = [str(level) for level in distinct]
    order = sorted(range(len(found)), key=found.__getitem__)
    position = np.empty(len(found) + 1, dtype=np.int32)
    position[order] = np.arange(len(found))
    position[-1] = -1  # code -1, missing, stays -1
    return Labels(position[codes], _whole((found[i] for i in order), name))


def _floats(series: pd.Series[Any]) -> NDArray[np.float64]:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiu":
        return series.to_numpy(dtype=np.float64)
    try:
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError:  # Python's whole numbers have no largest one
        return np.array([_float(v) for v in series.to_numpy(na_value=np.nan)], dtype=np.float64)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    infinite = np.isinf(values)
    if infinite.any():
        rows = np.flatnonzero(infinite)
        raise DataError(
            f"Column {quoted(name)} must be finite.\n"
            f"  Found: {len(rows)} infinite value{'s' if len(rows) > 1 else ''}, the first in row"
            f" {rows[0]} (counted from 0).\n"
            "  Replace them, for example `data.replace([np.inf, -np.inf], np.nan)`: missing values"
            " are allowed."
        )
    return values


def _not_usable(series: pd.Series[Any], name: str, needed: bool) -> DataError:
    import pandas as pd

    leave = "" if needed else f", or leave it out with `- {shortened(formula_name(name))}`"
    found, way = "dates or times", f"`data[{name!r}].dt.year` or the days since a reference date"
    if isinstance(series.dtype, pd.IntervalDtype):
        found, way = "intervals", f"`pandas.IntervalIndex(data[{name!r}]).mid`"
    elif getattr(series.dtype, "kind", "O") == "m":
        found, way = "time spans", f"`data[{name!r}].dt.days`"
    elif series.dtype == object:
        way = f"`pandas.to_datetime(data[{name!r}]).dt.year`"
    return DataError(
        f"Column {quoted(name)} must hold numbers, text or categories.\n"
        f"  Found: {found} ({series.dtype}).\n"
        f"  Convert it to numbers, for example {way}{leave}."
    )
