"""The importances of a random forest: the baseline that most people use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeselect.algorithms.shared.base import Step, ranked_step
from treeselect.algorithms.shared.options import check_number, refuse_costs
from treeselect.algorithms.shared.orders import first_units, ranking
from treeselect.algorithms.shared.ranking import RankingForest
from treeselect.algorithms.shared.references import Reference
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class ForestImportance(RankingForest):
    """Units in the order of their importance in one random forest.

    The baseline that most people use. Near copies share their importance, so that it hides them
    where it does not let all of them in.

    Parameters
    ----------
    threshold : float, optional
        Least importance of a unit that is selected, relative to the largest, at most 1; below 0
        are units that do harm outside the bags. None: the number of units decides.
    kind : {"unbiased", "mdi", "permutation"}
        Mean decrease of impurity on the rows outside each tree's bag [2]_, about 0 for units that
        tell nothing; the same on the rows in the bag [1]_, as other software has it, which favours
        units of many values, so that noise comes before a true binary term; or by how much the
        error of the rows outside rises when the unit is permuted among them [1]_, all its columns
        together.
    n_trees : int
        Trees, 2 to 1,000,000.
    mtry : int, optional
        Units tried at a node; the root of their number, a third of it for numbers, rounded up, by
        default.
    max_depth : int, optional
        Greatest depth; trees grow fully by default.
    min_leaf : int
        Least number of rows in a leaf, at least 1.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is not in its range, or there are `costs`.

    Notes
    -----
    The tuning value of a step is the relative importance of its last unit. Training scores are
    those of a forest of 100 trees on the units of the step, grown as the final one. Units that no
    tree splits on are never selected. Of times to an event, as in all forests here, trees split the
    martingale residuals of the null model, within strata: the log-rank scores of Hothorn and Lausen
    (2003).

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

    threshold: float | None = None

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

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "threshold", most=1.0, optional=True)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units along a falling threshold (see ``Method.path``)."""
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
