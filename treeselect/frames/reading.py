"""The user's tables and files as a checked pandas frame with a plain index."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from treeselect.arguments.checks import current_folder, file_path
from treeselect.errors import DataError, MissingPackageError, TreeselectError, quoted, said_by
from treeselect.frames import files
from treeselect.frames.values import check_different, check_names, with_columns
from treeselect.running.machine import memory_errors

ENDINGS = (".csv", ".csv.gz", ".parquet", ".feather", *files.STATISTICAL, *files.WORKBOOKS)


@memory_errors()
def read_data(data: Any, numbers: Collection[str] = ()) -> pd.DataFrame:
    """A checked frame from a frame of any library or a file, as :func:`treeselect.read` reads it;
    all rows of what is read in batches. Columns are views where that is possible. Rows are numbered
    from 0, so that repeated index values do no harm. Columns known to be `numbers` keep no labels
    of a statistical file in their place."""
    if (scanned := scan_of(data)) is not None:
        return frame_of_arrow(pa_table(scanned))
    if isinstance(data, str | os.PathLike):
        path = file_path(data, name="data", error=DataError)
        how = data if isinstance(data, files.DataFile) else files.DataFile(str(path))
        data = _read_file(path, how.encoding, how.sheet, numbers)
    elif not isinstance(data, pd.DataFrame):
        data = _from_arrow(_arrow_table(data))
    return _checked(data)


def pa_table(scanned: Scan) -> Any:
    """All rows of a scan as an Arrow table."""
    tables = [table for _, table in scanned.batches(scanned.columns)]
    return one_table(tables, scanned.schema.empty_table())


def one_table(tables: list[Any], empty: Any) -> Any:
    """Arrow tables below each other; the empty one if there are none."""
    if not tables:
        return empty
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def _checked(data: pd.DataFrame) -> pd.DataFrame:
    if data.attrs:  # pandas would copy them with each column taken out of it
        data = data.copy(deep=False)
        data.attrs = {}
    check_names(data)
    return _of_known_types(data).reset_index(drop=True)


def frame_of_arrow(table: Any) -> pd.DataFrame:
    """The same of an Arrow table."""
    return _checked(_from_arrow(table))


def check_rows(frame: Any) -> None:
    """Raise a DataError if a frame or table has no rows to learn from."""
    if len(frame) == 0:
        raise DataError(
            f"`data` must have rows.\n  Found: no rows and {len(frame.columns)} columns."
        )


def narwhals_frame(data: Any) -> Any:
    """A frame of any library as narwhals sees it."""
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
    frame = narwhals_frame(data)
    try:
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        if frame.implementation.is_polars():
            # Categories of polars stand in the order in which the whole session met them.
            frame = frame.with_columns(nw.selectors.categorical().cast(nw.String))
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


_INDEX = re.compile(r"__index_level_\d+__")
"""Columns in which pandas keeps numbers of rows, of an index without a name."""


def _texts_of_polars(schema: Any) -> list[str]:
    """Columns that polars stored as its categories."""
    return [f.name for f in schema if b"_PL_CATEGORICAL" in b" ".join(f.metadata or ())]


def _from_arrow(table: Any) -> pd.DataFrame:
    check_different(table.column_names)
    for name in _texts_of_polars(table.schema):
        at, own = table.column_names.index(name), table.column(name)
        table = table.set_column(at, name, own.cast(own.type.value_type))
    return table.select([n for n in table.column_names if not _INDEX.fullmatch(n)]).to_pandas(
        types_mapper=lambda kind: None if pa.types.is_dictionary(kind) else pd.ArrowDtype(kind),
        ignore_metadata=True,
    )


def _read_file(
    path: Path, encoding: str | None, sheet: str | None, numbers: Collection[str]
) -> pd.DataFrame:
    if not os.path.isfile(path):  # unlike the question of a Path, it takes names of any length
        found = "It is a folder." if os.path.isdir(path) else f"Current folder: {current_folder()}"
        raise DataError(f"Can't find the file {quoted(str(path))}.\n  {found}")
    name = path.name.lower()
    try:
        if files.is_csv(path):
            return files.read_csv(path, encoding or files.UTF8)
        if name.endswith(".parquet"):
            texts = _texts_of_polars(pq.read_schema(path))
            return pd.read_parquet(path).astype(dict.fromkeys(texts, "str"))
        if name.endswith(".feather"):
            return pd.read_feather(path)
        if files.is_statistical(path):
            return files.read_statistical(path, encoding, numbers)
        if files.is_workbook(path):
            return files.read_workbook(path, sheet)
    except (DataError, MissingPackageError, MemoryError):
        raise
    except Exception as error:  # a damaged file can fail in any way
        raise DataError(f"Can't read the file {quoted(str(path))}.\n  {said_by(error)}") from error
    raise DataError(
        f"A data file must end in {', '.join(map(quoted, ENDINGS))}.\n  Found: {quoted(str(path))}."
        " Read other files yourself, for example with"
        f" `pandas.read_csv({str(path)!r}, sep='\\t')`, and pass the data frame."
    )


def _of_known_types(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with Python objects for Arrow's newer layouts, of which pandas can take no rows,
    and with all values of sparse columns, which it joins with a warning."""
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
    return with_columns(frame, new)


