"""varSelRF: elimination in the order of one forest, as far as the out-of-bag error allows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeselect.algorithms.shared.base import Step, ranked_step
from treeselect.algorithms.shared.elimination import eliminate, fewer
from treeselect.algorithms.shared.options import check_flag, check_number, refuse_costs
from treeselect.algorithms.shared.ranking import Kind, MeasuredForest, RankingForest
from treeselect.algorithms.shared.references import Reference
from treeselect.algorithms.shared.task import Task
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import at_least, first_smallest, largest_in_row
from treeselect.engine.splitting.candidates import can_split
from treeselect.errors import MethodError

_LEAST_UNITS = 2
"""Least number of units under the rule, as in the authors' package."""

_LEAST_MEAN = 1e-6
"""Lower bound of predicted counts."""


@dataclass(frozen=True, kw_only=True)
class VarSelRF(RankingForest):
    """Backward elimination by the out-of-bag error of forests (varSelRF).

    A forest ranks the terms once. The lowest-ranked share is removed at a time, and a forest on the
    remaining terms gives their out-of-bag error. The smallest set is selected whose error is close
    to the lowest. This error is computed on the rows that also ranked the terms, so it is
    optimistic and does not estimate the error on new rows.

    Parameters
    ----------
    c_sd : float, optional
        Number of standard errors by which the out-of-bag error may exceed the lowest one, at least
        0. The authors use 1, or 0 for larger sets. If None, `k` decides.
    step : float
        Share of the terms removed at a time, above 0, at most 0.9.
    recompute : bool
        Whether each forest ranks its terms anew, instead of the first forest ranking all. The error
        then falls further than it should [1]_.
    kind : {"permutation", "unbiased", "mdi"}
        Importance, as for :class:`ForestImportance`.
    n_trees, mtry, max_depth, min_leaf, prune, refine
        As for :class:`ForestImportance`, for each forest. The authors use 5,000 trees for the first
        forest and 2,000 for the others.

    Raises
    ------
    MethodError
        If an option is out of range, if `costs` are given, or if no row is out of bag of any tree.

    Notes
    -----
    With `c_sd`, the sets are those of the authors' package: ``round(step * n)`` of n
    terms are removed at a time, until two remain, and the smallest set is selected whose error is
    at most the lowest error plus `c_sd` times its standard error. If `k` decides, terms are removed
    one at a time once 30 remain. Errors are averaged over rows: the misclassification rate e with
    standard error ``sqrt(e (1 - e) / n)``; for numeric responses the mean squared error, for counts
    the mean deviance, for right-censored times that of the partial likelihood, with the standard
    deviation over rows divided by the square root of their number. With `fold_groups`, standard
    errors are over clusters. Forests for right-censored times are those of
    :class:`ForestImportance`. Integer weights count copies of rows. The tuning parameter of a step
    is the least `c_sd` at which its set or a smaller one is selected. Training scores are those of
    the set's own forest. Terms on which no tree of the ranking forest splits are removed at once. A
    group (``groups=``) counts as one term.

    References
    ----------
    .. [1] R. Diaz-Uriarte, S. Alvarez de Andres (2006). Gene selection and classification of
       microarray data using random forest. BMC Bioinformatics 7, 3.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select(
    ...     "survived ~ .", data, method="varselrf", c_sd=1, n_trees=50, seed=1
    ... )
    >>> "sex" in fit.selected
    True
    """

    c_sd: float | None = None
    step: float = 0.2
    recompute: bool = False
    kind: Kind = "permutation"

    name: ClassVar[str] = "varselrf"
    title: ClassVar[str] = "Backward elimination by out-of-bag error (varSelRF)"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("R. Diaz-Uriarte", "S. Alvarez de Andres"),
            2006,
            "Gene selection and classification of microarray data using random forest",
            journal="BMC Bioinformatics",
            volume="7",
            pages="3",
        ),
    )
    tuning_name: ClassVar[str] = "c_sd"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "c_sd", least=0.0, optional=True)
        check_number(self, "step", above=0.0, most=0.9)
        check_flag(self, "recompute")

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of the remaining units (see ``Method.path``)."""
        groups = task.problem.groups
        refuse_costs(self, groups)
        found = self._eliminate(task)
        if self.c_sd is None:
            steps = _steps_of(found, groups.keep)
            longest = self.longest(task)
            enough = min((s.size for s in steps if s.size >= longest), default=steps[-1].size)
            wanted = [step for step in steps if step.size <= enough]
            return self.path_along(wanted, task)
        # A set with only the units that are forced in is a candidate, too.
        steps = _steps_of(found, np.zeros_like(groups.keep))
        last = next(i for i, s in enumerate(steps) if s.tuning <= self.c_sd or s is steps[-1])
        chosen = dataclasses.replace(steps[last], tuning=self.c_sd)
        if self.begins_above:
            return self.path_at(chosen, task)
        return (*steps[:last], chosen)

    def _eliminate(self, task: Task) -> list[tuple[BoolArray, JudgedSet]]:
        """Sets from the largest on, with their errors."""
        problem, weight, groups = task.problem, task.weight, task.problem.groups
        first: MeasuredForest | None = None

        def judge(left: BoolArray) -> JudgedSet:
            nonlocal first
            ranks_units = self.recompute or first is None
            grower = self if ranks_units else dataclasses.replace(self, kind="mdi")
            own = task.seeded("elimination", int(left.sum()))
            forest, outside = grower.judge(own, left)
            first = first or forest
            by = forest if ranks_units else first
            importance = np.where(left, by.importance, -np.inf)
            error, standard_error = out_of_bag_error(problem, task.weights, outside.fitted)
            return JudgedSet(importance, error, standard_error, outside.score)

        n_kept = int(groups.keep.sum())

        def next_size(size: int) -> int | None:
            if self.c_sd is None:
                return fewer(size, n_kept, self.step)
            last = max(n_kept, _LEAST_UNITS)
            gone = max(round(self.step * size), 1)
            return max(size - gone, last) if size > last else None

        able = can_split(problem.data, weight) | groups.keep
        return eliminate(judge, able, groups.keep, groups.ranks(task.seed), next_size)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A set, and its forest's assessment.

    Attributes
    ----------
    importance : ndarray of float, shape (n_groups,)
        By which the next units are removed.
    error, standard_error : float
        See :func:`out_of_bag_error`.
    train_score : float
        Score of the out-of-bag predictions.
    """

    importance: FloatArray
    error: float
    standard_error: float
    train_score: float


