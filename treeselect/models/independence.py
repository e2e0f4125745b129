"""Columns that are not linear combinations of others, or of the baseline hazards."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.blas import one_thread
from treeselect.engine.survival.times import EVENT, STRATUM, risk_sets

_BLOCK = 8192
"""Rows of a long matrix that are reduced at a time."""

_DEPENDENT = 1e-7
"""Least share of its length that a column must have outside the span of earlier ones, as in R."""


def independent_columns(matrix: FloatArray) -> BoolArray:
    """Columns that are not linear combinations of earlier ones, shape (n_columns,).

    A column of zeros is a linear combination.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.models.independence import independent_columns
    >>> independent_columns(np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 1.0]])).tolist()
    [True, False, True]
    """
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
    """A short matrix whose columns have the same lengths and angles: R of a QR decomposition.

    It is found block by block of rows, so that no copy of a long matrix is made. Matrices of one
    block, or with more than half as many columns as a block has rows, are not made shorter.

    Parameters
    ----------
    matrix : ndarray of float, shape (n_rows, n_columns)
    y : ndarray of float, shape (n_rows,), optional
        One more column.
    root : ndarray of float, shape (n_rows,), optional
        Factors of the rows.
    """
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


def beside_baseline(matrix: FloatArray, y: FloatArray) -> FloatArray:
    """Columns minus their means in each stratum, for the rows at risk at some event.

    A baseline hazard absorbs whatever is constant within its stratum; other rows contribute to no
    risk set.

    Parameters
    ----------
    matrix : ndarray of float, shape (n_rows, n_columns)
    y : ndarray of float64, shape (n_rows, 4)
        See :mod:`treeselect.engine.survival.times`.

    Returns
    -------
    ndarray of float, shape (n_at_risk, n_columns)
        0 in columns of which only rounding error remains.
    """
    at_risk = risk_sets(y, y[:, EVENT] > 0).at_risk
    own, stratum = matrix[at_risk], y[at_risk, STRATUM].astype(np.int64)
    n_rows = np.maximum(np.bincount(stratum), 1)
    rest = np.empty_like(own)
    for j, column in enumerate(own.T):
        rest[:, j] = column - (np.bincount(stratum, weights=column) / n_rows)[stratum]
    size = np.linalg.norm(own, axis=0)
    rest[:, np.linalg.norm(rest, axis=0) <= _DEPENDENT * size] = 0.0
    return rest
