"""Checks of arguments, once, where the user supplies them; NumPy scalars become Python's.

A value may be of any type: its type is checked before any comparison, because arrays compare
element by element, ``pandas.NA`` has no truth value, and foreign objects may behave in any way. For
the same reason messages show values only by ``scalars.described``.
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

AUTO = "auto"
"""The rule of the smallest sufficient set."""

USUAL_SIZE: Any = NotGiven(AUTO)
"""The default of `k`: the smallest sufficient set, unless the method determines the number."""

USUAL_SCORE_RULE: Any = NotGiven("1se")
"""The default of `k` where methods are compared: by held-out scores."""

SCORE_RULES = ("1se", "best")
"""Rules by which held-out scores choose `k`."""

RULES = (AUTO, *SCORE_RULES)
"""Rules by which `k` is chosen."""

USUAL_METHOD = "exchange"
"""The name of the default method."""

MOST_DIGITS = 10
"""Maximum number of printed digits."""

MOST_RESAMPLES = 100_000
"""Maximum number of resamples of a fit."""

MOST_REPEATS = 10_000
"""Maximum number of repeats of cross-validation, and of splits of an inference."""

MOST_FOLDS = 1_000_000
"""Maximum number of folds, whatever the number of rows."""

MOST_SEED = 2**64 - 1
"""Largest seed, also the largest returned by `stream_seed`: 64 bits."""


# --- one value -----------------------------------------------------------------------------------


def is_one_of(value: object, allowed: Iterable[str]) -> TypeIs[str]:
    """Whether a value is text and one of those allowed."""
    return isinstance(value, str) and value in allowed


def found_near(value: object, known: Iterable[str], way: str = "") -> str:
    """The line of a message that shows the value found in place of a known name.

    Parameters
    ----------
    way : str
        The way out if no known name resembles it.
    """
    close = near(value, known) if isinstance(value, str) else []
    return f"  Found: {described(value)}. {did_you_mean(close) if close else way}".rstrip()


def check_choice(
    name: str, value: object, allowed: Sequence[str], meant: Mapping[str, str] | None = None
) -> None:
    """Raise an OptionError unless `value` is allowed; `meant` maps names used elsewhere to allowed
    ones."""
    if not is_one_of(value, allowed):
        other = (meant or {}).get(value) if isinstance(value, str) else None
        found = found_near(value, allowed)
        if other is not None:
            found = f"  Found: {value!r}. {did_you_mean([other])}"
        raise OptionError(f"`{name}` must be one of {listing(allowed)}.\n{found}")


def check_rule(value: str, sizes: str = "a whole number", rules: Sequence[str] = RULES) -> None:
    """Raise an OptionError unless the text is a rule by which `k` is chosen; `sizes` names what is
    allowed beside text."""
    if value not in rules:
        *others, last = (f'"{rule}"' for rule in rules)
        found = found_near(value, rules)
        raise OptionError(f"`k` must be {sizes}, {', '.join(others)} or {last}.\n{found}")


def check_flag(name: str, value: object) -> bool:
    """The value as a Python bool; an OptionError unless it is one."""
    found = truth(value)
    if found is None:
        raise OptionError(f"`{name}` must be True or False.\n  Found: {described(value)}.")
    return found


def check_count(name: str, value: object, *, least: int, most: int | None = None) -> int:
    """The value as a Python int; an OptionError unless it is from `least` to `most`."""
    found = whole(value)
    if found is None or found < least or (most is not None and found > most):
        bounds = f"at least {least}" + ("" if most is None else f", at most {most:,}")
        raise OptionError(
            f"`{name}` must be a whole number, {bounds}.\n  Found: {described(value)}."
        )
    return found


def check_digits(value: object) -> int | None:
    """Number of printed digits, from 1 to 10; None for the default of each number."""
    return None if value is None else check_count("digits", value, least=1, most=MOST_DIGITS)


def check_resamples(value: object) -> int:
    """A number of resamples: 0 or at least 2."""
    found = check_count("resamples", value, least=0, most=MOST_RESAMPLES)
    if found == 1:
        raise OptionError(
            "`resamples` must be 0 or at least 2: a single resample can't show variation.\n"
            "  Found: 1."
        )
    return found


def check_number(name: str, value: object, *, least: float, most: float) -> float:
    """The value as a Python float; an OptionError unless it is from `least` to `most`."""
    found = finite(value)
    if found is None or not least <= found <= most:
        raise OptionError(
            f"`{name}` must be a number from {least:g} to {most:g}.\n  Found: {described(value)}."
        )
    return float(found)


def check_share(name: str, value: object) -> float:
    """The value as a Python float; an OptionError unless it is above 0 and below 1."""
    found = finite(value)
    if found is None or not 0 < found < 1:
        raise OptionError(
            f"`{name}` must be a number above 0 and below 1.\n  Found: {described(value)}."
        )
    return float(found)


def read_seed(seed: object, name: str = "seed") -> int:
    """The seed as a Python int; a random one if it is None.

    Every seed from a user passes through here.

    Parameters
    ----------
    seed : int or None
    name : str
        Name of the argument.

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
    """A dictionary unchanged; an empty one for None.

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
    """The elements of a list or another collection; None for anything else, or if reading fails.

    Text, bytes and tables do not count as collections.
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
    except Exception:  # an array without dimensions, or foreign code
        return None


def read_names(name: str, value: object) -> list[str]:
    """The names in an argument that takes one or several; empty for None.

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
    """An array of any library as floats, NaN where missing; None if it is not numeric.

    The shape is that of `value`.
    """
    try:
        return _floats(value)
    except MemoryError:
        raise
    except Exception:  # conversion to an array can fail in any way
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
    """Code of each distinct label, in order of appearance, -1 where missing.

    None if they are not labels, or not one-dimensional.
    """
    try:
        return _group_numbers(value)
    except MemoryError:
        raise
    except Exception:  # labels that can't be compared, or foreign code
        return None


def _group_numbers(value: Any) -> NDArray[np.int64] | None:
    import pandas as pd

    if isinstance(value, np.ma.MaskedArray):
        value = np.ma.filled(value.astype(object), None)
    if answer(value, "dtype") is None:
        value = np.fromiter(value, dtype=object)  # NumPy would turn missing values into text
    array = value if isinstance(value, pd.Series | pd.Categorical) else np.asarray(value)
    return np.asarray(pd.factorize(array)[0], dtype=np.int64) if array.ndim == 1 else None


def length(value: object) -> int | None:
    """The number of values; None if unknown."""
    try:
        return len(value)  # type: ignore[arg-type]
    except Exception:
        return None


def values_text(value: object) -> str:
    """The value found in place of one value per row, in words."""
    n = length(value)
    is_list = isinstance(value, list | tuple) and n is not None
    return f"{type(value).__name__} of {n} values" if is_list else described(value)
