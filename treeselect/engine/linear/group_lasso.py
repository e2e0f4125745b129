"""The group lasso: a linear predictor with zero coefficients for whole groups of columns.

Minimises ``mean loss(y, offset + b0 + X b) + lam * sum_g price_g |b_g|`` (Yuan and Lin 2006) by
proximal Newton steps on a working set of groups. The quadratic
model of a step is minimised by descent over the groups, each of which is put at its minimum, in
turn with Newton's steps of those that have coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.compiling import inner, kernel
from treeselect.engine.linear.columns import Columns, DenseColumns, SomeColumns, blocks_of
from treeselect.engine.losses import EachRow, Loss, RowLoss

_MOST_STEPS = 100
_NO_GAIN = 1e-16
"""Decrease, relative to the objective, that is not worth a step."""

_TOLERANCE = 1e-9
"""Change of a coefficient, relative to the spread of the predictor, at which descent ends."""


@dataclass(frozen=True, slots=True)
class LinearFit:
    """Coefficients at one penalty, (n_columns, n_outputs), intercepts, and the linear predictor,
    the offset included."""

    intercept: FloatArray
    coef: FloatArray
    eta: FloatArray


@dataclass(frozen=True, slots=True)
class GroupLasso:
    """A group-lasso problem at any penalty, of columns ``start[g]`` to ``start[g + 1] - 1`` of each
    group g, shares of rows that sum to 1, and prices: what costs nothing is always in. Of equal
    groups the first takes all."""

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
        """The least penalty at which no group with a cost enters; 0 if they pull by rounding."""
        priced = np.flatnonzero((self.price > 0) & (np.diff(self.start) > 0))
        if not len(priced):
            return 0.0
        lam = self._pull(first)[priced] / self.price[priced]
        top = priced[int(np.argmax(lam))]
        down = self.rows.negative_gradient(first.eta).reshape(len(self.y), -1)
        z = self.columns.some(np.arange(self.start[top], self.start[top + 1]), 0.0)
        square = sum(self.share[rows] @ z(rows)[:, 1:] ** 2 for rows in blocks_of(len(down)))
        most = np.sqrt(np.sum(square) * np.sum(self.share @ down**2))
        return float(lam.max()) if lam.max() * self.price[top] > _TOLERANCE * most else 0.0

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
            eta[rows] = theta[0] + z(rows)[:, 1:] @ theta[1:]
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
            every = np.vstack([z(rows) for rows in blocks_of(len(down))])
            curved = self.share[:, np.newaxis] * self.rows.curvature_times(eta, every)
            return -(every.T @ down).ravel(), np.ascontiguousarray(every.T @ curved)
        slope, hessian = np.zeros(1), np.zeros(1)
        for rows in blocks_of(len(down)):
            own = z(rows)
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


VIOLATION = 1e-6
"""Relative excess of a gradient over its price from which a group enters."""

_ABSENT = 1e-5
"""Curvature, relative to the largest, below which what is free does not move."""

_COLLINEAR = 1e-10
"""The same of a direction of what is free."""

_FLAT = 1e-12
"""Least curvature along a group: one that is flat can't tell where to go."""

_RIDGE = 1e-12
"""What keeps collinear groups apart in a Newton step, relative to the greatest curvature."""

_SWEEPS = 50
"""Sweeps of a round of descent, at most."""

_MOST_ROUNDS = 20
_MOST_OF_PRICED = 100
_LENGTHS = 0.5 ** np.arange(12)


class GroupedModel(NamedTuple):
    """A quadratic model whose groups all have a price, the eigenvalues and eigenvectors of each
    group's part of its second derivative, group after group, and memory for descending it: a
    group's coefficients before, and its pull along the principal axes."""

    hessian: FloatArray
    start: IntArray
    price: FloatArray
    values: FloatArray
    vectors: FloatArray
    origin: FloatArray
    turned: FloatArray


def sums_of_groups(values: FloatArray, start: IntArray) -> FloatArray:
    """Sum of the values of each group, shape (n_groups,)."""
    n_groups = len(start) - 1
    group_of = np.repeat(np.arange(n_groups), np.diff(start))
    return np.bincount(group_of, values, n_groups).astype(np.float64)


