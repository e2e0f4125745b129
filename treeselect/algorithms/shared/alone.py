"""Individual information of units, without random numbers."""

from __future__ import annotations

import numpy as np

from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.data.binning import BinnedData

_CLASSES = 8
"""Classes of about equal weight that the values of a number are put into."""


class Alone:
    """Individual information of units about the response.

    The measure of a column is the epsilon squared of a one-way analysis of variance: the share of
    the variance between the classes of the column, adjusted for their number, so that a factor with
    many levels has no advantage and noise has 0 on average. Classes are the levels of a factor, up
    to eight classes of about equal weight of a number, and missing values. A unit of several
    columns has the largest value of its columns. The measure depends only on the rows; nothing is
    random.

    Parameters
    ----------
    data : BinnedData
    truth : ndarray of float, shape (n_rows, n_outputs)
        The response.
    weights : RowWeights
        Weights of the rows; each row is one observation, whatever its weight, and clusters count as
        one each.

    References
    ----------
    .. [1] T. L. Kelley (1935). An unbiased correlation ratio measure. PNAS 21(9), 554-559.
    """

    def __init__(self, data: BinnedData, truth: FloatArray, weights: RowWeights) -> None:
        rows = weights.rows
        self._data, self._rows, self._n = data, rows, weights.n_units
        share = weights.values[rows] / weights.values[rows].sum()
        self._share, self._left = share, truth[rows] - share @ truth[rows]
        self._whole = float(share @ (self._left**2).sum(axis=1))
        self._known: dict[int, float] = {}

    def of(self, selected: BoolArray) -> float:
        """Sum over the units of a set."""
        units = np.flatnonzero(selected).tolist()
        for unit in units:
            if unit not in self._known:
                columns = np.flatnonzero(self._data.group_of == unit).tolist()
                self._known[unit] = max(map(self._epsilon_squared, columns))
        return float(sum(sorted(self._known[unit] for unit in units)))

    def _epsilon_squared(self, column: int) -> float:
        classes = self._classes(column)
        n_classes = int(classes.max()) + 1
        if self._whole <= 0 or self._n <= n_classes:
            return 0.0
        weight = np.bincount(classes, self._share)
        sums = [np.bincount(classes, self._share * output) for output in self._left.T]
        between = float(sum((total**2 / weight).sum() for total in sums)) / self._whole
        return 1.0 - (1.0 - between) * (self._n - 1) / (self._n - n_classes)

    def _classes(self, column: int) -> IntArray:
        """The class of each row, numbers from 0."""
        column_codes = self._data.column(column)[self._rows].astype(np.int64)
        codes, place = np.unique(column_codes, return_inverse=True)
        if self._data.is_factor[column] or len(codes) <= _CLASSES:
            return np.asarray(place)
        weight = np.bincount(place, np.where(codes[place] > 0, self._share, 0.0))
        middle = (np.cumsum(weight) - weight / 2) / max(weight.sum(), np.finfo(np.float64).tiny)
        classes = np.where(codes > 0, 1 + (_CLASSES * middle).astype(np.int64), 0)
        return np.asarray(np.unique(classes, return_inverse=True)[1][place])
