"""Run independent pieces of work: in this process, or wherever joblib is configured to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from treeselect.errors import OptionError

Result = TypeVar("Result")


def check_n_jobs(n_jobs: int | None) -> None:
    """Raise an OptionError unless `n_jobs` is None or a whole number other than 0."""
    whole = isinstance(n_jobs, int) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise OptionError(
            "`n_jobs` must be a whole number other than 0, or None.\n"
            f"  Found: {n_jobs!r}. -1 means all processors."
        )


def engine_threads(n_jobs: int | None) -> int:
    """Threads for one fit outside of folds and resamples; no answer depends on it."""
    if n_jobs is None or n_jobs < 0:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return n_jobs


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
    """
    from joblib import Parallel, delayed

    run: Iterable[Result] = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(function)(*call) for call in calls
    )
    yield from run
