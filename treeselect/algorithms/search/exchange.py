"""Exchange search: selected for unselected terms, as long as the out-of-bag error falls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar, NamedTuple, cast

import numpy as np

from treeselect.algorithms.forests.scoring import score_of
from treeselect.algorithms.method import Method
from treeselect.algorithms.options import integer, number
from treeselect.algorithms.references import (
    KELLEY_1935,
    KIM_2004,
    PUDIL_1994,
    ZHU_2020,
    Reference,
    texts,
)
from treeselect.algorithms.search.judging import Alone, GainForests, Judge, rows_to_judge
from treeselect.algorithms.task import (
    Exchange,
    Rival,
    Step,
    Task,
    Trace,
    first_units,
    ranked_step,
    ranking,
    trace_of,
)
from treeselect.designs.problem import FinalModel
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.columns import FREE
from treeselect.engine.linear.additive_search import exchanged
from treeselect.engine.rounding import falling, levels

# --- improvement of sets by exchanges of one unit for another ----------------------------------

_TREES, _LEAST_TREES, _ROWS_TIMES_TREES = 100, 30, 300_000
"""Trees of the sure judge by default, and the fewest; in between, as many as rows times trees
allow: what sets differ by is known to a few thousandths with many rows, whatever the trees."""

_RANKING = 3
"""Times as many trees rank all units on few rows: what matters only together stands out late."""

MARGIN = 1.0
"""Standard errors by which a set must be better than another to replace it, by default."""

_FEW_ROWS = 100
"""Out-of-bag errors of fewer rows are too uncertain to choose where to start: elimination does."""

_ELIMINATED, _ELIMINATED_OF_FEW, _STEP = 60, 1_000, 1 / 3
"""Units of the ranking from which elimination starts, those on few rows, and the share removed at a
time."""

_CELLS, _MOST_ADDITIVE = 1_000_000, 2_000
"""Values of the units that an additive model may start from, and their largest number."""

_PATIENCE = 3
"""Sizes without improvement after which a path ends."""

_MOST_ROUNDS = 8
_CANDIDATES, _BEST = 6, 3
"""Candidates for entry, and how many of them, of the candidates for removal and of the exchanges
are examined closely."""

_NEIGHBOURS = 6
"""Sets of the same size with which a set is compared at the end."""

_QUICK_TREES, _FEW_QUICK_TREES = 25, 12
_QUICK_ROWS, SURE_ROWS = 2_000, 10_000


class Found(NamedTuple):
    """A set, and the exchanges that led to it."""

    selected: BoolArray
    exchanges: tuple[Exchange, ...] = ()

    @property
    def size(self) -> int:
        return int(self.selected.sum())


class Search:
    """The search for one task: a ranking to start from, a quick judge and a sure judge.

    With costs, sets are compared per cost: by the units that only one of the two has, what they add
    to the common units, divided by their costs.
    """

    def __init__(self, task: Task, n_trees: int | None = None, margin: float = MARGIN) -> None:
        groups = task.problem.groups
        self._task, self._margin = task, margin
        self._keep, self._costs = groups.keep, groups.costs
        self._rank = groups.ranks(0)
        self._rows = task.once(rows_to_judge, sure_rows(task))
        n_usual = usual_trees(len(self._rows.places))
        self._n_trees = min(n_usual, task.n_judge_trees or n_usual)
        self._is_long = n_usual < _TREES
        self._sure = task.once(Judge, n_trees or self._n_trees, "sure", sure_rows(task))
        quick = _FEW_QUICK_TREES if self._is_long else _QUICK_TREES
        self._quick = self._sure
        if self._n_trees > quick or len(self._rows.places) > _QUICK_ROWS:
            self._quick = Judge(task, min(quick, self._n_trees), "quick", _QUICK_ROWS)
        self._alone = Alone(self._rows.data, self._sure.truth, self._rows.weights)
        n_ranking = max(_TREES, _RANKING * self._n_trees)
        self._forests = GainForests(task, self._rows)
        gains = self._forests.of_all(self._sure.truth, "ranking", n_ranking)
        self._order = self._ranked(gains, self._keep)
        self._added: dict[bytes, IntArray] = {}
        self._left: IntArray | None = None
        self._is_short = len(self._rows.places) < _FEW_ROWS
        self._additive = None
        if np.ptp(self._costs) == 0:
            affordable = _CELLS // len(self._rows.places)
            most = min(max(_ELIMINATED, affordable), _MOST_ADDITIVE)
            first = self._order[:most]
            first = first[np.argsort(self._rank[first])]  # which decides ties, whatever the seed
            self._additive = self._sure.additive_search(self._keep, first)
        self._is_rough = task.n_judge_trees is not None and self._additive is not None
        self._n_entries = _BEST if self._is_rough else _CANDIDATES

    @property
    def n_able(self) -> int:
        return len(self._order)

    @property
    def judge(self) -> Judge:
        return self._sure

    def first(self, size: int) -> BoolArray:
        return first_units(self._order, size, len(self._keep))

    def unexplained(self, selected: BoolArray) -> float:
        """Error of a set as a share of the null model's error."""
        whole = self._sure.error(np.zeros_like(selected))
        return max(self._sure.error(selected), 0.0) / whole if whole > 0 else 1.0

    def is_better(self, selected: BoolArray, other: BoolArray) -> bool:
        """Whether the error of a set is lower than that of another by more than the margin."""
        mean, spread = self._rise(self._sure, other, selected)
        return mean < -self._margin * spread

    def best_of_size(self, size: int, smaller: BoolArray | None) -> Found:
        """The best set found, starting from that of the additive model or, if they are better, from
        the first units of the ranking, those that elimination leaves, or a smaller set plus one
        unit."""
        others = [self.first(size), first_units(self._eliminated(), size, len(self._keep))]
        start = None if self._additive is None else self._additive.best_of_size(size)
        if start is None:
            start = others.pop(1 if self._is_short else 0)
        grown = [] if smaller is None else self.grown(smaller)
        best = self.better_of(start, [*others, *grown])
        return Found(best) if self._is_rough else self.improved(best)

    def _eliminated(self) -> IntArray:
        """The units of the ranking, those first that remain when a third of its first ones is
        removed again and again, with the lowest gains in a forest of the remaining ones."""
        if self._left is None:
            n_first = _ELIMINATED_OF_FEW if self._is_short else _ELIMINATED
            left, removed = self._order[:n_first], [self._order[n_first:]]
            while len(left) > 1:
                units = np.isin(np.arange(len(self._keep)), left)
                gains = self._forests.among(self._sure.truth, units, "elimination", self._n_trees)
                order = self._ranked(gains, self._keep)
                order = order[np.isin(order, left)]  # units that are kept were among them
                order = np.concatenate([order, left[~np.isin(left, order)]])  # can't split
                n_left = min(len(left) - 1, int(np.ceil(len(left) * (1 - _STEP))))
                left, removed = order[:n_left], [order[n_left:], *removed]
            self._left = np.concatenate([left, *removed])
        return self._left

    def growing(
        self, start: Found, most: int, larger: Callable[[int, BoolArray], Found]
    ) -> Iterator[Found]:
        """A set of each size above the first, until three sizes in a row bring no improvement."""
        last = best = start
        idle = 0
        for size in range(start.size + 1, most + 1):
            last = larger(size, last.selected)
            yield last
            better = self.is_better(last.selected, best.selected)
            best, idle = (last, 0) if better else (best, idle + 1)
            if idle == _PATIENCE:
                return

    def grown(self, selected: BoolArray) -> list[BoolArray]:
        """The set plus the unit that lowers the error most; none if there is no other unit."""
        return [exchanged(selected, None, g) for g in self._additions(selected)[:1].tolist()]

    def better_of(self, incumbent: BoolArray, challengers: Sequence[BoolArray]) -> BoolArray:
        """The best challenger that beats a set by the margin, or else the set itself."""
        self._sure.learn([incumbent, *challengers])
        better = [other for other in challengers if self.is_better(other, incumbent)]
        return self._best_first(self._sure, better)[0] if better else incumbent

    def improved(self, selected: BoolArray) -> Found:
        """A set after exchanges, until no exchange helps."""
        found = Found(selected)
        for _ in range(_MOST_ROUNDS):
            better = self.better_by_exchange(found.selected)
            if better is None:
                break
            (out,) = np.flatnonzero(found.selected & ~better).tolist()
            (into,) = np.flatnonzero(better & ~found.selected).tolist()
            made = Exchange(out, into, *self._share(found.selected, better))
            found = Found(better, (*found.exchanges, made))
        return found

    def trace(self, found: Found) -> Trace:
        """Record of the search for a set: see :class:`Trace`.

        Sets that the quick judge found near-equivalent are judged with all trees.
        """
        self._neighbours(found.selected, self._additions(found.selected)[:_BEST])
        quick = self._others(self._quick, found)
        close = self._not_hopeless(
            self._best_first(self._quick, quick)[:_NEIGHBOURS], found.selected
        )
        self._sure.learn(close)
        for one in close:
            self._sure.error(one)
        others = self._others(self._sure, found)
        near = []
        for other in others:
            rise, spread = self._share(found.selected, other)
            if rise <= spread:
                near.append(Rival(tuple(np.flatnonzero(other).tolist()), rise, spread))
        order = falling(-np.array([rival.rise for rival in near]))
        return trace_of(found.exchanges, [near[i] for i in order.tolist()], len(others))

    def _others(self, judge: Judge, found: Found) -> list[BoolArray]:
        """The other sets of its size that a judge knows, in an order independent of columns."""
        others = [
            other
            for other in judge.sets()
            if other.sum() == found.size and not np.array_equal(other, found.selected)
        ]
        return sorted(others, key=lambda other: sorted(self._rank[other].tolist()))

    def worth(self, selected: BoolArray) -> FloatArray:
        """Increase of the error without each unit of a set, at least 0; shape (n_groups,)."""
        worth = np.zeros(len(selected))
        units = np.flatnonzero(selected).tolist()
        self._quick.learn([exchanged(selected, unit, None) for unit in units])
        for unit in units:
            rise, _ = self._quick.rise(selected, exchanged(selected, unit, None))
            worth[unit] = max(rise, 0.0)
        return worth

    def _share(self, before: BoolArray, after: BoolArray) -> tuple[float, float]:
        """Increase of the error as a share of its former value, with its standard error."""
        error = max(self._sure.error(before), np.finfo(np.float64).tiny)
        rise, spread = self._sure.rise(before, after)
        return rise / error, spread / error

    def _rise(self, judge: Judge, before: BoolArray, after: BoolArray) -> tuple[float, float]:
        """How much worse a set is than another, per cost, with its standard error."""
        paid = float(self._costs[before & ~after].sum())
        to_pay = float(self._costs[after & ~before].sum())
        if paid == to_pay or before.sum() != after.sum():
            return judge.rise(before, after)
        share = paid / (paid + to_pay)
        return judge.rise(before, after, before & after, share)

    def better_by_exchange(self, selected: BoolArray) -> BoolArray | None:
        """The set after the best exchange; None if no exchange helps: for instance, if no unit
        helps even without one that leaves."""
        into = self._additions(selected)[:_BEST]
        if np.ptp(self._costs) == 0:
            grown = [exchanged(selected, None, g) for g in into.tolist()]
            rises = np.array([self._quick.rise(selected, one) for one in grown]).reshape(-1, 2)
            into = into[rises[:, 0] < -self._margin * rises[:, 1] / 2]
        near = self._neighbours(selected, into) if len(into) else []
        better = self.better_of(selected, near)
        return None if better is selected else better

    def _neighbours(self, selected: BoolArray, into: IntArray) -> list[BoolArray]:
        """The best sets with one of some units in the place of one of those needed least."""
        out = self._removals(selected)[:_BEST].tolist()
        tried = [
            exchanged(selected, a, b)
            for b in into.tolist()
            for a in self._replaced(selected, b, out)
        ]
        return self._not_hopeless(self._best_first(self._quick, tried)[:_BEST], selected)

    def _replaced(self, selected: BoolArray, into: int, out: list[int]) -> list[int]:
        """Units that another unit may replace: that which an additive model needs least beside it,
        as if it were a copy, and the first of those that are needed least anyway."""
        larger = exchanged(selected, None, into)
        units = np.flatnonzero(larger)
        rises = np.full(len(selected), np.inf)
        rises[units] = per_price(self._quick.rises_without(larger), self._costs[units])
        rises[self._keep] = rises[into] = np.inf
        if np.isinf(rises).all():
            return out
        return list(dict.fromkeys([int(rises.argmin()), *out]))[: max(len(out), 1)]

    def _not_hopeless(
        self, challengers: Sequence[BoolArray], incumbent: BoolArray
    ) -> list[BoolArray]:
        """Challengers that need the sure judge: with many rows, those that the quick judge does not
        find worse by more than a standard error; otherwise all."""
        if not self._is_long:
            return list(challengers)
        rises = [self._rise(self._quick, incumbent, other) for other in challengers]
        return [
            other
            for other, (mean, spread) in zip(challengers, rises, strict=True)
            if mean <= spread
        ]

    def _best_first(self, judge: Judge, sets: list[BoolArray]) -> list[BoolArray]:
        """Sets of one size in order: first those within one standard error of the best, by cost and
        then by individual information of their units, so that the choice among equals is stable;
        then the others by error."""
        if not sets:
            return []
        judge.learn(sets)
        best = sets[0]
        for other in sets[1:]:
            best = other if self._rise(judge, best, other)[0] < 0 else best
        rise, spread = np.array([self._rise(judge, best, other) for other in sets]).T
        is_near = rise <= spread
        alone = np.array([self._alone.of(found) for found in sets])
        key = np.where(is_near, -levels(alone), levels(rise))
        price = np.where(is_near, [self._costs[found].sum() for found in sets], 0.0)
        rank = [self._rank[found].sum() for found in sets]
        order = np.lexsort((rank, key, price, ~is_near))
        return [sets[i] for i in order.tolist()]

    def _additions(self, selected: BoolArray) -> IntArray:
        """Candidates for entry, best first."""
        key = selected.tobytes()
        if key not in self._added:
            units = self._candidates(selected).tolist()
            found = self._best_first(self._quick, [exchanged(selected, None, g) for g in units])
            best = [np.flatnonzero(one & ~selected)[0] for one in found]
            self._added[key] = np.array(best, dtype=np.int64)
        return self._added[key]

    def _removals(self, selected: BoolArray) -> IntArray:
        """Candidates for removal, by increasing rise of the error."""
        units = np.flatnonzero(selected & ~self._keep)
        sets = [exchanged(selected, g, None) for g in units.tolist()]
        self._quick.learn(sets)
        missed = [self._quick.rise(selected, found)[0] for found in sets]
        return units[falling(-per_price(np.array(missed), self._costs[units]), self._rank[units])]

    def _candidates(self, selected: BoolArray) -> IntArray:
        """Units with the largest gain on the residuals of a set, and overall, alternately."""
        # What is left of the response need not be monotone in a term where the response is.
        free = self._rows._replace(data=self._rows.data._replace(monotone=FREE))
        left = self._forests._replace(rows=free).of_all(
            self._sure.residuals(selected), "residuals", self._n_trees,
            np.flatnonzero(selected).tolist(),
        )  # fmt: skip
        orders = [self._ranked(left, np.zeros_like(self._keep)), self._order]
        n = self._n_entries
        outside = [order[~selected[order]][:n] for order in orders]
        by_turns = [order[i] for i in range(n) for order in outside if i < len(order)]
        return np.array(list(dict.fromkeys(by_turns))[:n], dtype=np.int64)

    def _ranked(self, gains: FloatArray, keep: BoolArray) -> IntArray:
        return ranking(per_price(gains, self._costs), keep, self._rank)


