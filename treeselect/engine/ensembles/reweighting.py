"""Boosting by reweighting: SAMME, AdaBoost for classes (Zhu, Zou, Rosset and Hastie 2009)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray


class Reweighted(NamedTuple):
    """What one round of SAMME gives.

    Attributes
    ----------
    vote : float
        Weight of the round's classifier in the vote, ``log((1 - error) / error) + log(K - 1)``;
        0 if it is no better than guessing, ``log(K - 1)`` plus that of half a row if it makes no
        error.
    weight : ndarray of float64, shape (n_rows,)
        Weights of the next round, summing to 1 over the rows with weight; those of the first again
        where the error was 0 or at least that of guessing.
    error : float
        Weighted share of the rows that are classified wrongly.
    """

    vote: float
    weight: FloatArray
    error: float


def reweight(
    weight: FloatArray, wrong: BoolArray, n_classes: int, *, start: FloatArray | None = None
) -> Reweighted:
    """Weights of the next round, Algorithm 2 of Zhu et al. (2009), steps 2b to 2e.

    Parameters
    ----------
    weight : ndarray of float64, shape (n_rows,)
        Weights of this round, at least 0, some positive.
    wrong : ndarray of bool, shape (n_rows,)
        Rows that this round's classifier gets wrong.
    n_classes : int
        At least 2.
    start : ndarray of float64, shape (n_rows,), optional
        Weights of the first round, to which they return; uniform by default.

    Returns
    -------
    Reweighted
    """
    share = weight / weight.sum()
    has_weight = weight > 0
    first = has_weight if start is None else start
    first = first / first.sum()
    error = float(share[wrong].sum())
    if error >= 1 - 1 / n_classes:
        return Reweighted(0.0, first, error)
    # A classifier without error would have an endless vote.
    shown = error if error > 0 else 0.5 / float(has_weight.sum())
    vote = float(np.log((1 - shown) / shown) + np.log(n_classes - 1))
    if error == 0:
        return Reweighted(vote, first, error)
    raised = share * np.where(wrong, np.exp(vote), 1.0)
    return Reweighted(vote, raised / raised.sum(), error)
