"""The path of the sparse forest, what is selected as the penalty falls; and its best subsets."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, vstack

from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import first_smallest
from treeselect.engine.sparse.weights import SparseForest, WeightedTrees

_COARSE_RATIO = 0.7
_PATH_END = 1e-3
_ROOM = 0.5
"""A set of groups is followed until the penalty is this share of that at which it came in."""

_BISECTIONS = 14
"""An interval of a tenth is halved as often as the solver's tolerance can tell its ends apart."""


def support(solution: WeightedTrees, uses: BoolArray, keep: BoolArray) -> BoolArray:
    """Groups used by trees with positive weight, by which each tree splits on, (n_trees, n_groups),
    and those forced in, shape (n_groups,)."""
    return np.asarray(uses[solution.weights > 0].any(axis=0) | keep)


def weighted_importance(
    solution: WeightedTrees, spread: FloatArray, gains: FloatArray
) -> FloatArray:
    """Importance of each group in a weighted forest, shape (n_groups,), summing to 1 (or 0).
    ``sum_t w_t sd(a_t) gain_tg / gain_t``: a tree counts by how much it moves the prediction."""
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
    """Solutions along a falling penalty, one for each size of the support that is reached; the
    first is the empty forest. The penalty falls from where the first priced tree enters to a
    thousandth of that, or until the support has `max_size` groups, or exactly to `last_lam`; from
    one set of trees to the next where the problem is exact, otherwise in steps of a tenth. Where
    these skip a size, the interval is bisected until it is found, or a single tree is left that
    brings several groups, or the ends can't be told apart. Of the sets of one size the first is
    taken; and of its solutions the last, before the set changes or the penalty has fallen to half:
    what is in has had room to gain weight."""
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
    """Where a penalty that falls in coarse steps finds `max_size` groups, or ends. Unlike a step of
    :func:`solution_path` it is not the first solution of its size: what is in has had room to gain
    weight, and where there are fewer groups the penalty falls to its end."""
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


_GAP = 1e-4
"""Relative difference of value and bound that is taken for none."""


class BestSubset(NamedTuple):
    """The best set that was found, the solution on the trees that use its groups only, its v, and a
    bound: no set has a lower v."""

    groups: BoolArray
    solution: WeightedTrees
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """Optimality gap, ``(value - bound) / value``, at least 0; 0 once it is proved."""
        gap = (self.value - self.bound) / max(abs(self.value), 1e-300)
        return gap if gap > _GAP else 0.0


class SubsetValues:
    """v of sets of groups, each of which is solved once, of trees with a ridge above 0, whose
    prices have no influence."""

    def __init__(self, forest: SparseForest, uses: BoolArray) -> None:
        self.uses, self.ridge = uses, forest.ridge
        self._forest = forest
        self._known: dict[bytes, _Value] = {}

    def of(self, groups: BoolArray) -> _Value:
        """v of a set: the trees that use others have a price, and the penalty is infinite."""
        key = groups.tobytes()
        if key not in self._known:
            outside = np.where(self.uses[:, ~groups].any(axis=1), 1.0, 0.0)
            own = self._forest.with_prices(outside)
            found = own.empty()._replace(lam=0.0)
            correlation = own.correlation(found.eta)
            value = own.objective(found)
            self._known[key] = _Value(found.weights, found.intercept, value, correlation)
        return self._known[key]

    def solution(self, groups: BoolArray) -> WeightedTrees:
        """The trees of a set and their weights."""
        found = self.of(groups)
        eta = self._forest.predictor(found.weights, found.intercept)
        return WeightedTrees(0.0, found.weights, found.intercept, eta)


class _Value(NamedTuple):
    weights: FloatArray
    intercept: FloatArray
    value: float
    correlation: FloatArray


