"""Correlation-based feature selection: sets relevant to the response and low in redundancy."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from treeselect.algorithms.shared.base import Step, ranked_step
from treeselect.algorithms.shared.ending import RefinedMethod
from treeselect.algorithms.shared.information import Uncertainties, uncertainties
from treeselect.algorithms.shared.options import (
    check_integer,
    check_number,
    refuse_costs,
)
from treeselect.algorithms.shared.references import Reference
from treeselect.algorithms.shared.scoring import score_of
from treeselect.algorithms.shared.task import Task
from treeselect.designs.design import FeatureGroups
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import falling

_PATIENCE = 5
"""Expansions without improvement after which the search ends, as in the thesis."""


@dataclass(frozen=True, kw_only=True)
class CFS(RefinedMethod):
    """Correlation-based feature selection (CFS): a merit of whole sets, and a search for the best.

    A set has high merit if its terms are strongly associated with the response and weakly with each
    other. Terms are evaluated individually and in pairs, so terms that are informative only jointly
    have no merit.

    Parameters
    ----------
    gain : float, optional
        What each term must add to the merit: the selected set maximises the merit minus `gain`
        times the number of its terms. 0.0 gives the set of highest merit, as in [1]_; negative
        values give larger sets. If None, `k` decides.
    n_bins : int
        Maximum number of bins of a numeric column, 2 to 100, of about equal weight; missing values
        have their own bin.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs` are given.

    Notes
    -----
    The merit of k terms is ``k r_cf / sqrt(k + k (k - 1) r_ff)`` (eq. 1 of [2]_), where r_cf is the
    mean symmetrical uncertainty of the terms with the response and r_ff that of pairs of terms.
    Mutual information and entropy are corrected for the value expected by chance; otherwise terms
    with many cells would be favoured. The columns of a term, or of a group (``groups=``), are used
    jointly. Classes are used as they are; numeric and count responses are binned like the terms.
    With an offset, and for right-censored times, the negative gradient at the null model replaces
    the response; for times, these are the martingale residuals, within strata.

    The search is best-first and starts from the terms forced in. The best set not yet expanded is
    expanded by each term outside it. The search ends after five expansions in a row without
    improvement. For each size, the path has the set of highest merit that was evaluated, where the
    best set of each size was expanded as well; sets need not be nested. The tuning parameter of a
    step is the smallest mean increase in merit per added term from any smaller set of the path to
    its own, or that of an earlier step if smaller. The
    importance of a term is its symmetrical uncertainty with the response. Training scores are those
    of :class:`MRMR`. Constant terms never enter.

    References
    ----------
    .. [1] M. A. Hall (1999). Correlation-based feature selection for machine learning. Thesis,
       University of Waikato.
    .. [2] M. A. Hall (2000). Correlation-based feature selection for discrete and numeric class
       machine learning. Proceedings of the 17th International Conference on Machine Learning,
       359-366.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="cfs", gain=0.0, seed=1)
    >>> "sex" in fit.selected
    True
    """

    gain: float | None = None
    n_bins: int = 10

    name: ClassVar[str] = "cfs"
    title: ClassVar[str] = "Correlation-based feature selection (CFS)"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("M. A. Hall",),
            2000,
            "Correlation-based feature selection for discrete and numeric class machine learning",
            book="Proceedings of ICML 17",
            pages="359-366",
        ),
    )
    tuning_name: ClassVar[str] = "gain"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True
    left_out: ClassVar[str] = "the others are constant"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "gain", optional=True)
        check_integer(self, "n_bins", least=2, most=100)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of the best sets by size (see ``Method.path``)."""
        problem, seed = task.problem, task.seed
        refuse_costs(self, problem.groups)
        n = len(problem.groups.names)
        units = uncertainties(problem, task.weights, self.n_bins)
        search = MeritSearch(units, problem.groups, seed, self.gain or 0.0)

        def step_of(found: UnitSet, tuning: float) -> Step:
            selected = np.isin(np.arange(n), found.units)
            score = score_of(task, selected)
            return ranked_step(tuning, selected, search.relevance, score)

        if self.gain is not None:
            step = step_of(search.best(), self.gain)
            return self.path_at(step, task)
        sets = search.of_each_size(self.longest(task))
        gains = _least_rises(np.array([found.merit for found in sets]))
        steps = [step_of(found, float(g)) for found, g in zip(sets, gains, strict=True)]
        return self.path_along(steps, task)


@dataclass(frozen=True, slots=True)
class UnitSet:
    """A set of units, in increasing order, and its merit."""

    units: tuple[int, ...]
    merit: float


class MeritSearch:
    """Best-first search for sets of high merit.

    Parameters
    ----------
    units : Uncertainties
    groups : FeatureGroups
    seed : int
        Seed of the order of ties.
    gain : float
        What each unit must add to the merit.

    Attributes
    ----------
    relevance : ndarray of float, shape (n_groups,)
        Symmetrical uncertainty of each unit with the response.
    """

    def __init__(self, units: Uncertainties, groups: FeatureGroups, seed: int, gain: float) -> None:
        self._units, self._gain = units, gain
        self.relevance = units.relevance()
        self._ranks: IntArray = groups.ranks(seed)
        self._can_enter: BoolArray = (units.n_cells > 1) & ~groups.keep
        self._redundancy: dict[int, FloatArray] = {}
        kept = tuple(np.flatnonzero(groups.keep).tolist())
        self._start = UnitSet(kept, self._merit(kept))
        self._best = {len(kept): self._start}
        self._search()

    def best(self) -> UnitSet:
        """The best set found, by merit minus `gain` for each unit; the smallest of equal ones."""
        return max((self._best[size] for size in sorted(self._best)), key=self._value)

    def of_each_size(self, most: int) -> list[UnitSet]:
        """The best set found of each size, where each of these was expanded as well."""
        for size in range(len(self._start.units), most):
            if size in self._best:
                self._expand(self._best[size])
        return [self._best[size] for size in sorted(self._best) if size <= most]

    def _search(self) -> None:
        numbers, seen = count(), set()
        left: list[tuple[float, int, Children, int]] = []
        found: UnitSet | None = self._start
        top, stale = self._value(self._start), 0
        while found is not None and stale < _PATIENCE:
            seen.add(found.units)
            children = self._expand(found)
            if len(children):
                value = self._value(children[0])
                heapq.heappush(left, (-value, next(numbers), children, 0))
                top, stale = max(top, value), 0 if value > top else stale + 1
            found = None
            while left and found is None:
                _, _, siblings, i = heapq.heappop(left)
                if i + 1 < len(siblings):
                    value = self._value(siblings[i + 1])
                    heapq.heappush(left, (-value, next(numbers), siblings, i + 1))
                found = None if siblings[i].units in seen else siblings[i]

    def _expand(self, found: UnitSet) -> Children:
        """The sets with one more unit; the best of them is recorded."""
        merits = self._merits(found.units)
        order = falling(merits, self._ranks)
        children = Children(found.units, order[merits[order] > -np.inf], merits)
        if len(children):
            child = children[0]
            known = self._best.setdefault(len(child.units), child)
            if child.merit > known.merit:
                self._best[len(child.units)] = child
        return children

    def _merits(self, units: tuple[int, ...]) -> FloatArray:
        """Merit of the set plus each further unit, minus infinity for units that can't enter."""
        inside, size = list(units), len(units) + 1
        redundancy = np.zeros(len(self.relevance))
        for g in inside:
            redundancy += self._redundancy_of(g)
        pairs = redundancy[inside].sum() + 2 * redundancy
        merits = (self.relevance[inside].sum() + self.relevance) / np.sqrt(size + pairs)
        can_enter = self._can_enter.copy()
        can_enter[inside] = False
        # Rounding must not break ties: they are broken by rank.
        return np.where(can_enter, np.round(merits, 12), -np.inf)

    def _merit(self, units: tuple[int, ...]) -> float:
        if not units:
            return 0.0
        inside = list(units)
        pairs = sum(self._redundancy_of(g)[inside].sum() for g in inside)
        return float(np.round(self.relevance[inside].sum() / np.sqrt(len(units) + pairs), 12))

    def _redundancy_of(self, unit: int) -> FloatArray:
        """Symmetrical uncertainty with each other unit, 0 with itself."""
        if unit not in self._redundancy:
            found = self._units.between(unit, np.arange(len(self.relevance)))
            found[unit] = 0.0
            self._redundancy[unit] = found
        return self._redundancy[unit]

    def _value(self, found: UnitSet) -> float:
        return found.merit - self._gain * len(found.units)


@dataclass(frozen=True, slots=True)
class Children:
    """The sets with one unit more than another set, best first.

    Attributes
    ----------
    parent : tuple of int
        Units of the other set.
    order : ndarray of int64, shape (n_children,)
        Units that enter.
    merits : ndarray of float, shape (n_groups,)
        Merit of the set with each unit.
    """

    parent: tuple[int, ...]
    order: IntArray
    merits: FloatArray

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, number: int) -> UnitSet:
        unit = int(self.order[number])
        return UnitSet(tuple(sorted((*self.parent, unit))), float(self.merits[unit]))


def _least_rises(merits: FloatArray) -> FloatArray:
    """For sets of increasing size, the smallest mean increase in merit per unit from a smaller set.

    It is the minimum over all sizes so far; infinite for the first.
    """
    rises = [np.inf]
    for size in range(1, len(merits)):
        from_each = (merits[size] - merits[:size]) / np.arange(size, 0, -1)
        rises.append(min(rises[-1], float(from_each.min())))
    return np.array(rises)
