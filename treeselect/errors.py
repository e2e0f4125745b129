"""The exceptions and warnings of treeselect.

The first line of a message states the problem, with "must" or "can't" and names in backticks; then
come what was found and how to solve it. Messages needed in several places are built by class
methods, so that the same mistake always reads the same. Control characters are escaped: in names by
`quoted`, in the rest of a message when the error is made.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from treeselect.shown import said, shown


class TreeselectError(Exception):
    """Base class of all errors of this package."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*_said(arguments))


class FormulaError(TreeselectError, ValueError):
    """The formula can't be read, or refers to something that is not in the data."""

    @classmethod
    def at(cls, problem: str, formula: str, token: str, *advice: str) -> FormulaError:
        """The error with the place in the user's formula underlined."""
        return cls("\n".join([problem, *_underline(formula, token), *(f"  {a}" for a in advice)]))


class DataError(TreeselectError, ValueError):
    """The data can't be used as they are."""


class NewDataError(DataError):
    """New data do not match the data of the fit."""


class ModelFileError(TreeselectError, ValueError):
    """A model file can't be written or read."""


class OptionError(TreeselectError, ValueError):
    """An argument has a value that is not allowed."""


class MethodError(OptionError):
    """The method or one of its options is unknown or has a value that is not allowed."""


class StabilityError(TreeselectError, ValueError):
    """Stability, or what is computed from it, is not defined."""


class TreeselectWarning(UserWarning):
    """There is a result, but the user should know something about it."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*_said(arguments))


class MissingPackageError(TreeselectError, ImportError):
    """A package that only some calls need is not installed."""


def needed(package: str, extra: str, what: str) -> Any:
    """A package of one of treeselect's extras; `what` needs it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingPackageError(
            f"{what} needs the package {package}, which can't be found.\n"
            f'  Install it: pip install "treeselect[{extra}]"'
        ) from None


class OutOfMemoryError(TreeselectError, MemoryError):
    """The machine has too little memory for the call."""

    def __new__(cls, *arguments: object) -> OutOfMemoryError:
        # MemoryError's own refuses this class, and those who unpickle errors may call it.
        return TreeselectError.__new__(cls, *arguments)


class WorkerError(TreeselectError, RuntimeError):
    """A worker process ended prematurely, or work can't be passed to it."""


class NotBuiltError(TreeselectError, NotImplementedError):
    """Planned, but not in this version."""


def _said(arguments: Iterable[object]) -> Iterable[object]:
    return (said(text) if isinstance(text, str) else text for text in arguments)


_Kind = TypeVar("_Kind", bound=TreeselectError)

_MOST_PROBLEMS = 10
"""Most problems that one error lists."""

_LONGEST = 200
"""Most characters of a name or of a formula in a message."""


def quoted(name: str) -> str:
    """A name in backticks, safe to print."""
    return f"`{shortened(name)}`"


def shortened(text: str) -> str:
    """A text that is safe to print, cut if it is long."""
    return shown(text) if len(text) <= _LONGEST else f"{shown(text[:_LONGEST])} ..."


def literal(value: object) -> str:
    """A value as Python code writes it, cut if it is long."""
    return shortened(repr(value))


def column_code(name: str) -> str:
    """Code that gives a column of the user's data, cut if the name is long."""
    return f"data[{name!r}]" if len(name) <= _LONGEST else f"data[{name[:40]!r} ...]"


def listing(names: Iterable[object], most: int = 12) -> str:
    """Names in backticks, separated by commas: the first `most`, and the number of others."""
    return first_few((quoted(str(name)) for name in names), most)


def first_few(texts: Iterable[str], most: int, sign: str = ", ") -> str:
    """Texts with a sign between them: the first `most`, and the number of others."""
    texts = list(texts)
    more = f"{';' * (sign == '; ')} and {len(texts) - most:,} more" * (len(texts) > most)
    return sign.join(texts[:most]) + more


