"""Standardised columns of a linear predictor: as a matrix, or made of their sources block by block.

A matrix of doubles with an indicator of each level takes hundreds of bytes a row. Of long data only
the sources are held, and the columns that are needed are made for some thousand rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treeselect.engine.arrays import FloatArray, IntArray

_BLOCK = 8192
"""Rows of a block: some dozen columns of so many rows stay near the processor."""


def blocks_of(n_rows: int) -> Iterator[slice]:
    """Consecutive blocks of rows."""
    return (slice(begin, min(begin + _BLOCK, n_rows)) for begin in range(0, n_rows, _BLOCK))


SomeColumns = Callable[[slice], FloatArray]
"""Some columns behind one that is constant: those of a block of rows, shape (n_rows_of_block, 1 +
n_columns)."""


class Columns(Protocol):
    """Columns of a linear predictor."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        ...

    def pull(self, values: FloatArray) -> FloatArray:
        """The columns' products with values, (n_rows, n_outputs), shape (n_columns, n_outputs)."""
        ...

    def some(self, numbers: IntArray, constant: float) -> SomeColumns:
        """The columns of these numbers behind a constant."""
        ...


@dataclass(frozen=True, slots=True)
class DenseColumns:
    """Columns of a matrix, shape (n_rows, n_columns)."""

    x: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.x.shape[0], self.x.shape[1]

    def pull(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.x.T @ values)

    def some(self, numbers: IntArray, constant: float) -> SomeColumns:
        chosen = np.empty((len(self.x), 1 + len(numbers)))
        chosen[:, 0], chosen[:, 1:] = constant, self.x[:, numbers]
        return chosen.__getitem__


class Number(NamedTuple):
    """A column that is a number: its values, of which `fill` stands for the missing ones, are
    divided by a power of two, then `mean` is taken off, then they are divided by `spread`."""

    values: FloatArray
    fill: float
    exponent: int
    mean: float
    spread: float

    def of(self, rows: IntArray | slice) -> FloatArray:
        own = self.values[rows]
        if not np.isnan(self.fill):
            own = np.where(np.isnan(own), self.fill, own)
        own = np.ldexp(own, -self.exponent)
        own -= self.mean
        own /= self.spread
        return own


class Indicator(NamedTuple):
    """A column that is `high` where the source has a code and `low` elsewhere: 1 and 0,
    standardised."""

    codes: NDArray[Any]
    code: int
    low: float
    high: float

    def of(self, rows: IntArray | slice) -> FloatArray:
        return np.where(self.codes[rows] == self.code, self.high, self.low)


@dataclass(frozen=True, slots=True)
class CodedColumns:
    """Columns that are made of their sources when they are needed, in increasing rows of these, or
    in all."""

    parts: Sequence[Number | Indicator]
    rows: IntArray | None
    n_rows: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.parts)

    def pull(self, values: FloatArray) -> FloatArray:
        """See :class:`Columns`. Indicators are summed by code, all of a source at once."""
        found = np.zeros((len(self.parts), values.shape[1]))
        numbers = [i for i, part in enumerate(self.parts) if isinstance(part, Number)]
        some = self.some(np.array(numbers, dtype=np.int64), 1.0)
        total = np.zeros((1, values.shape[1]))
        for rows in blocks_of(self.n_rows):
            product = some(rows).T @ values[rows]
            total += product[:1]
            found[numbers] += product[1:]
        sums: dict[int, FloatArray] = {}
        for i, part in enumerate(self.parts):
            if isinstance(part, Indicator):
                if id(part.codes) not in sums:
                    sums[id(part.codes)] = self._by_code(part.codes, values)
                at = sums[id(part.codes)][part.code]
                found[i] = part.high * at + part.low * (total[0] - at)
        return found

    def some(self, numbers: IntArray, constant: float) -> SomeColumns:
        parts = [self.parts[i] for i in numbers]

        def block(rows: slice) -> FloatArray:
            own = rows if self.rows is None else self.rows[rows]
            made = np.empty((1 + len(parts), rows.stop - rows.start))
            made[0] = constant
            for i, part in enumerate(parts, 1):
                made[i] = part.of(own)
            return made.T

        return block

    def _by_code(self, codes: NDArray[Any], values: FloatArray) -> FloatArray:
        own = codes if self.rows is None else codes[self.rows]
        size = int(own.max(initial=0)) + 1
        return np.column_stack([np.bincount(own, column, size) for column in values.T])


class Gram:
    """Weighted products of functions; those of the last weights are kept."""

    def __init__(self, x: FloatArray) -> None:
        self.x, self._weight, self._products = x, np.empty(0), np.empty((0, 0))

    def of(self, weight: FloatArray) -> FloatArray:
        if not np.array_equal(weight, self._weight):
            self._weight, self._products = weight, (self.x * weight) @ self.x.T
        return self._products


def in_parts(places: IntArray, cells: int, most: int) -> list[IntArray]:
    """Places of so many cells each, in parts of at most `most`; one place alone may have more."""
    n_parts = -(-len(places) * cells // most)
    return np.array_split(places, max(min(n_parts, len(places)), 1))


def in_row_space(
    x: FloatArray, penalty: FloatArray
) -> tuple[FloatArray, FloatArray, Callable[[FloatArray], FloatArray]]:
    """Functions with the same fits, their penalties, and from their coefficients to those of `x`:
    of many more functions than rows, one for each row, as least penalised coefficients are
    combinations of the rows."""
    if len(x) <= _WIDE * x.shape[1]:
        return x, penalty, lambda coef: coef
    root = np.sqrt(penalty)[:, np.newaxis]
    back, own = np.linalg.qr(x / root)
    back = back / root
    return own, np.ones(len(own)), lambda coef: np.tensordot(back, coef, axes=1)


_WIDE = 4
"""Functions for each row from which they are rotated."""
