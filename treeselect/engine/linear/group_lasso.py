"""The group lasso: a linear predictor with zero coefficients for whole groups of columns.

Minimises ``mean loss(y, offset + b0 + X b) + lam * sum_g price_g |b_g|`` (Yuan and Lin 2006) by
proximal Newton steps on a working set of groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.linear.columns import Columns, DenseColumns, SomeColumns, blocks_of
from treeselect.engine.linear.priced_groups import (
    VIOLATION,
    minimise_model,
    penalty_of,
    sums_of_groups,
)
from treeselect.engine.losses import Loss
from treeselect.engine.row_losses import EachRow, RowLoss

_MOST_STEPS = 100
_NO_GAIN = 1e-16
"""Decrease, relative to the objective, that is not worth a step."""

_TOLERANCE = 1e-9
"""Change of a coefficient, relative to the spread of the predictor, at which descent ends."""


@dataclass(frozen=True, slots=True)
class LinearFit:
    """Coefficients at one penalty.

    Attributes
    ----------
    intercept : ndarray of float, shape (n_outputs,)
    coef : ndarray of float, shape (n_columns, n_outputs)
    eta : ndarray of float, shape (n_rows,) or (n_rows, n_outputs)
        Linear predictor, the offset included.
    """

    intercept: FloatArray
    coef: FloatArray
    eta: FloatArray


@dataclass(frozen=True, slots=True)
class GroupLasso:
    """A group-lasso problem at any penalty.

    Attributes
    ----------
    x : ndarray of float, shape (n_rows, n_columns), or Columns
        Of each group of equal groups the first takes all.
    start : ndarray of int64, shape (n_groups + 1,)
        Columns ``start[g]`` to ``start[g + 1] - 1`` are those of group g; there may be none.
    price : ndarray of float, shape (n_groups,)
        At least 0; what costs nothing is always in.
    y : ndarray of float, shape (n_rows,)
    share : ndarray of float, shape (n_rows,)
        Weights, which sum to 1.
    loss : Loss
    offset : ndarray of float, shape (n_rows,), or None
    rows : RowLoss
        The loss of these rows.
    columns : Columns
        Those of `x`.
    """

    x: FloatArray | Columns
    start: IntArray
    price: FloatArray
    y: FloatArray
    share: FloatArray
    loss: Loss
    offset: FloatArray | None = None
    rows: RowLoss = field(init=False)
    columns: Columns = field(init=False)

    def __post_init__(self) -> None:
        columns = DenseColumns(self.x) if isinstance(self.x, np.ndarray) else self.x
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "rows", self.loss.of(self.y, self.share))

    def first(self) -> LinearFit:
        """The fit of the groups that cost nothing."""
        n_outputs = self.loss.n_outputs
        intercept = np.atleast_1d(self.loss.constant(self.y, self.share, self.offset))
        coef = np.zeros((self.columns.shape[1], n_outputs))
        fit = LinearFit(intercept, coef, np.empty(0))
        return self._on_groups(fit, self._free(), 0.0)

    def dearest(self, first: LinearFit) -> float:
        """The least penalty at which no group with a cost enters."""
        priced = (self.price > 0) & (np.diff(self.start) > 0)
        if not priced.any():
            return 0.0
        return float((self._pull(first)[priced] / self.price[priced]).max())

    def solve(self, lam: float, near: LinearFit) -> LinearFit:
        """The fit at a penalty, from one that is near."""
        working = self._free() | (self.norms(near) > 0)
        fit = near
        while True:
            fit = self._on_groups(fit, working, lam)
            bound = lam * self.price * (1 + VIOLATION)
            wanting = ~working & (self._pull(fit) > bound) & (np.diff(self.start) > 0)
            if not wanting.any():
                return fit
            working |= wanting

    def norms(self, fit: LinearFit) -> FloatArray:
        """Norm of each group's coefficients, shape (n_groups,)."""
        return self._by_group((fit.coef**2).sum(axis=1))

    def _free(self) -> BoolArray:
        return (self.price == 0) & (np.diff(self.start) > 0)

    def _by_group(self, squares: FloatArray) -> FloatArray:
        return np.sqrt(sums_of_groups(squares, self.start))

    @property
    def _scale(self) -> float:
        """What coefficients are measured by: the spread of a number, else 1."""
        if not self.loss.is_squared:
            return 1.0
        left = self.y if self.offset is None else self.y - self.offset
        return float(np.sqrt(self.share @ (left - self.share @ left) ** 2)) or 1.0

    def _pull(self, fit: LinearFit) -> FloatArray:
        """Norm of the loss's gradient in each group."""
        gradient = self.columns.pull(self._weighted_gradient(fit.eta))
        return self._by_group((gradient**2).sum(axis=1))

    def _weighted_gradient(self, eta: FloatArray) -> FloatArray:
        down = self.rows.negative_gradient(eta).reshape(len(self.y), -1)
        return np.asarray(self.share[:, np.newaxis] * down)

    def eta(self, intercept: FloatArray, coef: FloatArray) -> FloatArray:
        """Linear predictor of some coefficients, the offset included."""
        used = np.flatnonzero((coef != 0).any(axis=1))
        return self._eta(self.columns.some(used, 1.0), np.vstack([intercept, coef[used]]))

    def _eta(self, z: SomeColumns, theta: FloatArray) -> FloatArray:
        eta = np.empty((len(self.share), theta.shape[1]))
        for rows in blocks_of(len(eta)):
            eta[rows] = theta[0] + z.block(rows)[:, 1:] @ theta[1:]
        if self.loss.n_outputs > 1:
            return eta
        return eta[:, 0] if self.offset is None else np.asarray(eta[:, 0] + self.offset)

    def _on_groups(self, fit: LinearFit, groups: BoolArray, lam: float) -> LinearFit:
        """The fit of some groups, the others being nothing."""
        n_outputs = self.loss.n_outputs
        sizes = np.diff(self.start)
        columns = np.flatnonzero(np.repeat(groups, sizes))
        z = self.columns.some(columns, float(self.loss.has_constant))
        theta = np.vstack([fit.intercept, fit.coef[columns]])
        start = np.cumsum([0, 1, *sizes[groups]]) * n_outputs
        price = np.concatenate([[0.0], lam * self.price[groups]])
        eta = self._eta(z, theta)
        value = self._objective(eta, theta, start, price)
        tolerance = _TOLERANCE * self._scale
        for _ in range(_MOST_STEPS):
            slope, hessian = self._derivatives(z, eta)
            found = minimise_model(hessian, slope, theta.ravel(), start, price, tolerance)
            step = found.reshape(theta.shape) - theta
            if np.abs(step).max() < 10 * tolerance:
                break
            moved = penalty_of(found, start, price) - penalty_of(theta.ravel(), start, price)
            promised = float(slope @ step.ravel()) + moved
            if -promised < _NO_GAIN * abs(value):
                break
            length = 1.0
            while length > 1e-10:
                new_theta = theta + length * step
                new_eta = self._eta(z, new_theta)
                new_value = self._objective(new_eta, new_theta, start, price)
                if new_value <= value + 1e-4 * length * promised + 1e-14 * abs(value):
                    break
                length /= 2
            else:
                break
            if length == 1.0:  # exact zeros of the model stay exact
                new_theta = found.reshape(theta.shape)
            theta, eta, value = new_theta, new_eta, new_value
            if self.loss.is_squared:
                break
        coef = np.zeros_like(fit.coef)
        coef[columns] = theta[1:]
        return LinearFit(theta[0], coef, eta)

    def _objective(
        self, eta: FloatArray, theta: FloatArray, start: IntArray, price: FloatArray
    ) -> float:
        with np.errstate(over="ignore"):
            loss = float(self.share @ self.rows.value(eta))
        return loss + penalty_of(theta.ravel(), start, price)

    def _derivatives(self, z: SomeColumns, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First and second derivative in all coefficients, the outputs of a column side by side."""
        down = self._weighted_gradient(eta)
        if not isinstance(self.rows, EachRow):  # rows that depend on each other are taken together
            every = np.vstack([z.block(rows) for rows in blocks_of(len(down))])
            curved = self.share[:, np.newaxis] * self.rows.curvature_times(eta, every)
            return -(every.T @ down).ravel(), np.ascontiguousarray(every.T @ curved)
        slope, hessian = np.zeros(1), np.zeros(1)
        for rows in blocks_of(len(down)):
            own = z.block(rows)
            slope = slope - own.T @ down[rows]
            hessian = hessian + _curved(own, self.share[rows], self.rows.of(rows), eta[rows])
        return slope.ravel(), np.ascontiguousarray(hessian)


def _curved(z: FloatArray, share: FloatArray, loss: RowLoss, eta: FloatArray) -> FloatArray:
    """What some rows add to the second derivative."""
    if eta.ndim == 1:
        return np.asarray(z.T @ (share[:, np.newaxis] * loss.curvature_times(eta, z)))
    n_outputs, n_columns = eta.shape[1], z.shape[1]
    unit = np.tile(np.eye(n_outputs), (len(z), 1))
    mixed = loss.curvature_times(eta, unit).reshape(len(z), n_outputs, n_outputs)
    hessian = np.empty((n_columns, n_outputs, n_columns, n_outputs))
    for k in range(n_outputs):
        for m in range(k + 1):
            block = z.T @ ((share * mixed[:, k, m])[:, np.newaxis] * z)
            hessian[:, k, :, m] = hessian[:, m, :, k] = block
    return hessian.reshape(n_columns * n_outputs, -1)
