"""SVM-RFE: recursive elimination by the weights of a linear support vector machine."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from treeselect.algorithms.forests.elimination import path_of_shares
from treeselect.algorithms.forests.scoring import score_of
from treeselect.algorithms.linear.lasso import linear_columns
from treeselect.algorithms.options import check_number, number
from treeselect.algorithms.references import GUYON_2002, Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import Step, Task
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.threads import one_thread
from treeselect.quiet import own_filters

_TOLERANCE = 1e-6
_MOST_STEPS = 100_000
"""Newton steps; the solver stops after a few dozen."""

_LEAST_C = 1e-12
"""Far below this, the solver does not terminate."""

_INTERCEPT = 10.0
"""The solver penalises the intercept like the weight of a column with this value."""

_DIGITS = 8
"""Digits of criteria that count: those of exact copies are equal up to rounding."""

_LEAST_CURVATURE = 1e-12
"""Of a row, relative to the mean: beside an extreme offset the square of what is divided by it must
still be a number."""


@dataclass(frozen=True, kw_only=True)
class SVMRFE(RefinedMethod):
    """Recursive feature elimination with a linear support vector machine (SVM-RFE).

    A machine is trained on all terms, those with the smallest weights are removed, and a new
    machine is trained on the rest, until no term is left. The machine includes no interactions and
    no curves except those in the formula. Near-duplicate terms share their weight while all of them
    are present.

    Parameters
    ----------
    share : float, optional
        Share of the terms that remains at the end, above 0, at most 1; at least one term. If None,
        `k` decides.
    step : float
        Share of the terms removed at a time, above 0, at most 0.9, while more than 30 remain; then
        terms are removed one at a time.
    C : float
        Cost of margin violations, 1e-12 to 1e12, as in scikit-learn's ``LinearSVC``.
    epsilon : float
        For responses without classes, the largest error that is not penalised, at least 0, in
        standard deviations of the working response.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs` are given.

    Notes
    -----
    The procedure is that of [1]_, with the squared hinge loss: it minimises
    ``|b|^2 / 2 + C sum_i w_i max(0, 1 - s_i eta_i)^2`` for two classes s in {-1, 1}; with more than
    two, for each class against the rest. The importance of a term, by which terms are removed, is
    the sum of the squared weights of its columns, over all classes. Columns are those of
    :class:`Lasso`. Integer weights count copies of rows; other weights are scaled to mean 1.

    Numeric, count and survival responses, and any response with an offset, use support vector
    regression with the squared epsilon-insensitive loss. It is fitted to the working response at
    the null model: the response minus its fitted mean, divided by the curvature of the loss, which
    also weights the row (the first step of Fisher scoring). For right-censored times, that
    difference is the martingale residual of the null model, within strata, and the curvature is
    the diagonal of the partial likelihood's Hessian. With more columns than rows, the machine is
    solved in the space of the rows, with the same solution. The training score is the out-of-bag
    score of a forest of 100 trees on the terms of the step, grown like the final model. A group
    (``groups=``) counts as one term.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="svm_rfe", k=3, seed=1)
    >>> "sex" in fit.selected
    True
    """

    share: float | None = field(default=None, metadata=number(above=0.0, most=1.0))
    step: float = field(default=0.2, metadata=number(above=0.0, most=0.9))
    C: float = field(default=1.0, metadata=number(above=0.0, limit=1000000000000.0))
    epsilon: float = field(default=0.1, metadata=number(least=0.0))

    name: ClassVar[str] = "svm_rfe"
    title: ClassVar[str] = "Recursive feature elimination with a linear SVM (SVM-RFE)"
    references: ClassVar[tuple[Reference, ...]] = (GUYON_2002,)
    tuning_name: ClassVar[str] = "share"
    reads_columns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "C", least=_LEAST_C)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of the remaining units (see ``Method.path``)."""
        machine = LinearMachine(task, self.C, self.epsilon)
        with one_thread():
            return path_of_shares(self, self.step, task, machine.judge, score_of)


class LinearMachine:
    """Support vector machines of one problem on any set of units."""

    def __init__(self, task: Task, C: float, epsilon: float) -> None:
        problem, weight = task.problem, task.weight
        assert problem.columns is not None
        rows = np.flatnonzero(weight > 0)
        order = np.argsort(problem.groups.ranks(task.seed))
        columns = linear_columns(problem.columns, weight, order)
        self._x = columns.x
        self._unit = np.repeat(order, np.diff(columns.start))
        self._mass = weight[rows] * (1.0 if task.weights.are_copies else 1 / weight[rows].mean())
        self._C, self._epsilon = C, epsilon
        self._has_classes = problem.splits_classes
        self._y = problem.y[rows]
        if not self._has_classes:
            self._y, curvature = _working_response(problem, weight)
            self._mass = self._mass * curvature

    def judge(self, left: BoolArray) -> FloatArray:
        """Squared weights of the columns of each unit in a machine on those that remain, summed."""
        used = np.flatnonzero(left[self._unit])
        importance = np.full(len(left), -np.inf)
        if len(used):
            squares = (self.weights(used) ** 2).sum(axis=0)
            largest = squares.max()
            by_unit = np.bincount(self._unit[used], squares, len(left))
            there = np.unique(self._unit[used])
            if largest > 0:
                importance[there] = np.round(by_unit[there] / largest, _DIGITS) * largest
        return importance

    def weights(self, used: IntArray) -> FloatArray:
        """Weights of some columns, shape (n_machines, n_columns)."""
        if self._y.min() == self._y.max():
            return np.zeros((1, len(used)))
        x = self._x[:, used]
        if x.shape[1] <= x.shape[0]:
            return self._solve(x)
        # Weights lie in the span of the rows; the penalty is the same in any orthonormal basis.
        basis, rows = np.linalg.qr(x.T)
        return np.asarray(self._solve(np.ascontiguousarray(rows.T)) @ basis.T)

    def _solve(self, x: FloatArray) -> FloatArray:
        from sklearn.svm import LinearSVC, LinearSVR

        rules = {"C": self._C, "dual": False, "tol": _TOLERANCE, "max_iter": _MOST_STEPS}
        machine = (
            LinearSVC(intercept_scaling=_INTERCEPT, **rules)
            if self._has_classes
            else LinearSVR(
                epsilon=self._epsilon, loss="squared_epsilon_insensitive",
                intercept_scaling=_INTERCEPT, **rules,
            )
        )  # fmt: skip
        with own_filters():
            # The family was settled before: these are classes, however many.
            warnings.filterwarnings("ignore", message="The number of unique classes is greater")
            return np.atleast_2d(machine.fit(x, self._y, self._mass).coef_)


def _working_response(problem: Problem, weight: WeightArray) -> tuple[FloatArray, FloatArray]:
    """Working response at the null model (standard deviation 1) and its weights (mean 1)."""
    rows = np.flatnonzero(weight > 0)
    curvature = problem.curvature(weight)[rows]
    curvature = curvature / np.average(curvature, weights=weight[rows])
    # Rows censored before the first event have no curvature and no gradient.
    response = problem.gradient(weight)[rows] / np.maximum(curvature, _LEAST_CURVATURE)
    mass = weight[rows] * curvature
    centred = response - np.average(response, weights=mass)
    spread = float(np.sqrt(np.average(centred**2, weights=mass)))
    return centred / (spread or 1.0), curvature
