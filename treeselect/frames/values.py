"""The internal form of one column of the user's data.

A column is a :class:`Numbers` (float64, NaN for missing) or a :class:`Labels` (codes and levels).
Everything that differs between dtypes and libraries ends here.
"""

from __future__ import annotations

import datetime
import keyword
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from treeselect.arguments.checks import described
from treeselect.errors import DataError, column_code, listing, literal, quoted, shortened
from treeselect.shown import is_broken

_NUMBERS = (int, float, np.integer, np.floating, Decimal)
_SPANS = (datetime.timedelta, np.timedelta64)

LARGEST_WHOLE = 2.0**53
"""From here on float64 does not hold every whole number."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A numeric column; NaN is missing. Its values are a view of the frame's memory where that is
    possible. Logical values are 0 and 1. Integers are such by type, or because all known values are
    whole: pandas has no other way to hold whole numbers with missing values."""

    values: NDArray[np.float64]
    is_bool: bool = False
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class Labels:
    """A column of labels: the position of each in `levels`, -1 where it is missing. The levels are
    the declared categories, perhaps in an order that has a meaning, or the labels found, sorted."""

    codes: NDArray[Any]
    levels: tuple[Any, ...]
    declared: bool = False
    ordered: bool = False


def recoded(labels: Labels, levels: Sequence[Any], unknown: int = -1) -> NDArray[Any]:
    """Codes of labels by other levels, `unknown` if they are none of these; -1 if missing."""
    place = {level: code for code, level in enumerate(levels)}
    return np.array([*(place.get(v, unknown) for v in labels.levels), -1])[labels.codes]


