"""The sparse forest: a non-negative weighted lasso over trees.

Problem (2) of Liu, Xie and Udell (2021), with a free intercept b::

    minimise over w >= 0, b:   mean_i L(y_i, F0 + b + (A w)_i)  +  lam * sum_t u_t w_t

Column t of A is the prediction of tree t, u_t the price of the groups it uses. The loss is that of
``losses`` (half the squared error, or the log loss). It is solved by proximal Newton steps on a
working set of trees; trees without a price are not penalised and are in from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine._types import FloatArray, IntArray, UInt16Array, WeightArray
from treeselect.engine.cache import kernel
from treeselect.engine.losses import Loss

_MAX_NEWTON = 50
_MAX_SWEEPS = 10_000


class WeightedTrees(NamedTuple):
    """A solution at one value of the penalty.

    Attributes
    ----------
    lam : float
        The penalty.
    weights : ndarray of float, shape (n_trees,)
        At least 0.
    intercept : float
    eta : ndarray of float, shape (n_rows,)
        Linear predictor of the rows of the problem.
    """

    lam: float
    weights: FloatArray
    intercept: float
    eta: FloatArray


class SparseForest:
    """The problem for given trees, rows and prices.

    Parameters
    ----------
    leaves : sequence of ndarray of uint16, each of shape (n_rows,)
        Leaf of each row in each tree.
    values : sequence of ndarray of float
        Values of the leaves of each tree.
    loss : Loss
    y : ndarray of float, shape (n_rows,)
    weight : ndarray of int64, shape (n_rows,)
        Copies of each row; rows with weight 0 have no part in the problem.
    base : float or ndarray of float, shape (n_rows,)
        F0, the linear predictor of the constant model, the offset included.
    prices : ndarray of float, shape (n_trees,)
        u, at least 0.
    tolerance : float
        Largest violation of the optimality conditions, relative to that of the empty forest.
    """

    def __init__(
        self,
        leaves: Sequence[UInt16Array],
        values: Sequence[FloatArray],
        loss: Loss,
        y: FloatArray,
        weight: WeightArray,
        base: FloatArray | float,
        prices: FloatArray,
        *,
        tolerance: float = 1e-6,
    ) -> None:
        rows = np.flatnonzero(weight)
        self._loss = loss
        self._y = y[rows]
        self._share = weight[rows] / weight[rows].sum()
        self._leaves = np.array([leaf[rows] for leaf in leaves], dtype=np.uint16).reshape(
            len(leaves), len(rows)
        )
        self._values = list(values)
        self._flat = np.concatenate([*values, np.empty(0)])
        self._start = np.concatenate([[0], np.cumsum([len(v) for v in values])]).astype(np.int64)
        self._base = np.broadcast_to(base, y.shape).astype(np.float64)[rows]
        self.prices = prices
        self._columns: dict[int, FloatArray] = {}
        correlation = self._correlation(self._base)
        self._scale = max(float(np.max(np.abs(correlation), initial=0.0)), 1e-300)
        self._tolerance = tolerance * self._scale

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self._values)

    @property
    def rows_y(self) -> FloatArray:
        """Response of the rows of the problem, in their order."""
        return self._y

    def with_prices(self, prices: FloatArray) -> SparseForest:
        """The same trees and rows at other prices."""
        other = object.__new__(SparseForest)
        other.__dict__.update(self.__dict__)
        other.prices = prices
        return other

    def column(self, tree: int) -> FloatArray:
        """Column of A: the tree's prediction for the rows of the problem."""
        if tree not in self._columns:
            self._columns[tree] = self._values[tree][self._leaves[tree]]
        return self._columns[tree]

    def spread(self) -> FloatArray:
        """Weighted standard deviation of each column of A, shape (n_trees,)."""
        mean = correlate(self._leaves, self._flat, self._start, self._share)
        square = correlate(self._leaves, self._flat**2, self._start, self._share)
        return np.sqrt(np.maximum(square - mean**2, 0.0))

    def objective(self, solution: WeightedTrees) -> float:
        """Value that is minimised, at a solution."""
        loss = float(self._share @ self._loss.value(self._y, solution.eta))
        return loss + solution.lam * float(self.prices @ solution.weights)

    def empty(self) -> WeightedTrees:
        """Solution at an infinite penalty: only trees without a price, and the intercept."""
        start = WeightedTrees(np.inf, np.zeros(self.n_trees), 0.0, self._base.copy())
        free = np.flatnonzero(self.prices == 0)
        return self._descend(start, 0.0, free)._replace(lam=np.inf) if len(free) else start

    def largest_lam(self, empty: WeightedTrees) -> float:
        """Penalty above which no priced tree has a weight."""
        priced = self.prices > 0
        if not priced.any():
            return 0.0
        return max(float(np.max(self._correlation(empty.eta)[priced] / self.prices[priced])), 0.0)

    def solve(self, lam: float, start: WeightedTrees) -> WeightedTrees:
        """Solution at `lam`, from a warm start (any solution, best at a nearby penalty)."""
        current = start
        for _ in range(_MAX_NEWTON):
            excess = self._correlation(current.eta) - lam * self.prices
            positive = current.weights > 0
            violation = np.where(positive, np.abs(excess), np.maximum(excess, 0.0))
            if float(np.max(violation, initial=0.0)) <= self._tolerance:
                break
            inside = positive | (self.prices == 0)
            n_new = 10 + int(inside.sum())
            entering = np.argsort(-np.where(inside, 0.0, violation), kind="stable")[:n_new]
            entering = entering[~inside[entering] & (violation[entering] > 0)]
            working = np.sort(np.concatenate([np.flatnonzero(inside), entering]))
            current = self._descend(current, lam, working)
        return current._replace(lam=lam)

    def _correlation(self, eta: FloatArray) -> FloatArray:
        """Minus the gradient of the mean loss in each weight, shape (n_trees,)."""
        residual = self._share * self._loss.negative_gradient(self._y, eta)
        return np.asarray(correlate(self._leaves, self._flat, self._start, residual))

    def _descend(self, start: WeightedTrees, lam: float, working: IntArray) -> WeightedTrees:
        """Proximal Newton on the working set until its optimality conditions hold."""
        matrix = np.empty((len(self._y), len(working) + 1), order="F")
        matrix[:, 0] = 1.0
        for k, tree in enumerate(working):
            matrix[:, k + 1] = self.column(int(tree))
        price = np.concatenate([[0.0], lam * self.prices[working]])
        x = np.concatenate([[start.intercept], start.weights[working]])
        eta = self._base + matrix @ x
        value = self._penalised(eta, price, x)
        for _ in range(_MAX_NEWTON):
            slope = matrix.T @ (self._share * self._loss.negative_gradient(self._y, eta))
            excess = slope - price
            violation = np.where(x > 0, np.abs(excess), np.maximum(excess, 0.0))
            violation[0] = abs(excess[0])
            if violation.max() <= 0.5 * self._tolerance:
                break
            curvature = self._share * self._loss.curvature(self._y, eta)
            hessian = (matrix * curvature[:, None]).T @ matrix
            hessian[np.diag_indices_from(hessian)] *= 1.0 + 1e-12
            target = x.copy()
            coordinate_descent(hessian, slope + hessian @ x, price, target, 0.05 * self._tolerance)
            step, direction = 1.0, target - x
            shift = matrix @ direction
            while step > 1e-8:
                trial = self._penalised(eta + step * shift, price, x + step * direction)
                if trial <= value:
                    break
                step /= 2
            else:
                break  # no decrease left within rounding
            x = target if step == 1.0 else x + step * direction
            eta = self._base + matrix @ x
            value = trial
        weights = np.zeros(self.n_trees)
        weights[working] = x[1:]
        return WeightedTrees(lam, weights, float(x[0]), eta)

    def _penalised(self, eta: FloatArray, price: FloatArray, x: FloatArray) -> float:
        return float(self._share @ self._loss.value(self._y, eta) + price @ x)


