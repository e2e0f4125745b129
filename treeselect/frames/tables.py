"""The rows of the user's data, in memory or read in batches, by columns and by rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import infer_dtype

from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.columns import Sketch, bin_edges, merged, sketch_of, sketched_edges
from treeselect.errors import DataError, OptionError, quoted
from treeselect.frames import reading
from treeselect.frames.files import labels_in, labels_of_schema
from treeselect.frames.values import Numbers, read_column, with_columns
from treeselect.printing import OfContent, SummaryContent
from treeselect.running.machine import memory_errors
from treeselect.shown import is_broken

USUAL_ROWS = 200_000
"""Rows that are selected on by default where not all are in memory."""

_MOST_LEVELS = 10_000
"""Most levels of a text that are gathered from all rows."""

_ROWS_AT_ONCE = 200_000

_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean")
"""What pandas calls values that are read as numbers."""


Taken = tuple[pd.DataFrame, dict[str, FloatArray], dict[str, list[str]]]
"""Some rows, numbered from 0; edges between the bins of all rows in use, by the names of columns of
numbers; and levels in all rows of the data, by those of columns of text."""


@dataclass(frozen=True)
class InMemory:
    """A frame in memory, and the labels that came with it."""

    frame: pd.DataFrame
    labels: dict[str, str]
    in_memory: ClassVar[bool] = True

    @property
    def columns(self) -> list[str]:
        return list(self.frame.columns)

    def __len__(self) -> int:
        return len(self.frame)

    def whole(self, columns: Collection[str]) -> pd.DataFrame:
        """All rows of these columns, and of the others."""
        return self.frame

    def some(
        self,
        columns: Sequence[str],
        rows: IntArray,
        every: IntArray,
        weight: WeightArray,
        binned: Collection[str],
    ) -> Taken:
        """These rows, increasing. Edges, of columns `binned` that hold numbers, are learned from
        all rows in use, `every`, and their weights."""
        edges: dict[str, FloatArray] = {}
        done: dict[str, Any] = {}
        for name in columns:
            series = self.frame[name]
            done[name] = series.iloc[rows].reset_index(drop=True)
            if name in binned and infer_dtype(series) in _NUMBERS:
                column = read_column(series.iloc[every], name)
                assert isinstance(column, Numbers)
                edges[name] = bin_edges(column.values, weight=weight)
        return pd.DataFrame(done), edges, levels_of(self.frame, columns)

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[int, pd.DataFrame]]:
        """Number of the first row, and the rows, of each batch."""
        for start in range(0, len(self.frame), _ROWS_AT_ONCE):
            own = self.frame[list(columns)].iloc[start : start + _ROWS_AT_ONCE]
            yield start, own.reset_index(drop=True)


@dataclass(frozen=True)
class Scanned:
    """Rows that are read in batches, with the methods of :class:`InMemory`."""

    scan: reading.Scan
    in_memory: ClassVar[bool] = False

    @property
    def columns(self) -> list[str]:
        return self.scan.columns

    @property
    def labels(self) -> dict[str, str]:
        return labels_of_schema(self.scan.schema)

    def __len__(self) -> int:
        return self.scan.n_rows

    def whole(self, columns: Collection[str]) -> pd.DataFrame:
        """All rows of these columns; text as a category of its sorted levels."""
        names = [name for name in self.columns if name in columns]
        parts = []
        for _, table in self.scan.batches(names):
            for i, field in enumerate(table.schema):
                if _is_arrow_text(field.type):
                    coded = pc.dictionary_encode(table.column(i))
                    table = table.set_column(i, pa.field(field.name, coded.type), coded)
            parts.append(table)
        frame = _joined(parts, self.scan.schema, names)
        texts = [name for name in names if _is_arrow_text(self.scan.schema.field(name).type)]
        coded = {str(name): column.cat for name, column in frame[texts].items()}
        ordered = {n: own.reorder_categories(sorted(own.categories)) for n, own in coded.items()}
        return with_columns(frame, ordered)

    def some(
        self,
        columns: Sequence[str],
        rows: IntArray,
        every: IntArray,
        weight: WeightArray,
        binned: Collection[str],
    ) -> Taken:
        schema = self.scan.schema
        kinds = {name: schema.field(name).type for name in columns}
        sketches = {
            name: Sketch() for name, kind in kinds.items() if name in binned and _counts(kind)
        }
        # of a dictionary the type of its values
        inner = {name: getattr(kind, "value_type", kind) for name, kind in kinds.items()}
        levels: dict[str, set[Any]] = {n: set() for n in inner if _is_arrow_text(inner[n])}
        equal = len(weight) == 0 or weight.strides == (0,) or bool((weight == weight[0]).all())
        parts = []
        for start, table in self.scan.batches(columns):
            end = start + table.num_rows
            low, high = np.searchsorted(rows, [start, end])
            if high > low:
                parts.append(table.take(rows[low:high] - start))
            low, high = np.searchsorted(every, [start, end])
            used = None if high - low == end - start else every[low:high] - start
            own_weight = None if equal else weight[low:high]
            for name in sketches:
                values = _floats_of(table.column(name), used, name)
                sketches[name] = merged(sketches[name], sketch_of(values, own_weight))
            for name in list(levels):
                own = table.column(name)
                if pa.types.is_dictionary(own.type):
                    own = own.cast(own.type.value_type)
                levels[name].update(v for v in own.unique().to_pylist() if v is not None)
                if len(levels[name]) > _MOST_LEVELS:
                    del levels[name]
        edges = {name: sketched_edges(sketch) for name, sketch in sketches.items()}
        texts = {name: list(own) for name, own in levels.items()}
        return _joined(parts, schema, columns), edges, texts

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[int, pd.DataFrame]]:
        for start, table in self.scan.batches(columns):
            yield start, reading.frame_of_arrow(table)


Table = InMemory | Scanned


@memory_errors()
def open_table(data: Any, rows: int | None) -> Table:
    """The user's data; in memory if they are there, or have no more rows than are selected on."""
    found = reading.scan_of(data)
    if found is None:
        return InMemory(reading.read_data(data), labels_in(data))
    if found.n_rows <= (USUAL_ROWS if rows is None else rows):
        return InMemory(
            reading.frame_of_arrow(reading.pa_table(found)), labels_of_schema(found.schema)
        )
    return Scanned(found)


