"""Incremental depth bagging and bag-boosting: the forests that ControlBurn prunes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, Int32Array, IntArray, LeafArray, WeightArray
from treeselect.engine.columns import BinnedData, select_groups
from treeselect.engine.compiling import kernel
from treeselect.engine.forest.bagging import BOOTSTRAP, Bags, Sampling, bags_of, grow_bagged_trees
from treeselect.engine.forest.leaf_values import in_order_of
from treeselect.engine.forest.walk import mark_leaves, narrow
from treeselect.engine.losses import Loss, explicable, mean_loss
from treeselect.engine.random import stream_seed
from treeselect.engine.tree.nodes import (
    Nodes,
    Trees,
    check_array,
    check_data,
    check_weight,
    empty_nodes,
    group_gains,
)
from treeselect.engine.tree.target import (
    Target,
    are_copies,
    copies,
    target_of_mean,
    target_of_steps,
    vector_target,
)
from treeselect.engine.tree.used_groups import (
    Opening,
    SplitPenalty,
    can_split,
    no_penalty,
    price_list,
)
from treeselect.engine.tree.workspace import UNBOUNDED, Growth, Job, leaf_table, workspace
from treeselect.errors import DataError

# --- single bagged trees of a stage, and the sums of what they predict -------------------------

_LEAST_CURVATURE = 1e-12
"""Something to divide by where no row of a bag is ever at risk."""


class GrownTree(NamedTuple):
    """A tree, the leaf of each row, the values of the leaves, its gains by group, its depth and its
    stage."""

    tree: Trees
    leaf: LeafArray
    value: FloatArray
    gains: FloatArray
    depth: int = 0
    stage: int = 0


def of_all_groups(grown: GrownTree, columns: IntArray, group: int, n_groups: int) -> GrownTree:
    """A tree that was grown on the columns of one group, in terms of all columns and groups."""
    nodes = grown.tree.nodes
    column = np.where(nodes.column < 0, nodes.column, columns[nodes.column]).astype(np.int32)
    gains = np.zeros(n_groups)
    gains[group] = grown.gains[0]
    return grown._replace(
        tree=grown.tree._replace(nodes=nodes._replace(column=column)), gains=gains
    )


class Sums(NamedTuple):
    """Sums of the predictions of a stage's trees for each row, (n_rows, n_outputs): of all, and of
    those out of whose bag the row is; and how many these are."""

    total: FloatArray
    outside: FloatArray
    n_outside: IntArray


def no_sums(n_rows: int, n_outputs: int) -> Sums:
    shape = (n_rows, n_outputs)
    return Sums(np.zeros(shape), np.zeros(shape), np.zeros(n_rows, dtype=np.int64))


@kernel
def add_tree(leaf, value, bag, weight, sums):
    """Add a tree's prediction of each row; rows without weight are in no bag, nor out of it."""
    for i in range(leaf.shape[0]):
        is_outside = bag[i] == 0 and weight[i] > 0
        for k in range(value.shape[1]):
            prediction = value[leaf[i], k]
            sums.total[i, k] += prediction
            sums.outside[i, k] += prediction if is_outside else 0.0
        sums.n_outside[i] += int(is_outside)


