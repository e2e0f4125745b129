"""Cox's model and that of proportional odds: maximum likelihood by Newton's method; deviances of
logistic and Poisson regressions beside an offset.

statsmodels' ``PHReg`` takes no case weights, computes the clustered covariance without Efron
ties, counts rows as at risk at the time at which they enter, does not report convergence, and
takes about forty times as long for 50,000 rows. Where both apply, they agree. Its ``OrderedModel``
takes neither weights nor offsets, and differentiates by differences. The first step of its ``GLM``
knows of no offset; beside a large one the others then end anywhere, as if they had converged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.losses import LogisticLoss, PoissonLoss
from treeselect.engine.survival.cox import CoxRows
from treeselect.engine.survival.times import EVENT
from treeselect.errors import listing
from treeselect.models.linear.data import GAMMA, LinearData, reduced


@dataclass(frozen=True, slots=True)
class LikelihoodFit:
    """A fitted Cox model with Efron ties, or a proportional odds model."""

    params: FloatArray  # (n_columns,): log hazard ratios, or log odds ratios of a higher class
    whole_covariance: FloatArray  # of these and the thresholds behind them, perhaps cluster-robust
    normalized_cov_params: FloatArray  # (n_columns, n_columns): model-based
    llf: float  # log likelihood, of a Cox model the partial one
    llnull: float  # the same with all coefficients at 0
    size: float  # number of rows, or of events, with copies
    converged: bool
    infinite: BoolArray  # (n_columns,): coefficients that diverge
    # (n_classes - 1,): log odds of at most each class but the last, at 0; none in a Cox model
    thresholds: FloatArray

    use_t: ClassVar[bool] = False  # tests are normal

    @property
    def aic(self) -> float:
        """``2 p - 2 log L`` for p coefficients and thresholds."""
        return 2 * len(self.whole_covariance) - 2 * self.llf

    @property
    def bic(self) -> float:
        """``p log(n) - 2 log L`` for n rows; of a Cox model for n events, as censored rows carry
        little information."""
        return float(len(self.whole_covariance) * np.log(self.size) - 2 * self.llf)

    def cov_params(self) -> FloatArray:
        n = len(self.params)
        return self.whole_covariance[:n, :n]

    def problems(self, names: Sequence[str]) -> list[str]:
        found = [names[j] for j in np.flatnonzero(self.infinite).tolist()]
        if not found:
            return []
        if len(self.thresholds):
            return [f"The terms separate the classes: estimates diverge, of {listing(found)}."]
        which = f"coefficient of {listing(found)} diverges"
        if len(found) > 1:
            which = f"coefficients of {listing(found)} diverge"
        return [f"The partial likelihood has no maximum: it keeps increasing as the {which}."]


def _prepared(
    data: LinearData,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Weights, columns and offset of the rows, and the mean and spread of each column."""
    weight = data.row_weights.relative
    matrix = data.matrix.to_numpy(dtype=np.float64)
    mean = np.average(matrix, axis=0, weights=weight)
    scale = np.sqrt(np.average((matrix - mean) ** 2, axis=0, weights=weight))
    return weight, matrix, data.base, mean, scale


def robust(inverse: FloatArray, scores: FloatArray, groups: IntArray) -> FloatArray:
    """Cluster-robust covariance, by the scores of the rows."""
    number = np.unique(groups, return_inverse=True)[1].ravel()
    total = np.zeros((int(number.max()) + 1, scores.shape[1]))
    np.add.at(total, number, scores)
    moved = total @ inverse
    return np.asarray(moved.T @ moved * (len(total) / (len(total) - 1)))


def but_of_far(covariance: FloatArray, own: FloatArray, far: BoolArray) -> FloatArray:
    """A robust covariance, but of estimates that diverge, whose robust errors go to 0, the
    variances of the model."""
    return np.where(far | far[:, np.newaxis], np.diag(np.diag(own)), covariance)


_MOST_STEPS, _MOST_HALVINGS = 100, 40


