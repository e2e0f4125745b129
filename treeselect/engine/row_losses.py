"""Losses of given rows, all of them at once: rows may depend on each other, as those of a risk set
do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from treeselect.engine.arrays import FloatArray, WeightArray


class RowLoss(Protocol):
    """A loss of given rows under given weights, at any linear predictor `eta` of theirs.

    All figures of a row are those of one unit of its weight. Weighted and summed they are the loss
    of all rows and its derivatives.
    """

    def value(self, eta: FloatArray) -> FloatArray:
        """Loss of each row, shape (n_rows,)."""
        ...

    def least(self) -> FloatArray:
        """Least loss of each row at any linear predictor, shape (n_rows,)."""
        ...

    def negative_gradient(self, eta: FloatArray) -> FloatArray:
        """Minus the first derivative in `eta`, of its shape."""
        ...

    def curvature(self, eta: FloatArray) -> FloatArray:
        """The diagonal of the second derivative in `eta`, of its shape."""
        ...

    def derivatives(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both of these, for those who need both."""
        ...

    def curvature_times(self, eta: FloatArray, directions: FloatArray) -> FloatArray:
        """Second derivative within each row times directions, shape
        (n_rows * n_outputs, n_directions); the outputs of a row stand side by side."""
        ...

    def repeated(self, n: int) -> RowLoss:
        """The same for `n` copies of the rows one after the other, which don't know each other."""
        ...


class RowByRow(Protocol):
    """A loss of each row that depends only on its own response and linear predictor."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray: ...

    def least(self, y: FloatArray) -> FloatArray: ...

    def negative_gradient(self, y: FloatArray, eta: FloatArray) -> FloatArray: ...

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray: ...

    def curvature_times(
        self, y: FloatArray, eta: FloatArray, directions: FloatArray
    ) -> FloatArray: ...


@dataclass(frozen=True)
class EachRow:
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
        return self.negative_gradient(eta), self.curvature(eta)

    def curvature_times(self, eta: FloatArray, directions: FloatArray) -> FloatArray:
        return self.loss.curvature_times(self.y, eta, directions)

    def repeated(self, n: int) -> RowLoss:
        return EachRow(self.loss, np.tile(self.y, n))


@dataclass(frozen=True)
class Uncurved:
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

    def derivatives(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.negative_gradient(eta), self.curvature(eta)

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
