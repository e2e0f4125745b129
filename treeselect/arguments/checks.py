"""Checks of arguments, once, where the user gives them; numpy's single values become Python's.

A value may be of any type: its type is looked at before it is compared with anything, as an array
compares element by element, ``pandas.NA`` has no truth value, and objects of others may do as they
like. For the same reason messages show values by ``scalars.shown`` only.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeselect.arguments.scalars import NotGiven, answer, described, finite, truth, whole
from treeselect.errors import OptionError, did_you_mean, listing, near

if TYPE_CHECKING:
    from typing_extensions import TypeIs

USUAL_SIZE: Any = NotGiven("1se")
"""The default of `k`: the rule of one standard error, unless the method decides by itself."""

USUAL_METHOD = "exchange"
"""The name of the method that selects unless another is given."""

MOST_DIGITS = 10
"""Most digits of numbers in print."""

MOST_RESAMPLES = 100_000
"""Most resamples of a fit."""

MOST_REPEATS = 10_000
"""Most repeats of folds, and most splits of an inference."""

MOST_FOLDS = 1_000_000
"""Most folds that can be asked for, whatever the number of rows."""

MOST_SEED = 2**64 - 1
"""Largest seed, and the largest that `stream_seed` gives: 64 bits."""


# --- one value -----------------------------------------------------------------------------------


def is_one_of(value: object, allowed: Iterable[str]) -> TypeIs[str]:
    """Whether it is text, and one of the allowed."""
    return isinstance(value, str) and value in allowed


def found_near(value: object, known: Iterable[str], way: str = "") -> str:
    """The line of a message that says what was found in place of a known name.

    Parameters
    ----------
    way : str
        What is said where no known name resembles it.
    """
    close = near(value, known) if isinstance(value, str) else []
    return f"  Found: {described(value)}. {did_you_mean(close) if close else way}".rstrip()


def check_choice(
    name: str, value: object, allowed: Sequence[str], meant: Mapping[str, str] | None = None
) -> None:
    """Raise an OptionError unless `value` is one of the allowed; `meant` are these by names that
    they have elsewhere."""
    if not is_one_of(value, allowed):
        other = (meant or {}).get(value) if isinstance(value, str) else None
        found = found_near(value, allowed)
        if other is not None:
            found = f"  Found: {value!r}. {did_you_mean([other])}"
        raise OptionError(f"`{name}` must be one of {listing(allowed)}.\n{found}")


def check_flag(name: str, value: object) -> bool:
    """The truth value as Python's; an OptionError unless it is one."""
    found = truth(value)
    if found is None:
        raise OptionError(f"`{name}` must be True or False.\n  Found: {described(value)}.")
    return found


def check_count(name: str, value: object, *, least: int, most: int | None = None) -> int:
    """The whole number as Python's; an OptionError unless it is from `least` to `most`."""
    found = whole(value)
    if found is None or found < least or (most is not None and found > most):
        bounds = f"at least {least}" + ("" if most is None else f", at most {most:,}")
        raise OptionError(
            f"`{name}` must be a whole number, {bounds}.\n  Found: {described(value)}."
        )
    return found


def check_digits(value: object) -> int | None:
    """Digits of numbers in print, from 1 to 10; None for those that they have by themselves."""
    return None if value is None else check_count("digits", value, least=1, most=MOST_DIGITS)


def check_resamples(value: object) -> int:
    """A number of resamples: none, or enough to tell whether they agree."""
    found = check_count("resamples", value, least=0, most=MOST_RESAMPLES)
    if found == 1:
        raise OptionError(
            "`resamples` must be 0 or at least 2: one alone can't tell what another would say.\n"
            "  Found: 1."
        )
    return found


def check_number(name: str, value: object, *, least: float, most: float) -> float:
    """The number as Python's; an OptionError unless it is from `least` to `most`."""
    found = finite(value)
    if found is None or not least <= found <= most:
        raise OptionError(
            f"`{name}` must be a number from {least:g} to {most:g}.\n  Found: {described(value)}."
        )
    return float(found)


def check_share(name: str, value: object) -> float:
    """The number as Python's; an OptionError unless it is above 0 and below 1."""
    found = finite(value)
    if found is None or not 0 < found < 1:
        raise OptionError(
            f"`{name}` must be a number above 0 and below 1.\n  Found: {described(value)}."
        )
    return float(found)


