"""The random forest refitted to the selected units, and its out-of-bag predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from treeselect.designs.families import Family
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import BinnedData, select_groups
from treeselect.engine.forest.bagging import Forest, Sampling, bagged_forest, bags_of, drawn
from treeselect.engine.forest.importance import out_of_bag_gains
from treeselect.engine.forest.leaf_values import hazard_trees, in_order_of, with_leaf_fits
from treeselect.engine.forest.out_of_bag import (
    OutsideSums,
    cut_back,
    mean_errors_by_size,
    out_of_bag,
)
from treeselect.engine.forest.walk import leaves_of, predict_mean
from treeselect.engine.random import stream_seed, tree_seeds
from treeselect.engine.rounding import first_largest, slack
from treeselect.engine.tree.nodes import LEAF, Trees
from treeselect.engine.tree.target import (
    Target,
    are_copies,
    copies,
    relative,
    target_of,
    target_of_classes,
    vector_target,
)
from treeselect.engine.tree.used_groups import n_able
from treeselect.engine.tree.workspace import UNBOUNDED, Growth
from treeselect.models.model import TreeModel, null_predictor

# --- forests of log relative hazards, scaled by their out-of-bag calibration slope -------------

_NARROWEST, _WIDEST = 0.1, 10.0
"""Bounds of the slope."""


def with_hazards(forest: Forest, weight: WeightArray, problem: Problem) -> Trees:
    """The same trees with log ratios of observed to expected events in their leaves, times the
    slope of their out-of-bag values in the partial likelihood (van Houwelingen 2000)."""
    base = problem.constant(weight)
    apart = problem.family.loss.apart(problem.y, weight, base)
    trees = hazard_trees(forest, weight, apart.y, np.exp(apart.base))
    outside = out_of_bag(forest._replace(trees=trees)).mean[:, 0, 0]
    known = np.where(np.isnan(outside), np.zeros_like(weight), weight)
    slope = slope_outside(problem, known, base, np.nan_to_num(outside))
    return trees._replace(nodes=trees.nodes._replace(value=trees.nodes.value * slope))


def slope_outside(
    problem: Problem, weight: WeightArray, base: FloatArray, score: FloatArray
) -> float:
    """The coefficient of an out-of-bag score of least loss beside a base, from 0.1 to 10."""
    from scipy.optimize import brentq

    rows = problem.rows(weight)

    def climb(slope: float) -> float:
        return float(np.sum(weight @ (score * rows.negative_gradient(base + slope * score))))

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
    """A bagged forest, whose trees are averaged; its constant is the mean response or, on the link,
    the linear predictor of the null model."""

    on_link: bool = False  # whether trees add to a linear predictor

    _importance: ClassVar[str] = (
        "Share of the out-of-bag decrease in impurity in the final random forest"
    )
    stored_as: ClassVar[str] = "forest"

    @property
    def is_link(self) -> bool:
        return self.on_link

    @property
    def _name(self) -> str:
        return f"a random forest of {self.n_trees} trees on the selected terms"

    @property
    def tree_weights(self) -> FloatArray:
        return np.full(self.n_trees, 1 / max(self.n_trees, 1))

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
    """Random forest on the selected units, of the capacity of :func:`best_forest`. With an offset,
    and for times, trees are grown on the negative gradient at the null model, and leaves hold
    Newton steps (Friedman 2001, Algorithm 5), those of times hazards (:func:`with_hazards`)."""
    family, on_link, weight = problem.family, problem.on_link, weights.values
    constant, importance = null_response(problem, weight), np.zeros(len(selected))
    if not selected.any():
        return ForestModel(selected, None, constant, importance, family, on_link)
    grower = grower_of(problem, weights, selected, seed=seed, n_threads=n_threads)
    part = grower.data
    grown = best_trees(grower, n_trees=n_trees)
    trees = grown.trees
    if family.is_ordered:
        trees = trees._replace(nodes=trees.nodes._replace(value=family.shares(trees.nodes.value)))
    if wants_importance:  # a walk of all rows through all trees, which a fold's score needs not
        importance[selected] = np.maximum(out_of_bag_gains(grown).mean, 0.0)
    if not (on_link or family.has_classes or family.loss.is_squared):
        # With a row at the mean response in each node no leaf predicts a count of 0.
        count = trees.nodes.weight[:, np.newaxis]
        value = (trees.nodes.value * count + constant[0]) / (count + 1)
        trees = in_order_of(trees._replace(nodes=trees.nodes._replace(value=value)), part.monotone)
    if family.has_times:
        trees = with_hazards(grown._replace(trees=trees), weight, problem)
    elif on_link and not family.loss.is_squared:
        own = family.loss.apart(problem.y, weight, problem.constant(weight))
        trees = with_leaf_fits(trees, part, own.loss, own.y, own.base, weights.relative)
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


def null_response(problem: Problem, weight: WeightArray) -> FloatArray:
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
    forest = grower.grown(model.trees)
    # The rows of the first bag must fill the leaves of the first tree.
    tree, rows = model.trees.one(0), forest.weight * drawn(forest.bags, 0, forest.data.n_rows)
    found = np.bincount(leaves_of(tree, 0, forest.data), rows, len(tree.nodes.weight))
    is_leaf = tree.nodes.column == LEAF
    if not np.array_equal(found[is_leaf], tree.nodes.weight[is_leaf]):
        return None
    return out_of_bag(forest).mean[:, 0, 0]


# --- Capacity of forests: the node size with the lowest out-of-bag error -------------------------
# A fully grown forest on few columns overfits. Noise columns reduce this overfitting by taking
# splits away, so the error of fully grown forests would favour noise. With capacity chosen out of
# bag, they bring no such advantage. The first trees are fully grown and cut back to each minimum
# node size; the others are grown to the best size.

MIN_LEAF = 5
"""Least rows of a leaf."""

_LEAST_FIRST, _ROWS_OF_FIRST = 10, 50_000
"""Fully grown trees that determine the capacity: at least this many, and as many rows in total."""

_NEGLIGIBLE = 0.1
"""Share of the standard error of a forest's error that its finite number of trees may add to it."""