def _is_known(dtype: pd.ArrowDtype) -> bool:
    try:
        return dtype.type is not None
    except NotImplementedError:
        return False


# --- Data that are read in batches: folders of Parquet, Arrow datasets, relations, Dask frames ---
# A scan reads some columns of all rows, in the same order each time. It never holds more than a
# batch, or a partition of Dask.

ROWS_AT_ONCE = 131_072
"""Rows of a batch."""

_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Scan:
    """Rows that can be read in batches, as often as needed: what they are in words, the Arrow
    schema of all columns, and from names of columns an iterator over tables of all rows."""

    words: str
    schema: Any
    n_rows: int
    stream: Callable[[list[str]], Iterator[Any]]

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return list(self.schema.names)

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """Number of the first row, and the rows, of each batch."""
        start = 0
        tables = self.stream(list(columns))
        while True:
            with _reading(self.words):
                table = next(tables, None)
            if table is None:
                break
            if table.num_rows:
                yield start, table
                start += table.num_rows
        pa.default_memory_pool().release_unused()  # it would keep what batches needed
        if start != self.n_rows:
            raise DataError(
                "`data` must have the same rows each time they are read.\n"
                f"  Found: {self.n_rows:,} rows, and then {start:,}, in {self.words}."
            )


def scan_of(data: Any) -> Scan | None:
    """The data as a scan; None if they are a file, or are in memory. A scan has a folder of Parquet
    files or a pattern such as ``"folder/*.parquet"``, a ``pyarrow.dataset.Dataset``, a DuckDB
    relation, or a Dask frame. Filters of a dataset and a relation hold."""
    if (opened := _opener(data)) is None:
        return None
    with _reading(_words(data)):
        found = opened()
    check_different(found.columns)
    fields = [field for field in found.schema if not _INDEX.fullmatch(field.name)]
    return replace(found, schema=pa.schema(fields, found.schema.metadata))


def has_no_frames(data: Any) -> bool:
    """Whether results about it are pandas frames: its library has datasets or tasks only."""
    return _is_dataset(data) or is_dask(data)


def _is_dataset(data: Any) -> bool:
    return type(data).__module__ == "pyarrow._dataset" and hasattr(data, "scanner")


def is_dask(data: Any) -> bool:
    room = type(data).__module__.partition(".")[0]
    return room.startswith("dask") and hasattr(data, "partitions") and hasattr(data, "columns")