def sure_rows(task: Task) -> int:
    """Most rows of the sure judge, half as many for half-samples."""
    return SURE_ROWS if task.n_judge_trees is None else SURE_ROWS // 2


def usual_trees(n_rows: int) -> int:
    """Trees of the sure judge on a number of rows: 100 on up to 3,000, down to 30 on 10,000."""
    return min(_TREES, max(_LEAST_TREES, _ROWS_TIMES_TREES // max(n_rows, 1)))


def per_price(gains: FloatArray, costs: FloatArray) -> FloatArray:
    """Gains divided by costs; negative gains are multiplied by costs, so that a cost never helps.

    A positive gain at cost 0 is infinite; minus infinity stays.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.where(np.isneginf(gains), -np.inf, gains * costs)
        return np.where(gains > 0, gains / costs, lost)


# --- the method ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ExchangeSearch(Method):
    """Exchange search: swap terms as long as the out-of-bag error falls.

    Methods that follow a path seldom drop a term once it has entered. At each size, exchange search
    starts from the terms that an additive model fits best or, if one of them is better, from the
    terms with the largest held-out gain in a forest of all terms, from those that recursive
    elimination leaves, or from the set of the next smaller size with one more term. It then
    exchanges selected for unselected terms as long as the out-of-bag error falls by more than a
    margin.

    Parameters
    ----------
    unexplained : float, optional
        Select the first set along the path whose out-of-bag error is at most this share of the null
        model's, or the last set; above 0, at most 1. If None, `k` decides.
    n_trees : int, optional
        Trees in each forest that judges a set, 10 to 1,000,000. By default 100 on up to 3,000 rows,
        and on more rows 300,000 divided by their number, at least 30.
    margin : float
        Number of standard errors of the paired difference by which an exchange must lower the
        error, at least 0.

    Raises
    ------
    MethodError
        If an option is out of range.

    Notes
    -----
    The criterion E(S) of a set S is the squared error (for classes, the Brier score) of a model of
    its terms for rows that the model was not fitted to: an additive ridge regression that leaves
    each row out, with a spline of each number, plus a forest of its residuals out of bag,
    multiplied by the number from 0 to 1 of least error. The forest is the better of two, of which
    one tries all terms of S at each split and the other a third of them; the trees are cut back to
    the capacity of lowest out-of-bag error, so that a noise column does not improve the forest, as
    it would improve fully grown trees. Fewer than 30 trees, as those of first judgements and of
    resamples where tests choose the number of terms, always try all terms. E(S) is the error of
    infinitely many trees: the variance of their mean is subtracted. All sets share the same
    bootstrap samples, so E(S) - E(T) is a mean of paired differences over rows (with `fold_groups`,
    over clusters), with its standard error. For right-censored times, models predict the
    martingale residuals of the null model, within strata.

    The additive model of each size is found by exchanges, too, at the least error of generalised
    cross-validation with each effective parameter counted three times [4]_. It involves no random
    numbers, so that another seed starts from the same set, unless rows are sampled (beyond 10,000)
    or terms left out (the first terms of the ranking enter, at most 2,000, and a million values in
    all, but at least 60 terms). It isn't used with unequal `costs`, or where it explains nothing.

    Three times the default of `n_trees`, at least 100, rank all terms, since terms that matter
    only together stand out late. Elimination begins with the first 60 terms of this ranking and
    removes a third at a time, those with the lowest held-out gain in a forest of the remaining
    terms. On fewer than 100 rows, it begins with the first 1,000, and what it leaves comes before
    the ranking.

    Each step considers six terms for entry. They are taken alternately from the terms with the
    largest held-out gain in a forest on the out-of-bag residuals of S, which includes gains through
    interactions with terms of S, and from the ranking by the forest of all terms. It also considers
    the selected terms whose removal raises the error least. Each of the best three entries may
    replace two of these, or the term that an additive model needs least beside it, and the best
    three of these are judged by `n_trees` trees. With equal `costs`, an entry must help beside all
    selected terms, by at least half the margin: otherwise it doesn't help without one of them. The
    best exchange is made if it lowers the error by more than `margin` standard errors. Among sets
    within one standard error of the best, the cheapest comes first, then the one whose terms are
    most informative individually: the largest sum of epsilon squared [3]_, which involves no random
    numbers. First judgements use 25 trees and at most 2,000 rows, final ones at most 10,000 rows.
    The path ends when three further terms do not lower the error by more than the margin.

    On more than 3,000 rows, first judgements use 12 trees, and an exchange that they find worse by
    more than one standard error is not judged again. Final judgements then have fewer trees
    (`n_trees`): over streams of random numbers, differences of sets vary as much with 100 trees as
    with 30, because they vary with the capacity that the first trees choose.

    On resamples where tests choose the number of terms, sets are judged by 15 trees on at most
    5,000 rows, three terms are considered for entry, and no exchanges follow (with unequal `costs`,
    six and exchanges as above).

    On more than 20,000 rows, the number of terms (``k="1se"``, ``"best"``) is chosen on rows that
    the search spares. The path is searched for on at most 10,000 rows, stratified by class; for
    each of its sets, a final model with a forest of at most 50 trees, fitted to the same rows,
    predicts the others (at most 100,000), which are scored in as many parts as there are `folds`.
    One search takes the place of one per fold and one on all rows. Cross-validation remains for a
    splitter such as ``folds=StratifiedKFold(5)``, for fold numbers, for ``repeats`` above 1, with
    `fold_groups`, for survival times, and if the searched rows would hold fewer than 500 rows of a
    class.

    Of more than 10,000 terms (on fewer than 100 rows, a million values), the forests that rank
    terms see those that pass a screen: the terms with the largest gain of a single split of all
    rows or, for interactions with terms of S, of their halves by one of these terms.

    With `costs`, gains are divided by costs: terms are ranked by gain per cost, and one term
    replaces another if it adds more per cost to the remaining terms. A group (``groups=``) counts
    as one term.

    Exchanges correspond to the splicing step of best-subset selection in linear models [1]_ and to
    the backward steps of floating search [2]_.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="exchange", k=2, seed=1)
    >>> "sex" in fit.selected
    True
    """

    unexplained: float | None = field(default=None, metadata=number(above=0.0, most=1.0))
    n_trees: int | None = field(default=None, metadata=integer(least=10))
    margin: float = field(default=MARGIN, metadata=number(least=0.0))

    name: ClassVar[str] = "exchange"
    title: ClassVar[str] = "Exchange search"
    references: ClassVar[tuple[Reference, ...]] = (ZHU_2020,)
    cited: ClassVar[tuple[Reference, ...]] = (ZHU_2020, PUDIL_1994, KELLEY_1935, KIM_2004)
    paper: ClassVar[str] = f"treeselect's own method, based on {texts(references)}"
    tuning_name: ClassVar[str] = "unexplained"
    searches_on: ClassVar[int | None] = SURE_ROWS
    usual_model: ClassVar[FinalModel | None] = "stack"  # the model by which sets are judged
    left_out: ClassVar[str] = "the others are constant, or do not lower the out-of-bag error"

    def path(self, task: Task) -> tuple[Step, ...]:
        return tuple(self.steps(task))

    def steps(self, task: Task) -> Iterator[Step]:
        search = self._search(task)
        start = Found(search.first(int(task.problem.groups.keep.sum())))
        if self.unexplained is not None:
            enough = self._enough(search, start, self.unexplained)
            step = self._step(task, search, enough, self.unexplained)
            left = search.unexplained(enough.selected)
            if left > self.unexplained:
                said = (
                    f"No set on the path leaves at most {self.unexplained:g} of the null model's"
                    f" out-of-bag error: the last one, which leaves {left:.3g}, is selected."
                )
                step = dataclasses.replace(step, notes=(said,))
            yield step
            return
        most = min(task.max_size, search.n_able)
        yield self._step(task, search, start, np.inf)
        larger: Iterable[Found] = ()
        if task.every_size:
            larger = search.growing(start, most, search.best_of_size)
        elif most > start.size:
            larger = (search.best_of_size(most, None),)
        for one in larger:
            yield self._step(task, search, one, search.unexplained(one.selected))

    def step_of_set(self, task: Task, step: Step) -> Step:
        """A step with the score, and the near-equivalent sets, of a set that is not on the path."""
        if not task.problem.wants_scores:
            return step
        search = self._search(task)
        return self._step(task, search, Found(step.selected), search.unexplained(step.selected))

    def _search(self, task: Task) -> Search:
        """The search of a task, with what it has judged."""
        return cast(Search, task.once(Search, self.n_trees, self.margin))

    def _enough(self, search: Search, start: Found, most: float) -> Found:
        """The first set that leaves at most this share unexplained, or the last one."""
        for found in chain([start], search.growing(start, search.n_able, search.best_of_size)):
            if search.unexplained(found.selected) <= most:
                break
        return found

    def _step(self, task: Task, search: Search, found: Found, tuning: float) -> Step:
        selected, score = found.selected, score_of(task, found.selected)
        worth = np.ones(len(selected))
        if task.n_judge_trees is None:  # where only sets are needed, nobody asks
            worth = search.worth(selected)
        step = ranked_step(tuning, selected, worth, score)
        if not task.problem.wants_scores:  # not used in folds
            return step
        return dataclasses.replace(step, trace=search.trace(found))