_ROWS_OF_ALL = 2_500_000
"""Trees of a final forest take at least so many rows in total, however few its error needs: small
data have all the trees that are allowed, which cost little there and steady each prediction."""

_FEWEST = 30
"""Trees of a final forest on long data."""


class CutForest(NamedTuple):
    """A forest cut back to the capacity of lowest out-of-bag error."""

    forest: Forest
    prediction: FloatArray  # out of bag; NaN where weight or bags leave none
    errors: FloatArray  # (n_rows,): squared, of infinitely many trees, out of bag
    size: int  # least weight of a node that is split

    def share_of_least_error(self, truth: FloatArray, weight: WeightArray) -> float:
        """Number from 0 to 1 by which to multiply predictions for the least out-of-bag error of
        infinitely many trees; 0 if no row has one."""
        known = ~np.isnan(self.errors)
        predicted, own = self.prediction[known], weight[known] / max(weight[known].sum(), 1e-300)
        plain = ((truth[known] - predicted) ** 2).sum(axis=1)
        squares = own @ ((predicted**2).sum(axis=1) - (plain - self.errors[known]))
        agreement = own @ (predicted * truth[known]).sum(axis=1)
        return float(np.clip(agreement / squares, 0, 1)) if squares > 0 < agreement else 0.0

    def rest(self, truth: FloatArray, weight: WeightArray) -> FloatArray:
        """What that share of the out-of-bag predictions leaves of the truth."""
        share = self.share_of_least_error(truth, weight)
        return truth - share * np.where(np.isnan(self.prediction), 0.0, self.prediction)

    def errors_at(self, share: float, truth: FloatArray) -> FloatArray:
        """Squared errors of this share of the predictions, as ``errors``."""
        plain = ((truth - self.prediction) ** 2).sum(axis=1)
        shrunk = ((truth - share * self.prediction) ** 2).sum(axis=1)
        return np.asarray(shrunk - share**2 * (plain - self.errors))


