"""Cox's partial likelihood: value and derivatives in the linear predictor of each row.

Efron's method for ties, delayed entry, strata, weights. A pass takes time in proportion to
the number of rows, once they have been sorted.

With weights w, at a time with d deaths D of mean weight m and the rows R at risk, let A_k be the
sum of ``w exp(eta)`` over R less ``k / d`` of that over D. Minus the logarithm of the partial
likelihood is the sum over times of ``m * sum_{k < d} log(A_k) - sum_D w eta`` (Efron 1977; weights
as in R's ``coxph``). Its second derivative has the diagonal of Simon, Friedman, Hastie and
Tibshirani (2011), which XGBoost's ``survival:cox`` has, too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.compiling import kernel
from treeselect.engine.losses import Apart, Loss, PoissonLoss, RowLoss
from treeselect.engine.survival.times import EVENT, STOP, risk_sets, spans, sums_at
from treeselect.errors import MethodError

# --- several independent copies of some rows ---------------------------------------------------


class Copies(RowLoss):
    """The loss of several copies of some rows, one after the other: each has linear predictors of
    its own, and all have the risk sets of the rows, which are sorted once."""

    is_joint = True

    def __init__(self, rows: RowLoss, n: int) -> None:
        self._rows, self._n = rows, n

    def value(self, eta: FloatArray) -> FloatArray:
        return np.concatenate([self._rows.value(own) for own in self._each(eta)])

    def least(self) -> FloatArray:
        return np.tile(self._rows.least(), self._n)

    def negative_gradient(self, eta: FloatArray) -> FloatArray:
        return np.concatenate([self._rows.negative_gradient(own) for own in self._each(eta)])

    def derivatives(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        parts = [self._rows.derivatives(own) for own in self._each(eta)]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def curvature_times(self, eta: FloatArray, directions: FloatArray) -> FloatArray:
        parts = zip(self._each(eta), self._each(directions), strict=True)
        return np.concatenate([self._rows.curvature_times(*own) for own in parts])

    def repeated(self, n: int) -> Copies:
        return Copies(self._rows, self._n * n)

    def _each(self, values: FloatArray) -> list[FloatArray]:
        return np.split(values, self._n)


# --- Cox's partial likelihood ------------------------------------------------------------------

_WIDEST = 600.0
"""The relative risks of a stratum differ by at most exp of this: squares of both ends of the range
are then numbers."""

_ABOVE = 50.0
"""A row of weight 0 has at most exp of this times the largest relative risk of the others."""

_MOST_EXPECTED = np.exp(300.0)
"""Rows of weight 0 have at most so many expected events, so that sums of their squares are
numbers, too; those with weight have at most one for each that was seen and counts as much."""

_LEAST_STEP = -0.95
"""Steps below it count as this one: a leaf's risk falls by at most a factor of 20."""

_MOST_MODELLED = 1_000
"""Rows whose risk sets are told to cvxpy one by one: with 400 it solves one problem in some 20
seconds, and the time grows with the square of their number or faster."""


@kernel
def take_hazards(rest, tied, n_tied, mean, found):
    """For each time ``m sum 1 / A_k`` and ``m sum 1 / A_k^2``, and the same for one of the dying,
    who is at risk with the share ``1 - k / d``; rows of `found` in this order."""
    for t in range(rest.shape[0]):
        hazard = square = own_hazard = own_square = 0.0
        for k in range(n_tied[t]):
            share = 1.0 - k / n_tied[t]
            part = 1.0 / (rest[t] + share * tied[t])
            hazard += part
            square += part * part
            own_hazard += share * part
            own_square += share * part * share * part
        found[0, t] = mean[t] * hazard
        found[1, t] = mean[t] * square
        found[2, t] = mean[t] * own_hazard
        found[3, t] = mean[t] * own_square


@kernel
def take_moved_hazards(rest, tied, moved_rest, moved_tied, n_tied, mean, found):
    """For each time ``m sum B_k / A_k^2``, where B_k is a sum as A_k of other numbers, and the same
    for one of the dying."""
    for t in range(rest.shape[0]):
        hazard = own = 0.0
        for k in range(n_tied[t]):
            share = 1.0 - k / n_tied[t]
            part = 1.0 / (rest[t] + share * tied[t])
            part *= (moved_rest[t] + share * moved_tied[t]) * part
            hazard += part
            own += share * part
        found[0, t] = mean[t] * hazard
        found[1, t] = mean[t] * own


@kernel
def take_means(rest, tied, moved_rest, moved_tied, n_tied, found):
    """Mean over k of ``B_k / A_k`` for each time, where B_k is a sum as A_k of other numbers."""
    for t in range(rest.shape[0]):
        total = 0.0
        for k in range(n_tied[t]):
            share = 1.0 - k / n_tied[t]
            total += (moved_rest[t] + share * moved_tied[t]) / (rest[t] + share * tied[t])
        found[t] = total / max(n_tied[t], 1)


