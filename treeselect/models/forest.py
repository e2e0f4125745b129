"""The random forest refitted to the selected units, and its out-of-bag predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, WeightArray
from treeselect.engine.columns import BinnedData, select_groups
from treeselect.engine.forest.bagging import Forest
from treeselect.engine.forest.importance import out_of_bag_gains
from treeselect.engine.forest.leaf_values import hazard_trees, in_order_of, with_leaf_fits
from treeselect.engine.forest.out_of_bag import add_out_of_bag, bag_room
from treeselect.engine.forest.walk import leaves_of, predict_mean
from treeselect.engine.random import stream_seed
from treeselect.engine.tree.nodes import LEAF, Trees
from treeselect.models.capacity import Grower, best_trees, truth_of
from treeselect.models.model import TreeModel, null_predictor

# --- forests of log relative hazards, scaled by their out-of-bag calibration slope -------------

_NARROWEST, _WIDEST = 0.1, 10.0
"""Bounds of the slope."""


def with_hazards(forest: Forest, weight: WeightArray, problem: Problem) -> Trees:
    """The same trees with log hazard ratios in their leaves, scaled out of bag.

    The value of a leaf is the log ratio of observed to expected events under the null model, times
    the slope that fits the out-of-bag values best. A mean over trees that were cut back against
    noise is shrunk too far towards 0; the slope of its out-of-bag values in the partial likelihood
    measures by how much (van Houwelingen 2000).
    """
    base = problem.constant(weight)
    apart = problem.family.loss.apart(problem.y, weight, base)
    trees, total, n_outside = hazard_trees(forest, weight, apart.y, np.exp(apart.base))
    known = np.where(n_outside > 0, weight, np.zeros_like(weight))
    slope = _slope(problem, known, base, total / np.maximum(n_outside, 1))
    return trees._replace(nodes=trees.nodes._replace(value=trees.nodes.value * slope))


def _slope(problem: Problem, weight: WeightArray, base: FloatArray, score: FloatArray) -> float:
    """The coefficient of a score that maximises the partial likelihood, between 0.1 and 10."""
    from scipy.optimize import brentq

    rows = problem.rows(weight)

    def climb(slope: float) -> float:
        return float((weight * score) @ rows.negative_gradient(base + slope * score))

    if not climb(_NARROWEST) > 0:
        return _NARROWEST
    if not climb(_WIDEST) < 0:
        return _WIDEST
    return float(brentq(climb, _NARROWEST, _WIDEST, xtol=1e-6))


# --- the random forest refitted to the selected units ------------------------------------------

REFITTED_TREES = 200
"""Most trees of the forest refitted to the selected units: as many as its error needs."""


@dataclass(frozen=True, slots=True, repr=False)
class ForestModel(TreeModel):
    """A bagged forest, whose trees are averaged.

    Its constant is the mean response, or the share of each of more than two classes; on the link,
    the linear predictor of the null model without the offset. Importances are out-of-bag gains.
    """

    on_link: bool = False  # whether trees add to a linear predictor

    importance_note: ClassVar[str] = (
        "Share of the out-of-bag decrease in impurity in the final random forest"
    )
    in_place_note: ClassVar[str] = "predictions come from the random forest on the selected terms"
    stored_as: ClassVar[str] = "forest"

    @property
    def is_link(self) -> bool:
        """Whether :meth:`score` gives the linear predictor."""
        return self.on_link

    @property
    def _name(self) -> str:
        return f"a random forest of {self.n_trees} trees on the selected terms"

    @property
    def tree_weights(self) -> FloatArray:
        """One over the number of trees."""
        return np.full(self.n_trees, 1 / max(self.n_trees, 1))

    @property
    def tree_shares(self) -> FloatArray:
        """The same."""
        return self.tree_weights

    def _add_up(self, data: BinnedData, n_threads: int) -> FloatArray:
        if self.trees is None:
            return np.tile(self.constant, (data.n_rows, 1))
        found = predict_mean(self.trees, data, n_threads)
        return self.constant + found if self.on_link else found


def refit_forest(
    problem: Problem,
    weights: RowWeights,
    selected: BoolArray,
    *,
    seed: int,
    n_trees: int = REFITTED_TREES,
    n_threads: int = 1,
    wants_importance: bool = True,
) -> ForestModel:
    """Random forest on the selected units.

    Its capacity is chosen by the out-of-bag error (``capacity.best_forest``). It has at most
    `n_trees` trees, on long data as many as its error needs (``capacity.trees_needed``). More than
    two classes are split by the Gini index.

    With an offset, and for survival times, the trees are grown on the negative gradient at the null
    model and add to the linear predictor. For numeric responses, leaf values are mean residuals.
    For classes and counts they are Newton steps given the offset (Friedman 2001, Algorithm 5), with
    one more row of mean curvature so that pure leaves stay finite. For survival times, see
    ``with_hazards``.
    """
    family, on_link, weight = problem.family, problem.on_link, weights.values
    constant, importance = _constant(problem, weight), np.zeros(len(selected))
    if not selected.any():
        return ForestModel(selected, None, constant, importance, family, on_link)
    grower = grower_of(problem, weights, selected, seed=seed, n_threads=n_threads)
    part = grower.data
    grown = best_trees(grower, n_trees=n_trees)
    trees = grown.trees
    if wants_importance:  # a walk of all rows through all trees, which a fold's score needs not
        importance[selected] = np.maximum(out_of_bag_gains(grown).mean, 0.0)
    if not (on_link or family.has_classes or family.loss.is_squared):
        trees = in_order_of(_with_one_more_row(trees, constant[0]), part.monotone)
    if family.has_times:
        trees = with_hazards(grown._replace(trees=trees), weight, problem)
    elif on_link and not family.loss.is_squared:
        own = family.loss.apart(problem.y, weight, problem.constant(weight))
        trees = with_leaf_fits(trees, part, own.loss, own.y, own.base, weight)
    if problem.offset is not None and not family.loss.is_squared:
        # The mean of the trees' steps is not the step of the mean: this keeps totals right.
        eta = problem.offset + predict_mean(trees, part, n_threads)[:, 0]
        constant = np.array([family.loss.constant(problem.y, weight, eta)])
    return ForestModel(selected, trees, constant, importance, family, on_link)


def grower_of(
    problem: Problem, weights: RowWeights, selected: BoolArray, *, seed: int, n_threads: int = 1
) -> Grower:
    """What grows the forest of :func:`refit_forest`, from the same bags with the same seed."""
    return Grower(
        select_groups(problem.data, selected), truth_of(problem, weights.values), weights,
        problem.family, stream_seed(seed, "refit"), problem.groups.ranks(seed)[selected], n_threads,
    )  # fmt: skip


def _with_one_more_row(trees: Trees, mean: float) -> Trees:
    """The same trees, each node with one more row at the mean response.

    A leaf without events would otherwise predict a count of 0, and a single event there would have
    infinite deviance.
    """
    weight = trees.nodes.weight[:, np.newaxis]
    value = (trees.nodes.value * weight + mean) / (weight + 1)
    return trees._replace(nodes=trees.nodes._replace(value=value))


def _constant(problem: Problem, weight: WeightArray) -> FloatArray:
    """What a forest without trees predicts; see :class:`ForestModel`."""
    family, y = problem.family, problem.y
    if problem.on_link:
        return null_predictor(problem, weight)
    if family.n_classes > 2:
        shares = np.bincount(y.astype(np.int64), weight, family.n_classes)
        return np.asarray(shares / weight.sum())
    return np.array([np.average(y, weights=weight)])


def outside_bags(
    problem: Problem, weights: RowWeights, model: ForestModel, seed: int
) -> FloatArray | None:
    """Mean of the trees out of whose bag each row is, shape (n_rows,): NaN for rows in all bags;
    None if the forest was grown with other bags."""
    assert model.trees is not None
    grower = grower_of(problem, weights, model.groups, seed=seed)
    trees, data, _, weight, bags, *_ = grower.grown(model.trees)
    total, count = np.zeros((data.n_rows, 1)), np.zeros(data.n_rows, dtype=np.int64)
    room = bag_room(data.n_rows)
    add_out_of_bag(trees, data, bags, room, total, count)
    # The last bag is still there: its rows must fill the leaves of the last tree.
    last = trees.n_trees - 1
    first = trees.start[last]
    held, at = trees.nodes.weight[first:], trees.nodes.column[first:] == LEAF
    found = np.bincount(leaves_of(trees, last, data), room.counts * weight, len(held))
    if not np.array_equal(found[at], held[at]):
        return None
    return np.where(count > 0, total[:, 0] / np.maximum(count, 1), np.nan)