def penalty_of(theta: FloatArray, start: IntArray, price: FloatArray) -> float:
    """Sum of the norms of the groups, times their prices."""
    return float(price @ np.sqrt(sums_of_groups(theta**2, start)))


def minimise_model(
    hessian: FloatArray,
    slope: FloatArray,
    theta: FloatArray,
    start: IntArray,
    price: FloatArray,
    tolerance: float,
) -> FloatArray:
    """Minimise ``slope (b - theta) + (b - theta) hessian (b - theta) / 2 + sum price |b_g|``, until
    no coefficient changes by more than the tolerance in a sweep. What is free is minimised
    together, as a function of the rest: it may be nearly collinear, as the intercepts of rare
    classes are with factors."""
    sizes = np.diff(start)
    is_free = np.repeat(price == 0, sizes)
    free, rest = np.flatnonzero(is_free), np.flatnonzero(~is_free)
    across = hessian[np.ix_(free, rest)]
    best = _inverse(hessian, free) @ np.column_stack([slope[free], across])
    found = theta.copy()
    found[rest] = _minimise_priced(
        hessian[np.ix_(rest, rest)] - across.T @ best[:, 1:],
        slope[rest] - across.T @ best[:, 0],
        theta[rest],
        np.concatenate([[0], np.cumsum(sizes[price > 0])]),
        price[price > 0],
        tolerance,
    )
    found[free] -= best[:, 0] + best[:, 1:] @ (found[rest] - theta[rest])
    return found


def _inverse(hessian: FloatArray, free: IntArray) -> FloatArray:
    """Inverse of the part of what is free, 0 along what is flat."""
    steepness = np.diagonal(hessian)
    # The intercept of a class without rows would fall for ever: it stays where it is.
    moves = steepness[free] >= _ABSENT * steepness.max(initial=0.0)
    values, vectors = np.linalg.eigh(hessian[np.ix_(free[moves], free[moves])])
    sound = values > _COLLINEAR * values.max(initial=0.0)
    inverse = np.zeros((len(free), len(free)))
    kept = vectors[:, sound]
    inverse[np.ix_(moves, moves)] = (kept / values[sound]) @ kept.T
    return inverse


def _minimise_priced(
    hessian: FloatArray,
    slope: FloatArray,
    theta: FloatArray,
    start: IntArray,
    price: FloatArray,
    tolerance: float,
) -> FloatArray:
    """The same where all groups have a price."""
    parts = [np.linalg.eigh(hessian[a:b, a:b]) for a, b in pairwise(start)]
    values = np.concatenate([np.maximum(v, _FLAT) for v, _ in parts] or [np.empty(0)])
    vectors = np.concatenate([v.ravel() for _, v in parts] or [np.empty(0)])
    hessian, found, slope = np.ascontiguousarray(hessian), theta.copy(), slope.copy()
    model = GroupedModel(hessian, start, price, values, vectors, *np.empty((2, len(theta))))
    for _ in range(_MOST_ROUNDS):
        if descend(model, slope, found, tolerance):
            break
        _approach(hessian, slope, found, start, price, tolerance)
    return found


