"""The predictions of many trees on the same rows, as leaf numbers: the matrix A of a sparse forest.

Row i of column t is the value of the leaf that row i falls into in tree t. Trees of few leaves
share a byte: where one has 8 leaves and another 32, the 256 codes of a byte stand for both leaf
numbers of a row, and each tree has a table of its value for each code. So half a byte for each tree
is read for a row, and a sum of residuals by code serves all trees of the byte. A tree of more than
256 leaves is kept as several pieces, each with a share of its leaves and one leaf of value 0 for
the others; a table belongs to a piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray, LeafArray, UInt8Array
from treeselect.engine.cache import kernel

_MOST = 256
"""Codes of a byte."""

_BLOCK = 8192
"""Rows whose columns are written out at a time."""


class TreeColumns:
    """Columns of A for some rows.

    Parameters
    ----------
    leaves : sequence of ndarray of uint8, uint16 or int32, each of shape (n_rows of the data,)
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
        """Number of columns."""
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
    """A tree, or some of its leaves.

    Attributes
    ----------
    tree : int
    first : int
        First of its leaves.
    n_leaves : int
        How many they are.
    values : ndarray of float64, shape (n_leaves or n_leaves + 1, n_outputs)
        Of its leaves, and 0 for the others if there are any.
    """

    tree: int
    first: int
    n_leaves: int
    values: FloatArray


def _pieces(tree: int, value: FloatArray) -> Iterator[_Piece]:
    """The pieces of a tree."""
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

    Returns
    -------
    byte : ndarray of int64
        Byte of each piece.
    factors : list of int
        What the leaf numbers of each piece are multiplied by in the sum that is the byte's code.
    n_codes : list of int
        Codes of each byte.
    """
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
    256).

    Two bytes at a time: neither waits for the other's sums.
    """
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
