"""Boosted trees whose depth and number are chosen on held-out rows; they can be a final model."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeselect.designs.problem import Problem
from treeselect.designs.row_sample import units_of
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import BinnedData, select_groups, take_rows
from treeselect.engine.forest.boosting import BoostedTrees, Boosting, boost
from treeselect.engine.forest.walk import predict_sum
from treeselect.engine.losses import Loss, mean_loss
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least, first_smallest
from treeselect.engine.tree.nodes import Trees, group_gains
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, UNBOUNDED, Growth
from treeselect.models.model import BoostedModel, null_predictor

MOST_ROUNDS = 2000

_PATIENCE = 50
"""Rounds without a lower validation loss after which boosting ends."""

_LEAST_GAIN = 2e-3
"""Share of the decrease so far that so many rounds must add: on many rows, and where classes are
separated, the loss falls for thousands of rounds, by next to nothing."""

_FEW_ROWS = 2000
"""Most rows for which the losses of five splits are averaged, as in the paper of GBFS; for more
rows, one split is enough."""

_DEPTHS = (2, 4, 6)
"""Depths from which validation chooses."""

_SHARE = 5
"""One row in five is held out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Booster:
    """Boosting of one problem at any penalty of its splits."""

    problem: Problem
    data: BinnedData
    weights: RowWeights
    loss: Loss
    rank: IntArray
    is_open: BoolArray  # (n_groups,): groups that are free from the start
    seed: int
    n_threads: int
    n_trees: int | None = None  # chosen on held-out rows
    max_depth: int | None = None  # chosen on held-out rows
    learning_rate: float = 0.1
    min_leaf: int = 1
    opens_late: bool = False

    def grow(self, penalty: SplitPenalty) -> BoostedTrees:
        depth, n_trees = self._sizes(penalty)
        rules = Boosting(n_trees, self.learning_rate, self._growth(depth))
        return self._boost(rules, self.weights.values, penalty, self.is_open, ends_without_split)

    def stump(self, penalty: SplitPenalty) -> BoostedTrees:
        """The first split, where no group is free."""
        rules, closed = Boosting(1, 1.0, self._growth(1)), np.zeros_like(self.is_open)
        return self._boost(rules, self.weights.values, penalty, closed, None)

    def _growth(self, depth: int) -> Growth:
        return Growth(
            max_depth=depth, min_weight=self.min_leaf, n_candidates=UNBOUNDED, min_gain=0.0,
            order=BEST_FIRST, max_leaves=2 ** min(depth, 20), opens_late=self.opens_late,
        )  # fmt: skip

    def _boost(
        self, rules: Boosting, weight: WeightArray, penalty: SplitPenalty, is_open: BoolArray,
        after_round: Any,
    ) -> BoostedTrees:  # fmt: skip
        return boost(
            self.data, self.loss, self.problem.y, weight,
            self.problem.constant(self.weights.values), rules, seed=self.seed, rank=self.rank,
            is_open=is_open.copy(), penalty=penalty, after_round=after_round,
            n_threads=self.n_threads,
        )  # fmt: skip

    def _sizes(self, penalty: SplitPenalty) -> tuple[int, int]:
        """Depth and number of rounds, by validation unless given."""
        if self.max_depth is not None and self.n_trees is not None:
            return self.max_depth, self.n_trees
        depths = _DEPTHS if self.max_depth is None else (self.max_depth,)
        found = [self._validate(penalty, d, self.n_trees or MOST_ROUNDS) for d in depths]
        best = first_smallest([loss for loss, _ in found])
        return depths[best], self.n_trees or found[best][1]

    def _validate(self, penalty: SplitPenalty, depth: int, n_trees: int) -> tuple[float, int]:
        """Least mean loss on held-out rows, and its number of rounds."""
        n_splits = 5 if self.weights.n_units <= _FEW_ROWS else 1
        rules = Boosting(n_trees, self.learning_rate, self._growth(depth))
        curves = [self._curve(penalty, rules, split) for split in range(n_splits)]
        length = min(len(curve) for curve in curves)
        mean = np.mean([curve[:length] for curve in curves], axis=0)
        return float(mean.min()), max(first_smallest(mean), 1)

    def _curve(self, penalty: SplitPenalty, rules: Boosting, split: int) -> list[float]:
        """Loss on the held-out rows of one split, from the null model on."""
        seed = stream_seed(self.seed, "validation", split)
        train, rows = hold_rows_out(self.problem, self.weights, seed)
        judge = Judge(self, rows)
        self._boost(rules, train, penalty, self.is_open, judge.after_round)
        return judge.losses


