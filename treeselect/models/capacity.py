"""How far a forest grows: the capacity that predicts the rows outside its bags best.

A fully grown forest on few columns overfits them, and columns of noise mend that by taking splits
away: it would prefer noise to nothing. A forest whose capacity is chosen out of bag has no use for
them. Trees are grown once, and cut back to nodes of at least so many rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.designs.families import Family
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.targets import Target, copies, target_of_classes, target_of_mean
from treeselect.engine.ensembles.cutting import cut_back, out_of_bag_by_size
from treeselect.engine.ensembles.forests import BOOTSTRAP, bagged_forest
from treeselect.engine.growing.growth import UNBOUNDED, Growth
from treeselect.engine.growing.nodes import Trees
from treeselect.engine.rounding import first_largest
from treeselect.engine.splitting.candidates import n_able

MIN_LEAF = 5
"""Least rows of a leaf."""


class CutForest(NamedTuple):
    """A forest that was cut back to the capacity of least out-of-bag error.

    Attributes
    ----------
    trees : Trees
    prediction : ndarray of float, shape (n_rows, n_outputs)
        Out of bag; NaN where all trees have seen the row, or its weight is 0.
    error : float
        Mean over the rows of the squared out-of-bag error, summed over the outputs; NaN if each
        row is in every bag.
    size : int
        Least weight of a node that is split.
    """

    trees: Trees
    prediction: FloatArray
    error: float
    size: int


def truth_of(problem: Problem, weight: WeightArray) -> FloatArray:
    """What trees predict, shape (n_rows, n_outputs): the response, of more than two classes an
    indicator of each, beside an offset minus the gradient at the constant model."""
    family, y = problem.family, problem.y
    if family.n_classes > 2:
        return np.eye(family.n_classes)[y.astype(np.int64)]
    if problem.offset is None:
        return y[:, np.newaxis]
    gradient = family.loss.negative_gradient(y, problem.constant(weight))
    return np.asarray(gradient)[:, np.newaxis]


def sizes_of_nodes(n: int) -> list[int]:
    """Least weights of a node that is split, from half of the rows down by halves."""
    found, size = [], n // 2
    while size > 2 * MIN_LEAF:
        found.append(size)
        size //= 2
    return [*found, 1]


def usual_candidates(family: Family, n: int) -> int:
    """Groups of so many that are tried at a node: the root for classes, a third for numbers."""
    return int(np.ceil(np.sqrt(n) if family.has_classes else n / 3))


def cut_forest(
    data: BinnedData,
    truth: FloatArray,
    weight: WeightArray,
    family: Family,
    *,
    n_trees: int,
    n_candidates: int,
    seed: int,
    rank: IntArray,
    n_threads: int = 1,
) -> CutForest:
    """Grow a forest and cut it back to the size of least out-of-bag error.

    Parameters
    ----------
    truth : ndarray of float, shape (n_rows, n_outputs)
        See :func:`truth_of`.
    n_candidates : int
        Groups tried at each node.
    """
    counts = copies(weight)
    trees = bagged_forest(
        data, target_of(truth, weight, family), counts, n_trees=n_trees, seed=seed, rank=rank,
        growth=Growth(UNBOUNDED, MIN_LEAF, n_candidates, 0.0), n_threads=n_threads,
    )  # fmt: skip
    sizes = sizes_of_nodes(int(counts.sum()))
    found = out_of_bag_by_size(trees, data, counts, BOOTSTRAP, seed, sizes)
    known = ~np.isnan(found[0, :, 0])
    if not known.any():
        return CutForest(trees, found[-1], np.nan, sizes[-1])
    errors = ((found[:, known] - truth[known]) ** 2).sum(axis=2)
    mean = np.average(errors, axis=1, weights=weight[known])
    best = first_largest(-mean)
    return CutForest(cut_back(trees, sizes[best]), found[best], float(mean[best]), sizes[best])


def best_forest(
    data: BinnedData,
    truth: FloatArray,
    weight: WeightArray,
    family: Family,
    *,
    n_trees: int,
    seed: int,
    rank: IntArray,
    n_threads: int = 1,
) -> CutForest:
    """The better one, out of bag, of two forests that were cut back.

    One tries the square root of the number of groups at each node (a third of them for numbers),
    rounded up, the other all of them.
    """
    n_groups = n_able(data, weight)
    few = usual_candidates(family, n_groups)
    found = [
        cut_forest(
            data, truth, weight, family, n_trees=n_trees, n_candidates=n_tried, seed=seed,
            rank=rank, n_threads=n_threads,
        )
        for n_tried in sorted({max(few, 1), max(n_groups, 1)})
    ]  # fmt: skip
    if any(np.isnan(forest.error) for forest in found):
        return found[0]
    return found[first_largest([-forest.error for forest in found])]


def target_of(truth: FloatArray, weight: WeightArray, family: Family) -> Target:
    """What trees are grown on that tell this."""
    if family.n_classes > 2:
        return target_of_classes(truth.argmax(axis=1), family.n_classes, weight)
    return target_of_mean(np.ascontiguousarray(truth[:, 0]), weight)
