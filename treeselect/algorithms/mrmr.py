"""mRMR: what tells most of the response and least of what is in already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from treeselect.algorithms.base import Problem, Step
from treeselect.algorithms.final import RefitsForest
from treeselect.algorithms.options import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    refuse_costs,
)
from treeselect.algorithms.ranking import SCORING, ranked_step
from treeselect.design import FloatArray, IntArray, WeightArray
from treeselect.engine.binning import BinnedData

Scheme = Literal["difference", "quotient"]

_LEAST = 1e-3
"""Least redundancy that a relevance is divided by."""


@dataclass(frozen=True, kw_only=True)
class MRMR(RefitsForest):
    """Minimum redundancy, maximum relevance.

    Units come in one after the other: the one next whose mutual information with the response is
    highest against its mean mutual information with those that are in. It sees each unit, and each
    pair of units, for itself: what tells something only together with another stays out.

    Parameters
    ----------
    threshold : float, optional
        Least value of the criterion, in nats (for the quotient a ratio): the path ends before the
        first unit whose value is below. None: the number of units decides.
    scheme : {"difference", "quotient"}
        Whether the redundancy is subtracted, or divided by (MID and MIQ of [1]_).
    n_bins : int
        Most bins of a number, 2 to 100, of about equal weight; missing values have their own.
    prune : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is not in its range, or there are `costs`.

    Notes
    -----
    The columns of a unit are taken jointly. From each mutual information what is expected of
    independent ones is subtracted, ``(cells_x - 1) (cells_y - 1) / (2 n)``: units of many cells
    would win otherwise. Classes are taken as they are, numbers and counts are binned as the units
    are; with an offset the negative gradient at the constant model takes the place of the response.
    The tuning value of a step is the least criterion so far, the importance of a unit its
    relevance. Kept units are in before all others. Training scores are those of a forest of 100
    trees on the units of the step, grown as the final one. Constant units never come in.

    References
    ----------
    .. [1] H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information criteria
       of max-dependency, max-relevance, and min-redundancy. IEEE Transactions on Pattern Analysis
       and Machine Intelligence 27, 1226-1238.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=3, seed=1)
    >>> "sex" in fit.selected
    True
    """

    threshold: float | None = None
    scheme: Scheme = "difference"
    n_bins: int = 10

    name: ClassVar[str] = "mrmr"
    title: ClassVar[str] = "Minimum redundancy, maximum relevance (mRMR)"
    paper: ClassVar[str] = (
        "H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information criteria "
        "of max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27, 1226-1238."
    )
    tuning_name: ClassVar[str] = "threshold"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self, "threshold", optional=True)
        check_choice(self, "scheme", ("difference", "quotient"))
        check_integer(self, "n_bins", least=2, most=100)
        check_flag(self, "prune")

    @property
    def tuning_value(self) -> float | None:
        """The fixed threshold, None for the path."""
        return self.threshold

    def path(
        self,
        problem: Problem,
        weight: WeightArray,
        *,
        max_size: int,
        seed: int,
        every_size: bool = True,
        n_threads: int = 1,
    ) -> tuple[Step, ...]:
        """Path of selected units, one more at a time (see ``base.SelectionMethod``)."""
        refuse_costs(self, problem.groups)
        n = len(problem.groups.names)
        longest = n if self.threshold is not None else self.longest(max_size, n)
        relevance, order, values = self._order(problem, weight, seed, longest)
        n_kept = int(problem.groups.keep.sum())

        def step_of_first(size: int, tuning: float) -> Step:
            selected = np.isin(np.arange(n), order[:size])
            score = SCORING.scored(problem, weight, selected, seed=seed, n_threads=n_threads)
            return ranked_step(tuning, selected, relevance, score)

        least = np.minimum.accumulate(np.array([np.inf, *values]))
        if self.threshold is not None:
            passed = int((least[1:] >= self.threshold).sum())
            step = step_of_first(n_kept + passed, self.threshold)
            return self.path_at(step, problem, weight, seed=seed)
        steps = [step_of_first(n_kept + i, float(tuning)) for i, tuning in enumerate(least)]
        return self.path_along(steps, problem, weight, max_size=max_size, seed=seed)

    def _order(
        self, problem: Problem, weight: WeightArray, seed: int, longest: int
    ) -> tuple[FloatArray, list[int], list[float]]:
        """Relevance of each unit, the units in the order in which they come in, and the criterion
        of each that is not kept."""
        groups, rows = problem.groups, np.flatnonzero(weight > 0)
        mass = weight[rows] * (len(rows) / weight[rows].sum() if weight.dtype.kind == "f" else 1.0)
        cells = [
            unit_cells(problem.data, g, rows, mass, self.n_bins) for g in range(len(groups.names))
        ]
        response = _response_cells(problem, weight, rows, mass, self.n_bins)
        relevance = np.array([mutual_information(c, response, mass) for c in cells])
        can_enter = np.array([c.max() > 0 for c in cells]) & ~groups.keep
        ranks, order = groups.ranks(seed), np.flatnonzero(groups.keep).tolist()
        redundancy = np.zeros(len(cells))
        for g in order:
            redundancy += [mutual_information(c, cells[g], mass) for c in cells]
        values: list[float] = []
        while can_enter.any() and len(order) < longest:
            criterion = self._criterion(relevance, redundancy / max(len(order), 1), bool(order))
            criterion[~can_enter] = -np.inf
            g = int(np.lexsort((ranks, -criterion))[0])
            order.append(g)
            values.append(float(criterion[g]))
            can_enter[g] = False
            for i in np.flatnonzero(can_enter):
                redundancy[i] += mutual_information(cells[i], cells[g], mass)
        return relevance, order, values

    def _criterion(self, relevance: FloatArray, redundancy: FloatArray, some: bool) -> FloatArray:
        if self.scheme == "difference" or not some:
            return relevance - redundancy
        return np.asarray(relevance / np.maximum(redundancy, _LEAST))


def mutual_information(x: IntArray, y: IntArray, mass: FloatArray) -> float:
    """Mutual information of two partitions of the rows, in nats, less what is expected of
    independent ones.

    Parameters
    ----------
    x, y : ndarray of int64, shape (n_rows,)
        Cells, numbered from 0 without gaps.
    mass : ndarray of float, shape (n_rows,)
        How often each row counts.
    """
    n_x, n_y = int(x.max()) + 1, int(y.max()) + 1
    total = mass.sum()
    both = np.bincount(x * n_y + y, mass, n_x * n_y).reshape(n_x, n_y) / total
    apart = both.sum(axis=1, keepdims=True) * both.sum(axis=0, keepdims=True)
    there = both > 0
    plain = float((both[there] * np.log(both[there] / apart[there])).sum())
    return plain - (n_x - 1) * (n_y - 1) / (2 * float(total))


def unit_cells(
    data: BinnedData, group: int, rows: IntArray, mass: FloatArray, n_bins: int
) -> IntArray:
    """Cells of a unit: the combinations of its columns' bins that are there."""
    cells = np.zeros(len(rows), dtype=np.int64)
    for j in range(data.group_start[group], data.group_start[group + 1]):
        codes = data.column(j)[rows].astype(np.int64)
        if not data.is_factor[j]:
            known = codes > 0
            codes[known] = 1 + coarsened(codes[known], mass[known], n_bins)
        codes = np.unique(codes, return_inverse=True)[1]
        cells = np.unique(cells * (codes.max() + 1) + codes, return_inverse=True)[1]
    return cells


def coarsened(values: IntArray | FloatArray, mass: FloatArray, n_bins: int) -> IntArray:
    """Bins of about equal weight, numbered from 0 with gaps; equal values stay together, and few
    distinct ones as they are."""
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) <= n_bins:
        return np.asarray(place, dtype=np.int64)
    share = np.bincount(place, mass)
    middle = (np.cumsum(share) - share / 2) / share.sum()
    return np.asarray(np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)[place])


def _response_cells(
    problem: Problem, weight: WeightArray, rows: IntArray, mass: FloatArray, n_bins: int
) -> IntArray:
    if problem.family.has_classes and problem.offset is None:
        labels = problem.y[rows].astype(np.int64)
    else:
        eta = problem.constant(weight)
        left = problem.family.loss.negative_gradient(problem.y, eta)[rows]
        labels = coarsened(left, mass, n_bins)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)
