"""Single values from users: NumPy scalars become Python's, and nothing else is accepted."""

from __future__ import annotations

import inspect
import math
import os
import re
import reprlib
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from treeselect.errors import OptionError, did_you_mean, listing, near_or, quoted

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_Made = TypeVar("_Made")

_LONGEST = 120
"""Maximum number of characters of a value in a message."""


class NotGiven(str):
    """A default value that behaves as text and can be recognised as not supplied by the user."""

    __slots__ = ()


def whole(value: object) -> int | None:
    """A whole number as a Python int; None for anything else, including bool."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
        return int(value)
    return None


def finite(value: object) -> int | float | None:
    """A finite number as a Python float or int; None for anything else."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return whole(value)


def truth(value: object) -> bool | None:
    """A Python bool; None for anything else, including 0 and 1."""
    return bool(value) if isinstance(value, bool | np.bool_) else None


def plain(value: object) -> object:
    """A NumPy scalar as Python's; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def answer(value: object, name: str) -> object:
    """An attribute of any value; None if it has none or reading it fails."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def described(value: object) -> str:
    """Any value in a message: as it could be typed, on one line, and short. The type is added where
    the text does not show it; arrays are described by their shape."""
    value = plain(value)
    kind = type(value).__name__[:_LONGEST]
    if isinstance(value, type):
        return f"the class {value.__name__[:_LONGEST]}"
    shape = answer(value, "shape")
    if isinstance(shape, tuple) and shape and all(type(n) is int for n in shape):
        return f"{kind} of shape {shape}"
    try:
        text = " ".join(_SHORT.repr(value).split())
    except Exception:  # a foreign repr, or a number with more digits than Python prints
        return f"a value of type {kind}"
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    told = type(value).__module__ == "builtins" or kind in text
    return text if told else f"{text} ({kind})"


class _Short(reprlib.Repr):
    """Representations limited to the length that can be shown."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = 2 * _LONGEST
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 12

    def repr_int(self, x: int, level: int) -> str:
        return repr(x)  # of too many digits an error; Python 3.14 would show an address

    def repr_instance(self, x: object, level: int) -> str:
        return re.sub(r" at 0x[0-9a-fA-F]+", "", super().repr_instance(x, level))


_SHORT = _Short()


# --- Checks of arguments, once, where the user supplies them; NumPy scalars become Python's ------
# A value may be of any type: its type is checked before any comparison, because arrays compare
# element by element, ``pandas.NA`` has no truth value, and foreign objects may behave in any way.
# For the same reason messages show values only by ``scalars.described``.

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

MOST_DIGITS = 10  # in print
MOST_RESAMPLES = 100_000  # of a fit
MOST_REPEATS = 10_000  # of cross-validation, and splits of an inference
MOST_FOLDS = 1_000_000  # whatever the number of rows
MOST_SEED = 2**64 - 1  # also the largest that `stream_seed` returns: 64 bits


# --- one value -----------------------------------------------------------------------------------


def is_one_of(value: object, allowed: Iterable[str]) -> TypeIs[str]:
    """Whether a value is text and one of those allowed."""
    return isinstance(value, str) and value in allowed


def found_near(value: object, known: Iterable[str], way: str = "") -> str:
    """The line of a message that shows the value found, with a `way` out if no name is near."""
    return f"  Found: {described(value)}. {near_or(value, known, way)}".rstrip()


def not_found(name: object, argument: str, known: Iterable[str], what: str) -> OptionError:
    """The error for a name in an argument that is none of what is known, ``"terms"``."""
    known = list(dict.fromkeys(known))
    text = name if isinstance(name, str) else described(name)
    way = near_or(text, known, f"{what.capitalize()}: {listing(known)}.")
    return OptionError(
        f"Can't find {quoted(text)}, named in `{argument}`, among the {what}.\n  {way}"
    )


def check_choice(
    name: str, value: object, allowed: Sequence[str], meant: Mapping[str, str] | None = None
) -> None:
    """Raise an OptionError unless `value` is allowed; `meant` maps names used elsewhere."""
    if not is_one_of(value, allowed):
        other = (meant or {}).get(value) if isinstance(value, str) else None
        found = found_near(value, allowed)
        if other is not None:
            found = f"  Found: {value!r}. {did_you_mean([other])}"
        raise OptionError(f"`{name}` must be one of {listing(allowed)}.\n{found}")


def check_rule(value: str, sizes: str = "a whole number", rules: Sequence[str] = RULES) -> None:
    """Raise an OptionError unless the text is a rule for `k`; `sizes` names what else is."""
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
    return check_between(name, value, 0, 1)


def check_level(value: object, interval: object, way: str = 'interval="prediction"') -> float:
    """The level of an interval; an OptionError if it is not the default and there is none."""
    level = check_share("level", value)
    if level != 0.95 and not interval:
        raise OptionError(
            "`level` must be left out without an interval.\n"
            f"  Found: {level:g}. Write `{way}, level={level:g}`."
        )
    return level


def check_between(name: str, value: object, least: float, most: float = math.inf) -> float:
    """The value as a Python float; an OptionError unless it is between two others."""
    found = finite(value)
    if found is None or not least < found < most:
        bounds = [f"above {least:.6g}"] if math.isfinite(least) else []
        bounds += [f"below {most:.6g}"] if math.isfinite(most) else []
        raise OptionError(
            f"`{name}` must be a number{' ' if bounds else ''}{' and '.join(bounds)}.\n"
            f"  Found: {described(value)}."
        )
    return float(found)


def read_seed(seed: object, name: str = "seed") -> int:
    """The seed as a Python int, a random one if it is None; every user's seed passes here."""
    if seed is None:
        return secrets.randbelow(2**31)
    return check_count(name, seed, least=0, most=MOST_SEED)


