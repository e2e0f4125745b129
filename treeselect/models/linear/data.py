"""Data of a linear model: columns, response, weights and offset of the complete cases."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from treeselect.designs.linear import USUAL, LinearCoding, LinearColumns, linear_matrix
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.survival.times import EVENT, STRATUM, risk_sets
from treeselect.engine.threads import one_thread
from treeselect.errors import DataError, quoted

NEGATIVE_BINOMIAL, FIRTH, GAMMA, ORDINAL = "negative-binomial", "firth", "gamma", "ordinal"
"""Models of one family; ordinal is that of proportional odds, whose thresholds take the place of an
intercept."""

COUNTS = ("poisson", NEGATIVE_BINOMIAL)
"""Models whose means may go to 0, with estimates that diverge."""

_LARGEST = 1e100
"""Largest value of a column: sums of its squares, and their products, must be numbers."""


@dataclass(frozen=True, slots=True)
class LinearData:
    """Columns, response, weights and offset of the complete cases."""

    matrix: pd.DataFrame
    term_of: tuple[str, ...]  # ``"Intercept"`` for the intercept
    y: FloatArray  # (n_rows,), or (n_rows, 4) for survival times
    row_weights: RowWeights  # includes the clusters of rows
    offset: FloatArray | None  # (n_rows,)
    n_dropped: int  # observations dropped for a missing value in a term
    rows: IntArray  # (n_rows,): their numbers among the rows that are used
    columns: LinearColumns | None = None
    # (n_rows, n_columns) of the whole model, of which this is a part: what Firth's penalty is of
    whole: FloatArray | None = None

    @property
    def has_times(self) -> bool:
        return self.y.ndim > 1

    @property
    def base(self) -> FloatArray:
        """The offset, 0 by default."""
        return np.zeros(len(self.y)) if self.offset is None else self.offset

    @property
    def compared(self) -> FloatArray:
        """The columns minus what baseline hazards or thresholds absorb; 0 if nothing remains."""
        matrix = self.matrix.to_numpy(dtype=np.float64)
        if self.has_times:
            return beside_baseline(matrix, self.y)
        return matrix if INTERCEPT in self.term_of else _centred(matrix)

    @property
    def is_free(self) -> BoolArray:
        """Columns that are not linear combinations of those before them, shape (n_columns,)."""
        return independent_columns(self.compared)

    @property
    def splines(self) -> Mapping[str, FloatArray]:
        return {} if self.columns is None else self.columns.columns.splines

    def drawn(self, weights: RowWeights) -> LinearData:
        """The same rows with other weights, without those of weight 0: a resample."""
        own = weights.of(self.rows)
        here = own.rows
        return dataclasses.replace(
            self,
            matrix=self.matrix.iloc[here].reset_index(drop=True),
            y=self.y[here],
            row_weights=own.of(here),
            offset=None if self.offset is None else self.offset[here],
            rows=self.rows[here],
        )

    def of_columns(self, chosen: BoolArray) -> LinearData:
        terms = tuple(t for t, keep in zip(self.term_of, chosen, strict=True) if keep)
        return dataclasses.replace(self, matrix=self.matrix.loc[:, chosen], term_of=terms)


def linear_data(
    data: ModelData,
    terms: Sequence[str],
    rows: IntArray,
    groups: IntArray | None = None,
    coding: LinearCoding = USUAL,
) -> LinearData:
    """The data of a linear model, for the complete cases among `rows`; `groups` are of all rows."""
    rows = rows[data.row_weights.used[rows]]
    family = data.response.family
    matrix, term_of, used, columns = linear_matrix(data, terms, rows, coding)
    check_size(matrix)
    if ORDINAL in (family.name, coding.distribution) or family.has_times:
        here = [name != INTERCEPT for name in term_of]
        matrix, term_of = matrix.loc[:, here], [name for name in term_of if name != INTERCEPT]
    return LinearData(
        matrix.reset_index(drop=True),
        tuple(term_of),
        data.response.y[used],
        data.row_weights.in_groups(groups).of(used),
        None if data.offset is None else data.offset[used],
        data.row_weights.of(rows).n_observations - data.row_weights.of(used).n_observations,
        used,
        columns,
    )


def check_size(matrix: pd.DataFrame) -> None:
    """Raise a DataError for columns whose squares overflow or vanish."""
    largest = np.nanmax(np.abs(matrix.to_numpy()), axis=0, initial=0.0)
    odd = (largest > _LARGEST) | ((largest > 0) & (largest < 1 / _LARGEST))
    if odd.any():
        name, size = matrix.columns[odd][0], largest[odd][0]
        raise DataError(
            "Columns of a linear model or an estimator must have a largest absolute value from"
            f" {1 / _LARGEST:g} to {_LARGEST:g}.\n"
            f"  Found: {quoted(str(name))}, with {size:.2g}. Rescale it first."
        )


_BLOCK = 8192
"""Rows of a long matrix that are reduced at a time."""

_DEPENDENT = 1e-7
"""Least share of its length that a column must have outside the span of earlier ones, as in R."""


def independent_columns(matrix: FloatArray) -> BoolArray:
    """Columns that are not linear combinations of earlier ones, as those of zeros are."""
    matrix = reduced(matrix)
    basis = np.empty((len(matrix), min(matrix.shape)))
    found = np.zeros(matrix.shape[1], dtype=bool)
    for j, column in enumerate(matrix.T):
        length, known = np.linalg.norm(column), basis[:, : int(found.sum())]
        if length == 0 or known.shape[1] == basis.shape[1]:
            continue
        rest = column / length
        for _ in range(2):  # twice, as rounding leaves a little of the basis
            rest = rest - known @ (known.T @ rest)
        size = np.linalg.norm(rest)
        if size > _DEPENDENT:
            basis[:, known.shape[1]] = rest / size
            found[j] = True
    return found


def reduced(
    matrix: FloatArray, y: FloatArray | None = None, root: FloatArray | None = None
) -> FloatArray:
    """A short matrix, with the same lengths and angles of columns: R of a QR decomposition."""
    n_rows, n_columns = matrix.shape
    if n_rows <= _BLOCK or n_columns > _BLOCK // 2:
        return _rows(matrix, y, root, slice(None))
    found: FloatArray = np.empty((0, n_columns + (y is not None)))
    with one_thread():
        for start in range(0, n_rows, _BLOCK):
            own = _rows(matrix, y, root, slice(start, start + _BLOCK))
            found = np.asarray(np.linalg.qr(np.concatenate([found, own]), mode="r"))
    return found


def _rows(
    matrix: FloatArray, y: FloatArray | None, root: FloatArray | None, rows: slice
) -> FloatArray:
    found = matrix[rows] if y is None else np.column_stack((matrix[rows], y[rows]))
    return found if root is None else found * root[rows, np.newaxis]


def _centred(matrix: FloatArray) -> FloatArray:
    rest = matrix - matrix.sum(axis=0) / max(len(matrix), 1)
    size = np.linalg.norm(matrix, axis=0)
    rest[:, np.linalg.norm(rest, axis=0) <= _DEPENDENT * size] = 0.0
    return rest


def beside_baseline(matrix: FloatArray, y: FloatArray) -> FloatArray:
    """Columns minus their means in each stratum, for the rows at risk at some event."""
    at_risk = risk_sets(y, y[:, EVENT] > 0).at_risk
    own, stratum = matrix[at_risk], y[at_risk, STRATUM].astype(np.int64)
    n_rows = np.maximum(np.bincount(stratum), 1)
    rest = np.empty_like(own)
    for j, column in enumerate(own.T):
        rest[:, j] = column - (np.bincount(stratum, weights=column) / n_rows)[stratum]
    size = np.linalg.norm(own, axis=0)
    rest[:, np.linalg.norm(rest, axis=0) <= _DEPENDENT * size] = 0.0
    return rest
