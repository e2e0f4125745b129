"""Gradient boosting: trees one after the other, each on the gradient at the model so far."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from treeselect.engine._types import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.best_first import (
    BEGIN,
    END,
    NODE,
    LeafTable,
    SharedTree,
    leaf_table,
)
from treeselect.engine.binning import BinnedData
from treeselect.engine.cache import kernel
from treeselect.engine.checks import (
    check_array,
    check_data,
    check_growth,
    check_target,
    check_weight,
)
from treeselect.engine.forests import ALL_ROWS, grow_bagged_trees
from treeselect.engine.growth import BEST_FIRST, Growth, workspace
from treeselect.engine.losses import Loss
from treeselect.engine.moments import pack_rows
from treeselect.engine.nodes import Nodes, Trees, empty_nodes, join_trees
from treeselect.engine.penalty import SplitPenalty, no_penalty, price_list
from treeselect.engine.random import stream_seed
from treeselect.engine.targets import Target, copies, mean_target, newton_target


class Boosting(NamedTuple):
    """How trees are boosted.

    Attributes
    ----------
    n_trees : int
    rate : float
        Shrinkage: each tree adds this share of its step, in (0, 1].
    growth : Growth
    """

    n_trees: int
    rate: float
    growth: Growth


class BoostedTrees(NamedTuple):
    """A boosted model.

    Attributes
    ----------
    trees : Trees
        Their values are shrunk already: a prediction is the base plus their sum.
    eta : ndarray of float64, shape (n_rows,)
        Linear predictor after the last tree, of rows with positive weight.
    """

    trees: Trees
    eta: FloatArray


@kernel
def shrink(nodes, first, n_nodes, rate):
    """Shrink the steps of one tree."""
    for at in range(first, first + n_nodes):
        nodes.value[at, 0] *= rate


@kernel
def add_leaves(table, n_leaves, rows, nodes, first, eta):
    """Add the value of each leaf of the last tree to the linear predictor of its rows."""
    for slot in range(n_leaves):
        value = nodes.value[first + table.leaf[slot, NODE], 0]
        for r in range(table.leaf[slot, BEGIN], table.leaf[slot, END]):
            eta[rows[r]] += value


def boost(
    data: BinnedData,
    loss: Loss,
    y: FloatArray,
    weight: WeightArray,
    base: FloatArray | float,
    rules: Boosting,
    *,
    seed: int,
    rank: IntArray,
    is_open: BoolArray | None = None,
    penalty: SplitPenalty | None = None,
    n_threads: int = 1,
    after_tree: Callable[[int, FloatArray], bool] | None = None,
) -> BoostedTrees:
    """Gradient boosting with Newton steps; for squared loss these are mean residuals.

    Friedman (2001), Algorithm 1, with the second-order trees of Friedman, Hastie and Tibshirani
    (2000). The used-set is that of the whole ensemble.

    Parameters
    ----------
    data : BinnedData
    loss : Loss
    y : ndarray of float64, shape (n_rows,)
    weight : ndarray of int64 or float64, shape (n_rows,)
        Whole numbers count copies of rows, real ones weight them; 0 leaves a row out.
    base : float or ndarray of float64, shape (n_rows,)
        Linear predictor to begin with, the offset included.
    rules : Boosting
        Trees grow best first.
    seed : int
        Stream of the ensemble, used where candidates are drawn.
    rank : ndarray of int64, shape (n_groups,)
        See ``in_order.grow_in_order``.
    is_open : ndarray of bool, shape (n_groups,), optional
        Groups that are free from the start; changed: groups that trees have used are open.
    penalty : SplitPenalty, optional
        Price of opening a group; none by default.
    n_threads : int
        Threads that share each tree; has no influence on the answer.
    after_tree : callable, optional
        Called with the number of trees and the linear predictor; boosting ends if it is True.

    Returns
    -------
    BoostedTrees

    Raises
    ------
    DataError
        For arrays of another type, length or order, and for values that can't be.
    """
    penalty = penalty or no_penalty(len(data.codes))
    is_open = np.zeros(data.n_groups, dtype=np.bool_) if is_open is None else is_open
    check_data(data)
    check_growth(rules.growth, data, rank, is_open, penalty)
    grower = _OneTree(data, loss, y, weight, rules, penalty, is_open, rank, n_threads)
    eta = np.broadcast_to(base, data.n_rows).astype(np.float64)
    parts = []
    with grower:
        for number in range(rules.n_trees):
            parts.append(grower.grow(eta, stream_seed(seed, "tree", number)))
            if after_tree is not None and after_tree(number + 1, eta):
                break
    return BoostedTrees(join_trees(parts), eta)


class _OneTree:
    """Grows a tree on the gradient at a linear predictor, and moves that one."""

    def __init__(
        self,
        data: BinnedData,
        loss: Loss,
        y: FloatArray,
        weight: WeightArray,
        rules: Boosting,
        penalty: SplitPenalty,
        is_open: BoolArray,
        rank: IntArray,
        n_threads: int,
    ) -> None:
        self._data, self._loss, self._y, self._rules = data, loss, y, rules
        self._prices, self._is_open, self._rank = price_list(penalty, data, is_open), is_open, rank
        self._growth = rules.growth._replace(order=BEST_FIRST)
        self._copies = copies(weight)
        whole = np.issubdtype(weight.dtype, np.integer)
        self._real = None if whole else weight / weight[weight > 0].mean()
        self._ones = np.ones(data.n_rows, dtype=np.int64)
        check_weight(self._copies, data.n_rows)
        check_array("y", y, np.float64, (data.n_rows,))
        target = self._target(np.zeros(data.n_rows))
        check_target(target, data.n_rows)
        self._in_rows = np.flatnonzero(self._copies).astype(np.int64)
        n_rows = len(self._in_rows)
        self._work = workspace(data, target)
        self._table: LeafTable = leaf_table(data, target, self._growth, n_rows)
        self._room = empty_nodes(2 * n_rows)
        self._counts = np.zeros(data.n_rows, dtype=np.int64)
        self._opened, self._state = np.empty_like(is_open), np.zeros(1, dtype=np.uint64)
        self._stop = np.zeros(1, dtype=np.int64)
        self._exit = contextlib.ExitStack()
        self._shared = None
        if n_threads > 1 and self._table.histogram.size:
            shared = SharedTree(data, target, self._table, n_threads)
            self._shared = self._exit.enter_context(shared)

    def __enter__(self) -> _OneTree:
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def _target(self, eta: FloatArray) -> Target:
        gradient = self._loss.negative_gradient(self._y, eta)
        if self._loss.is_squared and self._real is None:
            return mean_target(gradient)
        curvature = self._loss.curvature(self._y, eta)
        if self._real is not None:
            gradient, curvature = gradient * self._real, curvature * self._real
        return newton_target(gradient, curvature)

    def grow(self, eta: FloatArray, seed: int) -> Trees:
        """One tree; its step is added to `eta`."""
        work, nodes, table, target = self._work, self._room, self._table, self._target(eta)
        if self._shared is not None:
            pack = pack_rows(target, self._copies, self._ones, work.moments, work.second, work.rows)
            n_nodes = self._shared.grow(
                pack, self._growth, self._prices, self._is_open, self._rank, work, nodes, 0
            )
        else:
            start = np.zeros(2, dtype=np.int64)
            grow_bagged_trees(
                self._data, target, self._copies, self._in_rows, ALL_ROWS,
                np.array([seed], dtype=np.uint64), self._growth, self._prices, self._is_open,
                True, self._rank, work, table, self._counts, self._opened, self._state, nodes,
                start, self._stop,
            )  # fmt: skip
            n_nodes = int(start[1])
        shrink(nodes, 0, n_nodes, self._rules.rate)
        add_leaves(table, (n_nodes + 1) // 2, work.rows, nodes, 0, eta)
        return Trees(Nodes._make(array[:n_nodes].copy() for array in nodes), np.array([0, n_nodes]))