def truth_of(problem: Problem, weight: WeightArray) -> FloatArray:
    """Target of the trees, shape (n_rows, n_outputs), or minus a gradient."""
    family, y = problem.family, problem.y
    if family.n_classes > 2:
        return family.indicators(y)
    if not problem.on_link:
        return y[:, np.newaxis]
    return problem.gradient(weight)[:, np.newaxis]


def sizes_of_nodes(n: int) -> list[int]:
    """Candidate minimum weights of a split node: half of the rows, and halves of that."""
    return [*(n >> i for i in range(1, n.bit_length()) if n >> i > 2 * MIN_LEAF), 1]


def usual_candidates(family: Family, n: int) -> int:
    """Number of groups tried at a node: the root for classes, a third for other responses."""
    return int(np.ceil(np.sqrt(n) if family.has_classes else n / 3))


class Grower(NamedTuple):
    """Data and settings that forests of one kind share."""

    data: BinnedData
    truth: FloatArray  # (n_rows, n_outputs): see :func:`truth_of`
    weights: RowWeights  # rows of a cluster are in a bag or out of it together
    family: Family
    seed: int
    rank: IntArray  # (n_groups,)
    n_threads: int = 1

    @property
    def weight(self) -> WeightArray:
        return self.weights.values

    def grow(self, n_trees: int, n_candidates: int, name: str, min_split: int = 1) -> Forest:
        """Some trees, with a number of groups tried at each node."""
        target, outputs = self._target, self.truth
        divides = target.is_vector and len(target.curvature) > 0
        if divides:  # leaves hold means over rows: of the weights, too, too small to move a split
            unit = float(np.abs(outputs).max(initial=1e-9)) * 2.0**-16
            outputs = np.column_stack([outputs, np.full(len(outputs), unit)])
        forest = bagged_forest(
            self.data, target_of(outputs, self.weight) if divides else target, copies(self.weight),
            n_trees=n_trees, seed=stream_seed(self.seed, name), rank=self.rank,
            growth=Growth(UNBOUNDED, MIN_LEAF, n_candidates, 0.0, min_split=min_split),
            sampling=Sampling(groups=self.weights.groups), n_threads=self.n_threads,
        )  # fmt: skip
        if not divides:
            return forest
        nodes = forest.trees.nodes
        nodes = nodes._replace(value=unit * nodes.value[:, :-1] / nodes.value[:, -1:])
        return forest._replace(trees=forest.trees._replace(nodes=nodes), target=target)

    def grown(self, trees: Trees) -> Forest:
        """A forest of :func:`best_trees` that was grown from here."""
        weight, n_first = copies(self.weight), n_first_trees(self, trees.n_trees)
        first, more = stream_seed(self.seed, "first"), stream_seed(self.seed, "more")
        n_more = trees.n_trees - n_first
        seeds = np.concatenate([tree_seeds(first, n_first), tree_seeds(more, n_more)])
        bags = bags_of(weight, Sampling(groups=self.weights.groups), seeds)
        return Forest(trees, self.data, self._target, weight, bags, first, self.n_threads)

    @property
    def _target(self) -> Target:
        """What the trees predict, relative weights of several outputs beside it."""
        if self.family.n_classes > 2 and not self.family.is_ordered:
            return target_of_classes(self.truth.argmax(axis=1), self.family.n_classes, self.weight)
        if self.truth.shape[1] == 1 or are_copies(self.weight):
            return target_of(self.truth, self.weight)
        return vector_target(self.truth)._replace(curvature=relative(self.weight))


class _First(NamedTuple):
    """The first trees of a forest, cut back to the size of lowest out-of-bag error."""

    forest: Forest
    n_candidates: int
    size: int
    error: float


def cut_forest(grower: Grower, *, n_trees: int, n_candidates: int) -> CutForest:
    """A forest whose trees are cut back to the size of lowest out-of-bag error."""
    return _completed(grower, _first_trees(grower, n_trees, n_candidates), n_trees)


