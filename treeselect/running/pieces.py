"""The pieces of a long call: taken from a folder or done, saved, told, and gathered.

What is finished when the user stops the call is a result, where a part can be one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treeselect.arguments.scalars import described
from treeselect.errors import OptionError
from treeselect.running.checkpoint import Checkpoint
from treeselect.running.fingerprint import Fingerprints, versions
from treeselect.running.parallel import ALONE, Workers, run_each
from treeselect.running.progress import track
from treeselect.running.warning import warn

Found = Mapping[int, Any]
"""Results by the number of the piece."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A finished piece of a long call, as `on_piece` gets it.

    Attributes
    ----------
    kind : str
        ``"resample"`` of ``resample()``, ``"fold"`` of ``performance()``, ``"split"`` of
        ``inference()``, ``"pair"`` of ``compare()``: a method in a fold.
    number : int
        Which one, from 0. They need not become ready in this order.
    done, total : int
        How many are finished, with this one, and how many there are.
    was_saved : bool
        Whether it was in the folder of `checkpoint`.
    found : dict
        What it came to. Of a resample ``"selected"``, a tuple of units; of a fold ``"score"`` and
        ``"selected"``, the most important first; of a split ``"selected"``, None if the response
        does not vary in its rows; of a pair ``"method"``, ``"fold"`` (from 1), and tuples ``"k"``
        (None where a tuning value decides), ``"score"`` and ``"n_selected"``, by size.
    """

    kind: str
    number: int
    done: int
    total: int
    was_saved: bool
    found: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """What the pieces of a call are.

    Attributes
    ----------
    name : str
        Of one, lower-case letters.
    many : str
        Of several, for people.
    label : str
        Of all of them, for the progress.
    write : callable
        From a result to what JSON can say.
    read : callable
        ``read(number, said)``, its inverse. Checks everything, as the file may be anybody's; raises
        an error of any kind.
    found : callable
        ``found(number, result)``: :attr:`Piece.found`.
    part : callable
        The finished pieces of a call that was stopped which are a result together; none if there is
        none.
    """

    name: str
    many: str
    label: str
    write: Callable[[Any], Any]
    read: Callable[[int, Any], Any]
    found: Callable[[int, Any], dict[str, Any]]
    part: Callable[[Found], Found]


@dataclass(frozen=True, slots=True)
class Course:
    """How pieces are done, which no answer depends on.

    Attributes
    ----------
    workers : Workers
    progress : bool or None
        See ``progress.track``.
    checkpoint : pathlib.Path or None
        Folder of finished pieces.
    on_piece : callable or None
        Is given a :class:`Piece` after each.
    """

    workers: Workers = ALONE
    progress: bool | None = None
    checkpoint: Path | None = None
    on_piece: Callable[[Piece], object] | None = None


HERE = Course()
"""In this process, without a word."""


def check_on_piece(on_piece: Any) -> Any:
    """The argument; an OptionError unless it can be called or is None."""
    if on_piece is not None and not callable(on_piece):
        raise OptionError(
            "`on_piece` must be a function of one argument, a finished piece.\n"
            f"  Found: {described(on_piece)}."
        )
    return on_piece


def run_pieces(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], kind: Kind, course: Course
) -> Found:
    """Results of ``function(*call, n_threads=...)`` by number: of all calls, or of a part of them
    where the user stopped and a part is a result.

    Parameters
    ----------
    function, calls
        As for ``parallel.run_each``. All that an answer depends on must be in them.
    kind : Kind
    course : Course

    Raises
    ------
    KeyboardInterrupt
        If the user stopped and what is finished is no result.
    OptionError
        If pieces can't be told from those of other calls.
    OutOfMemoryError, WorkerError
        See ``parallel.run_each``.

    Warns
    -----
    TreeselectWarning
        If the user stopped, a process died, or of the files in the folder.
    """
    saved = None if course.checkpoint is None else _checkpoint(function, calls, kind, course)
    found: dict[int, Any] = {}

    def tell(number: int, was_saved: bool) -> None:
        if course.on_piece is not None:
            said = kind.found(number, found[number])
            course.on_piece(Piece(kind.name, number, len(found), len(calls), was_saved, said))

    try:
        known = {} if saved is None else saved.read(kind.read)
        for number in known:
            found[number] = known[number]
            tell(number, was_saved=True)
        left = {number: call for number, call in enumerate(calls) if number not in known}
        with contextlib.closing(run_each(function, left, course.workers)) as running:
            for number, result in track(
                running, kind.label, len(calls), course.progress, len(known)
            ):
                found[number] = result
                if saved is not None:
                    saved.save(number, kind.write(result))
                tell(number, was_saved=False)
    except KeyboardInterrupt:
        part = kind.part(dict(sorted(found.items())))
        if not part:
            raise
        if len(part) < len(calls):
            said = stopped_note(len(part), len(calls), kind.many)
            warn(said)
        return part
    return dict(sorted(found.items()))


def _checkpoint(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], kind: Kind, course: Course
) -> Checkpoint:
    assert course.checkpoint is not None
    known = Fingerprints()
    same = (versions(), kind.name, function.__module__, function.__qualname__)
    keys = {number: known.of(*same, *call) for number, call in enumerate(calls)}
    return Checkpoint(course.checkpoint, kind.name, keys)


def stopped_note(n: int, asked: int, name: str) -> str:
    """What the result of a call says that was stopped."""
    return f"Partial: stopped after {n:,} of {asked:,} {name}; the result is of these alone."