class BaggedTree:
    """Grows single bagged trees and adds up what they predict."""

    def __init__(
        self,
        data: BinnedData,
        loss: Loss,
        weight: WeightArray,
        bags: Bags,
        penalty: SplitPenalty,
        rank: IntArray,
    ) -> None:
        self._data, self._loss, self._weight, self._bags = data, loss, weight, bags
        n_outputs = loss.n_outputs
        self._copies = copies(weight)
        shape = (data.n_rows, n_outputs) if n_outputs > 1 else data.n_rows
        zero = np.zeros(shape)
        target = self._target(zero, zero if loss.needs_curvature else None)
        self._work = workspace(data, target, weight)
        self._table = leaf_table(data, target, Growth(0, 1, 0, 0.0), 0)
        closed = np.zeros(data.n_groups, dtype=np.bool_)
        self._opening = Opening(price_list(penalty, data, closed), closed, rank, False)
        self._room = empty_nodes(2 * len(bags.in_rows), n_outputs)

    def grow(
        self,
        gradient: FloatArray,
        curvature: FloatArray | None,
        growth: Growth,
        seed: int,
        sums: Sums,
    ) -> GrownTree:
        """One tree on a bag drawn from the stream `seed`; its predictions are added to `sums`."""
        data = self._data
        job = Job(data, self._target(gradient, curvature), self._copies, growth)
        bags = self._bags._replace(seeds=np.array([seed], dtype=np.uint64))
        grown = Trees(self._room, np.zeros(2, dtype=np.int64))
        grow_bagged_trees(job, bags, self._opening, self._work, self._table, grown)
        nodes, start = grown.one(0)
        tree = Trees(Nodes._make(array.copy() for array in nodes), start)
        leaf, value = mark_leaves(tree, data)
        if curvature is not None:
            value = self._steps(leaf, gradient, curvature, len(value))
            is_leaf = tree.nodes.column < 0
            tree.nodes.value[is_leaf] = value
            tree = in_order_of(tree, data.monotone)
            value = tree.nodes.value[is_leaf]
        add_tree(leaf, value, self._work.counts, self._copies, sums)
        return GrownTree(tree, narrow(leaf, len(value)), value, group_gains(tree, data)[0])

    def _target(self, gradient: FloatArray, curvature: FloatArray | None) -> Target:
        if self._loss.n_outputs > 1:
            return vector_target(gradient)
        if curvature is None or self._loss.splits_on_means:
            return target_of_mean(gradient, self._weight)
        return target_of_steps(gradient, curvature, self._weight)

    def _steps(
        self, leaf: Int32Array, gradient: FloatArray, curvature: FloatArray, n_leaves: int
    ) -> FloatArray:
        """Steps of the leaves by the rows in the bag and one more of mean curvature, so that they
        are finite."""
        bag = self._work.counts.astype(np.float64)
        if not are_copies(self._weight):
            bag *= self._weight
        prior = max(float(np.average(curvature, weights=bag)), _LEAST_CURVATURE)
        slope = np.bincount(leaf, bag * gradient, n_leaves)
        step = slope / (np.bincount(leaf, bag * curvature, n_leaves) + prior)
        return self._loss.exact_step(step)[:, np.newaxis]


# --- incremental depth bagging and bag-boosting ------------------------------------------------


class BoostedBag(NamedTuple):
    """Trees of growing depth, those without a split left out: the leaves of all rows, their values
    (n_leaves, n_outputs), the gain of each group (n_trees, n_groups), depth and stage, from 0.
    `improvements` tells by how much each stage, kept or not, lowered the out-of-bag loss;
    `converged` whether none had the most trees that it may."""

    leaves: list[LeafArray]
    values: list[FloatArray]
    gains: FloatArray
    depths: IntArray
    stages: IntArray
    trees: list[Trees]
    improvements: FloatArray
    converged: bool


BAG_BOOSTING, BAGGING, DOUBLE = "bag-boosting", "bagging", "double bag-boosting"
"""Schemes: Algorithms 2 and 1 of the paper, and what its authors' software has besides."""

SINGLE = "single-feature"
"""Trees of one group each (section 3.2.4 of the paper), as in explainable boosting machines."""

SCHEMES = (BAG_BOOSTING, BAGGING, DOUBLE, SINGLE)

_MOST_ROUNDS = 20
"""Rounds over the groups at one depth."""

SINGLE_MOST = 4
"""Greatest depth of single-feature trees: a tree with one feature for all its splits would follow
single rows."""

_SINGLE_DEPTH = 3
"""Depth that single-feature trees reach at least: a single split can't tell a valley."""

_STALLED = 3
"""Stages of one depth whose improvements are below the tolerance that end it (double)."""


class BagBoosting(NamedTuple):
    """How the trees are grown, by one of the :data:`SCHEMES`. A stage of `min_trees` to `max_trees`
    has converged when the last `tail` values of the training loss lie in a tube as wide as
    `tolerance`, in units of the loss of the constant model above that of a perfect fit. Depths grow
    until more than half of the trees of a stage use more than `most_groups` groups."""

    tail: int
    tolerance: float
    min_trees: int
    max_trees: int
    max_depth: int
    min_weight: int
    n_candidates: int
    most_groups: int = UNBOUNDED
    scheme: str = BAG_BOOSTING


