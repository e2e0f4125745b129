"""Forests on some units, and their out-of-bag scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeselect.algorithms.shared.judged_rows import rows_to_judge
from treeselect.algorithms.shared.regularised import (
    forest_target,
    null_score,
    out_of_bag_mean,
    out_of_bag_score,
)
from treeselect.algorithms.shared.task import Task
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.data.binning import BinnedData, select_groups
from treeselect.engine.data.targets import Target, copies
from treeselect.engine.ensembles.forests import Sampling, bagged_forest
from treeselect.engine.ensembles.out_of_bag import out_of_bag
from treeselect.engine.growing.growth import Growth
from treeselect.engine.growing.nodes import Trees
from treeselect.engine.splitting.candidates import n_able
from treeselect.models.capacity import Grower, best_forest, truth_of

SCORED_TREES = 100
"""Trees of the forests that score a set."""

_SCORED_ROWS = 50_000
"""Most rows to score on: the standard error of an area under the curve is then about 0.002."""


class OutOfBagFit(NamedTuple):
    """Out-of-bag predictions of a forest.

    Attributes
    ----------
    score : float
    fitted : ndarray of float, shape (n_rows,) or (n_rows, n_classes)
        Mean response of each row; NaN for rows that are in every bag.
    """

    score: float
    fitted: FloatArray


@dataclass(frozen=True, slots=True)
class GrownForest:
    """A forest, and the data it was grown from."""

    trees: Trees
    data: BinnedData
    target: Target
    counts: IntArray
    sampling: Sampling
    seed: int


def grown_forest(
    task: Task, groups: BoolArray, n_trees: int, rules: Callable[[int], Growth]
) -> GrownForest | None:
    """A forest on some units, on bootstrap samples of rows or of whole clusters; None without
    units.

    `rules` gives the growth for the number of units that can split.
    """
    problem, weight, seed = task.problem, task.weight, task.seed
    if not groups.any():
        return None
    part = select_groups(problem.data, groups)
    target, _ = forest_target(problem, weight, "gini")
    counts, sampling = copies(weight), Sampling(groups=task.weights.groups)
    trees = bagged_forest(
        part, target, counts, n_trees=n_trees,
        growth=rules(n_able(part, weight)), seed=seed,
        rank=np.ascontiguousarray(problem.groups.ranks(seed)[groups]),
        sampling=sampling, n_threads=task.n_threads,
    )  # fmt: skip
    return GrownForest(trees, part, target, counts, sampling, seed)


def out_of_bag_fit(grown: GrownForest | None, problem: Problem, weight: WeightArray) -> OutOfBagFit:
    """Its out-of-bag predictions; without a forest, the null model."""
    if grown is None:
        mean = problem.family.mean(problem.constant(weight))
        return OutOfBagFit(null_score(problem, weight), mean)
    outside = out_of_bag(grown.trees, grown.data, grown.counts, grown.sampling, grown.seed)
    total = np.nan_to_num(outside.prediction) * outside.n_trees[:, np.newaxis]
    seen = outside.n_trees.astype(np.float64)
    return OutOfBagFit(
        out_of_bag_score(problem, weight, total, seen),
        out_of_bag_mean(problem, weight, total, seen),
    )


def score_of(task: Task, groups: BoolArray, n_trees: int = SCORED_TREES) -> float:
    """Out-of-bag score of a forest on some units, grown on at most 50,000 rows; NaN if the problem
    wants no scores.

    Its capacity is chosen like that of the final model.
    """

    def predict() -> FloatArray:
        problem, seed = task.problem, task.seeded("score").seed
        rows = rows_to_judge(task, _SCORED_ROWS)
        grower = Grower(
            select_groups(rows.data, groups), truth_of(problem, task.weight)[rows.places],
            rows.weights, problem.family, seed, problem.groups.ranks(seed)[groups], task.n_threads,
        )  # fmt: skip
        return rows.among_all(best_forest(grower, n_trees=n_trees).prediction)

    return score_outside(task, groups, predict)


def score_outside(task: Task, groups: BoolArray, predict: Callable[[], FloatArray]) -> float:
    """Score of some units by their out-of-bag predictions.

    Parameters
    ----------
    task : Task
    groups : ndarray of bool, shape (n_groups,)
    predict : callable
        Out-of-bag predictions of ``truth_of``, shape (n_rows, n_outputs), NaN where there are none;
        called only if the problem wants scores and there are units.

    Returns
    -------
    float
        NaN if the problem wants no scores, or if no row has a prediction.
    """
    problem = task.problem
    if not problem.wants_scores:
        return float("nan")
    if not groups.any():
        return null_score(problem, task.weight)
    found = predict()
    known = ~np.isnan(found[:, 0])
    if not known.any():
        return float("nan")
    mean = found if problem.family.n_classes > 2 else found[:, 0]
    if problem.on_link:
        mean = problem.mean_beside(task.weight, mean)
    return problem.family.score(problem.y[known], mean[known], task.weight[known])
