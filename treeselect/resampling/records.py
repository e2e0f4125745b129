"""What results of repeated work have in common: the library of their tables, and an early end."""

from __future__ import annotations

import dataclasses
from typing import Any, Self, cast

from treeselect.running.pieces import stopped_note


class InLibrary:
    """A record whose tables are frames of a library."""

    __slots__ = ()

    library: str

    @property
    def in_pandas(self) -> Self:
        """The same with tables of pandas."""
        return cast(Self, dataclasses.replace(cast(Any, self), library="pandas"))


class Stoppable(InLibrary):
    """A record of a call that can be stopped: what was `asked` for if it was, otherwise None."""

    __slots__ = ()

    asked: int | None

    @property
    def partial(self) -> bool:
        """Whether the call was stopped, so that only what was finished is here."""
        return self.asked is not None


def stopped(found: Stoppable, n: int, pieces: str) -> tuple[str, ...]:
    """The note of a summary that the call was stopped, after so many pieces, if it was."""
    return () if found.asked is None else (stopped_note(n, found.asked, pieces),)
