"""The sparse forest: trees with positive weights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.designs.families import Family
from treeselect.designs.problem import CodedColumns, Problem
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.data.binning import BinnedData, select_groups
from treeselect.engine.ensembles.prediction import predict_sum
from treeselect.engine.growing.nodes import LEAF, Trees, join_trees
from treeselect.models.importing import ImportedBins


@dataclass(frozen=True, slots=True)
class WeightedForest:
    """Trees and their weights: ``F0 + b + A w`` of the sparse-forest problem.

    Attributes
    ----------
    groups : ndarray of bool, shape (n_groups,)
        Groups that the trees may use.
    trees : tuple of Trees, length n_trees
        Single trees, the unscaled columns of A.
    weights : ndarray of float, shape (n_trees,)
        Above 0.
    gains : ndarray of float, shape (n_trees, n_groups)
        Gain of each group in each tree, above 0 where the tree uses it.
    shares : ndarray of float, shape (n_trees,)
        Weight of each tree times the standard deviation of its column, as a share of the sum over
        trees.
    constant : ndarray of float, shape (n_outputs,)
        F0 and the intercept, without the offset.
    importance : ndarray of float, shape (n_groups,)
        The same shares, divided among the groups of each tree by gain; they sum to 1 (or 0).
    group_of : ndarray of int64, shape (n_columns,)
        Group of each column of the data that the trees were grown on.
    family : Family
    bins : ImportedBins or None
        Bins of the trees of another library; its features are its columns.
    """

    groups: BoolArray
    trees: tuple[Trees, ...]
    weights: FloatArray
    gains: FloatArray
    shares: FloatArray
    constant: FloatArray
    importance: FloatArray
    group_of: IntArray
    family: Family
    bins: ImportedBins | None = None

    __repr__ = brief

    @property
    def is_link(self) -> bool:
        """Trees add to the linear predictor."""
        return True

    @property
    def description(self) -> str:
        """The model in words."""
        return f"the sparse forest of {len(self.trees)} weighted trees"

    @property
    def note(self) -> str | None:
        """That its penalty shrinks predictions."""
        return (
            "The final model is the sparse forest at this step's penalty: the fewer terms, the more"
            " its predictions are shrunk towards the mean."
        )

    def within(self, groups: BoolArray) -> WeightedForest:
        """The trees that use only some groups, with their weights."""
        inside = ~(self.gains[:, ~groups] > 0).any(axis=1)
        if inside.all():  # shares that are divided by their sum again change their last bits
            return dataclasses.replace(self, groups=groups)
        importance, shares = np.where(groups, self.importance, 0.0), self.shares[inside]
        return WeightedForest(
            groups=groups,
            trees=tuple(self.trees[t] for t in np.flatnonzero(inside)),
            weights=self.weights[inside],
            gains=self.gains[inside],
            shares=shares / max(shares.sum(), 1e-300),
            constant=self.constant,
            importance=importance / max(importance.sum(), 1e-300),
            group_of=self.group_of,
            family=self.family,
            bins=self.bins,
        )

    def joined(self) -> Trees | None:
        """All trees on the columns of :attr:`groups` alone; None if there are none."""
        if not self.trees:
            return None
        number = np.cumsum(self.groups[self.group_of]) - 1
        trees = join_trees(self.trees)
        column = trees.nodes.column
        moved = np.where(column == LEAF, LEAF, number[column]).astype(np.int32)
        return trees._replace(nodes=trees.nodes._replace(column=moved))

    @property
    def importance_note(self) -> str:
        """What the importances are shares of."""
        return "Share of the trees' summed weighted standard deviations, by gain within each tree"

    @property
    def in_place_note(self) -> str:
        """Empty: it predicts itself."""
        return ""

    @property
    def sparse(self) -> WeightedForest:
        """Itself."""
        return self

    @property
    def stored_as(self) -> str:
        """Prefix of its arrays in model files."""
        return "sub"

    @property
    def tree_weights(self) -> FloatArray:
        """The weights."""
        return self.weights

    @property
    def tree_shares(self) -> FloatArray:
        """The shares."""
        return self.shares

    def own_bins(self, coded: CodedColumns) -> ImportedBins | None:
        """Bins of the columns of :attr:`groups` for the trees of another library."""
        if self.bins is None:
            return None
        return self.bins.of_features(np.flatnonzero(self.groups[coded.groups.ids]))

    def bin(self, coded: CodedColumns, columns: tuple[NDArray[Any], ...]) -> BinnedData:
        """Bin the columns of :attr:`groups` for the trees."""
        bins = self.own_bins(coded)
        if bins is None:
            return coded.bin(columns, self.groups)
        return bins.bin(columns, np.arange(bins.n_features).tolist())

    def predict(self, problem: Problem, n_threads: int = 1) -> FloatArray:
        """Mean response of each row of a problem, see :meth:`predict_binned`."""
        if not self.trees:
            return self.without_trees(len(problem.y), problem.offset)
        if self.bins is None:
            data = select_groups(problem.data, self.groups)
        else:
            coded = problem.columns
            assert coded is not None
            own = np.flatnonzero(self.groups[coded.groups.ids])
            data = self.bin(coded, tuple(coded.columns[j] for j in own))
        return self.predict_binned(data, problem.offset, n_threads)

    def predict_binned(
        self, data: BinnedData, offset: FloatArray | None = None, n_threads: int = 1
    ) -> FloatArray:
        """Mean response of rows that :meth:`bin` made; shape (n_rows,), or (n_rows, n_classes) for
        more than two classes."""
        return self._mean(self._add_up(data, n_threads), offset)

    def score(self, data: BinnedData) -> FloatArray:
        """Linear predictor without the offset, shape (n_rows, n_outputs)."""
        return self._add_up(data, 1)

    def without_trees(self, n_rows: int, offset: FloatArray | None = None) -> FloatArray:
        """Predictions of the null model for a number of rows."""
        return self._mean(np.tile(self.constant, (n_rows, 1)), offset)

    def _add_up(self, data: BinnedData, n_threads: int) -> FloatArray:
        trees = self.joined()
        if trees is None:
            return np.tile(self.constant, (data.n_rows, 1))
        scale = np.repeat(self.weights, np.diff(trees.start))[:, np.newaxis]
        scaled = trees._replace(nodes=trees.nodes._replace(value=trees.nodes.value * scale))
        return self.constant + predict_sum(scaled, data, n_threads)

    def _mean(self, eta: FloatArray, offset: FloatArray | None) -> FloatArray:
        if self.family.n_classes > 2:
            return self.family.mean(eta)
        return self.family.mean(eta[:, 0] if offset is None else eta[:, 0] + offset)


def no_trees(problem: Problem, weight: WeightArray) -> WeightedForest:
    """The sparse forest of an empty selection: the null model."""
    n_groups = len(problem.groups.names)
    nothing = np.zeros(n_groups)
    return WeightedForest(
        groups=nothing > 0,
        trees=(),
        weights=np.zeros(0),
        gains=np.zeros((0, n_groups)),
        shares=np.zeros(0),
        constant=np.atleast_1d(
            problem.family.loss.constant(problem.y, weight, problem.offset)
        ).astype(np.float64),
        importance=nothing,
        group_of=problem.data.group_of.astype(np.int64),
        family=problem.family,
    )
