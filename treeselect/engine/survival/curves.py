"""Curves over time, and how well they are predicted.

Kaplan and Meier's estimate, of events or of censoring, and the baseline hazard of a Cox model by
Breslow and by Efron; Brier scores, what a model explains of them and of the deviance beside one
without predictors, of the same strata; concordance.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy

from treeselect.brief import brief
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.compiling import inner, kernel
from treeselect.engine.losses import explicable
from treeselect.engine.rounding import at_least, levels
from treeselect.engine.survival.cox import CoxRows, risk_levels
from treeselect.engine.survival.times import (
    EVENT,
    START,
    STOP,
    STRATUM,
    one_stratum,
    risk_sets,
    spans,
    sums_at,
)
from treeselect.errors import DataError


def steps_at(time: FloatArray, value: FloatArray, at: FloatArray, before: float) -> FloatArray:
    """A step function that has a value from each time on, `before` until the first; shape of
    `at`."""
    return np.append(before, value)[np.searchsorted(time, at, side="right")]


@dataclass(frozen=True)
class SurvivalCurve:
    """Kaplan and Meier's estimate at all times at which rows end.

    Attributes
    ----------
    time : ndarray of float64, shape (n_times,)
        Rising.
    at_risk : ndarray of float64, shape (n_times,)
        Weight of the rows at risk. Where events and censorings tie, events are first: of the curve
        of censoring those with an event at that time are not at risk of it.
    events, censored : ndarray of float64, shape (n_times,)
        Weight of the rows that end at the time.
    survival : ndarray of float64, shape (n_times,)
        From the time on.
    standard_error : ndarray of float64, shape (n_times,)
        By Greenwood's formula; weights count copies of rows. NaN where the survival is 0.
    lower, upper : ndarray of float64, shape (n_times,)
        Limits of an interval that is symmetric for ``log(-log(survival))``. NaN where the survival
        is 0 or 1.
    """

    time: FloatArray
    at_risk: FloatArray
    events: FloatArray
    censored: FloatArray
    survival: FloatArray
    standard_error: FloatArray
    lower: FloatArray
    upper: FloatArray

    __repr__ = brief

    def at(self, times: FloatArray) -> FloatArray:
        """Survival at some times; 1 before the first, and after the last what it was there."""
        return steps_at(self.time, self.survival, times, 1.0)

    def quantile(self, share: float) -> float:
        """The first time by which this share has had the event; NaN if that was not seen."""
        there = at_least(1.0 - share, self.survival)
        return float(self.time[np.argmax(there)]) if there.any() else float("nan")

    @property
    def median(self) -> float:
        """The first time at which survival is a half or less; NaN if there is none. (R's takes the
        middle where the curve is at a half for some time.)"""
        return self.quantile(0.5)


def kaplan_meier(y: FloatArray, weight: WeightArray) -> SurvivalCurve:
    """Survival of some rows, those of weight 0 left out, whatever their strata, with pointwise 95%
    intervals."""
    return _product_limit(y, weight, of_censoring=False)


def censoring_curve(y: FloatArray, weight: WeightArray) -> SurvivalCurve:
    """Probability of still being under observation: Kaplan and Meier's estimate with the parts of
    events and censorings exchanged.

    Who has the event at a time is not at risk of being censored then, as in scikit-survival;
    lifelines and R, told that censorings are events, leave them at risk.
    """
    return _product_limit(y, weight, of_censoring=True)


def _product_limit(y: FloatArray, weight: WeightArray, *, of_censoring: bool) -> SurvivalCurve:
    part = weight > 0
    rows, mass = one_stratum(y[part]), np.asarray(weight[part], dtype=np.float64)
    sets = risk_sets(rows, np.ones(len(rows), dtype=np.bool_), 1)
    stretches = spans(sets.first, sets.last, sets.stratum, sets.begin)
    at_risk = stretches.over_rows(mass)
    ends = rows[:, EVENT] > 0
    events = sums_at(sets.last, mass * ends, len(sets.time))
    censored = sums_at(sets.last, mass * ~ends, len(sets.time))
    lost = events
    if of_censoring:
        # Who has the event is no more at risk; rounding must leave nobody where nobody is left.
        at_risk, lost = np.maximum(at_risk - events, censored), censored
    # Sums of real weights differ in their last bits with the order: who is last ends it.
    left = np.where(at_least(lost, at_risk), 0.0, at_risk - lost)
    with np.errstate(divide="ignore", invalid="ignore"):
        survival: FloatArray = np.cumprod(np.where(lost > 0, left / at_risk, 1.0), dtype=np.float64)
        greenwood = np.cumsum(np.where(lost > 0, lost / (at_risk * left), 0.0))
        error = np.where(survival > 0, survival * np.sqrt(greenwood), np.nan)
        inside = np.where((survival > 0) & (survival < 1), survival, np.nan)
        logarithm = np.log(inside)
        spread = scipy.special.ndtri(0.975) * np.sqrt(greenwood) / logarithm
        lower, upper = (np.exp(logarithm * np.exp(sign * spread)) for sign in (-1, 1))
    return SurvivalCurve(
        sets.time, at_risk, events, censored, survival, error, np.asarray(lower), np.asarray(upper)
    )


@dataclass(frozen=True)
class Baseline:
    """Cumulative baseline hazard of each stratum, a step function.

    Attributes
    ----------
    time : ndarray of float64, shape (n_times,)
        Times of events, rising within each stratum; strata follow each other.
    begin : ndarray of int64, shape (n_strata + 1,)
        Where the times of each stratum begin, and their number.
    hazard : ndarray of float64, shape (n_times,)
        Cumulative hazard from the time on of a row whose linear predictor is `level` of its
        stratum.
    level : ndarray of float64, shape (n_strata,)
    until : ndarray of float64, shape (n_strata,)
        The last time at which anybody was under observation; NaN of a stratum without rows.
    """

    time: FloatArray
    begin: IntArray
    hazard: FloatArray
    level: FloatArray
    until: FloatArray

    __repr__ = brief

    def cumulative_hazard(
        self, times: FloatArray, stratum: IntArray, eta: FloatArray | float = 0.0
    ) -> FloatArray:
        """Cumulative hazard at some times, of rows of these strata and linear predictors.

        The three are broadcast: with ``stratum[:, None]`` and ``eta[:, None]`` each row has all
        times. Before the first event it is 0, after the last what it was there.
        """
        shape = np.broadcast_shapes(np.shape(times), np.shape(stratum), np.shape(eta))
        present = np.unique(stratum)
        times, stratum = np.broadcast_to(times, shape), np.broadcast_to(stratum, shape)
        found = np.zeros(shape)
        for s in present:
            own, here = slice(self.begin[s], self.begin[s + 1]), stratum == s
            found[here] = steps_at(self.time[own], self.hazard[own], times[here], 0.0)
        with np.errstate(over="ignore"):
            risk = np.exp(np.minimum(np.broadcast_to(eta, shape) - self.level[stratum], _LARGEST))
            return np.asarray(found * risk)

    def survival(
        self, times: FloatArray, stratum: IntArray, eta: FloatArray | float = 0.0
    ) -> FloatArray:
        """Probability of no event until some times, as :meth:`cumulative_hazard`."""
        return np.exp(-self.cumulative_hazard(times, stratum, eta))


_LARGEST = 700.0
"""Relative risks are numbers, so that nothing times them is nothing."""


def breslow(y: FloatArray, eta: FloatArray, weight: WeightArray) -> Baseline:
    """Breslow's estimate, by logarithms of relative risks: events over the sum of the relative
    risks of those at risk."""
    mass = np.asarray(weight, dtype=np.float64)
    dies = (y[:, EVENT] > 0) & (mass > 0)
    sets = risk_sets(y, dies)
    n_strata = len(sets.begin) - 1
    level, moved = risk_levels(eta, mass, sets.stratum, n_strata)
    stretches = spans(sets.first, sets.last, sets.stratum, sets.begin)
    events = sums_at(sets.last[dies], mass[dies], len(sets.time))
    added = events / stretches.over_rows(mass * np.exp(level))
    hazard = np.zeros(len(added))
    until = np.full(n_strata, np.nan)
    np.fmax.at(until, y[mass > 0, STRATUM].astype(np.int64), y[mass > 0, STOP])
    for own in map(slice, sets.begin[:-1], sets.begin[1:]):
        hazard[own] = np.cumsum(added[own])
    return Baseline(sets.time, sets.begin, hazard, moved, until)


def efron(y: FloatArray, eta: FloatArray, weight: WeightArray) -> Baseline:
    """Baseline hazard by Efron's method, as R's: the l-th of d events at a time, l from 0, leaves
    out l / d of the risks of all d. Breslow's leaves out none, and is too low where many tie."""
    found = breslow(y, eta, weight)
    dies = (y[:, EVENT] > 0) & (weight > 0)
    place, mass = risk_sets(y, dies).last[dies], weight[dies]
    count = np.bincount(place)
    if (count == 1).all():
        return found
    strata = [slice(*ends) for ends in itertools.pairwise(found.begin)]
    added = np.concatenate([np.diff(found.hazard[own], prepend=0.0) for own in strata])
    risk = mass * np.exp(eta[dies] - found.level[y[dies, STRATUM].astype(np.int64)])
    share = np.minimum(np.bincount(place, risk) * added / np.bincount(place, mass), 1.0)
    place = np.sort(place)
    earlier = np.arange(len(place)) - (np.cumsum(count) - count)[place]
    added *= np.bincount(place, 1 / (1 - earlier / count[place] * share[place])) / count
    hazard = np.concatenate([np.cumsum(added[own]) for own in strata])
    return replace(found, hazard=hazard)


