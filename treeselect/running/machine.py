"""Failures of the machine: insufficient memory, processes that die, and work that can't be sent to
another process.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import gc
import pickle
import shutil
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from functools import cache
from typing import Any, TypeVar

from treeselect.arguments.checks import check_flag
from treeselect.errors import OutOfMemoryError, TreeselectWarning, WorkerError, said_by
from treeselect.shown import shown

_ALONE = "`n_jobs=1` uses only this process"


@contextlib.contextmanager
def memory_errors() -> Iterator[None]:
    """Turn a MemoryError into an OutOfMemoryError; also usable as a decorator."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        raise OutOfMemoryError(
            "There is not enough memory for this call.\n"
            f"  Found: {said_by(error)}\n"
            "  Use fewer rows or terms, smaller forests (`n_trees`, `forests`), or fewer parallel"
            " processes (`n_jobs`), each of which needs additional memory."
        ) from error


_MMAP_THRESHOLD, _LARGE = -3, 1_000_000
"""Name that ``mallopt`` has for the bytes from which on memory is mapped, and these."""

_MANY_ROWS = 50_000
"""Their memory is worth a search."""


def give_memory_back(n_rows: int) -> None:
    """Give the system what is no longer needed, in circles and between what is; from then on large
    arrays go back as soon as they are not needed, not only those at the end: on Linux, with many
    rows."""
    if n_rows <= _MANY_ROWS:
        return
    gc.collect()
    library: Any = ctypes.CDLL(None) if sys.platform == "linux" else None
    if hasattr(library, "mallopt") and hasattr(library, "malloc_trim"):
        library.mallopt(_MMAP_THRESHOLD, _LARGE)
        library.malloc_trim(0)


@contextlib.contextmanager
def sending_errors() -> Iterator[None]:
    """Turn joblib's errors into WorkerErrors if calls can't be sent to other processes."""
    try:
        yield
    except (BrokenExecutor, pickle.PicklingError) as error:
        raise WorkerError(
            "Can't send the work to other processes: a part of it can't be pickled, or imported"
            " there.\n"
            f"  Found: {said_by(error)}\n"
            "  Your own `scoring`, splitter (`folds`) or selector (`method`) must not hold open"
            " files, locks or the like, and is best defined at the top of a module."
            f" {_ALONE}."
        ) from error


@contextlib.contextmanager
def import_errors() -> Iterator[None]:
    """Turn the ImportError of a worker that lacks a module into a WorkerError."""
    try:
        yield
    except (ImportError, AttributeError) as error:
        raise WorkerError(
            "A worker can't import a part of the work.\n"
            f"  Found: {said_by(error)}\n"
            "  treeselect and the modules of your own `scoring`, splitter (`folds`) or selector"
            f" (`method`) must be installed where the workers run. {_ALONE}."
        ) from error


def worker_died(error: Exception) -> bool:
    """Whether the error means that a process died, and not that its work raised an error. Dask and
    Ray have specific errors for it, recognised by their package."""
    if isinstance(error, BrokenExecutor):
        # Some functions can be pickled here and not unpickled in the worker.
        return "un-serialize" not in str(error)
    return type(error).__module__.partition(".")[0] in ("distributed", "ray")


def parts_of(value: Any) -> Iterable[tuple[str, Any]]:
    """Names and values of the parts of a record, a mapping, a list or a tuple."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, Mapping):
        return ((str(key), part) for key, part in value.items())
    return (("", part) for part in value) if isinstance(value, list | tuple) else ()


# --- warnings that point to the user's line, however deep in the package they arise --------------

_INSIDE = ("treeselect", "contextlib")


def warn(text: str) -> None:
    """Issue a TreeselectWarning at the line that called the package."""
    level, frame = 1, sys._getframe()
    while (
        frame.f_back is not None
        and str(frame.f_globals.get("__name__")).partition(".")[0] in _INSIDE
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, TreeselectWarning, stacklevel=level)


# --- no garbage collection while many small records are made -------------------------------------


# --- progress of long calls on standard error ----------------------------------------------------

Item = TypeVar("Item")


def read_progress(progress: object) -> bool | None:
    """The argument as Python's; an OptionError unless it is a truth value or None."""
    return None if progress is None else check_flag("progress", progress)


def track(
    items: Iterable[Item], label: str, total: int, progress: bool | None, done: int = 0
) -> Iterator[Item]:
    """Pass items on and show the number finished, `done` before included, and the estimated time
    left: by default if standard error is a terminal, on one line; True always shows it, without a
    terminal as lines of text, at most one every ten seconds."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (is_terminal if progress is None else progress):
        return iter(items)
    return _shown(items, label, total, done, is_terminal=is_terminal)


def _shown(
    items: Iterable[Item], label: str, total: int, done: int, *, is_terminal: bool
) -> Iterator[Item]:
    begin = said = time.monotonic()
    if is_terminal:
        _say(_covering(f"{shown(label)}: {done:,} of {total:,}"), end="\r")
    try:
        for number, item in enumerate(items, start=1):
            yield item
            now = time.monotonic()
            if is_terminal or now - said >= 10.0 or done + number == total:
                said = now
                left = (now - begin) / number * (total - done - number)
                line = f"{shown(label)}: {done + number:,} of {total:,}{_left(left)}"
                _say(_covering(line), end="\r") if is_terminal else _say(line)
    finally:
        if is_terminal:  # an error or a summary that follows begins on an empty line
            _say(_covering(""), end="\r")


def _covering(line: str) -> str:
    """As wide as the terminal, so that it covers a longer line and does not wrap."""
    width = max(shutil.get_terminal_size().columns - 1, 1)
    return line[:width].ljust(width)


def _left(seconds: float) -> str:
    """The estimated time left, as text."""
    if seconds < 1:
        return ""
    if seconds < 100:
        return f", about {seconds:.0f} s left"
    if seconds < 100 * 60:
        return f", about {seconds / 60:.0f} min left"
    return f", about {seconds / 3600:.1f} h left"


def _say(line: str, end: str = "\n") -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):  # a full disk is no reason to stop
            print(line, end=end, file=sys.stderr, flush=True)


def announce_compilation(progress: bool | None) -> None:
    """Say once per process that kernels are compiled, when the first of them is."""
    from treeselect.engine import compiling

    compiling.on_compilation = None if progress is False else _announce


@cache
def _announce() -> None:
    from treeselect.engine.object_code import kernels_can_be_kept

    if kernels_can_be_kept():
        _say("treeselect: compiling tree kernels for this machine (once, up to a minute).")
    else:
        _say(
            "treeselect: compiling tree kernels (up to a minute). They can't be stored: set"
            " TREESELECT_CACHE_DIR to a folder that can be written."
        )
