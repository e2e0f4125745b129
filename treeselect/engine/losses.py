"""Losses: value and derivatives in the linear predictor, the best constant, the words of cvxpy.

Losses are defined here, but for Cox's partial likelihood. A new one is a :class:`Loss`, most a
:class:`RowByRow`; a family offers it to the user. A loss is evaluated for all rows at once
(:class:`RowLoss`): rows may depend on each other, as those of a risk set do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.compiling import kernel

_LEAST_SHARE = 1e-6

_MOST_HALVINGS = 2_000
"""More than it takes to halve any interval of numbers until nothing is left."""


class Apart(NamedTuple):
    """A loss whose rows are independent, with their response and their linear predictor so
    far, each of shape (n_rows,)."""

    loss: Loss
    y: FloatArray
    base: FloatArray


class Loss(ABC):
    """What boosting and the sparse forest need of a loss.

    - is_squared: whether the curvature is 1 everywhere: trees are then grown on means.
    - needs_curvature: whether steps along the gradient alone go astray, since it has no bound.
    - splits_on_means: whether trees split by the mean gradient even where their leaves take Newton
      steps, since the curvature of few rows can be next to nothing.
    - has_constant: whether rows tell a constant of the linear predictor; a baseline hazard stands
      for it.
    - n_outputs: linear predictors of a row; if there is more than one they are columns of `eta`.
    """

    is_squared = False
    needs_curvature = False
    splits_on_means = False
    has_constant = True
    n_outputs = 1

    @abstractmethod
    def of(self, y: FloatArray, weight: WeightArray) -> RowLoss:
        """The loss of rows with this response, shape (n_rows, ...), and these weights."""

    @abstractmethod
    def apart(self, y: FloatArray, weight: WeightArray, base: FloatArray) -> Apart:
        """The loss beside a base where every row speaks for itself, as leaves that are fitted one
        by one need it."""

    def exact_step(self, step: FloatArray) -> FloatArray:
        """From the Newton step of rows that move together to the step of the least loss, where
        there is a formula; the Newton step itself elsewhere."""
        return step

    @abstractmethod
    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> float | FloatArray:
        """Linear predictor of the best constant model, without the offset that is added to it."""

    @abstractmethod
    def modelled(self, y: FloatArray, eta: Any, share: FloatArray) -> Any:
        """Losses of the rows times their shares, summed: a cvxpy expression of the expression
        `eta`, which has the shape of the linear predictor."""


class RowByRow(Loss):
    """A loss of each row that depends only on its own response and linear predictor."""

    def of(self, y: FloatArray, weight: WeightArray) -> RowLoss:
        return EachRow(self, y)

    def apart(self, y: FloatArray, weight: WeightArray, base: FloatArray) -> Apart:
        return Apart(self, y, base)

    @abstractmethod
    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray: ...

    def least(self, y: FloatArray) -> FloatArray:
        return np.zeros_like(y)

    @abstractmethod
    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray: ...

    @abstractmethod
    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray: ...

    def derivatives(self, y: FloatArray, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both, for those who need both."""
        return self.negative_gradient(y, eta), self.curvature(y, eta)

    def curvature_times(self, y: FloatArray, eta: FloatArray, directions: FloatArray) -> FloatArray:
        return self.curvature(y, eta)[:, np.newaxis] * directions


class SquaredLoss(RowByRow):
    """``(y - eta)**2 / 2``: its negative gradient is the residual."""

    is_squared = True
    splits_on_means = True

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return 0.5 * (y - eta) ** 2

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return y - eta

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.ones_like(eta)

    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> float:
        return float(np.average(y if offset is None else y - offset, weights=weight))

    def modelled(self, y: FloatArray, eta: Any, share: FloatArray) -> Any:
        import cvxpy

        return cvxpy.sum_squares(cvxpy.multiply(np.sqrt(share), y - eta)) / 2


@kernel
def take_log1p(u):
    """Change each u, from 0 to 1, to ``log(1 + u)``. That is ``2 artanh(s)`` with ``s = u / (2 +
    u)``, at most 1/3, so that 17 terms of the series are exact. A processor sums it for several
    rows at once, which it can't do with a logarithm."""
    for i in range(u.shape[0]):
        s = u[i] / (2.0 + u[i])
        square = s * s
        series = 1.0 / 33.0
        for n in range(31, -1, -2):
            series = series * square + 1.0 / n
        u[i] = 2.0 * s * series


