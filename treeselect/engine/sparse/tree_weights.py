"""The sparse forest: a non-negative weighted lasso over trees.

Problem (2) of Liu, Xie and Udell (2021), with a free intercept b and the ridge term of their
section 6.2::

    minimise over w >= 0, b:
        mean_i L(y_i, F0 + b + (A w)_i)  +  lam * sum_t u_t w_t  +  ridge / 2 * sum_t w_t ** 2

Column t of A is the prediction of tree t, u_t the price of the groups it uses. The loss is one of
``losses``; with several outputs (classes) a tree has a value for each of them and one weight. It is
solved by proximal Newton steps on a working set of trees; trees without a price are not penalised
and are in from the start.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.cache import kernel
from treeselect.engine.losses import Loss
from treeselect.engine.sparse.tree_columns import TreeColumns

_MAX_NEWTON = 50
_MAX_SWEEPS = 10_000
_NOTHING = 1e-12
"""Correlations are rounding, and no tree enters, below this share of what could be."""
_FAINT = 1e-8
"""Optimality is told by correlations of at least this share: finer ones are not to be had."""
_PATH_RATIO = 0.9


class WeightedTrees(NamedTuple):
    """A solution at one value of the penalty.

    Attributes
    ----------
    lam : float
        The penalty.
    weights : ndarray of float, shape (n_trees,)
        At least 0.
    intercept : ndarray of float, shape (n_outputs,)
        The last of several is 0.
    eta : ndarray of float, shape (n_rows,) or (n_rows, n_outputs)
        Linear predictor of the rows of the problem.
    """

    lam: float
    weights: FloatArray
    intercept: FloatArray
    eta: FloatArray


class SparseForest:
    """The problem for given trees, rows and prices.

    ``is_exact`` tells whether :meth:`penalties` meet every set of trees that the path has.

    Parameters
    ----------
    columns : TreeColumns
        Predictions of the trees for the rows of the problem.
    loss : Loss
    y : ndarray of float, shape (n_rows,)
    weight : ndarray of int64 or float64, shape (n_rows,)
        Copies of each row, or its real weight, above 0.
    base : ndarray of float, shape (n_rows,) or (n_rows, n_outputs)
        F0, the linear predictor of the constant model, the offset included.
    prices : ndarray of float, shape (n_trees,)
        u, at least 0.
    ridge : float
        At least 0.
    tolerance : float
        Largest violation of the optimality conditions, relative to that of the empty forest.
    """

    is_exact = False

    def __init__(
        self,
        columns: TreeColumns,
        loss: Loss,
        y: FloatArray,
        weight: WeightArray,
        base: FloatArray,
        prices: FloatArray,
        *,
        ridge: float = 0.0,
        tolerance: float = 1e-6,
    ) -> None:
        self.columns, self.loss, self.y, self.base = columns, loss, y, base
        self.rows = loss.of(y, weight)
        self.prices, self.ridge = prices, ridge
        self.share = weight / weight.sum()
        self._seen: tuple[FloatArray, FloatArray] | None = None
        self._spread: FloatArray | None = None
        size = self._size()
        self._least = _NOTHING * size
        scale = float(np.max(np.abs(self.correlation(base)), initial=0.0))
        self._tolerance = tolerance * max(scale, _FAINT * size, 1e-300)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.columns.n_trees

    def with_prices(self, prices: FloatArray) -> SparseForest:
        """The same trees and rows at other prices."""
        other = copy.copy(self)
        other.prices = prices
        return other

    def spread(self) -> FloatArray:
        """Weighted standard deviation of each column of A, shape (n_trees,)."""
        if self._spread is None:
            self._spread = self.columns.spread(self.share)
        return self._spread

    def objective(self, solution: WeightedTrees) -> float:
        """Value that is minimised, at a solution."""
        w = solution.weights
        loss = float(self.share @ self.rows.value(solution.eta))
        return loss + solution.lam * float(self.prices @ w) + self.ridge / 2 * float(w @ w)

    def empty(self) -> WeightedTrees:
        """Solution at an infinite penalty: only trees without a price, and the intercept."""
        nothing = np.zeros(self.n_trees)
        start = WeightedTrees(np.inf, nothing, np.zeros(self.loss.n_outputs), self.base.copy())
        free = np.flatnonzero(self.prices == 0)
        return self._descend(start, 0.0, free)._replace(lam=np.inf) if len(free) else start

    def largest_lam(self, empty: WeightedTrees) -> float:
        """Penalty above which no priced tree has a weight."""
        priced = self.prices > 0
        found = self.correlation(empty.eta)
        there = priced & (found > self._least)
        return float(np.max(found[there] / self.prices[there])) if there.any() else 0.0

    def penalties(self, largest: float, end: float) -> Iterator[float]:
        """Penalties at which to look at the path: each nine tenths of the last."""
        lam = largest * _PATH_RATIO
        while lam > end:
            yield lam
            lam *= _PATH_RATIO

    def solve(self, lam: float, start: WeightedTrees) -> WeightedTrees:
        """Solution at `lam`, from a warm start (any solution, best at a nearby penalty)."""
        current = start
        for _ in range(_MAX_NEWTON):
            slope = self.correlation(current.eta) - self.ridge * current.weights
            excess = slope - lam * self.prices
            positive = current.weights > 0
            violation = np.where(positive, np.abs(excess), np.maximum(excess, 0.0))
            if float(np.max(violation, initial=0.0)) <= self._tolerance:
                break
            inside = positive | (self.prices == 0)
            n_new = 10 + int(inside.sum()) // 4
            entering = np.argsort(-np.where(inside, 0.0, violation), kind="stable")[:n_new]
            entering = entering[~inside[entering] & (violation[entering] > 0)]
            working = np.sort(np.concatenate([np.flatnonzero(inside), entering]))
            current = self._descend(current, lam, working)
        return current._replace(lam=lam)

    def predictor(self, weights: FloatArray, intercept: FloatArray) -> FloatArray:
        """Linear predictor of the rows, shape (n_rows,) or (n_rows, n_outputs)."""
        shift = intercept if self.loss.n_outputs > 1 else intercept[0]
        return np.asarray(self.base + shift + self.columns.combine(weights))

    def correlation(self, eta: FloatArray) -> FloatArray:
        """Minus the gradient of the mean loss in each weight, shape (n_trees,)."""
        if self._seen is None or self._seen[0] is not eta:  # the next solution starts at this one
            self._seen = (eta, self.columns.correlate(self._residual(eta)))
        return self._seen[1]

    def _size(self) -> float:
        """How large a correlation could be: that of a tree that predicts the residuals."""
        gradient = self.rows.negative_gradient(self.base)
        mean_square = float(np.sum(self._shares(self.base) * gradient**2))
        return float(np.max(self.spread(), initial=0.0)) * math.sqrt(mean_square)

    def _residual(self, eta: FloatArray) -> FloatArray:
        """Minus the gradient of the mean loss in each linear predictor, flat."""
        return (self._shares(eta) * self.rows.negative_gradient(eta)).ravel()

    def _shares(self, eta: FloatArray) -> FloatArray:
        return self.share if eta.ndim == 1 else self.share[:, np.newaxis]

    def _descend(self, start: WeightedTrees, lam: float, working: IntArray) -> WeightedTrees:
        """Proximal Newton on the working set until its optimality conditions hold."""
        part = _Working(self, working)
        n_free = part.n_free
        price = np.concatenate([np.zeros(n_free), lam * self.prices[working]])
        ridge = np.concatenate([np.zeros(n_free), np.full(len(working), self.ridge)])
        x = np.concatenate([start.intercept[:n_free], start.weights[working]])
        eta = start.eta
        value = self._penalised(eta, price, ridge, x)
        for _ in range(_MAX_NEWTON):
            slope = part.correlate(self._residual(eta)) - ridge * x
            excess = slope - price
            violation = np.where(x > 0, np.abs(excess), np.maximum(excess, 0.0))
            violation[:n_free] = np.abs(excess[:n_free])
            if violation.max() <= 0.5 * self._tolerance:
                break
            hessian = part.hessian(eta)
            hessian[np.diag_indices_from(hessian)] *= 1.0 + 1e-12
            hessian[np.diag_indices_from(hessian)] += ridge
            target = x.copy()
            coordinate_descent(
                hessian, slope + hessian @ x, price, target, n_free, 0.05 * self._tolerance
            )
            step, direction = 1.0, target - x
            shift = part.times(direction)
            while step > 1e-8:
                trial = self._penalised(eta + step * shift, price, ridge, x + step * direction)
                if trial <= value:
                    break
                step /= 2
            else:
                break  # no decrease left within rounding
            x = target if step == 1.0 else x + step * direction
            eta, value = eta + step * shift, trial
        weights = np.zeros(self.n_trees)
        weights[working] = x[n_free:]
        intercept = np.concatenate([x[:n_free], np.zeros(self.loss.n_outputs - n_free)])
        return WeightedTrees(lam, weights, intercept, eta)

    def _penalised(
        self, eta: FloatArray, price: FloatArray, ridge: FloatArray, x: FloatArray
    ) -> float:
        with np.errstate(over="ignore"):  # a step too far is an infinite loss
            loss = float(self.share @ self.rows.value(eta))
        return loss + float(price @ x) + float(ridge @ x**2) / 2


class _Working:
    """Columns of the intercepts and of some trees, written out for some rows at a time.

    Of one output there is one intercept; of K classes one for each but the last, since a shift of
    all outputs changes nothing.
    """

    def __init__(self, problem: SparseForest, trees: IntArray) -> None:
        self._problem, self._trees = problem, trees
        n_outputs = problem.loss.n_outputs
        self._free = np.ones((1, 1)) if n_outputs == 1 else np.eye(n_outputs)[:-1]
        self.n_free = len(self._free)
        self._room: dict[int, FloatArray] = {}

    def _blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Rows, and their columns, shape (n_free + n_trees, n_rows of the block * n_outputs), which
        are good until the next rows come."""
        columns = self._problem.columns
        for rows in columns.blocks():
            n_rows = rows.stop - rows.start
            block = self._room.get(n_rows)
            is_new = block is None
            if block is None:
                free = np.tile(self._free, (1, n_rows))
                block = np.empty((self.n_free + len(self._trees), free.shape[1]))
                block[: self.n_free] = free
                self._room[n_rows] = block
            if is_new or n_rows < columns.n_rows:  # what is there is not that of these rows
                columns.write(self._trees, rows.start, block[self.n_free :])
            yield rows, block

    def times(self, x: FloatArray) -> FloatArray:
        """The columns times coefficients, of the shape of the linear predictor."""
        total = np.empty(self._problem.base.shape)
        for rows, block in self._blocks():
            total[rows] = (x @ block).reshape(total[rows].shape)
        return total

    def correlate(self, residual: FloatArray) -> FloatArray:
        """The columns' products with a residual, shape (n_free + n_trees,)."""
        total = np.zeros(self.n_free + len(self._trees))
        by_row = residual.reshape(self._problem.columns.n_rows, -1)
        for rows, block in self._blocks():
            total += block @ by_row[rows].ravel()
        return total

    def hessian(self, eta: FloatArray) -> FloatArray:
        """Second derivative of the mean loss in the coefficients."""
        problem = self._problem
        loss, size = problem.loss, self.n_free + len(self._trees)
        total = np.zeros((size, size))
        root = np.sqrt(problem.share * problem.rows.curvature(eta)) if loss.n_outputs == 1 else None
        for rows, block in self._blocks():
            if root is not None:
                scaled = block * root[rows]
                total += scaled @ scaled.T
            else:
                share = problem.share[rows]
                part = loss.of(problem.y[rows], share)
                curved = part.curvature_times(eta[rows], block.T)
                total += block @ (np.repeat(share, loss.n_outputs)[:, np.newaxis] * curved)
        return total


def coordinate_descent(
    hessian: FloatArray,
    linear: FloatArray,
    price: FloatArray,
    x: FloatArray,
    n_free: int,
    tolerance: float,
) -> None:
    """Minimise ``x'Hx / 2 - (linear - price)'x``; the first `n_free` are free, the others at least
    0; x is changed.

    Sweeps over all coordinates alternate with sweeps over the positive ones until the gradient's
    violation of optimality is at most `tolerance`.
    """
    descend(hessian, linear - price - hessian @ x, x, n_free, tolerance)


@kernel
def descend(hessian, gradient, x, n_free, tolerance):
    """Sweep until `x` is the solution; ``gradient`` is that of the function, with minus."""
    n = x.shape[0]
    full = True
    for _ in range(_MAX_SWEEPS):
        worst = 0.0
        for j in range(n):
            if not full and j >= n_free and x[j] == 0.0:
                continue
            if hessian[j, j] <= 0.0:
                continue
            new = x[j] + gradient[j] / hessian[j, j]
            if j >= n_free and new < 0.0:
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
