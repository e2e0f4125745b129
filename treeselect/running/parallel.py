"""Run independent pieces of work: in this process, or wherever joblib is configured to."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from treeselect.arguments.scalars import described, whole
from treeselect.errors import OptionError
from treeselect.running.machine import memory_is_told, workers_are_told

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
            f"  Found: {described(n_jobs)}. -1 means all processors."
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

    # Shared with workers as files that each may write to in its own memory: what it can't write to
    # has another type for numba, which would compile every kernel a second time.
    run: Iterable[Result] = Parallel(n_jobs=n_jobs, return_as="generator", mmap_mode="c")(
        delayed(_call)(os.getpid(), function, call) for call in calls
    )
    with memory_is_told(), workers_are_told(calls):
        yield from run


def _call(caller: int, function: Callable[..., Result], call: tuple[Any, ...]) -> Result:
    """In the process that calls the arrays are its own; in a worker, which may be that of any
    backend of joblib, they have come from there."""
    return function(*(call if os.getpid() == caller else writeable(call)))


def writeable(value: Any) -> Any:
    """The same with arrays that can be written to, copied where they can't.

    Kernels are compiled for one form of arrays. Backends such as Dask and Ray give arrays that are
    shared between workers, which are read-only.

    Parameters
    ----------
    value : object
        Arrays in tuples, lists and dataclasses are found; anything else is left as it is.
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable or value.dtype.hasobject else value.copy()
    if isinstance(value, tuple | list):
        items = [writeable(item) for item in value]
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        make = getattr(type(value), "_make", type(value))  # named tuples are made another way
        return make(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        new = {name: writeable(item) for name, item in own.items()}
        changed = {name: item for name, item in new.items() if item is not own[name]}
        if not changed:
            return value
        twin = copy.copy(value)
        for name, item in changed.items():
            object.__setattr__(twin, name, item)  # frozen, but nobody else has this one
        return twin
    return value
