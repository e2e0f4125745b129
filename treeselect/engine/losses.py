"""Losses: value, negative gradient and curvature in the linear predictor."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from treeselect.engine._types import FloatArray, WeightArray


class Loss(Protocol):
    """What boosting and the sparse forest need of a loss."""

    @property
    def is_squared(self) -> bool:
        """Whether the curvature is 1 everywhere: trees are then grown on means."""
        ...

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Loss of each row, shape (n_rows,), at the linear predictor `eta`."""
        ...

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Minus the first derivative in `eta`, shape (n_rows,)."""
        ...

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Second derivative in `eta`, shape (n_rows,)."""
        ...

    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> float:
        """Linear predictor of the best constant model, without the offset that is added to it."""
        ...


class SquaredLoss:
    """``(y - eta)**2 / 2``: its negative gradient is the residual."""

    is_squared = True

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


class LogisticLoss:
    """``log(1 + exp(eta)) - y * eta`` for y in {0, 1}; `eta` is the log-odds of 1."""

    is_squared = False

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, eta) - y * eta

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.asarray(y - expit(eta))

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        p = expit(eta)
        return np.asarray(p * (1.0 - p))

    def constant(
        self, y: FloatArray, weight: WeightArray, offset: FloatArray | None = None
    ) -> float:
        best = float(logit(np.average(y, weights=weight)))
        if offset is None:
            return best
        # The sum of the gradients falls in the constant: it is 0 somewhere between these two.
        low, high = best - float(offset.max()), best - float(offset.min())
        if low == high:
            return low

        def slope(constant: float) -> float:
            return float(weight @ self.negative_gradient(y, constant + offset))

        return float(brentq(slope, low, high))


def mean_loss(loss: Loss, y: FloatArray, eta: FloatArray, weight: WeightArray) -> float:
    """Weighted mean of the loss over the rows with positive weight."""
    return float(np.average(loss.value(y, eta), weights=weight))
