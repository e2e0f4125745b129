"""Results in the library of the user's data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treeselect.errors import OptionError, quoted
from treeselect.frames.reading import narwhals_frame, read_data
from treeselect.frames.scanning import has_no_frames

if TYPE_CHECKING:
    import pandas as pd


def library_of(data: Any) -> str:
    """``"pandas"``, ``"polars"``, ``"pyarrow"`` or another library that narwhals knows."""
    import pandas as pd

    if isinstance(data, str | os.PathLike | pd.DataFrame) or has_no_frames(data):
        return "pandas"
    import narwhals as nw

    return nw.from_native(data).implementation.value


def in_library(frame: pd.DataFrame, library: str) -> Any:
    """A small table of results as a frame of that library; pandas where it can't hold one."""
    if library == "pandas":
        return frame
    import narwhals as nw

    columns: dict[str, Any] = {str(name): _plain(frame[name]) for name in frame}
    try:
        made = nw.from_dict(columns, backend=library)  # type: ignore[arg-type]
        # Types of a table are the same for all data: those that no value reveals are set.
        types = {name: _type_unseen(frame[name]) for name in columns}
        casts = [nw.col(name).cast(getattr(nw, kind)) for name, kind in types.items() if kind]
        return made.with_columns(casts).to_native()
    except (ValueError, ImportError):  # a lazy engine, or one that is not on this machine
        return frame


_TYPES = {"float64": "Float64", "int64": "Int64", "bool": "Boolean", "str": "String"}
"""Of pandas and narwhals."""


def _type_unseen(column: pd.Series[Any]) -> str | None:
    """Type of a column whose values do not reveal it; None if they do, or it is unknown."""
    if len(column) == 0:
        return _TYPES.get(column.dtype.name)
    return "String" if column.dtype.kind == "O" and bool(column.isna().all()) else None


def _plain(column: pd.Series[Any]) -> list[Any]:
    """Values of a column; of tuples lists, and of labels None where they are missing."""
    import pandas as pd

    values = [list(v) if isinstance(v, tuple) else v for v in column.tolist()]
    if column.dtype.kind == "f":
        return values
    return [None if v is pd.NA or (isinstance(v, float) and v != v) else v for v in values]


def with_column(data: Any, name: str, compute: Callable[[Any], Sequence[Any]]) -> Any:
    """The user's data with one more column, of the same library.

    Parameters
    ----------
    data : frame or path
    name : str
        Of the new column.
    compute : callable
        Its values from the data, which are in memory then: a file is read once, and a lazy frame
        collected once, as its rows may come in another order the next time.

    Raises
    ------
    OptionError
        If there is a column of that name.
    """
    import pandas as pd

    if isinstance(data, str | os.PathLike) or has_no_frames(data):
        data = read_data(data)
    if isinstance(data, pd.DataFrame):
        _check_new(name, data.columns)
        return data.assign(**{name: compute(data)})
    import narwhals as nw

    frame = narwhals_frame(data)
    _check_new(name, frame.collect_schema().names())
    lazy = isinstance(frame, nw.LazyFrame)
    eager = frame.collect() if lazy else frame
    values = compute(eager.to_native())
    column = nw.new_series(name, values, backend=eager.implementation)
    done = eager.with_columns(column)
    return (done.lazy() if lazy else done).to_native()


def _check_new(name: str, names: Iterable[str]) -> None:
    if name in names:
        raise OptionError(
            f"`data` must not have a column {quoted(name)}: the fitted values take that name.\n"
            "  Rename the column."
        )


def as_column(values: Sequence[Any], name: str, data: Any) -> Any:
    """A column of results, of the library of the user's data and with its index."""
    import pandas as pd

    if isinstance(data, str | os.PathLike | pd.DataFrame) or has_no_frames(data):
        index = data.index if isinstance(data, pd.DataFrame) else None
        return pd.Series(values, index=index, name=name)
    import narwhals as nw

    return nw.new_series(name, values, backend=_eager_backend(data)).to_native()


def as_frame(columns: Mapping[str, Sequence[Any]], data: Any) -> Any:
    """A frame of results, of the library of the user's data and with its index."""
    import pandas as pd

    if isinstance(data, str | os.PathLike | pd.DataFrame) or has_no_frames(data):
        index = data.index if isinstance(data, pd.DataFrame) else None
        return pd.DataFrame(columns, index=index)
    import narwhals as nw

    return nw.from_dict(dict(columns), backend=_eager_backend(data)).to_native()


def _eager_backend(data: Any) -> Any:
    """The library of a frame; Arrow for a lazy one that has no columns by themselves."""
    import narwhals as nw

    frame = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame) and not frame.implementation.is_polars():
        return nw.Implementation.PYARROW
    return frame.implementation
