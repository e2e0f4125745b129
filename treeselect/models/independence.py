"""Columns that are no sums of others."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray

_DEPENDENT = 1e-7
"""Share of its length that a column must have beyond the columns before it; R's own bound."""


def independent_columns(matrix: FloatArray) -> BoolArray:
    """Columns that are not sums of those before them, shape (n_columns,); zeros are not.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.models.independence import independent_columns
    >>> independent_columns(np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 1.0]])).tolist()
    [True, False, True]
    """
    basis = np.empty((len(matrix), min(matrix.shape)))
    found = np.zeros(matrix.shape[1], dtype=bool)
    for j, column in enumerate(matrix.T):
        length, known = np.linalg.norm(column), basis[:, : int(found.sum())]
        if length == 0 or known.shape[1] == basis.shape[1]:
            continue
        rest = column / length
        for _ in range(2):  # once more, as rounding leaves a little of the basis
            rest = rest - known @ (known.T @ rest)
        size = np.linalg.norm(rest)
        if size > _DEPENDENT:
            basis[:, known.shape[1]] = rest / size
            found[j] = True
    return found
