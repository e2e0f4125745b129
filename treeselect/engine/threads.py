"""What goes on beside the work: threads for its parts, a single one for matrix products, and no
search for cycles."""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from treeselect.engine.arrays import IntArray

Part = TypeVar("Part")
Result = TypeVar("Result")

_SHORT, _LONG = 200_000, 3_000_000
"""Cells (rows times columns times trees, or what takes as long, about 50 nanoseconds each) up to
which threads cost more than they save, and from which on Ctrl-C should not wait for the answer."""


def n_parts(n_threads: int, cells: float) -> int:
    """Parts into which to divide the work, at least 1."""
    return 1 if cells <= _SHORT else max(n_threads, 1)


def each(
    function: Callable[[Part], Result],
    parts: Sequence[Part],
    cells: float,
    stop: IntArray | None = None,
) -> list[Result]:
    """Results of a function for each part, in their order, each in a thread of its own; all parts
    are so many cells of work. A single part of short work runs in the thread of the caller. Kernels
    look at ``stop[0]``, which is set to 1 if this thread is interrupted."""
    if len(parts) == 1 and cells <= _LONG:
        return [function(parts[0])]
    with ThreadPoolExecutor(len(parts)) as pool:
        try:
            waiting = [pool.submit(function, part) for part in parts]
            return [result.result() for result in waiting]
        except BaseException:
            if stop is not None:
                stop[0] = 1  # Ctrl-C does not wait for the kernels
            raise


_lock = threading.Lock()
_inside = 0
_limits: Any = None


@functools.lru_cache(maxsize=1)
def _linear_algebra(n_modules: int) -> Any:
    """The libraries that there are as long as no more modules are loaded; to look for them takes
    3 ms, a fifth of the time of a small selection."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit the linear algebra library to one thread while any caller is inside: narrow matrices
    gain nothing from more, and threads that wait use up a processor. The limit is that of the whole
    process, set by the first to come in and lifted by the last to go out."""
    global _inside, _limits
    with _lock:
        _inside += 1
        if _inside == 1:
            _limits = _linear_algebra(len(sys.modules)).limit(limits=1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None


@contextmanager
def no_collection() -> Iterator[None]:
    """Without Python's search for cycles; also a decorator. Where objects are made by the hundred
    thousand and stay, each search looks at all that the process has loaded."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
