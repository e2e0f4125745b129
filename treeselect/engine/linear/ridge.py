"""Additive ridge regression: predictions for rows that it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.linear.additive import MOST_LEVERAGE, RIDGES, AdditiveColumns

_FOLDS = 20
"""Folds of whole clusters, which take the place of single rows."""


def ridge_outside(
    columns: AdditiveColumns,
    groups: Sequence[int],
    truth: FloatArray,
    folds: IntArray | None = None,
) -> FloatArray:
    """Predictions of an additive ridge regression for rows that it was not fitted to.

    Each row is left out, one copy of it, or each fold of whole clusters. The penalty of
    :data:`RIDGES` is the one of least generalised cross-validation error (Golub, Heath and Wahba
    1979); the constant is not penalised.

    Parameters
    ----------
    groups : sequence of int
    truth : ndarray of float, shape (n_rows, n_outputs)
    folds : ndarray of int64, shape (n_rows,), optional
        From :func:`folds_of_clusters`.

    Returns
    -------
    ndarray of float, shape (n_rows, n_outputs)
    """
    return _fit(columns, groups, truth, folds).outside()


def rises_without(columns: AdditiveColumns, groups: Sequence[int], truth: FloatArray) -> FloatArray:
    """Increase of the penalised sum of squares of an additive ridge regression without each of its
    groups, shape (n_groups,)."""
    x, penalty, _ = columns.groups(groups)
    fit = _Ridge(columns, x, penalty, truth, None)
    inverse = np.linalg.inv(fit.shrunk) if len(x) else fit.shrunk
    ends = np.cumsum([0, *(len(columns.group(g)[0]) for g in groups)])
    rises = np.zeros(len(groups))
    for i, own in enumerate(map(slice, ends[:-1], ends[1:])):
        coef = fit.coef[own]
        rises[i] = (coef * np.linalg.solve(inverse[own, own], coef)).sum()
    return rises


def counted_error(
    columns: AdditiveColumns, groups: Sequence[int], truth: FloatArray, counted: float
) -> float:
    """Generalised cross-validation error of an additive ridge regression, with each effective
    parameter counted so many times."""
    return _fit(columns, groups, truth, None, counted).error


def _fit(
    columns: AdditiveColumns,
    groups: Sequence[int],
    truth: FloatArray,
    folds: IntArray | None,
    counted: float = 1.0,
) -> _Ridge:
    x, penalty, direction = columns.groups(groups)
    found = _Ridge(columns, x, penalty, truth, folds, counted)
    wrong = (direction[:, np.newaxis] * found.coef < 0).any(axis=1)
    if wrong.any():  # what must not fall, and would, stays level
        found = _Ridge(columns, x[~wrong], penalty[~wrong], truth, folds, counted)
    return found


class _Ridge:
    """A ridge regression; see :func:`ridge_outside`."""

    def __init__(
        self,
        columns: AdditiveColumns,
        x: FloatArray,
        penalty: FloatArray,
        truth: FloatArray,
        folds: IntArray | None,
        counted: float = 1.0,
    ) -> None:
        self._weight, self._are_copies = columns.weight, columns.are_copies
        self._x, self._truth, self._folds = x, truth, folds
        self._total = float(self._weight.sum())
        self._centre = (self._weight / self._total) @ truth
        self._above = truth - self._centre
        weighted = x * self._weight
        gram, self._cross = weighted @ x.T, weighted @ self._above
        squares = float(self._weight @ (self._above**2).sum(axis=1))
        self.coef: FloatArray = np.zeros((0, truth.shape[1]))
        self.error, self.shrunk = squares / max(self._total - counted, 1.0) ** 2, gram
        least = np.inf
        for ridge in RIDGES if len(penalty) else ():
            shrunk = gram + np.diag(ridge * penalty)
            solved = np.linalg.solve(shrunk, np.hstack([self._cross, gram]))
            coef = solved[:, : truth.shape[1]]
            left = squares - 2 * (coef * self._cross).sum() + (coef * (gram @ coef)).sum()
            freedom = 1 + np.trace(solved[:, truth.shape[1] :])
            error = float(left) / max(self._total - counted * freedom, 1.0) ** 2
            if error < least:
                least = self.error = error
                self.shrunk, self.coef = shrunk, np.asarray(coef)

    def outside(self) -> FloatArray:
        """Predictions for rows left out."""
        if self._folds is None:
            return self._without_rows()
        outside = np.empty_like(self._truth)
        for fold in np.unique(self._folds):
            outside[self._folds == fold] = self._without(self._folds == fold)
        return outside

    def _without_rows(self) -> FloatArray:
        lower = scipy.linalg.cholesky(self.shrunk, lower=True, check_finite=False)
        half = scipy.linalg.solve_triangular(lower, self._x, lower=True, check_finite=False)
        leverage = 1 / self._total + (half**2).sum(axis=0)
        if not self._are_copies:
            leverage = leverage * self._weight
        kept = 1 - np.minimum(leverage, MOST_LEVERAGE)
        error = (self._above - self._x.T @ self.coef) / kept[:, np.newaxis]
        return np.asarray(self._truth - error)

    def _without(self, out: BoolArray) -> FloatArray:
        own, rest = self._x[:, out] * self._weight[out], self._weight[~out]
        mean = (rest / rest.sum()) @ self._above[~out]
        gram, cross = own @ self._x[:, out].T, own @ self._above[out]
        coef = np.linalg.solve(self.shrunk - gram, self._cross - cross)
        return np.asarray(self._centre + mean + self._x[:, out].T @ coef)


def folds_of_clusters(clusters: IntArray) -> IntArray:
    """Up to 20 folds of whole clusters, as equal as their sizes allow; shape (n_rows,)."""
    found, own = np.unique(clusters, return_inverse=True)
    size = np.bincount(own)
    fold, filled = np.empty(len(found), dtype=np.int64), np.zeros(min(_FOLDS, len(found)))
    for cluster in np.argsort(-size, kind="stable").tolist():
        fold[cluster] = filled.argmin()
        filled[fold[cluster]] += size[cluster]
    return fold[own]
