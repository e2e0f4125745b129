"""Elimination: the least important units are removed, and the others are judged anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from treeselect.algorithms.forests.ranking import Kind, RankingForest
from treeselect.algorithms.options import number, refuse_costs
from treeselect.algorithms.references import DIAZ_2006, GUYON_2002, Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import Step, Task, first_units, ranked_step, ranking
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import at_least, first_smallest, largest_in_row
from treeselect.engine.tree.used_groups import can_split
from treeselect.errors import MethodError

_ONE_BY_ONE = 30
"""Number of units from which they are removed one at a time."""


Judge = Callable[[BoolArray], FloatArray]
"""Importances of the units of a set, minus infinity for useless ones; shape (n_groups,)."""


def path_of_shares(
    method: RefinedMethod,
    step: float,
    task: Task,
    judge: Judge,
    score: Callable[[Task, BoolArray], float],
) -> tuple[Step, ...]:
    """Path of the remaining units, or those of a fixed share (see ``Method.path``)."""
    groups, share = task.problem.groups, method.tuning_value
    refuse_costs(method, groups)
    able = can_split(task.problem.data, task.weight) | groups.keep
    n = int(able.sum())
    last, most = 0, method.longest(task)
    if share is not None:
        last = most = max(round(float(share) * n), 1)
    last = max(last, int(groups.keep.sum()))
    found = eliminate(judge, able, task, lambda size: fewer(size, last, step))
    # If no set has the largest size that is wanted, the next larger one is needed.
    sizes = [int(left.sum()) for left, _ in found]
    enough = min((size for size in sizes if size >= most), default=max(sizes))
    steps = []
    for left, importance in reversed(found):
        if left.sum() <= enough:
            is_empty = not (left & ~groups.keep).any()
            tuning = np.inf if is_empty else float(share or left.sum() / n)
            steps.append(ranked_step(tuning, left, importance, score(task, left)))
    return method.revised(steps if share is None else steps[:1], task)


def eliminate(
    judge: Judge, first: BoolArray, task: Task, next_size: Callable[[int], int | None]
) -> list[tuple[BoolArray, FloatArray]]:
    """Nested sets from the largest on, each with the importances of its units."""
    left, groups = first, task.problem.groups
    found: list[tuple[BoolArray, FloatArray]] = []
    while True:
        importance = judge(left)
        order = ranking(importance, groups.keep, groups.ranks(task.seed))
        if len(order) < left.sum():
            left = first_units(order, len(order), len(left))
        found.append((left, importance))
        size = next_size(int(left.sum()))
        if size is None:
            return found
        left = first_units(order, size, len(left))


def fewer(size: int, last: int, share: float) -> int | None:
    """Number of units after the next removal: of a share, or of one unit of at most 30; None at the
    end.
    """
    if size <= last:
        return None
    gone = int(share * size) if size > _ONE_BY_ONE else 1
    return max(size - max(gone, 1), min(_ONE_BY_ONE, size - 1), last)


# --- Recursive elimination: the least important units leave, and a new forest judges the rest ----


@dataclass(frozen=True, kw_only=True)
class RecursiveElimination(RankingForest):
    """Recursive feature elimination with random forests (RFE).

    A forest is grown on all terms, the least important are removed, and a new forest is grown on
    the rest, until no term is left. Near-duplicate terms share their importance while all of them
    are present. Of three duplicates, two are removed before weaker terms are at risk, but the last
    two may outlast these.

    Parameters
    ----------
    share : float, optional
        Share of the terms that remains at the end, above 0, at most 1; at least one term. If None,
        `k` decides. ``k="1se"`` then applies by cross-validation the rule that varSelRF [2]_
        applies to the out-of-bag error.
    step : float
        Share of the terms removed at a time, above 0, at most 0.9, while more than 30 remain; then
        terms are removed one at a time.
    kind, n_trees, mtry, max_depth, min_leaf, prune, refine
        As for :class:`ForestImportance`, for each forest.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs` are given.

    Notes
    -----
    The procedure is that of [1]_, with the importance in a forest in place of the weights of a
    support vector machine. Each forest has its own seed. Terms on which no tree splits are removed
    at once. The training score is the out-of-bag score of a forest of at most 100 trees on the
    terms of the step, grown like the final model. Right-censored times are handled as in
    :class:`ForestImportance`. A group (``groups=``) counts as one term.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="rfe", k=3, n_trees=50, seed=1)
    >>> "sex" in fit.selected
    True
    """

    share: float | None = field(default=None, metadata=number(above=0.0, most=1.0))
    step: float = field(default=0.2, metadata=number(above=0.0, most=0.9))
    n_trees: int = 200

    name: ClassVar[str] = "rfe"
    title: ClassVar[str] = "Recursive feature elimination with random forests (RFE)"
    references: ClassVar[tuple[Reference, ...]] = (GUYON_2002,)
    cited: ClassVar[tuple[Reference, ...]] = (GUYON_2002, DIAZ_2006)
    tuning_name: ClassVar[str] = "share"

    def path(self, task: Task) -> tuple[Step, ...]:

        def judge(left: BoolArray) -> FloatArray:
            return self.measure(task.seeded("elimination", int(left.sum())), left).mean

        return path_of_shares(self, self.step, task, judge, self.scored)


# --- varSelRF: elimination in the order of one forest, as far as the out-of-bag error allows -----

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

    c_sd: float | None = field(default=None, metadata=number(least=0.0))
    step: float = field(default=0.2, metadata=number(above=0.0, most=0.9))
    kind: Kind = "permutation"

    name: ClassVar[str] = "varselrf"
    title: ClassVar[str] = "Backward elimination by out-of-bag error (varSelRF)"
    references: ClassVar[tuple[Reference, ...]] = (DIAZ_2006,)
    tuning_name: ClassVar[str] = "c_sd"

    def path(self, task: Task) -> tuple[Step, ...]:
        groups = task.problem.groups
        refuse_costs(self, groups)
        found = self._eliminate(task)
        if self.c_sd is None:
            steps = _steps_of(found, groups.keep)
            longest = self.longest(task)
            enough = min((s.size for s in steps if s.size >= longest), default=steps[-1].size)
            return self.revised([step for step in steps if step.size <= enough], task)
        # A set with only the units that are forced in is a candidate, too.
        steps = _steps_of(found, np.zeros_like(groups.keep))
        last = next(i for i, s in enumerate(steps) if s.tuning <= self.c_sd or s is steps[-1])
        chosen = dataclasses.replace(steps[last], tuning=self.c_sd)
        if self.begins_above:
            return self.revised([chosen], task)
        return (*steps[:last], chosen)

    def _eliminate(self, task: Task) -> list[tuple[BoolArray, JudgedSet]]:
        """Sets from the largest on, with their errors."""
        problem, keep = task.problem, task.problem.groups.keep
        first: FloatArray | None = None
        judged: list[JudgedSet] = []

        def judge(left: BoolArray) -> FloatArray:
            nonlocal first
            grower = self if first is None else dataclasses.replace(self, kind="mdi")
            forest, outside = grower.judge(task.seeded("elimination", int(left.sum())), left)
            first = forest.mean if first is None else first
            importance = np.where(left, first, -np.inf)
            errors = out_of_bag_error(problem, task.weights, outside.fitted)
            judged.append(JudgedSet(importance, *errors, outside.score))
            return importance

        n_kept = int(keep.sum())

        def next_size(size: int) -> int | None:
            if self.c_sd is None:
                return fewer(size, n_kept, self.step)
            last = max(n_kept, _LEAST_UNITS)
            gone = max(round(self.step * size), 1)
            return max(size - gone, last) if size > last else None

        found = eliminate(judge, can_split(problem.data, task.weight) | keep, task, next_size)
        return [(left, own) for (left, _), own in zip(found, judged, strict=True)]


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A set, and its forest's assessment."""

    importance: FloatArray  # (n_groups,): by which the next units are removed
    error: float  # see :func:`out_of_bag_error`
    standard_error: float  # see :func:`out_of_bag_error`
    train_score: float  # score of the out-of-bag predictions


def out_of_bag_error(
    problem: Problem, weights: RowWeights, fitted: FloatArray
) -> tuple[float, float]:
    """Mean error of the rows with a prediction, and its standard error over rows or clusters."""
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