def read_seed(seed: object, name: str = "seed") -> int:
    """The seed as Python's, one that is drawn where it is None.

    Every seed that a user gives comes through here.

    Parameters
    ----------
    seed : int or None
    name : str
        What the argument is called.

    Raises
    ------
    OptionError
        If it is not a whole number from 0 to 2**64 - 1.
    """
    if seed is None:
        return secrets.randbelow(2**31)
    return check_count(name, seed, least=0, most=MOST_SEED)


# --- several values ------------------------------------------------------------------------------


def read_mapping(name: str, value: object, what: str) -> Mapping[Any, Any]:
    """A dictionary as it is, an empty one for None.

    Raises
    ------
    OptionError
        If it is something else.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise OptionError(f"`{name}` must be a dictionary {what}.\n  Found: {described(value)}.")
    return value


def members(value: object) -> list[Any] | None:
    """What is in a list or another collection; None if it is none, or fails to tell.

    Text is no collection of letters here, nor are bytes one of numbers, or a table one of columns.
    """
    if isinstance(value, str | bytes | bytearray | memoryview) or not isinstance(value, Iterable):
        return None
    shape = answer(value, "shape")
    if isinstance(shape, tuple) and len(shape) != 1:
        return None
    try:
        return list(value)
    except MemoryError:
        raise
    except Exception:  # an array without dimensions, or code of others
        return None


def read_names(name: str, value: object) -> list[str]:
    """Names of an argument that takes one or several; none for None.

    Raises
    ------
    OptionError
        If it is something else.
    """
    if value is None or isinstance(value, str):
        return [value] if value else []
    names = None if isinstance(value, Mapping) else members(value)
    odd = [value] if names is None else [n for n in names if not isinstance(n, str)]
    if odd:
        raise OptionError(
            f"`{name}` must be a name or a list of names.\n  Found: {described(odd[0])}."
        )
    return names or []


# --- one value per row ---------------------------------------------------------------------------


def as_floats(value: object) -> NDArray[np.float64] | None:
    """Numbers of an array of any library, NaN where they are missing; None if they are no numbers.

    Their shape is that of `value`.
    """
    try:
        return _floats(value)
    except MemoryError:
        raise
    except Exception:  # what converts itself to an array can fail in any way
        return None


def _floats(value: Any) -> NDArray[np.float64] | None:
    import pandas as pd

    if isinstance(value, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        value = pd.Series(value)
        if pd.api.types.is_numeric_dtype(value.dtype) and value.dtype.kind != "c":
            return np.asarray(value.to_numpy(dtype=np.float64, na_value=np.nan))
        value = value.to_numpy()
    if isinstance(value, np.ma.MaskedArray):
        value = np.ma.filled(value.astype(np.float64), np.nan)
    array = np.asarray(value)
    return np.asarray(array, dtype=np.float64) if array.dtype.kind in "biufOUS" else None


def as_group_numbers(value: object) -> NDArray[np.int64] | None:
    """Number of each distinct label, in order of appearance, -1 where it is missing.

    None if they are no labels, or not one after the other.
    """
    try:
        return _group_numbers(value)
    except MemoryError:
        raise
    except Exception:  # labels that can't be told apart, or code of others
        return None


def _group_numbers(value: Any) -> NDArray[np.int64] | None:
    import pandas as pd

    if isinstance(value, np.ma.MaskedArray):
        value = np.ma.filled(value.astype(object), None)
    if answer(value, "dtype") is None:
        value = np.fromiter(value, dtype=object)  # numpy would make text of what is missing
    array = value if isinstance(value, pd.Series | pd.Categorical) else np.asarray(value)
    return np.asarray(pd.factorize(array)[0], dtype=np.int64) if array.ndim == 1 else None


def length(value: object) -> int | None:
    """How many values there are; None if that can't be told."""
    try:
        return len(value)  # type: ignore[arg-type]
    except Exception:
        return None


def values_text(value: object) -> str:
    """What was found where one value per row was asked for."""
    n = length(value)
    is_list = isinstance(value, list | tuple) and n is not None
    return f"{type(value).__name__} of {n} values" if is_list else described(value)
