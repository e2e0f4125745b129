"""Joint selection of pairs of units, compared with independence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of units, each as two column numbers, with their joint frequencies.

    Attributes
    ----------
    first, second : ndarray of int64, shape (n_pairs,)
    together : ndarray of float, shape (n_pairs,)
        Share of the resamples that selected both.
    expected : ndarray of float, shape (n_pairs,)
        Product of the two frequencies: the expected share under independence.
    p_value : ndarray of float, shape (n_pairs,)
        P-value of the chi-squared test of independence.
    """

    first: IntArray
    second: IntArray
    together: FloatArray
    expected: FloatArray
    p_value: FloatArray

    def signs(self, level: float) -> IntArray:
        """1 for pairs selected together more often than by chance at a level, -1 for pairs selected
        together less often, 0 for the others."""
        direction = np.sign(self.together - self.expected).astype(np.int64)
        return np.where(self.p_value < level, direction, 0)


def co_selection(selected: BoolArray) -> FloatArray:
    """Share of the resamples that selected both of two units, shape (n_groups, n_groups).

    The diagonal has the frequencies.
    """
    z = selected.astype(np.float64)
    return np.asarray(z.T @ z / len(z))


def pairs_of(selected: BoolArray) -> Pairs:
    """All pairs of columns that are neither always nor never selected.

    The others are constant, and independent of every other column.

    Parameters
    ----------
    selected : ndarray of bool, shape (n_resamples, n_groups)

    Notes
    -----
    The test is that of a 2 x 2 table with Yates' correction, as R's ``chisq.test``.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.pairs import pairs_of
    >>> selected = np.array([[1, 0], [0, 1]] * 10, dtype=bool)
    >>> found = pairs_of(selected)
    >>> found.together.tolist(), found.expected.tolist(), found.signs(0.01).tolist()
    ([0.0], [0.25], [-1])
    """
    from scipy.special import chdtrc

    n = len(selected)
    count = selected.sum(axis=0)
    units = np.flatnonzero((count > 0) & (count < n))
    both = np.rint(co_selection(selected[:, units]) * n)
    i, j = np.triu_indices(len(units), 1)
    a, b, together = count[units][i] / n, count[units][j] / n, both[i, j]
    difference = np.abs(together - n * a * b)
    # |observed - expected| is the same in the four cells of the table.
    corrected = np.maximum(difference - 0.5, 0.0)
    statistic = corrected**2 / (n * a * (1 - a) * b * (1 - b))
    return Pairs(
        first=units[i].astype(np.int64),
        second=units[j].astype(np.int64),
        together=together / n,
        expected=a * b,
        p_value=np.asarray(chdtrc(1.0, statistic)),
    )
