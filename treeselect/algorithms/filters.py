"""Filters by information of single terms and pairs: mRMR, FCBF and CFS."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import ClassVar, Literal

import numpy as np

from treeselect.algorithms.forests.scoring import score_of
from treeselect.algorithms.options import choice, integer, number, refuse_costs, refuse_offset
from treeselect.algorithms.references import HALL_1999, HALL_2000, PENG_2005, YU_2003, Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import Step, Task, ranked_step
from treeselect.designs.problem import FeatureGroups, Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import BinnedData
from treeselect.engine.rounding import PRECISION, at_least, falling, levels

Scheme = Literal["difference", "quotient"]

_LEAST = 1e-3
"""Lower bound of the redundancy by which a relevance is divided."""


@dataclass(frozen=True, kw_only=True)
class MRMR(RefinedMethod):
    """Minimum redundancy, maximum relevance (mRMR).

    Terms enter one at a time. The next term maximises its mutual information with the response
    relative to its mean mutual information with the terms already selected. Only single terms and
    pairs of terms are evaluated, so terms that are informative only jointly are missed.

    Parameters
    ----------
    threshold : float, optional
        Least value of the criterion, in nats (for the quotient, a ratio to a redundancy of at least
        0.001 nats): the path ends before the first term below it. If None, `k` decides.
    scheme : {"difference", "quotient"}
        Whether the redundancy is subtracted from the relevance [1]_, or divides it (known as MID
        and MIQ).
    n_bins : int
        Maximum number of bins of a numeric column, 2 to 100, of about equal weight; missing values
        have their own bin.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs`, or an `offset` of a response that is not
        numeric, are given.

    Notes
    -----
    The columns of a term, or of a group (``groups=``), are used jointly. Each mutual information is
    reduced by its expectation under independence, ``(cells_x - 1) (cells_y - 1) / (2 n)``;
    otherwise terms with many cells would be favoured. Classes are used as they are; numeric and
    count responses are binned like the terms, numbers less their offset. For right-censored times,
    the martingale residuals of the null model, within strata, replace the response. Offsets of
    other responses than numbers are refused: the spread of their residuals depends on the offset,
    and this measure would find that, too. The tuning parameter of a step is the least value of the
    criterion so far, and the importance of a term is its relevance. Terms forced in enter first.
    The training score is the out-of-bag score of a forest of 100 trees on the terms of the step,
    grown like the final model. Constant terms never enter.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=3, seed=1)
    >>> "sex" in fit.selected
    True
    """

    threshold: float | None = field(default=None, metadata=number())
    scheme: Scheme = field(default="difference", metadata=choice("difference", "quotient"))
    n_bins: int = field(default=10, metadata=integer(least=2, most=100))

    name: ClassVar[str] = "mrmr"
    title: ClassVar[str] = "Minimum redundancy, maximum relevance (mRMR)"
    references: ClassVar[tuple[Reference, ...]] = (PENG_2005,)
    tuning_name: ClassVar[str] = "threshold"
    left_out: ClassVar[str] = "the others are constant"

    def path(self, task: Task) -> tuple[Step, ...]:
        groups = task.problem.groups
        refuse_costs(self, groups)
        refuse_offset(self, task.problem)
        longest = len(groups.names) if self.threshold is not None else self.longest(task)
        relevance, order, values = self._order(task, longest)
        return self.ranked_path(task, order, relevance, np.minimum.accumulate(values))

    def _order(self, task: Task, longest: int) -> tuple[FloatArray, IntArray, FloatArray]:
        """Relevance of each unit, the units in order of entry, and the criterion at each entry."""
        groups = task.problem.groups
        units = uncertainties(task.problem, task.weights, self.n_bins)
        relevance = units.information(RESPONSE, units.every)
        can_enter = (units.n_cells > 1) & ~groups.keep
        ranks, order = groups.ranks(task.seed), np.flatnonzero(groups.keep).tolist()
        redundancy = np.zeros(len(relevance))
        for g in order:
            redundancy += units.information(g, units.every)
        values: list[float] = []
        while can_enter.any() and len(order) < longest:
            mean, is_ratio = redundancy / max(len(order), 1), self.scheme == "quotient"
            criterion = relevance / np.maximum(mean, _LEAST) if is_ratio else relevance - mean
            criterion[~can_enter] = -np.inf
            g = int(falling(criterion, ranks)[0])
            order.append(g)
            values.append(float(criterion[g]))
            can_enter[g] = False
            left = np.flatnonzero(can_enter)
            redundancy[left] += units.information(g, left)
        return relevance, np.array(order, dtype=np.int64), np.array(values)


# --- Fast correlation-based filter: terms that are not redundant with a more relevant one --------


@dataclass(frozen=True, kw_only=True)
class FCBF(RefinedMethod):
    """Fast correlation-based filter (FCBF): predominant terms, for very many columns.

    Terms are visited in order of decreasing symmetrical uncertainty with the response. Each visited
    term is selected, and every weaker term is removed as redundant if its symmetrical uncertainty
    with the selected term is at least that with the response. Terms are evaluated individually, so
    terms that are informative only jointly are missed.

    Parameters
    ----------
    delta : float, optional
        Least symmetrical uncertainty with the response, 0 to 1: all predominant terms that reach it
        are selected. If None, `k` decides.
    n_bins, prune, refine
        As for :class:`MRMR`.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs`, or an `offset` of a response that is not
        numeric, are given.

    Notes
    -----
    Symmetrical uncertainties are those of :class:`CFS`; for right-censored times, with the
    martingale residuals of the null model. They are corrected for the value expected by chance, so
    that about half of the terms without signal have none and never enter, whatever `delta`. The
    path adds predominant terms in order of relevance, after those forced in. It ends when there are
    no more, which may be early; the summary then says so. The tuning parameter of a step is the
    least symmetrical uncertainty with the response among its terms, except those forced in. The
    importance of a term is its own symmetrical uncertainty. Terms forced in are never removed, and
    remove only weaker ones. Training scores are those of :class:`MRMR`. Pairs of terms are computed
    only as needed. A group (``groups=``) counts as one term.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="fcbf", delta=0.01, seed=1)
    >>> "sex" in fit.selected
    True
    """

    delta: float | None = field(default=None, metadata=number(least=0.0, most=1.0))
    n_bins: int = field(default=10, metadata=integer(least=2, most=100))

    name: ClassVar[str] = "fcbf"
    title: ClassVar[str] = "Fast correlation-based filter (FCBF)"
    references: ClassVar[tuple[Reference, ...]] = (YU_2003,)
    tuning_name: ClassVar[str] = "delta"
    left_out: ClassVar[str] = (
        "by symmetrical uncertainty, the others are irrelevant to the response or redundant"
    )

    def path(self, task: Task) -> tuple[Step, ...]:
        groups = task.problem.groups
        refuse_costs(self, groups)
        refuse_offset(self, task.problem)
        n_kept = int(groups.keep.sum())
        units = uncertainties(task.problem, task.weights, self.n_bins)
        relevance = units.relevance()
        ranking = falling(relevance, groups.ranks(task.seed))
        passed = (relevance > 0) & (relevance >= (self.delta or 0.0)) | groups.keep
        most = len(groups.names) if self.delta is not None else self.longest(task) - n_kept
        order = predominant(units, relevance, ranking[passed[ranking]], groups.keep, most)
        return self.ranked_path(task, order, relevance, relevance[order[n_kept:]])


def predominant(
    units: Uncertainties, relevance: FloatArray, ranking: IntArray, keep: BoolArray, most: int
) -> IntArray:
    """The units forced in, then the first predominant units, up to the number wanted.

    This is the listing of the paper, except that pairs are evaluated only as needed.
    """
    found: list[int] = []
    left = ranking
    while len(left) and len(found) < most:
        first, left = int(left[0]), left[1:]
        if not keep[first]:
            found.append(first)
        repeated = at_least(units.between(first, left), relevance[left])
        left = left[~repeated | keep[left]]
    return np.array([*np.flatnonzero(keep), *found], dtype=np.int64)


# --- Correlation-based feature selection: sets relevant to the response and low in redundancy ----

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
    n_bins, prune, refine
        As for :class:`MRMR`.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs`, or an `offset` of a response that is not
        numeric, are given.

    Notes
    -----
    The merit of k terms is ``k r_cf / sqrt(k + k (k - 1) r_ff)`` (eq. 1 of [2]_), where r_cf is the
    mean symmetrical uncertainty of the terms with the response and r_ff that of pairs of terms.
    Mutual information and entropy are corrected for the value expected by chance; otherwise terms
    with many cells would be favoured. Terms, groups and responses are binned as by :class:`MRMR`.

    The search is best-first and starts from the terms forced in. The best set not yet expanded is
    expanded by each term outside it. The search ends after five expansions in a row without
    improvement. For each size, the path has the set of highest merit that was evaluated, where the
    best set of each size was expanded as well; sets need not be nested. The tuning parameter of a
    step is the smallest mean increase in merit per added term from any smaller set of the path to
    its own, or that of an earlier step if smaller. The importance of a term is its symmetrical
    uncertainty with the response. Training scores are those of :class:`MRMR`. Constant terms never
    enter.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="cfs", gain=0.0, seed=1)
    >>> "sex" in fit.selected
    True
    """

    gain: float | None = field(default=None, metadata=number())
    n_bins: int = field(default=10, metadata=integer(least=2, most=100))

    name: ClassVar[str] = "cfs"
    title: ClassVar[str] = "Correlation-based feature selection (CFS)"
    references: ClassVar[tuple[Reference, ...]] = (HALL_2000,)
    cited: ClassVar[tuple[Reference, ...]] = (HALL_1999, HALL_2000)
    tuning_name: ClassVar[str] = "gain"
    left_out: ClassVar[str] = "the others are constant"

    def path(self, task: Task) -> tuple[Step, ...]:
        problem, seed = task.problem, task.seed
        refuse_costs(self, problem.groups)
        refuse_offset(self, problem)
        n = len(problem.groups.names)
        units = uncertainties(problem, task.weights, self.n_bins)
        search = MeritSearch(units, problem.groups, seed, self.gain or 0.0)

        def step_of(found: UnitSet, tuning: float) -> Step:
            selected = np.isin(np.arange(n), found.units)
            return ranked_step(tuning, selected, search.relevance, score_of(task, selected))

        if self.gain is not None:
            return self.revised([step_of(search.best(), self.gain)], task)
        sets = search.of_each_size(self.longest(task))
        gains = _least_rises(np.array([found.merit for found in sets]))
        steps = [step_of(found, float(g)) for found, g in zip(sets, gains, strict=True)]
        return self.revised(steps, task)