def in_row(row: int, n_rows: int) -> str:
    """Where a value was found: the first row, and how many there are."""
    return f"in row {row} (counted from 0), {n_rows:,} such row{'s' if n_rows > 1 else ''} in all."


def joined(errors: Sequence[_Kind], what: str, *advice: str) -> _Kind:
    """One error for several, of which the first decides the type: the only one, or all of them in a
    list, under what has the problems and above lines of advice."""
    if len(errors) == 1:
        return type(errors[0])("\n  ".join([str(errors[0]), *advice]))
    lines = [f"{what} has {len(errors)} problems."]
    for number, error in enumerate(errors[:_MOST_PROBLEMS], 1):
        first, *rest = str(error).split("\n")
        lines += [f"  {number}. {first}", *(f"   {line}" for line in rest)]
    if len(errors) > _MOST_PROBLEMS:
        lines.append(f"  And {len(errors) - _MOST_PROBLEMS} more.")
    return type(errors[0])("\n".join([*lines, *(f"  {line}" for line in advice)]))


def said_by(error: BaseException) -> str:
    """An error in one line: the first line of our own, type and first line of others.

    Messages of others may be of any length, or fail to be made.
    """
    try:
        first = next(iter(str(error).strip().splitlines()), "")
    except Exception:
        first = ""
    if isinstance(error, TreeselectError):
        return first
    return f"{type(error).__name__}: {shown(first[: 2 * _LONGEST])}".removesuffix(": ")


def near(name: str, known: Iterable[str]) -> list[str]:
    """Known names that resemble `name`, the closest first."""
    if len(name) > _LONGEST:
        return []
    known = list(known)
    by_lower = {k.lower(): k for k in reversed(known)}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=3, cutoff=0.6)
    return [by_lower[c] for c in close]


def did_you_mean(close: list[str]) -> str:
    """A sentence that suggests close names."""
    return f"Did you mean {' or '.join(quoted(c) for c in close)}?"


def near_or(name: object, known: Iterable[str], otherwise: str) -> str:
    """Whether one of the known names was meant; another way out if none resembles it."""
    close = near(name, known) if isinstance(name, str) else []
    return did_you_mean(close) if close else otherwise


def _underline(formula: str, token: str) -> list[str]:
    """The formula, and a line of carets under the last whole occurrence of `token`.

    A long formula is cut to the surroundings of `token`.
    """
    # Escaped first, because a line end or a zero-width character would displace the carets.
    formula, token = shown(formula), shown(token)
    start = _last_whole(formula, token)
    if len(formula) > _LONGEST:
        cut = max(start - _LONGEST // 4, 0)
        part = formula[cut : cut + _LONGEST]
        formula = ("... " if cut else "") + part + (" ..." if formula[cut + _LONGEST :] else "")
        token, start = token[:100], start - cut + (4 if cut else 0) if start >= 0 else start
    if start < 0:
        return [f"  {formula}"]
    return [f"  {formula}", "  " + " " * start + "^" * len(token)]


def _last_whole(text: str, token: str) -> int:
    """The last position of `token` in `text` outside a longer name; -1 if there is none."""
    position = text.rfind(token) if token else -1
    while position >= 0:
        end = position + len(token)
        before = text[position - 1] if position else " "
        after = text[end] if end < len(text) else " "
        if not (_in_name(before) and _in_name(token[0])) and not (
            _in_name(after) and _in_name(token[-1])
        ):
            return position
        position = text.rfind(token, 0, position)
    return -1


def _in_name(character: str) -> bool:
    return character.isalnum() or character in "_."


def reason(caught: OSError | MemoryError) -> str:
    """The system's message, as a sentence."""
    if isinstance(caught, MemoryError):
        return "There is not enough memory."
    said = caught.strerror or str(caught) or type(caught).__name__
    return said if said.endswith(".") else f"{said}."