class LogisticLoss(RowByRow):
    """``log(1 + exp(eta)) - y * eta`` for y in {0, 1}; `eta` is the log-odds of 1."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        loss: FloatArray = np.exp(-np.abs(eta))
        take_log1p(loss)
        loss += np.maximum(eta, 0.0)
        loss -= y * eta
        return loss

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.asarray(y - scipy.special.expit(eta))

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        p = scipy.special.expit(eta)
        return np.asarray(p * (1.0 - p))

    def derivatives(self, y: FloatArray, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = scipy.special.expit(eta)
        return np.asarray(y - p), np.asarray(p * (1.0 - p))

    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> float:
        best = float(scipy.special.logit(np.average(y, weights=weight)))
        if offset is None:
            return best

        def slope(constant: float) -> float:
            return float(weight @ self.negative_gradient(y, constant + offset))

        # The sum of the gradients falls in the constant: it is 0 somewhere between these two. Where
        # rounding has it that there is no sign between them, the nearer one is as good as any.
        low, high = best - float(offset.max()), best - float(offset.min())
        if not slope(low) > 0:
            return low
        if not slope(high) < 0:
            return high
        from scipy.optimize import brentq

        return float(brentq(slope, low, high, maxiter=_MOST_HALVINGS))

    def modelled(self, y: FloatArray, eta: Any, share: FloatArray) -> Any:
        import cvxpy

        return share @ (cvxpy.logistic(eta) - cvxpy.multiply(y, eta))


class HingeLoss(RowByRow):
    """``max(0, 1 - s * eta)`` for y in {0, 1} and s = 2 y - 1; `eta` is a margin, not log-odds."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * eta)

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """A subgradient: of rows at the margin itself that of those inside."""
        sign = 2.0 * y - 1.0
        return np.where(sign * eta <= 1.0, sign, 0.0)

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.zeros_like(eta)

    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> float:
        """A margin for the class with more weight; there is no offset."""
        assert offset is None
        return 1.0 if np.average(y, weights=weight) > 0.5 else -1.0

    def modelled(self, y: FloatArray, eta: Any, share: FloatArray) -> Any:
        import cvxpy

        return share @ cvxpy.pos(1 - cvxpy.multiply(2.0 * y - 1.0, eta))


class PoissonLoss(RowByRow):
    """``exp(eta) - y * eta`` for counts y; `eta` is the log of the mean, the offset included."""

    needs_curvature = True

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return poisson_mean(eta) - y * eta

    def least(self, y: FloatArray) -> FloatArray:
        return np.asarray(y - scipy.special.xlogy(y, y))

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.asarray(y - poisson_mean(eta))

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return poisson_mean(eta)

    def exact_step(self, step: FloatArray) -> FloatArray:
        """The Newton step is the relative excess of the counts over their means; the logarithm of
        their ratio is wanted."""
        return np.asarray(np.log1p(step))

    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> float:
        if offset is None:
            return float(np.log(weight @ y / weight.sum()))
        # The largest exposure is taken out: in small units none need be a number.
        return float(np.log(weight @ y) - scipy.special.logsumexp(offset, b=weight))

    def modelled(self, y: FloatArray, eta: Any, share: FloatArray) -> Any:
        import cvxpy

        return share @ (cvxpy.exp(eta) - cvxpy.multiply(y, eta))


_LARGEST_LOG = 300.0
"""Means of counts are at most exp of this, so that sums of their squares are numbers, too."""


def poisson_mean(eta: FloatArray) -> FloatArray:
    """Mean of counts, ``exp(eta)``, shape of `eta`; exp(300) stands for all that is larger."""
    return np.asarray(np.exp(np.minimum(eta, _LARGEST_LOG)))


