"""The user's data: read, checked, and turned into one internal form per column.

A column is a :class:`Numbers` (float64, NaN for missing) or a :class:`Labels` (codes and levels).
Everything that differs between dtypes and libraries ends here.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeselect.arguments.paths import current_folder, file_path
from treeselect.arguments.scalars import described
from treeselect.errors import DataError, listing, quoted, said_by, shortened
from treeselect.formulas.guard import formula_name
from treeselect.frames.csv_files import UTF8, EncodedFile, is_csv, not_different, read_csv
from treeselect.running.machine import memory_is_told
from treeselect.shown import is_broken

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Numbers:
    """A numeric column.

    Attributes
    ----------
    values : ndarray of float64, shape (n_rows,)
        NaN is missing. A view of the frame's memory where that is possible.
    is_bool : bool
        Whether the column held truth values, now 0 and 1.
    is_integer : bool
        Whether the column's type was one of whole numbers, or its known values are whole: pandas
        has no other way to hold whole numbers beside missing ones.
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


@memory_is_told()
def read_data(data: Any) -> pd.DataFrame:
    """A checked frame with a plain row index, from a frame of any library or a file.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, str or path
        Any eager or lazy frame that narwhals knows. A path must end in ``.csv``, ``.csv.gz``,
        ``.parquet`` or ``.feather``.

    Returns
    -------
    pandas.DataFrame
        The columns of `data`, as views where that is possible; rows numbered from 0, so that
        repeated index values do no harm.

    Raises
    ------
    DataError
        If the file is missing, damaged or of another kind, a CSV file is not in UTF-8 (or the
        encoding of an :class:`EncodedFile`), if there are no columns, if names of columns are not
        text or stand more than once.
    """
    import pandas as pd

    if isinstance(data, str | os.PathLike):
        encoding = data.encoding if isinstance(data, EncodedFile) else UTF8
        data = _read_file(file_path(data, name="data", error=DataError), encoding)
    elif not isinstance(data, pd.DataFrame):
        data = _from_arrow(_arrow_table(data))
    _check_names(data)
    return _of_known_types(data).reset_index(drop=True)


def check_rows(frame: pd.DataFrame) -> None:
    """Raise a DataError if there are no rows to learn from."""
    if len(frame) == 0:
        raise DataError(f"`data` must have rows.\n  Found: no rows and {frame.shape[1]} columns.")


def narwhals_frame(data: Any) -> Any:
    """A frame of any library as narwhals sees it.

    Raises
    ------
    DataError
        If it is none.
    """
    import narwhals as nw

    found = _kind_of(data)
    try:
        return nw.from_native(data)
    except TypeError:
        raise DataError(
            "`data` must be a pandas, polars or pyarrow table, or the path of a CSV, Parquet or"
            f" Feather file.\n  Found: {found}.\n"
            "  Convert it first, for example with `pandas.DataFrame(...)`."
        ) from None
    except MemoryError:
        raise
    except Exception as error:  # also of what only looks like a frame
        raise _unreadable_frame(found, error) from None


def _kind_of(data: object) -> str:
    kind = type(data)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _arrow_table(data: Any) -> Any:
    """A frame of another library as an Arrow table."""
    import narwhals as nw

    frame = narwhals_frame(data)
    try:
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        if frame.implementation.is_polars():
            _check_polars_names(frame.schema)
            # Categories of polars stand in the order in which the whole session met them.
            texts = [name for name, kind in frame.schema.items() if kind == nw.Categorical]
            frame = frame.with_columns(nw.col(name).cast(nw.String) for name in texts)
        return frame.to_arrow()
    except (DataError, MemoryError):
        raise
    except BaseException as error:
        # A panic of polars is no Exception to Python.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise _unreadable_frame(_kind_of(data), error) from error
        raise


def _check_polars_names(schema: Mapping[str, Any]) -> None:
    """Raise a DataError for names with NUL, at which polars breaks off on the way to Arrow."""
    ends = [
        name
        for name, kind in schema.items()
        if any("\0" in part for part in (name, *_field_names(kind)))
    ]
    if ends:
        raise DataError(
            "Names of columns and fields of a polars table must not hold NUL characters.\n"
            f"  Found: {listing(ends)}.\n"
            "  Rename them, for example"
            ' `data.rename(lambda name: name.replace("\\0", ""))`.'
        )


def _field_names(kind: Any) -> Iterator[str]:
    """Names of the fields of a nested type of narwhals."""
    for field in getattr(kind, "fields", ()):
        yield field.name
        yield from _field_names(field.dtype)
    if (inner := getattr(kind, "inner", None)) is not None:
        yield from _field_names(inner)


def _unreadable_frame(found: str, error: BaseException) -> DataError:
    return DataError(f"Can't read `data`, a {found}.\n  {said_by(error)}")


def _from_arrow(table: Any) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa

    names = table.column_names
    if len(set(names)) < len(names):
        raise not_different(sorted({name for name in names if names.count(name) > 1}))
    return table.to_pandas(
        types_mapper=lambda kind: None if pa.types.is_dictionary(kind) else pd.ArrowDtype(kind),
        ignore_metadata=True,
    )


