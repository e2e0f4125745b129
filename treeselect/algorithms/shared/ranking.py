"""Forests that rank units by their importance: what the baselines by forests have in common."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from treeselect.algorithms.shared.base import Step, shares
from treeselect.algorithms.shared.final import RefitsForest
from treeselect.algorithms.shared.options import (
    MOST_DEPTH,
    MOST_LEAF,
    MOST_UNITS,
    check_choice,
    check_flag,
    check_integer,
)
from treeselect.algorithms.shared.regularised import (
    forest_target,
    out_of_bag_mean,
    out_of_bag_score,
)
from treeselect.algorithms.shared.task import Task
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.data.binning import BinnedData, select_groups
from treeselect.engine.data.targets import Target, copies
from treeselect.engine.ensembles.forests import BOOTSTRAP, bagged_forest
from treeselect.engine.ensembles.out_of_bag import out_of_bag
from treeselect.engine.ensembles.permutation import (
    Importance,
    out_of_bag_gains,
    permutation_importance,
)
from treeselect.engine.growing.growth import UNBOUNDED, Growth
from treeselect.engine.growing.nodes import Trees, group_gains
from treeselect.engine.rounding import levels
from treeselect.engine.splitting.candidates import n_able

Kind = Literal["mdi", "unbiased", "permutation"]
KINDS: tuple[Kind, ...] = ("mdi", "unbiased", "permutation")

_SCORED_TREES = 100
"""Trees of the forests that tell the score of a set."""


@dataclass(frozen=True, slots=True)
class MeasuredForest:
    """What a forest tells of the units that it was grown on, without its trees.

    Attributes
    ----------
    importance : ndarray of float, shape (n_groups,)
        Below 0 where a unit did harm outside the bags; minus infinity for units that no tree splits
        on.
    standard_error : ndarray of float, shape (n_groups,)
        Of the importance, over the trees; NaN for the same units, and for the decrease of impurity.
    """

    importance: FloatArray
    standard_error: FloatArray


class OutOfBagFit(NamedTuple):
    """What a forest predicts for rows that a tree has not seen.

    Attributes
    ----------
    score : float
    fitted : ndarray of float, shape (n_rows,) or (n_rows, n_classes)
        Mean response of each row; NaN where all trees have seen it.
    """

    score: float
    fitted: FloatArray


@dataclass(frozen=True, slots=True)
class _Grown:
    """A forest, and what it was grown from."""

    trees: Trees
    data: BinnedData
    target: Target
    counts: IntArray
    seed: int


@dataclass(frozen=True, kw_only=True)
class RankingForest(RefitsForest):
    """Options of methods that rank units by ordinary forests."""

    kind: Kind = "mdi"
    n_trees: int = 500
    mtry: int | None = None
    max_depth: int | None = None
    min_leaf: int = 1

    def __post_init__(self) -> None:
        check_choice(self, "kind", KINDS)
        check_integer(self, "n_trees", least=2)
        check_integer(self, "mtry", least=1, limit=MOST_UNITS, optional=True)
        check_integer(self, "max_depth", least=1, limit=MOST_DEPTH, optional=True)
        check_integer(self, "min_leaf", least=1, limit=MOST_LEAF)
        check_flag(self, "prune")

    def measure(self, task: Task, groups: BoolArray) -> MeasuredForest:
        """Grow a forest on some units and measure these.

        The trees grow on bootstrap bags of the distinct rows. With an offset they grow on the
        negative gradient at the constant model.
        """
        return self._measured(self._grow(task, groups), groups, task.n_threads)

    def judge(self, task: Task, groups: BoolArray) -> tuple[MeasuredForest, OutOfBagFit]:
        """The same, and how well the forest predicts."""
        grown = self._grow(task, groups)
        measured = self._measured(grown, groups, task.n_threads)
        return measured, _out_of_bag_fit(grown, task.problem, task.weight)

    def scored(self, task: Task, groups: BoolArray) -> float:
        """Out-of-bag score of a forest of at most 100 trees on some units, with the leaves of the
        one that predicts; NaN if the problem wants no scores."""
        if not task.problem.wants_scores:
            return float("nan")
        few = dataclasses.replace(
            self, kind="mdi", n_trees=min(self.n_trees, _SCORED_TREES), mtry=None, max_depth=None,
            min_leaf=task.problem.family.min_leaf,
        )  # fmt: skip
        grown = few._grow(task.seeded("score"), groups)
        return _out_of_bag_fit(grown, task.problem, task.weight).score

    def _grow(self, task: Task, groups: BoolArray) -> _Grown | None:
        """A forest on some units, None if there are none."""
        problem, weight, seed = task.problem, task.weight, task.seed
        if not groups.any():
            return None
        part = select_groups(problem.data, groups)
        target, _ = forest_target(problem, weight, "gini")
        counts = copies(weight)
        trees = bagged_forest(
            part, target, counts, n_trees=self.n_trees,
            growth=self._growth(problem, n_able(part, weight)), seed=seed,
            rank=np.ascontiguousarray(problem.groups.ranks(seed)[groups]),
            sampling=BOOTSTRAP, n_threads=task.n_threads,
        )  # fmt: skip
        return _Grown(trees, part, target, counts, seed)

    def _measured(self, grown: _Grown | None, groups: BoolArray, n_threads: int) -> MeasuredForest:
        importance, error = np.full((2, len(groups)), np.nan)
        importance[:] = -np.inf
        if grown is not None:
            gains = group_gains(grown.trees, grown.data).mean(axis=0)
            found = self._importance(grown, gains, n_threads)
            used = np.flatnonzero(groups)[gains > 0]
            importance[used] = found.mean[gains > 0]
            error[used] = found.standard_error[gains > 0]
        return MeasuredForest(importance, error)

    def _growth(self, problem: Problem, n: int) -> Growth:
        has_classes = problem.family.has_classes
        usual = int(np.ceil(np.sqrt(n) if has_classes else n / 3))
        return Growth(self.max_depth or UNBOUNDED, self.min_leaf, self.mtry or usual, 0.0)

    def _importance(self, grown: _Grown, gains: FloatArray, n_threads: int) -> Importance:
        if self.kind == "mdi":
            return Importance(gains, np.full(len(gains), np.nan))
        by = out_of_bag_gains if self.kind == "unbiased" else permutation_importance
        return by(
            grown.trees, grown.data, grown.target, grown.counts, BOOTSTRAP, grown.seed, n_threads
        )


def _out_of_bag_fit(grown: _Grown | None, problem: Problem, weight: WeightArray) -> OutOfBagFit:
    if grown is None:
        return OutOfBagFit(problem.family.null_score, problem.family.mean(problem.constant(weight)))
    outside = out_of_bag(grown.trees, grown.data, grown.counts, BOOTSTRAP, grown.seed)
    total = np.nan_to_num(outside.prediction) * outside.n_trees[:, np.newaxis]
    seen = outside.n_trees.astype(np.float64)
    return OutOfBagFit(
        out_of_bag_score(problem, weight, total, seen),
        out_of_bag_mean(problem, weight, total, seen),
    )


SCORING = RankingForest(n_trees=_SCORED_TREES)
"""Scores the sets of methods that have no ensemble of their own whose score could be told."""


def ranking(importance: FloatArray, keep: BoolArray, ranks: IntArray) -> IntArray:
    """Units from the first to the last: kept ones, then the more important, then by their ranks.

    Units without any importance (minus infinity) are left out, unless they are kept.
    """
    order = np.lexsort((ranks, -levels(importance), ~keep))
    return np.asarray(order[(importance[order] > -np.inf) | keep[order]])


def first_units(order: IntArray, size: int, n_groups: int) -> BoolArray:
    """The first units of a ranking."""
    selected = np.zeros(n_groups, dtype=bool)
    selected[order[:size]] = True
    return selected


def ranked_step(
    tuning: float, selected: BoolArray, importance: FloatArray, train_score: float
) -> Step:
    """The step of a set, with the positive importances as shares."""
    worth = np.where(selected & np.isfinite(importance), np.maximum(importance, 0.0), 0.0)
    return Step(tuning, selected, shares(worth), train_score)