@kernel
def take_log_risks(rest, tied, n_tied, found):
    """Mean over k of ``log(A_k)`` for each time; minus infinite where nobody is at risk."""
    for t in range(rest.shape[0]):
        total = 0.0 if n_tied[t] > 0 else np.log(rest[t])
        for k in range(n_tied[t]):
            total += np.log(rest[t] + (1.0 - k / n_tied[t]) * tied[t])
        found[t] = total / max(n_tied[t], 1)


def risk_levels(
    eta: FloatArray, weight: FloatArray, stratum: IntArray, n_strata: int
) -> tuple[FloatArray, FloatArray]:
    """The linear predictor, so moved within each stratum that its exponential is a number, shape
    (n_rows,), and by how much it was moved down, shape (n_strata,)."""
    highest = np.full(n_strata, -np.inf)
    weighted = np.where(weight > 0, eta, -np.inf)
    if n_strata == 1:
        highest[0] = weighted.max(initial=-np.inf)
    else:
        np.maximum.at(highest, stratum, weighted)
    moved = np.where(np.isfinite(highest), highest, 0.0) - _WIDEST / 2
    level = eta - (moved[0] if n_strata == 1 else moved[stratum])
    np.clip(level, -_WIDEST / 2, _WIDEST / 2 + _ABOVE, out=level)
    return level, moved