@dataclass(frozen=True, slots=True)
class UnitSet:
    """A set of units, in increasing order, and its merit."""

    units: tuple[int, ...]
    merit: float


class MeritSearch:
    """Best-first search for sets of high merit."""

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
    """The sets with one unit more than another set, best first."""

    parent: tuple[int, ...]  # units of the other set
    order: IntArray  # (n_children,): units that enter
    merits: FloatArray  # (n_groups,): merit of the set with each unit

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


# --- Mutual information and symmetrical uncertainty of units -------------------------------------

_MOST_EMPTY = 100
"""Cells per row up to which empty cells are counted, too."""

_ROUNDING = 1e-12
"""Information up to this is rounding error."""

RESPONSE = -1
"""Its number among the units, behind which it stands."""


def row_mass(weights: RowWeights) -> tuple[IntArray, FloatArray]:
    """The rows with positive weight, and their masses: integer weights count copies, others have
    mean 1."""
    rows = weights.rows
    own = weights.values[rows]
    scale = 1.0 if weights.are_copies else len(rows) / own.sum()
    return rows, np.asarray(own * scale)


def unit_cells(
    data: BinnedData, group: int, rows: IntArray, mass: FloatArray, n_bins: int
) -> IntArray:
    """Cells of a unit: the observed combinations of its columns' bins."""
    columns = []
    for j in range(data.group_start[group], data.group_start[group + 1]):
        codes = data.column(j)[rows].astype(np.int64)
        if not data.is_factor[j]:
            known = codes > 0
            codes[known] = 1 + coarsened(codes[known], mass[known], n_bins)
        columns.append(codes)
    return joint_cells(columns, len(rows))


