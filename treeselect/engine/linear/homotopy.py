"""The exact path of a non-negative lasso: where a coordinate enters or leaves, and all between.

For a Gram matrix G, a linear term c and prices u the solution of ::

    minimise over w >= 0:   w' G w / 2  -  c' w  +  lam * u' w

is linear in lam between breakpoints (Osborne, Presnell and Turlach 2000; Efron, Hastie, Johnstone
and Tibshirani 2004, with the sign constraint of their section 3.4): on the active set S it is
``solve(G_SS, c_S - lam * u_S)``, and the next breakpoint is where a weight of S falls to 0 or the
gradient of another coordinate rises to 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.rounding import falling, first_largest, first_smallest

_DEPENDENT = 1e-9
"""A column is a combination of the active ones if so small a share of it is left beside them."""

_ROUNDING = 1e-13
"""A column is constant if its square is so small a share of the largest."""

_PER_COORDINATE = 40
"""Breakpoints for each coordinate, at most; rounding could make the path go in circles."""


class Segment(NamedTuple):
    """A stretch of the path between two penalties, the first from infinity, the last to 0:
    coordinates that are not 0 inside it, whose values are ``level - lam * slope``."""

    high: float
    low: float
    active: tuple[int, ...]
    level: FloatArray
    slope: FloatArray


class Homotopy:
    """The path, computed only as far as needed; coordinates without a price are in from the start
    where they help."""

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


_MOST_ENTRIES = 2**22
"""Entries of kernels that are held at once."""


class Kernel(NamedTuple):
    """A kernel of some columns: ``scale_i scale_j [label_i = label_j] exp(-|x_i - x_j|^2 / 2)``,
    where `x`, (n_columns, n_rows), are numbers, divided by the kernel's width; there may be none,
    no labels, and no scale, which is then 1."""

    x: FloatArray
    labels: IntArray | None = None
    scale: FloatArray | None = None

    @property
    def is_constant(self) -> bool:
        """Whether its entries are the same for all rows."""
        if self.labels is not None and (self.labels != self.labels[0]).any():
            return False
        return bool((self.x == self.x[:, :1]).all())

    def between(self, i: IntArray, j: IntArray) -> FloatArray:
        """Entries for rows of some blocks, shapes (n_blocks, n_i) and (n_blocks, n_j)."""
        i, j = i[:, :, np.newaxis], j[:, np.newaxis, :]
        found = np.zeros(np.broadcast_shapes(i.shape, j.shape))
        for column in self.x:
            apart = column[i] - column[j]
            apart *= apart
            found -= apart
        if len(self.x):
            found *= 0.5
        np.exp(found, out=found)
        if self.labels is not None:
            found *= self.labels[i] == self.labels[j]
        if self.scale is not None:
            found *= self.scale[i] * self.scale[j]
        return found


class Blocks(NamedTuple):
    """Which rows are compared with which, and how often each counts, 0 where a block has fewer
    rows; both (n_blocks, size)."""

    rows: IntArray
    mass: FloatArray


def all_rows(mass: FloatArray) -> Blocks:
    """One block."""
    return Blocks(np.arange(len(mass))[np.newaxis], mass[np.newaxis])


def shuffled_blocks(mass: FloatArray, size: int, seeds: Sequence[int]) -> Blocks:
    """Blocks of at most `size` rows, about equally long, from one shuffling for each seed."""
    n = len(mass)
    n_blocks = -(-n // size)
    places = np.full((n_blocks, -(-n // n_blocks)), -1)
    for b, part in enumerate(np.array_split(np.arange(n), n_blocks)):
        places[b, : len(part)] = part
    orders = [np.random.default_rng(seed).permutation(n) for seed in seeds]
    rows = np.concatenate([order[places] for order in orders])
    there = np.concatenate([places >= 0] * len(orders))
    return Blocks(rows, np.where(there, mass[rows], 0.0))


def inner_products(kernels: Sequence[Kernel], blocks: Blocks) -> FloatArray:
    """Inner products of the centred matrices of some kernels, shape (n_kernels, n_kernels), summed
    in pieces: no matrix is held for long.

    For kernel matrices K and L of n rows and the centring matrix H the Hilbert-Schmidt independence
    criterion is ``<H K H, L> = sum_ij K_ij L_ij - 2 n sum_i k_i l_i + n^2 k l``, where k_i and l_i
    are the means of the rows and k and l those of all entries (Gretton et al. 2005); rows with
    weights count as if they stood there so often. In blocks it is summed over the blocks
    (Climente-Gonzalez et al. 2019), in proportion to the number of rows.
    """
    n_blocks, size = blocks.rows.shape
    total = np.zeros((len(kernels), len(kernels)))
    if not kernels:
        return total
    at_once = max(_MOST_ENTRIES // (len(kernels) * size * size), 1)
    for first in range(0, n_blocks, at_once):
        last = first + at_once
        part = Blocks(blocks.rows[first:last], blocks.mass[first:last])
        total += _of_blocks(kernels, part)
    return total


def _of_blocks(kernels: Sequence[Kernel], blocks: Blocks) -> FloatArray:
    mass = blocks.mass
    n_blocks, size = mass.shape
    total = np.zeros((len(kernels), len(kernels)))
    sums = np.zeros((len(kernels), n_blocks, size))
    for a, b in _stretches(len(kernels) * n_blocks, size):
        # A stretch of rows against itself and all that come after, which count twice.
        entries = np.empty((len(kernels), n_blocks, b - a, size - a))
        for at, kernel in enumerate(kernels):
            entries[at] = kernel.between(blocks.rows[:, a:b], blocks.rows[:, a:])
        sums[:, :, a:b] += np.einsum("kbij,bj->kbi", entries, mass[:, a:])
        sums[:, :, b:] += np.einsum("kbij,bi->kbj", entries[:, :, :, b - a :], mass[:, a:b])
        often = mass[:, a:b, np.newaxis] * mass[:, np.newaxis, a:]
        often[:, :, b - a :] *= 2
        entries *= np.sqrt(often)
        flat = entries.reshape(len(kernels), -1)
        total += flat @ flat.T
    n = mass.sum(axis=1)
    means = sums / n[:, np.newaxis]
    whole = (means * mass).sum(axis=2) / n
    rows = (means * np.sqrt(mass * n[:, np.newaxis])).reshape(len(kernels), -1)
    of_blocks = whole * n
    return np.asarray(total - 2 * rows @ rows.T + of_blocks @ of_blocks.T)


def _stretches(n_matrices: int, size: int) -> Iterator[tuple[int, int]]:
    """Rows from one to another, so many that their entries from there on can be held."""
    a = 0
    while a < size:
        b = min(a + max(_MOST_ENTRIES // (n_matrices * (size - a)), 1), size)
        yield a, b
        a = b
