"""Failures of the machine: insufficient memory, processes that die, and work that can't be sent to
another process."""

from __future__ import annotations

import contextlib
import dataclasses
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any

from treeselect.arguments.scalars import described
from treeselect.errors import OutOfMemoryError, WorkerError, quoted, said_by

_ALONE = "`n_jobs=1` uses only this process"


@contextlib.contextmanager
def memory_is_told() -> Iterator[None]:
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


@contextlib.contextmanager
def sending_is_told(calls: Mapping[int, tuple[Any, ...]]) -> Iterator[None]:
    """Turn joblib's errors into WorkerErrors if `calls` can't be sent to other processes."""
    try:
        yield
    except (BrokenExecutor, pickle.PicklingError) as error:
        raise _unsendable(list(calls.values()), error) from error


@contextlib.contextmanager
def importing_is_told() -> Iterator[None]:
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
    """Whether the error means that a process died, and not that its work raised an error.

    Dask and Ray have specific errors for it, recognised by their package.
    """
    if isinstance(error, BrokenExecutor):
        # Some functions can be pickled here and not unpickled in the worker.
        return "un-serialize" not in str(error)
    return type(error).__module__.partition(".")[0] in ("distributed", "ray")


def _unsendable(calls: Sequence[tuple[Any, ...]], error: Exception) -> WorkerError:
    culprit = _unpicklable(calls[0], "") if calls else None
    found = said_by(error)
    if culprit is not None:
        name, value, why = culprit
        found = f"{described(value)}{f', as {quoted(name)}' if name else ''}: {said_by(why)}"
    return WorkerError(
        "Can't send the work to other processes: a part of it can't be pickled, or imported"
        " there.\n"
        f"  Found: {found}\n"
        "  Your own `scoring`, splitter (`folds`) or selector (`method`) must not hold open files,"
        " locks or the like, and is best defined at the top of a module."
        f" {_ALONE}."
    )


def _unpicklable(
    value: Any, name: str, outer: frozenset[int] = frozenset()
) -> tuple[str, object, Exception] | None:
    """The innermost part that can't be pickled, with its name and why; None if all can.

    `outer` are the identities of the containers around it: a list may contain itself.
    """
    from joblib.externals.loky.backend.reduction import dumps

    try:
        dumps(value)
        return None
    except Exception as error:
        why = error
    outer |= {id(value)}
    inside = (
        _unpicklable(part, own or name, outer)
        for own, part in _parts(value)
        if id(part) not in outer
    )
    return next((found for found in inside if found is not None), (name, value, why))


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, Mapping):
        return ((str(key), part) for key, part in value.items())
    return (("", part) for part in value) if isinstance(value, list | tuple) else ()
