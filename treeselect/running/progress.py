"""Progress of long calls on standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeVar

from treeselect.arguments.checks import check_flag
from treeselect.shown import shown

Item = TypeVar("Item")


def read_progress(progress: object) -> bool | None:
    """The argument as Python's; an OptionError unless it is a truth value or None."""
    return None if progress is None else check_flag("progress", progress)


def track(
    items: Iterable[Item], label: str, total: int, progress: bool | None, done: int = 0
) -> Iterator[Item]:
    """Pass items on and show the number finished and the estimated time left.

    Parameters
    ----------
    items : iterable
    label : str
        Name of the task.
    total : int
        Number of items, including those finished before.
    progress : bool or None
        None shows a bar if standard error is a terminal; False shows nothing; True always shows
        progress, without a terminal as lines of text, at most one every ten seconds.
    done : int
        Items finished before, which do not enter the estimate of the time left.
    """
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (is_terminal if progress is None else progress):
        return iter(items)
    if is_terminal:
        return _with_bar(items, label, total, done)
    return _with_lines(items, label, total, done)


def _with_bar(items: Iterable[Item], label: str, total: int, done: int) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(shown(label), total=total, completed=done)
        for item in items:
            yield item
            bar.advance(task)


def _with_lines(items: Iterable[Item], label: str, total: int, done: int) -> Iterator[Item]:
    begin = said = time.monotonic()
    for number, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - said >= _SECONDS or done + number == total:
            said = now
            left = (now - begin) / number * (total - done - number)
            _say(f"{shown(label)}: {done + number:,} of {total:,}{_left(left)}")


def _left(seconds: float) -> str:
    """The estimated time left, as text."""
    if seconds < 1:
        return ""
    if seconds < 100:
        return f", about {seconds:.0f} s left"
    if seconds < 100 * 60:
        return f", about {seconds / 60:.0f} min left"
    return f", about {seconds / 3600:.1f} h left"


def _say(line: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):  # a full disk is no reason to stop
            print(line, file=sys.stderr, flush=True)


_SECONDS = 10.0
"""Seconds between lines of text."""


def announce_compilation(progress: bool | None) -> None:
    """Announce the compilation of the kernels: once per machine and version, or once per process if
    no folder can keep them."""
    from treeselect.engine.cache import kernels_are_compiled

    if progress is not False and not kernels_are_compiled():
        _announce()


@cache
def _announce() -> None:
    from treeselect.engine.cache import kernels_can_be_kept

    if kernels_can_be_kept():
        _say("treeselect: compiling tree kernels for this machine (once, up to a minute).")
    else:
        _say(
            "treeselect: compiling tree kernels (up to a minute). They can't be stored: set"
            " TREESELECT_CACHE_DIR to a folder that can be written."
        )
