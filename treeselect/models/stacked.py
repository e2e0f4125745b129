"""A final model with two parts: an additive model of the selected units, and a forest of what it
leaves.

Smooth effects of single units are estimated best by a penalised additive model, everything else by
trees. Each effect of the additive model is a function of a column's code, so that it is written as
a tree as well, and the whole is one sum of trees on the scale of the linear predictor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from treeselect.designs.families import GAUSSIAN
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import OTHER, BinnedData, select_groups, take_rows
from treeselect.engine.forest.bagging import drawn
from treeselect.engine.forest.importance import out_of_bag_gains
from treeselect.engine.forest.leaf_values import mean_curvature, with_leaf_fits
from treeselect.engine.forest.walk import leaves_of, predict_mean, predict_sum
from treeselect.engine.linear.additive import AdditiveFit, fit_additive
from treeselect.engine.linear.additive_search import folds_of_clusters
from treeselect.engine.linear.basis import AdditiveColumns
from treeselect.engine.losses import RowLoss
from treeselect.engine.random import stream_seed
from treeselect.engine.tree.nodes import LEAF, Trees, empty_nodes, join_trees
from treeselect.models.forest import (
    REFITTED_TREES,
    CutForest,
    Grower,
    best_forest,
    n_trees_for,
    slope_outside,
)
from treeselect.models.model import TreeModel, null_predictor
from treeselect.printing.numbers import counted
from treeselect.running.machine import give_memory_back

_MOST_ROWS = 50_000
"""Rows that an additive model is fitted to: with as many, its effects are known well enough."""

_ROUNDS = 20
"""Rounds in which the totals of several classes are made right."""


@dataclass(frozen=True, slots=True, repr=False)
class StackedModel(TreeModel):
    """An additive model plus a forest, as trees whose values are added up."""

    n_additive: int = 0  # leading trees, each of which is the effect of one column

    stored_as: ClassVar[str] = "stack"

    @property
    def importance_note(self) -> str:
        forest = ", plus the out-of-bag decrease in impurity in its forest"
        return (
            "Share of what the final model explains: the covariance of additive effects with the"
            f" response out of sample{forest * (self.n_trees > self.n_additive)}"
        )

    @property
    def _name(self) -> str:
        n = self.n_trees - self.n_additive
        rest = f" plus a random forest of {counted(n, 'tree')} of its residuals" if n else ""
        return f"an additive model of the selected terms{rest}"


def refit_stack(
    problem: Problem,
    weights: RowWeights,
    selected: BoolArray,
    *,
    seed: int,
    n_trees: int = REFITTED_TREES,
    n_threads: int = 1,
    wants_importance: bool = True,
) -> StackedModel:
    """Fit an additive model and a forest of what its leave-one-out predictions leave, on the
    selected units. The forest is multiplied by the number of least out-of-bag loss, 0 where it does
    not lower the squared error of what is left."""
    return stack_outside(
        problem, weights, selected, seed, n_trees, n_threads, wants_importance
    ).model


def outside_stack(
    problem: Problem, weights: RowWeights, model: StackedModel, seed: int
) -> FloatArray | None:
    """Out-of-bag predictions of a numeric response by a stacked model, shape (n_rows,); NaN for
    rows in all bags. None if the model was fitted with another seed or to other rows."""
    n_trees = model.n_trees - model.n_additive or REFITTED_TREES
    again = stack_outside(problem, weights, model.groups, seed, n_trees, 1, False)
    if again.model.trees is None or model.trees is None:
        return None
    values = again.model.trees.nodes.value, model.trees.nodes.value
    is_same = values[0].shape == values[1].shape and np.allclose(*values, rtol=1e-6, atol=1e-9)
    return again.predictor[:, 0] if is_same else None


class OutsideStack(NamedTuple):
    """A stacked model, and its linear predictor of each row out of bag, NaN for rows in all bags;
    the same less the mean predictor of the model without the row, but for a constant; and what such
    predictions leave of the response, on the scale of minus the gradient of the loss; (n_rows,
    n_outputs) each."""

    model: StackedModel
    predictor: FloatArray
    compared: FloatArray
    left: FloatArray


def stack_outside(
    problem: Problem,
    weights: RowWeights,
    selected: BoolArray,
    seed: int,
    n_trees: int,
    n_threads: int,
    wants_importance: bool,
) -> OutsideStack:
    family, weight = problem.family, weights.values
    base = problem.constant(weight).reshape(len(problem.y), -1)
    constant = null_predictor(problem, weight)
    importance = np.zeros(len(selected))
    loss = family.loss.of(problem.y, weight)
    if not selected.any():
        left = _minus_gradient(loss, base)
        return OutsideStack(
            StackedModel(selected, None, constant, importance, family), base, base, left
        )
    part = select_groups(problem.data, selected)
    additive = _Additive(problem, weights, part, base, seed)
    effects = additive.trees
    eta = base + additive.fit.constant + predict_sum(effects, part, n_threads)
    outside, level = eta.copy(), np.zeros_like(eta)
    outside[additive.rows] = additive.fit.outside
    level[additive.rows] = additive.fit.mean_outside
    constant = constant + additive.fit.constant
    if wants_importance:
        importance[selected] = additive.importance(_minus_gradient(loss, base), loss, base)
    del additive, base  # the forest needs most
    give_memory_back(part.n_rows)
    rank, own_seed = problem.groups.ranks(seed)[selected], stream_seed(seed, "refit")
    left = _minus_gradient(loss, outside)
    grower = Grower(part, left, weights, GAUSSIAN, own_seed, rank, n_threads)
    grown = best_forest(grower, n_trees=n_trees_for(weights, n_trees))
    share = grown.share_of_least_error(left, weight)
    trees = effects
    if share > 0:
        steps, more = _with_steps(grown, problem, part, outside, weights)
        factor = share
        if not family.loss.is_squared:
            known = np.where(np.isnan(more[:, 0]), np.zeros_like(weight), weight)
            flat = (outside, more) if outside.shape[1] > 1 else (outside[:, 0], more[:, 0])
            factor = slope_outside(problem, known, flat[0], np.nan_to_num(flat[1]))
        value = steps.nodes.value * (factor / steps.n_trees)
        trees = join_trees([effects, steps._replace(nodes=steps.nodes._replace(value=value))])
        eta = eta + factor * predict_mean(steps, part, n_threads)
        constant = constant + _to_totals(problem, weight, eta)
        outside = outside + factor * more
    if wants_importance and share > 0:  # as far as the forest has a part
        gains = np.maximum(out_of_bag_gains(grown.forest).mean, 0.0)
        importance[selected] += share * (2 - share) * gains
    model = StackedModel(selected, trees, constant, importance, family, effects.n_trees)
    return OutsideStack(model, outside, outside + level, grown.rest(left, weight))


class _Additive:
    """The additive model of some rows."""

    def __init__(
        self, problem: Problem, weights: RowWeights, part: BinnedData, base: FloatArray, seed: int
    ) -> None:
        self.rows, self._part = weights.rows, part
        if len(self.rows) > _MOST_ROWS:
            rng = np.random.default_rng(stream_seed(seed, "additive"))
            self.rows = np.sort(rng.choice(self.rows, _MOST_ROWS, replace=False))
        own = weights.of(self.rows)
        self._copies = own.copies
        every = len(self.rows) == part.n_rows
        self._columns = AdditiveColumns(part if every else take_rows(part, self.rows), own.values)
        loss = problem.family.loss
        self.fit: AdditiveFit = fit_additive(
            self._columns, range(part.n_groups), loss.of(problem.y[self.rows], own.values),
            base[self.rows], has_constant=loss.has_constant,
            folds=None if own.blocks is None else folds_of_clusters(own.blocks),
        )  # fmt: skip

    @property
    def trees(self) -> Trees:
        columns, values, counts, at = [], [], [], 0
        for group in range(self._part.n_groups):
            basis = self._columns.group(group)[1]
            for j, table in zip(basis.columns, basis.tables, strict=True):
                columns.append(j)
                values.append(table @ self.fit.coef[at : at + table.shape[1]])
                at += table.shape[1]
                codes = self._part.column(j)[self.rows]
                counts.append(np.bincount(codes, self._copies, len(table)).astype(np.float64))
        if not columns:
            return Trees(empty_nodes(0, self.fit.coef.shape[1]), np.zeros(1, dtype=np.int64))
        return effect_trees(columns, values, counts, self._part.is_factor[columns])

    def importance(self, left: FloatArray, loss: RowLoss, base: FloatArray) -> FloatArray:
        """Covariance of the effects of each unit, out of sample, with the response, on the scale of
        the response, at least 0; shape (n_groups,)."""
        weight = self._columns.weight / self._columns.weight.sum()
        curvature = loss.curvature(base if base.shape[1] > 1 else base[:, 0])
        curvature = weight @ curvature.reshape(left.shape)[self.rows]
        effects = self.fit.effects_outside * curvature
        return np.maximum((weight @ (effects * left[self.rows])).sum(axis=1), 0.0)


def effect_trees(
    columns: Sequence[int],
    values: Sequence[FloatArray],
    counts: Sequence[FloatArray],
    is_factor: BoolArray,
) -> Trees:
    """Functions of columns' codes, (n_codes, n_outputs) each, as a tree each: codes are halved
    again and again until values are equal, missing values first; levels are asked for one by one,
    the most frequent first."""
    code, value, count, differs, size = _codes_in_order(values, counts, is_factor)
    changes, depths = np.cumsum(differs), []
    begin = np.cumsum(size) - size
    tree, low, high = np.arange(len(size)), begin, begin + size - 1
    while len(tree):  # the nodes of all trees at one depth: from a place among the codes to another
        middle = np.where(is_factor[tree] | (low == begin[tree]), low, (low + high) // 2)
        middle = np.where(changes[low] < changes[high], middle, high)
        depths.append(np.stack([tree, low, high, middle]))
        tree, low, high, middle = np.repeat(depths[-1][:, middle < high], 2, axis=1)
        low[1::2], high[::2] = middle[1::2] + 1, middle[::2]
    nodes = np.concatenate(depths, axis=1)
    tree, low, high, middle = nodes[:, np.argsort(nodes[0], kind="stable")]
    start = np.searchsorted(tree, np.arange(len(size) + 1))
    is_split = middle < high
    n_splits = np.append(0, np.cumsum(is_split))
    before = np.zeros((len(code) + 1, value.shape[1] + 1))
    np.cumsum(np.column_stack([count, count[:, np.newaxis] * value]), axis=0, out=before[1:])
    total = before[high + 1] - before[low]
    mean = total[:, 1:] / np.maximum(total[:, [0]], 1e-300)
    made = empty_nodes(len(tree), value.shape[1])
    made.column[:] = np.where(is_split, np.asarray(columns)[tree], LEAF)
    made.code[:] = np.where(is_split, code[middle], 0)
    made.missing_left[:] = is_split & (code[middle] == 0)
    made.left[:] = np.where(is_split, 2 * (n_splits[1:] - n_splits[start[tree]]) - 1, 0)
    made.weight[:] = np.round(total[:, 0])
    made.value[:] = np.where(is_split[:, np.newaxis], mean, value[low])
    return Trees(made, start)


def _codes_in_order(
    values: Sequence[FloatArray], counts: Sequence[FloatArray], is_factor: BoolArray
) -> tuple[IntArray, FloatArray, FloatArray, BoolArray, IntArray]:
    """The codes of all columns, column by column, in the order in which trees ask for them, with
    their values and counts, and whether they must be told from the code before; and the number of
    codes of each column. Behind the levels of a factor stand those without rows, one at least."""
    orders: list[IntArray] = [np.arange(len(own)) for own in values]
    n_levels = np.zeros(len(orders), dtype=np.int64)
    for i in np.flatnonzero(is_factor).tolist():
        levels = np.flatnonzero(counts[i][:OTHER] > 0)
        levels = levels[np.argsort(-counts[i][levels], kind="stable")]
        rest = np.setdiff1d(orders[i], levels)[::-1]
        orders[i] = np.concatenate([levels, rest if len(rest) else [len(orders[i])]])
        n_levels[i] = len(levels)
    size = np.array([len(order) for order in orders])
    each = list(zip(values, counts, orders, strict=True))
    value = np.concatenate([v[np.minimum(order, len(v) - 1)] for v, _, order in each])
    count = np.concatenate([np.append(c, 0.0)[order] for _, c, order in each])
    differs = np.append(True, (value[1:] != value[:-1]).any(axis=1))
    begin = np.cumsum(size) - size
    differs[begin[size > 1] + 1] = True  # missing values are on their own
    for i in np.flatnonzero(is_factor).tolist():
        differs[begin[i] : begin[i] + size[i]] = np.arange(size[i]) <= n_levels[i]
    return np.concatenate(orders), value, count, differs, size


def _minus_gradient(loss: RowLoss, eta: FloatArray) -> FloatArray:
    flat = eta if eta.shape[1] > 1 else eta[:, 0]
    return np.ascontiguousarray(loss.negative_gradient(flat).reshape(eta.shape))


def _to_totals(problem: Problem, weight: WeightArray, eta: FloatArray) -> FloatArray:
    """Constants to add to a linear predictor, shape (n_outputs,), so that the sums of its means are
    those of the response; 0 if the loss has none."""
    family, found = problem.family, np.zeros(eta.shape[1])
    if len(found) == 1 and family.loss.has_constant:
        found[0] = family.loss.constant(problem.y, weight, eta[:, 0])
    elif len(found) > 1:
        total = np.exp(family.loss.constant(problem.y, weight)) * weight.sum()
        for _ in range(_ROUNDS):
            found += np.log(total / (weight @ family.mean(eta + found)))
    return found


def _with_steps(
    grown: CutForest, problem: Problem, part: BinnedData, eta: FloatArray, weights: RowWeights
) -> tuple[Trees, FloatArray]:
    """The trees of a forest with Newton steps at a linear predictor in their leaves, and the mean
    of these out of bag; see :func:`_steps_outside`."""
    trees, loss = grown.forest.trees, problem.family.loss
    mass = weights.relative  # a leaf has one more row of weight 1
    if loss.is_squared:
        return trees, grown.prediction
    if eta.shape[1] == 1:
        own = loss.apart(problem.y, weights.values, eta[:, 0])
        apart = own.loss.of(own.y, weights.values)
        trees = with_leaf_fits(trees, part, own.loss, own.y, own.base, mass)

        def derivatives(step: FloatArray) -> tuple[FloatArray, FloatArray]:
            down, curvature = apart.derivatives(own.base + step[:, 0])
            return down[:, np.newaxis], curvature[:, np.newaxis]

        return trees, _steps_outside(trees, grown, part, derivatives, weights)
    rows = loss.of(problem.y, weights.values)
    down, curvature = rows.derivatives(eta)
    prior = mean_curvature(curvature.mean(axis=1), mass)
    value = np.zeros_like(trees.nodes.value)
    for tree in range(trees.n_trees):
        first, end = int(trees.start[tree]), int(trees.start[tree + 1])
        leaf = leaves_of(trees, tree, part)
        for k in range(eta.shape[1]):
            sums = np.bincount(leaf, mass * down[:, k], end - first)
            value[first:end, k] = sums / (
                np.bincount(leaf, mass * curvature[:, k], end - first) + prior
            )
    trees = trees._replace(nodes=trees.nodes._replace(value=value))
    return trees, _steps_outside(
        trees, grown, part, lambda step: (down - curvature * step, curvature), weights
    )


def _steps_outside(
    trees: Trees,
    grown: CutForest,
    part: BinnedData,
    derivatives: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    weights: RowWeights,
) -> FloatArray:
    """Mean of the trees out of whose bag each row is, NaN for rows in all bags. Leaves are fitted
    to all their rows: the row, or its cluster, is taken out of its leaf by one more Newton step.
    Minus the gradients and the curvatures of all rows are those beside a step of each."""
    mass, blocks = weights.relative, weights.blocks
    n_blocks = 0 if blocks is None else int(blocks.max()) + 1
    prior = mean_curvature(derivatives(np.zeros((part.n_rows, 1)))[1].mean(axis=1), mass)
    total, seen = np.zeros((part.n_rows, trees.nodes.value.shape[1])), np.zeros(part.n_rows)
    for tree in range(trees.n_trees):
        out = drawn(grown.forest.bags, tree, part.n_rows) == 0
        leaf = leaves_of(trees, tree, part)
        step = trees.nodes.value[int(trees.start[tree]) + leaf]
        down, curvature = derivatives(step)
        for k in range(total.shape[1]):
            lost, own = mass * down[:, k], mass * curvature[:, k]
            there = np.bincount(leaf, own)[leaf] + prior
            if blocks is not None:
                place = np.unique(leaf * n_blocks + blocks, return_inverse=True)[1]
                lost = np.bincount(place, lost).astype(np.float64)[place]
                own = np.bincount(place, own).astype(np.float64)[place]
            total[:, k] += out * (step[:, k] - lost / np.maximum(there - own, prior))
        seen += out
    return np.where(seen > 0, total.T / np.maximum(seen, 1), np.nan).T
