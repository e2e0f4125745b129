"""Forests on some units, and their out-of-bag scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from treeselect.algorithms.search.judging import rows_to_judge
from treeselect.algorithms.task import Step, Task, step_of_gains
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import select_groups
from treeselect.engine.forest.bagging import Forest, Sampling, bagged_forest
from treeselect.engine.forest.importance import out_of_bag_gains
from treeselect.engine.forest.out_of_bag import out_of_bag
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import slack
from treeselect.engine.tree.nodes import group_gains
from treeselect.engine.tree.target import Target, copies, target_of_classes, target_of_mean
from treeselect.engine.tree.used_groups import SplitPenalty, n_able
from treeselect.engine.tree.workspace import BREADTH_FIRST, UNBOUNDED, Growth
from treeselect.errors import MethodError
from treeselect.models.forest import Grower, best_forest, truth_of
from treeselect.models.stacked import stack_outside

SCORED_TREES = 100
"""Trees of the forests that score a set."""

_SCORED_ROWS = 50_000
"""Most rows to score on: the standard error of an area under the curve is then about 0.002."""


class OutOfBagFit(NamedTuple):
    """Out-of-bag predictions of a forest."""

    score: float
    fitted: FloatArray  # (n_rows,) or (n_rows, n_classes): mean response of each row


def grown_forest(
    task: Task, groups: BoolArray, n_trees: int, rules: Callable[[int], Growth]
) -> Forest | None:
    """A forest on some units, on bootstrap samples of rows or of whole clusters; None without
    units.

    `rules` gives the growth for the number of units that can split.
    """
    problem, weight, seed = task.problem, task.weight, task.seed
    if not groups.any():
        return None
    part = select_groups(problem.data, groups)
    target, _ = forest_target(problem, weight, "gini")
    return bagged_forest(
        part, target, copies(weight), n_trees=n_trees,
        growth=rules(n_able(part, weight)), seed=seed,
        rank=np.ascontiguousarray(problem.groups.ranks(seed)[groups]),
        sampling=Sampling(groups=task.weights.groups), n_threads=task.n_threads,
    )  # fmt: skip


def out_of_bag_fit(grown: Forest | None, problem: Problem, weight: WeightArray) -> OutOfBagFit:
    """Its out-of-bag predictions; without a forest, the null model."""
    if grown is None:
        mean = problem.family.mean(problem.constant(weight))
        return OutOfBagFit(null_score(problem, weight), mean)
    return _outside(problem, weight, *_totals(grown))


def _totals(grown: Forest) -> tuple[FloatArray, IntArray]:
    """The sum of the out-of-bag predictions of each row, and their number."""
    found = out_of_bag(grown)
    return np.nan_to_num(found.mean[:, 0]) * found.n_trees[:, np.newaxis], found.n_trees


def score_of(task: Task, groups: BoolArray, n_trees: int = SCORED_TREES) -> float:
    """Out-of-bag score of a forest on some units, or of a stack if that is the final model, fitted
    to at most 50,000 rows; NaN if the problem wants no scores.

    The forest's capacity is chosen like that of the final model.
    """
    problem, family = task.problem, task.problem.family
    if not problem.wants_scores:
        return float("nan")
    if not groups.any():
        return null_score(problem, task.weight)
    seed = task.seeded("score").seed
    rows = rows_to_judge(task, _SCORED_ROWS)
    if problem.model == "stack":
        weights = task.weights.only(rows.places)
        outside = stack_outside(problem, weights, groups, seed, n_trees, task.n_threads, False)
        # Without a row of a class the others are fewer, and its prediction is lower (Airola et al.
        # 2011): predictions of different models are compared above the mean of each.
        found = outside.compared if family.score_compares else outside.predictor
        known = ~np.isnan(found[:, 0]) & weights.used
        mean = family.mean(found if family.n_classes > 2 else found[:, 0])
    else:
        grower = Grower(
            select_groups(rows.data, groups), truth_of(problem, task.weight)[rows.places],
            rows.weights, family, seed, problem.groups.ranks(seed)[groups], task.n_threads,
        )  # fmt: skip
        found = rows.among_all(best_forest(grower, n_trees=n_trees).prediction)
        known = ~np.isnan(found[:, 0])
        mean = family.shares(found) if family.n_classes > 2 else found[:, 0]
        if problem.on_link:
            mean = problem.mean_beside(task.weight, mean)
    if not known.any():
        return float("nan")
    return family.score(problem.y[known], mean[known], task.weight[known])


# --- How far gains can be trusted: the share that holds out of bag -------------------------------
# The in-bag gain of a unit says little about its information: the more values it has, the more
# its splits can fit. A noise factor with many levels gains more in the bag than a true binary
# term. The share of the gain that holds out of bag makes units of all kinds comparable.

_HELD_TREES, _HELD_DEPTH, _HELD_LEAF = 100, 6, 5


def held_shares(task: Task) -> FloatArray:
    """Share of each unit's gain that holds out of bag, relative to the largest share.

    A forest of small trees is grown on all units, a third of which are tried at each node. The
    share is the out-of-bag gain of a unit divided by its in-bag gain; 0 if the former is negative,
    or if no tree splits on the unit.
    """
    every = np.ones(len(task.problem.groups.names), dtype=np.bool_)
    grown = grown_forest(
        task.seeded("reliability"), every, _HELD_TREES,
        lambda n: Growth(_HELD_DEPTH, _HELD_LEAF, max(1, -(-n // 3)), 0.0),
    )  # fmt: skip
    if grown is None:
        return every.astype(np.float64)
    inside = group_gains(grown.trees, grown.data).mean(axis=0)
    outside = out_of_bag_gains(grown).mean
    used = inside > 0
    share = np.where(used, np.maximum(outside, 0.0) / np.where(used, inside, 1.0), 0.0)
    largest = share.max()
    return np.asarray(share / largest if largest > 0 else np.ones_like(share))


def screened(scale: FloatArray, shares: FloatArray | None) -> FloatArray:
    """Coefficients of units that are not in use, set to 0 for those that may not enter.

    The smaller its coefficient, the more of a unit's gain must hold: a unit with coefficient c may
    enter if its share is at least ``1 - c``; at 1, any unit may.
    """
    if shares is None:
        return scale
    return np.where(scale + shares >= 1.0 - slack(1.0), scale, 0.0)


# --- Ensembles whose trees share one set of used units, as in regularised forests ----------------

Criterion = Literal["gini", "entropy"]
Gain = Literal["uncentred", "decrease"]
Ties = Literal["used", "random"]

_HALF = 0.5
"""Subtracted from the indicator of two classes (see ``SplitPenalty``)."""

_TREES_AT_ONCE = 100
"""Trees that are grown before their gains are summed and the trees discarded."""


@dataclass(frozen=True, slots=True)
class SharedForest:
    """Result of a forest whose trees share one set of used units, without its trees."""

    gains: FloatArray  # (n_groups,): unpenalised gain of each unit, mean over the trees
    train_score: float  # score of the out-of-bag predictions


class SharedRules(NamedTuple):
    """How the trees of such a forest grow; see ``RRF`` for the options."""

    n_trees: int
    growth: Growth
    sampling: Sampling
    criterion: Criterion
    uncentred: bool


def open_growth(
    n_groups: int, mtry: int | None, max_depth: int | None, ties: Ties, min_leaf: int = 1
) -> Growth:
    """Growth of trees that try all used units beside some others."""
    return Growth(
        max_depth or UNBOUNDED, min_leaf, mtry or int(np.ceil(np.sqrt(n_groups))), 0.0,
        all_open=True, order=BREADTH_FIRST, random_ties=ties == "random",
    )  # fmt: skip


def forest_target(
    problem: Problem, weight: WeightArray, criterion: Criterion
) -> tuple[Target, bool]:
    """Target of the trees, and whether they predict classes.

    Classes are split by the Gini index or the entropy. Two classes with the Gini index use the mean
    of their indicator minus one half, of which the index is twice the decrease. Numbers are split
    by the sum of squares, centred so that the un-centred criterion does not depend on their mean.
    With an offset, and for survival times, the negative gradient at the null model replaces the
    response; for times, these are the log-rank scores of Hothorn and Lausen (2003).
    """
    family, y = problem.family, problem.y
    if not problem.splits_classes:
        if criterion == "entropy":
            raise MethodError(
                '`criterion="entropy"` needs a response with classes and no offset.\n'
                f"  Found: family {family.name!r}"
                f'{"" if problem.offset is None else " and an offset"}. Use "gini", which is the'
                " sum of squares here."
            )
        residual = problem.gradient(weight)
        centred = residual - np.average(residual, weights=weight)
        return target_of_mean(centred, weight), False
    if family.n_classes > 2 or criterion == "entropy":
        entropy = criterion == "entropy"
        return target_of_classes(y, family.n_classes, weight, entropy=entropy), True
    return target_of_mean(y - _HALF, weight), False


def grow_shared(task: Task, rules: SharedRules, scale: FloatArray) -> SharedForest:
    """Grow trees one after the other; a unit that one tree uses is open to all later trees."""
    problem, weight, seed = task.problem, task.weight, task.seed
    data, groups = problem.exact or problem.data, problem.groups
    target, has_classes = forest_target(problem, weight, rules.criterion)
    counts, rank = copies(weight), groups.ranks(seed)
    penalty = SplitPenalty(
        scale[groups.ids], np.zeros(len(groups.ids)), uncentred=rules.uncentred,
        level=_HALF**2 if problem.splits_classes else 0.0,
    )  # fmt: skip
    is_open = groups.keep.copy()
    gains = np.zeros(data.n_groups)
    outside = np.zeros((len(problem.y), problem.family.n_classes if has_classes else 1))
    seen = np.zeros(len(problem.y))
    for first in range(0, rules.n_trees, _TREES_AT_ONCE):
        own_seed = stream_seed(seed, "trees", first)
        forest = bagged_forest(
            data, target, counts, n_trees=min(_TREES_AT_ONCE, rules.n_trees - first),
            growth=rules.growth, seed=own_seed, rank=rank, sampling=rules.sampling,
            penalty=penalty, is_open=is_open, shared=True,
        )  # fmt: skip
        gains += group_gains(forest.trees, data).sum(axis=0)
        if problem.wants_scores:
            total, n_trees = _totals(forest)
            outside, seen = outside + total, seen + n_trees
    if not gains.any():
        # A root alone predicts the mean of its bag, which falls as the out-of-bag response rises.
        return SharedForest(gains, null_score(problem, weight))
    return SharedForest(gains / rules.n_trees, _outside(problem, weight, outside, seen).score)


def boosted_step(
    problem: Problem,
    weight: WeightArray,
    tuning: float,
    gains: FloatArray,
    fitted: FloatArray,
    held: FloatArray | None = None,
) -> Step:
    """The step of a boosted ensemble; without a split, with the score of the null model."""
    rows = weight > 0
    score = problem.family.score(problem.y[rows], fitted[rows], weight[rows])
    if not gains.any():
        score = null_score(problem, weight)
    return step_of_gains(tuning, gains, problem.groups.keep, score, held)


def null_score(problem: Problem, weight: WeightArray) -> float:
    """Score of the null model; computed if it is not constant, or the score is user-defined."""
    known = problem.offset is None and not np.isnan(problem.family.null_score)
    if known or not problem.wants_scores:
        return problem.family.null_score
    return problem.family.score(problem.y, problem.family.mean(problem.constant(weight)), weight)


def _outside(
    problem: Problem, weight: WeightArray, total: FloatArray, seen: FloatArray | IntArray
) -> OutOfBagFit:
    """The means of the out-of-bag predictions, NaN without predictions or weight, and their score;
    NaN if there is none."""
    family, rows = problem.family, (seen > 0) & (weight > 0)
    mean = total / np.maximum(seen, 1)[:, np.newaxis]
    if not problem.splits_classes:
        mean = problem.mean_beside(weight, mean[:, 0])
    elif family.n_classes > 2:
        # Few trees with pure leaves would predict 0 or 1: class shares count as one more vote.
        shares = np.bincount(problem.y.astype(np.int64), weight, family.n_classes) / weight.sum()
        mean = (total + shares) / (seen[:, np.newaxis] + 1)
    else:
        mean = mean[:, -1] + _HALF * (total.shape[1] == 1)
    mean[~rows] = np.nan
    score = family.score(problem.y[rows], mean[rows], weight[rows]) if rows.any() else np.nan
    return OutOfBagFit(score, mean)
