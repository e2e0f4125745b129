"""Stepwise selection for generalised linear and Cox models by an information criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.linalg import matrix_rank

from treeselect.algorithms.filters import row_mass
from treeselect.algorithms.linear.penalised import standard_columns
from treeselect.algorithms.options import choice, number, refuse_costs
from treeselect.algorithms.references import SCHWARZ_1978, VENABLES_2002, VOLINSKY_2000, Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import Step, Task, ranked_step
from treeselect.designs.problem import FinalModel
from treeselect.engine.arrays import BoolArray
from treeselect.engine.linear.glm import Glm, GlmFit
from treeselect.engine.threads import one_thread
from treeselect.errors import MethodError

Direction = Literal["both", "forward", "backward"]

_LESS = 1e-7
"""Least difference between criteria that counts."""


@dataclass(frozen=True, kw_only=True)
class Stepwise(RefinedMethod):
    """Stepwise regression: terms enter and leave a linear predictor by BIC or AIC.

    Terms enter and leave one at a time, as long as the criterion falls. The linear predictor
    includes no interactions and no curves except those in the formula, and terms that are
    informative only jointly are missed. P-values of the resulting model are not valid (see
    ``SelectionResult.inference``).

    Parameters
    ----------
    penalty : float, optional
        Penalty per coefficient, at least 0, in units of -2 log-likelihood: ``log(n)`` is BIC, 2 is
        AIC. The search ends where no step lowers the criterion, as in R's ``step(k = penalty)``,
        but interactions need no main effects. If None, `k` decides, and sets of the path are
        compared by BIC.
    direction : {"both", "forward", "backward"}
        ``"both"``: terms enter and leave, starting from those forced in; ``"forward"``: terms only
        enter; ``"backward"``: terms only leave, starting from all of them.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, if `costs` are given, or if there are too many columns for
        backward selection.

    Notes
    -----
    The criterion is -2 log-likelihood (for numeric responses, ``n log(RSS / n)``) plus the penalty
    for each coefficient [1]_ [2]_. A term enters and leaves with all its columns, those of
    :class:`Lasso`; a group (``groups=``) counts as one term. Each column counts that is not a
    linear combination of others; with more than two classes, it counts once for each class but one.
    A term that adds no coefficient, such as a copy, never enters. n is the sum of integer weights,
    which count copies of rows; other weights are scaled to mean 1. For right-censored times, the
    likelihood is Cox's partial likelihood with Efron ties, and n is the number of events [3]_.

    If `k` decides, the path continues after the criterion has begun to rise, always with the best
    term outside the set, until the requested size; beyond it, as long as the criterion falls, up to
    about twice that size. In between, a term leaves if this gives the best set of its size so far.
    For each size, the path has the best set by the criterion. The path ends when nothing is left to
    explain, for example at complete separation; from there on, no set is better than another. The
    tuning parameter of a step is the largest penalty at which no smaller set of the path is better
    (or that of an earlier step if smaller). The importance of a term is its share of the increases
    in -2 log-likelihood when each term is left out. The final model is a random forest on the
    selected terms, as for the other methods.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="stepwise", k=3, seed=1)
    >>> "sex" in fit.selected
    True
    """

    penalty: float | None = field(default=None, metadata=number(least=0.0))
    direction: Direction = field(default="both", metadata=choice("both", "forward", "backward"))

    name: ClassVar[str] = "stepwise"
    title: ClassVar[str] = "Stepwise regression"
    references: ClassVar[tuple[Reference, ...]] = (SCHWARZ_1978,)
    cited: ClassVar[tuple[Reference, ...]] = (SCHWARZ_1978, VENABLES_2002, VOLINSKY_2000)
    tuning_name: ClassVar[str] = "penalty"
    left_out: ClassVar[str] = "the others do not improve the fit"
    own_model: ClassVar[FinalModel | None] = "glm"
    reads_columns: ClassVar[bool] = True
    scores_out_of_bag: ClassVar[bool] = False

    def path(self, task: Task) -> tuple[Step, ...]:
        refuse_costs(self, task.problem.groups)
        with one_thread():
            search = Search(task, self)
            if self.penalty is not None:
                steps = [search.step_of(search.falling()[-1], self.penalty)]
            else:
                longest = self.longest(task)
                steps = search.steps(search.of_each_size(longest), longest)
        return self.revised(steps, task)


class Search:
    """Models of one problem that differ by one unit.

    Units are in the order in which ties are broken.
    """

    def __init__(self, task: Task, rules: Stepwise) -> None:
        problem, columns = task.problem, standard_columns(task)
        self._problem = problem
        self._rows, mass = row_mass(task.weights)
        self._weight = task.weight[self._rows]
        self._glm = Glm(
            columns.x,
            columns.start,
            problem.y[self._rows],
            mass,
            problem.family.loss,
            None if problem.offset is None else problem.offset[self._rows],
        )
        self._order, self._keep = columns.order, problem.groups.keep[columns.order]
        self._has_columns = np.diff(columns.start) > 0
        self._direction = rules.direction
        self._fits: dict[bytes, GlmFit] = {}
        size = problem.sample_size(task.weight) * (mass.sum() / self._weight.sum())
        bic = float(np.log(max(size, 1.0)))
        self._penalty = bic if rules.penalty is None else rules.penalty
        most = len(self._rows) - 1  # of columns with mean 0: the levels of a factor are dependent
        if rules.direction == "backward" and columns.x.shape[1] >= most == matrix_rank(columns.x):
            raise MethodError(
                '`direction="backward"` starts from all terms, which must leave degrees of freedom.'
                f'\n  Found: none, with {most + 1:,} rows. Use `direction="forward"`, or start with'
                " fewer terms."
            )

    def criterion(self, fit: GlmFit) -> float:
        return fit.misfit + self._penalty * fit.n_coefs

    def _is_less(self, fit: GlmFit, other: GlmFit) -> bool:
        return self.criterion(fit) < self.criterion(other) - _LESS

    def _lowest(self, fits: Sequence[GlmFit], default: GlmFit) -> GlmFit:
        lowest = fits[0] if fits else default
        for fit in fits[1:]:
            lowest = fit if self._is_less(fit, lowest) else lowest
        return lowest

    def falling(self) -> list[GlmFit]:
        """Fits from the first one to that from which no step lowers the criterion."""
        fits = [self._first()]
        while True:
            fit = fits[-1]
            moves = [self._best_without(fit), self._best_with(fit)]
            without = moves[0]
            if without is not None and without.n_coefs == fit.n_coefs:
                fits.append(without)  # a unit without coefficients is dropped first
                continue
            best = self._lowest([m for m in moves if m is not None], fit)
            if not self._is_less(best, fit):
                return fits
            fits.append(best)

    def of_each_size(self, longest: int) -> dict[int, GlmFit]:
        """The best fit of each size in the search.

        It continues to the longest size and, if units may leave again, to twice that plus two as
        long as the criterion falls.
        """
        limit = longest if self._direction == "forward" else 2 * longest + 2
        fit = self._first()
        best = {_size(fit): fit}

        def is_best(move: GlmFit) -> bool:
            other = best.get(_size(move))
            return other is None or self._is_less(move, other)

        while True:
            without = self._best_without(fit)
            moves = [] if without is None or not is_best(without) else [without]
            more = self._best_with(fit) if _size(fit) < limit else None
            if more is not None and (_size(fit) < longest or self._is_less(more, fit)):
                moves.append(more)
            if not moves:
                return best
            fit = self._lowest(moves, fit)
            if is_best(fit):
                best[_size(fit)] = fit

    def steps(self, best: dict[int, GlmFit], longest: int) -> list[Step]:
        """Steps of the fits of increasing size, up to the first of at least `longest`."""
        sizes = sorted(best)
        enough = min((size for size in sizes if size >= longest), default=sizes[-1])
        fits = [best[size] for size in sizes if size <= enough]
        has_every_size = len(fits) == 1 + _size(fits[-1]) - self._keep.sum()
        found, tuning = [], np.inf
        for i, fit in enumerate(fits):
            tuning = min([tuning, *(_penalty_between(other, fit) for other in fits[:i])])
            found.append(self.step_of(fit, tuning, can_be_cut=not has_every_size))
        return found

    def step_of(self, fit: GlmFit, tuning: float, *, can_be_cut: bool = True) -> Step:
        """The step of a fit; of one that is neither told nor cut, importances do not matter."""
        problem, n = self._problem, len(self._order)
        selected, rise = np.zeros(n, dtype=bool), np.zeros(n)
        selected[self._order] = fit.groups
        units = np.flatnonzero(fit.groups)
        if len(units) and (can_be_cut or problem.wants_scores):
            rise[self._order[units]] = self._glm.removals(fit, units)[0] - fit.misfit
        mean = problem.family.mean(self._glm.eta(fit))
        score = problem.family.score(problem.y[self._rows], mean, self._weight)
        return ranked_step(tuning, selected | problem.groups.keep, rise, score)

    def _first(self) -> GlmFit:
        everything = self._keep | self._has_columns
        return self._fit(everything if self._direction == "backward" else self._keep)

    def _fit(self, groups: BoolArray, near: GlmFit | None = None) -> GlmFit:
        """The fit of a set, stored, as the search may return to it."""
        key = groups.tobytes()
        if key not in self._fits:
            self._fits[key] = self._glm.fit(groups, near)
        return self._fits[key]

    def _best_with(self, fit: GlmFit) -> GlmFit | None:
        """The best fit with one more unit; None if no unit adds anything."""
        others = np.flatnonzero(self._has_columns & ~fit.groups)
        if self._direction == "backward" or fit.misfit <= self._glm.best_misfit:
            return None
        misfit, added = self._glm.additions(fit, others, self._penalty)
        if not (added > 0).any():
            return None
        criterion = np.where(added > 0, misfit + self._penalty * added, np.inf)
        first = int(np.flatnonzero(criterion <= criterion.min() + _LESS)[0])
        groups = fit.groups.copy()
        groups[others[first]] = True
        return self._fit(groups, fit)

    def _best_without(self, fit: GlmFit) -> GlmFit | None:
        """The best fit with one unit fewer; ties go to the last by rank.

        A fit with the same number of coefficients comes first.
        """
        units = np.flatnonzero(fit.groups & ~self._keep)[::-1]
        if self._direction == "forward" or not len(units):
            return None
        misfit, gone = self._glm.removals(fit, units, self._penalty)
        criterion = np.where((gone == 0).any() & (gone > 0), np.inf, misfit - self._penalty * gone)
        first = int(np.flatnonzero(criterion <= criterion.min() + _LESS)[0])
        groups = fit.groups.copy()
        groups[units[first]] = False
        return self._fit(groups, fit)


def _size(fit: GlmFit) -> int:
    return int(fit.groups.sum())


def _penalty_between(small: GlmFit, large: GlmFit) -> float:
    """The largest penalty at which the smaller fit is not better."""
    if large.n_coefs <= small.n_coefs:
        return np.inf if large.misfit <= small.misfit else 0.0
    return max((small.misfit - large.misfit) / (large.n_coefs - small.n_coefs), 0.0)