def read_column(series: pd.Series[Any], name: str) -> Numbers | Labels:
    """The internal form of a column of numbers, truth values, text or categories, of any pandas,
    nullable or Arrow dtype; an error names it so."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype == np.float64:  # soon, for thousands of columns
        values = _finite(series.to_numpy(), name)
        return Numbers(values, is_integer=_is_whole(values, dtype))
    kind = getattr(dtype, "kind", "O")
    if isinstance(dtype, pd.CategoricalDtype):
        levels = dtype.categories.tolist()
        if dtype.categories.dtype == np.float32:  # 0.1 is not 0.10000000149011612
            levels = dtype.categories.to_numpy().astype(str).astype(np.float64).tolist()
        return Labels(
            series.cat.codes.to_numpy(),
            _readable(levels, name),
            declared=True,
            ordered=bool(dtype.ordered),
        )
    if isinstance(dtype, pd.ArrowDtype) and "dictionary" in str(dtype):
        return read_column(pa.chunked_array([pa.array(series)]).to_pandas(), name)
    if str(dtype) == "null[pyarrow]":
        return Labels(np.full(len(series), -1), ())
    if kind in "mM" or isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype):
        raise _not_usable(series, name)
    if kind == "c":
        raise DataError(
            f"Column {quoted(name)} must hold real numbers.\n"
            "  Found: complex numbers. Use the real and imaginary parts as two columns."
        )
    if pd.api.types.is_bool_dtype(dtype):
        return Numbers(_floats(series), is_bool=True)
    if pd.api.types.is_numeric_dtype(dtype):
        values = _finite(_floats(series), name)
        if pd.api.types.is_integer_dtype(dtype):
            _check_apart(values, series, name)
        return Numbers(values, is_integer=_is_whole(values, dtype))
    if not pd.api.types.is_object_dtype(dtype) and pd.api.types.is_string_dtype(dtype):
        return _labels(series, name)
    return _read_objects(series, name)


def with_columns(frame: pd.DataFrame, new: Mapping[str, Any]) -> pd.DataFrame:
    """The frame with these columns, one of which may be called "self", unlike in ``assign``."""
    frame = frame.copy(deep=False)
    for name, column in new.items():
        frame[name] = column
    return frame


def to_series(column: Numbers | Labels, index: Any = None) -> pd.Series[Any]:
    """A pandas column of the type that the user sees; :func:`read_column` reads it as `column`.
    Truth values and whole numbers have a nullable type only where values are missing."""
    if isinstance(column, Labels):
        if column.declared:
            kind = pd.CategoricalDtype(list(column.levels), ordered=column.ordered)
            return pd.Series(pd.Categorical.from_codes(column.codes, dtype=kind), index)
        levels = np.empty(len(column.levels) + 1, dtype=object)
        levels[:-1] = column.levels
        levels[-1] = None
        return pd.Series(levels[column.codes], index, dtype=object)
    known = ~np.isnan(column.values)
    if column.is_bool:
        return pd.Series(_maybe_missing(column.values, known, np.bool_), index)
    if column.is_integer and np.all(abs(column.values[known]) < LARGEST_WHOLE):
        return pd.Series(_maybe_missing(column.values, known, np.int64), index)
    return pd.Series(column.values, index)


def _maybe_missing(values: NDArray[np.float64], known: NDArray[np.bool_], kind: type) -> Any:
    if np.all(known):
        return values.astype(kind)
    nullable = pd.arrays.BooleanArray if kind is np.bool_ else pd.arrays.IntegerArray
    return nullable(np.where(known, values, 0).astype(kind), ~known)


def _is_whole(values: NDArray[np.float64], dtype: Any) -> bool:
    if dtype != np.float64 and pd.api.types.is_integer_dtype(dtype):
        return True
    missing = np.isnan(values)
    if not missing.any():
        return False
    known = values[~missing]
    return len(known) > 0 and bool((known == np.floor(known)).all())


def _read_objects(series: pd.Series[Any], name: str) -> Numbers | Labels:
    """Python objects: text, truth values or numbers, but only one of these."""
    present = series[series.notna()]
    kinds = {type(value) for value in present}
    if not kinds:
        return Labels(np.full(len(series), -1), ())
    if all(issubclass(kind, str) for kind in kinds):
        return _labels(series, name)
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return Numbers(_floats(series), is_bool=True)
    if all(issubclass(kind, _NUMBERS) and not issubclass(kind, bool) for kind in kinds):
        values = _finite(_floats(series), name)
        whole = all(issubclass(kind, int | np.integer) for kind in kinds)
        if whole:
            _check_apart(values, series, name)
        return Numbers(values, is_integer=whole or _is_whole(values, series.dtype))
    dates = (pd.Period, *_SPANS)
    if any(hasattr(kind, "isoformat") or issubclass(kind, dates) for kind in kinds):
        raise _not_usable(series, name)
    raise _mixed(present, name, kinds)


def _readable(levels: Iterable[Any], name: str) -> tuple[Any, ...]:
    """Levels of which none holds half a character and no two are written alike: tables, rules of
    trees and files know them by their text."""
    by_text: dict[str, Any] = {}
    for level in levels:
        if isinstance(level, str) and is_broken(level):
            raise DataError(
                f"Column {quoted(name)} must hold valid text.\n"
                f"  Found: {quoted(level)}, which contains an incomplete character (a lone"
                " surrogate): it was probably read in the wrong encoding.\n"
                '  Repair it, for example with `.str.encode("utf-8", "replace").str.decode()`.'
            )
        twin = by_text.setdefault(str(level), level)
        if twin is not level:
            raise DataError(
                f"Categories of column {quoted(name)} must differ in their text.\n"
                f"  Found: {described(twin)} and {described(level)}.\n"
                "  Rename one with `.cat.rename_categories()`; or use"
                f" `{column_code(name)}.map(str, na_action='ignore')`, which makes them one."
            )
    return tuple(by_text.values())


def _labels(series: pd.Series[Any], name: str) -> Labels:
    codes, distinct = pd.factorize(series, use_na_sentinel=True)
    found = [str(level) for level in distinct]
    order = sorted(range(len(found)), key=found.__getitem__)
    position = np.empty(len(found) + 1, dtype=np.int32)
    position[order] = np.arange(len(found))
    position[-1] = -1  # code -1, missing, stays -1
    return Labels(position[codes], _readable((found[i] for i in order), name))


def _floats(series: pd.Series[Any]) -> NDArray[np.float64]:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiu":
        return series.to_numpy(dtype=np.float64)
    try:
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError:  # Python's whole numbers have no largest one
        values, most = series.to_numpy(na_value=np.nan), sys.float_info.max
        return np.array([math.inf if abs(v) > most else v for v in values], dtype=np.float64)


def _check_apart(values: NDArray[np.float64], series: pd.Series[Any], name: str) -> None:
    """Raise a DataError if different whole numbers are the same in float64."""
    largest = np.nanmax(np.abs(values), initial=0)
    if largest >= LARGEST_WHOLE and series.nunique() > len(pd.unique(values[~np.isnan(values)])):
        raise DataError(
            f"Column {quoted(name)} must hold whole numbers that stay distinct in double precision"
            f" (up to 2^53).\n  Found: different numbers that become equal, up to {largest:.3g}.\n"
            f"  Use `{column_code(name)}.astype(str)` for identifiers; or subtract a constant."
        )


def _finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    infinite = np.isinf(values)
    if infinite.any():
        rows = np.flatnonzero(infinite)
        raise DataError(
            f"Column {quoted(name)} must be finite.\n"
            f"  Found: {len(rows)} infinite value{'s' if len(rows) > 1 else ''}, the first in row"
            f" {rows[0]} (counted from 0).\n"
            "  Replace them, for example `data.replace([np.inf, -np.inf], np.nan)` in pandas:"
            " terms may have missing values."
        )
    return values


def _not_usable(series: pd.Series[Any], name: str) -> DataError:
    """The error for a column of dates and the like, with code that makes numbers of it."""
    found, way = _converted(series, column_code(name))
    return DataError(
        f"Column {quoted(name)} must hold numbers, text or categories.\n"
        f"  Found: {found} ({series.dtype}).\n"
        f"  Convert it to numbers, for example `{way}` in pandas."
    )


def _converted(series: pd.Series[Any], column: str) -> tuple[str, str]:
    kinds = {type(value) for value in series[series.notna()]}

    def holds(*wanted: type) -> bool:
        return bool(kinds) and all(issubclass(kind, wanted) for kind in kinds)

    if isinstance(series.dtype, pd.IntervalDtype):
        return "intervals", f"pandas.IntervalIndex({column}).mid"
    if holds(*_SPANS) or getattr(series.dtype, "kind", "O") == "m":
        return "time spans", f"pandas.to_timedelta({column}).dt.total_seconds()"
    if holds(datetime.time):
        seconds = f"pandas.to_timedelta({column}.astype(str), errors='coerce').dt.total_seconds()"
        return "times of day", seconds
    if holds(pd.Period):  # the year of a missing one would be -1
        return "periods", f"pandas.PeriodIndex({column}).to_timestamp().year"
    if series.dtype == object:
        return "dates or times", f"pandas.to_datetime({column}, errors='coerce').dt.year"
    return "dates or times", f"{column}.dt.year"


def _mixed(present: pd.Series[Any], name: str, kinds: set[type]) -> DataError:
    """The error for Python objects of several types, or of none that is a value."""
    texts = [v for v in present if isinstance(v, str)]
    column = column_code(name)
    factor = f"`{column}.map(str, na_action='ignore')` for a factor"
    if texts and all(issubclass(k, (str, *_NUMBERS)) and not issubclass(k, bool) for k in kinds):
        codes = list(dict.fromkeys(texts))
        few = ", ".join(map(literal, codes[:3]))
        found = f"numbers and text, for example {few}"
        ways = [f"`pandas.to_numeric({column}, errors='coerce')`, which makes text missing"]
        if len(codes) <= 3:
            code = shortened(f"na={{{name!r}: [{few}]}}")
            ways.insert(0, f"`{code}` if this text stands for missing values")
    else:
        named = ", ".join(sorted(kind.__name__ for kind in kinds))
        found = f"Python objects of type {named}, for example {described(present.iloc[0])}"
        ways = [f"`{column}.astype(float)`"] if kinds == {Fraction} else []
    return DataError(
        f"Column {quoted(name)} must hold only numbers, only text or only logical values.\n"
        f"  Found: {found}.\n"
        f"  Use {'; or '.join([*ways, factor])}."
    )


# --- Names of columns: which are allowed, and how a formula writes them --------------------------

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
            f"  Found: {', '.join(f'{described(n)} ({type(n).__name__})' for n in odd[:5])}"
            f"{' and more' if len(odd) > 5 else ''}.\n"
            '  Rename them, for example `data.columns = [f"x{name}" for name in data.columns]`.'
        )
    check_different(frame.columns)


def check_different(names: Iterable[str]) -> None:
    if twice := [name for name, n in Counter(names).items() if n > 1]:
        raise DataError(
            "Column names of `data` must be unique.\n"
            f"  Found more than once: {listing(twice)}.\n"
            "  Rename or drop the duplicates."
        )


# --- Numbers that are stored as text -------------------------------------------------------------

_MARKED = re.compile(r"[^\w.,+-]*([+-]?\d[\d.,]*)\s*([^\d.,]{0,8})")
"""A number with a sign such as € or < before it, and a percent sign or a unit behind it."""

_DATE = re.compile(r"(\d{4}-\d\d?-\d\d?|\d\d?([./-])\d\d?\2\d\d(\d\d)?)\b.*")
"""A date in digits, perhaps with a time behind it."""

_LEAST, _MOST_CODES = 3, 5
"""Fewest numbers, and most other texts, of a column of numbers."""


@dataclass(frozen=True, slots=True)
class NumberText:
    """What was found in a column of text that holds numbers or dates: an example; texts that are no
    numbers; and Python code that makes numbers of a column, with `{}` in its place and codes
    missing, None if pandas reads them as they are."""

    example: str
    codes: tuple[str, ...] = ()
    is_date: bool = False
    code: str | None = None

    def conversion(self, column: str) -> str:
        """Python code that makes numbers of the column; codes become missing."""
        return (self.code or _PLAIN).replace("{}", column_code(column))


_PLAIN = "pandas.to_numeric({}, errors='coerce')"
_DATES = "pandas.to_datetime({}, format='mixed', errors='coerce').dt.year"


def number_text(levels: Sequence[object]) -> NumberText | None:
    """Numbers or dates among the levels of a column of text; None if they are not most of them."""
    texts = pd.Series([str(level) for level in levels], dtype=object)
    dates = [date for text in texts if (date := _DATE.fullmatch(text.strip()))]
    if len(dates) >= max(_LEAST, 3 * (len(texts) - len(dates))):
        return NumberText(dates[0][0], is_date=True, code=_DATES)
    is_plain = pd.to_numeric(texts, errors="coerce").notna()
    found = {text: _MARKED.fullmatch(text.strip()) for text in texts[~is_plain]}
    marked = [text for text, match in found.items() if match]
    codes = tuple(text for text, match in found.items() if not match)
    n_units = len({match[2] for match in found.values() if match})
    few = int(is_plain.sum()) + len(marked) < max(_LEAST, 3 * len(codes))
    if few or len(codes) > _MOST_CODES or n_units > 1:
        return None
    if not marked:
        return NumberText(str(texts[is_plain].iloc[0]), codes)
    decimal = any(re.search(r"(?<!\d)0,|\.\d+,|,(?!\d{3}\b)", text) for text in marked)
    text = "{}" + ".str.replace('.', '').str.replace(',', '.')" * decimal
    text += r".str.replace(r'[^\d.+-]', '', regex=True)"
    return NumberText(marked[0].strip(), codes, code=_PLAIN.replace("{}", text))
