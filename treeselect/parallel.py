"""Run independent pieces of work: in this process, or wherever joblib is configured to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from treeselect.errors import OptionError
from treeselect.machine import memory_is_told, workers_are_told
from treeselect.scalars import shown, whole

Result = TypeVar("Result")


MOST_JOBS = 10_000
"""Most processes that can be asked for."""


def check_n_jobs(n_jobs: object) -> int | None:
    """The number as Python's; an OptionError unless it is None or a whole number other than 0."""
    if n_jobs is None:
        return None
    found = whole(n_jobs)
    if found is None or found == 0 or abs(found) > MOST_JOBS:
        raise OptionError(
            f"`n_jobs` must be a whole number other than 0, at most {MOST_JOBS:,}, or None.\n"
            f"  Found: {shown(n_jobs)}. -1 means all processors."
        )
    return found


def engine_threads(n_jobs: int | None) -> int:
    """Threads for one fit outside of folds and resamples; no answer depends on it."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return here if n_jobs is None or n_jobs < 0 else min(n_jobs, os.cpu_count() or 1)


def run_all(
    function: Callable[..., Result], calls: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Result]:
    """Results of ``function(*call)`` for each call, in their order, as they become ready.

    Parameters
    ----------
    function : callable
        Must be importable by name and take all randomness from its arguments.
    calls : sequence of tuple
    n_jobs : int or None
        joblib's meaning; None follows ``joblib.parallel_config``, else runs in this process.

    Raises
    ------
    OutOfMemoryError
        If the memory does not suffice.
    WorkerError
        If a process ends before its work is done, or can't be given it.
    """
    from joblib import Parallel, delayed

    run: Iterable[Result] = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(function)(*call) for call in calls
    )
    with memory_is_told(), workers_are_told(calls):
        yield from run