def _approach(
    hessian: FloatArray,
    slope: FloatArray,
    theta: FloatArray,
    start: IntArray,
    price: FloatArray,
    tolerance: float,
) -> None:
    """Newton's steps of the groups that have coefficients, where their norms are smooth: descent
    over collinear groups takes thousands of sweeps. Changes `theta` and `slope`."""
    group_of = np.repeat(np.arange(len(price)), np.diff(start))
    used = np.flatnonzero(sums_of_groups(theta**2, start)[group_of] > 0)
    if not len(used):
        return
    part, own_start = hessian[np.ix_(used, used)], np.searchsorted(used, start)
    own_of, down, place = group_of[used], slope[used], theta[used]
    ridge = max(_RIDGE * np.diagonal(part).max(), _FLAT)
    for _ in range(_MOST_OF_PRICED):
        norm = np.sqrt(sums_of_groups(place**2, own_start))[own_of]
        along, bend = place / norm, price[own_of] / norm
        curved = part + np.where(
            own_of[:, np.newaxis] == own_of, -np.outer(bend * along, along), 0.0
        )
        curved[np.diag_indices_from(curved)] += bend + ridge
        step = -_solved(curved, down + price[own_of] * along)
        before = penalty_of(place, own_start, price)
        for length in _LENGTHS:
            moved = length * step
            gain = moved @ (down + 0.5 * part @ moved)
            gain += penalty_of(place + moved, own_start, price) - before
            if gain < 0:
                break
        else:
            break
        place = place + moved
        down = down + part @ moved
        if np.abs(moved).max() < tolerance:
            break
    slope += hessian[:, used] @ (place - theta[used])
    theta[used] = place


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The solution; of a singular matrix, as with as many groups as rows, the shortest one."""
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])


@inner
def is_out(theta, a, b):
    """Whether a group has no coefficients."""
    n_used = 0
    for j in range(a, b):
        n_used += theta[j] != 0.0
    return n_used == 0


@inner
def length_of_group(turned, values, a, b, price):
    """Norm r of the coefficients at the minimum, from the pull along the principal axes: the root
    of ``sum_i (turned_i / (values_i r + price))**2 = 1``. The reciprocal of the root of the left
    side is concave in r, so that Newton's steps rise to it and never go beyond."""
    r = 0.0
    for _ in range(100):
        square = 0.0
        down = 0.0
        for j in range(a, b):
            below = values[j] * r + price
            part = turned[j] / below
            square += part * part
            down += part * part * values[j] / below
        step = (np.sqrt(square) - 1.0) * square / down
        r += step
        if step <= 1e-15 * r:
            break
    return r


@inner
def minimise_group(model, slope, theta, g, place):
    """Put a group at its minimum, the others staying; returns the largest change. Its eigenvectors
    are ``model.vectors`` from `place` on."""
    a, b, price = model.start[g], model.start[g + 1], model.price[g]
    hessian, values, vectors = model.hessian, model.values, model.vectors
    origin, turned = model.origin, model.turned
    width = b - a
    square = 0.0
    for i in range(width):
        along = 0.0
        pull = 0.0
        for j in range(width):
            along += vectors[place + j * width + i] * theta[a + j]
            pull += vectors[place + j * width + i] * slope[a + j]
        turned[a + i] = values[a + i] * along - pull
        square += turned[a + i] * turned[a + i]
    for j in range(a, b):
        origin[j] = theta[j]
        theta[j] = 0.0
    if np.sqrt(square) > price:
        r = length_of_group(turned, values, a, b, price)
        for i in range(width):
            along = turned[a + i] * r / (values[a + i] * r + price)
            for j in range(width):
                theta[a + j] += vectors[place + j * width + i] * along
    largest = 0.0
    for j in range(a, b):
        moved = theta[j] - origin[j]
        largest = max(largest, abs(moved))
        if moved != 0.0:
            for m in range(theta.shape[0]):
                slope[m] += hessian[j, m] * moved
    return largest


@kernel
def descend(model, slope, theta, tolerance):
    """Minimise group after group until a sweep changes next to nothing; tells whether it came to
    that. A group without coefficients gets some only when those with coefficients have come to
    rest, one at a time: the second of two copies has then nothing left to explain. `theta` is
    changed, and `slope` kept the gradient there."""
    start, price = model.start, model.price
    n_groups = price.shape[0]
    for sweep in range(_SWEEPS):
        largest = 0.0
        place = 0
        for g in range(n_groups):
            a, b = start[g], start[g + 1]
            if not is_out(theta, a, b):
                moved = minimise_group(model, slope, theta, g, place)
                largest = max(largest, moved)
            place += (b - a) * (b - a)
        if largest > tolerance and sweep < _SWEEPS - 1:
            continue
        enters = False
        place = 0
        for g in range(n_groups):
            a, b = start[g], start[g + 1]
            if not enters and is_out(theta, a, b):
                square = 0.0
                for j in range(a, b):
                    square += slope[j] * slope[j]
                if np.sqrt(square) > price[g] * (1.0 + VIOLATION):
                    enters = True
                    minimise_group(model, slope, theta, g, place)
            place += (b - a) * (b - a)
        if not enters and largest <= tolerance:
            return True
    return False
