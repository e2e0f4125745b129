"""Run independent pieces of work: in this process, or wherever joblib is configured to.

All pieces go through :func:`run_each`. A process that dies loses only what it was working on.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import os
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from treeselect.arguments.scalars import described, whole
from treeselect.errors import OptionError, said_by
from treeselect.running.machine import memory_is_told, sending_is_told, worker_died
from treeselect.running.progress import track
from treeselect.running.warning import warn

Result = TypeVar("Result")


MOST_JOBS = 10_000
"""Most processes that can be asked for."""

_TRIES = 2
"""So often a piece is given to processes that die; then it is done in this one."""


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

    @property
    def at_once(self) -> int:
        """How many pieces are done at the same time."""
        from joblib import effective_n_jobs

        return max(1, effective_n_jobs(self.n_jobs))

    def share(self) -> int:
        """Threads for each of the pieces that are done at the same time, at least 1."""
        return max(1, self.n_threads // self.at_once)


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
    function: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    workers: Workers,
    label: str,
    progress: bool | None,
) -> list[Result]:
    """Results of ``function(*call, n_threads=...)`` for each call, in their order.

    See :func:`run_each`, and :func:`treeselect.running.progress.track` for the last two.
    """
    running = run_each(function, dict(enumerate(calls)), workers)
    with contextlib.closing(running):
        found = dict(track(running, label, len(calls), progress))
    return [found[number] for number in range(len(calls))]


def run_each(
    function: Callable[..., Result], calls: Mapping[int, tuple[Any, ...]], workers: Workers
) -> Generator[tuple[int, Result], None, None]:
    """Numbers and results of ``function(*call, n_threads=...)`` as they become ready.

    Parameters
    ----------
    function : callable
        Must be importable by name and take all randomness from its arguments.
    calls : dict of int to tuple
        Begun in their order.
    workers : Workers
        A piece gets its share of the threads.

    Raises
    ------
    OutOfMemoryError
        If the memory does not suffice.
    WorkerError
        If a process can't be given its work.

    Warns
    -----
    TreeselectWarning
        If a process ends before its work is done. What it may have worked on is tried again, then
        done in this process.
    """
    left, tries = dict(calls), Counter[int]()
    with memory_is_told(), sending_is_told(calls):
        while left:
            try:
                with contextlib.closing(_spread(function, left, workers)) as found:
                    for number, result in found:
                        del left[number]
                        yield number, result
            except Exception as error:
                if not worker_died(error):
                    raise
                if not tries:
                    _tell_death(error)
            # Begun in order, so that those at work were the first that are left.
            suspects = list(left)[: workers.at_once]
            tries.update(suspects)
            for number in suspects:
                if tries[number] >= _TRIES:
                    yield number, function(*left.pop(number), n_threads=workers.n_threads)


def _tell_death(error: Exception) -> None:
    warn(
        "A process that worked for the call ended before its work was done.\n"
        f"  Found: {said_by(error)}\n"
        "  Its work is done again. Most often the system ends processes when memory runs out: use"
        " fewer at a time (`n_jobs`)."
    )


def _spread(
    function: Callable[..., Result], calls: Mapping[int, tuple[Any, ...]], workers: Workers
) -> Generator[tuple[int, Result], None, None]:
    """Once through joblib."""
    from joblib import Parallel, delayed

    share = workers.share()
    caller = os.getpid()
    tasks = [
        delayed(_call)(caller, function, share, number, *call)
        for number, call in zip(calls, with_shared(list(calls.values())), strict=True)
    ]
    # Shared with workers as files that each may write to in its own memory: what it can't write to
    # has another type for numba, which would compile every kernel a second time. One by one, as
    # a process that dies would take others of its batch with it.
    options: dict[str, Any] = {"n_jobs": workers.n_jobs, "mmap_mode": "c", "batch_size": 1}
    try:
        run = Parallel(return_as="generator_unordered", **options)
    except ValueError:  # backends such as Ray tell results only when all are there
        at_once = workers.at_once
        with Parallel(**options) as pool:
            for start in range(0, len(tasks), at_once):
                yield from pool(tasks[start : start + at_once])
        return
    found = run(tasks)
    try:
        for number, result in found:  # noqa: UP028, `yield from` would close it before we do
            yield number, result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's, that others are not waited for
            found.close()


def _call(
    caller: int,
    function: Callable[..., Result],
    n_threads: int,
    number: int,
    *call: Any,
) -> tuple[int, Result]:
    """In the process that calls the arrays are its own; in a worker, which may be that of any
    backend of joblib, they have come from there."""
    here = os.getpid() == caller
    arguments = [_argument(value, here) for value in call]
    return number, function(*arguments, n_threads=n_threads)


def _argument(value: Any, here: bool) -> Any:
    if isinstance(value, Shared):
        return value.value if here else value.own()
    return value if here else writeable(value)


# --- arguments of several calls ----------------------------------------------------------------


class Shared:
    """An argument of several calls.

    Backends that look at each argument by itself, such as Dask, send it to a worker once, and not
    with each piece. It says what it takes, as Dask goes by that.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def own(self) -> Any:
        """The value as :func:`writeable` gives it, made once in each process."""
        self.value = writeable(self.value)
        return self.value

    def __sizeof__(self) -> int:
        return _ENOUGH + n_bytes(self.value)


_ENOUGH = 2_000
"""From 1,000 bytes on Dask keeps an argument on its workers."""


def with_shared(calls: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The calls with one :class:`Shared` in place of each object that several of them hold."""
    times = Counter(id(value) for call in calls for value in call)
    known: dict[int, Any] = {}

    def shared(value: Any) -> Any:
        if times[id(value)] == 1 or isinstance(value, str | int | float | None):
            return value
        return known.setdefault(id(value), Shared(value))

    return [tuple(map(shared, call)) for call in calls]


def n_bytes(value: Any) -> int:
    """Bytes of the arrays in tuples, lists and dataclasses."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(n_bytes, _inside(value)))


def _inside(value: Any) -> Iterable[Any]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return (getattr(value, field.name) for field in dataclasses.fields(value))
    return value if isinstance(value, tuple | list) else ()


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
