"""A quadratic model with a penalty on the norm of each group of coefficients, and its minimum.

Descent over the groups (Yuan and Lin 2006), each of which is put at its minimum, in turn with
Newton's steps of those that have coefficients.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.cache import inner, kernel

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
_MOST_STEPS = 100
_LENGTHS = 0.5 ** np.arange(12)


class GroupedModel(NamedTuple):
    """A quadratic model whose groups all have a price, and memory for descending it.

    Attributes
    ----------
    hessian : ndarray of float64, shape (n, n)
    start : ndarray of int64, shape (n_groups + 1,)
        First coefficient of each group.
    price : ndarray of float64, shape (n_groups,)
    values, vectors : ndarray of float64
        Eigenvalues and eigenvectors of each group's part of the second derivative, group after
        group.
    origin, turned : ndarray of float64, shape (n,)
        Working memory: a group's coefficients before, and its pull along the principal axes.
    """

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
    """Minimise ``slope (b - theta) + (b - theta) hessian (b - theta) / 2 + sum price |b_g|``.

    What is free is minimised together, as a function of the rest: it may be nearly collinear, as
    the intercepts of rare classes are with factors.

    Parameters
    ----------
    hessian : ndarray of float, shape (n, n)
    slope, theta : ndarray of float, shape (n,)
    start : ndarray of int64, shape (n_groups + 1,)
    price : ndarray of float, shape (n_groups,)
    tolerance : float
        Change of a coefficient at which a sweep has changed nothing.
    """
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
    for _ in range(_MOST_STEPS):
        norm = np.sqrt(sums_of_groups(place**2, own_start))[own_of]
        along, bend = place / norm, price[own_of] / norm
        curved = part + np.where(
            own_of[:, np.newaxis] == own_of, -np.outer(bend * along, along), 0.0
        )
        curved[np.diag_indices_from(curved)] += bend + ridge
        step = -np.linalg.solve(curved, down + price[own_of] * along)
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


@inner
def is_out(theta, a, b):
    """Whether a group has no coefficients."""
    n_used = 0
    for j in range(a, b):
        n_used += theta[j] != 0.0
    return n_used == 0


@inner
def length_of_group(turned, values, a, b, price):
    """Norm r of the coefficients at the minimum, from the pull along the principal axes.

    The root of ``sum_i (turned_i / (values_i r + price))**2 = 1``, where the left side is above 1
    at r = 0. The reciprocal of its root is concave in r, so that Newton's steps rise to where it
    is 1 and never go beyond.
    """
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
    """Put a group at its minimum, the others staying; returns the largest change.

    Its eigenvectors are ``model.vectors`` from `place` on.
    """
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
    """Go through the groups, minimising each, until a sweep changes next to nothing; tells whether
    it came to that.

    A group without coefficients gets some only when those with coefficients have come to rest (or
    in the last sweep), one at a time: of copies, whatever stands between them, the second has then
    nothing left to explain.
    `theta` is changed, and `slope` kept the model's gradient there.
    """
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