def best_forest(grower: Grower, *, n_trees: int) -> CutForest:
    """The better, out of bag, of two forests that are cut back: one tries :func:`usual_candidates`
    groups at each node, the other all of them."""
    return _completed(grower, _best_first_trees(grower, n_trees), n_trees)


def best_trees(grower: Grower, *, n_trees: int) -> Forest:
    """The trees of :func:`best_forest`, as many as :func:`trees_needed`."""
    first = _best_first_trees(grower, n_trees)
    if _least_trees(grower.weights) < n_trees:
        own = _outside(grower, first.forest)
        n_trees = trees_needed(
            own.errors(grower.truth)[:, 0], own.variances[:, 0], grower.weights, n_trees
        )
        del own  # before the others grow
    return _with_more(grower, first, n_trees)


def n_trees_for(weights: RowWeights, most: int) -> int:
    """Trees of a forest by the number of rows: on long data fewer, at least 30."""
    return min(most, max(_FEWEST, int(_least_trees(weights))))


def _least_trees(weights: RowWeights) -> float:
    return _ROWS_OF_ALL / max(int(np.count_nonzero(weights.values)), 1)


def trees_needed(errors: FloatArray, variances: FloatArray, weights: RowWeights, most: int) -> int:
    """Trees whose mean variance adds at most a tenth of the standard error to the error."""
    weight = weights.values
    least = _least_trees(weights)
    known = ~np.isnan(errors) & (weight > 0)
    if least >= most or known.sum() < 2:
        return most
    share = weight[known] / weight[known].sum()
    above = errors[known] - share @ errors[known]
    part = np.full_like(share, 1 / float(weight[known].sum())) if weights.are_copies else share
    error = float(np.sqrt((share * part) @ above**2))
    variance = float(share @ variances[known])
    if not error > 0:
        return most
    needed = max(variance / (_NEGLIGIBLE * error), least) / 5
    return min(most, 5 * int(np.ceil(needed - slack(needed))))


def _best_first_trees(grower: Grower, n_trees: int) -> _First:
    n_groups = n_able(grower.data, grower.weight)
    few = usual_candidates(grower.family, n_groups)
    found = [_first_trees(grower, n_trees, n) for n in sorted({max(few, 1), max(n_groups, 1)})]
    if any(np.isnan(first.error) for first in found):
        return found[0]
    return found[first_largest([-first.error for first in found])]


def n_first_trees(grower: Grower, n_trees: int) -> int:
    """Number of trees that are fully grown, to determine the capacity."""
    n_rows = int(copies(grower.weight).sum())
    return min(n_trees, max(_LEAST_FIRST, _ROWS_OF_FIRST // max(n_rows, 1)))


def _first_trees(grower: Grower, n_trees: int, n_candidates: int) -> _First:
    forest = grower.grow(n_first_trees(grower, n_trees), n_candidates, "first")
    sizes = sizes_of_nodes(int(copies(grower.weight).sum()))
    mean = mean_errors_by_size(forest, sizes, grower.truth, grower.weight)
    best = len(sizes) - 1 if np.isnan(mean[0]) else first_largest(-mean)
    forest = forest._replace(trees=cut_back(forest.trees, sizes[best]))
    return _First(forest, n_candidates, sizes[best], float(mean[best]))


def _with_more(grower: Grower, first: _First, n_trees: int) -> Forest:
    """The first trees, and more that grow to the same size, from bags of their own."""
    n_more = n_trees - first.forest.trees.n_trees
    if n_more <= 0:
        return first.forest
    return first.forest.joined(grower.grow(n_more, first.n_candidates, "more", first.size))


def _outside(grower: Grower, forest: Forest) -> OutsideSums:
    return out_of_bag(forest, np.average(grower.truth, axis=0, weights=grower.weight))


def _completed(grower: Grower, first: _First, n_trees: int) -> CutForest:
    forest = _with_more(grower, first, n_trees)
    sums = _outside(grower, forest)
    return CutForest(forest, sums.mean[:, 0], sums.errors(grower.truth)[:, 0], first.size)
