"""``read()``: data from files, as ``select()`` reads them."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import described, file_path, not_found
from treeselect.errors import DataError, OptionError, listing, quoted
from treeselect.frames.files import DataFile, labels_in
from treeselect.frames.reading import read_data
from treeselect.frames.values import with_columns
from treeselect.running.machine import memory_errors

# --- ``read()`` --------------------------------------------------------------------------------


@memory_errors()
def read(
    path: str | os.PathLike[str],
    *,
    na: Codes = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> pd.DataFrame:
    """Read a data file.

    :func:`treeselect.select` and ``predict()`` read paths in the same way. This function is needed
    for `encoding` and `sheet`, or to look at the data first.

    Parameters
    ----------
    path : str or path
        A file: CSV (``.csv``, ``.csv.gz``), Parquet, Feather; Stata (``.dta``), SPSS (``.sav``,
        ``.zsav``, ``.por``) and SAS (``.sas7bdat``, ``.xpt``) with
        ``pip install "treeselect[stats]"``; Excel and OpenDocument (``.xlsx``, ``.xlsm``,
        ``.xlsb``, ``.xls``, ``.ods``) with ``pip install "treeselect[excel]"``.
    na : str, number, list or dict, optional
        Codes for missing values, as in :func:`treeselect.select`.
    encoding : str, optional
        Encoding of the text of a CSV file, UTF-8 by default; of a file of Stata, SPSS or SAS, what
        the file says by default.
    sheet : str, optional
        Sheet of a workbook; needed if several hold data.

    Returns
    -------
    pandas.DataFrame
        Labels of columns are in ``attrs["labels"]``, where ``select()`` finds them. Of Stata, SPSS
        and SAS files, values that the file declares as missing are missing, and a column all of
        whose values have labels is a factor with the labels as levels, in the order of their codes.

    Raises
    ------
    DataError
        If the file can't be read, or has no or repeated names of columns.
    OptionError
        If an argument does not fit the file.
    MissingPackageError
        If the package that reads the file is not installed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import treeselect
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.csv"
    >>> _ = path.write_text("died,age\\n0,41\\n1,?\\n0,-9\\n")
    >>> treeselect.read(path, na=["?", -9])["age"].tolist()
    [41.0, nan, nan]
    """
    codes = read_codes(na)
    file = DataFile(str(file_path(path, error=DataError)), encoding, sheet)
    frame, labels = read_data(file), labels_in(file)
    codes.check(frame.columns)
    done = codes.applied(frame)
    done.attrs |= {"labels": labels} if labels else {}
    return done


# --- Codes for missing values: what ``na=`` says, applied to a frame -----------------------------

Code = str | int | float
Codes = Code | Iterable[Code] | Mapping[str, Code | Iterable[Code]] | None
"""What ``na=`` takes."""

_ALLOWED = "a code such as '?' or -9, a list of codes, or a dictionary from columns to these"


@dataclass(frozen=True, slots=True)
class MissingCodes:
    """Codes for missing values: those in every column, and those in one, by its name."""

    everywhere: tuple[Code, ...] = ()
    by_column: Mapping[str, tuple[Code, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.everywhere or self.by_column)

    def applied(self, frame: pd.DataFrame, kinds: Mapping[str, str] | None = None) -> pd.DataFrame:
        """The frame with missing values in the place of codes. Codes that are text are compared
        with text, numbers with numbers; blanks around text do not count. A column of text that
        holds nothing but numbers without its codes becomes numeric, unless it is known to be of
        another of the `kinds`; one of numbers does even if these rows hold no code."""
        done = {}
        for name in frame.columns:
            codes = (*self.everywhere, *self.by_column.get(name, ()))
            if codes and (new := _without(frame[name], codes, (kinds or {}).get(name))) is not None:
                done[name] = new
            elif kinds is None and name in self.by_column:
                _check_kind(frame[name], name, codes)
        return with_columns(frame, done) if done else frame

    def check(self, columns: Iterable[str]) -> None:
        """Raise an OptionError if a column is not there."""
        known = list(columns)
        if unknown := [name for name in self.by_column if name not in known]:
            raise not_found(unknown[0], "na", known, "columns")


NO_CODES = MissingCodes()


def read_codes(na: object) -> MissingCodes:
    """What the user gave as ``na``."""
    if na is None:
        return NO_CODES
    if isinstance(na, MissingCodes):
        return na
    if isinstance(na, Mapping):
        if odd := [name for name in na if not isinstance(name, str)]:
            raise OptionError(f"`na` must be {_ALLOWED}.\n  Found: the column {described(odd[0])}.")
        return MissingCodes((), {str(name): _codes(value) for name, value in na.items()})
    return MissingCodes(_codes(na), {})


def _codes(given: object) -> tuple[Code, ...]:
    one = isinstance(given, str | numbers.Real)
    if not one and not isinstance(given, list | tuple | set | frozenset):
        raise OptionError(f"`na` must be {_ALLOWED}.\n  Found: {described(given)}.")
    found: list[Code] = []
    for code in [given] if one else list(given):  # type: ignore[call-overload]
        if isinstance(code, str):
            found.append(code.strip())
        elif isinstance(code, numbers.Real) and not isinstance(code, bool) and math.isfinite(code):
            value = float(code)
            found.append(int(value) if value.is_integer() else value)
        else:
            raise OptionError(
                "Codes in `na` must be text or finite numbers: missing values need no code.\n"
                f"  Found: {described(code)}."
            )
    return tuple(dict.fromkeys(found))


def _without(column: pd.Series[Any], codes: tuple[Code, ...], kind: str | None) -> Any:
    """The column without codes; None if it stays as it is."""
    texts = [code for code in codes if isinstance(code, str)]
    values = [code for code in codes if not isinstance(code, str)]
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        left = [v for v in dtype.categories if not _is_code(v, texts, values)]
        return column.cat.set_categories(left) if len(left) < len(dtype.categories) else None
    if pd.api.types.is_bool_dtype(dtype):
        return None
    if pd.api.types.is_numeric_dtype(dtype):
        if not values or pd.api.types.is_complex_dtype(dtype):
            return None
        stored = getattr(dtype, "numpy_dtype", dtype)  # -9.9 is another number in 32 bits
        here = np.array(values, dtype=np.float32 if stored == np.float32 else np.float64)
        return _masked(column, np.isin(column.to_numpy(dtype=np.float64, na_value=np.nan), here))
    if not (pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype)):
        return None
    each = (_is_code(v, texts, values) for v in column.to_numpy(dtype=object))
    done = _masked(column, np.fromiter(each, dtype=bool, count=len(column)))
    done = column if done is None and kind == "number" else done
    if done is None or kind == "text" or not bool(done.notna().any()):
        return done
    try:
        number = pd.to_numeric(done.astype(object))
    except (ValueError, TypeError):
        return done
    return number.mask(number.isin(values)) if values else number


def _check_kind(column: pd.Series[Any], name: str, codes: tuple[Code, ...]) -> None:
    """Raise an OptionError if all codes are numbers and all values text: none would be found."""
    held = list(getattr(column.dtype, "categories", column.dropna().unique()))
    are_texts = len(held) and all(isinstance(v, str) for v in held)
    if are_texts and not any(isinstance(c, str) for c in codes):
        raise OptionError(
            f"Codes in `na` must be text for {quoted(name)}, which holds text.\n"
            f"  Found: {listing(codes, 6)}; the column holds {listing(held, 6)}.\n"
            "  Values with labels in a file of Stata, SPSS or SAS are named by their labels."
        )


def _is_code(value: object, texts: list[str], values: list[int | float]) -> bool:
    if isinstance(value, str):
        return value.strip() in texts
    value = float(value) if isinstance(value, Decimal) else value
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and value in values


def _masked(column: pd.Series[Any], flags: Any) -> pd.Series[Any] | None:
    return column.mask(flags) if bool(flags.any()) else None
