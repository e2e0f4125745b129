"""Exactly k groups: the best subset over trees, by outer approximation.

The set of k groups whose trees explain most::

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

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import first_smallest
from treeselect.engine.sparse.tree_weights import SparseForest, WeightedTrees

_GAP = 1e-4
"""Relative difference of value and bound that is taken for none."""

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


class SubsetValues:
    """v of sets of groups, each of which is solved once.

    Parameters
    ----------
    forest : SparseForest
        The trees, with a ridge above 0; its prices have no influence.
    uses : ndarray of bool, shape (n_trees, n_groups)
    """

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
    values: SubsetValues,
    keep: BoolArray,
    k: int,
    starts: Iterable[BoolArray],
    time_limit: float,
) -> BestSubset:
    """The best set of at most k groups.

    Parameters
    ----------
    values : SubsetValues
    keep : ndarray of bool, shape (n_groups,)
        Groups that are in every set; at most k.
    k : int
    starts : iterable of ndarray of bool, shape (n_groups,)
        Sets of at most k groups to look at first.
    time_limit : float
        Seconds after which the best set so far is returned, with the bound so far. The first start
        is looked at in any case.

    Returns
    -------
    BestSubset
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
    """The mixed-integer program: z (groups, 0 or 1), s (sets of groups that trees use), v.

    v is told from that of all groups, as a share of what is between it and that of the kept ones:
    the solver's tolerances are absolute.
    """

    def __init__(self, values: SubsetValues, keep: BoolArray, k: int, every: BoolArray) -> None:
        import highspy

        self._values = values
        self._kinds, kind = np.unique(values.uses, axis=0, return_inverse=True)
        self._kind = kind.ravel()
        self._low = values.of(every).value
        self._range = max(values.of(keep).value - self._low, 1e-300)
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
        self._solver.addVar(0.0, self._none)
        self._last = self._n_groups + n_kinds
        self._solver.changeColCost(self._last, 1.0)
        self._add_row(-self._none, k, at, np.ones(self._n_groups))
        for number, groups in enumerate(self._kinds):  # s <= z for each group of the kind
            for group in np.flatnonzero(groups):
                pair = np.array([self._n_groups + number, group])
                self._add_row(-self._none, 0.0, pair, np.array([1.0, -1.0]))

    def _add_row(self, low: float, high: float, at: IntArray, values: FloatArray) -> None:
        self._solver.addRow(low, high, len(at), at.astype(np.int32), values)

    def add(self, groups: BoolArray) -> None:
        """Add the cut at a set."""
        found = self._values.of(groups)
        worth = np.maximum(found.correlation, 0.0) ** 2 / (2 * self._values.ridge) / self._range
        by_kind = np.bincount(self._kind, weights=worth, minlength=len(self._kinds))
        allowed = ~self._kinds[:, ~groups].any(axis=1)
        self._add_row(
            (found.value - self._low) / self._range + float(by_kind @ allowed),
            self._none,
            np.arange(self._n_groups, self._last + 1),
            np.concatenate([by_kind, [1.0]]),
        )

    def propose(self, seconds: float) -> tuple[BoolArray | None, float]:
        """The best set under the cuts, None if time ran out, and a lower bound."""
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + seconds)
        self._solver.run()
        info, found = self._solver.getInfo(), self._solver.getSolution()
        bound = max(float(info.mip_dual_bound), 0.0) * self._range + self._low
        if not found.value_valid:
            return None, bound
        return np.array(found.col_value[: self._n_groups]) > 0.5, bound