def bag_boost(
    data: BinnedData,
    loss: Loss,
    y: FloatArray,
    weight: WeightArray,
    base: FloatArray | float,
    rules: BagBoosting,
    *,
    seed: int,
    rank: IntArray,
    penalty: SplitPenalty | None = None,
    sampling: Sampling = BOOTSTRAP,
) -> BoostedBag:
    """Trees of growing depth by bagging, boosted or not.

    A stage bags trees of one depth on the negative gradient at the current model until the training
    loss has converged. In incremental depth bag-boosting (Liu, Xie and Udell 2021, Algorithm 2) the
    model then grows by their mean, the depth by one, and boosting ends when the out-of-bag loss no
    longer improves; that last stage is kept, as in the paper. In double bag-boosting there are
    stages of one depth until that, and it ends when the first stage of a depth is no improvement.
    In incremental depth bagging (Algorithm 1) all trees are grown on the gradient at the constant
    model, up to the greatest depth.

    With single-feature trees (section 3.2.4; Lou, Caruana and Gehrke 2012) the groups take turns: a
    stage is one bagged tree of one group, on the gradient of the model with all trees before it,
    which is kept if it lowers the out-of-bag loss by the tolerance. A depth has rounds, in a new
    random order each, over the groups whose last tree was kept; boosting ends with the depth of at
    least 3 that keeps no tree.

    `weight` counts copies of each row or is its real weight; `base`, which broadcasts to the linear
    predictor, is that of the constant model, the offset included. Raises a DataError for arrays of
    another type, length or order, and for real weights with several outputs.
    """
    penalty = penalty or no_penalty(len(data.n_codes))
    check_data(data)
    check_weight(copies(weight), data.n_rows)
    check_array("y", y, np.float64, (data.n_rows, *y.shape[1:]))
    check_array("rank", rank, np.int64, (data.n_groups,))
    if loss.n_outputs > 1 and not are_copies(weight):
        raise DataError(
            "`weight` must be whole numbers for trees of several outputs.\n"
            f"  Found: {weight.dtype}."
        )
    stages = _Stages(data, loss, y, weight, base, rules, seed, rank, penalty, sampling)
    schemes = {BAG_BOOSTING: _bag_boosting, BAGGING: _bagging, DOUBLE: _double, SINGLE: _single}
    schemes[rules.scheme](stages)
    return stages.forest()


def _bag_boosting(stages: _Stages) -> None:
    for depth in range(1, stages.rules.max_depth + 1):
        if stages.grow(depth) <= 0 or not stages.goes_deeper():
            break
        stages.advance()


def _bagging(stages: _Stages) -> None:
    for depth in range(1, stages.rules.max_depth + 1):
        stages.grow(depth)
        if not stages.goes_deeper():
            break


def _double(stages: _Stages) -> None:
    for depth in range(1, stages.rules.max_depth + 1):
        recent: list[float] = []
        while (improvement := stages.grow(depth)) > 0:
            stages.advance()
            recent.append(improvement / stages.null_loss)
            if len(recent) >= _STALLED and max(recent[-_STALLED:]) < stages.rules.tolerance:
                break
        deeper = stages.goes_deeper()
        if improvement <= 0:
            stages.drop()
        if not recent or not deeper:
            break


def _single(stages: _Stages) -> None:
    for depth in range(1, min(stages.rules.max_depth, SINGLE_MOST) + 1):
        helped = groups = stages.take_turns(stages.able_groups, depth)
        for _ in range(_MOST_ROUNDS - 1):
            groups = stages.take_turns(groups, depth)
        if len(helped) == 0 and depth >= _SINGLE_DEPTH:
            break


