"""Labels of columns that come with the data: what other software calls the variable labels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treeselect.arguments.paths import file_path
from treeselect.errors import DataError
from treeselect.frames.statistical import is_statistical, labels_of
from treeselect.shown import is_broken

if TYPE_CHECKING:
    import pandas as pd

KEYS = ("labels", "variable_labels", "column_names_to_labels", "column_labels")
"""Under which ``DataFrame.attrs`` may hold a dictionary from columns to labels; the first wins.

``pandas.read_spss`` writes the third, ``maketables`` and many scripts the second.
"""


def labels_in(data: Any) -> dict[str, str]:
    """Labels of columns in the user's data, by name.

    Parameters
    ----------
    data : frame or path
        Of a pandas frame the entries of ``attrs`` under one of :data:`KEYS`; of an Arrow table, a
        Parquet or a Feather file these, which pandas keeps there, and before them the metadata
        ``label`` of each field. Others have none.

    Returns
    -------
    dict of str to str
        Each on one line. Metadata can hold anything: entries that are not labels are ignored.
    """
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return _in_attrs(data.attrs)
    if isinstance(data, str | os.PathLike) and (own := _in_file(data)) is not None:
        return _plain(own)
    schema = _file_schema(data) if isinstance(data, str | os.PathLike) else _arrow_schema(data)
    return {} if schema is None else labels_of_schema(schema)


def one_line(text: str) -> str:
    """A label without line ends and repeated blanks; empty if there is nothing else."""
    return " ".join(text.split())


def without_attrs(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without metadata, all of which pandas would copy with each column that is taken
    out of it."""
    if not frame.attrs:
        return frame
    plain = frame.copy(deep=False)
    plain.attrs = {}
    return plain


def _in_attrs(attrs: Mapping[Any, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in KEYS:
        known = attrs.get(key)
        if isinstance(known, Mapping):
            found = _plain(known) | found
    return found


def _plain(labels: Mapping[Any, Any]) -> dict[str, str]:
    """Those of its entries that label a column."""
    found = {
        name: one_line(text)
        for name, text in labels.items()
        if isinstance(name, str) and isinstance(text, str) and not is_broken(text)
    }
    return {name: text for name, text in found.items() if text}


def _file_schema(given: str | os.PathLike[str]) -> Any:
    """Schema of an Arrow file; None if it is another file, or has none."""
    try:
        path = str(file_path(given, name="data", error=DataError))
        name = path.lower()
        if name.endswith(".parquet"):
            from pyarrow.parquet import read_schema

            return read_schema(path)
        if name.endswith(".feather"):
            from pyarrow.ipc import open_file

            with open_file(path) as file:
                return file.schema
    except Exception:  # a damaged file can fail in any way, and is refused where it is read
        return None
    return None


def _in_file(given: str | os.PathLike[str]) -> dict[str, str] | None:
    """Labels in a file of Stata, SPSS or SAS; None if it is another file."""
    try:
        path = file_path(given, name="data", error=DataError)
        return labels_of(path) if is_statistical(path) else None
    except Exception:  # a damaged file can fail in any way, and is refused where it is read
        return None


def _arrow_schema(data: Any) -> Any:
    """Schema of an Arrow table; None of frames of other libraries."""
    if not type(data).__module__.startswith("pyarrow."):
        return None
    return getattr(data, "schema", None)


def labels_of_schema(schema: Any) -> dict[str, str]:
    """Labels of columns in the schema of an Arrow table or dataset, by name."""
    fields = {
        field.name: (field.metadata or {}).get(b"label", b"").decode("utf-8", "replace")
        for field in schema
    }
    return _in_attrs(_pandas_attrs(schema)) | _plain(fields)


def _pandas_attrs(schema: Any) -> Mapping[Any, Any]:
    """What pandas has kept of ``attrs`` beside a table."""
    import json

    metadata = schema.metadata or {}
    try:
        found = json.loads(metadata.get(b"PANDAS_ATTRS", b"{}"))
        own = json.loads(metadata.get(b"pandas", b"{}")).get("attributes", {})
        return {**own, **found}
    except (ValueError, TypeError, AttributeError):
        return {}
