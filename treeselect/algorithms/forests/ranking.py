"""Forests that rank units by importance, as shared by several methods."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from treeselect.algorithms.forests import scoring
from treeselect.algorithms.options import (
    MOST_DEPTH,
    MOST_LEAF,
    MOST_UNITS,
    choice,
    integer,
    number,
    refuse_costs,
)
from treeselect.algorithms.references import BREIMAN_2001, KURSA_2010, LI_2019, Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import (
    CONFIRMED,
    REJECTED,
    TENTATIVE,
    Decisions,
    Step,
    Task,
    ranked_step,
    ranking,
)
from treeselect.designs.problem import FeatureGroups, Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.columns import BinnedData, pack_blocks
from treeselect.engine.forest.bagging import Forest
from treeselect.engine.forest.importance import Importance, out_of_bag_gains, permutation_importance
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import levels, slack
from treeselect.engine.tree.nodes import group_gains
from treeselect.engine.tree.used_groups import can_split
from treeselect.engine.tree.workspace import UNBOUNDED, Growth
from treeselect.models.forest import usual_candidates

Kind = Literal["unbiased", "mdi", "permutation"]
_TREES, _LEAST_TREES, _MOST_TREE_ROWS = 500, 50, 10_000_000
"""Trees by default, where few; fewer, but at least so many, where rows times trees would be more
than this: an importance is a mean over the rows of all trees."""

KINDS: tuple[Kind, ...] = ("unbiased", "mdi", "permutation")


@dataclass(frozen=True, kw_only=True)
class RankingForest(RefinedMethod):
    """Options of methods that rank units by ordinary forests."""

    kind: Kind = field(default="unbiased", metadata=choice(*KINDS))
    n_trees: int | None = field(default=None, metadata=integer(least=2))
    mtry: int | None = field(default=None, metadata=integer(least=1, most=MOST_UNITS))
    max_depth: int | None = field(default=None, metadata=integer(least=1, most=MOST_DEPTH))
    min_leaf: int = field(default=1, metadata=integer(least=1, most=MOST_LEAF))

    def measure(self, task: Task, groups: BoolArray) -> Importance:
        """Grow a forest on some units and measure their importance.

        Trees are grown on bootstrap samples of the distinct rows, or of whole clusters; with an
        offset, on the negative gradient at the null model.
        """
        return self._measured(self._grow(task, groups), groups)

    def judge(self, task: Task, groups: BoolArray) -> tuple[Importance, scoring.OutOfBagFit]:
        grown = self._grow(task, groups)
        measured = self._measured(grown, groups)
        return measured, scoring.out_of_bag_fit(grown, task.problem, task.weight)

    def scored(self, task: Task, groups: BoolArray) -> float:
        """Out-of-bag score of a forest of at most 100 trees on some units (see ``score_of``)."""
        return scoring.score_of(task, groups, min(self.n_trees or _TREES, scoring.SCORED_TREES))

    def _grow(self, task: Task, groups: BoolArray) -> Forest | None:
        rules = functools.partial(self._growth, task.problem)
        return scoring.grown_forest(task, groups, self.n_trees or _usual_trees(task), rules)

    def _measured(self, grown: Forest | None, groups: BoolArray) -> Importance:
        importance, error = np.full((2, len(groups)), np.nan)
        importance[:] = -np.inf
        if grown is not None:
            gains = group_gains(grown.trees, grown.data).mean(axis=0)
            found, own = self._importance(grown, gains), gains > slack(gains)
            used = np.flatnonzero(groups)[own]
            importance[used], error[used] = found.mean[own], found.standard_error[own]
        return Importance(importance, error)

    def _growth(self, problem: Problem, n: int) -> Growth:
        tried = self.mtry or usual_candidates(problem.family, n)
        return Growth(self.max_depth or UNBOUNDED, self.min_leaf, tried, 0.0)

    def _importance(self, grown: Forest, gains: FloatArray) -> Importance:
        if self.kind == "mdi":
            return Importance(gains, np.full(len(gains), np.nan))
        by = out_of_bag_gains if self.kind == "unbiased" else permutation_importance
        return by(grown)


def _usual_trees(task: Task) -> int:
    n_rows = int((task.weight > 0).sum())
    return max(_LEAST_TREES, min(_TREES, _MOST_TREE_ROWS // max(n_rows, 1)))


# --- Random forest importance: the baseline in widest use ----------------------------------------


@dataclass(frozen=True, kw_only=True)
class ForestImportance(RankingForest):
    """Random forest importance: terms ranked by their importance in one forest.

    This baseline is in wide use. Near-duplicate terms share their importance, so they either enter
    together or are all masked.

    Parameters
    ----------
    threshold : float, optional
        Least importance of a selected term, relative to the largest; at most 1. A negative value
        also admits terms that worsen out-of-bag predictions. If None, `k` decides.
    kind : {"unbiased", "mdi", "permutation"}
        ``"unbiased"``: mean decrease in impurity on the rows out of each tree's bag [2]_, about 0
        for terms without information. ``"mdi"``: the same on the rows in the bag [1]_, as in other
        software; it favours terms with many values, so that noise may outrank a true binary term.
        ``"permutation"``: increase of the out-of-bag error when the term is permuted [1]_, all its
        columns together.
    n_trees : int, optional
        Trees, 2 to 1,000,000. By default 500, and fewer on more than 20,000 rows: rows times trees
        are at most ten million, but there are 50 trees at least.
    mtry : int, optional
        Terms tried at each node. The default is the square root of the number of terms for classes
        and a third of it for other responses, rounded up.
    max_depth : int, optional
        Maximum depth. By default, trees are fully grown.
    min_leaf : int
        Minimum number of rows in a leaf, at least 1.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs` are given.

    Notes
    -----
    The tuning parameter of a step is the relative importance of its last term. The training score
    is the out-of-bag score of a forest of at most 100 trees on the terms of the step, grown like
    the final model on at most 50,000 rows. Terms on which no tree splits are not selected, unless
    they are forced in. A group (``groups=``) counts as one term. For right-censored times, as in
    all forests of this package, trees split the martingale residuals of the null model, within
    strata: the log-rank scores of Hothorn and Lausen (2003).

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="importance", k=3, n_trees=50, seed=1)
    >>> "sex" in fit.selected
    True
    """

    threshold: float | None = field(default=None, metadata=number(most=1.0))

    name: ClassVar[str] = "importance"
    title: ClassVar[str] = "Random forest importance"
    references: ClassVar[tuple[Reference, ...]] = (BREIMAN_2001,)
    cited: ClassVar[tuple[Reference, ...]] = (BREIMAN_2001, LI_2019)
    tuning_name: ClassVar[str] = "threshold"

    def path(self, task: Task) -> tuple[Step, ...]:
        groups = task.problem.groups
        refuse_costs(self, groups)
        every = np.ones(len(groups.names), dtype=bool)
        worth = self.measure(task.seeded("ranking"), every).mean
        order = ranking(worth, groups.keep, groups.ranks(task.seed))
        largest = worth.max(initial=-np.inf)
        relative = worth / largest if largest > 0 else np.full(len(worth), -np.inf)
        tunings = relative[order[int(groups.keep.sum()) :]]
        return self.ranked_path(task, order, worth, tunings, self.scored)


_LEAST_SHADOWS = 5
"""Least number of shadows, as in the authors' package, if there are as many units."""

_LEVEL = 0.01
"""Level of the tests, unless one is given."""

_LEAST_SPREAD = 1e-12


@dataclass(frozen=True, kw_only=True)
class Boruta(RankingForest):
    """Boruta: which terms are more important than the best shuffled copy.

    Boruta selects all relevant terms, not a minimal set: exact copies of a relevant term are all
    confirmed. In each round, a forest is grown on the terms and on a shadow of each, a copy whose
    rows are shuffled (all columns of a term together). A term has a hit if it is more important
    than the best shadow, and its importance above 0. Tests on the number of hits confirm or reject
    terms, and rejected terms are left out of later rounds. Terms undecided when the rounds end are
    tentative. The confirmed terms are selected, unless `k` is given; then terms are selected in
    order of their p-values. ``fit.tidy()`` shows the decisions, ``fit.search.history()`` the
    importances by round.

    Parameters
    ----------
    level : float, optional
        Level of the tests, above 0, at most 0.99; the confirmed terms are selected. If None: 0.01,
        as in the authors' package, unless `k` is given.
    max_rounds : int
        Maximum number of rounds, 1 to 100,000; rounds end earlier once all terms are confirmed or
        rejected.
    kind : {"permutation", "unbiased", "mdi"}
        Importance, as for :class:`ForestImportance`. The first two are divided by their standard
        errors over the trees (the Z scores of [1]_).
    n_trees, mtry, max_depth, min_leaf, prune, refine
        As for :class:`ForestImportance`, for each forest.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs` are given.

    Notes
    -----
    For a term without signal, a hit is at most as likely as heads of a fair coin. The p-value of a
    term is the probability of at least as many heads, times the number of terms (Bonferroni). It is
    the tuning parameter of the step at which the term enters; terms with equal p-values enter in
    order of their mean importance. During the rounds, terms are decided once and for all, as in the
    authors' package: at `level`, or 0.01 if it is None. Terms on which no tree splits never enter.
    Training scores and forests for right-censored times are those of :class:`ForestImportance`. A
    group (``groups=``) counts as one term.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select(
    ...     "survived ~ sex + age + femur", data, method="boruta", n_trees=50, seed=1
    ... )
    >>> sorted(fit.selected)
    ['age', 'femur', 'sex']
    >>> set(fit.tidy()["decision"])
    {'confirmed'}
    """

    level: float | None = field(default=None, metadata=number(above=0.0, most=0.99))
    max_rounds: int = field(default=100, metadata=integer(least=1, most=100000))
    kind: Kind = "permutation"
    n_trees: int = 100

    name: ClassVar[str] = "boruta"
    title: ClassVar[str] = "Boruta (shadow features)"
    references: ClassVar[tuple[Reference, ...]] = (KURSA_2010,)
    tuning_name: ClassVar[str] = "level"
    own_value: ClassVar[float | None] = _LEVEL

    def path(self, task: Task) -> tuple[Step, ...]:
        groups = task.problem.groups
        refuse_costs(self, groups)
        n = len(groups.names)
        found = self._rounds(task)
        able = can_split(task.problem.data, task.weight)
        p_values = np.ones(n)
        by_chance = _tail(found.hits, len(found.decided.history))
        p_values[able] = np.minimum(by_chance[able] * able.sum(), 1.0)
        can_enter = groups.keep | found.is_used
        order = np.lexsort(
            (groups.ranks(task.seed), -levels(found.importance), p_values, ~groups.keep)
        )
        order = order[can_enter[order]]
        decisions = found.decided
        if self.level is None:
            tunings = p_values[order[int(groups.keep.sum()) :]]
            path = self.ranked_path(task, order, found.importance, tunings, self.scored)
        else:
            selected = groups.keep | (found.is_used & decisions.are(CONFIRMED))
            score = self.scored(task, selected)
            step = ranked_step(self.level, selected, found.importance, score)
            path = self.revised([step], task)
        return tuple(dataclasses.replace(step, decisions=decisions) for step in path)

    def _rounds(self, task: Task) -> Contest:
        n, able = len(task.problem.groups.names), can_split(task.problem.data, task.weight)
        level = self.level or _LEVEL
        hits, total, seen = np.zeros((3, n))
        is_used = np.zeros(n, dtype=bool)
        # Units that can't split are not tested and do not count in the correction.
        decision = np.where(able, TENTATIVE, REJECTED)
        n_able = int(able.sum())
        history: list[FloatArray] = []
        shadows: list[tuple[float, float, float]] = []
        while len(history) < self.max_rounds and (decision == TENTATIVE).any():
            left = decision != REJECTED
            score, cast = self._round(task.seeded("round", len(history)), able, left)
            # A unit on which no tree splits has importance 0.
            real, shadow = np.nan_to_num(score[:n]), np.nan_to_num(score[n:])[cast]
            best_shadow = max(float(shadow.max()), 0.0)
            history.append(np.where(left, real, np.nan))
            shadows.append((float(shadow.min()), float(shadow.mean()), best_shadow))
            number = len(history)
            is_used |= ~np.isnan(score[:n])
            hits += real > best_shadow
            total += real
            seen += left
            open_to_both = decision == TENTATIVE
            decision[open_to_both & (_tail(hits, number) * n_able <= level)] = CONFIRMED
            decision[open_to_both & (_tail(number - hits, number) * n_able <= level)] = REJECTED
        decided = Decisions(
            decision, np.array(history).reshape(-1, n), np.array(shadows).reshape(-1, 3)
        )
        return Contest(hits, total / np.maximum(seen, 1), is_used, decided)

    def _round(self, task: Task, able: BoolArray, left: BoolArray) -> tuple[FloatArray, BoolArray]:
        """Importance of the remaining units and of the shadows, and which units have a shadow.

        The importances have shape (2 * n_groups,), and are NaN for units that no tree splits on.
        """
        shadows = left.copy()
        shadows[np.flatnonzero(able & ~left)[: max(_LEAST_SHADOWS - int(left.sum()), 0)]] = True
        both = with_shadows(task.problem, task.weights, task.seed)
        own = dataclasses.replace(task.seeded("forest"), problem=both)
        found = self.measure(own, np.concatenate([left, shadows]))
        importance = np.where(np.isfinite(found.mean), found.mean, np.nan)
        if self.kind == "mdi":
            return importance, shadows
        # If all trees agree, for example on a unit that is hardly used, the spread is almost 0.
        return importance / np.maximum(found.standard_error, _LEAST_SPREAD), shadows


@dataclass(frozen=True, slots=True)
class Contest:
    """Results of the rounds for each unit."""

    hits: FloatArray  # (n_groups,): rounds in which the unit exceeded all shadows
    importance: FloatArray  # (n_groups,): mean over the rounds before rejection
    is_used: BoolArray  # (n_groups,): whether any tree splits on the unit
    decided: Decisions


def _tail(hits: FloatArray, n_rounds: int) -> FloatArray:
    """Probability of at least so many heads of a fair coin."""
    # Imported here: all methods are loaded together, and most do not need scipy.stats.
    from scipy.stats import binom

    return np.asarray(binom.sf(hits - 1, n_rounds, 0.5))


def with_shadows(problem: Problem, weights: RowWeights, seed: int) -> Problem:
    """The problem with a shuffled copy of each unit after all units.

    Rows with positive weight are shuffled, all columns of a unit together. The shuffling of a unit
    depends only on the seed and the unit's key. Clusters are shuffled, and rows within them,
    because a copy that stayed constant within clusters would identify them as well as the unit
    does.
    """
    groups, n = problem.groups, len(problem.groups.names)
    both = FeatureGroups(
        names=groups.names * 2,
        terms=groups.terms * 2,
        ids=np.concatenate([groups.ids, groups.ids + n]),
        items=(),
        item_costs=np.zeros(0),
        keep=np.zeros(2 * n, dtype=bool),
        keys=(*groups.keys, *(f"shadow of {key}" for key in groups.keys)),
    )
    orders = [_shuffled(weights, stream_seed(seed, "shadow", key)) for key in groups.keys]
    return dataclasses.replace(problem, data=_shadowed(problem.data, orders), groups=both)


def _shuffled(weights: RowWeights, seed: int) -> IntArray:
    """All rows, with the weighted ones shuffled so that rows of a cluster stay adjacent."""
    rows, groups, rng = weights.rows, weights.blocks, np.random.default_rng(seed)
    order, there, here = np.arange(len(weights)), rows, rng.permutation(rows)
    if groups is not None:
        there = rows[np.argsort(groups[rows], kind="stable")]
        place = rng.permutation(int(groups.max()) + 1)
        here = here[np.argsort(place[groups[here]], kind="stable")]
    order[there] = here
    return order


def _shadowed(data: BinnedData, orders: Sequence[IntArray]) -> BinnedData:
    """The columns, followed by the same columns with the rows of each group in the given order."""
    shadow = np.array([c[orders[g]] for c, g in zip(data.codes, data.group_of, strict=True)])
    codes = np.concatenate([data.codes, shadow.astype(np.uint8)])
    of_wide = data.group_of[data.wide_at >= 0]
    wide = [c[orders[g]] for c, g in zip(data.wide, of_wide, strict=True)]
    last = data.group_start[-1]
    return BinnedData(
        codes=codes,
        blocks=pack_blocks(codes),
        n_codes=np.tile(data.n_codes, 2),
        is_factor=np.tile(data.is_factor, 2),
        group_start=np.concatenate([data.group_start, last + data.group_start[1:]]),
        group_of=np.concatenate([data.group_of, data.group_of + np.int32(data.n_groups)]),
        wide=np.array([*data.wide, *wide], dtype=np.uint16).reshape(-1, data.n_rows),
        wide_at=np.concatenate(
            [data.wide_at, np.where(data.wide_at >= 0, data.wide_at + np.int32(len(data.wide)), -1)]
        ).astype(np.int32),
        monotone=np.concatenate([data.monotone, np.zeros_like(data.monotone)]),
    )
