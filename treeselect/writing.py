"""Atomic writing of files, used by every writer of the package.

The bytes go into a temporary file in the same folder, which replaces the old file once they are on
the disk. A full disk or a killed process thus leaves the old file unchanged, and if two processes
write the same file, both succeed and the later one wins.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from treeselect.errors import OptionError, quoted, reason

_OPEN_FILE = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_STANDARD = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}


def check_place(path: Path, *, what: str, error: type[Exception] = OptionError) -> None:
    """Raise an error if a file can't be written, as far as this can be checked in advance: `path`
    is a folder, read-only or can't be looked at, or its folder does not exist or is read-only."""
    with _explained(path, what, error):
        if _open_file(path) is None:
            _old_file(path)


def write_file(
    path: Path,
    content: bytes | str | Callable[[IO[bytes]], object],
    *,
    what: str = "file",
    error: type[Exception] = OptionError,
) -> Path:
    """Write a file as a whole: an existing one is replaced and keeps its mode, and a link is
    followed; devices, pipes and open files of this process (``/dev/stdout``) are written to
    directly. Text is encoded as UTF-8, with unpaired surrogates as ``\\udc80``; a callable receives
    the open file. If the file can't be written (it is a folder, its folder does not exist, it is
    read-only, the disk is full), the old one is unchanged, no temporary file is left, and an
    `error` names `what` was to be written."""
    with _explained(path, what, error), _opened(path) as file:
        if callable(content):
            content(file)
        elif isinstance(content, str):
            file.write(content.encode("utf-8", "backslashreplace"))
        else:
            file.write(content)
    return path


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in a folder that others may write to: whatever has its name is replaced, and a
    link is not followed. Raises an OSError if it can't be written."""
    with _replacing(path, None) as file:
        file.write(content)


def _opened(path: Path) -> contextlib.AbstractContextManager[IO[bytes]]:
    number = _open_file(path)
    if number is not None:
        return _straight(number)
    old = _old_file(path)
    if old is None or stat.S_ISREG(old.st_mode):
        return _replacing(Path(os.path.realpath(path)), old)
    return _straight(path)


@contextlib.contextmanager
def _explained(path: Path, what: str, error: type[Exception]) -> Iterator[None]:
    """Turn errors of the system into errors of the package."""
    try:
        yield
    except (OSError, MemoryError) as caught:
        raise error(f"Can't write the {what} {quoted(str(path))}.\n  {reason(caught)}") from caught


def _open_file(path: Path) -> int | None:
    """Number of the open file of this process that a path names."""
    name = os.path.abspath(path)
    found = _OPEN_FILE.fullmatch(_STANDARD.get(name, name))
    return int(found[1]) if found else None


def _old_file(path: Path) -> os.stat_result | None:
    """What is there now, behind links; an OSError if nothing can be written there."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(None, f"Can't find the folder {quoted(folder)}") from None
        _check_folder(folder)
        return None
    except NotADirectoryError:
        raise NotADirectoryError(
            None, f"Can't find the folder {quoted(str(path.parent))}"
        ) from None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(None, "It is a folder")
    if not os.access(path, os.W_OK):
        raise PermissionError(None, "It is read-only")  # a rename would not ask
    if stat.S_ISREG(status.st_mode):
        _check_folder(os.path.dirname(os.path.realpath(path)))
    return status


def _check_folder(folder: str) -> None:
    """Raise a PermissionError unless a new file can stand beside the old one."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(None, f"Can't write to the folder {quoted(folder)}")


@contextlib.contextmanager
def _straight(target: Path | int) -> Iterator[IO[bytes]]:
    """What can't be replaced is written to."""
    if isinstance(target, int):
        for stream in (sys.stdout, sys.stderr):  # what was printed before comes first
            if stream is not None:
                stream.flush()
        target = os.dup(target)
    with open(target, "wb") as file:
        yield file


@contextlib.contextmanager
def _replacing(path: Path, old: os.stat_result | None) -> Iterator[IO[bytes]]:
    """A new file that takes the place of `path` at the end, if nothing was raised."""
    part = path.parent / f".treeselect-{secrets.token_hex(16)}.part"
    # A new file gets the mode of all new files from the system, which alone knows it in time: to
    # ask for the mask is to change it, for all threads. One that stood there may be private.
    number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600 if old else 0o666)
    try:
        with open(number, "wb") as file:
            yield file
            file.flush()
            if old is not None:
                _take_over(number, part, old)
            os.fsync(number)  # else the new name may reach the disk before what is in the file
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    _sync_folder(path.parent)


_BINARY = getattr(os, "O_BINARY", 0)


def _take_over(number: int, part: Path, old: os.stat_result) -> None:
    """Give a file the owner, as far as is allowed, and the mode of the one that it replaces."""
    if hasattr(os, "fchown"):
        new = os.fstat(number)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with contextlib.suppress(OSError):
                os.fchown(number, old.st_uid, old.st_gid)
    os.chmod(number if os.chmod in os.supports_fd else part, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk, where the system can; the file itself is there already."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