def out_of_bag_error(
    problem: Problem, weights: RowWeights, fitted: FloatArray
) -> tuple[float, float]:
    """Mean error of the rows with a prediction, and its standard error over rows or clusters.

    Parameters
    ----------
    problem : Problem
    weights : RowWeights
    fitted : ndarray of float, shape (n_rows,) or (n_rows, n_classes)
        Mean response; NaN where there is none.

    Raises
    ------
    MethodError
        If no row has a prediction.
    """
    rows = weights.used & ~np.isnan(fitted.reshape(len(fitted), -1)[:, 0])
    if not rows.any():
        raise MethodError(
            "`n_trees` is too small: every tree is grown on all rows, and none is out of bag.\n"
            f"  Found: {int(weights.used.sum())} rows. Increase `n_trees`, or use more rows."
        )
    y, mean, mass = problem.y[rows], fitted[rows], weights.values[rows]
    loss = problem.family.loss
    if problem.family.has_classes:
        label = largest_in_row(mean) if mean.ndim == 2 else ~at_least(0.5, mean)
        errors = (label != y).astype(np.float64)
    elif loss.is_squared:
        errors = (y - mean) ** 2
    else:
        eta = problem.family.link(np.maximum(mean, _LEAST_MEAN))
        of_rows = loss.of(y, mass)
        errors = 2 * (of_rows.value(eta) - of_rows.least())
    n = mass.sum() if weights.are_copies else len(mass)
    error = float(np.average(errors, weights=mass))
    if (groups := weights.blocks) is not None:
        sums = np.bincount(groups[rows], mass * (errors - error))
        return error, float(np.sqrt(sums @ sums) / mass.sum())
    variance = float(np.average((errors - error) ** 2, weights=mass))
    return error, float(np.sqrt(variance / n))


def _steps_of(found: Sequence[tuple[BoolArray, JudgedSet]], given: BoolArray) -> list[Step]:
    """Steps from the smallest set on, with the least `c_sd` that leads to each.

    Sets with no units besides the given ones take no part in the rule.
    """
    in_rule = [judged for left, judged in found if (left & ~given).any()]
    errors = [judged.error for judged in in_rule]
    best = in_rule[first_smallest(errors)] if in_rule else found[-1][1]
    steps, so_far = [], np.inf
    for left, judged in reversed(found):
        if (left & ~given).any():
            so_far = min(so_far, _in_errors(best, judged))
        step = ranked_step(so_far, left, judged.importance, judged.train_score)
        steps.append(dataclasses.replace(step, error=judged.error))
    return steps


def _in_errors(best: JudgedSet, judged: JudgedSet) -> float:
    """By how many standard errors of the best set another set is worse."""
    if at_least(best.error, judged.error):
        return 0.0
    above = judged.error - best.error
    return above / best.standard_error if best.standard_error > 0 else np.inf