# --- several values ------------------------------------------------------------------------------


def read_mapping(name: str, value: object, what: str) -> Mapping[Any, Any]:
    """A dictionary unchanged; an empty one for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise OptionError(f"`{name}` must be a dictionary {what}.\n  Found: {described(value)}.")
    return value


def members(value: object) -> list[Any] | None:
    """The elements of a collection; None for anything else, such as text and tables."""
    if isinstance(value, str | bytes | bytearray | memoryview) or not isinstance(value, Iterable):
        return None
    shape = answer(value, "shape")
    is_table = isinstance(shape, tuple) and len(shape) != 1
    return None if is_table else _tried(list, value)


def numbers_in(value: object, holds: Callable[[float], bool]) -> list[float]:
    """The numbers in an argument that takes several; none unless a condition holds for all."""
    found = [finite(one) for one in members(value) or ()]
    known = [float(one) for one in found if one is not None and holds(one)]
    return known if len(known) == len(found) else []


def read_names(name: str, value: object) -> list[str]:
    """The names in an argument that takes one or several; empty for None."""
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


def _tried(read: Callable[[Any], _Made | None], value: object) -> _Made | None:
    """What a function makes of any value; None if it fails, as foreign code can in any way."""
    try:
        return read(value)
    except MemoryError:
        raise
    except Exception:
        return None


def as_floats(value: object) -> NDArray[np.float64] | None:
    """An array of any library as floats, NaN where missing; None if it is not numeric."""
    return _tried(_floats, value)


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
    """Code of each label, in order of appearance, -1 where missing; None if not labels."""
    return _tried(_group_numbers, value)


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
    return _tried(len, value)


def values_text(value: object) -> str:
    """The value found in place of one value per row, in words."""
    n = length(value)
    is_list = isinstance(value, list | tuple) and n is not None
    return f"{type(value).__name__} of {n} values" if is_list else described(value)


# --- Functions supplied by users -----------------------------------------------------------------


def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Parameters by name, in order; empty if unknown, as for some functions written in C."""
    return _tried(lambda given: inspect.signature(given).parameters, function) or {}


# --- Paths from users, and the system's error messages -------------------------------------------


def file_path(path: object, *, name: str = "path", error: type[Exception] = OptionError) -> Path:
    """A path from the user; an error of this type unless a file can have it."""
    found: object = path
    if isinstance(path, os.PathLike):
        found = _tried(lambda given: given.__fspath__(), path)
    if not isinstance(found, str):
        raise error(f"`{name}` must be text or a `pathlib.Path`.\n  Found: {described(path)}.")
    try:
        allowed = bool(found) and b"\0" not in os.fsencode(found)
    except UnicodeEncodeError:  # an unpaired surrogate
        allowed = False
    if not allowed:
        raise error(
            f"`{name}` must be a valid file name: not empty, without NUL and without unpaired"
            f" surrogates.\n  Found: {described(found)}."
        )
    return Path(found)


def current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "(deleted)"
