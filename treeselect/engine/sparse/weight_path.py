"""The path of the sparse forest: what is selected as the penalty falls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.sparse.tree_weights import SparseForest, WeightedTrees

_COARSE_RATIO = 0.7
_PATH_END = 1e-3
_ROOM = 0.5
"""A set of groups is followed until the penalty is this share of that at which it came in."""

_BISECTIONS = 14
"""An interval of a tenth is halved as often as the solver's tolerance can tell its ends apart."""


def support(solution: WeightedTrees, uses: BoolArray, keep: BoolArray) -> BoolArray:
    """Groups used by trees with positive weight, and those forced in, shape (n_groups,).

    Parameters
    ----------
    solution : WeightedTrees
    uses : ndarray of bool, shape (n_trees, n_groups)
        Which groups each tree splits on.
    keep : ndarray of bool, shape (n_groups,)
        Groups that are in whatever the weights.
    """
    return np.asarray(uses[solution.weights > 0].any(axis=0) | keep)


def weighted_importance(
    solution: WeightedTrees, spread: FloatArray, gains: FloatArray
) -> FloatArray:
    """Importance of each group in a weighted forest, shape (n_groups,), summing to 1 (or 0).

    ``sum_t w_t sd(a_t) gain_tg / gain_t``: a tree counts by how much it moves the prediction.
    """
    # Sums one after the other: zeros of groups that no tree uses change no bit of them.
    share = gains / np.cumsum(gains, axis=1)[:, -1:]
    importance = ((solution.weights * spread)[:, np.newaxis] * share).sum(axis=0)
    total = np.cumsum(importance)[-1]
    return np.asarray(importance / total if total > 0 else importance)


def solution_path(
    problem: SparseForest,
    uses: BoolArray,
    keep: BoolArray,
    max_size: int,
    *,
    last_lam: float | None = None,
) -> list[WeightedTrees]:
    """Solutions along a falling penalty, one for each size of the support that is reached.

    The penalty falls from where the first priced tree enters to a thousandth of that, or until the
    support has `max_size` groups; from one set of trees to the next where the problem is exact,
    otherwise in steps of a tenth. Where these skip a size, the interval is bisected until it is
    found, or a single tree is left that brings several groups, or the ends can't be told apart.

    Parameters
    ----------
    problem : SparseForest
    uses : ndarray of bool, shape (n_trees, n_groups)
        Which groups each tree splits on.
    keep : ndarray of bool, shape (n_groups,)
        Groups that count as used from the start.
    max_size : int
        Size of support at which the path may end.
    last_lam : float, optional
        End exactly at this penalty instead, whatever the size.

    Returns
    -------
    list of WeightedTrees
        By falling penalty, with increasing sizes; the first is the empty forest. Of the sets of one
        size the first; and of its solutions the last, before the set changes or the penalty has
        fallen to half: what is in has had room to gain weight.
    """
    tracer = _PathTracer(problem, uses, keep, max_size if last_lam is None else len(keep))
    first = problem.empty()
    largest = problem.largest_lam(first)
    end = largest * _PATH_END if last_lam is None else last_lam
    tracer.record(first)
    previous = first._replace(lam=largest)
    for lam in problem.penalties(largest, max(end, 0.0)):
        solution = problem.solve(lam, previous)
        tracer.record(solution)
        if not problem.is_exact:
            tracer.refine(previous, solution, _BISECTIONS)
        if tracer.is_complete(lam):
            break
        previous = solution
    if last_lam is None:
        return tracer.increasing()
    last = problem.solve(last_lam, previous)
    return [*(s for s in tracer.increasing() if tracer.size(s) < tracer.size(last)), last]


def last_solution(
    problem: SparseForest, uses: BoolArray, keep: BoolArray, max_size: int
) -> WeightedTrees:
    """Where a penalty that falls in coarse steps finds `max_size` groups, or ends.

    Unlike a step of :func:`solution_path` it is not the first solution of its size: what is in has
    had room to gain weight, and where there are fewer groups the penalty falls to its end.
    """
    solution = problem.empty()
    largest = problem.largest_lam(solution)
    lam = largest * _COARSE_RATIO
    while lam > largest * _PATH_END:
        solution = problem.solve(lam, solution)
        if int(support(solution, uses, keep).sum()) >= max_size:
            break
        lam *= _COARSE_RATIO
    return solution


class _Seen(NamedTuple):
    """A solution without its linear predictor, which takes memory."""

    lam: float
    weights: FloatArray
    intercept: FloatArray
    groups: BoolArray

    @property
    def size(self) -> int:
        return int(self.groups.sum())


class _PathTracer:
    """Collects the solutions of a path."""

    def __init__(
        self, problem: SparseForest, uses: BoolArray, keep: BoolArray, max_size: int
    ) -> None:
        self._problem, self._uses, self._keep = problem, uses, keep
        self.max_size = max_size
        self._seen: list[_Seen] = []

    def size(self, solution: WeightedTrees) -> int:
        return int(support(solution, self._uses, self._keep).sum())

    def record(self, solution: WeightedTrees) -> None:
        groups = support(solution, self._uses, self._keep)
        self._seen.append(_Seen(solution.lam, solution.weights, solution.intercept, groups))

    def is_complete(self, lam: float) -> bool:
        """Whether the path has its largest size, and a lower penalty changes no step of it."""
        large = [seen for seen in self._seen if seen.size >= self.max_size]
        if not large:
            return False
        first, last = max(large, key=_lam_of), min(self._seen, key=_lam_of)
        return not np.array_equal(first.groups, last.groups) or lam <= _ROOM * first.lam

    def refine(self, above: WeightedTrees, below: WeightedTrees, depth: int) -> None:
        """Look for the sizes that were skipped between two penalties."""
        size = self.size(above)
        if depth == 0 or self.size(below) - size <= 1 or size >= self.max_size:
            return
        changed = np.count_nonzero((above.weights > 0) != (below.weights > 0))
        if changed == 1:
            return  # one tree brings all these groups: no size between them can be reached
        middle = self._problem.solve(float(np.sqrt(above.lam * below.lam)), above)
        self.record(middle)
        self.refine(above, middle, depth - 1)
        self.refine(middle, below, depth - 1)

    def increasing(self) -> list[WeightedTrees]:
        """Of the sets that are larger than all before them the last solutions: a path that never
        goes back."""
        steps: list[_Seen] = []
        first_lam, follows = np.inf, False
        for seen in sorted(self._seen, key=_lam_of, reverse=True):
            if not steps or steps[-1].size < min(seen.size, self.max_size):
                steps.append(seen)
                first_lam, follows = seen.lam, True
            elif not np.array_equal(seen.groups, steps[-1].groups):
                follows = False
            elif follows and seen.lam >= _ROOM * first_lam:
                steps[-1] = seen
        return [self._solution(seen) for seen in steps]

    def _solution(self, seen: _Seen) -> WeightedTrees:
        eta = self._problem.predictor(seen.weights, seen.intercept)
        return WeightedTrees(seen.lam, seen.weights, seen.intercept, eta)


def _lam_of(seen: _Seen) -> float:
    return seen.lam