def _maximum(
    at: FloatArray,
    value: Callable[[FloatArray], float],
    step: Callable[[FloatArray], tuple[FloatArray, float]],
    near: float,
    slack: float,
) -> tuple[FloatArray, float, bool]:
    """Where a log likelihood is greatest, its value, and whether the iteration converged. The last
    of Newton's steps is the first whose squared length, in standard errors, is at most `near`: the
    remaining error is about the square of that length. Steps are halved where the likelihood would
    fall by more than a share of it."""
    best = value(at)
    for _ in range(_MOST_STEPS):
        move, length = step(at)
        for _ in range(_MOST_HALVINGS):
            found = value(at + move)
            if found >= best - slack * abs(best):
                break
            move = move / 2
        at, best = at + move, found
        if length <= near:
            return at, best, True
    return at, best, False


# --- logistic, Poisson and gamma regression ------------------------------------------------------


class _GammaLoss:
    """Half the deviance of the gamma distribution with the log link."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.asarray(y * np.exp(-eta) + eta)

    def least(self, y: FloatArray) -> FloatArray:
        return 1 + np.log(y)

    def derivatives(self, y: FloatArray, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio = y * np.exp(-eta)
        return ratio - 1, ratio


_LOSSES: dict[str, Any] = {
    "binomial": LogisticLoss(),
    "poisson": PoissonLoss(),
    GAMMA: _GammaLoss(),
}


def glm_optimum(data: LinearData, family: str) -> tuple[FloatArray, float]:
    """The best coefficients, which are expected to be near 0, and the deviance there."""
    weight, x, base, *_ = _prepared(data)
    loss, start = _LOSSES[family], np.zeros(x.shape[1])
    if family == GAMMA:
        start = np.asarray(np.linalg.lstsq(x, np.log(data.y) - base, rcond=None)[0])

    def value(at: FloatArray) -> float:
        return -float(weight @ loss.value(data.y, base + x @ at))

    def step(at: FloatArray) -> tuple[FloatArray, float]:
        slope, bend = loss.derivatives(data.y, base + x @ at)
        root = np.asarray(np.linalg.qr(reduced(x, root=np.sqrt(weight * bend)), mode="r"))
        half = np.linalg.solve(root.T, x.T @ (weight * slope))
        return np.linalg.solve(root, half), float(half @ half)

    found, most, _ = _maximum(start, value, step, near=1e-10, slack=1e-12)
    return found, -2 * (most + float(weight @ loss.least(data.y)))


# --- Cox's model ---------------------------------------------------------------------------------

_MOVING = 1e-3
"""A coefficient that would still move by this share of itself after the last step diverges."""

_OF_LARGEST = 0.01
"""Coefficients that move by less than this share of the largest move only follow others."""

_NOT_FULL_RANK = "At the event times, some columns are linear combinations of others."


def fit_cox(data: LinearData) -> LikelihoodFit:
    """Fit Cox's model with Efron ties, as R's ``coxph(weights=)``: a row of weight 2 is one event
    of twice the weight. Robust covariances (Lin and Wei 1989) are those of ``coxph(cluster=)``
    times ``G / (G - 1)``."""
    weight, matrix, base, mean, scale = _prepared(data)
    rows, own = CoxRows(data.y, weight), (matrix - mean) / scale
    at, llf, converged = _cox_maximum(rows, own, base)
    eta = base + own @ at
    step, inverse = _newton_step(rows, own, eta)
    size = np.abs(step)
    infinite = size > np.maximum(
        _MOVING * np.maximum(np.abs(at), _MOVING), _OF_LARGEST * size.max(initial=0.0)
    )
    covariance, weights, events = inverse, data.row_weights, data.y[:, EVENT]
    if weights.error_groups is not None:
        scores = rows.weight[:, np.newaxis] * rows.score_residuals(eta, own)
        covariance = but_of_far(robust(inverse, scores, weights.error_groups), inverse, infinite)
    unit = np.outer(scale, scale)
    return LikelihoodFit(
        params=at / scale,
        whole_covariance=covariance / unit,
        normalized_cov_params=inverse / unit,
        llf=llf,
        llnull=-float(rows.weight @ rows.value(base)),
        size=round(float(events @ weights.copies)),
        converged=converged or bool(infinite.any()),  # divergence is the better reason
        infinite=infinite,
        thresholds=np.empty(0),
    )


def fit_slope(
    y: FloatArray,
    eta: FloatArray,
    weight: FloatArray,
    groups: IntArray | None = None,
    base: FloatArray | float = 0.0,
) -> tuple[float, float]:
    """Coefficient of one column, beside a base, with its standard error, with clusters a robust
    one."""
    rows, spread = CoxRows(y, weight), float(eta.std())
    column = (eta - eta.mean())[:, np.newaxis] / spread
    at, _, converged = _cox_maximum(rows, column, np.zeros(len(y)) + base)
    fitted = base + column @ at
    _, inverse = _newton_step(rows, column, fitted)
    if groups is not None:
        scores = rows.weight[:, np.newaxis] * rows.score_residuals(fitted, column)
        inverse = robust(inverse, scores, groups)
    error = float(np.sqrt(inverse[0, 0])) / spread
    return float(at[0]) / spread if converged else float("nan"), error


def _cox_maximum(
    rows: CoxRows, matrix: FloatArray, base: FloatArray
) -> tuple[FloatArray, float, bool]:
    def value(at: FloatArray) -> float:
        return -float(rows.weight @ rows.value(base + matrix @ at))

    def step(at: FloatArray) -> tuple[FloatArray, float]:
        move, inverse = _newton_step(rows, matrix, base + matrix @ at)
        return move, float(move @ np.linalg.solve(inverse, move)) if len(at) else 0.0

    return _maximum(np.zeros(matrix.shape[1]), value, step, near=1e-10, slack=1e-9)


def _newton_step(
    rows: CoxRows, matrix: FloatArray, eta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Newton's step, and the inverse of the information."""
    weighted = rows.weight[:, np.newaxis] * matrix
    score = weighted.T @ rows.negative_gradient(eta)
    information = weighted.T @ rows.curvature_times(eta, matrix)
    if not len(score):
        return score, information
    try:
        root = scipy.linalg.cho_factor((information + information.T) / 2)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(_NOT_FULL_RANK) from None
    return scipy.linalg.cho_solve(root, score), scipy.linalg.cho_solve(root, np.eye(len(score)))


