"""CSV files: read correctly or not at all, with the remedy in the error."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import warnings
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from treeselect.arguments.checks import described, file_path
from treeselect.errors import DataError, OptionError, listing, literal, needed, quoted
from treeselect.frames.values import check_different, with_columns
from treeselect.quiet import own_filters
from treeselect.shown import is_broken

UTF8 = "utf-8"


@dataclass(frozen=True, slots=True)
class DataFile(os.PathLike[str]):
    """The path of a file; the encoding of the text of a CSV, Stata, SPSS or SAS file; the sheet of
    a workbook."""

    path: str
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        path = Path(self.path)
        if self.sheet is not None and not (isinstance(self.sheet, str) and is_workbook(path)):
            raise OptionError(
                "`sheet` must be the name of a sheet, of a workbook.\n"
                f"  Found: {described(self.sheet)}, of {quoted(self.path)}."
            )
        if self.encoding is None:
            return
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise OptionError(
                "`encoding` must be the name of a text encoding that Python knows, such as"
                f" 'latin-1', 'cp1252' or 'utf-16'.\n  Found: {described(self.encoding)}."
            ) from None
        if not is_csv(path) and not is_statistical(path):
            raise OptionError(
                "`encoding` must be given for CSV, Stata, SPSS and SAS files only: other formats"
                f" record their own.\n  Found: {quoted(self.path)}."
            )

    def __fspath__(self) -> str:
        return self.path


def is_csv(path: Path) -> bool:
    return path.name.lower().endswith((".csv", ".csv.gz"))


def read_csv(path: Path, encoding: str = UTF8) -> pd.DataFrame:
    """The columns of a CSV file; names must be unique, and rows no longer than the header."""
    try:
        _check_length(path)
        header = pd.read_csv(
            path, header=None, nrows=1, dtype=str, keep_default_na=False, encoding=encoding
        )
        _check_header(path, header.iloc[0])
        with own_filters():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # One guess of the type for the whole column, not one for each chunk of rows. And no
            # column is made an index of, which is left out: pandas does so if rows are too long.
            frame = pd.read_csv(path, low_memory=False, index_col=False, encoding=encoding)
        unnamed = frame.columns[: header.shape[1]][(header.iloc[0] == "").to_numpy()]
        return frame.drop(columns=unnamed[frame[unnamed].isna().all()])  # empty ones of a sheet
    except UnicodeError as error:
        found = str(error)
        if isinstance(error, UnicodeDecodeError):  # its position is one in a part of the file
            found = f"byte 0x{error.object[error.start]:02x}"
        raise DataError(
            f"Can't read the file {quoted(str(path))} as {encoding}.\n"
            f"  Found: {found}.\n  {_ENCODE.format(path=str(path))}"
        ) from error
    except pd.errors.ParserWarning as error:
        raise DataError(
            f"The rows of {quoted(str(path))} must not have more values than its header has"
            " names.\n"
            "  Name every column. If the first column holds row names, read the file yourself:"
            f" `pandas.read_csv({str(path)!r}, index_col=0)`."
        ) from error


_ENCODE = (
    "Give the encoding of the file, often 'cp1252' or 'utf-16':"
    " `treeselect.read({path!r}, encoding='cp1252')`, or `--encoding cp1252` on the command line."
)


_LONGEST_HEADER = 2**24
"""Most bytes of a header: pandas takes hundreds of megabytes for what is no table."""


def _check_length(path: Path) -> None:
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        start = file.read(_LONGEST_HEADER)
    if len(start) == _LONGEST_HEADER and b"\n" not in start and b"\r" not in start:
        raise DataError(
            f"The header of {quoted(str(path))} must have at most {_LONGEST_HEADER:,} bytes.\n"
            "  Found: no end of a line in so many. Is it a CSV file?"
        )


def _check_header(path: Path, names: pd.Series[str]) -> None:
    """Refuse repeated names (pandas would silently make `x` and `x.1` of them), a separator that is
    not a comma, and text of two bytes per character, which is UTF-8 with a NUL after each."""
    if any("\0" in name for name in names):
        raise DataError(
            f"The header of {quoted(str(path))} must not contain NUL characters.\n"
            f"  Found: {listing(names, most=5)}.\n  {_ENCODE.format(path=str(path))}"
        )
    first = ",".join(names)
    if separator := next((sign for sign in ";\t|" if first.count(sign) >= len(names)), None):
        way = f"sep={separator!r}" + ", skiprows=1" * first.startswith("sep=")
        commas = ", with `decimal=','` if its numbers have decimal commas" * (separator == ";")
        raise DataError(
            f"The columns of {quoted(str(path))} must be separated by commas.\n"
            f"  Found: one column, {literal(first)}.\n"
            "  Save it with commas or as a workbook, or read it yourself:"
            f" `pandas.read_csv({str(path)!r}, {way})`{commas}."
        )
    check_different(filter(None, names))


# --- Files of Stata, SPSS and SAS, with the labels of their columns and values -------------------
# pyreadstat reads them. Values that the file declares as missing are missing. A column all of
# whose values have a label becomes a factor with the labels as levels, in the order of their
# codes. Empty text is missing, as in these programs.

_READERS = {
    ".dta": "read_dta", ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por",
    ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip

STATISTICAL = tuple(_READERS)


def is_statistical(path: Path) -> bool:
    return path.suffix.lower() in _READERS


def read_statistical(
    path: Path, encoding: str | None = None, numbers: Collection[str] = ()
) -> pd.DataFrame:
    """The columns of a file; its text is in the encoding that it says unless one is given. Known
    `numbers` stay such, even if all values in this file have labels."""
    frame, about = _read(path, encoding, dates_as_pandas_datetime=True)
    declared: dict[str, list[Any]] = {}
    if path.suffix.lower() in (".sav", ".zsav"):  # values and ranges that SPSS declares as missing
        declared = _read(path, encoding, metadataonly=True, user_missing=True)[1].missing_ranges
    new: dict[str, Any] = {}
    for name, labels in about.variable_value_labels.items():
        known = {
            value: label
            for value, label in labels.items()
            if not any(
                type(part["lo"]) is type(value) and part["lo"] <= value <= part["hi"]
                for part in declared.get(name, ())
            )
        }
        if name not in frame or name in numbers:
            continue
        if (column := _labelled(frame[name], known)) is not None:
            new[name] = column
    texts = frame.select_dtypes(include=["object", "string"]).items()
    return with_columns(frame, {str(name): text.mask(text == "") for name, text in texts} | new)


def _read(path: Path, encoding: str | None, **options: Any) -> tuple[pd.DataFrame, Any]:
    reader = needed("pyreadstat", "stats", f"Reading `{path.suffix.lower()}` files")
    if encoding is not None:
        options["encoding"] = codecs.lookup(encoding).name
    read: tuple[pd.DataFrame, Any] = getattr(reader, _READERS[path.suffix.lower()])(
        str(path), **options
    )
    return read


def _labelled(column: pd.Series[Any], labels: Mapping[Any, str]) -> pd.Series[Any] | None:
    """A factor, if every value has a label: labels of a few codes of a number make it no factor."""
    known = column.dropna()
    if known.empty or not bool(known.isin(list(labels)).all()):
        return None
    codes = sorted(v for v in labels if isinstance(v, type(known.iloc[0]) | int | float))
    words = [str(labels[code]).strip() for code in codes]
    shown = [int(c) if isinstance(c, float) and c.is_integer() else c for c in codes]
    levels = [
        f"{word} ({code})" if words.count(word) > 1 or not word else word
        for code, word in zip(shown, words, strict=True)
    ]
    number = {code: i for i, code in enumerate(codes)}
    at = column.map(number).fillna(-1).astype(int)
    return pd.Series(pd.Categorical.from_codes(at.to_numpy(), pd.Index(levels)), column.index)


# --- Sheets of Excel workbooks -------------------------------------------------------------------

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

LARGEST = 2_000_000_000
"""Most bytes of a workbook, unpacked: a small file can hold any number of them."""


def is_workbook(path: Path) -> bool:
    return path.suffix.lower() in WORKBOOKS


def read_workbook(path: Path, sheet: str | None = None) -> pd.DataFrame:
    """The columns of a sheet, with names in its first row; of the only one that holds data."""
    needed("python_calamine", "excel", f"Reading `{path.suffix.lower()}` files")
    _check_size(path)
    with pd.ExcelFile(path, engine="calamine") as book:
        names = [str(name) for name in book.sheet_names]
        if sheet is not None and sheet not in names:
            raise DataError(
                f"The workbook {quoted(str(path))} must have the sheet {quoted(sheet)}.\n"
                f"  Found: {listing(names)}."
            )
        heads = {name: pd.read_excel(book, sheet_name=name, nrows=1, header=None) for name in names}
        filled = [name for name in names if not heads[name].empty]
        if sheet is None and not filled:
            raise DataError(
                f"The workbook {quoted(str(path))} must hold data.\n  Found: empty sheets only."
            )
        if sheet is None and len(filled) > 1:
            raise DataError(
                f"The workbook {quoted(str(path))} must have a single sheet with data.\n"
                f"  Found: {listing(filled)}.\n"
                f"  Choose one: `treeselect.read({str(path)!r}, sheet={filled[0]!r})`, or `--sheet`"
                " on the command line."
            )
        chosen = sheet or filled[0]
        if heads[chosen].empty:
            raise DataError(f"The sheet {quoted(chosen)} must hold data.\n  Found: an empty sheet.")
        _check_heads(chosen, heads[chosen].iloc[0].tolist())
        frame: pd.DataFrame = pd.read_excel(book, sheet_name=chosen)
    return frame


def _check_heads(sheet: str, names: list[object]) -> None:
    """pandas would invent names for empty cells, and change repeated ones."""
    empty = sum(name is None or name != name or not str(name).strip() for name in names)
    twice = sorted({str(name) for name in names if names.count(name) > 1 and name == name})
    if empty or twice:
        found = [f"{empty} without a name"] if empty else []
        found += [f"more than once: {listing(twice)}"] if twice else []
        raise DataError(
            f"The first row of the sheet {quoted(sheet)} must name every column once.\n"
            f"  Found: {'; '.join(found)}.\n"
            "  Delete rows above the names and columns beside the data, or read the sheet with"
            " `pandas.read_excel(path, header=...)`."
        )


def _check_size(path: Path) -> None:
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as packed:
        size = sum(part.file_size for part in packed.infolist())
    if size > LARGEST:
        raise DataError(
            f"The workbook {quoted(str(path))} must have at most {LARGEST / 1e9:g} GB unpacked.\n"
            f"  Found: {size / 1e9:.3g} GB. Save it as CSV or Parquet."
        )


# --- Labels of columns that come with the data: what other software calls the variable labels ----

KEYS = ("labels", "variable_labels", "column_names_to_labels", "column_labels")
"""Under which ``DataFrame.attrs`` may hold a dictionary from columns to labels; the first wins.

