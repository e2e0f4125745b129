"""The user's tables and files as a checked pandas frame with a plain index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.paths import current_folder, file_path
from treeselect.errors import DataError, MissingPackageError, listing, quoted, said_by
from treeselect.frames.csv_files import UTF8, EncodedFile, is_csv, read_csv
from treeselect.frames.labels import without_attrs
from treeselect.frames.names import check_names, check_polars_names, not_different
from treeselect.frames.scanning import Scan, scan_of
from treeselect.frames.statistical import ENDINGS as STATISTICAL
from treeselect.frames.statistical import is_statistical, read_statistical
from treeselect.frames.workbooks import ENDINGS as WORKBOOKS
from treeselect.frames.workbooks import is_workbook, read_workbook
from treeselect.running.machine import memory_is_told

if TYPE_CHECKING:
    import pandas as pd


_ENDINGS = (".csv", ".csv.gz", ".parquet", ".feather", *STATISTICAL, *WORKBOOKS)


@memory_is_told()
def read_data(data: Any) -> pd.DataFrame:
    """A checked frame with a plain row index, from a frame of any library or a file.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, str or path
        Any eager or lazy frame that narwhals knows; a DuckDB relation, an Arrow dataset, a Dask
        DataFrame or a folder of Parquet files, all rows of which are read; or the path of a file,
        as in :func:`treeselect.read`.

    Returns
    -------
    pandas.DataFrame
        The columns of `data`, as views where that is possible; rows numbered from 0, so that
        repeated index values do no harm.

    Raises
    ------
    DataError
        If the file is missing, damaged or of another type, a CSV file is not in UTF-8 (or the
        encoding of an :class:`EncodedFile`), if there are no columns, if column names are not text
        or not unique.
    """
    import pandas as pd

    if (scanned := scan_of(data)) is not None:
        return frame_of_arrow(pa_table(scanned))
    if isinstance(data, str | os.PathLike):
        encoding = data.encoding if isinstance(data, EncodedFile) else None
        data = _read_file(file_path(data, name="data", error=DataError), encoding)
    elif not isinstance(data, pd.DataFrame):
        data = _from_arrow(_arrow_table(data))
    return _checked(data)


def pa_table(scanned: Scan) -> Any:
    """All rows of a scan as an Arrow table."""
    import pyarrow as pa

    tables = [table for _, table in scanned.batches(scanned.columns)]
    if not tables:
        return scanned.schema.empty_table()
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def read_sheet(path: Path, sheet: str) -> pd.DataFrame:
    """The same of a sheet of a workbook."""
    return _checked(_read_file(path, None, sheet))


def _checked(data: pd.DataFrame) -> pd.DataFrame:
    data = without_attrs(data)
    check_names(data)
    return _of_known_types(data).reset_index(drop=True)


def frame_of_arrow(table: Any) -> pd.DataFrame:
    """The same of an Arrow table."""
    return _checked(_from_arrow(table))


def check_rows(frame: Any) -> None:
    """Raise a DataError if a frame or table has no rows to learn from."""
    if len(frame) == 0:
        found = f"no rows and {len(frame.columns)} columns"
        raise DataError(f"`data` must have rows.\n  Found: {found}.")


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
            "`data` must be a pandas, polars or pyarrow table, a DuckDB relation, or the path of a"
            f" data file.\n  Found: {found}.\n"
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
            check_polars_names(frame.schema)
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


def _read_file(path: Path, encoding: str | None, sheet: str | None = None) -> pd.DataFrame:
    import pandas as pd

    _check_file(path)
    name = path.name.lower()
    try:
        if is_csv(path):
            return read_csv(path, encoding or UTF8)
        if name.endswith(".parquet"):
            return pd.read_parquet(path)
        if name.endswith(".feather"):
            return pd.read_feather(path)
        if is_statistical(path):
            return read_statistical(path, encoding)
        if is_workbook(path):
            return read_workbook(path, sheet)
    except (DataError, MissingPackageError, MemoryError):
        raise
    except Exception as error:  # a damaged file can fail in any way
        raise DataError(f"Can't read the file {quoted(str(path))}.\n  {said_by(error)}") from error
    raise DataError(
        f"A data file must end in {listing(_ENDINGS, 99)}.\n  Found: {quoted(str(path))}."
        " Read other files yourself, for example with"
        f" `pandas.read_csv({str(path)!r}, sep='\\t')`, and pass the data frame."
    )


def _of_known_types(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with Python objects for Arrow's newer layouts, of which pandas can take no rows,
    and with all values of sparse columns, which it joins with a warning."""
    import pandas as pd

    odd = (pd.SparseDtype, pd.ArrowDtype)
    if not any(issubclass(kind, odd) for kind in set(map(type, frame.dtypes))):
        return frame
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
