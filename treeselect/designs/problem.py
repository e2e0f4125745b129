"""What a method sees: encoded data, units and response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from treeselect.brief import brief
from treeselect.designs.design import CodedColumns, FeatureGroups
from treeselect.designs.families import Family
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.row_losses import RowLoss
from treeselect.engine.survival.times import EVENT

_LEAST_EXPECTED = 1e-6
"""Events that are expected of a row, on average, are at least so many."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Encoded data, units and response: all that a method sees.

    Attributes
    ----------
    data : BinnedData
    groups : FeatureGroups
    y : ndarray of float, shape (n_rows,), or (n_rows, 4)
        Of times of survival four columns: see ``engine.survival.times``.
    family : Family
    offset : ndarray of float, shape (n_rows,), or None
        Known part of the linear predictor.
    exact : BinnedData or None
        The same columns with a bin for each value, for methods that split exactly.
    columns : CodedColumns or None
        The columns before they were binned, for methods that read them.
    wants_scores : bool
        Whether the training scores of steps are looked at: they are not in folds and resamples.
        Where they need forests of their own, or predictions, they are NaN then.
    """

    data: BinnedData
    groups: FeatureGroups
    y: FloatArray
    family: Family
    offset: FloatArray | None = None
    exact: BinnedData | None = None
    columns: CodedColumns | None = None
    wants_scores: bool = True

    __repr__ = brief

    def constant(self, weight: WeightArray) -> FloatArray:
        """Linear predictor of the constant model, the offset included; shape (n_rows,), or
        (n_rows, n_classes) for more than two classes, which take no offset."""
        best = self.family.loss.constant(self.y, weight, self.offset)
        if self.offset is None:
            return np.tile(best, (len(self.y), 1)) if np.ndim(best) else np.full(len(self.y), best)
        return np.asarray(best + self.offset)

    @property
    def on_link(self) -> bool:
        """Whether forests are grown on minus the gradient at the constant model, and the last one
        adds to a linear predictor: beside an offset, or for times, which have no mean."""
        return self.offset is not None or self.family.has_times

    @property
    def splits_classes(self) -> bool:
        """Whether the response is classes, and nothing stands beside them."""
        return self.family.has_classes and self.offset is None

    def gradient(self, weight: WeightArray) -> FloatArray:
        """Minus the gradient of the loss at the constant model, shape (n_rows,) or
        (n_rows, n_classes): the response less its mean; of times the martingale residuals."""
        return self.rows(weight).negative_gradient(self.constant(weight))

    def curvature(self, weight: WeightArray) -> FloatArray:
        """Curvature of the loss at the constant model, of the same shape."""
        return self.rows(weight).curvature(self.constant(weight))

    def sample_size(self, weight: WeightArray) -> float:
        """What the Bayesian information criterion takes for it: the sum of the weights, of times of
        those of the events (Volinsky and Raftery 2000)."""
        told = weight if not self.family.has_times else weight * self.y[:, EVENT]
        return float(told.sum())

    def rows(self, weight: WeightArray) -> RowLoss:
        """The family's loss of all rows under these weights."""
        return self.family.loss.of(self.y, weight)

    def mean_beside(self, weight: WeightArray, gradient: FloatArray) -> FloatArray:
        """Mean response where minus the gradient at the constant model is so much, shape (n_rows,).

        It is the response less its mean there. Of times it is how many more events there were than
        expected; relative to what is expected of a row on average it is the logarithm of the risk,
        to first order.
        """
        eta = self.constant(weight)
        if not self.family.has_times:
            return np.asarray(gradient + self.family.mean(eta))
        expected = float(np.average(self.curvature(weight), weights=weight))
        return self.family.mean(eta + gradient / max(expected, _LEAST_EXPECTED))


class Wants(Protocol):
    """What a method wants to see beyond the binned columns."""

    @property
    def splits_exactly(self) -> bool:
        """Whether it wants a bin for each value (``Problem.exact``)."""
        ...

    @property
    def reads_columns(self) -> bool:
        """Whether it wants the columns before they are binned (``Problem.columns``)."""
        ...
