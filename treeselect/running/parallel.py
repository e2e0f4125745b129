"""Run independent pieces of work: in this process, or wherever joblib is configured to."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Workers:
    """Who does the work: the only place that decides on processes and threads.

    No answer depends on either.

    Attributes
    ----------
    n_jobs : int or None
        Processes for pieces that do not depend on each other, in joblib's meaning; None follows
        ``joblib.parallel_config``, else all are done in this process.
    n_threads : int
        Threads of this process, at least 1: all of them work on one fit, and they are shared out
        among the pieces that are done at the same time.
    """

    n_jobs: int | None
    n_threads: int

    def share(self) -> int:
        """Threads for each of the pieces that are done at the same time, at least 1."""
        from joblib import effective_n_jobs

        return max(1, self.n_threads // effective_n_jobs(self.n_jobs))


def workers_for(n_jobs: int | None) -> Workers:
    """As many threads as processes may be used; where that is open, one for each processor.

    Processors are those that this process may use, by its affinity and the limits of its container
    where the system tells them.
    """
    from joblib import cpu_count

    here = cpu_count()
    if n_jobs is None:
        return Workers(None, here)
    return Workers(n_jobs, min(n_jobs, here) if n_jobs > 0 else max(1, here + 1 + n_jobs))


ALONE = Workers(1, 1)
"""One process with one thread."""


def run_all(
    function: Callable[..., Result], calls: Sequence[tuple[Any, ...]], workers: Workers
) -> Iterator[Result]:
    """Results of ``function(*call, n_threads=...)`` for each call, in their order, as they become
    ready.

    Parameters
    ----------
    function : callable
        Must be importable by name and take all randomness from its arguments.
    calls : sequence of tuple
    workers : Workers
        A piece gets its share of the threads.

    Raises
    ------
    OutOfMemoryError
        If the memory does not suffice.
    WorkerError
        If a process ends before its work is done, or can't be given it.
    """
    from joblib import Parallel, delayed

    share = workers.share()
    # Shared with workers as files that each may write to in its own memory: what it can't write to
    # has another type for numba, which would compile every kernel a second time.
    run: Iterable[Result] = Parallel(n_jobs=workers.n_jobs, return_as="generator", mmap_mode="c")(
        delayed(_call)(os.getpid(), function, call, share) for call in calls
    )
    with memory_is_told(), workers_are_told(calls):
        yield from run


def _call(
    caller: int, function: Callable[..., Result], call: tuple[Any, ...], n_threads: int
) -> Result:
    """In the process that calls the arrays are its own; in a worker, which may be that of any
    backend of joblib, they have come from there."""
    own = call if os.getpid() == caller else writeable(call)
    return function(*own, n_threads=n_threads)


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
