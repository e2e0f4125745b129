"""Everything that treeselect raises on purpose.

First line: the problem, with "must" or "can't" and names in backticks; then what was found; then
the way out. Texts that several places need are built by class methods, so that the same mistake
always reads the same. Control characters of the user's text are escaped: in names by `quoted`,
in whatever else a message holds when it is made an error.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from treeselect.shown import said, shown


class TreeselectError(Exception):
    """Base of all errors of this package."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*_said(arguments))


class FormulaError(TreeselectError, ValueError):
    """The formula can't be read, or asks for something that is not in the data."""

    @classmethod
    def at(cls, problem: str, formula: str, token: str, *advice: str) -> FormulaError:
        """Build the error with the place in the user's formula underlined."""
        return cls("\n".join([problem, *_underline(formula, token), *(f"  {a}" for a in advice)]))

    @classmethod
    def unknown_column(cls, name: str, formula: str, columns: Iterable[str]) -> FormulaError:
        """Build the error for a name that is no column."""
        columns = list(columns)
        close = near(name, columns)
        advice = did_you_mean(close) if close else f"Columns: {listing(columns)}."
        return cls.at(f"Can't find column {quoted(name)} in `data`.", formula, name, advice)


class DataError(TreeselectError, ValueError):
    """The data can't be used as they are."""


class NewDataError(DataError):
    """New data do not match the data that the model was fitted on."""


class ModelFileError(TreeselectError, ValueError):
    """A model file can't be written or read."""


class OptionError(TreeselectError, ValueError):
    """An argument has a value that is not allowed."""


class MethodError(OptionError):
    """The method or one of its options is unknown or has a value that is not allowed."""


class StabilityError(TreeselectError, ValueError):
    """Stability was asked for where there is none to compute."""


class TreeselectWarning(UserWarning):
    """An answer was given, but something about it should be known."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*_said(arguments))


class MissingPackageError(TreeselectError, ImportError):
    """A package that only some calls need is not installed."""


class OutOfMemoryError(TreeselectError, MemoryError):
    """The machine has not the memory that the call needs."""

    def __new__(cls, *arguments: object) -> OutOfMemoryError:
        # MemoryError's own refuses this class, and those who unpickle errors may call it.
        return TreeselectError.__new__(cls, *arguments)


class WorkerError(TreeselectError, RuntimeError):
    """A process that worked for the call ended, or can't be given its work."""


class NotBuiltError(TreeselectError, NotImplementedError):
    """Planned, but not in this version."""


def _said(arguments: Iterable[object]) -> Iterable[object]:
    return (said(text) if isinstance(text, str) else text for text in arguments)


_LONGEST = 200
"""Most characters of a name or of a formula in a message."""


def quoted(name: str) -> str:
    """A name between backticks, as it can be shown."""
    return f"`{shortened(name)}`"


def shortened(text: str) -> str:
    """A text as it can be shown, cut if it is long."""
    return shown(text) if len(text) <= _LONGEST else f"{shown(text[:_LONGEST])} ..."


def listing(names: Iterable[object], most: int = 12) -> str:
    """Names between backticks, separated by commas; the first `most` and how many more."""
    names = list(names)
    first = ", ".join(quoted(str(name)) for name in names[:most])
    return first + (f" and {len(names) - most} more" if len(names) > most else "")


def said_by(error: BaseException) -> str:
    """An error in one line: the first of our own, type and first of others'.

    Those may be of any length, or fail to be told.
    """
    try:
        first = next(iter(str(error).strip().splitlines()), "")
    except Exception:
        first = ""
    if isinstance(error, TreeselectError):
        return first
    return f"{type(error).__name__}: {shown(first[: 2 * _LONGEST])}".removesuffix(": ")


def near(name: str, known: Iterable[str]) -> list[str]:
    """Known names that resemble `name`, the best first."""
    if len(name) > _LONGEST:
        return []
    known = list(known)
    by_lower = {k.lower(): k for k in reversed(known)}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=3, cutoff=0.6)
    return [by_lower[c] for c in close]


def did_you_mean(close: list[str]) -> str:
    """Sentence that offers near names."""
    return f"Did you mean {' or '.join(quoted(c) for c in close)}?"


def _underline(formula: str, token: str) -> list[str]:
    """The formula and a line of carets under the last place where `token` stands as a whole.

    Of a long formula, what is around it.
    """
    # Escaped first: a line end or a character without width would move the carets.
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
    """Where `token` last stands in `text` and is not part of a longer name; -1 if nowhere."""
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
