"""Inner products of centred kernel matrices, summed in pieces: no matrix is held for long.

For kernel matrices K and L of n rows and the centring matrix H the Hilbert-Schmidt independence
criterion is the inner product ``<H K H, L> = sum_ij K_ij L_ij - 2 n sum_i k_i l_i + n^2 k l``,
where k_i and l_i are the means of the rows and k and l those of all entries (Gretton, Bousquet,
Smola and Schoelkopf 2005). Rows with weights w_i give the same with weights, as if they stood
there so often. In blocks of rows it is summed over the blocks (Climente-Gonzalez, Azencott, Kaski
and Yamada 2019), which takes time and memory in proportion to the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray

_MOST_ENTRIES = 2**22
"""Entries of kernels that are held at once."""


class Kernel(NamedTuple):
    """A kernel of some columns: ``scale_i scale_j [label_i = label_j] exp(-|x_i - x_j|^2 / 2)``.

    Attributes
    ----------
    x : ndarray of float, shape (n_columns, n_rows)
        Numbers, divided by the kernel's width; may have no columns.
    labels : ndarray of int64, shape (n_rows,), or None
    scale : ndarray of float, shape (n_rows,), or None
        1 if there is none.
    """

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
    """Which rows are compared with which.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_blocks, size)
    mass : ndarray of float, shape (n_blocks, size)
        How often each row counts; 0 where a block has fewer rows.
    """

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
    """Inner products of the centred matrices of some kernels, shape (n_kernels, n_kernels)."""
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
