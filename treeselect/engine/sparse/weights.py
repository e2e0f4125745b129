"""The sparse forest: a non-negative weighted lasso over trees.

Problem (2) of Liu, Xie and Udell (2021), with a free intercept b and the ridge term of their
section 6.2::

    minimise over w >= 0, b:
        mean_i L(y_i, F0 + b + (A w)_i)  +  lam * sum_t u_t w_t  +  ridge / 2 * sum_t w_t ** 2

Column t of A is the prediction of tree t, u_t the price of the groups it uses. With several outputs
(classes) a tree has a value for each of them and one weight. It is solved by proximal Newton steps
on a working set of trees; trees without a price are in from the start.

A is kept as leaf numbers. Trees of few leaves share a byte: where one has 8 leaves and another 32,
the 256 codes of a byte stand for both leaf numbers of a row, and each tree has a table of its value
for each code; a sum of residuals by code serves all trees of the byte. A tree of more than 256
leaves is kept as several pieces, each with a share of its leaves and one leaf of value 0 for the
others; a table belongs to a piece.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray, LeafArray, UInt8Array, WeightArray
from treeselect.engine.compiling import kernel
from treeselect.engine.linear.columns import blocks_of
from treeselect.engine.losses import Loss

if TYPE_CHECKING:
    from typing import Self

_MOST = 256
"""Codes of a byte."""

_BLOCK = 8192
"""Rows whose columns are written out at a time."""


class TreeColumns:
    """Columns of A for some rows of the data, from the leaf of each row for each tree and the
    values of the leaves, (n_leaves,) or (n_leaves, n_outputs). With several outputs a column has
    ``n_rows * n_outputs`` entries, those of a row side by side."""

    def __init__(
        self,
        leaves: Sequence[LeafArray],
        values: Sequence[FloatArray],
        rows: IntArray,
        n_outputs: int = 1,
    ) -> None:
        self.n_rows, self.n_outputs = len(rows), n_outputs
        shaped = [np.asarray(v, dtype=np.float64).reshape(-1, n_outputs) for v in values]
        pieces = [piece for t, value in enumerate(shaped) for piece in _pieces(t, value)]
        self._byte, factors, n_codes = _share_bytes([len(piece.values) for piece in pieces])
        self._codes = np.zeros((len(n_codes), len(rows)), dtype=np.uint8)
        tables: list[FloatArray] = [np.empty((0, n_outputs))]
        cells: list[IntArray] = [np.empty(0, dtype=np.int64)]
        whole = len(leaves) > 0 and np.array_equal(rows, np.arange(len(leaves[0])))
        for piece, byte, factor in zip(pieces, self._byte, factors, strict=True):
            own = leaves[piece.tree] if whole else leaves[piece.tree][rows]
            self._codes[byte] += np.uint8(factor) * _leaves_of(piece, own)
            codes = np.arange(n_codes[byte])
            tables.append(piece.values[codes // factor % len(piece.values)])
            cells.append(_MOST * byte + codes)
        self._values, self._cell = np.concatenate(tables), np.concatenate(cells)
        self._start = np.cumsum([len(table) for table in tables], dtype=np.int64)
        trees = np.array([piece.tree for piece in pieces], dtype=np.int64)
        self._piece = np.searchsorted(trees, np.arange(len(shaped) + 1))

    @property
    def n_trees(self) -> int:
        return len(self._piece) - 1

    def block(self, trees: IntArray, rows: slice) -> FloatArray:
        """Some columns for some rows, shape (n_trees of these, n_rows of these * n_outputs)."""
        first, end, _ = rows.indices(self.n_rows)
        out = np.empty((len(trees), (end - first) * self.n_outputs))
        self.write(trees, first, out)
        return out

    def write(self, trees: IntArray, first: int, out: FloatArray) -> None:
        """Write some columns for the rows from `first` on, as many as `out` has room for."""
        if self.n_outputs == 1:
            write_columns(
                self._codes, self._byte, self._start, self._piece, self._values.ravel(),
                trees, first, out,
            )  # fmt: skip
        else:
            write_wide_columns(
                self._codes, self._byte, self._start, self._piece, self._values, trees, first, out
            )

    def blocks(self) -> Iterator[slice]:
        """Rows, so many at a time that their columns stay in the processor's cache."""
        return blocks_of(self.n_rows)

    def combine(self, weights: FloatArray) -> FloatArray:
        """``A @ weights``, shape (n_rows,) or (n_rows, n_outputs)."""
        trees = np.flatnonzero(weights)
        total = np.zeros((self.n_rows, self.n_outputs))
        for rows in self.blocks():
            total[rows] = (weights[trees] @ self.block(trees, rows)).reshape(-1, self.n_outputs)
        return total if self.n_outputs > 1 else total[:, 0]

    def correlate(self, residual: FloatArray) -> FloatArray:
        """``A.T @ residual``, shape (n_trees,), of a residual of shape (n_rows * n_outputs,): its
        sums by leaf, times the leaf's value."""
        products = np.zeros(len(self._values))
        for k, own in enumerate(residual.reshape(self.n_rows, -1).T):
            products += self._sums(np.ascontiguousarray(own)) * self._values[:, k]
        return self._by_tree(products)

    def gram(self, share: FloatArray) -> FloatArray:
        """``A.T @ diag(share) @ A``, shape (n_trees, n_trees), of columns of one output."""
        assert self.n_outputs == 1
        total, every = np.zeros((self.n_trees, self.n_trees)), np.arange(self.n_trees)
        for rows in self.blocks():
            block = self.block(every, rows) * np.sqrt(share[rows])
            total += block @ block.T
        return total

    def sketch(
        self,
        share: FloatArray,
        residual: FloatArray,
        mean: FloatArray,
        size: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Gaussian combinations of the rows, scaled by the roots of their shares, of the columns
        less their means and, in the last column, of the residual; shape (size, n_trees + 1)."""
        mixed, every = np.zeros((size, self.n_trees + 1)), np.arange(self.n_trees)
        for rows in self.blocks():
            root = np.sqrt(share[rows])
            weights = rng.normal(size=(size, len(root))) * root
            mixed[:, :-1] += weights @ (self.block(every, rows) - mean[:, np.newaxis]).T
            mixed[:, -1] += weights @ residual[rows]
        return mixed

    def spread(self, share: FloatArray) -> FloatArray:
        """Standard deviation of each column over the rows (of several outputs the root of the sum
        of squares), shape (n_trees,); `share` sums to 1 over the rows."""
        sums = self._sums(share)[:, np.newaxis]
        mean = np.stack([self._by_tree(own) for own in (sums * self._values).T])
        square = np.stack([self._by_tree(own) for own in (sums * self._values**2).T])
        return np.sqrt(np.maximum((square - mean**2).sum(axis=0), 0.0))

    def _sums(self, residual: FloatArray) -> FloatArray:
        """Sum of the residuals of the rows that have the code of each value."""
        sums = np.zeros((len(self._codes), _MOST))
        sum_by_code(self._codes, residual, sums)
        return sums.ravel()[self._cell]

    def _by_tree(self, products: FloatArray) -> FloatArray:
        """Sum of each tree's products, of which there is one for each value."""
        if self.n_trees == 0:
            return products
        return np.asarray(np.add.reduceat(products, self._start[self._piece[:-1]]))


class _Piece(NamedTuple):
    """A tree, or some of its leaves: `values` are those of its leaves, and 0 for the others if
    there are any."""

    tree: int
    first: int
    n_leaves: int
    values: FloatArray


def _pieces(tree: int, value: FloatArray) -> Iterator[_Piece]:
    if len(value) <= _MOST:
        yield _Piece(tree, 0, len(value), value)
        return
    zero = np.zeros((1, value.shape[1]))
    for first in range(0, len(value), _MOST - 1):
        part = value[first : first + _MOST - 1]
        yield _Piece(tree, first, len(part), np.concatenate([part, zero]))


def _leaves_of(piece: _Piece, leaves: LeafArray) -> UInt8Array:
    """Leaf numbers within a piece."""
    if piece.n_leaves < len(piece.values):
        inside = (leaves >= piece.first) & (leaves < piece.first + piece.n_leaves)
        leaves = np.where(inside, leaves - piece.first, piece.n_leaves)
    return leaves.astype(np.uint8)


def _share_bytes(sizes: Sequence[int]) -> tuple[IntArray, list[int], list[int]]:
    """Let pieces of these sizes share bytes, the largest first, where they leave least room.
    Returns the byte of each piece, what its leaf numbers are multiplied by in the sum that is the
    byte's code, and the number of codes of each byte."""
    byte, factors, n_codes = np.zeros(len(sizes), dtype=np.int64), [1] * len(sizes), []
    with_room: list[list[int]] = [[] for _ in range(_MOST + 1)]
    for at in sorted(range(len(sizes)), key=lambda at: -sizes[at]):
        room = next((r for r in range(sizes[at], _MOST + 1) if with_room[r]), None)
        if room is None:
            n_codes.append(1)
            own = len(n_codes) - 1
        else:
            own = with_room[room].pop()
        byte[at], factors[at] = own, n_codes[own]
        n_codes[own] *= sizes[at]
        with_room[_MOST // n_codes[own]].append(own)
    return byte, factors, n_codes


@kernel
def write_columns(codes, byte, start, piece, values, trees, first, out):
    """Write the values of some trees' leaves for the rows from `first` on, ``out`` of shape
    (n_trees of these, n_rows of these)."""
    n_rows = out.shape[1]
    for k in range(trees.shape[0]):
        for p in range(piece[trees[k]], piece[trees[k] + 1]):
            own, code = values[start[p] : start[p + 1]], codes[byte[p], first : first + n_rows]
            if p == piece[trees[k]]:
                for i in range(n_rows):
                    out[k, i] = own[code[i]]
            else:
                for i in range(n_rows):
                    out[k, i] += own[code[i]]


@kernel
def write_wide_columns(codes, byte, start, piece, values, trees, first, out):
    """The same with several outputs, those of a row side by side."""
    n_outputs = values.shape[1]
    n_rows = out.shape[1] // n_outputs
    out[:] = 0.0
    for k in range(trees.shape[0]):
        t = trees[k]
        for p in range(piece[t], piece[t + 1]):
            code = codes[byte[p], first : first + n_rows]
            for i in range(n_rows):
                at = start[p] + code[i]
                for c in range(n_outputs):
                    out[k, i * n_outputs + c] += values[at, c]


@kernel
def sum_by_code(codes, residual, sums):
    """Add the residuals of the rows that have each code of each byte to ``sums``, shape (n_bytes,
    256). Two bytes at a time: neither waits for the other's sums."""
    n_rows, n_bytes = residual.shape[0], codes.shape[0]
    for first in range(0, n_rows, _BLOCK):
        last = min(first + _BLOCK, n_rows)
        for b in range(0, n_bytes - 1, 2):
            for i in range(first, last):
                sums[b, codes[b, i]] += residual[i]
                sums[b + 1, codes[b + 1, i]] += residual[i]
        if n_bytes % 2 == 1:
            for i in range(first, last):
                sums[n_bytes - 1, codes[n_bytes - 1, i]] += residual[i]


_MAX_NEWTON = 50
_MAX_SWEEPS = 10_000
_NOTHING = 1e-12
"""Correlations are rounding, and no tree enters, below this share of what could be."""
_FAINT = 1e-8
"""Optimality is told by correlations of at least this share: finer ones are not to be had."""
_PATH_RATIO = 0.9


class WeightedTrees(NamedTuple):
    """A solution at one penalty: weights of at least 0, intercepts, the last of several 0, and the
    linear predictor of the rows of the problem."""

    lam: float
    weights: FloatArray
    intercept: FloatArray
    eta: FloatArray


class SparseForest:
    """The problem for given trees, rows and prices. ``is_exact`` tells whether :meth:`penalties`
    meet every set of trees that the path has; `base` is F0, the linear predictor of the constant
    model; `tolerance` the largest violation of the optimality conditions, relative to that of the
    empty forest; `form` what a form of the problem takes besides (see :meth:`_prepare`)."""

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
        **form: Any,
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
        self._prepare(**form)

    def _prepare(self) -> None:
        """What a form of the problem is solved from."""

    @property
    def n_trees(self) -> int:
        return self.columns.n_trees

    def with_prices(self, prices: FloatArray) -> Self:
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
            last, current = current, self._descend(current, lam, working)
            if current.eta is last.eta:  # no decrease left, nor will there be
                break
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
            if _violation(excess, x, n_free) <= 0.5 * self._tolerance:
                break
            hessian = part.hessian(eta)
            hessian[np.diag_indices_from(hessian)] *= 1.0 + 1e-12
            hessian[np.diag_indices_from(hessian)] += ridge
            quadratic = hessian, slope + hessian @ x, price
            target = same_signs(*quadratic, x, n_free) if len(x) > len(self.base) else x.copy()
            coordinate_descent(*quadratic, target, n_free, 0.05 * self._tolerance)
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
        with np.errstate(over="ignore", invalid="ignore"):  # a step too far is an infinite loss
            loss = float(self.share @ self.rows.value(eta))
            return loss + float(price @ x) + float(ridge @ x**2) / 2


class _Working:
    """Columns of the intercepts and of some trees, written out for some rows at a time. Of one
    output there is one intercept, none where a shift changes nothing; of K classes one for each but
    the last, since a shift of all outputs changes nothing."""

    def __init__(self, problem: SparseForest, trees: IntArray) -> None:
        self._problem, self._trees = problem, trees
        n_outputs = problem.loss.n_outputs
        n_shifts = int(problem.loss.has_constant)
        self._free = np.ones((n_shifts, 1)) if n_outputs == 1 else np.eye(n_outputs)[:-1]
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
        if problem.rows.is_joint:  # its diagonal alone takes hundreds of steps near a separation
            every = np.concatenate([block.copy() for _, block in self._blocks()], axis=1)
            curved = problem.rows.curvature_times(eta, every.T)
            return every @ (problem.share[:, np.newaxis] * curved)
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
    0; x is changed. Sweeps over all coordinates alternate with sweeps over the positive ones until
    the gradient's violation of optimality is at most `tolerance`."""
    descend(hessian, linear - price - hessian @ x, x, n_free, tolerance)


def same_signs(
    hessian: FloatArray, linear: FloatArray, price: FloatArray, x: FloatArray, n_free: int
) -> FloatArray:
    """The minimum if the positive coordinates stay so, else x. Of more trees than rows many are
    alike, and sweeps would move them by little at a time."""
    inside = (x > 0) | (np.arange(len(x)) < n_free)
    exact = np.zeros_like(x)
    with contextlib.suppress(np.linalg.LinAlgError):
        exact[inside] = np.linalg.solve(hessian[inside][:, inside], (linear - price)[inside])
    return exact if exact.any() and (exact[n_free:] >= 0).all() else x.copy()


def _violation(excess: FloatArray, x: FloatArray, n_free: int) -> float:
    """By how much the conditions of optimality are violated."""
    violation = np.where(x > 0, np.abs(excess), np.maximum(excess, 0.0))
    violation[:n_free] = np.abs(excess[:n_free])
    return float(violation.max())


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