# --- proportional odds ---------------------------------------------------------------------------

_FAR, _STILL = 100.0, 1e-3
"""Of a column of standard deviation 1 a coefficient diverges if its error is beyond the one and the
next step of Newton's method beyond the other."""


def fit_ordinal(data: LinearData) -> LikelihoodFit:
    """Fit ``logit P(y <= k) = threshold_k - x'b`` (McCullagh 1980) by maximum likelihood, as R's
    ``MASS::polr``; with clusters or sampling weights the covariance is robust."""
    weight, x, base, _, scale = _prepared(data)
    y, n = data.y.astype(np.int64), x.shape[1]
    count = np.bincount(y, weight)
    start = scipy.special.logit(np.cumsum(count)[:-1] / count.sum())
    _, null, _ = _ordinal_maximum(x[:, :0], y, weight, np.zeros(len(y)), start)
    first = np.append(0.0 * scale, start + np.average(base, weights=weight))
    at, llf, converged = _ordinal_maximum(x / scale, y, weight, base, first)
    scores, information = _derivatives(x / scale, y, weight, base, at)
    own = inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
    still = inverse @ scores.sum(axis=0)
    infinite = (np.sqrt(np.diag(inverse)) > _FAR) & (np.abs(still) > _STILL)
    groups = data.row_weights.error_groups
    if groups is not None:
        own = but_of_far(robust(inverse, scores, groups), inverse, infinite)
    unit = np.append(1 / scale, np.ones(len(start)))
    own, inverse = (part * np.outer(unit, unit) for part in (own, inverse))
    return LikelihoodFit(
        at[:n] / scale, own, inverse[:n, :n], llf, null, float(weight.sum()),
        converged or bool(infinite.any()), infinite[:n], at[n:],
    )  # fmt: skip


