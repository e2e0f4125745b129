"""Splits by the log-rank test: exact, to measure what is lost by splits on its scores.

Forests split on martingale residuals at the null model, which are the log-rank scores: the gain of
their mean is the statistic of Hothorn and Lausen (2003), but for a factor that all splits of a node
have in common. Its numerator is that of the log-rank test; its variance is that of scores which
are permuted, where the log-rank test takes that of each risk set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, WeightArray
from treeselect.engine.rounding import first_largest
from treeselect.engine.survival.spans import spans, sums_at
from treeselect.engine.survival.times import EVENT, risk_sets


class LogRank:
    """The log-rank test of some rows, within their strata.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
    weight : ndarray, shape (n_rows,)
        Copies of rows, at least 0.
    """

    def __init__(self, y: FloatArray, weight: WeightArray) -> None:
        self._mass = np.asarray(weight, dtype=np.float64)
        self._dies = (y[:, EVENT] > 0) & (self._mass > 0)
        sets = risk_sets(y, self._dies)
        self._spans = spans(sets.first, sets.last, sets.stratum, sets.begin)
        self._last = sets.last[self._dies]
        self._at_risk = self._spans.over_rows(self._mass)
        self._events = self._of_dying(self._mass)

    def _of_dying(self, mass: FloatArray) -> FloatArray:
        return sums_at(self._last, mass[self._dies], self._spans.n_times)

    def scores(self) -> FloatArray:
        """Event less the cumulative hazard by Nelson and Aalen while under observation, shape
        (n_rows,)."""
        return self._dies - self._spans.over_times(self._events / self._at_risk)

    def chi_square(self, left: BoolArray) -> float:
        """Squared difference between observed and expected events of some rows over its
        hypergeometric variance; 0 where that is 0."""
        mass = self._mass * left
        n, d = self._at_risk, self._events
        share = self._spans.over_rows(mass) / n
        excess = float((self._of_dying(mass) - share * d).sum())
        tied = (n - d) / np.maximum(n - 1.0, 1.0)  # of one row alone all is certain
        variance = float((d * share * (1.0 - share) * tied).sum())
        return excess * excess / variance if variance > 0 else 0.0


def scores_chi_square(left: BoolArray, scores: FloatArray, weight: WeightArray) -> float:
    """The squared sum of some rows' scores, less what is expected, over its variance if scores are
    permuted; 0 where that is 0. Weights count copies.

    T. Hothorn, B. Lausen (2003), Computational Statistics and Data Analysis 43, 121-137.
    """
    n, m = float(weight.sum()), float(weight[left].sum())
    centred = scores - np.average(scores, weights=weight)
    variance = m * (n - m) / (n * (n - 1)) * float(weight @ centred**2)
    return float(weight[left] @ centred[left]) ** 2 / variance if variance > 0 else 0.0


class Cut(NamedTuple):
    """A split of a column: rows up to `value` on one side."""

    value: float
    chi_square: float


def best_cut(
    column: FloatArray, y: FloatArray, weight: WeightArray, *, min_weight: float = 1.0
) -> Cut:
    """The cut of a column with the largest log-rank chi-square, the first of equal ones.

    A side must have `min_weight`; the value is NaN, the chi-square 0, if there is no such cut. Each
    of the column's values takes time in proportion to the number of rows.
    """
    test = LogRank(y, weight)
    values = np.unique(column[weight > 0])
    sides = [column <= value for value in values]
    total = weight.sum()
    heavy = [min(weight[left].sum(), total - weight[left].sum()) >= min_weight for left in sides]
    found = [
        Cut(float(value), test.chi_square(left))
        for value, left, enough in zip(values, sides, heavy, strict=True)
        if enough
    ]
    if not found:
        return Cut(float("nan"), 0.0)
    return found[first_largest([cut.chi_square for cut in found])]
