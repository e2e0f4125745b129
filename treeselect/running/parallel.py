"""Run independent pieces of work in this process or on the backend configured in joblib.

All pieces go through :func:`run_each`. If a process dies, only its current piece is lost.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import os
import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from treeselect.arguments.checks import described, whole
from treeselect.engine.threads import one_thread
from treeselect.errors import OptionError, said_by
from treeselect.running import machine

Result = TypeVar("Result")


MOST_JOBS = 10_000
"""Maximum number of processes."""

_TRIES = 2
"""Attempts in other processes before a piece is run in this one."""


def check_n_jobs(n_jobs: object) -> int | None:
    """The number as Python's; an OptionError unless it is None or a whole number other than 0."""
    if n_jobs is None:
        return None
    found = whole(n_jobs)
    if found is None or found == 0 or abs(found) > MOST_JOBS:
        raise OptionError(
            f"`n_jobs` must be a whole number other than 0, at most {MOST_JOBS:,}, or None.\n"
            f"  Found: {described(n_jobs)}. -1 uses all processors."
        )
    return found


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes and threads that do the work, decided only here. Results depend on neither."""

    # Processes for independent pieces, as in joblib; None follows ``joblib.parallel_config``, and
    # without such a configuration all pieces run in this process
    n_jobs: int | None
    # Threads of this process, at least 1: all work on a single fit, or are divided among pieces
    # that run at the same time
    n_threads: int

    @property
    def at_once(self) -> int:
        """Number of pieces that run at the same time."""
        from joblib import effective_n_jobs

        return max(1, effective_n_jobs(self.n_jobs))

    def share(self) -> int:
        """Threads for each of the pieces that run at the same time, at least 1."""
        return max(1, self.n_threads // self.at_once)


def workers_for(n_jobs: int | None) -> Workers:
    """As many threads as processes may be used; one for each processor if `n_jobs` is None. Only
    processors available to this process count, given its affinity and the limits of its container
    if the system reports them."""
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
    """Results of ``function(*call, n_threads=...)`` for each call, in their order; see
    :func:`run_each`, and :func:`treeselect.running.machine.track` for the last two."""
    running = run_each(function, dict(enumerate(calls)), workers)
    with contextlib.closing(running):
        found = dict(machine.track(running, label, len(calls), progress))
    return [found[number] for number in range(len(calls))]


def run_each(
    function: Callable[..., Result], calls: Mapping[int, tuple[Any, ...]], workers: Workers
) -> Generator[tuple[int, Result], None, None]:
    """Numbers and results of ``function(*call, n_threads=...)`` as they are completed."""
    left, tries = dict(calls), Counter[int]()
    with machine.memory_errors(), machine.sending_errors():
        while left:
            try:
                with contextlib.closing(_spread(function, left, workers)) as found:
                    for number, result in found:
                        del left[number]
                        yield number, result
            except Exception as error:
                if not machine.worker_died(error):
                    raise
                if not tries:
                    machine.warn(
                        "A worker process died before it finished.\n"
                        f"  Found: {said_by(error)}\n"
                        "  Its work is repeated. The usual cause is a lack of memory: use fewer"
                        " parallel processes (`n_jobs`)."
                    )
            # Pieces start in order, so those in progress are the first of those left.
            suspects = list(left)[: workers.at_once]
            tries.update(suspects)
            for number in suspects:
                if tries[number] >= _TRIES:
                    yield number, function(*left.pop(number), n_threads=workers.n_threads)


def _spread(
    function: Callable[..., Result], calls: Mapping[int, tuple[Any, ...]], workers: Workers
) -> Generator[tuple[int, Result], None, None]:
    """Once through joblib."""
    from joblib import Parallel, delayed

    share = workers.share()
    sent = with_shared(list(calls.values()), packed=_are_elsewhere(workers))
    tasks = [
        delayed(_call)(os.getpid(), function, share, number, *call)
        for number, call in zip(calls, sent, strict=True)
    ]
    # Arrays are shared as copy-on-write files: read-only arrays have a different type in numba,
    # which would compile every kernel a second time. Batches of one, because a process that dies
    # loses its whole batch.
    options: dict[str, Any] = {"n_jobs": workers.n_jobs, "mmap_mode": "c", "batch_size": 1}
    try:
        run = Parallel(return_as="generator_unordered", **options)
    except ValueError:  # backends such as Ray return results only when all are complete
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


def _are_elsewhere(workers: Workers) -> bool:
    """Whether the workers are others than joblib starts, such as Dask's."""
    from joblib import Parallel, delayed
    from joblib.parallel import BACKENDS, get_active_backend

    own = ("sequential", "threading", "loky", "multiprocessing")
    if isinstance(get_active_backend()[0], tuple(BACKENDS[name] for name in own)):
        return False
    # Dask never answers if a worker can't read a large argument. This one is small.
    with machine.import_errors():
        Parallel(n_jobs=workers.n_jobs)([delayed(workers_for)(1)])
    return True