def joint_cells(columns: Iterable[IntArray], n_rows: int) -> IntArray:
    """Number, from 0 without gaps, of the combination of codes that each row has."""
    cells = np.zeros(n_rows, dtype=np.int64)
    for column in columns:
        codes = np.unique(column, return_inverse=True)[1]
        cells = np.unique(cells * (codes.max() + 1) + codes, return_inverse=True)[1]
    return cells


def coarsened(values: IntArray | FloatArray, mass: FloatArray, n_bins: int) -> IntArray:
    """Bins of about equal weight, numbered from 0 with gaps; ties share a bin, and few distinct
    values keep one each."""
    place = levels(np.asarray(values, dtype=np.float64))
    if place.max(initial=0) < n_bins:
        return place
    share = np.bincount(place, mass)
    middle = (np.cumsum(share) - share / 2) / share.sum()
    return np.asarray(
        np.minimum(((middle + PRECISION) * n_bins).astype(np.int64), n_bins - 1)[place]
    )


def response_cells(
    problem: Problem, weight: WeightArray, rows: IntArray, mass: FloatArray, n_bins: int
) -> IntArray:
    """Cells of the response: classes, or bins of the negative gradient at the null model, which
    are those of numbers less their offset, of counts and of martingale residuals."""
    if problem.splits_classes:
        labels = problem.y[rows].astype(np.int64)
    else:
        labels = coarsened(problem.gradient(weight)[rows], mass, n_bins)
    return joint_cells([labels], len(rows))