def table_of(data: pd.DataFrame | Table) -> Table:
    return InMemory(data, {}) if isinstance(data, pd.DataFrame) else data


def _joined(parts: list[Any], schema: Any, columns: Sequence[str]) -> pd.DataFrame:
    """Batches as one frame, read as a table in memory would be."""
    return reading.frame_of_arrow(
        reading.one_table(parts, schema.empty_table().select(list(columns)))
    )


# --- columns -----------------------------------------------------------------------------------


def levels_of(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, list[str]]:
    """Valid levels of those columns that are text, unless they are too many."""
    found = {n: frame[n].dropna().unique() for n in names if infer_dtype(frame[n]) == "string"}
    few = {name: own for name, own in found.items() if len(own) <= _MOST_LEVELS}
    return {name: [v for v in own if not is_broken(v)] for name, own in few.items()}


def _is_arrow_text(kind: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()


def _counts(kind: Any) -> bool:
    kinds = pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean
    return any(is_such(kind) for is_such in kinds)


def _floats_of(column: Any, used: IntArray | None, name: str) -> FloatArray:
    own = column.cast(pa.uint8()) if column.type == pa.bool_() else column
    own = own.cast(pa.string()) if pa.types.is_decimal(own.type) else own  # or it rounds twice
    found = own.cast(pa.float64(), safe=False).to_numpy()
    found = found if used is None else found[used]
    if np.isinf(found).any():
        raise DataError(
            f"Column {quoted(name)} must be finite.\n"
            "  Found: infinite values. Replace them by missing values, which terms may have."
        )
    return np.asarray(found, dtype=np.float64)


# --- Results in the library of the user's data ---------------------------------------------------


def _is_pandas(data: Any) -> bool:
    """Whether results about the user's data are those of pandas."""
    return isinstance(data, str | os.PathLike | pd.DataFrame) or reading.has_no_frames(data)


def library_of(data: Any) -> str:
    """``"pandas"``, ``"polars"``, ``"pyarrow"`` or another library that narwhals knows."""
    if _is_pandas(data):
        return "pandas"
    return nw.from_native(data).implementation.value


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PrintedTable(OfContent):
    """A table in pandas, which ``tidy()`` gives in a library, with its printed form."""

    table: pd.DataFrame
    write: Callable[[], SummaryContent]
    library: str = "pandas"

    def __repr__(self) -> str:
        return str(self.summary())


def in_library(frame: pd.DataFrame, library: str) -> Any:
    """A small table of results as a frame of that library; pandas where it can't hold one."""
    if library == "pandas":
        return frame
    try:
        table = pa.table({str(name): _arrow(frame[name]) for name in frame})
        return nw.from_arrow(table, backend=cast(Any, library)).to_native()
    except (ValueError, ImportError):  # a lazy engine, or one that is not on this machine
        return frame


def _arrow(column: pd.Series[Any]) -> Any:
    """A column of results; NaN stays a number, and what no value reveals is text."""
    if column.dtype.kind == "f":
        return pa.array(column.to_numpy())
    found = pa.array(column.tolist() if column.dtype == object else column, from_pandas=True)
    is_text = pa.types.is_null(found.type) or pa.types.is_large_string(found.type)
    return found.cast(pa.string()) if is_text else found


def with_column(data: Any, name: str, compute: Callable[[Any], Any]) -> Any:
    """The user's data with one more column, of the same library. Its values are computed from data
    in memory: a file is read once, and a lazy frame collected once, as its rows may come in another
    order the next time."""
    if isinstance(data, str | os.PathLike) or reading.has_no_frames(data):
        data = reading.read_data(data)
    if isinstance(data, pd.DataFrame):
        _check_new(name, data.columns)
        return data.assign(**{name: compute(data)})
    frame = reading.narwhals_frame(data)
    _check_new(name, frame.collect_schema().names())
    lazy = isinstance(frame, nw.LazyFrame)
    eager = frame.collect() if lazy else frame
    column = nw.new_series(name, compute(eager.to_native()), backend=eager.implementation)
    done = eager.with_columns(column)
    return (done.lazy() if lazy else done).to_native()


def _check_new(name: str, names: Iterable[str]) -> None:
    if name in names:
        raise OptionError(
            f"`data` must not have a column {quoted(name)}: the fitted values take that name.\n"
            "  Rename the column."
        )


def as_column(values: Any, name: str, data: Any) -> Any:
    """A column of results, of the library of the user's data and with its index."""
    return nw.from_native(as_frame({name: values}, data))[name].to_native()


def as_frame(columns: Mapping[str, Any], data: Any) -> Any:
    """A frame of results, of the library of the user's data and with its index."""
    if _is_pandas(data):
        index = data.index if isinstance(data, pd.DataFrame) else None
        return pd.DataFrame(columns, index=index)
    return nw.from_dict(dict(columns), backend=_eager_backend(data)).to_native()


def _eager_backend(data: Any) -> Any:
    """The library of a frame; Arrow for a lazy one that has no columns by themselves."""
    frame = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame) and not frame.implementation.is_polars():
        return nw.Implementation.PYARROW
    return frame.implementation
