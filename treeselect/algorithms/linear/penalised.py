"""Penalised linear methods: the group lasso over terms, and SVM-RFE."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeselect.algorithms.filters import row_mass
from treeselect.algorithms.forests.elimination import path_of_shares
from treeselect.algorithms.forests.scoring import score_of
from treeselect.algorithms.options import number
from treeselect.algorithms.references import GUYON_2002, MEIER_2008, YUAN_2006, Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import Step, Task, ranked_step
from treeselect.designs.problem import CodedColumns, FinalModel, Problem
from treeselect.designs.weights import median
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import OTHER
from treeselect.engine.linear.columns import CodedColumns as LazyColumns
from treeselect.engine.linear.columns import Columns, Indicator, Number, blocks_of
from treeselect.engine.linear.group_lasso import GroupLasso, LinearFit
from treeselect.engine.losses import explicable
from treeselect.engine.threads import one_thread
from treeselect.quiet import own_filters

_GRID = 10.0 ** -np.linspace(0, 4, 101)
"""Penalties of the path, relative to that at which nothing enters."""

_HALVINGS = 6
"""Bisections between two penalties to find sizes between theirs."""

_FITTED = 1e-3
"""Share of the null model's loss at which the path ends, unless the response is a number."""

_DENSE_CELLS = 2**22
"""Rows times columns up to which all columns are held as a matrix (of 32 MB)."""


class _Solved(NamedTuple):
    """A fit at a penalty, and its set.

    Scores and contributions take a pass over the rows: only those of steps that are kept are
    computed.
    """

    lam: float
    fit: LinearFit
    selected: BoolArray

    @property
    def size(self) -> int:
        return int(self.selected.sum())

    def without_rows(self) -> _Solved:
        """The same without its linear predictor, which coefficients tell again."""
        return self._replace(fit=replace(self.fit, eta=np.empty(0)))


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

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="lasso", k=3, seed=1)
    >>> "sex" in fit.selected
    True
    """

    lam: float | None = field(default=None, metadata=number(above=0.0))

    name: ClassVar[str] = "lasso"
    title: ClassVar[str] = "Group lasso"
    references: ClassVar[tuple[Reference, ...]] = (YUAN_2006,)
    cited: ClassVar[tuple[Reference, ...]] = (YUAN_2006, MEIER_2008)
    tuning_name: ClassVar[str] = "lam"
    reads_columns: ClassVar[bool] = True
    scores_out_of_bag: ClassVar[bool] = False
    left_out: ClassVar[str] = "the others do not improve the fit"
    own_model: ClassVar[FinalModel | None] = "glm"

    def path(self, task: Task) -> tuple[Step, ...]:
        with one_thread():
            fits = LassoFits(task)
            if self.lam is not None:
                steps = [fits.at(self.lam)]
            else:
                least = 0 if task.every_size or self.begins_above else task.max_size
                steps = fits.path(self.longest(task), least)
        return self.revised(steps, task)


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
        lazy, start = lazy_columns(problem.columns, weight, order)
        is_small = lazy.shape[0] * lazy.shape[1] <= _DENSE_CELLS
        x: FloatArray | Columns = _matrix(lazy, lazy.parts) if is_small else lazy
        self._order, self._start = order, start
        prices = np.where(problem.groups.keep, 0.0, problem.groups.costs)[order]
        self._solver = GroupLasso(
            x=x,
            start=start,
            price=prices * np.sqrt(np.diff(start)),
            y=problem.y[rows],
            share=self._weight / self._weight.sum(),
            loss=problem.family.loss,
            offset=None if problem.offset is None else problem.offset[rows],
        )
        self._first = self._solver.first()

    def at(self, lam: float) -> Step:
        return self._step(self._solved(lam, self._first))

    def path(self, most: int, least: int) -> list[Step]:
        """Steps until more than `most` units are selected, with sizes from `least` on."""
        return [self._step(one) for one in _last_of_each_set(self._all_solved(most, least))]

    def _all_solved(self, most: int, least: int) -> list[_Solved]:
        top = self._solver.dearest(self._first)
        before = self._of(top, self._first)
        found = [before._replace(lam=np.inf).without_rows()]
        able = int(((np.diff(self._start) > 0) | self._problem.groups.keep[self._order]).sum())
        squared = self._problem.family.loss.is_squared
        bound = 0.0 if squared else _FITTED * self._loss_of(self._first)
        for share in _GRID[1:] if top > 0 else ():
            after = self._solved(top * share, before.fit)
            found += self._between(before, after, least, most, _HALVINGS)
            found.append(after.without_rows())
            if after.size > most or after.size == able or self._loss_of(after.fit) < bound:
                break
            before = after
        return found

    def _between(
        self, before: _Solved, after: _Solved, least: int, most: int, halvings: int
    ) -> list[_Solved]:
        """Fits between two fits, if sizes between theirs are wanted."""
        first, last = max(before.size + 1, least), min(after.size - 1, most)
        if halvings == 0 or first > last:
            return []
        middle = self._solved(float(np.sqrt(before.lam * after.lam)), before.fit)
        return [
            *self._between(before, middle, least, most, halvings - 1),
            middle.without_rows(),
            *self._between(middle, after, least, most, halvings - 1),
        ]

    def _solved(self, lam: float, near: LinearFit) -> _Solved:
        return self._of(lam, self._solver.solve(lam, near))

    def _of(self, lam: float, fit: LinearFit) -> _Solved:
        selected = self._problem.groups.keep.copy()
        selected[self._order] |= self._solver.norms(fit) > 0
        return _Solved(lam, fit, selected)

    def _step(self, found: _Solved) -> Step:
        problem = self._problem
        worth = np.zeros(len(self._order))
        worth[self._order] = self._spreads(found.fit)
        score = float("nan")
        if problem.wants_scores:
            mean = problem.family.mean(self._solver.eta(found.fit.intercept, found.fit.coef))
            score = problem.family.score(self._solver.y, mean, self._weight)
        return ranked_step(found.lam, found.selected, worth, score)

    def _spreads(self, fit: LinearFit) -> FloatArray:
        """Standard deviation of each unit's contribution to the linear predictor."""
        start, share = self._start, self._solver.share
        found = np.zeros(len(self._order))
        for i in np.flatnonzero(self._solver.norms(fit)):
            own = np.arange(start[i], start[i + 1])
            some = self._solver.columns.some(own, 0.0)
            for rows in blocks_of(len(share)):
                part = some(rows)[:, 1:] @ fit.coef[own]
                found[i] += share[rows] @ (part**2).sum(axis=1)
        return np.sqrt(found)

    def _loss_of(self, fit: LinearFit) -> float:
        return explicable(self._solver.rows, fit.eta, self._weight)