@dataclass(frozen=True)
class MultinomialLoss(RowByRow):
    """``log(sum_k exp(eta_k)) - eta_y`` for classes y = 0, ..., K - 1; `eta` has K columns.

    Attributes
    ----------
    n_outputs : int
        Number of classes, K.
    """

    n_outputs: int

    def _indicators(self, y: FloatArray) -> FloatArray:
        return (y[:, np.newaxis] == np.arange(self.n_outputs)).astype(np.float64)

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        chosen = np.take_along_axis(eta, y.astype(np.int64)[:, np.newaxis], axis=1)[:, 0]
        most = eta.max(axis=1, keepdims=True)
        others, n = np.exp(eta - most) * (eta < most), (eta == most).sum(axis=1)
        return np.asarray(np.log1p(others.sum(axis=1) / n) + np.log(n) + most[:, 0] - chosen)

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return self.derivatives(y, eta)[0]

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """The diagonal of the second derivative."""
        return self.derivatives(y, eta)[1]

    def derivatives(self, y: FloatArray, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = scipy.special.softmax(eta, axis=1)
        return np.asarray(self._indicators(y) - p), np.asarray(p * (1.0 - p))

    def curvature_times(self, y: FloatArray, eta: FloatArray, directions: FloatArray) -> FloatArray:
        p = scipy.special.softmax(eta, axis=1)[:, :, np.newaxis]
        moved = p * directions.reshape(*eta.shape, -1)
        return np.asarray((moved - p * moved.sum(axis=1, keepdims=True)).reshape(eta.size, -1))

    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> FloatArray:
        """Log of the classes' shares, of a millionth for a class without rows (a resample may
        have none of a rare one); there is no offset."""
        assert offset is None
        shares = np.bincount(y.astype(np.int64), weights=weight, minlength=self.n_outputs)
        return np.asarray(np.log(np.maximum(shares / shares.sum(), _LEAST_SHARE)))

    def modelled(self, y: FloatArray, eta: Any, share: FloatArray) -> Any:
        import cvxpy

        chosen = cvxpy.sum(cvxpy.multiply(self._indicators(y), eta), axis=1)
        return share @ (cvxpy.log_sum_exp(eta, axis=1) - chosen)


class GradientOnly(Loss):
    """Another loss without its curvature: trees are grown on the gradients' means, and leaves are
    these (Friedman 2001, Algorithm 1)."""

    is_squared = True
    splits_on_means = True

    def __init__(self, loss: Loss) -> None:
        self.loss, self.has_constant, self.n_outputs = loss, loss.has_constant, loss.n_outputs

    def of(self, y: FloatArray, weight: WeightArray) -> RowLoss:
        return Uncurved(self.loss.of(y, weight))

    def apart(self, y: FloatArray, weight: WeightArray, base: FloatArray) -> Apart:
        apart = self.loss.apart(y, weight, base)
        return apart._replace(loss=GradientOnly(apart.loss))

    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> float | FloatArray:
        return self.loss.constant(y, weight, offset)

    def modelled(self, y: FloatArray, eta: Any, share: FloatArray) -> Any:
        return self.loss.modelled(y, eta, share)


class RowLoss(ABC):
    """A loss of given rows under given weights, at any linear predictor `eta` of theirs. All
    figures of a row are those of one unit of its weight. Weighted and summed they are the loss of
    all rows and its derivatives."""

    is_joint = False
    """Whether the loss of a row depends on the linear predictors of others."""

    @abstractmethod
    def value(self, eta: FloatArray) -> FloatArray:
        """Loss of each row, shape (n_rows,)."""

    @abstractmethod
    def least(self) -> FloatArray:
        """Least loss of each row at any linear predictor, shape (n_rows,)."""

    @abstractmethod
    def negative_gradient(self, eta: FloatArray) -> FloatArray:
        """Minus the first derivative in `eta`, of its shape."""

    def curvature(self, eta: FloatArray) -> FloatArray:
        """The diagonal of the second derivative in `eta`, of its shape. Children define this, or
        :meth:`derivatives`."""
        return self.derivatives(eta)[1]

    def derivatives(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both of these, for those who need both."""
        return self.negative_gradient(eta), self.curvature(eta)

    @abstractmethod
    def curvature_times(self, eta: FloatArray, directions: FloatArray) -> FloatArray:
        """Second derivative within each row times directions, shape
        (n_rows * n_outputs, n_directions); the outputs of a row stand side by side."""

    @abstractmethod
    def repeated(self, n: int) -> RowLoss:
        """The same for `n` copies of the rows one after the other, which don't know each other."""


@dataclass(frozen=True)
class EachRow(RowLoss):
    """The loss of independent rows: it does not depend on the weights."""

    loss: RowByRow
    y: FloatArray

    def of(self, rows: slice) -> EachRow:
        """The loss of some of the rows."""
        return EachRow(self.loss, self.y[rows])

    def value(self, eta: FloatArray) -> FloatArray:
        return self.loss.value(self.y, eta)

    def least(self) -> FloatArray:
        return self.loss.least(self.y)

    def negative_gradient(self, eta: FloatArray) -> FloatArray:
        return self.loss.negative_gradient(self.y, eta)

    def curvature(self, eta: FloatArray) -> FloatArray:
        return self.loss.curvature(self.y, eta)

    def derivatives(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.loss.derivatives(self.y, eta)

    def curvature_times(self, eta: FloatArray, directions: FloatArray) -> FloatArray:
        return self.loss.curvature_times(self.y, eta, directions)

    def repeated(self, n: int) -> RowLoss:
        return EachRow(self.loss, np.tile(self.y, n))


@dataclass(frozen=True)
class Uncurved(RowLoss):
    """The loss of rows, with a curvature of 1 everywhere."""

    rows: RowLoss

    def value(self, eta: FloatArray) -> FloatArray:
        return self.rows.value(eta)

    def least(self) -> FloatArray:
        return self.rows.least()

    def negative_gradient(self, eta: FloatArray) -> FloatArray:
        return self.rows.negative_gradient(eta)

    def curvature(self, eta: FloatArray) -> FloatArray:
        return np.ones_like(eta)

    def curvature_times(self, eta: FloatArray, directions: FloatArray) -> FloatArray:
        return directions

    def repeated(self, n: int) -> RowLoss:
        return Uncurved(self.rows.repeated(n))


def explicable(loss: RowLoss, eta: FloatArray, weight: WeightArray) -> float:
    """By how much the weighted mean of the loss at `eta` is above that of a perfect fit."""
    return mean_loss(loss, eta, weight) - float(np.average(loss.least(), weights=weight))


def mean_loss(loss: RowLoss, eta: FloatArray, weight: WeightArray) -> float:
    """Weighted mean of the loss over the rows with positive weight."""
    return float(np.average(loss.value(eta), weights=weight))
