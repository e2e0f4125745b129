"""The verdict of a comparison: which methods differ from the best, and the Pareto front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Verdict:
    """Methods by the intervals of their differences and by the Pareto front, best score first.

    Attributes
    ----------
    alike : tuple of str
        Methods that do not differ detectably from the best: the interval is not below 0.
    worse : tuple of str
        Methods that are worse than the best: the interval is below 0.
    front : tuple of str
        Methods that no other dominates in score, number of units and stability.
    fewest : float
        Smallest mean number of units on the front; NaN if the front is empty.
    smallest : tuple of str
        Methods on the front with that number.
    highest : float
        Highest stability on the front; NaN if none is defined.
    stablest : tuple of str
        Methods on the front with that stability.
    """

    alike: tuple[str, ...]
    worse: tuple[str, ...]
    front: tuple[str, ...]
    fewest: float
    smallest: tuple[str, ...]
    highest: float
    stablest: tuple[str, ...]


def verdict(ranked: pd.DataFrame, differences: pd.DataFrame) -> Verdict:
    """The verdict that follows from the tables of a comparison.

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