def _last_of_each_set(steps: Sequence[_Solved]) -> list[_Solved]:
    """The last of consecutive steps with the same set, where new coefficients have had room to
    grow.

    The penalty of the first step, at which no unit with a cost has entered, stays infinite.
    """
    changes = [not np.array_equal(a.selected, b.selected) for a, b in pairwise(steps)]
    lasts = [step for step, changed in zip(steps[1:-1], changes[1:], strict=True) if changed]
    return [steps[0], *lasts, *steps[1:][-1:]]


# --- Columns for linear methods: standardised numbers, levels and missing values -----------------

_CONSTANT = 1e-10
"""Standard deviation, relative to the largest value, up to which a column is constant."""


@dataclass(frozen=True, slots=True)
class LinearColumns:
    """Columns of the rows with weight, unit after unit."""

    x: FloatArray  # mean 0 and variance 1 under the weights, unless they were left as they are
    start: IntArray  # (n_groups + 1,)
    order: IntArray  # (n_groups,): the units

    @property
    def unit(self) -> IntArray:
        return np.repeat(self.order, np.diff(self.start))


def standard_columns(task: Task, *, standardise: bool = True) -> LinearColumns:
    """Columns of a task, in an order of the units that its seed draws: of exact copies, the first
    wins."""
    coded, order = task.problem.columns, np.argsort(task.problem.groups.ranks(task.seed))
    assert coded is not None
    return linear_columns(coded, task.weight, order, standardise=standardise)


def linear_columns(
    coded: CodedColumns, weight: WeightArray, order: IntArray, *, standardise: bool = True
) -> LinearColumns:
    """The columns of :func:`lazy_columns` as a matrix; without `standardise` they are unchanged."""
    lazy, start = lazy_columns(coded, weight, order)
    parts = lazy.parts if standardise else [_unchanged(part) for part in lazy.parts]
    return LinearColumns(_matrix(lazy, parts), start, np.asarray(order))


def _matrix(lazy: LazyColumns, parts: Sequence[Number | Indicator]) -> FloatArray:
    rows = slice(None) if lazy.rows is None else lazy.rows
    return np.array([part.of(rows) for part in parts]).reshape(len(parts), lazy.n_rows).T


def _unchanged(part: Number | Indicator) -> Number | Indicator:
    if isinstance(part, Indicator):
        return part._replace(low=0.0, high=1.0)
    return part._replace(exponent=0, mean=0.0, spread=1.0)


def lazy_columns(
    coded: CodedColumns, weight: WeightArray, order: IntArray
) -> tuple[LazyColumns, IntArray]:
    """Columns of the units in a given order, standardised on the rows with positive weight, to be
    made block by block; and where those of each unit start.

    Missing values of a number are set to the median, with an indicator if there are any. A factor
    has an indicator for each level present, missing included. Columns of a term that are missing in
    the same rows have one indicator of that. Constant columns are dropped.
    """
    rows = np.flatnonzero(weight > 0)
    share = weight[rows] / weight[rows].sum()
    own = None if len(rows) == len(weight) else rows
    parts: list[Number | Indicator] = []
    ends = [0]
    for group in order:
        for j in np.flatnonzero(coded.groups.ids == group).tolist():
            values = coded.columns[j] if own is None else coded.columns[j][own]
            lazy = _lazy_number if coded.n_levels[j] is None else _lazy_factor
            parts += lazy(coded.columns[j], values, share, _has_same_gaps(coded, j, rows))
        ends.append(len(parts))
    return LazyColumns(parts, own, len(rows)), np.array(ends)