def correlate(
    leaves: UInt16Array, values: FloatArray, start: IntArray, residual: FloatArray
) -> FloatArray:
    """``A.T @ residual`` from leaf numbers: sums of the residual by leaf, times the leaf's value.

    Parameters
    ----------
    leaves : ndarray of uint16, shape (n_trees, n_rows)
    values : ndarray of float, shape (n_leaves of all trees,)
    start : ndarray of int64, shape (n_trees + 1,)
        Where the leaves of each tree begin in `values`.
    residual : ndarray of float, shape (n_rows,)

    Returns
    -------
    ndarray of float, shape (n_trees,)
    """
    sums = np.zeros(len(values))
    sum_by_leaf(leaves, start, residual, sums)
    return np.add.reduceat(sums * values, start[:-1])


@kernel
def sum_by_leaf(leaves, start, residual, sums):
    """Add the residuals of each leaf of each tree to ``sums``, of the shape of `values`."""
    for t in range(leaves.shape[0]):
        own = sums[start[t] : start[t + 1]]
        for i in range(residual.shape[0]):
            own[leaves[t, i]] += residual[i]


def coordinate_descent(
    hessian: FloatArray, linear: FloatArray, price: FloatArray, x: FloatArray, tolerance: float
) -> None:
    """Minimise ``x'Hx / 2 - (linear - price)'x`` over x[1:] >= 0, x[0] free; x is changed.

    Sweeps over all coordinates alternate with sweeps over the positive ones until the gradient's
    violation of optimality is at most `tolerance`.
    """
    descend(hessian, linear - price - hessian @ x, x, tolerance)


@kernel
def descend(hessian, gradient, x, tolerance):
    """Sweep until `x` is the solution; ``gradient`` is that of the function, with minus."""
    n = x.shape[0]
    full = True
    for _ in range(_MAX_SWEEPS):
        worst = 0.0
        for j in range(n):
            if not full and j > 0 and x[j] == 0.0:
                continue
            if hessian[j, j] <= 0.0:
                continue
            new = x[j] + gradient[j] / hessian[j, j]
            if j > 0 and new < 0.0:
                new = 0.0
            change = new - x[j]
            if change != 0.0:
                worst = max(worst, abs(change) * hessian[j, j])
                x[j] = new
                for k in range(n):
                    gradient[k] -= change * hessian[k, j]
        if worst <= tolerance:
            if full:
                return
            full = True
        else:
            full = False