# --- brier scores of predicted survival, with inverse-probability-of-censoring weights ---------


def brier_scores(
    y: FloatArray,
    survival: FloatArray,
    times: FloatArray,
    weight: WeightArray,
    *,
    censoring: SurvivalCurve | None = None,
) -> FloatArray:
    """Mean squared difference at each time between survival and its prediction, (n_rows, n_times);
    shape (n_times,).

    Who is censored before a time is left out; the others count one over the probability of being
    still under observation, at their event or at the time, by the :func:`censoring_curve` of these
    rows or of others; after its last time it is what it was there. A DataError if a row with weight
    was not under observation from the beginning. E. Graf, C. Schmoor, W. Sauerbrei, M. Schumacher
    (1999), Statistics in Medicine 18, 2529-2545.
    """
    if (y[weight > 0, START] >= 0).any():
        raise DataError(
            "Brier scores can't be computed with delayed entry.\n"
            "  Found: rows whose observation began after time 0.\n"
            "  Concordance allows delayed entry."
        )
    curve = censoring_curve(y, weight) if censoring is None else censoring
    stop = y[:, STOP, np.newaxis]
    over = (stop <= times) & (y[:, EVENT, np.newaxis] > 0)
    of_cases = inverse_of_observation(curve, y[:, STOP])[:, np.newaxis] * over
    of_others = inverse_of_observation(curve, times) * (stop > times)
    squares = of_cases * survival**2 + of_others * (1.0 - survival) ** 2
    return np.asarray(np.average(squares, axis=0, weights=weight))


