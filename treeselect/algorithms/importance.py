"""Random forest importance: the baseline in widest use."""

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
