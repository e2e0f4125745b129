"""The group lasso over terms: the linear baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from treeselect.algorithms.shared.base import Step, ranked_step
from treeselect.algorithms.shared.ending import RefinedMethod
from treeselect.algorithms.shared.options import check_number
from treeselect.algorithms.shared.references import Reference
from treeselect.algorithms.shared.standardised import LinearColumns, linear_columns
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.blas import one_thread
from treeselect.engine.linear.group_lasso import GroupLasso, LinearFit
from treeselect.engine.row_losses import explicable

_GRID = 10.0 ** -np.linspace(0, 4, 101)
"""Penalties of the path, relative to that at which nothing enters."""

_HALVINGS = 6
"""Bisections between two penalties to find sizes between theirs."""

_FITTED = 1e-3
"""Share of the null model's loss at which the path ends, as nothing is left to explain."""


@dataclass(frozen=True, kw_only=True)
class Lasso(RefinedMethod):
    """Group lasso: all columns of a term enter a linear predictor together.

    This is the linear baseline: it includes no interactions and no curves except those in the
    formula. Of exact copies, one is selected.

    Parameters
    ----------
    lam : float, optional
        Penalty, positive, in units of the mean loss (log loss, Poisson loss, half the squared
        error, or minus the log partial likelihood divided by the sum of the weights). It equals
        ``alpha`` of scikit-learn's ``Lasso`` and ``1 / (C * n)`` of its ``LogisticRegression``. If
        None, `k` decides.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range.

    Notes
    -----
    Minimises ``mean loss + lam * sum_g cost_g * sqrt(columns_g) * |b_g|`` over the coefficients b_g
    of the terms g [1]_ (for two classes, as in [2]_). For right-censored times, the loss is Cox's
    partial likelihood with Efron ties, without an intercept (glmnet uses Breslow ties). With more
    than two classes, there is a coefficient vector per class, and all vectors of a term enter
    together. Columns are standardised to mean 0 and variance 1. A factor has an indicator for each
    level, missing included. Missing numbers are set to the median, with an indicator in the same
    term. All of this is estimated on the rows with positive weight. A group (``groups=``) counts as
    one term. A cost shared by several terms is charged to each of them; terms that are free or
    forced in are not penalised. The importance of a term is the standard deviation of its
    contribution to the linear predictor. For each size, the path has the last solution before the
    set changes. The final model is a random forest on the selected terms, as for the other methods.

    References
    ----------
    .. [1] M. Yuan, Y. Lin (2006). Model selection and estimation in regression with grouped
       variables. Journal of the Royal Statistical Society B 68, 49-67.
    .. [2] L. Meier, S. van de Geer, P. Buhlmann (2008). The group lasso for logistic regression.
       Journal of the Royal Statistical Society B 70, 53-71.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="lasso", k=3, seed=1)
    >>> "sex" in fit.selected
    True
    """

    lam: float | None = None

    name: ClassVar[str] = "lasso"
    title: ClassVar[str] = "Group lasso"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("M. Yuan", "Y. Lin"),
            2006,
            "Model selection and estimation in regression with grouped variables",
            journal="Journal of the Royal Statistical Society B",
            volume="68",
            pages="49-67",
        ),
    )
    tuning_name: ClassVar[str] = "lam"
    splits_exactly: ClassVar[bool] = False
    reads_columns: ClassVar[bool] = True
    scores_out_of_bag: ClassVar[bool] = False
    left_out: ClassVar[str] = "the others do not improve the fit"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "lam", above=0.0, optional=True)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units along a decreasing penalty (see ``Method.path``)."""
        with one_thread():
            fits = LassoFits(task)
            if self.lam is not None:
                return self.path_at(fits.at(self.lam), task)
            longest = self.longest(task)
            steps = fits.path(
                longest, least=0 if task.every_size or self.begins_above else task.max_size
            )
        steps = _last_of_each_set(steps)
        return self.path_along(steps, task)


class LassoFits:
    """Group-lasso fits of one problem at any penalty."""

    def __init__(self, task: Task) -> None:
        problem, weight = task.problem, task.weight
        assert problem.columns is not None
        self._problem = problem
        rows = np.flatnonzero(weight > 0)
        self._weight = weight[rows]
        # Of exact copies, the first takes the whole coefficient: this order breaks ties.
        order = np.argsort(problem.groups.ranks(task.seed))
        self._columns: LinearColumns = linear_columns(problem.columns, weight, order)
        prices = np.where(problem.groups.keep, 0.0, problem.groups.costs)[order]
        self._solver = GroupLasso(
            x=self._columns.x,
            start=self._columns.start,
            price=prices * np.sqrt(np.diff(self._columns.start)),
            y=problem.y[rows],
            share=self._weight / self._weight.sum(),
            loss=problem.family.loss,
            offset=None if problem.offset is None else problem.offset[rows],
        )
        self._first = self._solver.first()

    def at(self, lam: float) -> Step:
        """The step at a penalty."""
        return self._step(lam, self._solver.solve(lam, self._first))

    def path(self, most: int, least: int) -> list[Step]:
        """Steps until more than `most` units are selected, with sizes from `least` on."""
        top = self._solver.dearest(self._first)
        before = (top, self._first, self._step(np.inf, self._first))
        steps = [before[2]]
        able = int(((np.diff(self._columns.start) > 0) | self._keep_in_order()).sum())
        bound = _FITTED * self._loss_of(self._first)
        for share in _GRID[1:] if top > 0 else ():
            after = self._solved(top * share, before[1])
            steps += self._between(before, after, least, most, _HALVINGS)
            steps.append(after[2])
            size = after[2].size
            if size > most or size == able or self._loss_of(after[1]) < bound:
                break
            before = after
        return steps

    def _between(
        self,
        before: tuple[float, LinearFit, Step],
        after: tuple[float, LinearFit, Step],
        least: int,
        most: int,
        halvings: int,
    ) -> list[Step]:
        """Steps between two steps, if sizes between theirs are wanted."""
        first, last = max(before[2].size + 1, least), min(after[2].size - 1, most)
        if halvings == 0 or first > last:
            return []
        middle = self._solved(float(np.sqrt(before[0] * after[0])), before[1])
        return [
            *self._between(before, middle, least, most, halvings - 1),
            middle[2],
            *self._between(middle, after, least, most, halvings - 1),
        ]

    def _solved(self, lam: float, near: LinearFit) -> tuple[float, LinearFit, Step]:
        fit = self._solver.solve(lam, near)
        return lam, fit, self._step(lam, fit)

    def _step(self, tuning: float, fit: LinearFit) -> Step:
        problem, order = self._problem, self._columns.order
        worth = np.zeros(len(order))
        worth[order] = self._spreads(fit)
        selected = problem.groups.keep.copy()
        selected[order] |= self._solver.norms(fit) > 0
        score = problem.family.score(self._solver.y, problem.family.mean(fit.eta), self._weight)
        return ranked_step(tuning, selected, worth, score)

    def _spreads(self, fit: LinearFit) -> FloatArray:
        """Standard deviation of each unit's contribution to the linear predictor."""
        start, found = self._columns.start, np.zeros(len(self._columns.order))
        for i in np.flatnonzero(self._solver.norms(fit)):
            part = self._columns.x[:, start[i] : start[i + 1]] @ fit.coef[start[i] : start[i + 1]]
            found[i] = np.sqrt(self._solver.share @ (part**2).sum(axis=1))
        return found

    def _loss_of(self, fit: LinearFit) -> float:
        return explicable(self._solver.rows, fit.eta, self._weight)

    def _keep_in_order(self) -> BoolArray:
        return np.asarray(self._problem.groups.keep[self._columns.order])


def _last_of_each_set(steps: Sequence[Step]) -> list[Step]:
    """The last of consecutive steps with the same set, where new coefficients have had room to
    grow.

    The penalty of the first step, at which no unit with a cost has entered, stays infinite.
    """
    changes = [not np.array_equal(a.selected, b.selected) for a, b in pairwise(steps)]
    lasts = [step for step, changed in zip(steps[1:-1], changes[1:], strict=True) if changed]
    return [steps[0], *lasts, *steps[1:][-1:]]