def proportional_odds(
    z: FloatArray, y: IntArray, weight: FloatArray, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Thresholds and coefficients, 0 for columns that are linear combinations of those before them;
    standardised columns."""
    root = np.sqrt(weight)[:, np.newaxis]
    size = np.abs(np.linalg.qr(np.column_stack([np.ones(len(z)), z]) * root)[1].diagonal())
    free = size[1:] > 1e-9 * np.maximum(size.max(initial=0.0), 1e-300)
    count = np.bincount(y, weight, n_classes)
    place = np.cumsum(count > 0) - 1  # among the classes that are there
    share = np.cumsum(count[count > 0])[:-1] / count.sum()
    start = np.append(np.zeros(free.sum()), scipy.special.logit(share))
    at, _, _ = _ordinal_maximum(z[:, free], place[y], weight, np.zeros(len(y)), start, 1e-6)
    found = np.zeros(z.shape[1])
    found[free] = at[: free.sum()]
    ends = np.concatenate([[-_FAR], at[free.sum() :], [_FAR]])
    return ends[place[:-1] + 1], found


def _ordinal_maximum(
    x: FloatArray, y: IntArray, weight: FloatArray, base: FloatArray, at: FloatArray,
    ridge: float = 0.0,
) -> tuple[FloatArray, float, bool]:  # fmt: skip
    """Coefficients and thresholds; a `ridge` shortens steps where the likelihood is nearly flat."""
    n = x.shape[1]

    def value(at: FloatArray) -> float:
        if (np.diff(at[n:]) <= 0).any():  # thresholds out of order
            return -np.inf
        return float(weight @ ends_of(x @ at[:n] + base, at[n:], y)[0])

    def step(at: FloatArray) -> tuple[FloatArray, float]:
        scores, information = _derivatives(x, y, weight, base, at)
        gradient = scores.sum(axis=0)
        move = np.linalg.solve(information + ridge * np.eye(len(at)), gradient)
        return move, float(move @ gradient)

    return _maximum(at, value, step, near=1e-12, slack=1e-12)


def _derivatives(
    x: FloatArray, y: IntArray, weight: FloatArray, base: FloatArray, at: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The scores of the rows, shape (n_rows, n_coefficients), and minus the second derivative."""
    n, last = x.shape[1], len(at) - x.shape[1]
    _, upper, lower = ends_of(x @ at[:n] + base, at[n:], y)
    above, below = (np.column_stack([-x, np.zeros((len(y), last))]) for _ in range(2))
    above[np.flatnonzero(y < last), n + y[y < last]] = 1.0
    below[np.flatnonzero(y > 0), n + y[y > 0] - 1] = 1.0
    scores = upper.slope[:, None] * above + lower.slope[:, None] * below
    information = np.zeros((len(at), len(at)))
    for own, bend in ((above, upper.bend), (below, lower.bend)):
        information -= (own.T * (weight * bend)) @ own
    cross = (above.T * (weight * upper.slope * lower.slope)) @ below
    information += cross + cross.T
    return weight[:, None] * scores, information


class End(NamedTuple):
    """Derivatives of a log probability in one of the two ends of its class."""

    slope: FloatArray
    bend: FloatArray


def ends_of(
    eta: FloatArray, thresholds: FloatArray, y: IntArray | int
) -> tuple[FloatArray, End, End]:
    """Log probability of a row's class, and its derivatives in the ends ``threshold - eta``."""
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    y = np.broadcast_to(np.asarray(y, dtype=np.int64), eta.shape)
    high, low = ends[y + 1] - eta, ends[y] - eta
    # P = expit(high) - expit(low) = expit(high) expit(-low) (1 - exp(low - high))
    log_p = scipy.special.log_expit(high) + scipy.special.log_expit(-low)
    log_p = log_p + np.log(-np.expm1(np.minimum(low - high, -1e-300)))
    found = []
    for at, sign in ((high, 1.0), (low, -1.0)):
        density = np.exp(scipy.special.log_expit(at) + scipy.special.log_expit(-at) - log_p)
        slope = sign * density
        found.append(End(slope, slope * (1 - 2 * scipy.special.expit(at)) - slope**2))
    return log_p, found[0], found[1]
