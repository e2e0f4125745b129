"""The predictions of many trees on the same rows, as leaf numbers: the matrix A of a sparse forest.

Row i of column t is the value of the leaf that row i falls into in tree t. Leaf numbers take a byte
for each row and tree; a tree of more than 256 leaves is kept as several pieces, each with a share
of its leaves and one leaf of value 0 for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from treeselect.engine._types import FloatArray, IntArray, UInt8Array, UInt16Array
from treeselect.engine.cache import kernel

_MOST = 256
"""Leaves of one piece."""

_BLOCK = 8192
"""Rows whose columns are written out at a time."""


class TreeColumns:
    """Columns of A for some rows.

    Parameters
    ----------
    leaves : sequence of ndarray of uint8 or uint16, each of shape (n_rows of the data,)
        Leaf of each row in each tree.
    values : sequence of ndarray of float, each of shape (n_leaves,) or (n_leaves, n_outputs)
        Values of the leaves of each tree.
    rows : ndarray of int64, shape (n_rows,)
        Rows of the data that are wanted.
    n_outputs : int
        Values of a leaf; with several a column has ``n_rows * n_outputs`` entries, those of a row
        side by side.
    """

    def __init__(
        self,
        leaves: Sequence[UInt8Array | UInt16Array],
        values: Sequence[FloatArray],
        rows: IntArray,
        n_outputs: int = 1,
    ) -> None:
        self.n_rows, self.n_outputs = len(rows), n_outputs
        shaped = [np.asarray(v, dtype=np.float64).reshape(-1, n_outputs) for v in values]
        n_pieces = np.array([_n_pieces(len(v)) for v in shaped], dtype=np.int64)
        self._piece = np.concatenate([[0], np.cumsum(n_pieces)])
        self._codes = np.empty((int(self._piece[-1]), len(rows)), dtype=np.uint8)
        parts: list[FloatArray] = [np.empty((0, n_outputs))]
        for t, value in enumerate(shaped):
            own = leaves[t][rows]
            for at, (codes, part) in enumerate(_pieces(own, value), start=int(self._piece[t])):
                self._codes[at] = codes
                parts.append(part)
        self._values = np.concatenate(parts)
        self._start = np.cumsum([len(part) for part in parts], dtype=np.int64)

    @property
    def n_trees(self) -> int:
        """Number of columns."""
        return len(self._piece) - 1

    def block(self, trees: IntArray, rows: slice) -> FloatArray:
        """Some columns for some rows, shape (n_trees of these, n_rows of these * n_outputs)."""
        first, end, _ = rows.indices(self.n_rows)
        out = np.empty((len(trees), (end - first) * self.n_outputs))
        if self.n_outputs == 1:
            write_columns(
                self._codes, self._start, self._piece, self._values[:, 0].copy(), trees, first, out
            )
        else:
            write_wide_columns(
                self._codes, self._start, self._piece, self._values, trees, first, out
            )
        return out

    def blocks(self) -> Iterator[slice]:
        """Rows, so many at a time that their columns stay in the processor's cache."""
        for first in range(0, self.n_rows, _BLOCK):
            yield slice(first, min(first + _BLOCK, self.n_rows))

    def combine(self, weights: FloatArray) -> FloatArray:
        """``A @ weights``, shape (n_rows,) or (n_rows, n_outputs)."""
        trees = np.flatnonzero(weights)
        total = np.zeros((self.n_rows, self.n_outputs))
        for rows in self.blocks():
            total[rows] = (weights[trees] @ self.block(trees, rows)).reshape(-1, self.n_outputs)
        return total if self.n_outputs > 1 else total[:, 0]

    def correlate(self, residual: FloatArray) -> FloatArray:
        """``A.T @ residual``: sums of the residual by leaf, times the leaf's value.

        Parameters
        ----------
        residual : ndarray of float, shape (n_rows * n_outputs,)

        Returns
        -------
        ndarray of float, shape (n_trees,)
        """
        return self._by_tree(self._values, residual)

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
        square = np.zeros(self.n_trees)
        for k in range(self.n_outputs):
            one = np.zeros((self.n_rows, self.n_outputs))
            one[:, k] = share
            mean = self._by_tree(self._values, one.ravel())
            square += self._by_tree(self._values**2, one.ravel()) - mean**2
        return np.sqrt(np.maximum(square, 0.0))

    def _by_tree(self, values: FloatArray, residual: FloatArray) -> FloatArray:
        products = np.zeros(len(values))
        for k, own in enumerate(residual.reshape(self.n_rows, -1).T):
            sums = np.zeros(len(values))
            sum_by_leaf(self._codes, self._start, np.ascontiguousarray(own), sums)
            products += sums * values[:, k]
        if self.n_trees == 0:
            return products
        return np.asarray(np.add.reduceat(products, self._start[self._piece[:-1]]))


def _n_pieces(n_leaves: int) -> int:
    return 1 if n_leaves <= _MOST else -(-n_leaves // (_MOST - 1))


def _pieces(
    leaves: UInt8Array | UInt16Array, value: FloatArray
) -> Iterator[tuple[UInt8Array, FloatArray]]:
    """Codes and values of the pieces of a tree."""
    if len(value) <= _MOST:
        yield leaves.astype(np.uint8), value
        return
    zero = np.zeros((1, value.shape[1]))
    for first in range(0, len(value), _MOST - 1):
        part = value[first : first + _MOST - 1]
        inside = (leaves >= first) & (leaves < first + len(part))
        codes = np.where(inside, leaves - first, len(part)).astype(np.uint8)
        yield codes, np.concatenate([part, zero])


@kernel
def write_columns(codes, start, piece, values, trees, first, out):
    """Write the values of some trees' leaves for the rows from `first` on, ``out`` of shape
    (n_trees of these, n_rows of these)."""
    n_rows = out.shape[1]
    for k in range(trees.shape[0]):
        t = trees[k]
        p = piece[t]
        own = values[start[p] : start[p + 1]]
        for i in range(n_rows):
            out[k, i] = own[codes[p, first + i]]
        for p in range(piece[t] + 1, piece[t + 1]):
            own = values[start[p] : start[p + 1]]
            for i in range(n_rows):
                out[k, i] += own[codes[p, first + i]]


@kernel
def write_wide_columns(codes, start, piece, values, trees, first, out):
    """The same with several outputs, those of a row side by side."""
    n_outputs = values.shape[1]
    n_rows = out.shape[1] // n_outputs
    out[:] = 0.0
    for k in range(trees.shape[0]):
        t = trees[k]
        for p in range(piece[t], piece[t + 1]):
            for i in range(n_rows):
                at = start[p] + codes[p, first + i]
                for c in range(n_outputs):
                    out[k, i * n_outputs + c] += values[at, c]


@kernel
def sum_by_leaf(codes, start, residual, sums):
    """Add the residuals of each leaf of each piece to ``sums``, shape (n_leaves of all pieces,).

    Two pieces at a time: neither waits for the other's sums.
    """
    n_rows, n_pieces = residual.shape[0], codes.shape[0]
    for t in range(0, n_pieces, 2):
        u = min(t + 1, n_pieces - 1)
        one, other = sums[start[t] : start[t + 1]], sums[start[u] : start[u + 1]]
        if u == t:
            for i in range(n_rows):
                one[codes[t, i]] += residual[i]
        else:
            for i in range(n_rows):
                one[codes[t, i]] += residual[i]
                other[codes[u, i]] += residual[i]
