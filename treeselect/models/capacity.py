"""Capacity of forests: the node size with the lowest out-of-bag error.

A fully grown forest on few columns overfits. Noise columns reduce this overfitting by taking
splits away, so the error of fully grown forests would favour noise. With capacity chosen out of
bag, noise columns bring no such advantage. The first trees are fully grown and cut back to each
minimum node size; the others are grown to the best size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.designs.families import Family
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.columns import BinnedData
from treeselect.engine.forest.bagging import Forest, Sampling, bagged_forest, bags_of
from treeselect.engine.forest.out_of_bag import (
    OutsideSums,
    cut_back,
    mean_errors_by_size,
    out_of_bag_at_size,
)
from treeselect.engine.random import stream_seed, tree_seeds
from treeselect.engine.rounding import first_largest, slack
from treeselect.engine.tree.nodes import Trees
from treeselect.engine.tree.target import Target, copies, target_of, target_of_classes
from treeselect.engine.tree.used_groups import n_able
from treeselect.engine.tree.workspace import UNBOUNDED, Growth

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

    def errors_at(self, share: float, truth: FloatArray) -> FloatArray:
        """Squared errors of this share of the predictions, as ``errors``."""
        plain = ((truth - self.prediction) ** 2).sum(axis=1)
        shrunk = ((truth - share * self.prediction) ** 2).sum(axis=1)
        return np.asarray(shrunk - share**2 * (plain - self.errors))


def truth_of(problem: Problem, weight: WeightArray) -> FloatArray:
    """Target of the trees, shape (n_rows, n_outputs).

    The response; with more than two classes, an indicator of each; with an offset, and for survival
    times, minus the gradient at the null model.
    """
    family, y = problem.family, problem.y
    if family.n_classes > 2:
        return np.eye(family.n_classes)[y.astype(np.int64)]
    if not problem.on_link:
        return y[:, np.newaxis]
    return problem.gradient(weight)[:, np.newaxis]


def sizes_of_nodes(n: int) -> list[int]:
    """Candidate minimum weights of a split node: half of the rows, and halves of that."""
    found, size = [], n // 2
    while size > 2 * MIN_LEAF:
        found.append(size)
        size //= 2
    return [*found, 1]


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
        """The weights alone."""
        return self.weights.values

    def grow(self, n_trees: int, n_candidates: int, name: str, min_split: int = 1) -> Forest:
        """Some trees, with a number of groups tried at each node."""
        return bagged_forest(
            self.data, self._target, copies(self.weight),
            n_trees=n_trees, seed=stream_seed(self.seed, name), rank=self.rank,
            growth=Growth(UNBOUNDED, MIN_LEAF, n_candidates, 0.0, min_split=min_split),
            sampling=Sampling(groups=self.weights.groups), n_threads=self.n_threads,
        )  # fmt: skip

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
        if self.family.n_classes > 2:
            return target_of_classes(self.truth.argmax(axis=1), self.family.n_classes, self.weight)
        return target_of(self.truth, self.weight)


class _First(NamedTuple):
    """The first trees of a forest, fully grown, and the size of lowest out-of-bag error."""

    forest: Forest
    n_candidates: int
    size: int
    error: float


def cut_forest(grower: Grower, *, n_trees: int, n_candidates: int) -> CutForest:
    """A forest whose trees are cut back to the size of lowest out-of-bag error."""
    return _completed(grower, _first_trees(grower, n_trees, n_candidates), n_trees)


def best_forest(grower: Grower, *, n_trees: int) -> CutForest:
    """The better, out of bag, of two forests that are cut back.

    One tries the square root of the number of groups at each node (for responses without classes, a
    third of them), rounded up, the other all of them.
    """
    return _completed(grower, _best_first_trees(grower, n_trees), n_trees)


def best_trees(grower: Grower, *, n_trees: int) -> Forest:
    """The trees of :func:`best_forest`, as many as :func:`trees_needed`."""
    first = _best_first_trees(grower, n_trees)
    n_first = first.forest.trees.n_trees
    if not needs_all_trees(grower.weights, n_trees):
        own = _outside(grower, first.forest, first.size)
        errors, variances = own.errors(grower.truth)[:, 0], own.variances[:, 0]
        n_trees = max(trees_needed(errors, variances, grower.weights, n_trees), n_first)
    return _with_more(grower, first, n_trees)


def needs_all_trees(weights: RowWeights, most: int) -> bool:
    """Whether data are too small for fewer trees than the most."""
    return _least_trees(weights) >= most


def n_trees_for(weights: RowWeights, most: int) -> int:
    """Trees of a forest by the number of rows: on long data fewer, at least 30."""
    return min(most, max(_FEWEST, int(_least_trees(weights))))


def _least_trees(weights: RowWeights) -> float:
    return _ROWS_OF_ALL / max(int(np.count_nonzero(weights.values)), 1)


def trees_needed(errors: FloatArray, variances: FloatArray, weights: RowWeights, most: int) -> int:
    """Trees of a forest whose error is that of infinitely many, but for a negligible rest.

    A mean of T trees has ``V / T`` more squared error than one of infinitely many, where V is the
    mean variance of a tree. This is at most a tenth of the standard error of the error itself.
    """
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
    found = [
        _first_trees(grower, n_trees, n_tried)
        for n_tried in sorted({max(few, 1), max(n_groups, 1)})
    ]
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
    return _First(forest, n_candidates, sizes[best], float(mean[best]))


def _with_more(grower: Grower, first: _First, n_trees: int) -> Forest:
    """The first trees, cut back, and more that grow to the same size, from bags of their own."""
    forest = first.forest._replace(trees=cut_back(first.forest.trees, first.size))
    n_more = n_trees - forest.trees.n_trees
    if n_more <= 0:
        return forest
    return forest.joined(grower.grow(n_more, first.n_candidates, "more", first.size))


def _outside(grower: Grower, forest: Forest, size: int) -> OutsideSums:
    centre = np.average(grower.truth, axis=0, weights=grower.weight)
    return out_of_bag_at_size(forest, size, centre)


def _completed(grower: Grower, first: _First, n_trees: int) -> CutForest:
    forest = _with_more(grower, first, n_trees)
    sums = _outside(grower, forest, first.size)
    return CutForest(forest, sums.mean[:, 0], sums.errors(grower.truth)[:, 0], first.size)
