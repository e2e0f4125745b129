"""Boosting: trees one after the other, each on the gradient at the model so far; and SAMME."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import BinnedData
from treeselect.engine.compiling import kernel
from treeselect.engine.forest.bagging import ALL_ROWS, bags_of, grow_bagged_trees
from treeselect.engine.forest.leaf_values import in_order_of, mean_curvature
from treeselect.engine.losses import Loss
from treeselect.engine.random import stream_seed
from treeselect.engine.tree.best_first import BEGIN, END, NODE, SharedTree
from treeselect.engine.tree.nodes import (
    Nodes,
    Trees,
    check_array,
    check_data,
    check_growth,
    check_target,
    check_weight,
    empty_nodes,
    join_trees,
)
from treeselect.engine.tree.target import (
    Target,
    are_copies,
    copies,
    relative,
    target_of_mean,
    target_of_steps,
)
from treeselect.engine.tree.used_groups import Opening, SplitPenalty, no_penalty, price_list
from treeselect.engine.tree.workspace import (
    BEST_FIRST,
    Growth,
    Job,
    LeafTable,
    leaf_table,
    workspace,
)
from treeselect.errors import DataError


class Reweighted(NamedTuple):
    """What one round of SAMME gives: the classifier's vote, ``log((1 - error) / error) + log(K -
    1)``, 0 if it is no better than guessing and as of half a row if it makes no error; the weights
    of the next round, which sum to 1, in both cases those of the first again; and the weighted
    share of wrong rows."""

    vote: float
    weight: FloatArray
    error: float


def reweight(
    weight: FloatArray, wrong: BoolArray, n_classes: int, *, start: FloatArray | None = None
) -> Reweighted:
    """Weights of the next round by those of this one and the rows that its classifier gets wrong,
    Algorithm 2 of Zhu, Zou, Rosset and Hastie (2009), steps 2b to 2e; `start` are those of the
    first round, uniform by default."""
    share = weight / weight.sum()
    has_weight = weight > 0
    first = has_weight if start is None else start
    first = first / first.sum()
    error = float(share[wrong].sum())
    if error >= 1 - 1 / n_classes:
        return Reweighted(0.0, first, error)
    # A classifier without error would have an endless vote.
    shown = error if error > 0 else 0.5 / float(has_weight.sum())
    vote = float(np.log((1 - shown) / shown) + np.log(n_classes - 1))
    if error == 0:
        return Reweighted(vote, first, error)
    raised = share * np.where(wrong, np.exp(vote), 1.0)
    return Reweighted(vote, raised / raised.sum(), error)


class Boosting(NamedTuple):
    """How trees are boosted: each adds a share of its step, the rate in (0, 1]."""

    n_trees: int
    rate: float
    growth: Growth


class BoostedTrees(NamedTuple):
    """A boosted model: trees whose values are shrunk already, so that a prediction is the base plus
    their sum, and the linear predictor after the last one, of rows with positive weight."""

    trees: Trees
    eta: FloatArray


@kernel
def add_up_leaves(table, n_leaves, rows, value, sums):
    """Sum of the values of the rows of each leaf of the last tree; `sums` is 0."""
    for slot in range(n_leaves):
        for r in range(table.leaf[slot, BEGIN], table.leaf[slot, END]):
            sums[table.leaf[slot, NODE]] += value[rows[r]]


@kernel
def add_leaves(table, n_leaves, rows, value, eta):
    """Add the value of each leaf of the last tree to the linear predictor of its rows."""
    for slot in range(n_leaves):
        step = value[table.leaf[slot, NODE]]
        for r in range(table.leaf[slot, BEGIN], table.leaf[slot, END]):
            eta[rows[r]] += step


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
    after_round: Callable[[int, FloatArray, Sequence[Trees]], bool] | None = None,
) -> BoostedTrees:
    """Gradient boosting with Newton steps; for squared loss these are mean residuals: Friedman
    (2001), Algorithm 1, with the second-order trees of Friedman, Hastie and Tibshirani (2000). With
    several linear predictors (classes) each round grows a tree for each on gradients taken before
    the round.

    Whole weights count copies of rows, real ones weight them. `base`, which broadcasts to the
    linear predictor, is where it begins. `is_open`, the groups that are free, is changed.
    `after_round` is called with the number of rounds, the linear predictor and the trees of the
    round; boosting ends if it is True. A DataError for arrays of another type, length or order, and
    values that can't be.
    """
    penalty = penalty or no_penalty(len(data.codes))
    is_open = np.zeros(data.n_groups, dtype=np.bool_) if is_open is None else is_open
    check_data(data)
    check_growth(rules.growth, data, rank, is_open, penalty)
    if rules.growth.order != BEST_FIRST:
        raise DataError(
            "`order` must be BEST_FIRST for boosted trees.\n  Found: another order of the nodes."
        )
    grower = _Round(data, loss, y, weight, rules, penalty, is_open, rank, n_threads)
    n_outputs = loss.n_outputs
    start = np.broadcast_to(base, (data.n_rows, n_outputs) if n_outputs > 1 else data.n_rows)
    # Each linear predictor by itself in memory: a tree moves one of them.
    eta = np.ascontiguousarray(np.atleast_2d(start.T), dtype=np.float64).copy()
    as_seen = eta.T if n_outputs > 1 else eta[0]
    parts: list[Trees] = []
    with grower:
        for number in range(rules.n_trees):
            grown = grower.grow(eta, stream_seed(seed, "tree", number))
            parts += grown
            if after_round is not None and after_round(number + 1, as_seen, grown):
                break
    return BoostedTrees(join_trees(parts), as_seen)


class _Round:
    """Grows a tree for each linear predictor on the gradients at all of them, and moves them."""

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
        self._data, self._loss, self._rules = data, loss, rules
        self._rows = loss.of(y, weight)
        self._opening = Opening(price_list(penalty, data, is_open), is_open, rank, True)
        self._growth = rules.growth
        self._weight, self._copies = weight, copies(weight)
        check_weight(self._copies, data.n_rows)
        check_array("y", y, np.float64, (data.n_rows, *y.shape[1:]))
        self._taken: tuple[FloatArray, FloatArray] | None = None
        target = self._targets(np.zeros((loss.n_outputs, data.n_rows)))[0]
        check_target(target, data.n_rows)
        self._bags = bags_of(self._copies, ALL_ROWS, np.zeros(1, dtype=np.uint64))
        n_rows = len(self._bags.in_rows)
        self._work = workspace(data, target, self._copies)
        self._table: LeafTable = leaf_table(data, target, self._growth, n_rows)
        self._room = empty_nodes(2 * n_rows, loss.n_outputs)
        self._exit = contextlib.ExitStack()
        self._shared = None
        if n_threads > 1 and self._table.histogram.size and not len(data.wide):
            shared = SharedTree(data, target, self._table, n_threads)
            self._shared = self._exit.enter_context(shared)

    def __enter__(self) -> _Round:
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def _derivatives(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Negative gradient and curvature, each of shape (n_outputs, n_rows)."""
        n = len(eta)
        at = eta.T if n > 1 else eta[0]
        gradient, curvature = (np.atleast_2d(part.T) for part in self._rows.derivatives(at))
        if n > 1 and not self._loss.is_squared:  # they move together: Friedman 2001, equation 34
            curvature = curvature * (n / (n - 1))
        return gradient, curvature

    def _targets(self, eta: FloatArray) -> list[Target]:
        gradient, curvature = self._derivatives(eta)
        if not self._loss.splits_on_means:
            pairs = zip(map(np.ascontiguousarray, gradient), curvature, strict=True)
            return [target_of_steps(g, np.ascontiguousarray(h), self._weight) for g, h in pairs]
        if not self._loss.is_squared:
            self._taken = gradient[0], curvature[0]
        return [target_of_mean(np.ascontiguousarray(own), self._weight) for own in gradient]

    def grow(self, eta: FloatArray, seed: int) -> list[Trees]:
        """One tree for each row of `eta`, shape (n_outputs, n_rows), to which it is added."""
        return [
            self._grow(target, eta[k], k, stream_seed(seed, "output", k))
            for k, target in enumerate(self._targets(eta))
        ]

    def _grow(self, target: Target, eta: FloatArray, output: int, seed: int) -> Trees:
        n_nodes = self._grow_nodes(target, seed)
        nodes, start = Trees(self._room, np.array([0, n_nodes])).one(0)
        if self._taken is not None:
            nodes.value[:, 0] = self._steps(*self._taken, n_nodes)
            nodes.value[:] = in_order_of(Trees(nodes, start), self._data.monotone).nodes.value
        steps = nodes.value[:, 0] * self._rules.rate
        nodes.value[:] = 0.0
        nodes.value[:, output] = steps
        add_leaves(self._table, (n_nodes + 1) // 2, self._work.rows, steps, eta)
        return Trees(Nodes._make(array.copy() for array in nodes), start)

    def _steps(self, gradient: FloatArray, curvature: FloatArray, n_nodes: int) -> FloatArray:
        """Steps of the leaves of the last tree by their rows and one more of mean curvature, so
        that they are finite."""
        mass = self._weight if are_copies(self._weight) else relative(self._weight)
        mass = np.asarray(mass, dtype=np.float64)
        slope, curved = np.zeros(n_nodes), np.zeros(n_nodes)
        n_leaves, rows = (n_nodes + 1) // 2, self._work.rows
        add_up_leaves(self._table, n_leaves, rows, mass * gradient, slope)
        add_up_leaves(self._table, n_leaves, rows, mass * curvature, curved)
        prior = mean_curvature(curvature, mass)
        return self._loss.exact_step(slope / (curved + prior))

    def _grow_nodes(self, target: Target, seed: int) -> int:
        """Grow a tree into the room; its number of nodes."""
        nodes, job = self._room, Job(self._data, target, self._copies, self._growth)
        if self._shared is not None:
            return self._shared.grow(job, self._opening, self._work, nodes)
        trees = Trees(nodes, np.zeros(2, dtype=np.int64))
        bags = self._bags._replace(seeds=np.array([seed], dtype=np.uint64))
        grow_bagged_trees(job, bags, self._opening, self._work, self._table, trees)
        return int(trees.start[1])
