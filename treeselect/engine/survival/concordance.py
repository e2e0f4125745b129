"""Concordance: how often the row with the higher predicted risk has the event first.

Pairs are those of scikit-survival, within strata: the event of one, and another that was under
observation then and had no event until after it; one that is censored at the very time counts as
later, two events at the same time are no pair. Predictions that only rounding tells apart tie, and
count half; scikit-survival has those tie that are within 1e-8, lifelines only equal ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.cache import inner, kernel
from treeselect.engine.rounding import levels
from treeselect.engine.survival.curves import SurvivalCurve, censoring_curve
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM


@inner
def add_to(tree, place, amount):
    """Add to a place, from 1 on, of a tree of partial sums (Fenwick 1994)."""
    while place < tree.shape[0]:
        tree[place] += amount
        place += place & -place


@inner
def sum_to(tree, place):
    """Sum over the places from 1 to this one."""
    total = 0.0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@kernel
def count_pairs(y, rank, weight, event_weight, order, leaving, tree, found):
    """Weights of concordant, discordant and tied pairs.

    `order` has the rows by stratum, the latest first, at a time the censored before the events;
    `leaving` by stratum, the latest start first. `tree` has a place more than there are ranks.
    """
    n = order.shape[0]
    high = tree.shape[0] - 1
    asked = gone = 0
    while asked < n:
        stratum = y[order[asked], STRATUM]
        begin = asked
        total = 0.0
        inside = 0
        while asked < n and y[order[asked], STRATUM] == stratum:
            time = y[order[asked], STOP]
            end = asked
            while end < n and y[order[end], STOP] == time and y[order[end], STRATUM] == stratum:
                if y[order[end], EVENT] == 0.0:
                    add_to(tree, rank[order[end]] + 1, weight[order[end]])
                    total += weight[order[end]]
                    inside += 1
                end += 1
            # Who enters at this time or later is no more at risk.
            while (
                gone < n
                and y[leaving[gone], STRATUM] == stratum
                and y[leaving[gone], START] >= time
            ):
                add_to(tree, rank[leaving[gone]] + 1, -weight[leaving[gone]])
                total -= weight[leaving[gone]]
                inside -= 1
                gone += 1
            for at in range(asked, end):
                i = order[at]
                if inside > 0 and y[i, EVENT] > 0.0 and event_weight[i] > 0.0:
                    lower = sum_to(tree, rank[i])
                    upto = sum_to(tree, rank[i] + 1)
                    pair = weight[i] * event_weight[i]
                    found[0] += pair * lower
                    found[1] += pair * (total - upto)
                    found[2] += pair * (upto - lower)
            for at in range(asked, end):
                i = order[at]
                if y[i, EVENT] > 0.0:
                    add_to(tree, rank[i] + 1, weight[i])
                    total += weight[i]
                    inside += 1
            asked = end
        while gone < n and y[leaving[gone], STRATUM] == stratum:
            gone += 1
        for at in range(begin, asked):
            place = rank[order[at]] + 1
            while place <= high:
                tree[place] = 0.0
                place += place & -place


class Concordance(NamedTuple):
    """Weights of pairs; :attr:`value` is their summary.

    Attributes
    ----------
    concordant, discordant, tied : float
        Pairs whose earlier one has the higher predicted risk, the lower, and the same.
    """

    concordant: float
    discordant: float
    tied: float

    @property
    def value(self) -> float:
        """Share of the concordant pairs, the tied ones counted half; NaN without any pair."""
        total = self.concordant + self.discordant + self.tied
        return (self.concordant + self.tied / 2) / total if total > 0 else float("nan")


_NONE = Concordance(0.0, 0.0, 0.0)


def concordance(
    y: FloatArray, risk: FloatArray, weight: WeightArray, event_weight: FloatArray | None = None
) -> Concordance:
    """Harrell's pairs, each with the product of its weights.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
    risk : ndarray of float64, shape (n_rows,)
        Higher for those expected to have the event sooner. There is no pair if one of a row with
        weight is missing.
    weight : ndarray, shape (n_rows,)
        At least 0.
    event_weight : ndarray of float64, shape (n_rows,), optional
        What the event of a row counts besides; 1 by default.

    Notes
    -----
    F. E. Harrell, K. L. Lee, D. B. Mark (1996), Statistics in Medicine 15, 361-387. Time is that of
    sorting.
    """
    rows = weight > 0
    y, risk, mass = y[rows], risk[rows], np.asarray(weight[rows], dtype=np.float64)
    if np.isnan(risk).any():
        return _NONE
    counts = np.ones(len(y)) if event_weight is None else event_weight[rows]
    rank = levels(risk)
    order = np.lexsort((y[:, EVENT], -y[:, STOP], y[:, STRATUM]))
    leaving = np.lexsort((-y[:, START], y[:, STRATUM]))
    tree = np.zeros(int(rank.max(initial=0)) + 2)
    found = np.zeros(3)
    count_pairs(np.ascontiguousarray(y), rank, mass, counts, order, leaving, tree, found)
    # Real weights that come and go leave rounding behind, which is not to be a pair.
    return Concordance(*(max(float(total), 0.0) for total in found))


def inverse_of_observation(curve: SurvivalCurve, times: FloatArray) -> FloatArray:
    """One over the probability of being still under observation at some times; 0 where that is 0:
    what could not be observed has no weight."""
    seen = curve.at(times)
    return np.divide(1.0, seen, out=np.zeros_like(seen), where=seen > 0)


def uno_concordance(
    y: FloatArray,
    risk: FloatArray,
    weight: WeightArray,
    *,
    tau: float | None = None,
    censoring: SurvivalCurve | None = None,
) -> Concordance:
    """Uno's pairs: as :func:`concordance`, each event divided by the square of the probability of
    being still under observation, so that the answer does not depend on the censoring.

    Parameters
    ----------
    y, risk, weight
        As for :func:`concordance`. Strata have one distribution of censoring in common.
    tau : float, optional
        Only events before this time count. To be chosen where still some are under observation:
        late events have large weights.
    censoring : SurvivalCurve, optional
        Of other rows, by ``curves.censoring_curve``; that of these by default.

    Notes
    -----
    H. Uno, T. Cai, M. J. Pencina, R. B. D'Agostino, L. J. Wei (2011), Statistics in Medicine 30,
    1105-1117. The probability is taken at the time of the event itself, as in scikit-survival.
    """
    censoring = censoring_curve(y, weight) if censoring is None else censoring
    share = inverse_of_observation(censoring, y[:, STOP]) ** 2
    if tau is not None:
        share = np.where(y[:, STOP] < tau, share, 0.0)
    return concordance(y, risk, weight, share)
