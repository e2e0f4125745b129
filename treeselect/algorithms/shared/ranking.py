"""Forests that rank units by importance, as shared by several methods."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treeselect.algorithms.shared.ending import RefinedMethod
from treeselect.algorithms.shared.options import (
    MOST_DEPTH,
    MOST_LEAF,
    MOST_UNITS,
    check_choice,
    check_integer,
)
from treeselect.algorithms.shared.scoring import (
    SCORED_TREES,
    GrownForest,
    OutOfBagFit,
    grown_forest,
    out_of_bag_fit,
    score_of,
)
from treeselect.algorithms.shared.task import Task
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.ensembles.permutation import (
    Importance,
    out_of_bag_gains,
    permutation_importance,
)
from treeselect.engine.growing.growth import UNBOUNDED, Growth
from treeselect.engine.growing.nodes import group_gains
from treeselect.models.capacity import usual_candidates

Kind = Literal["unbiased", "mdi", "permutation"]
_TREES, _LEAST_TREES, _MOST_TREE_ROWS = 500, 50, 10_000_000
"""Trees by default, where few; fewer, but at least so many, where rows times trees would be more
than this: an importance is a mean over the rows of all trees."""

KINDS: tuple[Kind, ...] = ("unbiased", "mdi", "permutation")


@dataclass(frozen=True, slots=True)
class MeasuredForest:
    """Importances from a forest, without its trees.

    Attributes
    ----------
    importance : ndarray of float, shape (n_groups,)
        Negative if a unit worsens out-of-bag predictions; minus infinity if no tree splits on it.
    standard_error : ndarray of float, shape (n_groups,)
        Standard error of the importance over the trees; NaN if no tree splits on the unit, and for
        ``"mdi"``.
    """

    importance: FloatArray
    standard_error: FloatArray


@dataclass(frozen=True, kw_only=True)
class RankingForest(RefinedMethod):
    """Options of methods that rank units by ordinary forests."""

    kind: Kind = "unbiased"
    n_trees: int | None = None
    mtry: int | None = None
    max_depth: int | None = None
    min_leaf: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self, "kind", KINDS)
        check_integer(self, "n_trees", least=2, optional=True)
        check_integer(self, "mtry", least=1, limit=MOST_UNITS, optional=True)
        check_integer(self, "max_depth", least=1, limit=MOST_DEPTH, optional=True)
        check_integer(self, "min_leaf", least=1, limit=MOST_LEAF)

    def measure(self, task: Task, groups: BoolArray) -> MeasuredForest:
        """Grow a forest on some units and measure their importance.

        Trees are grown on bootstrap samples of the distinct rows, or of whole clusters; with an
        offset, on the negative gradient at the null model.
        """
        return self._measured(self._grow(task, groups), groups, task.n_threads)

    def judge(self, task: Task, groups: BoolArray) -> tuple[MeasuredForest, OutOfBagFit]:
        """Importances, and the out-of-bag predictions of the forest."""
        grown = self._grow(task, groups)
        measured = self._measured(grown, groups, task.n_threads)
        return measured, out_of_bag_fit(grown, task.problem, task.weight)

    def scored(self, task: Task, groups: BoolArray) -> float:
        """Out-of-bag score of a forest of at most 100 trees on some units (see ``score_of``)."""
        return score_of(task, groups, min(self.n_trees or _TREES, SCORED_TREES))

    def _grow(self, task: Task, groups: BoolArray) -> GrownForest | None:
        rules = functools.partial(self._growth, task.problem)
        return grown_forest(task, groups, self.n_trees or _usual_trees(task), rules)

    def _measured(
        self, grown: GrownForest | None, groups: BoolArray, n_threads: int
    ) -> MeasuredForest:
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
        tried = self.mtry or usual_candidates(problem.family, n)
        return Growth(self.max_depth or UNBOUNDED, self.min_leaf, tried, 0.0)

    def _importance(self, grown: GrownForest, gains: FloatArray, n_threads: int) -> Importance:
        if self.kind == "mdi":
            return Importance(gains, np.full(len(gains), np.nan))
        by = out_of_bag_gains if self.kind == "unbiased" else permutation_importance
        return by(
            grown.trees, grown.data, grown.target, grown.counts, grown.sampling, grown.seed,
            n_threads,
        )  # fmt: skip


def _usual_trees(task: Task) -> int:
    n_rows = int((task.weight > 0).sum())
    return max(_LEAST_TREES, min(_TREES, _MOST_TREE_ROWS // max(n_rows, 1)))