def _call(
    caller: int, function: Callable[..., Result], n_threads: int, number: int, *call: Any
) -> tuple[int, Result]:
    """The calling process uses its arrays as they are; a worker has received copies."""
    here = os.getpid() == caller

    def own(value: Any) -> Any:
        if isinstance(value, Packed):
            return value.value
        if isinstance(value, Shared):
            return value.value if here else value.own()
        return value if here else writeable(value)

    with one_thread():
        return number, function(*map(own, call), n_threads=n_threads)


# --- arguments of several calls ----------------------------------------------------------------


class Shared:
    """An argument of several calls. Backends that examine each argument separately, such as Dask,
    send it to a worker once instead of with each piece. It reports its size, because Dask's
    decision depends on it. If `packed`, it is sent as bytes, which any worker can receive: what
    can't be imported there is an error of the piece."""

    def __init__(self, value: Any, packed: bool = False) -> None:
        self.value, self.packed = value, packed

    def __reduce__(self) -> tuple[Any, ...]:
        from joblib.externals.loky.backend.reduction import dumps

        return (Packed, (bytes(dumps(self.value)),)) if self.packed else (Shared, (self.value,))

    def own(self) -> Any:
        """The value as returned by :func:`writeable`, computed once in each process."""
        self.value = writeable(self.value)
        return self.value

    def __sizeof__(self) -> int:
        return _ENOUGH + n_bytes(self.value)


class Packed:
    """What a worker receives of a packed :class:`Shared`: read when it is first used."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    @cached_property
    def value(self) -> Any:
        """The value as returned by :func:`writeable`; a WorkerError if it can't be imported."""
        with machine.import_errors():
            return writeable(pickle.loads(self._sent))


_ENOUGH = 2_000
"""Dask keeps arguments of at least 1,000 bytes on its workers."""


def with_shared(calls: Sequence[tuple[Any, ...]], *, packed: bool = False) -> list[tuple[Any, ...]]:
    """The calls with a :class:`Shared` in place of each object that several contain."""
    times = Counter(id(value) for call in calls for value in call)
    known: dict[int, Any] = {}

    def shared(value: Any) -> Any:
        alone = times[id(value)] == 1 and not packed
        if alone or isinstance(value, str | int | float | None):
            return value
        return known.setdefault(id(value), Shared(value, packed))

    return [tuple(map(shared, call)) for call in calls]


def n_bytes(value: Any) -> int:
    """Bytes of the arrays in tuples, lists, mappings and dataclasses."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(n_bytes(part) for _, part in machine.parts_of(value))


def writeable(value: Any) -> Any:
    """The value with writable arrays; read-only arrays are copied. Kernels are compiled for
    writable arrays. Backends such as Dask and Ray share arrays between workers, which makes them
    read-only."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable or value.dtype.hasobject else value.copy()
    if isinstance(value, tuple | list):
        items = [writeable(item) for item in value]
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        make = getattr(type(value), "_make", type(value))  # named tuples have another constructor
        return make(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = ((name, item, writeable(item)) for name, item in machine.parts_of(value))
        changed = {name: new for name, item, new in parts if new is not item}
        if not changed:
            return value
        twin = copy.copy(value)
        for name, item in changed.items():
            object.__setattr__(twin, name, item)  # frozen, but no one else refers to this copy
        return twin
    return value
