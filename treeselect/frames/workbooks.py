"""Sheets of Excel workbooks."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from treeselect.errors import DataError, listing, quoted
from treeselect.frames.extras import needed

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

LARGEST = 2_000_000_000
"""Most bytes of a workbook, unpacked: a small file can hold any number of them."""


def is_workbook(path: Path) -> bool:
    """Whether a path has the ending of a workbook."""
    return path.suffix.lower() in ENDINGS


def read_workbook(path: Path, sheet: str | None = None) -> pd.DataFrame:
    """The columns of a sheet; names stand in its first row.

    Parameters
    ----------
    path : pathlib.Path
        A file.
    sheet : str, optional
        Name of the sheet; needed if several hold data.

    Raises
    ------
    DataError
        If the sheet is not there, none or several hold data, names are missing or repeated, or the
        unpacked file is too large.
    MissingPackageError
        If calamine is not installed.
    Exception
        Of many kinds, if the file is damaged.
    """
    import pandas as pd

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
        chosen = sheet or _only(path, [name for name in names if not heads[name].empty])
        if heads[chosen].empty:
            raise DataError(f"The sheet {quoted(chosen)} must hold data.\n  Found: an empty sheet.")
        _check_header(chosen, heads[chosen].iloc[0].tolist())
        frame: pd.DataFrame = pd.read_excel(book, sheet_name=chosen)
    return frame


def _only(path: Path, filled: list[str]) -> str:
    if len(filled) == 1:
        return filled[0]
    if not filled:
        raise DataError(
            f"The workbook {quoted(str(path))} must hold data.\n  Found: empty sheets only."
        )
    raise DataError(
        f"The workbook {quoted(str(path))} must have a single sheet with data.\n"
        f"  Found: {listing(filled)}.\n"
        f"  Choose one: `treeselect.read({str(path)!r}, sheet={filled[0]!r})`."
    )


def _check_header(sheet: str, names: list[object]) -> None:
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
