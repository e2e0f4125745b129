"""Losses: value, negative gradient and curvature in the linear predictor."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.special import expit, logit

from treeselect.engine._types import FloatArray, IntArray


class Loss(Protocol):
    """What boosting and the sparse forest need of a loss."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Loss of each row, shape (n_rows,), at the linear predictor `eta`."""
        ...

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Minus the first derivative in `eta`, shape (n_rows,)."""
        ...

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Second derivative in `eta`, shape (n_rows,)."""
        ...

    def constant(self, y: FloatArray, weight: IntArray) -> float:
        """Linear predictor of the best constant model."""
        ...


class SquaredLoss:
    """``(y - eta)**2 / 2``: its negative gradient is the residual."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return 0.5 * (y - eta) ** 2

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return y - eta

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.ones_like(eta)

    def constant(self, y: FloatArray, weight: IntArray) -> float:
        return float(np.average(y, weights=weight))


class LogisticLoss:
    """``log(1 + exp(eta)) - y * eta`` for y in {0, 1}; `eta` is the log-odds of 1."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, eta) - y * eta

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        return np.asarray(y - expit(eta))

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        p = expit(eta)
        return np.asarray(p * (1.0 - p))

    def constant(self, y: FloatArray, weight: IntArray) -> float:
        return float(logit(np.average(y, weights=weight)))


def mean_loss(loss: Loss, y: FloatArray, eta: FloatArray, weight: IntArray) -> float:
    """Weighted mean of the loss over the rows with positive weight."""
    return float(np.average(loss.value(y, eta), weights=weight))
