"""Several independent copies of some rows.

Each copy has linear predictors of its own; risk sets are those of the rows, which are sorted once.
"""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.engine.row_losses import RowLoss


class Copies:
    """The loss of several copies of some rows, one after the other: each has linear predictors of
    its own, and all have the same risk sets."""

    def __init__(self, rows: RowLoss, n: int) -> None:
        self._rows, self._n = rows, n

    def value(self, eta: FloatArray) -> FloatArray:
        """Loss of each row, shape (n * n_rows,)."""
        return np.concatenate([self._rows.value(own) for own in self._each(eta)])

    def least(self) -> FloatArray:
        """Least loss of each row."""
        return np.tile(self._rows.least(), self._n)

    def negative_gradient(self, eta: FloatArray) -> FloatArray:
        """Minus the first derivative."""
        return np.concatenate([self._rows.negative_gradient(own) for own in self._each(eta)])

    def curvature(self, eta: FloatArray) -> FloatArray:
        """The diagonal of the second derivative."""
        return self.derivatives(eta)[1]

    def derivatives(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both of these."""
        parts = [self._rows.derivatives(own) for own in self._each(eta)]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def curvature_times(self, eta: FloatArray, directions: FloatArray) -> FloatArray:
        """Second derivative times directions."""
        parts = zip(self._each(eta), self._each(directions), strict=True)
        return np.concatenate([self._rows.curvature_times(*own) for own in parts])

    def repeated(self, n: int) -> Copies:
        """Copies of the copies."""
        return Copies(self._rows, self._n * n)

    def _each(self, values: FloatArray) -> list[FloatArray]:
        return np.split(values, self._n)
