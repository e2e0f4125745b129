"""Sets of groups that an additive model fits best, found by exchanges, without random numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.linear.additive import AdditiveColumns
from treeselect.engine.linear.ridge import counted_error, ridge_outside, rises_without
from treeselect.engine.rounding import PRECISION, levels

_COUNTED = 3.0
"""Each effective parameter counts so many times, since a search over sets finds those that chance
favours (Kim and Gu 2004 count 1.4 times without a search)."""

_INTO, _OUT = 6, 3
"""Groups that are tried for entry, of those that explain most of what is left, and for removal, of
those needed least."""

_MOST_ROUNDS = 20
_RIDGE = 10.0
_LOWER = 1e-4
"""Share by which an exchange lowers the error at least."""


class AdditiveSearch:
    """The sets of each size that an additive ridge regression fits best.

    Each set starts as the smaller one with the group that lowers the error most. One group is then
    exchanged for another as long as the error falls (splicing; Zhu et al. 2020). The error is that
    of generalised cross-validation, with each effective parameter counted three times; or, with
    folds of clusters, that of rows left out.

    Parameters
    ----------
    columns : AdditiveColumns
    truth : ndarray of float, shape (n_rows, n_outputs)
    start : ndarray of bool, shape (n_groups,)
        The groups of the smallest set, which stay.
    candidates : ndarray of int64, shape (n_candidates,)
        Groups that may enter; earlier ones win ties.
    folds : ndarray of int64, shape (n_rows,), optional
        From ``ridge.folds_of_clusters``.
    """

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
        parts = [self._alone(group) for group in candidates.tolist()]
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
        """Error of a set."""
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

    def _alone(self, group: int) -> tuple[FloatArray, float]:
        """The functions of a group by the root of their penalised products, so that the squares of
        their products with residuals sum up to what a ridge regression explains; and its effective
        parameters."""
        values, basis = self._columns.group(group)
        gram = (values * self._columns.weight) @ values.T
        gram[np.diag_indices(len(gram))] += PRECISION * np.trace(gram)
        inverse = np.linalg.inv(np.linalg.cholesky(gram + np.diag(_RIDGE * basis.penalty)))
        return inverse @ values, float(((inverse @ gram) * inverse).sum())


def exchanged(selected: BoolArray, out: int | None, into: int | None) -> BoolArray:
    """A set without one group, with another, or both."""
    found = selected.copy()
    if out is not None:
        found[out] = False
    if into is not None:
        found[into] = True
    return found
