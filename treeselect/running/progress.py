"""What is said on standard error while a long call runs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from treeselect.arguments.checks import check_flag
from treeselect.shown import shown

Item = TypeVar("Item")


def read_progress(progress: object) -> bool | None:
    """The argument as Python's; an OptionError unless it is a truth value or None."""
    return None if progress is None else check_flag("progress", progress)


def track(items: Iterable[Item], label: str, total: int, progress: bool | None) -> Iterator[Item]:
    """Pass items on and show how many there have been.

    Parameters
    ----------
    items : iterable
    label : str
        What is being done.
    total : int
        Number of items.
    progress : bool or None
        None shows the bar if standard error is a terminal, False never, True always.
    """
    show = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress
    if not show:
        yield from items
        return
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
        yield from bar.track(items, total=total, description=shown(label))


def announce_compilation(progress: bool | None) -> None:
    """Say so, once per machine and version, before the kernels are compiled."""
    from treeselect.engine.cache import kernels_are_compiled

    if progress is not False and sys.stderr is not None and not kernels_are_compiled():
        with contextlib.suppress(OSError):  # a full disk is no reason to stop
            print(
                "treeselect: compiling its tree kernels for this machine, once (about 10 seconds).",
                file=sys.stderr,
            )
