"""Gradient boosting on the selected units, as a final model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.designs.families import Family
from treeselect.designs.problem import CodedColumns, Problem
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.data.binning import BinnedData, select_groups
from treeselect.engine.ensembles.prediction import predict_sum
from treeselect.engine.growing.nodes import LEAF, Trees


@dataclass(frozen=True, slots=True)
class BoostedModel:
    """Boosted trees on some of the groups, or a constant if there are none.

    Attributes
    ----------
    groups : ndarray of bool, shape (n_groups,)
        Groups that the trees may use; their columns are numbered among these groups only.
    trees : Trees or None
        Their values are already shrunk and are summed.
    constant : ndarray of float, shape (n_outputs,)
        Linear predictor of the null model, without the offset.
    importance : ndarray of float, shape (n_groups,)
        Gain of each group, summed over the trees; 0 for groups not used.
    family : Family
    """

    groups: BoolArray
    trees: Trees | None
    constant: FloatArray
    importance: FloatArray
    family: Family

    __repr__ = brief

    @property
    def is_link(self) -> bool:
        """Trees add to the linear predictor."""
        return True

    @property
    def note(self) -> str | None:
        """None."""
        return None

    @property
    def description(self) -> str:
        """The model in words."""
        if self.trees is None:
            return "the null model"
        return f"a gradient boosting model of {self.trees.n_trees} trees on the selected terms"

    @property
    def importance_note(self) -> str:
        """What the importances are shares of."""
        return "Share of the total gain in the final gradient boosting model"

    @property
    def in_place_note(self) -> str:
        """That this model predicts instead of a sparse forest."""
        return "predictions come from the gradient boosting model on the selected terms"

    @property
    def sparse(self) -> None:
        """None: it is no sparse forest."""
        return None

    @property
    def stored_as(self) -> str:
        """Prefix of their arrays in model files."""
        return "boost"

    @property
    def tree_weights(self) -> FloatArray:
        """1 for each tree: trees are summed."""
        return np.ones(0 if self.trees is None else self.trees.n_trees)

    @property
    def tree_shares(self) -> FloatArray:
        """Shares of the standard deviations of the trees' predictions."""
        return np.zeros(0) if self.trees is None else _shares(self.trees)

    def joined(self) -> Trees | None:
        """All trees."""
        return self.trees

    def own_bins(self, coded: CodedColumns) -> None:
        """Edges of the coded columns."""
        return None

    def bin(self, coded: CodedColumns, columns: tuple[NDArray[Any], ...]) -> BinnedData:
        """Bin the columns of :attr:`groups` by the edges of the coded columns."""
        return coded.bin(columns, self.groups)

    def predict(self, problem: Problem, n_threads: int = 1) -> FloatArray:
        """Mean response of each row of a problem, see :meth:`predict_binned`."""
        if self.trees is None:
            return self.without_trees(problem.data.n_rows, problem.offset)
        data = select_groups(problem.data, self.groups)
        return self.predict_binned(data, problem.offset, n_threads)

    def predict_binned(
        self, data: BinnedData, offset: FloatArray | None = None, n_threads: int = 1
    ) -> FloatArray:
        """Mean response of rows that have :attr:`groups` only; shape (n_rows,), or
        (n_rows, n_classes) for more than two classes."""
        return self._mean(self._add_up(data, n_threads), offset)

    def score(self, data: BinnedData) -> FloatArray:
        """Linear predictor without the offset, shape (n_rows, n_outputs)."""
        return self._add_up(data, 1)

    def without_trees(self, n_rows: int, offset: FloatArray | None = None) -> FloatArray:
        """Predictions of the null model for a number of rows."""
        return self._mean(np.tile(self.constant, (n_rows, 1)), offset)

    def _add_up(self, data: BinnedData, n_threads: int) -> FloatArray:
        if self.trees is None:
            return np.tile(self.constant, (data.n_rows, 1))
        return self.constant + predict_sum(self.trees, data, n_threads)

    def _mean(self, eta: FloatArray, offset: FloatArray | None) -> FloatArray:
        if self.family.n_classes > 2:
            return self.family.mean(eta)
        return self.family.mean(eta[:, 0] if offset is None else eta[:, 0] + offset)


def _shares(trees: Trees) -> FloatArray:
    """Share of each tree in the sum of the standard deviations of the leaf values."""
    nodes, tree = trees.nodes, np.repeat(np.arange(trees.n_trees), np.diff(trees.start))
    weight = np.where(nodes.column == LEAF, nodes.weight, 0).astype(np.float64)
    total = np.maximum(np.bincount(tree, weight), 1.0)
    variance = np.zeros(trees.n_trees)
    for value in nodes.value.T:
        mean = np.bincount(tree, weight * value) / total
        variance += np.bincount(tree, weight * (value - mean[tree]) ** 2) / total
    spread = np.sqrt(variance)
    return np.asarray(spread / max(spread.sum(), 1e-300))