class _Stages:
    """The forest so far, its model, and the stage that was grown last."""

    def __init__(
        self,
        data: BinnedData,
        loss: Loss,
        y: FloatArray,
        weight: WeightArray,
        base: FloatArray | float,
        rules: BagBoosting,
        seed: int,
        rank: IntArray,
        penalty: SplitPenalty,
        sampling: Sampling,
    ) -> None:
        self.rules = rules
        self._data, self._loss, self._weight, self._seed = data, loss, weight, seed
        self._rows = loss.of(y, weight)
        shape = (data.n_rows, loss.n_outputs) if loss.n_outputs > 1 else data.n_rows
        self._eta = np.broadcast_to(base, shape).astype(np.float64)
        self._eta_oob = self._eta.copy()
        self.null_loss = explicable(self._rows, self._eta, weight)
        self._rank, self._penalty = rank, penalty
        self._bags = bags_of(weight, sampling, np.zeros(1, dtype=np.uint64))
        self._grower = self._grower_of(data, rank, penalty)
        self._kept: list[GrownTree] = []
        self._stage: list[GrownTree] = []
        self._step = self._oob_step = self._eta
        self._improvements: list[float] = []
        self._all_converged = True

    def _grower_of(self, data: BinnedData, rank: IntArray, penalty: SplitPenalty) -> BaggedTree:
        return BaggedTree(data, self._loss, self._weight, self._bags, penalty, rank)

    @property
    def able_groups(self) -> IntArray:
        """Groups that can split, in the order in which they win ties."""
        order = np.argsort(self._rank)
        return np.asarray(order[can_split(self._data, self._weight)[order]])

    def take_turns(self, groups: IntArray, depth: int) -> IntArray:
        """A tree of each of these groups, one after the other; the groups whose tree helps."""
        rng = np.random.default_rng(stream_seed(self._seed, "round", len(self._improvements)))
        helped = np.zeros(len(groups), dtype=np.bool_)
        for at in rng.permutation(len(groups)):
            improvement = self._grow_group(int(groups[at]), depth)
            helped[at] = improvement >= self.rules.tolerance * self.null_loss
            if helped[at]:
                self.advance()
            else:
                self.drop()
        return groups[helped]

    def _grow_group(self, group: int, depth: int) -> float:
        """Grow a stage of a single tree that splits on one group."""
        own = np.arange(self._data.n_groups) == group
        every, columns = self._grower, np.flatnonzero(self._data.group_of == group)
        penalty = self._penalty._replace(
            scale=self._penalty.scale[columns], cost=self._penalty.cost[columns]
        )
        self._grower = self._grower_of(
            select_groups(self._data, own), np.zeros(1, np.int64), penalty
        )
        before = len(self._kept)
        improvement = self.grow(depth, most=1)
        for at in range(before, len(self._kept)):
            self._kept[at] = of_all_groups(self._kept[at], columns, group, self._data.n_groups)
        self._grower = every
        return improvement

    def grow(self, depth: int, most: int | None = None) -> float:
        """Grow a stage of at most so many trees at the current model; by how much it improves the
        out-of-bag loss."""
        number = len(self._improvements)
        most = self.rules.max_trees if most is None else most
        curvature = None
        if self._loss.needs_curvature:
            gradient, curvature = self._rows.derivatives(self._eta)
        else:
            gradient = self._rows.negative_gradient(self._eta)
        growth = Growth(depth, self.rules.min_weight, self.rules.n_candidates, 0.0)
        sums = no_sums(self._data.n_rows, self._loss.n_outputs)
        total, oob_total = (s.reshape(self._eta.shape) for s in (sums.total, sums.outside))
        model = np.empty_like(self._eta)
        track: list[float] = []
        self._stage = []
        while len(track) < most and not _converged(track, self.rules, self.null_loss):
            seed = stream_seed(self._seed, "stage", number, len(track))
            tree = self._grower.grow(gradient, curvature, growth, seed, sums)
            np.divide(total, len(track) + 1, out=model)
            model += self._eta
            track.append(mean_loss(self._rows, model, self._weight))
            if len(tree.value) > 1:
                self._stage.append(tree._replace(depth=depth, stage=number))
        self._kept += self._stage
        if most > 1 and not _converged(track, self.rules, self.null_loss):
            self._all_converged = False
        self._step = total / len(track)
        often = np.maximum(sums.n_outside, 1)
        self._oob_step = (oob_total.T / often).T
        before, after = (
            mean_loss(self._rows, eta, self._weight)
            for eta in (self._eta_oob, self._eta_oob + self._oob_step)
        )
        self._improvements.append(before - after)
        return before - after

    def advance(self) -> None:
        """Add the last stage to the model."""
        self._eta = self._eta + self._step
        self._eta_oob = self._eta_oob + self._oob_step

    def goes_deeper(self) -> bool:
        """Whether trees should grow deeper than those of the last stage."""
        n_over = sum((tree.gains > 0).sum() > self.rules.most_groups for tree in self._stage)
        return bool(2 * n_over <= len(self._stage) > 0)

    def drop(self) -> None:
        """Leave the trees of the last stage out."""
        self._kept = self._kept[: len(self._kept) - len(self._stage)]

    def forest(self) -> BoostedBag:
        """All trees that were kept."""
        kept = self._kept
        gains = np.array([tree.gains for tree in kept])
        return BoostedBag(
            [tree.leaf for tree in kept],
            [tree.value for tree in kept],
            gains.reshape(len(kept), self._data.n_groups),
            np.array([tree.depth for tree in kept], dtype=np.int64),
            np.array([tree.stage for tree in kept], dtype=np.int64),
            [tree.tree for tree in kept],
            np.array(self._improvements),
            self._all_converged,
        )


def _converged(track: list[float], rules: BagBoosting, null_loss: float) -> bool:
    """Paper, section 3.2.1: the tail of the training losses fits into a tube."""
    if len(track) < max(rules.min_trees, rules.tail):
        return False
    tail = track[-rules.tail :]
    return max(tail) - min(tail) <= rules.tolerance * null_loss