def best_subset(
    values: SubsetValues, keep: BoolArray, k: int, starts: Iterable[BoolArray], time_limit: float
) -> BestSubset:
    """The best set of at most k groups, those of `keep` among them, by outer approximation::

        minimise over sets S of at most k groups
            v(S) = min over w >= 0, b of  mean_i L(y_i, F0 + b + (A w)_i) + ridge / 2 * |w| ** 2,
            where only trees that use no group outside S may have a weight.

    With s_t = 1 for the trees that are allowed, v is convex in s, and at a solution with
    correlations c_t (minus the gradient of the mean loss in w_t) its dual gives the cut

        v(s) >= v(s') - sum_t max(c_t, 0) ** 2 / (2 ridge) * (s_t - s'_t)

    (Bertsimas and Van Parys 2020, equation 13, for weights of at least 0 and any convex loss). A
    mixed-integer linear program over all cuts so far (HiGHS) proposes the next set and bounds the
    best value from below, until they meet or the time is over. `starts` are looked at first, the
    first of them in any case.
    """
    end = time.monotonic() + time_limit
    every = np.ones(len(keep), dtype=np.bool_)
    master = _Master(values, keep, k, every)
    seen: dict[bytes, BoolArray] = {}
    for groups in [*starts, keep]:
        seen[groups.tobytes()] = groups
        master.add(groups)
        if time.monotonic() > end:
            break
    bound = values.of(every).value
    while True:
        sets = list(seen.values())
        best = sets[first_smallest([values.of(groups).value for groups in sets])]
        value = values.of(best).value
        found = BestSubset(best, values.solution(best), value, min(bound, value))
        left = end - time.monotonic()
        if left <= 0 or found.gap == 0.0:
            return found
        proposed, proved = master.propose(left)
        bound = max(bound, proved)
        if proposed is None or proposed.tobytes() in seen:  # no time, or nothing new to look at
            return found._replace(bound=min(bound, value))
        seen[proposed.tobytes()] = proposed
        master.add(proposed)


class _Master:
    """The mixed-integer program: z (groups, 0 or 1), s (sets of groups that trees use), v. v is
    told from that of all groups, as a share of what is between it and that of the kept ones: the
    solver's tolerances are absolute."""

    def __init__(self, values: SubsetValues, keep: BoolArray, k: int, every: BoolArray) -> None:
        self._values = values
        self._kinds, kind = np.unique(values.uses, axis=0, return_inverse=True)
        self._kind = kind.ravel()
        self._low = values.of(every).value
        self._range = max(values.of(keep).value - self._low, 1e-300)
        self._n_groups, n_kinds = len(keep), len(self._kinds)
        self._is_group = np.arange(self._n_groups + n_kinds + 1) < self._n_groups
        self._least = np.concatenate([keep, np.zeros(n_kinds + 1)])
        number, group = np.nonzero(self._kinds)  # s <= z for each group of the kind
        pair, ones = np.arange(len(group)), np.ones(len(group))
        shape = len(group), len(self._least)
        allowed = coo_array((ones, (pair, group)), shape)
        allowed -= coo_array((ones, (pair, self._n_groups + number)), shape)
        self._rows: list[Any] = [-1.0 * self._is_group[np.newaxis], allowed]
        self._lows = [-float(k), *np.zeros(len(group))]

    def add(self, groups: BoolArray) -> None:
        """Add the cut at a set."""
        found = self._values.of(groups)
        worth = np.maximum(found.correlation, 0.0) ** 2 / (2 * self._values.ridge) / self._range
        by_kind = np.bincount(self._kind, weights=worth, minlength=len(self._kinds))
        allowed = ~self._kinds[:, ~groups].any(axis=1)
        low = (found.value - self._low) / self._range + float(by_kind @ allowed)
        by_kind[~allowed] = np.minimum(by_kind[~allowed], low)  # v >= 0: as strict, and smaller
        self._rows.append(np.concatenate([np.zeros(self._n_groups), by_kind, [1.0]])[None])
        self._lows.append(low)

    def propose(self, seconds: float) -> tuple[BoolArray | None, float]:
        """The best set under the cuts, None if time ran out, and a lower bound."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        is_v = np.arange(len(self._least)) == len(self._least) - 1
        found = milp(
            is_v,
            integrality=self._is_group,
            bounds=Bounds(self._least, np.where(is_v, np.inf, 1.0)),
            constraints=LinearConstraint(vstack(self._rows), self._lows),
            options={"time_limit": seconds, "mip_rel_gap": _GAP / 10},
        )
        bound = max(found.mip_dual_bound or 0.0, 0.0) * self._range + self._low
        return (None if found.x is None else found.x[self._is_group] > 0.5), bound
