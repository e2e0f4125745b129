"""Names of columns: which are allowed, and how a formula writes them."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from treeselect.errors import DataError, listing
from treeselect.shown import is_broken

if TYPE_CHECKING:
    import pandas as pd

_NAME = re.compile(r"\w+")
"""Characters of a name as formulaic reads it: fewer than Python allows."""


def formula_name(column: str) -> str:
    """A column's name as a formula needs it: between backticks unless it is an identifier."""
    plain = column.isidentifier() and not keyword.iskeyword(column) and _NAME.fullmatch(column)
    return column if plain else f"`{column}`"


def check_names(frame: pd.DataFrame) -> None:
    """Raise a DataError unless names are text, and different."""
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


def not_different(twice: list[str]) -> DataError:
    """Build the error for names that stand more than once."""
    return DataError(
        "Column names of `data` must be unique.\n"
        f"  Found more than once: {listing(twice)}.\n"
        "  Rename or drop the duplicates."
    )


def check_polars_names(schema: Mapping[str, Any]) -> None:
    """Raise a DataError for names with NUL, at which polars breaks off on the way to Arrow."""
    ends = [
        name
        for name, kind in schema.items()
        if any("\0" in part for part in (name, *_field_names(kind)))
    ]
    if ends:
        raise DataError(
            "Column and field names of a polars table must not contain NUL characters.\n"
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
