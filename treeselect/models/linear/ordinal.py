"""The proportional odds model of ordered classes, by Newton's method.

statsmodels' ``OrderedModel`` takes neither weights nor offsets, and differentiates by differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import listing
from treeselect.models.linear.cox import robust
from treeselect.models.linear.data import LinearData

_MOST_STEPS, _MOST_HALVINGS, _NEAR = 100, 40, 1e-12
"""Steps of Newton's method, and the squared length of the last one in standard errors."""

_FAR, _MOVING = 100.0, 1e-3
"""Of a column of standard deviation 1 a coefficient diverges if its error is beyond the one and the
next step of Newton's method beyond the other."""


@dataclass(frozen=True, slots=True)
class OrdinalFit:
    """A fitted proportional odds model."""

    params: FloatArray  # (n_columns,): log odds ratios of a higher class
    thresholds: FloatArray  # (n_classes - 1,): log odds of at most each class but the last, at 0
    whole_covariance: FloatArray  # of both together, in this order
    normalized_cov_params: FloatArray  # (n_columns, n_columns): model-based
    llf: float
    llnull: float  # the same of thresholds alone
    nobs: float
    converged: bool
    infinite: BoolArray  # (n_columns,): coefficients that diverge

    use_t: ClassVar[bool] = False  # tests are normal

    @property
    def aic(self) -> float:
        """``2 p - 2 log L`` for p coefficients and thresholds."""
        return 2 * len(self.whole_covariance) - 2 * self.llf

    @property
    def bic(self) -> float:
        """``p log(n) - 2 log L``."""
        return float(len(self.whole_covariance) * np.log(self.nobs) - 2 * self.llf)

    def problems(self, names: Sequence[str]) -> list[str]:
        """Problems of the fit, in sentences."""
        found = [names[j] for j in np.flatnonzero(self.infinite).tolist()]
        if not found:
            return []
        return [f"The terms separate the classes: estimates diverge, of {listing(found)}."]

    def cov_params(self) -> FloatArray:
        """Covariance of the coefficients."""
        n = len(self.params)
        return self.whole_covariance[:n, :n]


def fit_ordinal(data: LinearData) -> OrdinalFit:
    """Fit ``logit P(y <= k) = threshold_k - x'b`` (McCullagh 1980) by maximum likelihood, as R's
    ``MASS::polr``; with clusters or sampling weights the covariance is robust."""
    weights, y = data.row_weights, data.y.astype(np.int64)
    weight = np.asarray(weights.values, dtype=np.float64)
    weight = weight if weights.are_copies else weight / weight.mean()
    x = data.matrix.to_numpy(dtype=np.float64)
    base = np.zeros(len(y)) if data.offset is None else data.offset
    scale = np.sqrt(np.average((x - np.average(x, axis=0, weights=weight)) ** 2, axis=0,
                               weights=weight))  # fmt: skip
    count = np.bincount(y, weight)
    start = scipy.special.logit(np.cumsum(count)[:-1] / count.sum())
    _, null, _ = _maximum(x[:, :0], y, weight, np.zeros(len(y)), start)
    at, value, converged = _maximum(x / scale, y, weight, base, np.append(0.0 * scale, start))
    found = _derivatives(x / scale, y, weight, base, at)
    own = inverse = np.asarray(np.linalg.inv(found.information), dtype=np.float64)
    n = x.shape[1]
    still = inverse @ found.scores.sum(axis=0)
    infinite = (np.sqrt(np.diag(inverse)) > _FAR) & (np.abs(still) > _MOVING)
    groups = weights.error_groups
    if groups is not None:
        own = robust(inverse, found.scores, groups)
    unit = np.append(1 / scale, np.ones(len(start)))
    own, inverse = (part * np.outer(unit, unit) for part in (own, inverse))
    return OrdinalFit(
        at[:n] / scale, at[n:], own, inverse[:n, :n], value, null, float(weight.sum()),
        converged or bool(infinite.any()), infinite[:n],
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
    at, _, _ = _maximum(z[:, free], place[y], weight, np.zeros(len(y)), start, 1e-6)
    found = np.zeros(z.shape[1])
    found[free] = at[: free.sum()]
    ends = np.concatenate([[-_FAR], at[free.sum() :], [_FAR]])
    return ends[place[:-1] + 1], found


class _Derivatives(NamedTuple):
    value: float
    scores: FloatArray  # (n_rows, n_coefficients)
    information: FloatArray


def _maximum(
    x: FloatArray,
    y: IntArray,
    weight: FloatArray,
    base: FloatArray,
    at: FloatArray,
    ridge: float = 0.0,
) -> tuple[FloatArray, float, bool]:
    """Coefficients and thresholds, their log-likelihood, and whether the iteration converged; a
    `ridge` shortens steps where the likelihood is nearly flat."""
    damped = ridge * np.eye(len(at))
    found = _derivatives(x, y, weight, base, at)
    for _ in range(_MOST_STEPS):
        gradient = found.scores.sum(axis=0)
        step = np.linalg.solve(found.information + damped, gradient)
        is_last = bool(step @ gradient <= _NEAR)
        for _ in range(_MOST_HALVINGS):
            after = _derivatives(x, y, weight, base, at + step)
            if after.value >= found.value - 1e-12 * abs(found.value):
                break
            step = step / 2
        at, found = at + step, after
        if is_last:
            return at, found.value, True
    return at, found.value, False


def _derivatives(
    x: FloatArray, y: IntArray, weight: FloatArray, base: FloatArray, at: FloatArray
) -> _Derivatives:
    """The log-likelihood, the scores of the rows and minus the second derivative."""
    n, last = x.shape[1], len(at) - x.shape[1]
    if (np.diff(at[n:]) <= 0).any():  # thresholds out of order
        return _Derivatives(-np.inf, np.empty((len(y), len(at))), np.eye(len(at)))
    value, upper, lower = ends_of(x @ at[:n] + base, at[n:], y)
    above, below = (np.column_stack([-x, np.zeros((len(y), last))]) for _ in range(2))
    above[np.flatnonzero(y < last), n + y[y < last]] = 1.0
    below[np.flatnonzero(y > 0), n + y[y > 0] - 1] = 1.0
    scores = upper.slope[:, None] * above + lower.slope[:, None] * below
    information = np.zeros((len(at), len(at)))
    for own, bend in ((above, upper.bend), (below, lower.bend)):
        information -= (own.T * (weight * bend)) @ own
    cross = (above.T * (weight * upper.slope * lower.slope)) @ below
    information += cross + cross.T
    return _Derivatives(float(weight @ value), weight[:, None] * scores, information)


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
