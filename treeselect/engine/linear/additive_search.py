"""Additive ridge regressions, and the sets of groups that they fit best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.linear.additive import MOST_LEVERAGE, RIDGES
from treeselect.engine.linear.basis import AdditiveColumns
from treeselect.engine.linear.columns import in_parts
from treeselect.engine.rounding import PRECISION, levels

_FOLDS = 20
"""Folds of whole clusters, which take the place of single rows."""


def ridge_outside(
    columns: AdditiveColumns,
    groups: Sequence[int],
    truth: FloatArray,
    folds: IntArray | None = None,
) -> FloatArray:
    """Predictions of an additive ridge regression for rows that it was not fitted to, (n_rows,
    n_outputs): without one copy of each, or its fold of whole clusters. The penalty is that of
    least generalised cross-validation error (Golub, Heath and Wahba 1979)."""
    return _fit(columns, groups, truth, folds).outside()


def rises_without(columns: AdditiveColumns, groups: Sequence[int], truth: FloatArray) -> FloatArray:
    """Increase of the penalised sum of squares of an additive ridge regression without each of its
    groups, shape (n_groups,)."""
    fit = _Ridge(columns, groups, truth)
    inverse = fit.root.T @ fit.root
    ends = np.cumsum([0, *(len(values) for values, _ in columns.each(groups))])
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
    found = _Ridge(columns, groups, truth, folds, counted)
    directions = [basis.direction for _, basis in columns.each(groups)]
    direction = np.concatenate([np.empty(0), *directions])
    wrong = np.asarray((direction[:, np.newaxis] * found.coef < 0).any(axis=1))
    if wrong.any():  # what must not fall, and would, stays level
        found = _Ridge(columns, groups, truth, folds, counted, ~wrong)
    return found


class _Ridge:
    """A ridge regression; see :func:`ridge_outside`."""

    def __init__(
        self,
        columns: AdditiveColumns,
        groups: Sequence[int],
        truth: FloatArray,
        folds: IntArray | None = None,
        counted: float = 1.0,
        kept: BoolArray | slice = slice(None),
    ) -> None:
        self._columns, self._groups, self._kept = columns, groups, kept
        self._weight, self._truth, self._folds = columns.weight, truth, folds
        self._total = float(self._weight.sum())
        self._centre = (self._weight / self._total) @ truth
        self._above = truth - self._centre
        weighted = self._weight[:, np.newaxis] * self._above
        parts = columns.each(groups)
        cross = [np.empty((0, truth.shape[1])), *(values @ weighted for values, _ in parts)]
        self._cross = np.concatenate(cross)[kept]
        penalty = np.concatenate([np.empty(0), *(basis.penalty for _, basis in parts)])[kept]
        gram = columns.products(groups)[kept][:, kept]
        squares = float((weighted * self._above).sum())
        self.error = np.inf
        for ridge in RIDGES:
            shrunk = gram + np.diag(ridge * penalty)
            root = _inverse_root(shrunk)
            coef = root.T @ (root @ self._cross)
            left = squares + (coef * (gram @ coef - 2 * self._cross)).sum()
            freedom = 1 + len(penalty) - ridge * float(penalty @ (root**2).sum(axis=0))
            error = float(left / max(self._total - counted * freedom, 1.0) ** 2)
            if error < self.error or ridge == RIDGES[0]:
                self.error, self.shrunk, self.root, self.coef = error, shrunk, root, coef

    def outside(self) -> FloatArray:
        """Predictions for rows left out."""
        if self._folds is None:
            return self._without_rows()
        outside, x = np.empty_like(self._truth), self._x
        for fold in np.unique(self._folds):
            outside[self._folds == fold] = self._without(x, self._folds == fold)
        return outside

    @property
    def _x(self) -> FloatArray:
        return self._columns.groups(self._groups)[0][self._kept]

    def _without_rows(self) -> FloatArray:
        x = self._x
        leverage = 1 / self._total + ((self.root @ x) ** 2).sum(axis=0)
        if not self._columns.are_copies:
            leverage = leverage * self._weight
        kept = 1 - np.minimum(leverage, MOST_LEVERAGE)
        error = (self._above - x.T @ self.coef) / kept[:, np.newaxis]
        return np.asarray(self._truth - error)

    def _without(self, x: FloatArray, out: BoolArray) -> FloatArray:
        own, rest = x[:, out] * self._weight[out], self._weight[~out]
        mean = (rest / rest.sum()) @ self._above[~out]
        gram, cross = own @ x[:, out].T, own @ self._above[out]
        coef = np.linalg.solve(self.shrunk - gram, self._cross - cross)
        return np.asarray(self._centre + mean + x[:, out].T @ coef)


def _inverse_root(matrix: FloatArray) -> FloatArray:
    """A matrix whose product with itself, ``root.T @ root``, is the inverse of a positive definite
    one: of its Cholesky factor or, where rounding makes it indefinite, of its eigenvectors."""
    if not len(matrix):
        return matrix
    lower, info = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    if info:
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray((vectors / np.sqrt(np.maximum(values, PRECISION * values[-1]))).T)
    return np.asarray(scipy.linalg.lapack.dtrtri(lower, lower=1)[0])


def folds_of_clusters(clusters: IntArray) -> IntArray:
    """Up to 20 folds of whole clusters, as equal as their sizes allow; shape (n_rows,)."""
    found, own = np.unique(clusters, return_inverse=True)
    size = np.bincount(own)
    fold, filled = np.empty(len(found), dtype=np.int64), np.zeros(min(_FOLDS, len(found)))
    for cluster in np.argsort(-size, kind="stable").tolist():
        fold[cluster] = filled.argmin()
        filled[fold[cluster]] += size[cluster]
    return fold[own]


_COUNTED = 3.0
"""Each effective parameter counts so many times, since a search over sets finds those that chance
favours (Kim and Gu 2004 count 1.4 times without a search)."""

_INTO, _OUT = 6, 3
"""Groups that are tried for entry, of those that explain most of what is left, and for removal, of
those needed least."""

_MOST_ROUNDS = 20
_CELLS = 2_000_000
"""Values of functions that are held once more."""

_RIDGE = 10.0
_LOWER = 1e-4
"""Share by which an exchange lowers the error at least."""


class AdditiveSearch:
    """The sets of each size that an additive ridge regression fits best. Each starts as the smaller
    one with the group that lowers the error most; the groups of `start` stay, earlier `candidates`
    win ties. One group is then exchanged for another as long as the error falls (splicing; Zhu et
    al. 2020): that of generalised cross-validation with each effective parameter counted three
    times, or that of folds left out."""

    def __init__(
        self,
        columns: AdditiveColumns,
        truth: FloatArray,
        start: BoolArray,
        candidates: IntArray,
        folds: IntArray | None = None,
    ) -> None:
        self._columns, self._truth, self._folds = columns, truth, folds
        self._fixed, self._best, self._errors = start, [start], dict[bytes, float]()
        parts = _alone(columns, candidates.tolist())
        able = [i for i, (functions, _) in enumerate(parts) if len(functions)]
        self._candidates = candidates[able]
        self._functions = np.concatenate([np.empty((0, len(truth))), *(parts[i][0] for i in able)])
        self._begins = np.cumsum([0, *(len(parts[i][0]) for i in able)])[:-1]
        self._freedom = np.array([parts[i][1] for i in able])

    def best_of_size(self, size: int) -> BoolArray | None:
        """The best set found with so many groups; None if there are not as many, or it explains
        nothing."""
        n_fixed = int(self._fixed.sum())
        while len(self._best) <= size - n_fixed:
            into = self._additions(self._best[-1])
            if not into:
                break
            grown = self._least([exchanged(self._best[-1], None, g) for g in into])
            self._best.append(self._improved(grown))
        if size - n_fixed >= len(self._best):
            return None
        found = self._best[size - n_fixed]
        return found if self.error(found) < self.error(self._fixed) else None

    def error(self, selected: BoolArray) -> float:
        key = selected.tobytes()
        if key not in self._errors:
            groups = np.flatnonzero(selected).tolist()
            if self._folds is None:
                error = counted_error(self._columns, groups, self._truth, _COUNTED)
            else:
                outside = ridge_outside(self._columns, groups, self._truth, self._folds)
                error = float(self._columns.weight @ ((self._truth - outside) ** 2).sum(axis=1))
            self._errors[key] = error
        return self._errors[key]

    def _improved(self, selected: BoolArray) -> BoolArray:
        for _ in range(_MOST_ROUNDS):
            removals = self._removals(selected)
            tried = [
                exchanged(selected, out, into)
                for into in self._additions(selected)
                for out in removals
            ]
            if not tried:
                break
            found = self._least(tried)
            if self.error(found) >= self.error(selected) * (1 - _LOWER):
                break
            selected = found
        return selected

    def _least(self, sets: Sequence[BoolArray]) -> BoolArray:
        errors = np.array([self.error(one) for one in sets])
        return sets[int(levels(errors).argmin())]

    def _removals(self, selected: BoolArray) -> list[int]:
        groups = np.flatnonzero(selected)
        rises = rises_without(self._columns, groups.tolist(), self._truth)
        free = ~self._fixed[groups]
        order = np.argsort(levels(rises[free]), kind="stable")[:_OUT]
        return [int(g) for g in groups[free][order]]

    def _additions(self, selected: BoolArray) -> list[int]:
        """Groups that explain most of what a set leaves, by a ridge regression each, less what
        chance explains."""
        groups = np.flatnonzero(selected).tolist()
        left = self._truth - ridge_outside(self._columns, groups, self._truth)
        weighted = left * self._columns.weight[:, np.newaxis]
        mean = float((weighted * left).sum() / self._columns.weight.sum())
        gains = np.add.reduceat(((self._functions @ weighted) ** 2).sum(axis=1), self._begins)
        gains -= self._freedom * mean
        order = np.argsort(-levels(gains), kind="stable")
        outside = order[~selected[self._candidates[order]]]
        return [int(g) for g in self._candidates[outside[:_INTO]]]


def _alone(columns: AdditiveColumns, groups: Sequence[int]) -> list[tuple[FloatArray, float]]:
    """The functions of each group by the root of their penalised products, so that the squares of
    their products with residuals sum up to what a ridge regression explains; and its effective
    parameters."""
    parts = columns.each(groups)
    found: list[tuple[FloatArray, float]] = [(np.empty((0, len(columns.weight))), 0.0)] * len(parts)
    sizes = np.array([len(values) for values, _ in parts])
    for size in np.unique(sizes[sizes > 0]).tolist():
        same, every = np.flatnonzero(sizes == size), np.arange(size)
        for at in in_parts(same, size * len(columns.weight), _CELLS):
            values = np.stack([parts[i][0] for i in at])
            penalty = np.stack([parts[i][1].penalty for i in at])
            gram = (values * columns.weight) @ values.swapaxes(1, 2)
            gram[:, every, every] += PRECISION * np.trace(gram, axis1=1, axis2=2)[:, np.newaxis]
            shrunk = gram.copy()
            shrunk[:, every, every] += _RIDGE * penalty
            inverse = np.linalg.inv(np.linalg.cholesky(shrunk))
            freedom = ((inverse @ gram) * inverse).sum(axis=(1, 2))
            for i, functions, own in zip(at, inverse @ values, freedom.tolist(), strict=True):
                found[i] = functions, own
    return found


def exchanged(selected: BoolArray, out: int | None, into: int | None) -> BoolArray:
    """A set without one group, with another, or both."""
    found = selected.copy()
    if out is not None:
        found[out] = False
    if into is not None:
        found[into] = True
    return found
