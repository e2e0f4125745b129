"""The exact path of a non-negative lasso: where a coordinate enters or leaves, and all between.

For a Gram matrix G, a linear term c and prices u the solution of ::

    minimise over w >= 0:   w' G w / 2  -  c' w  +  lam * u' w

is linear in lam between breakpoints (Osborne, Presnell and Turlach 2000; Efron, Hastie, Johnstone
and Tibshirani 2004, with the sign constraint of their section 3.4): on the active set S it is
``solve(G_SS, c_S - lam * u_S)``, and the next breakpoint is where a weight of S falls to 0 or the
gradient of another coordinate rises to 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeselect.engine.arrays import FloatArray
from treeselect.engine.rounding import falling, first_largest, first_smallest

_DEPENDENT = 1e-9
"""A column is a combination of the active ones if so small a share of it is left beside them."""

_ROUNDING = 1e-13
"""A column is constant if its square is so small a share of the largest."""

_PER_COORDINATE = 40
"""Breakpoints for each coordinate, at most; rounding could make the path go in circles."""


class Segment(NamedTuple):
    """A stretch of the path.

    Attributes
    ----------
    high, low : float
        Penalties between which it lies; the first begins at infinity, the last ends at 0.
    active : tuple of int
        Coordinates that are not 0 inside it.
    level, slope : ndarray of float, shape (n_active,)
        Their values are ``level - lam * slope``.
    """

    high: float
    low: float
    active: tuple[int, ...]
    level: FloatArray
    slope: FloatArray


class Homotopy:
    """The path, computed only as far as needed.

    Parameters
    ----------
    gram : ndarray of float, shape (n, n)
    linear, prices : ndarray of float, shape (n,)
        c, and u of at least 0. Coordinates without a price are in from the start where they help.
    """

    def __init__(self, gram: FloatArray, linear: FloatArray, prices: FloatArray) -> None:
        self._gram, self._linear, self._prices = gram, linear, prices
        self._segments: list[Segment] = []
        self._active = self._first_active()
        self._moved = -1
        self._high = np.inf
        self._follow()

    def segment(self, number: int) -> Segment | None:
        """A stretch by its number from the top, None if the path has fewer."""
        while len(self._segments) <= number and self._high > 0:
            self._follow()
        return self._segments[number] if number < len(self._segments) else None

    def at(self, lam: float) -> FloatArray:
        """The solution at a penalty, shape (n,)."""
        while self._high > lam:
            self._follow()
        found = next(s for s in self._segments if s.low <= lam)
        weights = np.zeros(len(self._linear))
        slope = found.slope if np.isfinite(lam) else np.zeros_like(found.slope)
        fixed = found.level - (lam * slope if np.isfinite(lam) else 0.0)
        weights[list(found.active)] = np.maximum(fixed, 0.0)
        return weights

    def _first_active(self) -> list[int]:
        """Coordinates without a price that the best solution on them alone uses."""
        own = np.diag(self._gram)
        # A constant column has a square of 0 but for rounding, which may be below it.
        free = np.flatnonzero((self._prices == 0) & (own > _ROUNDING * own.max(initial=0.0)))
        if not len(free):
            return []
        root = np.linalg.cholesky(self._gram[np.ix_(free, free)] + np.diag(_DEPENDENT * own[free]))
        from scipy.optimize import nnls

        weights, _ = nnls(root.T, np.linalg.solve(root, self._linear[free]))
        positive = weights > 0
        chosen = without_dependent(
            self._gram[np.ix_(free[positive], free[positive])], weights[positive]
        )
        return [int(j) for j in free[positive][chosen]]

    def _follow(self) -> None:
        """Add the next segment and change the active set at its end."""
        active = self._active
        both = np.column_stack([self._linear[active], self._prices[active]])
        both = np.asarray(np.linalg.solve(self._gram[np.ix_(active, active)], both), np.float64)
        level, slope = both[:, 0], both[:, 1]
        low, moved = self._next_breakpoint(active, level, slope)
        if len(self._segments) >= _PER_COORDINATE * (len(self._linear) + 1):
            low = 0.0
        self._segments.append(Segment(self._high, low, tuple(active), level, slope))
        self._high = low
        if moved in active:
            self._active = [j for j in active if j != moved]
        elif low > 0:
            self._active = [*active, moved]
        self._moved = moved

    def _next_breakpoint(
        self, active: list[int], level: FloatArray, slope: FloatArray
    ) -> tuple[float, int]:
        """The next penalty at which the active set changes, and who enters or leaves; 0 if none."""
        across = self._gram[:, active]
        height = self._linear - across @ level
        fall = self._prices - across @ slope
        outside = np.ones(len(fall), dtype=bool)
        outside[active] = False
        if self._moved >= 0:
            outside[self._moved] = False  # what has just left has its gradient at 0, and falling
        entry = np.where(outside & (fall > 0) & (height > 0), height, 0.0)
        entry = np.minimum(entry / np.where(entry > 0, fall, 1.0), self._high)
        exits = np.where((slope < 0) & (level < 0), level, 0.0)
        exits = np.minimum(exits / np.where(exits < 0, slope, 1.0), self._high)
        if active and active[-1] == self._moved:
            exits[-1] = 0.0  # it has just come in
        last = float(exits.max(initial=0.0))
        for j in falling(entry):
            if entry[j] <= last:
                break
            if not self._depends(int(j), active):
                return float(entry[j]), int(j)
        return (last, active[first_largest(exits)]) if last > 0 else (0.0, -1)

    def _depends(self, j: int, active: list[int]) -> bool:
        """Whether a column is a combination of the active ones: its gradient then stays where it
        is, at most 0."""
        own = self._gram[j, j]
        if own <= 0:
            return True
        if not active:
            return False
        across = self._gram[active, j]
        left = own - across @ np.linalg.solve(self._gram[np.ix_(active, active)], across)
        return bool(left <= _DEPENDENT * own)


def without_dependent(gram: FloatArray, weights: FloatArray) -> NDArray[np.int64]:
    """Coordinates that fit as well by themselves, with weights of at least 0, and are independent.

    Along a combination of columns that is nothing the fit does not change: weights are moved along
    it until one of them is 0 (Caratheodory's theorem for cones).

    Parameters
    ----------
    gram : ndarray of float, shape (n, n)
    weights : ndarray of float, shape (n,)
        Above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.engine.linear.homotopy import without_dependent
    >>> columns = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> without_dependent(columns.T @ columns, np.array([2.0, 3.0, 1.0])).tolist()
    [0, 1]
    """
    size = np.sqrt(np.diag(gram))
    left = np.flatnonzero(size > 0)
    weights = weights * size
    while len(left):
        scale = np.outer(size[left], size[left])
        values, vectors = np.linalg.eigh(gram[np.ix_(left, left)] / scale)
        if values[0] > _DEPENDENT:
            break
        nothing = vectors[:, 0]
        largest = int(np.argmax(np.abs(nothing) > np.abs(nothing).max() - 1e-6))
        falls = nothing * np.sign(nothing[largest])  # libraries differ in the sign
        steps = np.where(falls > 0, weights[left] / np.where(falls > 0, falls, 1.0), np.inf)
        weights[left] = np.maximum(weights[left] - steps.min() * falls, 0.0)
        left = np.delete(left, first_smallest(steps))
    return left
