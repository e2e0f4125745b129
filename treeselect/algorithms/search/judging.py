"""A judge of sets that noise units do not improve: an additive model plus a forest."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from treeselect.algorithms.task import Task
from treeselect.designs.families import GAUSSIAN
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.columns import BinnedData, select_groups, take_rows
from treeselect.engine.forest.bagging import Sampling, bagged_forest, first_gains
from treeselect.engine.forest.importance import out_of_bag_gains
from treeselect.engine.linear.additive_search import (
    AdditiveSearch,
    folds_of_clusters,
    ridge_outside,
    rises_without,
)
from treeselect.engine.linear.basis import AdditiveColumns
from treeselect.engine.rounding import levels, slack
from treeselect.engine.tree.target import Target, copies, target_of
from treeselect.engine.tree.used_groups import can_split, n_able
from treeselect.engine.tree.workspace import Growth
from treeselect.models.forest import MIN_LEAF, Grower, best_forest, cut_forest, truth_of

# --- screens: the units that a forest of very many units is grown on ---------------------------

_CELLS, _LEAST = 1_000_000, 10_000
"""Rows times units that pass a screen, and the least number of units that do."""


def passing(n_rows: int, n_units: int) -> int:
    """Number of units that pass the screen; all of them if they are few."""
    return min(max(_LEAST, _CELLS // max(n_rows, 1)), n_units)


def screen(
    data: BinnedData,
    target: Target,
    counts: IntArray,
    growth: Growth,
    ranks: IntArray,
    within: Sequence[int] = (),
) -> tuple[BoolArray, FloatArray]:
    """The units that pass, and the gain of the first split of each, shape (n_groups,).

    Units are ranked by the gain of the best first split on all rows and, for each unit of `within`,
    by the sum of these gains in its two halves of the rows, so that interactions with it are seen.
    They pass by turns, the first of each ranking first.
    """
    whole = _gains(data, target, counts, growth)
    orders = [_order(whole, ranks)]
    for unit in within:
        low = _lower_half(data, int(data.group_start[unit]), counts)
        halves = [counts * low, counts * ~low]
        found = [own.sum() * _gains(data, target, own, growth) for own in halves if own.any()]
        orders.append(_order(np.sum(found, axis=0), ranks))
    n = passing(int(np.count_nonzero(counts)), data.n_groups)
    by_turns = np.stack(orders, axis=1).ravel()
    _, first = np.unique(by_turns, return_index=True)
    passes = np.zeros(data.n_groups, dtype=np.bool_)
    passes[by_turns[np.sort(first)[:n]]] = True
    return passes, whole


def _gains(data: BinnedData, target: Target, counts: IntArray, growth: Growth) -> FloatArray:
    gains = first_gains(data, target, counts, growth)
    return np.asarray(np.maximum.reduceat(gains, data.group_start[:-1]))


def _order(gains: FloatArray, ranks: IntArray) -> IntArray:
    return np.lexsort((ranks, -levels(gains)))


def _lower_half(data: BinnedData, column: int, counts: IntArray) -> BoolArray:
    """The rows with the lower codes of a column, about half of them; not those of one code only."""
    codes = data.column(column).astype(np.int64)
    copies = np.bincount(codes, counts)
    below = np.cumsum(copies)
    present = np.flatnonzero(copies)
    uneven = np.abs(2 * below[present] - below[-1])
    return np.asarray(
        codes <= present[:-1][np.argmin(uneven[:-1])] if len(present) > 1 else codes < 0
    )


# --- a judge of sets that noise units do not improve -------------------------------------------

_DEPTH = 12
"""Depth of the forests that rank units."""


_ENOUGH_TREES = 30
"""Trees from which the better of two forests judges: a weak unit beside strong ones often shows
only where not all are tried at each split."""


class _Judged(NamedTuple):
    """A set, the out-of-bag predictions of its model, their squared errors and the trees' part in
    them, shape (n_own_rows, ...)."""

    selected: BoolArray
    prediction: FloatArray
    errors: FloatArray
    of_trees: FloatArray


class Judge:
    """Squared errors of models of sets of units for rows that they were not fitted to.

    Smooth effects of single units are told best by an additive model, everything else by trees. The
    model of a set is an additive ridge regression (:func:`ridge_outside`), which predicts each row
    without it, plus a forest of what that leaves: the better of one that tries all units of the set
    at each split and one that tries a third of them, or the former alone where trees are few. The
    trees are cut back to the capacity of least out-of-bag error; errors are those of infinitely
    many such trees (``OutsideSums.errors``). The forest's predictions are multiplied by
    the number from 0 to 1 of least error, so that trees that find nothing do no harm. All sets
    share the same bags, so errors are compared row by row.
    """

    def __init__(self, task: Task, n_trees: int, name: str, most: int | None = None) -> None:
        problem = task.problem
        self.rows: Rows = task.once(rows_to_judge, most)
        self._data = self.rows.data
        self._weights = self.rows.weights
        self._weight, self._groups = self._weights.values, self._weights.blocks
        self._n_trees, self._n_threads = n_trees, task.n_threads
        self._seed = task.seeded(name).seed
        self._rank = problem.groups.ranks(0)
        self.truth = truth_of(problem, task.weight)[self.rows.places]
        self.columns = AdditiveColumns(self._data, self._weight)
        self._folds = None if self._groups is None else folds_of_clusters(self._groups)
        self._known: dict[bytes, _Judged] = {}

    def sets(self) -> list[BoolArray]:
        return [judged.selected for judged in self._known.values()]

    def errors(self, selected: BoolArray) -> FloatArray:
        """Squared out-of-bag errors of the judge's rows, shape (n_own_rows,); NaN where there is
        none."""
        return self._judged(selected).errors

    def residuals(self, selected: BoolArray) -> FloatArray:
        """Out-of-bag residuals of a set's model, shape (n_own_rows, n_outputs); NaN without
        prediction."""
        return self.truth - self._judged(selected).prediction

    def rises_without(self, selected: BoolArray) -> FloatArray:
        """How much worse the additive model of a set is without each of its units, shape
        (n_selected,)."""
        return rises_without(self.columns, np.flatnonzero(selected).tolist(), self.truth)

    def additive_search(self, keep: BoolArray, candidates: IntArray) -> AdditiveSearch:
        """A search for sets that the additive model alone fits best, among some candidates."""
        return AdditiveSearch(self.columns, self.truth, keep, candidates, self._folds)

    def of_trees(self, selected: BoolArray) -> FloatArray:
        """What trees add to the additive model of a set, out of bag, shape (n_own_rows,
        n_outputs)."""
        return self._judged(selected).of_trees

    def learn(self, sets: Sequence[BoolArray]) -> None:
        """Judge some sets that are needed next, each in its own thread."""
        new = {one.tobytes(): one for one in sets if one.tobytes() not in self._known}
        if self._n_threads == 1 or len(new) < 2:
            return
        with ThreadPoolExecutor(self._n_threads) as pool:
            judged = list(pool.map(lambda one: self._judge(one, 1), new.values()))
        self._known |= zip(new, judged, strict=True)

    def error(self, selected: BoolArray) -> float:
        """Mean squared out-of-bag error; infinite if no row is out of bag twice."""
        error = self.errors(selected)
        known = ~np.isnan(error)
        if not known.any():
            return np.inf
        return float(np.average(error[known], weights=self._weight[known]))

    def rise(
        self, before: BoolArray, after: BoolArray, base: BoolArray | None = None, share: float = 0.5
    ) -> tuple[float, float]:
        """Increase of the error from one set to another, with its standard error.

        The standard error is over rows, or over clusters (cluster-robust). Each row is one
        observation, whatever its weight. Both are 0 if no row is out of bag twice.
        """
        if base is None:
            difference = self.errors(after) - self.errors(before)
        else:
            known = self.errors(base)
            added, lost = self.errors(after) - known, self.errors(before) - known
            difference = 2 * (share * added - (1 - share) * lost)
        is_rounding = np.abs(difference) <= slack(self.errors(before))
        return self.mean(np.where(is_rounding, 0.0, difference))

    def mean(self, values: FloatArray) -> tuple[float, float]:
        """Mean of values of the judge's rows, with its standard error, as in :meth:`rise`; missing
        values are left out."""
        rows = ~np.isnan(values)
        if not rows.any():
            return 0.0, 0.0
        weight = self._weight[rows] / self._weight[rows].sum()
        mean = float(weight @ values[rows])
        if self._groups is None:
            return mean, float(np.sqrt((weight**2) @ (values[rows] - mean) ** 2))
        sums = np.bincount(self._groups[rows], weight * (values[rows] - mean))
        return mean, float(np.sqrt(sums @ sums))

    def _judged(self, selected: BoolArray) -> _Judged:
        key = selected.tobytes()
        if key not in self._known:
            self._known[key] = self._judge(selected, self._n_threads)
        return self._known[key]

    def _judge(self, selected: BoolArray, n_threads: int) -> _Judged:
        """Fit the additive model of a set and grow the forest of its residuals."""
        truth, weight = self.truth, self._weight
        known = ridge_outside(self.columns, np.flatnonzero(selected).tolist(), truth, self._folds)
        known = np.clip(known, truth.min(axis=0), truth.max(axis=0))
        left = truth - known
        if not selected.any():
            return _Judged(selected, known, (left**2).sum(axis=1), np.zeros_like(left))
        part = select_groups(self._data, selected)
        grower = Grower(
            part, left, self._weights, GAUSSIAN, self._seed, self._rank[selected], n_threads
        )
        if self._n_trees < _ENOUGH_TREES:
            n_tried = max(n_able(part, weight), 1)
            forest = cut_forest(grower, n_trees=self._n_trees, n_candidates=n_tried)
        else:
            forest = best_forest(grower, n_trees=self._n_trees)
        share = forest.share_of_least_error(left, weight)
        of_trees = share * np.nan_to_num(forest.prediction)
        return _Judged(selected, known + of_trees, forest.errors_at(share, left), of_trees)


class GainForests(NamedTuple):
    """Forests that rank units by their out-of-bag gains; minus infinity where they can't split."""

    task: Task
    rows: Rows

    def of_all(
        self, truth: FloatArray, name: str, n_trees: int, within: Sequence[int] = ()
    ) -> FloatArray:
        """Gains of all units, shape (n_groups,). Of very many units the forest is grown on those
        that pass a screen (``screen``); the others follow by the gain of their first split."""
        data, (target, counts) = self.rows.data, _known(self.rows, truth)
        ranks, able = self.task.problem.groups.ranks(0), can_split(data, counts)
        if passing(int((counts > 0).sum()), data.n_groups) == data.n_groups:
            gains = self._gains(data, target, counts, ranks, name, n_trees)
            return np.where(able, gains, -np.inf)
        passes, first = screen(data, target, counts, Growth(1, MIN_LEAF, 1, 0.0), ranks, within)
        few = select_groups(data, passes)
        gains = np.empty(data.n_groups)
        gains[passes] = self._gains(few, target, counts, ranks[passes], name, n_trees)
        least = min(float(gains[passes].min()), 0.0)
        gains[~passes] = least - 2 + first[~passes] / max(float(first.max()), np.finfo(float).tiny)
        return np.where(able, gains, -np.inf)

    def among(self, truth: FloatArray, units: BoolArray, name: str, n_trees: int) -> FloatArray:
        """Gains of some units in a forest of them alone; minus infinity for the others."""
        target, counts = _known(self.rows, truth)
        few = select_groups(self.rows.data, units)
        ranks = self.task.problem.groups.ranks(0)[units]
        gains = np.full(len(units), -np.inf)
        found = self._gains(few, target, counts, ranks, name, n_trees)
        gains[units] = np.where(can_split(few, counts), found, -np.inf)
        return gains

    def _gains(
        self, data: BinnedData, target: Target, counts: IntArray, ranks: IntArray, name: str,
        n_trees: int,
    ) -> FloatArray:  # fmt: skip
        n, seed = n_able(data, counts), self.task.seeded(name).seed
        forest = bagged_forest(
            data, target, counts, n_trees=n_trees, seed=seed,
            growth=Growth(_DEPTH, MIN_LEAF, max(1, -(-n // 3)), 0.0), rank=ranks,
            sampling=Sampling(groups=self.rows.weights.groups), n_threads=self.task.n_threads,
        )  # fmt: skip
        return out_of_bag_gains(forest).mean


def _known(rows: Rows, truth: FloatArray) -> tuple[Target, IntArray]:
    """The target, and how often each row counts: not at all where the truth is missing."""
    weight = rows.weights.values
    counts = copies(weight) * ~np.isnan(truth[:, 0])
    known = np.where(np.isnan(truth), 0.0, truth)
    return target_of(known, np.where(counts > 0, weight, np.zeros_like(weight))), counts


# --- The rows that sets are judged on: all with positive weight, or a random sample of them ------


class Rows(NamedTuple):
    """Rows to judge sets on, stored separately, so that other rows cost nothing."""

    places: IntArray  # (n_own_rows,): in increasing order
    n_all: int  # number of rows of the task
    data: BinnedData
    weights: RowWeights  # all above 0

    def among_all(self, values: FloatArray) -> FloatArray:
        """Values of these rows at their places among all rows; NaN elsewhere."""
        found = np.full((self.n_all, *values.shape[1:]), np.nan)
        found[self.places] = values
        return found


def rows_to_judge(task: Task, most: int | None = None) -> Rows:
    """The rows of a task with positive weight, or a random sample of at most `most` of them."""
    data, places = task.problem.data, np.flatnonzero(task.weight)
    if most is not None and len(places) > most:
        rng = np.random.default_rng(task.seeded("rows", most).seed)
        places = np.sort(rng.choice(places, most, replace=False))
    own = data if len(places) == data.n_rows else take_rows(data, places)
    return Rows(places, data.n_rows, own, task.weights.of(places))


# --- individual information of units, without random numbers -----------------------------------

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
