"""Forests that rank units by importance, as shared by several methods."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from treeselect.algorithms.forests.scoring import (
    SCORED_TREES,
    GrownForest,
    OutOfBagFit,
    grown_forest,
    out_of_bag_fit,
    score_of,
)
from treeselect.algorithms.options import (
    MOST_DEPTH,
    MOST_LEAF,
    MOST_UNITS,
    choice,
    integer,
    number,
    refuse_costs,
)
from treeselect.algorithms.references import Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import Step, Task, first_units, ranked_step, ranking
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

    kind: Kind = field(default="unbiased", metadata=choice(*KINDS))
    n_trees: int | None = field(default=None, metadata=integer(least=2))
    mtry: int | None = field(default=None, metadata=integer(least=1, limit=MOST_UNITS))
    max_depth: int | None = field(default=None, metadata=integer(least=1, limit=MOST_DEPTH))
    min_leaf: int = field(default=1, metadata=integer(least=1, limit=MOST_LEAF))

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


# --- Random forest importance: the baseline in widest use ----------------------------------------


@dataclass(frozen=True, kw_only=True)
class ForestImportance(RankingForest):
    """Random forest importance: terms ranked by their importance in one forest.

    This baseline is in wide use. Near-duplicate terms share their importance, so they either enter
    together or are all masked.

    Parameters
    ----------
    threshold : float, optional
        Least importance of a selected term, relative to the largest; at most 1. A negative value
        also admits terms that worsen out-of-bag predictions. If None, `k` decides.
    kind : {"unbiased", "mdi", "permutation"}
        ``"unbiased"``: mean decrease in impurity on the rows out of each tree's bag [2]_, about 0
        for terms without information. ``"mdi"``: the same on the rows in the bag [1]_, as in other
        software; it favours terms with many values, so that noise may outrank a true binary term.
        ``"permutation"``: increase of the out-of-bag error when the term is permuted [1]_, all its
        columns together.
    n_trees : int, optional
        Trees, 2 to 1,000,000. By default 500, and fewer on more than 20,000 rows: rows times trees
        are at most ten million, but there are 50 trees at least.
    mtry : int, optional
        Terms tried at each node. The default is the square root of the number of terms for classes
        and a third of it for other responses, rounded up.
    max_depth : int, optional
        Maximum depth. By default, trees are fully grown.
    min_leaf : int
        Minimum number of rows in a leaf, at least 1.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs` are given.

    Notes
    -----
    The tuning parameter of a step is the relative importance of its last term. The training score
    is the out-of-bag score of a forest of at most 100 trees on the terms of the step, grown like
    the final model on at most 50,000 rows. Terms on which no tree splits are not selected, unless
    they are forced in. A group (``groups=``) counts as one term. For right-censored times, as in
    all forests of this package, trees split the martingale residuals of the null model, within
    strata: the log-rank scores of Hothorn and Lausen (2003).

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45, 5-32.
    .. [2] X. Li, Y. Wang, S. Basu, K. Kumbier, B. Yu (2019). A debiased MDI feature importance
       measure for random forests. NeurIPS 2019.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="importance", k=3, n_trees=50, seed=1)
    >>> "sex" in fit.selected
    True
    """

    threshold: float | None = field(default=None, metadata=number(most=1.0))

    name: ClassVar[str] = "importance"
    title: ClassVar[str] = "Random forest importance"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("L. Breiman",),
            2001,
            "Random forests",
            journal="Machine Learning",
            volume="45",
            pages="5-32",
        ),
    )
    tuning_name: ClassVar[str] = "threshold"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units along a decreasing threshold (see ``Method.path``)."""
        groups = task.problem.groups
        refuse_costs(self, groups)
        n = len(groups.names)
        forest = self.measure(task.seeded("ranking"), np.ones(n, dtype=bool))
        relative = _relative(forest.importance)
        order = ranking(forest.importance, groups.keep, groups.ranks(task.seed))
        n_kept = int(groups.keep.sum())

        def step_of_first(size: int, tuning: float) -> Step:
            selected = first_units(order, size, n)
            score = self.scored(task, selected)
            return ranked_step(tuning, selected, forest.importance, score)

        if self.threshold is not None:
            passed = int((groups.keep | (relative >= self.threshold)).sum())
            step = step_of_first(passed, self.threshold)
            return self.path_at(step, task)
        longest = min(self.longest(task), len(order))
        steps = [
            step_of_first(size, float(relative[order[size - 1]]) if size > n_kept else np.inf)
            for size in range(n_kept, longest + 1)
        ]
        return self.path_along(steps, task)


def _relative(importance: FloatArray) -> FloatArray:
    """Importance relative to the largest; minus infinity for all if none is above 0."""
    largest = importance.max(initial=-np.inf)
    if not largest > 0:
        return np.full(len(importance), -np.inf)
    return np.asarray(importance / largest)
