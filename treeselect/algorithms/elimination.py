"""Recursive elimination: the least important units go, and a new forest judges the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeselect.algorithms.base import Problem, Step
from treeselect.algorithms.options import check_number, refuse_costs
from treeselect.algorithms.ranking import (
    MeasuredForest,
    RankingForest,
    first_units,
    ranked_step,
    ranking,
)
from treeselect.design import BoolArray, WeightArray
from treeselect.engine.random import stream_seed

_ONE_BY_ONE = 30
"""Units from which on one goes at a time."""


@dataclass(frozen=True, kw_only=True)
class RecursiveElimination(RankingForest):
    """Recursive feature elimination by forests (RFE).

    A forest is grown on all units, the least important ones go, and so on until none is left. Near
    copies share their importance as long as all of them are in: of three, two have gone before
    weaker units are in danger, but the last two may well outlive these.

    Parameters
    ----------
    share : float, optional
        Share of the units that is left at the end, above 0, at most 1; at least one unit. None: the
        number of units decides; ``k="1se"`` is then the choice that varSelRF [2]_ makes by the
        out-of-bag error, by cross-validation.
    step : float
        Share of the units that go at a time, above 0, at most 0.9, as long as more than 30 are
        left; then they go one by one.
    kind, n_trees, mtry, max_depth, min_leaf, prune
        As for :class:`ForestImportance`, of each forest.

    Raises
    ------
    MethodError
        If an option is not in its range, or there are `costs`.

    Notes
    -----
    [1]_ with the importances of forests in place of the weights of a linear machine; each forest
    is grown with seeds of its own. Units that no tree splits on go at once. Training scores are
    out-of-bag scores of a forest of 100 trees on the units of the step, grown as the final one.

    References
    ----------
    .. [1] I. Guyon, J. Weston, S. Barnhill, V. Vapnik (2002). Gene selection for cancer
       classification using support vector machines. Machine Learning 46, 389-422.
    .. [2] R. Diaz-Uriarte, S. Alvarez de Andres (2006). Gene selection and classification of
       microarray data using random forest. BMC Bioinformatics 7, 3.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="rfe", k=3, n_trees=50, seed=1)
    >>> "sex" in fit.selected
    True
    """

    share: float | None = None
    step: float = 0.2
    n_trees: int = 200

    name: ClassVar[str] = "rfe"
    title: ClassVar[str] = "Recursive elimination by forests (RFE)"
    paper: ClassVar[str] = (
        "I. Guyon, J. Weston, S. Barnhill, V. Vapnik (2002). Gene selection for cancer "
        "classification using support vector machines. Machine Learning 46, 389-422."
    )
    tuning_name: ClassVar[str] = "share"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "share", above=0.0, most=1.0, optional=True)
        check_number(self, "step", above=0.0, most=0.9)

    @property
    def tuning_value(self) -> float | None:
        """The fixed share that is left, None for the path."""
        return self.share

    def path(
        self,
        problem: Problem,
        weight: WeightArray,
        *,
        max_size: int,
        seed: int,
        every_size: bool = True,
        n_threads: int = 1,
    ) -> tuple[Step, ...]:
        """Path of the units that are left (see ``base.SelectionMethod``)."""
        refuse_costs(self, problem.groups)
        n = len(problem.groups.names)
        if self.share is None:
            last, most = 0, self.longest(max_size, n)
        else:
            last = most = max(round(self.share * n), 1)
        found = self._eliminate(problem, weight, seed, last, n_threads)
        # Where none is of the largest size that is wanted, the next larger one has to be there.
        sizes = [int(left.sum()) for left, _ in found]
        enough = min((size for size in sizes if size >= most), default=max(sizes))
        steps = []
        for left, forest in reversed(found):
            if left.sum() <= enough:
                is_empty = not (left & ~problem.groups.keep).any()
                tuning = np.inf if is_empty else self.share or float(left.sum()) / n
                score = self.scored(problem, weight, left, seed=seed, n_threads=n_threads)
                steps.append(ranked_step(tuning, left, forest.importance, score))
        if self.share is not None:
            return self.path_at(steps[0], problem, weight, seed=seed)
        return self.path_along(steps, problem, weight, max_size=max_size, seed=seed)

    def _eliminate(
        self, problem: Problem, weight: WeightArray, seed: int, last: int, n_threads: int
    ) -> list[tuple[BoolArray, MeasuredForest]]:
        """Sets from the largest to the one of `last` units, or of the kept ones, with what their
        forests tell."""
        groups = problem.groups
        left, ranks = np.ones(len(groups.names), dtype=bool), groups.ranks(seed)
        found: list[tuple[BoolArray, MeasuredForest]] = []
        while True:
            own_seed = stream_seed(seed, "elimination", int(left.sum()))
            forest = self.measure(problem, weight, left, seed=own_seed, n_threads=n_threads)
            order = ranking(forest.importance, groups.keep, ranks)
            if len(order) < left.sum():
                left = first_units(order, len(order), len(left))
            found.append((left, forest))
            size = self._next_size(int(left.sum()), max(last, int(groups.keep.sum())))
            if size is None:
                return found
            left = first_units(order, size, len(left))

    def _next_size(self, size: int, last: int) -> int | None:
        """How many units are left after the next ones have gone; None if none has to go."""
        if size <= last:
            return None
        gone = int(self.step * size) if size > _ONE_BY_ONE else 1
        return max(size - max(gone, 1), min(_ONE_BY_ONE, size - 1), last)
