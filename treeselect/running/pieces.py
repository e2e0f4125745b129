"""The pieces of a long call: read from a folder or computed, saved, reported, and collected.

If the user stops the call, the finished pieces are the result, where a part can be one.
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
    """A finished piece of a long call, as passed to `on_piece`.

    Attributes
    ----------
    kind : str
        ``"resample"`` of ``resample()``, ``"fold"`` of ``performance()``, ``"split"`` of
        ``inference()``, ``"pair"`` of ``compare()``: a method in a fold.
    number : int
        Number of the piece, from 0. Pieces may finish in any order.
    done, total : int
        Number of finished pieces, including this one, and of all pieces.
    was_saved : bool
        Whether it was read from the `checkpoint` folder.
    found : dict
        Its result. For a resample ``"selected"``, a tuple of terms or units; for a fold ``"score"``
        and ``"selected"``, most important first; for a split ``"selected"``, None if the response
        does not vary in its rows; for a pair ``"method"``, ``"fold"`` (from 1), and the tuples
        ``"k"`` (None with a given tuning parameter), ``"score"`` and ``"n_selected"``, by size.
    """

    kind: str
    number: int
    done: int
    total: int
    was_saved: bool
    found: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """Description of the pieces of a call.

    Attributes
    ----------
    name : str
        Singular, in lower-case letters.
    many : str
        Plural, for messages.
    label : str
        Label of the progress bar.
    write : callable
        From a result to a value for JSON.
    read : callable
        ``read(number, said)``, its inverse. Checks everything, because the file may be untrusted;
        raises an error of any kind.
    found : callable
        ``found(number, result)``: :attr:`Piece.found`.
    part : callable
        From the finished pieces of a stopped call to those that form a result; empty if none do.
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
    """How pieces are run; results do not depend on it.

    Attributes
    ----------
    workers : Workers
    progress : bool or None
        See ``progress.track``.
    checkpoint : pathlib.Path or None
        Folder of finished pieces.
    on_piece : callable or None
        Called with a :class:`Piece` after each piece.
    """

    workers: Workers = ALONE
    progress: bool | None = None
    checkpoint: Path | None = None
    on_piece: Callable[[Piece], object] | None = None


HERE = Course()
"""In this process, silently."""


def check_on_piece(on_piece: Any) -> Any:
    """The argument; an OptionError unless it can be called or is None."""
    if on_piece is not None and not callable(on_piece):
        raise OptionError(
            "`on_piece` must be a function of one argument, the finished piece.\n"
            f"  Found: {described(on_piece)}."
        )
    return on_piece


def run_pieces(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], kind: Kind, course: Course
) -> Found:
    """Results of ``function(*call, n_threads=...)`` by number: of all calls, or of some of them if
    the user stops the call and a part can be a result.

    Parameters
    ----------
    function, calls
        As for ``parallel.run_each``. They must contain everything that the result depends on.
    kind : Kind
    course : Course

    Raises
    ------
    KeyboardInterrupt
        If the user stops the call and the finished pieces are not a result.
    OptionError
        If pieces can't be distinguished from those of other calls.
    OutOfMemoryError, WorkerError
        See ``parallel.run_each``.

    Warns
    -----
    TreeselectWarning
        If the user stops the call, a process dies, or files in the folder are not used.
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
    """The note on the result of a stopped call."""
    return f"Partial: stopped after {n:,} of {asked:,} {name}; the result is based on these alone."
