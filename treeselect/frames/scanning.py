"""Data that are read in batches: folders of Parquet, Arrow datasets, relations, Dask frames.

A scan reads some columns of all rows, in the same order each time. It never holds more than a
batch, or a partition of Dask.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treeselect.arguments.paths import file_path
from treeselect.errors import DataError, TreeselectError, listing, quoted, said_by
from treeselect.frames.names import not_different

ROWS_AT_ONCE = 131_072
"""Rows of a batch."""

_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Scan:
    """Rows that can be read in batches, as often as needed.

    Attributes
    ----------
    words : str
        What it is, for errors.
    schema : pyarrow.Schema
        Names and types of all columns.
    n_rows : int
    stream : callable
        From names of columns to an iterator over Arrow tables, which hold all rows in order.
    """

    words: str
    schema: Any
    n_rows: int
    stream: Callable[[list[str]], Iterator[Any]]

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return list(self.schema.names)

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """Number of the first row, and the rows, of each batch.

        Raises
        ------
        DataError
            If the data can't be read, or have another number of rows than before.
        """
        import pyarrow as pa

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
    """The data as a scan; None if they are a file, or are in memory.

    Parameters
    ----------
    data : object
        A folder of Parquet files or a pattern such as ``"folder/*.parquet"``, a
        ``pyarrow.dataset.Dataset``, a DuckDB relation, or a Dask DataFrame. Filters of a dataset
        and a relation hold.

    Raises
    ------
    DataError
        If there are no Parquet files, they can't be read, or names of columns are repeated.
    """
    opened = _opener(data)
    if opened is None:
        return None
    with _reading(_words(data)):
        found = opened()
    names = found.columns
    if len(set(names)) < len(names):
        raise not_different(sorted({name for name in names if names.count(name) > 1}))
    return found


def has_no_frames(data: Any) -> bool:
    """Whether results about it are pandas frames: its library has datasets or tasks only."""
    return _is_dataset(data) or is_dask(data)


def _is_dataset(data: Any) -> bool:
    return type(data).__module__ == "pyarrow._dataset" and hasattr(data, "scanner")


def is_dask(data: Any) -> bool:
    """Whether it is a Dask frame."""
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
    import pyarrow as pa
    import pyarrow.dataset as ds

    if not paths:
        found = "It is a folder without Parquet files." if base else "No file has such a name."
        raise DataError(f"Can't find the file {quoted(given)}.\n  {found}")
    others = [path for path in paths if not path.lower().endswith(".parquet")]
    if others:
        raise DataError(
            "A pattern in `data` must name Parquet files, ending in .parquet.\n"
            f"  Found: {quoted(others[0])}. Write for example `'folder/*.parquet'`."
        )
    whole = ds.dataset(
        paths, format="parquet", partitioning="hive", partition_base_dir=base or os.sep
    )
    inside = set().union(*(f.physical_schema.names for f in whole.get_fragments()))
    parts = [] if base is None else [f for f in whole.schema if f.name not in inside]
    schemas = [f.physical_schema for f in whole.get_fragments()]
    unified = pa.unify_schemas(schemas, promote_options="permissive")
    for field in parts:
        unified = unified.append(field)
    metadata = schemas[0].metadata
    whole = ds.dataset(
        paths,
        schema=unified.with_metadata(metadata) if metadata else unified,
        format="parquet",
        partitioning="hive",
        partition_base_dir=base or os.sep,
    )
    return _dataset(whole, quoted(given))


def _dataset(data: Any, words: str) -> Scan:
    def stream(columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        scanner = data.scanner(
            columns=columns, batch_size=ROWS_AT_ONCE, batch_readahead=2, fragment_readahead=1
        )
        for batch in scanner.to_batches():
            yield pa.Table.from_batches([batch])

    return Scan(words, data.schema, int(data.count_rows()), stream)


def _relation(data: Any) -> Scan:
    def stream(columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        names = ['"' + name.replace('"', '""') + '"' for name in columns]
        chosen = data.project(", ".join(names)) if names else data
        for batch in chosen.to_arrow_reader(ROWS_AT_ONCE):
            yield pa.Table.from_batches([batch])

    reader = data.limit(0).to_arrow_reader(1)
    ((count,),) = data.aggregate("count(*)").fetchall()
    return Scan(_words(data), reader.schema, int(count), stream)


def _partitions(data: Any) -> Scan:
    import pyarrow as pa

    odd = [name for name in data.columns if not isinstance(name, str)]
    if odd:
        raise DataError(f"Column names of `data` must be text.\n  Found: {listing(odd)}.")

    def stream(columns: list[str]) -> Iterator[Any]:
        chosen = data[columns]
        for number in range(data.npartitions):
            own = chosen.partitions[number].compute()
            yield pa.Table.from_pandas(own, preserve_index=False)

    schema = pa.Schema.from_pandas(data._meta, preserve_index=False)
    return Scan(_words(data), schema, len(data), stream)