def _opener(data: Any) -> Callable[[], Scan] | None:
    if isinstance(data, str | os.PathLike):
        try:
            path = file_path(data, name="data", error=DataError)
        except DataError:  # refused where it is read
            return None
        text = str(path)
        if os.path.isdir(text):
            return lambda: _files(text, sorted(_inside(path)), base=text)
        if _WILD & set(text) and not os.path.exists(text):
            return lambda: _files(text, sorted(glob.glob(text, recursive=True)), base=None)
        return None
    kind = type(data)
    room = kind.__module__.partition(".")[0]
    if _is_dataset(data):
        return lambda: _dataset(data, _words(data))
    if room in ("duckdb", "_duckdb") and kind.__name__ == "DuckDBPyRelation":
        return lambda: _relation(data)
    if is_dask(data):
        return lambda: _partitions(data)
    return None


def _words(data: Any) -> str:
    if isinstance(data, str | os.PathLike):
        return quoted(str(data))
    return f"a {type(data).__module__.partition('.')[0]}.{type(data).__qualname__}"


@contextmanager
def _reading(words: str) -> Iterator[None]:
    """Say of what is read that it can't be: a damaged file, or a query, can fail in any way."""
    try:
        yield
    except (TreeselectError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"Can't read `data`, {words}.\n  {said_by(error)}") from error


def _inside(folder: Path) -> Iterator[str]:
    """The Parquet files in a folder and the folders in it, but hidden ones."""
    for path in folder.rglob("*.parquet"):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "_")) for part in parts):
            yield str(path)


def _files(given: str, paths: list[str], base: str | None) -> Scan:
    import pyarrow.dataset as ds

    if not paths:
        found = "It is a folder without Parquet files." if base else "No file has such a name."
        raise DataError(f"Can't find the file {quoted(given)}.\n  {found}")
    if others := [path for path in paths if not path.lower().endswith(".parquet")]:
        raise DataError(
            "A pattern in `data` must name Parquet files, ending in .parquet.\n"
            f"  Found: {quoted(others[0])}. Write for example `'folder/*.parquet'`."
        )
    how: Any = {"format": "parquet", "partitioning": "hive", "partition_base_dir": base or os.sep}
    whole = ds.dataset(paths, **how)
    schemas = [fragment.physical_schema for fragment in whole.get_fragments()]
    unified = pa.unify_schemas(schemas, promote_options="permissive")
    inside = set(unified.names)
    for field in [] if base is None else [f for f in whole.schema if f.name not in inside]:
        unified = unified.append(field)  # in the names of folders
    unified = unified.with_metadata(schemas[0].metadata)
    return _dataset(ds.dataset(paths, schema=unified, **how), quoted(given))


def _dataset(data: Any, words: str) -> Scan:
    def stream(columns: list[str]) -> Iterator[Any]:
        scanner = data.scanner(
            columns=columns, batch_size=ROWS_AT_ONCE, batch_readahead=2, fragment_readahead=1
        )
        for batch in scanner.to_batches():
            yield pa.Table.from_batches([batch])

    return Scan(words, data.schema, int(data.count_rows()), stream)


def _relation(data: Any) -> Scan:
    def stream(columns: list[str]) -> Iterator[Any]:
        names = ['"' + name.replace('"', '""') + '"' for name in columns]
        chosen = data.project(", ".join(names)) if names else data
        for batch in chosen.to_arrow_reader(ROWS_AT_ONCE):
            yield pa.Table.from_batches([batch])

    reader = data.limit(0).to_arrow_reader(1)
    ((count,),) = data.aggregate("count(*)").fetchall()
    return Scan(_words(data), reader.schema, int(count), stream)


def _partitions(data: Any) -> Scan:
    check_names(data._meta)

    def stream(columns: list[str]) -> Iterator[Any]:
        chosen = data[columns]
        for number in range(data.npartitions):
            own = chosen.partitions[number].compute()
            yield pa.Table.from_pandas(own, preserve_index=False)

    schema = pa.Schema.from_pandas(data._meta, preserve_index=False)
    return Scan(_words(data), schema, len(data), stream)
