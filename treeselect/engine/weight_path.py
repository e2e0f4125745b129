"""The path of the sparse forest: what is selected as the penalty falls."""

from __future__ import annotations

import numpy as np

from treeselect.engine._types import BoolArray, FloatArray
from treeselect.engine.tree_weights import SparseForest, WeightedTrees

_COARSE_RATIO = 0.7
_PATH_END = 1e-3
_BISECTIONS = 14
"""An interval of a tenth is halved as often as the solver's tolerance can tell its ends apart."""


def support(solution: WeightedTrees, uses: BoolArray, keep: BoolArray) -> BoolArray:
    """Groups used by trees with positive weight, and those that are kept, shape (n_groups,).

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
    share = gains / gains.sum(axis=1, keepdims=True)
    importance = (solution.weights * spread) @ share
    total = importance.sum()
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
        By falling penalty, with increasing sizes; the first is the empty forest. Of several
        solutions of one size that with the largest penalty, or on an exact path the last one
        before its groups change.
    """
    tracer = _PathTracer(problem, uses, keep, max_size if last_lam is None else len(keep))
    first = problem.empty()
    largest = problem.largest_lam(first)
    end = largest * _PATH_END if last_lam is None else last_lam
    tracer.record(first)
    previous = first._replace(lam=largest)
    for lam in problem.penalties(largest, max(end, 0.0)):
        solution = problem.solve(lam, previous)
        size = tracer.record(solution)
        if not problem.is_exact:
            tracer.refine(previous, solution, _BISECTIONS)
        if size >= tracer.max_size:
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


class _PathTracer:
    """Collects the solutions of a path: of each size that with the largest penalty."""

    def __init__(
        self, problem: SparseForest, uses: BoolArray, keep: BoolArray, max_size: int
    ) -> None:
        self._problem, self._uses, self._keep = problem, uses, keep
        self.max_size = max_size
        self._found: dict[int, WeightedTrees] = {}
        self._last: WeightedTrees | None = None

    def size(self, solution: WeightedTrees) -> int:
        return int(support(solution, self._uses, self._keep).sum())

    def record(self, solution: WeightedTrees) -> int:
        size = self.size(solution)
        known = self._found.get(size)
        goes_on = self._problem.is_exact and known is self._last and self._is_alike(solution, known)
        if known is None or solution.lam > known.lam or goes_on:
            self._found[size] = self._last = solution
        else:
            self._last = None
        return size

    def _is_alike(self, one: WeightedTrees, other: WeightedTrees | None) -> bool:
        """Whether two solutions have the same groups."""
        return other is not None and np.array_equal(
            support(one, self._uses, self._keep), support(other, self._uses, self._keep)
        )

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
        """The steps that are larger than all before them: a path that never goes back."""
        steps: list[WeightedTrees] = []
        for solution in sorted(self._found.values(), key=lambda s: -s.lam):
            if not steps or self.size(solution) > self.size(steps[-1]):
                steps.append(solution)
        return steps
