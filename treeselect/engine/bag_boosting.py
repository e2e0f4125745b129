"""Incremental depth bag-boosting: the forest that ControlBurn prunes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine._types import BoolArray, FloatArray, IntArray, UInt16Array, WeightArray
from treeselect.engine.best_first import leaf_table
from treeselect.engine.binning import BinnedData
from treeselect.engine.checks import check_array, check_data, check_weight
from treeselect.engine.forests import BOOTSTRAP, grow_bagged_trees
from treeselect.engine.growth import Growth, workspace
from treeselect.engine.losses import Loss, mean_loss
from treeselect.engine.nodes import Nodes, Trees, empty_nodes, group_gains
from treeselect.engine.penalty import SplitPenalty, no_penalty, price_list
from treeselect.engine.prediction import mark_leaves
from treeselect.engine.random import stream_seed
from treeselect.engine.targets import copies, target_of_mean


class BoostedBag(NamedTuple):
    """Trees of incremental depth bag-boosting, ready for the sparse-forest problem.

    Attributes
    ----------
    leaves : list of ndarray of uint16, each of shape (n_rows,)
        Leaf of every row (also of rows with weight 0), for each tree that has a split.
    values : list of ndarray of float, each of shape (n_leaves,)
        Mean negative gradient in the leaves.
    gains : ndarray of float, shape (n_trees, n_groups)
        Gain of each group in each tree.
    depths : ndarray of int64, shape (n_trees,)
        Depth that each tree was grown to.
    """

    leaves: list[UInt16Array]
    values: list[FloatArray]
    gains: FloatArray
    depths: IntArray


class BagBoosting(NamedTuple):
    """How bag-boosting goes on.

    Attributes
    ----------
    tail : int
        Length of the tail of the training loss that is watched for convergence.
    tolerance : float
        A depth has converged when that tail lies in a tube of this width, in units of the loss
        of the constant model.
    min_trees : int
        Least number of trees at each depth.
    max_trees : int
        Most trees at each depth.
    max_depth : int
        Greatest depth.
    min_weight : int
        Least weight of a leaf.
    n_candidates : int
        Groups tried at each node.
    """

    tail: int
    tolerance: float
    min_trees: int
    max_trees: int
    max_depth: int
    min_weight: int
    n_candidates: int


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
) -> BoostedBag:
    """Incremental depth bag-boosting, Algorithm 2 of Liu, Xie and Udell (2021).

    Stage d bags trees of depth d on the negative gradient at the current model until the training
    loss has converged; the model then grows by their mean, and boosting ends when the out-of-bag
    loss no longer improves (that last stage is kept, as in the paper).

    Parameters
    ----------
    data : BinnedData
    loss : Loss
    y : ndarray of float, shape (n_rows,)
    weight : ndarray of int64 or float64, shape (n_rows,)
        Copies of each row, or its real weight; 0 leaves it out.
    base : float or ndarray of float, shape (n_rows,)
        Linear predictor of the constant model, the offset included.
    rules : BagBoosting
    seed : int
    rank : ndarray of int64, shape (n_groups,)
        See ``in_order.grow_in_order``.
    penalty : SplitPenalty, optional
        Price of opening a group in each tree; none by default.

    Returns
    -------
    BoostedBag
        Trees without a split are left out.
    """
    penalty = penalty or no_penalty(len(data.n_codes))
    check_data(data)
    check_weight(copies(weight), data.n_rows)
    check_array("y", y, np.float64, (data.n_rows,))
    check_array("rank", rank, np.int64, (data.n_groups,))
    in_rows = np.flatnonzero(weight).astype(np.int64)
    grower = _BaggedTree(data, weight, in_rows, penalty, rank)
    eta = np.broadcast_to(base, data.n_rows).astype(np.float64)
    eta_oob = eta.copy()
    null_loss = mean_loss(loss, y, eta, weight)
    leaves: list[UInt16Array] = []
    values: list[FloatArray] = []
    gains: list[FloatArray] = []
    depths: list[int] = []
    for depth in range(1, rules.max_depth + 1):
        gradient = loss.negative_gradient(y, eta)
        growth = Growth(depth, rules.min_weight, rules.n_candidates, 0.0)
        total = np.zeros(data.n_rows)
        oob_total = np.zeros(data.n_rows)
        oob_count = np.zeros(data.n_rows, dtype=np.int64)
        track: list[float] = []
        split_before = len(leaves)
        while len(track) < rules.max_trees and not _converged(track, rules, null_loss):
            nodes, out_of_bag = grower.grow(
                gradient, growth, stream_seed(seed, "depth", depth, len(track))
            )
            leaf = np.empty(data.n_rows, dtype=np.uint16)
            tree = Trees(nodes, np.array([0, len(nodes.column)]))
            value = mark_leaves(tree, data, leaf)[:, 0]
            prediction = value[leaf]
            total += prediction
            oob_total[out_of_bag] += prediction[out_of_bag]
            oob_count[out_of_bag] += 1
            track.append(mean_loss(loss, y, eta + total / (len(track) + 1), weight))
            if len(value) > 1:
                leaves.append(leaf)
                values.append(value)
                gains.append(group_gains(tree, data)[0])
                depths.append(depth)
        eta = eta + total / len(track)
        before = mean_loss(loss, y, eta_oob, weight)
        eta_oob = eta_oob + oob_total / np.maximum(oob_count, 1)
        if mean_loss(loss, y, eta_oob, weight) >= before or len(leaves) == split_before:
            break
    return BoostedBag(
        leaves,
        values,
        np.array(gains).reshape(len(gains), data.n_groups),
        np.array(depths, dtype=np.int64),
    )


def _converged(track: list[float], rules: BagBoosting, null_loss: float) -> bool:
    """Paper, section 3.2.1: the tail of the training losses fits into a tube."""
    if len(track) < max(rules.min_trees, rules.tail):
        return False
    tail = track[-rules.tail :]
    return max(tail) - min(tail) <= rules.tolerance * null_loss


class _BaggedTree:
    """Grows single bagged trees and tells which rows were out of the bag."""

    def __init__(
        self,
        data: BinnedData,
        weight: WeightArray,
        in_rows: IntArray,
        penalty: SplitPenalty,
        rank: IntArray,
    ) -> None:
        self._data, self._weight, self._in_rows = data, weight, in_rows
        self._rank = rank
        self._copies = copies(weight)
        target = target_of_mean(np.zeros(data.n_rows), weight)
        self._work = workspace(data, target)
        self._table = leaf_table(data, target, Growth(0, 1, 0, 0.0), 0)
        self._closed = np.zeros(data.n_groups, dtype=np.bool_)
        self._prices = price_list(penalty, data, self._closed)
        self._stop = np.zeros(1, dtype=np.int64)
        self._counts = np.zeros(data.n_rows, dtype=np.int64)
        self._room = empty_nodes(2 * len(in_rows))

    def grow(self, target: FloatArray, growth: Growth, seed: int) -> tuple[Nodes, BoolArray]:
        """One tree on a bag drawn from the stream `seed`, and its out-of-bag rows."""
        start = np.zeros(2, dtype=np.int64)
        grow_bagged_trees(
            self._data, target_of_mean(target, self._weight), self._copies, self._in_rows,
            BOOTSTRAP, np.array([seed], dtype=np.uint64), growth, self._prices,
            self._closed, False, self._rank, self._work, self._table, self._counts,
            self._closed.copy(),
            np.zeros(1, dtype=np.uint64), self._room, start, self._stop,
        )  # fmt: skip
        nodes = Nodes._make(array[: start[1]].copy() for array in self._room)
        return nodes, (self._counts == 0) & (self._weight > 0)
