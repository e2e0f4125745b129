"""Exactly k groups: the best subset over trees, by outer approximation.

Of all sets of k groups the one whose trees explain most::

    minimise over sets S of at most k groups
        v(S) = min over w >= 0, b of  mean_i L(y_i, F0 + b + (A w)_i) + ridge / 2 * |w| ** 2,
        where only trees that use no group outside S may have a weight.

With s_t = 1 for the trees that are allowed, v is convex in s, and at a solution with correlations
c_t (minus the gradient of the mean loss in w_t) its dual gives the cut

    v(s) >= v(s') - sum_t max(c_t, 0) ** 2 / (2 ridge) * (s_t - s'_t)

(Bertsimas and Van Parys 2020, Sparse high-dimensional regression, equation 13, for weights of at
least 0 and any convex loss). A mixed-integer linear program over all cuts so far (HiGHS) proposes
the next set and bounds the best value from below, until they meet or the time is over.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from treeselect.engine._types import BoolArray, FloatArray, IntArray
from treeselect.engine.tree_weights import SparseForest, WeightedTrees

_GAP = 1e-4
"""Relative difference of value and bound that is taken for none."""

_MOST_CUTS = 2000

_OPTIONS = {"output_flag": False, "threads": 1, "random_seed": 0, "mip_rel_gap": _GAP / 10}


class BestSubset(NamedTuple):
    """The best set that was found.

    Attributes
    ----------
    groups : ndarray of bool, shape (n_groups,)
    solution : WeightedTrees
        On the trees that use these groups only.
    value : float
        v of the set.
    bound : float
        No set has a lower v.
    """

    groups: BoolArray
    solution: WeightedTrees
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """Optimality gap, ``(value - bound) / value``, at least 0; 0 once it is proved."""
        gap = (self.value - self.bound) / max(abs(self.value), 1e-300)
        return gap if gap > _GAP else 0.0


def best_subset(
    forest: SparseForest,
    uses: BoolArray,
    keep: BoolArray,
    k: int,
    starts: Iterable[BoolArray],
    time_limit: float,
) -> BestSubset:
    """The best set of at most k groups.

    Parameters
    ----------
    forest : SparseForest
        The trees, with a ridge above 0; its prices have no influence.
    uses : ndarray of bool, shape (n_trees, n_groups)
    keep : ndarray of bool, shape (n_groups,)
        Groups that are in every set; at most k.
    k : int
    starts : iterable of ndarray of bool, shape (n_groups,)
        Sets of at most k groups to look at first.
    time_limit : float
        Seconds after which the best set so far is returned, with the bound so far.

    Returns
    -------
    BestSubset
    """
    end = time.monotonic() + time_limit
    master = _Master(uses, keep, k, forest.ridge)

    def look_at(groups: BoolArray, bound: float) -> BestSubset:
        found = _value_of(forest, uses, groups)
        master.add(found, groups)
        return BestSubset(groups, found.solution, found.value, bound)

    bound = look_at(np.ones(len(keep), dtype=np.bool_), -np.inf).value
    best = min((look_at(groups, bound) for groups in [keep, *starts]), key=_value)
    for _ in range(_MOST_CUTS):
        left = end - time.monotonic()
        if left <= 0 or best.gap == 0.0:
            break
        proposed, bound = master.propose(left)
        best = best._replace(bound=max(best.bound, min(bound, best.value)))
        if proposed is None:
            break
        best = min(best, look_at(proposed, best.bound), key=_value)
    return best


def _value(subset: BestSubset) -> float:
    return subset.value


class _Value(NamedTuple):
    solution: WeightedTrees
    value: float
    correlation: FloatArray


def _value_of(forest: SparseForest, uses: BoolArray, groups: BoolArray) -> _Value:
    """v of a set, with the trees that use others at a price and the penalty infinite."""
    outside = np.where(uses[:, ~groups].any(axis=1), 1.0, 0.0)
    own = forest.with_prices(outside)
    solution = own.empty()._replace(lam=0.0)
    return _Value(solution, own.objective(solution), own.correlation(solution.eta))


class _Master:
    """The mixed-integer program: z (groups, 0 or 1), s (sets of groups that trees use), v."""

    def __init__(self, uses: BoolArray, keep: BoolArray, k: int, ridge: float) -> None:
        import highspy

        self._kinds, kind = np.unique(uses, axis=0, return_inverse=True)
        self._kind, self._ridge = kind.ravel(), ridge
        self._n_groups, n_kinds = len(keep), len(self._kinds)
        self._none = highspy.kHighsInf
        self._solver = highspy.Highs()
        for option, value in _OPTIONS.items():
            self._solver.setOptionValue(option, value)
        for kept in keep:
            self._solver.addVar(float(kept), 1.0)
        whole = [highspy.HighsVarType.kInteger] * self._n_groups
        at = np.arange(self._n_groups)
        self._solver.changeColsIntegrality(self._n_groups, at.astype(np.int32), np.array(whole))
        for _ in range(n_kinds):
            self._solver.addVar(0.0, 1.0)
        self._solver.addVar(-self._none, self._none)
        self._last = self._n_groups + n_kinds
        self._solver.changeColCost(self._last, 1.0)
        self._add_row(-self._none, k, at, np.ones(self._n_groups))
        for number, groups in enumerate(self._kinds):  # s <= z for each group of the kind
            for group in np.flatnonzero(groups):
                pair = np.array([self._n_groups + number, group])
                self._add_row(-self._none, 0.0, pair, np.array([1.0, -1.0]))

    def _add_row(self, low: float, high: float, at: IntArray, values: FloatArray) -> None:
        self._solver.addRow(low, high, len(at), at.astype(np.int32), values)

    def add(self, found: _Value, groups: BoolArray) -> None:
        """Add the cut at a set."""
        worth = np.maximum(found.correlation, 0.0) ** 2 / (2 * self._ridge)
        by_kind = np.bincount(self._kind, weights=worth, minlength=len(self._kinds))
        allowed = ~self._kinds[:, ~groups].any(axis=1)
        self._add_row(
            found.value + float(by_kind @ allowed),
            self._none,
            np.arange(self._n_groups, self._last + 1),
            np.concatenate([by_kind, [1.0]]),
        )

    def propose(self, seconds: float) -> tuple[BoolArray | None, float]:
        """The set that the cuts think best, None if there was no time, and a lower bound."""
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + seconds)
        self._solver.run()
        info, found = self._solver.getInfo(), self._solver.getSolution()
        if not found.value_valid:
            return None, float(info.mip_dual_bound)
        return np.array(found.col_value[: self._n_groups]) > 0.5, float(info.mip_dual_bound)
