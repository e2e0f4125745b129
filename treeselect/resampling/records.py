"""What results of repeated work have in common: the library of their tables, held-out rows, scores,
and an early end."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from treeselect.frames.tables import in_library
from treeselect.running.pieces import stopped_note


@dataclass(frozen=True, kw_only=True, eq=False)
class InLibrary:
    """A record whose tables are frames of a library.

    Attributes
    ----------
    library : str
        Data frame library of the tables.
    """

    library: str = "pandas"

    @property
    def in_pandas(self) -> Self:
        """The same with tables of pandas."""
        return dataclasses.replace(self, library="pandas")

    def _frame(self, table: pd.DataFrame) -> Any:
        return in_library(table, self.library)


@dataclass(frozen=True, kw_only=True, eq=False)
class OfFolds(InLibrary):
    """A record of what was found on held-out rows.

    Attributes
    ----------
    scheme : str
        How rows are held out, or what is drawn, in words.
    seed : int
    call : str
        The call, after that of the fit.
    is_chosen : bool
        Whether the rows decided on the terms of the fit.
    """

    scheme: str
    seed: int
    call: str = ""
    is_chosen: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Scored(OfFolds):
    """A record of scores of held-out rows.

    Attributes
    ----------
    score_name : str
    score_words : str
        A sentence that explains the score; empty if its name suffices.
    """

    score_name: str
    score_words: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Stoppable(InLibrary):
    """A record of a call that can be stopped.

    Attributes
    ----------
    asked : int or None
        Number of folds, resamples, samples or splits requested, if the call was stopped before all
        were done.
    """

    asked: int | None = None

    @property
    def partial(self) -> bool:
        """Whether the call was stopped, so that only what was finished is here."""
        return self.asked is not None


def stopped(found: Stoppable, n: int, pieces: str) -> tuple[str, ...]:
    """The note of a summary that the call was stopped, after so many pieces, if it was."""
    return () if found.asked is None else (stopped_note(n, found.asked, pieces),)
