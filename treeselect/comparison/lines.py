"""Score against number of units, by method: the data of figures of a comparison."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treeselect.comparison.words import size_text

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.comparison.record import Contest

MOST_LINES = 8
"""Largest number of methods in a figure with lines: colours and marks distinguish this many."""


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """A method at one size.

    Attributes
    ----------
    size : float
        The requested size; the mean number of units if a tuning parameter determines it.
    score, error : float
        Mean over the folds, and its standard error.
    stability : float
        NaN if it is not defined.
    compared : bool
        Whether the method is compared at this size.
    """

    size: float
    score: float
    error: float
    stability: float
    compared: bool


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A method over its sizes; a single point if it has one size.

    Attributes
    ----------
    method : str
    size : str
        Size at which it is compared, as text: "3", or "(2.6)" for a mean number of units.
    points : tuple of ScorePoint
    """

    method: str
    size: str
    points: tuple[ScorePoint, ...]


def score_lines(found: Contest, most: int | None = None) -> tuple[ScoreLine, ...]:
    """Methods over their sizes, the best score first.

    Sizes at which no fold selects anything are omitted, unless the method is compared there: the
    constant model is the same for all methods, and scores far lower.

    Parameters
    ----------
    found : Contest
    most : int, optional
        Number of methods, the best first; all by default.
    """
    compared = found.ranked_table()
    curves = dict(list(found.curve_table().groupby("method", sort=False)))
    rows = compared.to_dict("records")[:most]
    return tuple(_line(row, curves[row["method"]]) for row in rows)


def _line(compared: Mapping[Hashable, Any], curve: pd.DataFrame) -> ScoreLine:
    import pandas as pd

    own = bool(curve["k"].isna().all())
    points = [
        ScorePoint(
            size=float(row["n_selected"] if own else row["k"]),
            score=row["score"],
            error=row["standard_error"],
            stability=row["stability"],
            compared=own or row["k"] == compared["k"],
        )
        for row in curve.to_dict("records")
        if row["n_selected"] > 0 or pd.isna(row["k"]) or row["k"] == compared["k"]
    ]
    size = size_text(compared["k"], compared["n_selected"])
    return ScoreLine(str(compared["method"]), size, tuple(points))