def _has_same_gaps(coded: CodedColumns, j: int, rows: IntArray) -> bool:
    """Whether a column is missing in the same rows as the one before it, of the same term."""
    if j == 0 or coded.column_names[j] != coded.column_names[j - 1]:
        return False
    is_missing = np.isnan if coded.n_levels[j] is None else np.logical_not
    before, own = (is_missing(coded.columns[i][rows]) for i in (j - 1, j))
    return np.array_equal(before, own)


def _lazy_number(
    source: FloatArray, values: FloatArray, share: FloatArray, has_same_gaps: bool
) -> list[Number | Indicator]:
    made, missing = of_number(values, share), np.isnan(values)
    found: list[Number | Indicator] = []
    if made and (scaling := scaling_of(made[0], share)) is not None:
        fill = made[0][missing][0] if missing.any() else np.nan
        found.append(Number(source, float(fill), *scaling))
    if len(made) > 1 and not has_same_gaps:
        found += _lazy_indicator(np.isnan(source), 1, np.bincount(missing, share))
    return found


def _lazy_factor(
    source: NDArray[Any], codes: NDArray[Any], share: FloatArray, has_same_gaps: bool
) -> list[Number | Indicator]:
    shares, none = np.bincount(codes, share), (OTHER, 0) if has_same_gaps else (OTHER,)
    levels = [code for code in np.unique(codes).tolist() if code not in none]
    return [part for code in levels for part in _lazy_indicator(source, code, shares)]


def _lazy_indicator(
    source: NDArray[Any], code: int, shares: NDArray[Any]
) -> list[Number | Indicator]:
    mean, rest = float(shares[code]), float(shares.sum() - shares[code])  # 0 if there is no other
    spread = float(np.sqrt(mean * rest))
    return [Indicator(source, code, -mean / spread, rest / spread)] if spread > _CONSTANT else []


def of_number(values: FloatArray, share: FloatArray) -> list[FloatArray]:
    """A number with missing values set to the median, and their indicator if there are any; an
    empty list if all are missing."""
    missing = np.isnan(values)
    if not missing.any():
        return [values]
    if missing.all():
        return []
    filled = np.where(missing, median(values[~missing], share[~missing]), values)
    return [filled, missing.astype(np.float64)]


def scaling_of(values: FloatArray, share: FloatArray) -> tuple[int, float, float] | None:
    """Exponent, mean and standard deviation of values divided by two to the exponent; None for a
    constant."""
    # By a power of two, which is exact: squares of huge or tiny numbers overflow or vanish.
    exponent = int(np.frexp(np.abs(values).max())[1])
    values = np.ldexp(values, -exponent)
    mean = float(share @ values)
    spread = float(np.sqrt(share @ (values - mean) ** 2))
    if spread <= _CONSTANT * np.abs(values).max():
        return None
    return exponent, mean, spread


# --- SVM-RFE: recursive elimination by the weights of a linear support vector machine ------------

_TOLERANCE = 1e-6
_MOST_STEPS = 100_000
"""Newton steps; the solver stops after a few dozen."""

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
    solved in the space of the rows, with the same solution. Training scores are those of
    :class:`MRMR`. A group (``groups=``) counts as one term.

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
    C: float = field(default=1.0, metadata=number(least=1e-12, most=1e12))
    epsilon: float = field(default=0.1, metadata=number(least=0.0))

    name: ClassVar[str] = "svm_rfe"
    title: ClassVar[str] = "Recursive feature elimination with a linear SVM (SVM-RFE)"
    references: ClassVar[tuple[Reference, ...]] = (GUYON_2002,)
    tuning_name: ClassVar[str] = "share"
    reads_columns: ClassVar[bool] = True

    def path(self, task: Task) -> tuple[Step, ...]:
        machine = LinearMachine(task, self.C, self.epsilon)
        with one_thread():
            return path_of_shares(self, self.step, task, machine.judge, score_of)


class LinearMachine:
    """Support vector machines of one problem on any set of units."""

    def __init__(self, task: Task, C: float, epsilon: float) -> None:
        problem, columns = task.problem, standard_columns(task)
        rows, self._mass = row_mass(task.weights)
        self._x, self._unit = columns.x, columns.unit
        self._C, self._epsilon = C, epsilon
        self._has_classes = problem.splits_classes
        self._y = problem.y[rows]
        if not self._has_classes:
            self._y, curvature = _working_response(problem, task.weight)
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
