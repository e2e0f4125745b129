"""What a method sees: encoded data, units and response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from treeselect.designs.design import CodedColumns, FeatureGroups
from treeselect.designs.families import Family
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.data.binning import BinnedData


@dataclass(frozen=True, slots=True)
class Problem:
    """Encoded data, units and response: all that a method sees.

    Attributes
    ----------
    data : BinnedData
    groups : FeatureGroups
    y : ndarray of float, shape (n_rows,)
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

    def constant(self, weight: WeightArray) -> FloatArray:
        """Linear predictor of the constant model, the offset included; shape (n_rows,), or
        (n_rows, n_classes) for more than two classes, which take no offset."""
        best = self.family.loss.constant(self.y, weight, self.offset)
        if self.offset is None:
            return np.tile(best, (len(self.y), 1)) if np.ndim(best) else np.full(len(self.y), best)
        return np.asarray(best + self.offset)


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
