"""Finished pieces of long calls in a folder, from which a call that was stopped goes on.

A file for each piece, ``resample-<32 hexadecimal digits>.json``::

    {"format": 1, "key": "<64 digits>", "check": "<64 digits>", "result": ...}

``key`` is the fingerprint of all that the piece depends on: its kind, the data, the method with its
options, its number and seed, the versions of the package and of the libraries it computes with. Its
first digits are in the name, so that a call looks for its own files only, and finds those of
another call with the same pieces. ``check`` is the SHA-256 of the result's text.

The folder may be anybody's: nothing in it is code or is run. A file is read if it is an ordinary
one (no link, no pipe) of bounded size; what is in it must be JSON, of the kind that the piece has,
or it counts as not there. A file appears whole or not at all, in the place of what had its name:
links are replaced, not followed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treeselect.arguments.paths import file_path, reason
from treeselect.errors import OptionError, listing, quoted
from treeselect.running.warning import warn
from treeselect.writing import PART, replace_file

FORMAT = 1
"""Of the files; other ones are not read."""

_LARGEST = 16 * 2**20
"""Most bytes of a file."""

_DIGITS = 32
"""Of the key that are in a name."""

_TRIED_AGAIN = (
    "What is not saved is tried again after each piece; if the call is stopped before, it is lost."
)

_NAME = re.compile(rf"([a-z]+)-[0-9a-f]{{{_DIGITS}}}\.json")

_STALE = 3600.0
"""Seconds after which a file that was being written was left by a process that has gone."""

Read = Callable[[int, Any], Any]
"""From number and what JSON says to a result; raises an error of any kind if it is none."""


def read_checkpoint(folder: object) -> Path | None:
    """The argument as a folder that is there and can be written to; made if it is not there.

    Raises
    ------
    OptionError
        If it can't be.
    """
    if folder is None:
        return None
    path = file_path(folder, name="checkpoint")
    try:
        path.mkdir(exist_ok=True)  # not those above it: a slip of the pen would make many
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(None, "It is read-only")
    except OSError as error:
        raise OptionError(
            "`checkpoint` must be a folder that can be written to.\n"
            f"  Found: {quoted(str(path))}. {reason(error)}"
        ) from None
    return path


@dataclass(slots=True)
class Checkpoint:
    """The files of one call.

    Attributes
    ----------
    folder : pathlib.Path
    kind : str
        Lower-case letters, what the pieces are.
    keys : dict of int to str
        Fingerprint of each piece by its number.
    """

    folder: Path
    kind: str
    keys: Mapping[int, str]
    _unsaved: dict[str, str] = field(default_factory=dict)
    _was_told: bool = False

    def read(self, read: Read) -> dict[int, Any]:
        """Results by number of the pieces that are there; a warning tells what else is.

        Warns
        -----
        TreeselectWarning
            Of files that are damaged, are not those of the package, or are of other calls where
            none is of this one.
        """
        found, damaged = {}, []
        for number, key in self.keys.items():
            try:
                found[number] = read(number, _result(self.folder / self._name(key), key))
            except FileNotFoundError:
                continue
            except MemoryError:
                raise
            except Exception:  # anything can stand in the file of a stranger
                damaged.append(self._name(key))
        self._tell_ignored(damaged, none_found=not found)
        return found

    def save(self, number: int, result: Any) -> None:
        """Write a piece; if it can't be written, go on and try again with the next.

        Parameters
        ----------
        number : int
        result : object
            For JSON.

        Warns
        -----
        TreeselectWarning
            At the first that can't be written.
        """
        key = self.keys[number]
        text = _document(key, result)
        if len(text) > _LARGEST:
            why = f"It takes {len(text):,} bytes, and {_LARGEST:,} are the most."
            self._tell_unsaved(why, "It is lost if the call is stopped.")
            return
        self._unsaved[self._name(key)] = text
        try:
            for name, text in list(self._unsaved.items()):
                replace_file(self.folder / name, text.encode("ascii"))
                del self._unsaved[name]
        except OSError as error:
            self._tell_unsaved(reason(error), _TRIED_AGAIN)

    def _tell_unsaved(self, why: str, then: str) -> None:
        if self._was_told:
            return
        self._was_told = True
        warn(
            f"A finished {self.kind} can't be saved in {quoted(str(self.folder))}.\n"
            f"  Found: {why}\n"
            f"  The call goes on, and its answer will be whole. {then}"
        )

    def _name(self, key: str) -> str:
        return f"{self.kind}-{key[:_DIGITS]}.json"

    def _tell_ignored(self, damaged: list[str], *, none_found: bool) -> None:
        foreign, others = self._others()
        lines = []
        if damaged:
            lines.append(f"  Damaged or not readable, and done again: {listing(damaged, 3)}.")
        if foreign:
            lines.append(f"  Not written by treeselect: {listing(foreign, 3)}.")
        if others and none_found and not damaged:
            lines.append(
                f"  Of other calls: {others:,} finished {self.kind}{'s' if others > 1 else ''},"
                " with other data, options, seed or versions."
            )
        if lines:
            said = f"Files in {quoted(str(self.folder))}, the folder of `checkpoint`, are not used."
            warn("\n".join([said, *lines]))

    def _others(self) -> tuple[list[str], int]:
        """Names of foreign files, and how many are of this kind and of other calls. Removes what
        processes that were killed have left."""
        own = {self._name(key) for key in self.keys.values()}
        foreign, others = [], 0
        for name in _names(self.folder):
            known = _NAME.fullmatch(name)
            if PART.fullmatch(name):
                _remove_stale(self.folder / name)
            elif known is None:
                foreign.append(name)
            elif known[1] == self.kind and name not in own:
                others += 1
        return sorted(foreign), others


def _names(folder: Path) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        yield from (entry.name for entry in entries)


def _remove_stale(part: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - os.lstat(part).st_mtime > _STALE:
            os.unlink(part)


def _document(key: str, result: Any) -> str:
    text = _text(result)
    return json.dumps({"format": FORMAT, "key": key, "check": _check(text), "result": result})


def _text(result: Any) -> str:
    return json.dumps(result, allow_nan=False, sort_keys=True)


def _check(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _result(path: Path, key: str) -> Any:
    """What JSON says in a file of that key.

    Raises
    ------
    FileNotFoundError
        If nothing is there.
    Exception
        Of many kinds, if something else is.
    """
    document = json.loads(_bytes(path).decode("ascii"), parse_constant=_no_constant)
    if document["format"] != FORMAT or document["key"] != key:
        raise ValueError("another piece")
    result = document["result"]
    if document["check"] != _check(_text(result)):
        raise ValueError("changed")
    return result


def _no_constant(text: str) -> Any:
    raise ValueError(f"JSON has no {text}")


def _bytes(path: Path) -> bytes:
    """What an ordinary file of bounded size holds."""
    # A pipe would keep a call waiting, a link could lead to a device without end.
    number = os.open(path, os.O_RDONLY | _BINARY | _NO_LINK | _NO_WAIT)
    with open(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise ValueError("no file of a piece")
        found = file.read(_LARGEST + 1)
    if len(found) > _LARGEST:
        raise ValueError("it grew")
    return found


_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
