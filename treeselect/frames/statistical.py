"""Files of Stata, SPSS and SAS, with the labels of their columns and values.

pyreadstat reads them. Values that the file declares as missing are missing. A column all of whose
values have a label becomes a factor with the labels as levels, in the order of their codes. Empty
text is missing, as in these programs.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeselect.frames.extras import needed

if TYPE_CHECKING:
    import pandas as pd

_READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}

ENDINGS = tuple(_READERS)


def is_statistical(path: Path) -> bool:
    """Whether a path has the ending of a file of Stata, SPSS or SAS."""
    return path.suffix.lower() in _READERS


def read_statistical(path: Path, encoding: str | None = None) -> pd.DataFrame:
    """The columns of a file.

    Parameters
    ----------
    path : pathlib.Path
        A file.
    encoding : str, optional
        Of its text; by default what the file says.

    Raises
    ------
    MissingPackageError
        If pyreadstat is not installed.
    Exception
        Of many kinds, if the file is damaged.
    """
    frame, about = _read(path, encoding, dates_as_pandas_datetime=True)
    declared = _declared_missing(path, encoding)
    new = {}
    for name, labels in about.variable_value_labels.items():
        if name in frame:
            missing = declared.get(name, [])
            column = _labelled(frame[name], _without(labels, missing))
            if column is not None:
                new[name] = column
    for name in frame.select_dtypes(include=["object", "string"]):
        column = frame[name]
        if name not in new and bool((blank := column == "").any()):
            new[str(name)] = column.mask(blank)
    return frame.assign(**new) if new else frame


def labels_of(path: Path) -> dict[str, str]:
    """The labels of the columns of a file, by name."""
    _, about = _read(path, None, metadataonly=True)
    found = about.column_names_to_labels or {}
    return {name: label for name, label in found.items() if label}


def _read(path: Path, encoding: str | None, **options: Any) -> tuple[pd.DataFrame, Any]:
    reader = needed("pyreadstat", "stats", f"Reading `{path.suffix.lower()}` files")
    if encoding is not None:
        options["encoding"] = codecs.lookup(encoding).name
    read: tuple[pd.DataFrame, Any] = getattr(reader, _READERS[path.suffix.lower()])(
        str(path), **options
    )
    return read


def _declared_missing(path: Path, encoding: str | None) -> dict[str, list[Any]]:
    """Values and ranges that SPSS declares as missing, by column."""
    if path.suffix.lower() not in (".sav", ".zsav"):
        return {}
    _, about = _read(path, encoding, metadataonly=True, user_missing=True)
    return dict(about.missing_ranges)


def _without(labels: Mapping[Any, str], missing: list[Any]) -> dict[Any, str]:
    """Labels of values that are not declared as missing."""

    def is_missing(value: Any) -> bool:
        return any(
            type(part["lo"]) is type(value) and part["lo"] <= value <= part["hi"]
            for part in missing
        )

    return {value: label for value, label in labels.items() if not is_missing(value)}


def _labelled(column: pd.Series[Any], labels: Mapping[Any, str]) -> pd.Series[Any] | None:
    """A factor, if every value has a label; None otherwise: the labels of a few codes of a number
    make it no factor."""
    import pandas as pd

    known = column.dropna()
    if known.empty or not bool(known.isin(list(labels)).all()):
        return None
    codes = sorted(v for v in labels if isinstance(v, type(known.iloc[0])) or _is_number(v))
    words = [str(labels[code]).strip() for code in codes]
    levels = [
        f"{word} ({_plain(code)})" if words.count(word) > 1 or not word else word
        for code, word in zip(codes, words, strict=True)
    ]
    number = {code: i for i, code in enumerate(codes)}
    at = column.map(number).fillna(-1).astype(int)
    return pd.Series(pd.Categorical.from_codes(at.to_numpy(), pd.Index(levels)), column.index)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _plain(code: object) -> object:
    return int(code) if isinstance(code, float) and code.is_integer() else code