def integrated_brier_score(scores: FloatArray, times: FloatArray) -> float:
    """Mean of Brier scores over the time from the first to the last of at least two rising times,
    by trapezes."""
    return float(np.trapezoid(scores, times) / (times[-1] - times[0]))


# --- what a model of times to an event explains ------------------------------------------------

_AT_ONCE = 1_000_000
"""So many predicted probabilities are in memory at a time."""

_NOTHING = 1e-12
"""Deviance per row that is left by rounding where nothing can be told."""


def brier_explained(
    y: FloatArray, eta: FloatArray, weight: WeightArray, training: WeightArray, times: FloatArray
) -> float:
    """One less the ratio of two integrated Brier scores: of the survival that is predicted, and of
    that without predictors (Graf et al. 1999, who take Kaplan and Meier's curve for it); NaN if the
    latter has no error.

    `weight` is of the rows that are predicted, none of which entered late, `training` of those that
    the model was fitted to, which tell the baseline hazard by Efron's estimate, of each stratum,
    and the censoring. The scores are integrated over rising times by trapezes; one alone is the
    score there.
    """
    told = weight > 0
    censoring = censoring_curve(y, training)
    found = [
        _integrated(y[told], one[told], weight[told], efron(y, one, training), censoring, times)
        for one in (eta, np.zeros(len(eta)))
    ]
    return 1 - found[0] / found[1] if found[1] > 0 else float("nan")