class CoxRows(RowLoss):
    """Minus the log partial likelihood of some rows, as a sum over the rows: figures are those of
    one unit of weight. Rows of weight 0 are in no risk set and have figures by the same formulas.
    The relative risks of a stratum may differ by a factor of exp(600); beyond that the lowest count
    as that much below the highest."""

    is_joint = True

    def __init__(self, y: FloatArray, weight: WeightArray) -> None:
        self.y = y
        self.weight = np.asarray(weight, dtype=np.float64)
        self._event = np.ascontiguousarray(y[:, EVENT])
        ends = self._event > 0
        sets = risk_sets(y, ends)
        dies = ends & (self.weight > 0)
        self._dying = np.flatnonzero(dies)
        self._ending = np.flatnonzero(ends)
        self._own = sets.last[self._dying]
        self._own_of_ending = sets.last[self._ending]
        self._time, n_times = sets.time, len(sets.time)
        self._n_tied = np.bincount(self._own, minlength=n_times)
        total = sums_at(self._own, self.weight[self._dying], n_times)
        self._mean = total / np.maximum(self._n_tied, 1)
        # Who dies is at risk in full before, and in part at the time itself.
        self._spans = spans(sets.first, sets.last - dies, sets.stratum, sets.begin)
        self._stratum = sets.stratum
        self._n_strata = len(sets.begin) - 1

    def timed(self, factor: Callable[[FloatArray], FloatArray]) -> CoxRows:
        """The same rows, with what each event time adds to derivatives times a factor of it."""
        found = copy.copy(self)
        found._event = self._event * factor(self.y[:, STOP])
        found._mean = self._mean * factor(self._time)
        return found

    def value(self, eta: FloatArray) -> FloatArray:
        """Loss of each row, shape (n_rows,): ``-event (eta - log A) + (expected - event)``, where
        log A is the mean over k and the last part adds up to 0 under the weights."""
        level = self._level(eta)
        risk = np.exp(level)
        rest, tied = self._risk_sums(risk)
        log_risk = np.empty(len(rest))
        take_log_risks(rest, tied, self._n_tied, log_risk)
        found = self._expected(risk, self._parts(rest, tied))
        found -= self._event
        against = log_risk[self._own_of_ending]
        alone = np.isneginf(against)
        own = level[self._ending]
        found[self._ending] += np.where(alone, own, against) - own
        return found

    def negative_gradient(self, eta: FloatArray) -> FloatArray:
        """Event less expected events, shape (n_rows,): the martingale residual."""
        return self._event - self.expected(eta)

    def derivatives(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Negative gradient and curvature, which is at least 0, for the price of one."""
        risk = np.exp(self._level(eta))
        parts = self._parts(*self._risk_sums(risk))
        expected = self._expected(risk, parts)
        squares = self._hazards(parts[1::2])
        squares *= self.weight * risk  # first: without weight a risk may be too large to square
        squares *= risk
        curvature: FloatArray = np.maximum(expected - squares, 0.0)
        return self._event - expected, curvature

    def curvature_times(self, eta: FloatArray, directions: FloatArray) -> FloatArray:
        risk = np.exp(self._level(eta))
        rest, tied = self._risk_sums(risk)
        hazard = self._hazards(self._parts(rest, tied)[::2])
        found = np.empty(directions.shape)
        parts = np.empty((2, len(rest)))
        for j, direction in enumerate(directions.T):
            moved = self._risk_sums(risk * direction)
            take_moved_hazards(rest, tied, *moved, self._n_tied, self._mean, parts)
            found[:, j] = risk * (hazard * direction - self._hazards(parts))
        return found

    def score_residuals(self, eta: FloatArray, columns: FloatArray) -> FloatArray:
        """What each row adds to the score of coefficients of columns, both of shape (n_rows,
        n_columns), for one unit of weight: at its event the difference from the mean of those at
        risk, less what is expected of such differences while it is at risk itself
        (``resid(type="score")`` of R's ``coxph``)."""
        found = -self.curvature_times(eta, columns)
        risk = np.exp(self._level(eta))
        rest, tied = self._risk_sums(risk)
        mean = np.empty(len(rest))
        for j, column in enumerate(columns.T):
            take_means(rest, tied, *self._risk_sums(risk * column), self._n_tied, mean)
            found[self._dying, j] += column[self._dying] - mean[self._own]
        return found

    def expected(self, eta: FloatArray) -> FloatArray:
        """Expected events of each row, shape (n_rows,): its relative risk times the cumulative
        hazard while it was at risk. Under the weights they add up to the events."""
        risk = np.exp(self._level(eta))
        return self._expected(risk, self._parts(*self._risk_sums(risk)))

    def least(self) -> FloatArray:
        """Least loss of each row at any linear predictors: not 0 where events tie, or weights are
        not 1, as who dies at one time cannot be certain to do so all at once."""
        n_tied = np.maximum(self._n_tied, 1)
        with np.errstate(divide="ignore"):
            of_time = np.log(self._mean) + scipy.special.gammaln(n_tied + 1.0) / n_tied
        found = np.zeros(len(self.weight))
        found[self._dying] = of_time[self._own]
        return found

    def repeated(self, n: int) -> Copies:
        return Copies(self, n)

    def _level(self, eta: FloatArray) -> FloatArray:
        return risk_levels(eta, self.weight, self._stratum, self._n_strata)[0]

    def _risk_sums(self, risk: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums for each time over the rows at risk but for the dying, and over these."""
        mass = self.weight * risk
        tied = sums_at(self._own, mass[self._dying], self._spans.n_times)
        return self._spans.over_rows(mass), tied

    def _parts(self, rest: FloatArray, tied: FloatArray) -> FloatArray:
        parts = np.empty((4, len(rest)))
        take_hazards(rest, tied, self._n_tied, self._mean, parts)
        return parts

    def _expected(self, risk: FloatArray, parts: FloatArray) -> FloatArray:
        found = self._hazards(parts[::2])
        found *= risk
        return np.minimum(found, _MOST_EXPECTED, out=found)

    def _hazards(self, parts: FloatArray) -> FloatArray:
        """Sums over the times at which each row was at risk: of the first for all, of the second at
        the time at which it dies itself."""
        found = self._spans.over_times(parts[0])
        found[self._dying] += parts[1][self._own]
        return found


class CoxLoss(Loss):
    """Cox's partial likelihood; `eta` is the logarithm of the relative risk, the offset included.
    The loss of a row depends on the others: :meth:`of` binds it to some."""

    needs_curvature = True
    splits_on_means = True
    has_constant = False

    def of(self, y: FloatArray, weight: WeightArray) -> CoxRows:
        return CoxRows(y, weight)

    def apart(self, y: FloatArray, weight: WeightArray, base: FloatArray) -> Apart:
        """The hazard at the base taken as known: events are then counts, of which so many are
        expected (LeBlanc and Crowley 1992)."""
        with np.errstate(divide="ignore"):
            expected = np.log(CoxRows(y, weight).expected(base))
        return Apart(PoissonLoss(), np.ascontiguousarray(y[:, EVENT]), expected)

    def exact_step(self, step: FloatArray) -> FloatArray:
        """The logarithm of the ratio of events and those expected, of which the Newton step is
        about the relative excess. A row that is a large part of its risk sets has less curvature
        than events expected, so that steps can be below -1."""
        return np.asarray(np.log1p(np.maximum(step, _LEAST_STEP)))

    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> float:
        """0: the baseline hazard stands for the constant."""
        return 0.0

    def modelled(self, y: FloatArray, eta: Any, share: FloatArray) -> Any:
        """Losses of the rows times their shares, summed: a cvxpy expression of `eta`, (n_rows,). A
        MethodError for more than 1,000 rows, since each risk set is written out."""
        import cvxpy

        if len(y) > _MOST_MODELLED:
            raise MethodError(
                f"`data` must have at most {_MOST_MODELLED:,} rows when cvxpy fits a Cox model."
                f"\n  Found: {len(y):,}.\n  Avoid options that need cvxpy, or use a sample of rows."
            )
        dies = (y[:, EVENT] > 0) & (share > 0)
        sets = risk_sets(y, dies)
        total: Any = -(share[dies] @ eta[np.flatnonzero(dies)])
        for t in range(len(sets.time)):
            tied = dies & (sets.last == t)
            rows = np.flatnonzero((sets.first <= t) & (t <= sets.last) & (share > 0))
            n_tied = int(tied.sum())
            for k in range(n_tied):
                part = share[rows] * np.where(tied[rows], 1.0 - k / n_tied, 1.0)
                risk = cvxpy.log_sum_exp(eta[rows] + np.log(part))
                total = total + share[tied].mean() * risk
        return total