class Judge:
    """Follows the loss on held-out rows, and ends boosting when it stops falling."""

    def __init__(self, booster: Booster, rows: IntArray) -> None:
        problem = booster.problem
        self._data = take_rows(booster.data, rows)
        self._weight = booster.weights.values[rows]
        self._rows = problem.family.loss.of(problem.y[rows], self._weight)
        self._eta = problem.constant(booster.weights.values)[rows]
        self.losses = [self._value()]

    def _value(self) -> float:
        return mean_loss(self._rows, self._eta, self._weight)

    def after_round(self, number: int, eta: FloatArray, trees: Sequence[Trees]) -> bool:
        for tree in trees:
            step = predict_sum(tree, self._data)
            self._eta += step if self._eta.ndim == 2 else step[:, 0]
        self.losses.append(self._value())
        best = first_smallest(self.losses)
        return (
            number - best >= _PATIENCE
            or self._hardly_falls(best)
            or ends_without_split(number, eta, trees)
        )

    def _hardly_falls(self, best: int) -> bool:
        """Whether the last rounds have added next to nothing to the decrease of the loss."""
        if len(self.losses) <= _PATIENCE:
            return False
        decrease = self.losses[0] - self.losses[best]
        added = self.losses[-1 - _PATIENCE] - self.losses[best]
        return not at_least(added, _LEAST_GAIN * decrease)


def ends_without_split(number: int, eta: FloatArray, trees: Sequence[Trees]) -> bool:
    """Whether no tree of the round was split; then no later tree will be."""
    return all(len(tree.nodes.column) == tree.n_trees for tree in trees)


def hold_rows_out(problem: Problem, weights: RowWeights, seed: int) -> tuple[WeightArray, IntArray]:
    """Weights without a held-out fifth of the rows of each class, in whole clusters, and the
    held-out rows; all rows if none can be held out."""
    units, rows = units_of(problem, weights), weights.rows
    order = np.random.default_rng(seed).permutation(len(units.stratum))
    order = order[np.argsort(units.stratum[order], kind="stable")]
    place = np.concatenate([np.arange(n) for n in np.bincount(units.stratum)])
    held_out = rows[np.isin(units.of_row, order[place % _SHARE == 1])]
    train = weights.values.copy()
    train[held_out] = 0
    return train, held_out if len(held_out) else rows


def refit_boosting(
    problem: Problem,
    weights: RowWeights,
    selected: BoolArray,
    *,
    seed: int,
    n_threads: int = 1,
    **_: Any,
) -> BoostedModel:
    """Gradient boosting of the depth and number of trees with the lowest loss on held-out rows."""
    family, importance = problem.family, np.zeros(len(selected))
    constant = null_predictor(problem, weights.values)
    if not selected.any():
        return BoostedModel(selected, None, constant, importance, family)
    data, seed = select_groups(problem.data, selected), stream_seed(seed, "boosting")
    groups, n_groups = problem.groups, len(selected)
    items = tuple(np.array([g]) for g in range(n_groups))
    alike = dataclasses.replace(groups, items=items, item_costs=np.ones(n_groups))
    booster = Booster(
        problem=problem, data=data, weights=weights, loss=family.loss, min_leaf=family.min_leaf,
        rank=alike.ranks(seed)[selected], is_open=groups.keep[selected], seed=seed,
        n_threads=n_threads,
    )  # fmt: skip
    n_columns = len(data.group_of)
    trees = booster.grow(SplitPenalty(np.ones(n_columns), np.zeros(n_columns))).trees
    importance[selected] = group_gains(trees, data).sum(axis=0)
    return BoostedModel(selected, trees, constant, importance, family)
