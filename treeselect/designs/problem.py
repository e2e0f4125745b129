"""What a method sees: encoded data, units and response."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from treeselect.brief import brief
from treeselect.designs.design import CodedColumns, FeatureGroups
from treeselect.designs.families import Family
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.data.binning import BinnedData, take_rows
from treeselect.engine.row_losses import RowLoss
from treeselect.engine.survival.times import EVENT

_LEAST_EXPECTED = 1e-6
"""Lower bound of the mean number of expected events per row."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Encoded data, units and response: the input of a method.

    Attributes
    ----------
    data : BinnedData
    groups : FeatureGroups
    y : ndarray of float, shape (n_rows,), or (n_rows, 4)
        For times to an event four columns: see ``engine.survival.times``.
    family : Family
    offset : ndarray of float, shape (n_rows,), or None
        Known part of the linear predictor.
    exact : BinnedData or None
        The same columns with a bin for each value, for methods that split exactly.
    columns : CodedColumns or None
        The columns before they were binned, for methods that read them.
    wants_scores : bool
        Whether the training scores of steps are needed: they are not in folds and resamples, where
        they are NaN if they would need separate forests or predictions.
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
    def can_be_cut(self) -> bool:
        """Whether :meth:`only` can take some of the rows: the binned columns are all there is."""
        return self.exact is None and self.columns is None

    def only(self, rows: IntArray) -> Problem:
        """Some of the rows, for predictions; see :attr:`can_be_cut`."""
        return replace(
            self,
            data=take_rows(self.data, rows),
            y=self.y[rows],
            offset=None if self.offset is None else self.offset[rows],
        )

    @property
    def on_link(self) -> bool:
        """Whether forests are grown on minus the gradient at the constant model, and the last one
        adds to a linear predictor: beside an offset, or for times, which have no mean."""
        return self.offset is not None or self.family.has_times

    @property
    def splits_classes(self) -> bool:
        """Whether the response has classes and there is no offset."""
        return self.family.has_classes and self.offset is None

    def gradient(self, weight: WeightArray) -> FloatArray:
        """Minus the gradient of the loss at the constant model, shape (n_rows,) or
        (n_rows, n_classes): the response less its mean; of times the martingale residuals."""
        return self.rows(weight).negative_gradient(self.constant(weight))

    def curvature(self, weight: WeightArray) -> FloatArray:
        """Curvature of the loss at the constant model, of the same shape."""
        return self.rows(weight).curvature(self.constant(weight))

    def sample_size(self, weight: WeightArray) -> float:
        """Sample size in the Bayesian information criterion: the sum of the weights; for times to
        an event the sum over events (Volinsky and Raftery 2000)."""
        told = weight if not self.family.has_times else weight * self.y[:, EVENT]
        return float(told.sum())

    def rows(self, weight: WeightArray) -> RowLoss:
        """The family's loss of all rows under these weights."""
        return self.family.loss.of(self.y, weight)

    def mean_beside(self, weight: WeightArray, gradient: FloatArray) -> FloatArray:
        """Mean response that corresponds to minus the gradient at the constant model, shape
        (n_rows,).

        Minus the gradient is the response minus its mean. For times to an event it is the number of
        events minus the number expected; divided by the mean number expected per row, it is the log
        relative risk to first order.
        """
        eta = self.constant(weight)
        if not self.family.has_times:
            return np.asarray(gradient + self.family.mean(eta))
        expected = float(np.average(self.curvature(weight), weights=weight))
        return self.family.mean(eta + gradient / max(expected, _LEAST_EXPECTED))


class Wants(Protocol):
    """What a method needs beyond the binned columns."""

    @property
    def splits_exactly(self) -> bool:
        """Whether it needs one bin per value (``Problem.exact``)."""
        ...

    @property
    def reads_columns(self) -> bool:
        """Whether it needs the columns before they are binned (``Problem.columns``)."""
        ...
