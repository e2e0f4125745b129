"""Final models: a constant and a sum of weighted trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.designs.families import Family
from treeselect.designs.imputer import Imputer
from treeselect.designs.problem import CodedColumns, Problem
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import BinnedData, select_groups
from treeselect.engine.forest.walk import predict_sum
from treeselect.engine.random import stream_seed
from treeselect.engine.survival.curves import Baseline, efron
from treeselect.engine.tree.nodes import LEAF, Trees, join_trees
from treeselect.models.importing import ImportedBins
from treeselect.printing.numbers import counted


@dataclass(frozen=True, slots=True)
class TreeModel:
    """A final model: predicts from the selected units, those of `groups`, by a constant and a sum
    of weighted trees. `stored_as` is its name in model files."""

    groups: BoolArray
    trees: Any
    constant: FloatArray
    importance: FloatArray
    family: Family
    # of the columns of the units, for models of data whose missing values were imputed
    imputer: Imputer | None = field(default=None, kw_only=True)

    __repr__ = brief

    note: ClassVar[str | None] = None
    _importance: ClassVar[str]
    stored_as: ClassVar[str]
    reads_columns: ClassVar[bool] = False  # whether it predicts from columns that are not binned

    @property
    def importance_note(self) -> str:
        """What importances are shares of."""
        return self._importance

    @property
    def is_link(self) -> bool:
        """Whether :meth:`score` gives the linear predictor without the offset, not the mean."""
        return True

    @property
    def n_trees(self) -> int:
        return 0 if self.trees is None else int(self.trees.n_trees)

    @property
    def description(self) -> str:
        """The model in words, as a noun phrase."""
        return self._name if self.n_trees else "the null model"

    @property
    def _name(self) -> str:
        """The same of a model that has trees."""
        raise NotImplementedError

    @property
    def sparse(self) -> WeightedForest | None:
        """The model itself, if it is a sparse forest."""
        return None

    @property
    def tree_weights(self) -> FloatArray:
        """Factor of each tree's values, shape (n_trees,)."""
        return np.ones(self.n_trees)

    @property
    def tree_shares(self) -> FloatArray:
        """Share of each tree in the spread of predictions, shape (n_trees,)."""
        return np.zeros(0) if self.trees is None else _shares(self.trees)

    def joined(self) -> Trees | None:
        """All trees on the columns that :meth:`bin` makes; None if there are none."""
        return self.trees

    def own_bins(self, coded: CodedColumns) -> ImportedBins | None:
        """The trees' own bins of the columns of :attr:`groups`; None for the usual bins."""
        return None

    def bin(self, coded: CodedColumns, columns: tuple[NDArray[Any], ...]) -> BinnedData:
        """Bin the columns of :attr:`groups` for some rows."""
        columns = self.filled(columns)
        bins = self.own_bins(coded)
        if bins is None:
            return coded.bin(columns, self.groups)
        return bins.bin(columns, np.arange(bins.n_features).tolist())

    def predict(self, problem: Problem, n_threads: int = 1) -> FloatArray:
        """Mean response of each row of a problem, see :meth:`predict_binned`."""
        if not self.n_trees and not self.reads_columns:
            return self.without_trees(len(problem.y), problem.offset)
        if self.reads_columns or self.imputer is not None:
            coded = _coded(problem)
            columns = own_columns(coded, self.groups)
            return self.predict_columns(coded, columns, problem.offset, n_threads)
        return self.predict_binned(self._binned(problem), problem.offset, n_threads)

    def predict_columns(
        self,
        coded: CodedColumns,
        columns: tuple[NDArray[Any], ...],
        offset: FloatArray | None = None,
        n_threads: int = 1,
    ) -> FloatArray:
        """Mean response of other rows, from their columns of :attr:`groups`."""
        return self.predict_binned(self.bin(coded, columns), offset, n_threads)

    def predict_binned(
        self, data: BinnedData, offset: FloatArray | None = None, n_threads: int = 1
    ) -> FloatArray:
        """Mean response of rows that :meth:`bin` made, for several classes in columns."""
        return self._mean(self._add_up(data, n_threads), offset)

    def score(self, data: BinnedData) -> FloatArray:
        """The model on the scale of its trees, shape (n_rows, n_outputs); linear predictors of
        several classes less their mean, on which no probability depends."""
        return self._centred(self._add_up(data, 1))

    def _centred(self, score: FloatArray) -> FloatArray:
        several = self.is_link and score.shape[1] > 1
        return score - score.mean(axis=1, keepdims=True) if several else score

    def without_trees(self, n_rows: int, offset: FloatArray | None = None) -> FloatArray:
        """Predictions of the null model for a number of rows."""
        return self._mean(np.tile(self.constant, (n_rows, 1)), offset)

    def filled(self, columns: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
        """The columns of :attr:`groups`, with missing values imputed if the model does that."""
        return columns if self.imputer is None else self.imputer.fill(columns)

    def _binned(self, problem: Problem) -> BinnedData:
        return select_groups(problem.data, self.groups)

    def _add_up(self, data: BinnedData, n_threads: int) -> FloatArray:
        trees = self.joined()
        if trees is None:
            return np.tile(self.constant, (data.n_rows, 1))
        return self.constant + self._total(trees, data, n_threads)

    def _total(self, trees: Trees, data: BinnedData, n_threads: int) -> FloatArray:
        return predict_sum(trees, data, n_threads)

    def _mean(self, score: FloatArray, offset: FloatArray | None) -> FloatArray:
        score = score if self.family.n_classes > 2 else score[:, 0]
        if not self.is_link:
            return score
        return self.family.mean(score if offset is None else score + offset)


@dataclass(frozen=True, slots=True, repr=False)
class ColumnModel(TreeModel):
    """A model that predicts from columns as they are."""

    reads_columns: ClassVar[bool] = True

    def predict_columns(
        self,
        coded: CodedColumns,
        columns: tuple[NDArray[Any], ...],
        offset: FloatArray | None = None,
        n_threads: int = 1,
    ) -> FloatArray:
        """See :meth:`TreeModel.predict_columns`; numbers are not binned."""
        n_rows = coded.n_rows if not columns else len(columns[0])
        return self._mean(self._of(self.filled(columns), n_rows), offset)

    def score_columns(self, columns: Sequence[NDArray[Any]]) -> FloatArray:
        """:meth:`TreeModel.score` of rows, from their columns of :attr:`groups`."""
        return self._centred(self._of(columns, len(columns[0])))

    def _of(self, columns: Sequence[NDArray[Any]], n_rows: int) -> FloatArray:
        """The model on the scale of :meth:`score`, shape (n_rows, n_outputs)."""
        raise NotImplementedError

    def _add_up(self, data: BinnedData, n_threads: int) -> FloatArray:
        raise NotImplementedError("It predicts from columns, not from their bins.")


def _coded(problem: Problem) -> CodedColumns:
    assert problem.columns is not None
    return problem.columns


def own_columns(coded: CodedColumns, groups: BoolArray) -> tuple[NDArray[Any], ...]:
    """The columns of some groups, before they are binned."""
    return tuple(coded.columns[j] for j in np.flatnonzero(groups[coded.groups.ids]))


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


@dataclass(frozen=True, slots=True, repr=False)
class BoostedModel(TreeModel):
    """Boosted trees, whose values are already shrunk; importances are gains summed over trees."""

    _importance: ClassVar[str] = "Share of the total gain in the final gradient boosting model"
    stored_as: ClassVar[str] = "boost"

    @property
    def _name(self) -> str:
        return f"a gradient boosting model of {counted(self.n_trees, 'tree')} on the selected terms"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class WeightedForest(TreeModel):
    """Trees and their weights: ``F0 + b + A w`` of the sparse-forest problem."""

    trees: tuple[Trees, ...]  # single ones, unscaled, on all columns they were grown on
    weights: FloatArray  # (n_trees,): above 0
    gains: FloatArray  # (n_trees, n_groups): above 0 where the tree uses the group
    shares: FloatArray  # (n_trees,): of the sum of weights times standard deviations
    group_of: IntArray  # group of each column the trees were grown on
    bins: ImportedBins | None = None  # of trees of another library; its features are its columns

    note: ClassVar[str | None] = (
        "The final model is the sparse forest at this step's penalty: the fewer terms, the more"
        " its predictions are shrunk towards the mean."
    )
    _importance: ClassVar[str] = (
        "Share of the trees' summed weighted standard deviations, by gain within each tree"
    )
    stored_as: ClassVar[str] = "sub"

    @property
    def n_trees(self) -> int:
        return len(self.trees)

    @property
    def _name(self) -> str:
        return f"the sparse forest of {counted(self.n_trees, 'weighted tree')}"

    @property
    def sparse(self) -> WeightedForest:
        return self

    @property
    def tree_weights(self) -> FloatArray:
        return self.weights

    @property
    def tree_shares(self) -> FloatArray:
        return self.shares

    def within(self, groups: BoolArray) -> WeightedForest:
        """The trees that use only some groups, with their weights."""
        inside = ~(self.gains[:, ~groups] > 0).any(axis=1)
        if inside.all():  # shares that are divided by their sum again change their last bits
            return dataclasses.replace(self, groups=groups)
        importance, shares = np.where(groups, self.importance, 0.0), self.shares[inside]
        return dataclasses.replace(
            self,
            groups=groups,
            trees=tuple(self.trees[t] for t in np.flatnonzero(inside)),
            weights=self.weights[inside],
            gains=self.gains[inside],
            shares=shares / max(shares.sum(), 1e-300),
            importance=importance / max(importance.sum(), 1e-300),
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

    def own_bins(self, coded: CodedColumns) -> ImportedBins | None:
        """Bins of the columns of :attr:`groups` for the trees of another library."""
        if self.bins is None:
            return None
        return self.bins.of_features(np.flatnonzero(self.groups[coded.groups.ids]))

    def _binned(self, problem: Problem) -> BinnedData:
        if self.bins is None:
            return select_groups(problem.data, self.groups)
        coded = _coded(problem)
        return self.bin(coded, own_columns(coded, self.groups))

    def _total(self, trees: Trees, data: BinnedData, n_threads: int) -> FloatArray:
        scale = np.repeat(self.weights, np.diff(trees.start))[:, np.newaxis]
        scaled = trees._replace(nodes=trees.nodes._replace(value=trees.nodes.value * scale))
        return predict_sum(scaled, data, n_threads)


_MOST_PERMUTED = 10_000
"""Rows over which values are permuted."""


def permuted_changes(
    model: TreeModel, coded: CodedColumns, weight: WeightArray, parts: Sequence[IntArray], seed: int
) -> FloatArray:
    """How much predictions, or log hazards, change (root mean square) when the columns of a part,
    by their numbers among all, are permuted together over the rows; shape (n_parts,)."""
    if not parts:
        return np.zeros(0)
    rng = np.random.default_rng(stream_seed(seed, "permuted"))
    rows = rng.permutation(np.flatnonzero(weight > 0))[:_MOST_PERMUTED]
    share = weight[rows] / weight[rows].sum()
    own = np.flatnonzero(model.groups[coded.groups.ids])
    columns = [coded.columns[j][rows] for j in own]

    def predict(x: Sequence[NDArray[Any]]) -> FloatArray:
        mean = model.predict_columns(coded, tuple(x))
        return (np.log(mean) if model.family.has_times else mean).reshape(len(rows), -1)

    known = predict(columns)
    found = np.zeros(len(parts))
    for i, part in enumerate(parts):
        order = rng.permutation(len(rows))
        other = [x[order] if j in part else x for j, x in zip(own, columns, strict=True)]
        found[i] = np.sqrt(share @ ((predict(other) - known) ** 2).sum(axis=1))
    return found


def no_trees(problem: Problem, weight: WeightArray) -> WeightedForest:
    """The sparse forest of an empty selection: the null model."""
    n_groups = len(problem.groups.names)
    nothing = np.zeros(n_groups)
    return WeightedForest(
        groups=nothing > 0, trees=(), weights=np.zeros(0), gains=np.zeros((0, n_groups)),
        shares=np.zeros(0), constant=null_predictor(problem, weight), importance=nothing,
        group_of=problem.data.group_of.astype(np.int64), family=problem.family,
    )  # fmt: skip


def null_predictor(problem: Problem, weight: WeightArray) -> FloatArray:
    """Linear predictor of the null model, without the offset, shape (n_outputs,)."""
    found = problem.family.loss.constant(problem.y, weight, problem.offset)
    return np.atleast_1d(np.asarray(found, dtype=np.float64))


def baseline_of(
    problem: Problem, weight: WeightArray, model: TreeModel, n_threads: int = 1
) -> Baseline | None:
    """The cumulative hazard at relative risk 1, from the rows that the model was fitted to; None
    for other responses."""
    if not problem.family.has_times:
        return None
    eta = problem.family.link(model.predict(problem, n_threads))
    return efron(problem.y, eta, weight * problem.in_training)
