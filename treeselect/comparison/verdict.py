"""What a comparison comes to: who can't be told from the best, and who is on the front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Verdict:
    """Methods by what the intervals and the front say of them, in the order of their scores.

    Attributes
    ----------
    alike : tuple of str
        Those that the intervals of the differences do not tell from the best.
    worse : tuple of str
        Those that they tell from it.
    front : tuple of str
        Those that no other beats in score, number of units and stability.
    fewest : float
        Least mean number of units on the front; not a number if that is empty.
    smallest : tuple of str
        The methods that have it.
    highest : float
        Greatest stability on the front; not a number where there is none.
    stablest : tuple of str
        The methods that have it.
    """

    alike: tuple[str, ...]
    worse: tuple[str, ...]
    front: tuple[str, ...]
    fewest: float
    smallest: tuple[str, ...]
    highest: float
    stablest: tuple[str, ...]


def verdict(ranked: pd.DataFrame, differences: pd.DataFrame) -> Verdict:
    """The verdict of the tables of a comparison.

    Parameters
    ----------
    ranked : pandas.DataFrame
        See :meth:`treeselect.comparison.record.Contest.ranked_table`.
    differences : pandas.DataFrame
        See :meth:`treeselect.comparison.record.Contest.difference_table`.
    """
    less = differences["ci_high"] < 0
    front = ranked[ranked["front"]]
    fewest, highest = front["n_selected"].min(), front["stability"].max()
    return Verdict(
        alike=tuple(differences.loc[~less, "method"]),
        worse=tuple(differences.loc[less, "method"]),
        front=tuple(front["method"]),
        fewest=float(fewest),
        smallest=tuple(front.loc[front["n_selected"] == fewest, "method"]),
        highest=float(highest),
        stablest=tuple(front.loc[front["stability"] == highest, "method"]),
    )
