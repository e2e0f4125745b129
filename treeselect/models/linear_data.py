"""Data of a linear model: columns, response, weights and offset of the complete cases."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.designs.linear import USUAL, LinearCoding, LinearColumns, linear_matrix
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import DataError, quoted
from treeselect.models.independence import beside_baseline, independent_columns

if TYPE_CHECKING:
    import pandas as pd


_LARGEST = 1e100
"""Largest value of a column: sums of its squares, and their products, must be numbers."""


@dataclass(frozen=True, slots=True)
class LinearData:
    """Columns, response, weights and offset of the complete cases.

    Attributes
    ----------
    matrix : pandas.DataFrame
        Includes the intercept, except for survival times, where the baseline hazard replaces it.
    term_of : tuple of str, length n_columns
        ``"Intercept"`` for the intercept.
    y : ndarray of float, shape (n_rows,), or (n_rows, 4) for survival times
    row_weights : RowWeights
        Includes the clusters of rows.
    offset : ndarray of float, shape (n_rows,), or None
    n_dropped : int
        Observations that are dropped for a missing value in a term.
    rows : ndarray of int64, shape (n_rows,)
        Their numbers among the rows that are used.
    columns : LinearColumns or None
        How the columns were made, before any of them was left out.
    """

    matrix: pd.DataFrame
    term_of: tuple[str, ...]
    y: FloatArray
    row_weights: RowWeights
    offset: FloatArray | None
    n_dropped: int
    rows: IntArray
    columns: LinearColumns | None = None

    @property
    def has_times(self) -> bool:
        """Whether the response is survival times."""
        return self.y.ndim > 1

    @property
    def compared(self) -> FloatArray:
        """The columns as they enter the fit.

        For survival times, minus what the baseline hazards absorb; 0 in columns of which nothing
        remains.
        """
        matrix = self.matrix.to_numpy(dtype=np.float64)
        return beside_baseline(matrix, self.y) if self.has_times else matrix

    @property
    def is_free(self) -> BoolArray:
        """Columns that are not linear combinations of those before them, shape (n_columns,)."""
        return independent_columns(self.compared)

    def drawn(self, weights: RowWeights) -> LinearData:
        """The same rows with other weights, without those of weight 0: a resample.

        Parameters
        ----------
        weights : RowWeights
            Weights of all rows that are used.
        """
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
        """The same with some of the columns."""
        terms = tuple(t for t, keep in zip(self.term_of, chosen, strict=True) if keep)
        return dataclasses.replace(self, matrix=self.matrix.loc[:, chosen], term_of=terms)


def linear_data(
    data: ModelData,
    terms: Sequence[str],
    rows: IntArray,
    groups: IntArray | None = None,
    coding: LinearCoding = USUAL,
) -> LinearData:
    """The data of a linear model of some terms, for the complete cases among `rows`.

    `groups` are the clusters of all rows with a known response, if there are any. `coding` may
    replace missing values, which makes all rows complete.
    """
    rows = rows[data.row_weights.used[rows]]
    matrix, term_of, used, columns = linear_matrix(data, terms, rows, coding)
    _check_size(matrix)
    if data.response.family.has_times:
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


def _check_size(matrix: pd.DataFrame) -> None:
    """Raise a DataError for columns whose squares overflow or vanish."""
    largest = np.abs(matrix.to_numpy()).max(axis=0, initial=0.0)
    odd = (largest > _LARGEST) | ((largest > 0) & (largest < 1 / _LARGEST))
    if odd.any():
        name, size = matrix.columns[odd][0], largest[odd][0]
        raise DataError(
            "Columns of a linear model must have a largest absolute value from"
            f" {1 / _LARGEST:g} to {_LARGEST:g}.\n"
            f"  Found: {quoted(str(name))}, with {size:.2g}. Rescale it first."
        )
