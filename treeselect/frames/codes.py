"""Codes for missing values: what ``na=`` says, applied to a frame."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.scalars import described
from treeselect.errors import DataError, OptionError, did_you_mean, listing, near

if TYPE_CHECKING:
    import pandas as pd

Code = str | int | float
Codes = Code | Iterable[Code] | Mapping[str, Code | Iterable[Code]] | None
"""What ``na=`` takes."""

_ALLOWED = "a code such as '?' or -9, a list of codes, or a dictionary from columns to these"


@dataclass(frozen=True, slots=True)
class MissingCodes:
    """Codes for missing values.

    Attributes
    ----------
    everywhere : tuple of str, int or float
        Codes in every column.
    by_column : dict of str to tuple of str, int or float
        Codes in one column, by its name.
    """

    everywhere: tuple[Code, ...] = ()
    by_column: Mapping[str, tuple[Code, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.everywhere or self.by_column)

    def applied(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with missing values in the place of codes.

        Codes that are text are compared with text, numbers with numbers; blanks around text do not
        count. A column of text that holds nothing but numbers without its codes becomes numeric.
        """
        done = {}
        for name in frame.columns:
            codes = (*self.everywhere, *self.by_column.get(name, ()))
            if codes and (new := _without(frame[name], codes)) is not None:
                done[name] = new
        return frame.assign(**done) if done else frame

    def check(self, columns: Iterable[str]) -> None:
        """Raise an OptionError if a column is not there."""
        columns = list(columns)
        unknown = [name for name in self.by_column if name not in columns]
        if unknown:
            close = near(unknown[0], columns)
            raise OptionError(
                f"`na` must name columns of `data`.\n  Not found: {listing(unknown)}."
                f" {did_you_mean(close) if close else f'Columns: {listing(columns)}.'}"
            )


NO_CODES = MissingCodes()


def read_codes(na: object) -> MissingCodes:
    """What the user gave as ``na``.

    Raises
    ------
    OptionError
        If it is neither None nor codes.
    """
    if na is None:
        return NO_CODES
    if isinstance(na, MissingCodes):
        return na
    if isinstance(na, Mapping):
        odd = next((name for name in na if not isinstance(name, str)), None)
        if odd is not None:
            raise OptionError(f"`na` must be {_ALLOWED}.\n  Found: the column {described(odd)}.")
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


def _without(column: pd.Series[Any], codes: tuple[Code, ...]) -> pd.Series[Any] | None:
    """The column without codes; None if it has none of them."""
    import pandas as pd

    texts = [code for code in codes if isinstance(code, str)]
    values = [code for code in codes if not isinstance(code, str)]
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        gone = [v for v in dtype.categories if _is_code(v, texts, values)]
        return column.cat.remove_categories(gone) if gone else None
    if pd.api.types.is_bool_dtype(dtype):
        return None
    if pd.api.types.is_numeric_dtype(dtype):
        if not values or pd.api.types.is_complex_dtype(dtype):
            return None
        here = np.isin(column.to_numpy(dtype=np.float64, na_value=np.nan), values)
        return _masked(column, here)
    if not (pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype)):
        return None
    each = (_is_code(v, texts, values) for v in column.to_numpy(dtype=object))
    done = _masked(column, np.fromiter(each, dtype=bool, count=len(column)))
    if done is None:
        return None
    number = _as_numbers(done)
    if number is None:
        return done
    return number.mask(number.isin(values)) if values else number


def _is_code(value: object, texts: list[str], values: list[int | float]) -> bool:
    if isinstance(value, str):
        return value.strip() in texts
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and value in values


def _masked(column: pd.Series[Any], flags: Any) -> pd.Series[Any] | None:
    return column.mask(flags) if bool(flags.any()) else None


def _as_numbers(column: pd.Series[Any]) -> pd.Series[Any] | None:
    """Text as numbers, if all of it is; None otherwise."""
    import pandas as pd

    if not bool(column.notna().any()):
        return None
    try:
        return pd.to_numeric(column.astype(object))
    except (ValueError, TypeError):
        return None


def codes_record(codes: MissingCodes) -> list[Any]:
    """For a model file."""
    return [list(codes.everywhere), [[name, list(own)] for name, own in codes.by_column.items()]]


def codes_from(record: Any) -> MissingCodes:
    """From a model file.

    Raises
    ------
    DataError
        If it does not hold codes.
    """
    if record is None:
        return NO_CODES
    try:
        everywhere, by_column = record
        return MissingCodes(_codes(everywhere), {str(n): _codes(own) for n, own in by_column})
    except (OptionError, TypeError, ValueError):
        raise DataError("The codes for missing values are damaged.") from None
