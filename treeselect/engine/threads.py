"""Threads for the parts of one piece of work, where it is long enough for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

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
    """Results of a function for each part, in their order, each in a thread of its own.

    A single part of short work runs in the thread of the caller, as starting another one costs as
    much as a small forest.

    Parameters
    ----------
    function : callable
    parts : sequence
        At least one.
    cells : float
        How much work all parts are.
    stop : ndarray of int64, shape (1,), optional
        Set to 1 if this thread is interrupted: kernels look at it.
    """
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