class Uncertainties:
    """Mutual information, in nats, and symmetrical uncertainty of units with the response and with
    each other, computed as needed.

    The latter is ``I(x, y) / H``, where I is the mutual information of the two partitions and H the
    mean of their entropies: 0 under independence, 1 if each determines the other. The expectation
    of I under independence, ``(cells_x - 1) (cells_y - 1) / (2 n)``, is subtracted from both;
    otherwise units with many cells would have much of both. Uncertainties are at least 0 and
    rounded to 12 digits, so that exact copies are equal.
    """

    def __init__(self, cells: Sequence[IntArray], response: IntArray, mass: FloatArray) -> None:
        cells = [*cells, response]
        self._sizes = np.array([c.max() + 1 for c in cells])
        # The smallest sufficient integer type: there may be thousands of units.
        self._cells = [c.astype(np.min_scalar_type(int(c.max()))) for c in cells]
        self._entropy = _entropies(cells, self._sizes, mass)
        self._mass, self.n_cells = mass, self._sizes[:-1]
        self.every: IntArray = np.arange(len(self.n_cells))

    def relevance(self) -> FloatArray:
        """Symmetrical uncertainty of each unit with the response, shape (n_units,)."""
        return self.between(RESPONSE, self.every)

    def between(self, unit: int, others: IntArray) -> FloatArray:
        """Symmetrical uncertainty of a unit with some units, shape (n_others,)."""
        # I is at most H: if I remains positive, so does H.
        most = (self._entropy[others] + self._entropy[unit]) / 2 - self._by_chance(unit, others)
        shared = self.information(unit, others)
        found = np.where(shared > _ROUNDING, shared / np.maximum(most, _ROUNDING), 0.0)
        return np.asarray(np.round(np.minimum(found, 1.0), 12))

    def information(self, unit: int, others: IntArray) -> FloatArray:
        """Mutual information of a unit with some units, shape (n_others,)."""
        y, n_y = self._cells[unit].astype(np.int64), self._sizes[unit]
        joint = _entropies(
            (self._cells[u] * n_y + y for u in others), self._sizes[others] * n_y, self._mass
        )
        return self._entropy[others] + self._entropy[unit] - joint - self._by_chance(unit, others)

    def _by_chance(self, unit: int, others: IntArray) -> FloatArray:
        cells = (self._sizes[others] - 1) * (self._sizes[unit] - 1)
        return np.asarray(cells / (2 * self._mass.sum()))


def uncertainties(problem: Problem, weights: RowWeights, n_bins: int) -> Uncertainties:
    rows, mass = row_mass(weights)
    units = range(len(problem.groups.names))
    cells = [unit_cells(problem.data, g, rows, mass, n_bins) for g in units]
    return Uncertainties(cells, response_cells(problem, weights.values, rows, mass, n_bins), mass)


def _entropies(cells: Iterable[IntArray], n_cells: IntArray, mass: FloatArray) -> FloatArray:
    """Entropy of each partition, in nats; cells may be empty."""
    found = np.empty(len(n_cells))
    total = mass.sum()
    for at, (own, n) in enumerate(zip(cells, n_cells, strict=True)):
        if n > _MOST_EMPTY * len(own):
            own = np.unique(own, return_inverse=True)[1]
        share = np.bincount(own, mass) / total
        share = share[share > 0]
        found[at] = -(share @ np.log(share))
    return found