def _check_file(path: Path) -> None:
    """Raise a DataError unless there is a file."""
    if not os.path.isfile(path):  # unlike the question of a Path, it takes names of any length
        folder = os.path.isdir(path)
        found = "It is a folder." if folder else f"Current folder: {current_folder()}"
        raise DataError(f"Can't find the file {quoted(str(path))}.\n  {found}")


def _read_file(path: Path, encoding: str) -> pd.DataFrame:
    import pandas as pd

    _check_file(path)
    name = path.name.lower()
    try:
        if is_csv(path):
            return read_csv(path, encoding)
        if name.endswith(".parquet"):
            return pd.read_parquet(path)
        if name.endswith(".feather"):
            return pd.read_feather(path)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # a damaged file can fail in any way
        raise DataError(f"Can't read the file {quoted(str(path))}.\n  {said_by(error)}") from error
    raise DataError(
        "A data file must end in `.csv`, `.csv.gz`, `.parquet` or `.feather`.\n"
        f"  Found: {quoted(str(path))}."
    )


def _of_known_types(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with Python objects for Arrow's newer layouts, of which pandas can take no rows,
    and with all values of sparse columns, which it joins with a warning."""
    import pandas as pd

    new = {}
    for name, column in frame.items():
        if isinstance(column.dtype, pd.SparseDtype):
            new[str(name)] = pd.Series(np.asarray(column), frame.index)
        elif isinstance(column.dtype, pd.ArrowDtype) and not _is_known(column.dtype):
            values = column.array.__arrow_array__().to_pylist()
            new[str(name)] = pd.Series(values, frame.index, dtype=object)
    return frame.assign(**new) if new else frame


def _is_known(dtype: pd.ArrowDtype) -> bool:
    try:
        return dtype.type is not None
    except NotImplementedError:
        return False


def _check_names(frame: pd.DataFrame) -> None:
    if frame.columns.nlevels > 1:
        raise DataError(
            "Column names of `data` must have one level.\n"
            f"  Found: {frame.columns.nlevels} levels.\n"
            '  Join them, for example `data.columns = ["_".join(c) for c in data.columns]`.'
        )
    odd = [name for name in frame.columns if not isinstance(name, str) or is_broken(name)]
    if odd:
        raise DataError(
            "Column names of `data` must be text.\n"
            f"  Found: {', '.join(f'{n!r} ({type(n).__name__})' for n in odd[:5])}"
            f"{' and more' if len(odd) > 5 else ''}.\n"
            '  Rename them, for example `data.columns = [f"x{name}" for name in data.columns]`.'
        )
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise not_different(list(twice))


def read_column(series: pd.Series[Any], name: str, *, needed: bool = False) -> Numbers | Labels:
    """The internal form of one column.

    Parameters
    ----------
    series : pandas.Series
        Numbers, truth values, text or categories, of any pandas, nullable or Arrow dtype.
    name : str
        Name for messages: a column or an expression.
    needed : bool
        Whether messages may not advise to leave the column out.

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
            "  Found: complex numbers. Give their real and imaginary parts as two columns."
        )
    if pd.api.types.is_bool_dtype(dtype):
        return Numbers(_floats(series), is_bool=True)
    if pd.api.types.is_numeric_dtype(dtype):
        values = _finite(_floats(series), name)
        return Numbers(values, is_integer=_is_whole(values, dtype))
    if not pd.api.types.is_object_dtype(dtype) and pd.api.types.is_string_dtype(dtype):
        return _labels(series, name)
    return _read_objects(series, name, needed)


def to_series(column: Numbers | Labels) -> pd.Series[Any]:
    """A pandas column that :func:`read_column` reads as `column`."""
    import pandas as pd

    if isinstance(column, Labels):
        if column.declared:
            kind = pd.CategoricalDtype(list(column.levels), ordered=column.ordered)
            return pd.Series(pd.Categorical.from_codes(column.codes, dtype=kind))
        levels = np.array([*column.levels, None], dtype=object)
        return pd.Series(levels[column.codes], dtype=object)
    known = ~np.isnan(column.values)
    if column.is_bool:
        whole = np.where(known, column.values, 0).astype(bool)
        return pd.Series(pd.arrays.BooleanArray(whole, ~known))
    if column.is_integer and np.all(abs(column.values[known]) < 2**53):
        whole = np.where(known, column.values, 0).astype(np.int64)
        return pd.Series(pd.arrays.IntegerArray(whole, ~known))
    return pd.Series(column.values)


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
        f"Column {quoted(name)} must hold numbers, or text, or truth values.\n"
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
                f"Column {quoted(name)} must hold text of whole characters.\n"
                f"  Found: {quoted(level)}, with half of one: it was read with a wrong encoding.\n"
                '  Mend it, for example with `.str.encode("utf-8", "replace").str.decode()`.'
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
    if isinstance(series.dtype, np.dtype) and series.dtype == np.float64:
        return series.to_numpy()
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
    leave = "" if needed else f", or leave it out with `- {shortened(formula_name(name))}`"
    return DataError(
        f"Column {quoted(name)} must hold numbers, text or categories.\n"
        f"  Found: dates or times ({series.dtype}).\n"
        f"  Make numbers of it, for example `data[{name!r}].dt.year` or the days since a start"
        f"{leave}."
    )
