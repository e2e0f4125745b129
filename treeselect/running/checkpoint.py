"""Finished pieces of long calls in a folder, from which a stopped call resumes.

A file for each piece, ``resample-<32 hexadecimal digits>.json``::

    {"format": 1, "key": "<64 digits>", "check": "<64 digits>", "result": ...}

``key`` is a fingerprint of everything on which the piece depends: its kind, the data, the method
and its options, its number and seed, and the versions of the package and the numerical libraries.
Its first digits are part of the file name, so that a call reads only its own files and those of
other calls with the same pieces. ``check`` is the SHA-256 of the result's text.

The folder may be untrusted: nothing in it is executed. A file is read only if it is a regular file
(no link, no pipe) of bounded size; its content must be JSON of the form that the piece has, or the
file is ignored. Files are written atomically and replace an existing name: links are replaced, not
followed.
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
"""Version of the file format; other versions are not read."""

_LARGEST = 16 * 2**20
"""Maximum bytes of a file."""

_DIGITS = 32
"""Digits of the key that are part of a file name."""

_TRIED_AGAIN = (
    "Saving is tried again after each piece; unsaved pieces are lost if the call is stopped."
)

_NAME = re.compile(rf"([a-z]+)-[0-9a-f]{{{_DIGITS}}}\.json")

_STALE = 3600.0
"""Seconds after which a partly written file counts as abandoned by a dead process."""

Read = Callable[[int, Any], Any]
"""From a number and decoded JSON to a result; raises an error of any kind if it is not one."""


def read_checkpoint(folder: object) -> Path | None:
    """The argument as a writable folder, created if it does not exist.

    Raises
    ------
    OptionError
        If it can't be.
    """
    if folder is None:
        return None
    path = file_path(folder, name="checkpoint")
    try:
        path.mkdir(exist_ok=True)  # without parents: a typing error would create many
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(None, "It is read-only")
    except OSError as error:
        raise OptionError(
            "`checkpoint` must be a writable folder.\n"
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
        Kind of the pieces, in lower-case letters.
    keys : dict of int to str
        Fingerprint of each piece by its number.
    """

    folder: Path
    kind: str
    keys: Mapping[int, str]
    _unsaved: dict[str, str] = field(default_factory=dict)
    _was_told: bool = False

    def read(self, read: Read) -> dict[int, Any]:
        """Results of the saved pieces by number; other files are listed in a warning.

        Warns
        -----
        TreeselectWarning
            If files are damaged or not written by the package, or if all files are from other
            calls.
        """
        found, damaged = {}, []
        for number, key in self.keys.items():
            try:
                found[number] = read(number, _result(self.folder / self._name(key), key))
            except FileNotFoundError:
                continue
            except MemoryError:
                raise
            except Exception:  # an untrusted file can contain anything
                damaged.append(self._name(key))
        self._tell_ignored(damaged, none_found=not found)
        return found

    def save(self, number: int, result: Any) -> None:
        """Write a piece; if that fails, continue and try again with the next piece.

        Parameters
        ----------
        number : int
        result : object
            For JSON.

        Warns
        -----
        TreeselectWarning
            The first time that a piece can't be written.
        """
        key = self.keys[number]
        text = _document(key, result)
        if len(text) > _LARGEST:
            why = f"It has {len(text):,} bytes; the maximum is {_LARGEST:,}."
            self._tell_unsaved(why, "This piece is lost if the call is stopped.")
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
            f"Can't save a finished {self.kind} in {quoted(str(self.folder))}.\n"
            f"  Found: {why}\n"
            f"  The call continues, and its result will be complete. {then}"
        )

    def _name(self, key: str) -> str:
        return f"{self.kind}-{key[:_DIGITS]}.json"

    def _tell_ignored(self, damaged: list[str], *, none_found: bool) -> None:
        foreign, others = self._others()
        lines = []
        if damaged:
            lines.append(f"  Damaged or unreadable, and computed again: {listing(damaged, 3)}.")
        if foreign:
            lines.append(f"  Not written by treeselect: {listing(foreign, 3)}.")
        if others and none_found and not damaged:
            lines.append(
                f"  From other calls: {others:,} finished {self.kind}{'s' if others > 1 else ''}"
                " with different data, options, seed or versions."
            )
        if lines:
            said = f"Some files in the `checkpoint` folder {quoted(str(self.folder))} are not used."
            warn("\n".join([said, *lines]))

    def _others(self) -> tuple[list[str], int]:
        """Names of foreign files, and the number of files of this kind from other calls. Removes
        partly written files of killed processes."""
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
    """The decoded result in the file with that key.

    Raises
    ------
    FileNotFoundError
        If there is no file.
    Exception
        Of many kinds, if the file contains anything else.
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
    """The content of a regular file of bounded size."""
    # A pipe could block the call; a link could point to an endless device.
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