``pandas.read_spss`` writes the third, ``maketables`` and many scripts the second.
"""


def labels_in(data: Any) -> dict[str, str]:
    """Labels of columns in the user's data, by name, each on one line. Of a pandas frame these are
    the entries of ``attrs`` under one of :data:`KEYS`; of an Arrow table, a Parquet or a Feather
    file these, which pandas keeps there, and before them the metadata ``label`` of each field; of a
    file of Stata, SPSS or SAS its own. Others have none. Entries that are not labels are
    ignored."""
    if isinstance(data, pd.DataFrame):
        return _in_attrs(data.attrs)
    if isinstance(data, str | os.PathLike):
        try:
            path = file_path(data, name="data", error=DataError)
            return _labels_in_file(path, getattr(data, "encoding", None))
        except Exception:  # a damaged file can fail in any way, and is refused where it is read
            return {}
    is_arrow = type(data).__module__.startswith("pyarrow.")
    schema = getattr(data, "schema", None) if is_arrow else None
    return {} if schema is None else labels_of_schema(schema)


def one_line(text: str) -> str:
    """A label without line ends and repeated blanks; empty if there is nothing else."""
    return " ".join(text.split())


def _in_attrs(attrs: Mapping[Any, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in KEYS:
        known = attrs.get(key)
        if isinstance(known, Mapping):
            found = _plain_labels(known) | found
    return found


def _plain_labels(labels: Mapping[Any, Any]) -> dict[str, str]:
    """Those of its entries that label a column."""
    texts = {
        name: one_line(text)
        for name, text in labels.items()
        if isinstance(name, str) and isinstance(text, str) and not is_broken(text)
    }
    return {name: text for name, text in texts.items() if text}


def _labels_in_file(path: Path, encoding: str | None) -> dict[str, str]:
    if is_statistical(path):
        about = _read(path, encoding, metadataonly=True)[1]
        return _plain_labels(about.column_names_to_labels or {})
    if path.name.lower().endswith(".parquet"):
        from pyarrow.parquet import read_schema

        return labels_of_schema(read_schema(path))
    if path.name.lower().endswith(".feather"):
        from pyarrow.ipc import open_file

        with open_file(str(path)) as file:
            return labels_of_schema(file.schema)
    return {}


def labels_of_schema(schema: Any) -> dict[str, str]:
    """Labels of columns in the schema of an Arrow table or dataset, by name: those that pandas has
    kept of ``attrs``, and of the fields."""
    fields = {
        field.name: (field.metadata or {}).get(b"label", b"").decode("utf-8", "replace")
        for field in schema
    }
    metadata = schema.metadata or {}
    try:
        kept = json.loads(metadata.get(b"PANDAS_ATTRS", b"{}"))
        own = json.loads(metadata.get(b"pandas", b"{}")).get("attributes", {})
        attrs = {**own, **kept}
    except (ValueError, TypeError, AttributeError):
        attrs = {}
    return _in_attrs(attrs) | _plain_labels(fields)