def _integrated(
    y: FloatArray,
    eta: FloatArray,
    weight: WeightArray,
    baseline: Baseline,
    censoring: SurvivalCurve,
    times: FloatArray,
) -> float:
    stratum = y[:, STRATUM].astype(np.int64)[:, np.newaxis]
    scores = []
    for part in np.array_split(times, min(len(times), 1 + len(y) * len(times) // _AT_ONCE)):
        survival = baseline.survival(part, stratum, eta[:, np.newaxis])
        scores.append(brier_scores(y, survival, part, weight, censoring=censoring))
    found = np.concatenate(scores)
    return integrated_brier_score(found, times) if len(times) > 1 else float(found[0])


def deviance_explained(y: FloatArray, eta: FloatArray, weight: WeightArray) -> float:
    """One less the ratio of two deviances of the partial likelihood: at `eta`, and where all risks
    are equal; NaN if there is no event with others at risk. Risk sets are those of the rows with a
    weight."""
    part = weight > 0
    if not part.any():
        return float("nan")
    rows, own = CoxRows(y[part], weight[part]), weight[part]
    without = explicable(rows, np.zeros(len(own)), own)
    if without <= _NOTHING:
        return float("nan")
    return 1 - explicable(rows, eta[part], own) / without


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
    """Weights of pairs: whose earlier one has the higher predicted risk, the lower, and the same;
    :attr:`value` is their summary."""

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
    """Harrell's pairs, each with the product of its weights; an event may count `event_weight`
    besides.

    Pairs are those of scikit-survival, within strata: the event of one, and another that was under
    observation then and had no event until after it; one that is censored at the very time counts
    as later, two events at the same time are no pair. Predictions that only rounding tells apart
    tie, and count half; scikit-survival has those tie that are within 1e-8, lifelines only equal
    ones. There is no pair if the risk of a row with weight is missing. F. E. Harrell, K. L. Lee, D.
    B. Mark (1996), Statistics in Medicine 15, 361-387.
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
    being still under observation, by the :func:`censoring_curve` of these rows or of others, so
    that the answer does not depend on the censoring.

    Strata have one distribution of censoring in common. Only events before `tau` count, to be
    chosen where still some are under observation: late events have large weights. H. Uno, T. Cai,
    M. J. Pencina, R. B. D'Agostino, L. J. Wei (2011), Statistics in Medicine 30, 1105-1117. The
    probability is taken at the time of the event itself, as in scikit-survival.
    """
    censoring = censoring_curve(y, weight) if censoring is None else censoring
    share = inverse_of_observation(censoring, y[:, STOP]) ** 2
    if tau is not None:
        share = np.where(y[:, STOP] < tau, share, 0.0)
    return concordance(y, risk, weight, share)
