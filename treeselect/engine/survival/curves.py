"""Curves over time: Kaplan and Meier's estimate, of events or of censoring, and the baseline
hazard of a Cox model by Breslow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from treeselect.brief import brief
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.rounding import at_least
from treeselect.engine.survival.cox import risk_levels
from treeselect.engine.survival.spans import spans, sums_at
from treeselect.engine.survival.times import EVENT, STOP, STRATUM, one_stratum, risk_sets


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


def kaplan_meier(y: FloatArray, weight: WeightArray, *, confidence: float = 0.95) -> SurvivalCurve:
    """Survival of some rows, whatever their strata.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
    weight : ndarray, shape (n_rows,)
        At least 0; rows of weight 0 are left out.
    confidence : float
        Of the pointwise intervals, between 0 and 1.
    """
    return _product_limit(y, weight, confidence, of_censoring=False)


def censoring_curve(
    y: FloatArray, weight: WeightArray, *, confidence: float = 0.95
) -> SurvivalCurve:
    """Probability of still being under observation: Kaplan and Meier's estimate with the parts of
    events and censorings exchanged.

    Who has the event at a time is not at risk of being censored then, as in scikit-survival;
    lifelines and R, told that censorings are events, leave them at risk.
    """
    return _product_limit(y, weight, confidence, of_censoring=True)


def _product_limit(
    y: FloatArray, weight: WeightArray, confidence: float, *, of_censoring: bool
) -> SurvivalCurve:
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
        spread = scipy.special.ndtri(0.5 + confidence / 2) * np.sqrt(greenwood) / logarithm
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
    """Breslow's estimate: events over the sum of the relative risks of those at risk.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
    eta : ndarray of float64, shape (n_rows,)
        Logarithms of the relative risks.
    weight : ndarray, shape (n_rows,)
        At least 0.
    """
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
