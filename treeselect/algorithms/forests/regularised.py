"""RRF and GRRF: regularised and guided regularised random forests."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from treeselect.algorithms.forests import scoring
from treeselect.algorithms.options import (
    MOST_DEPTH,
    MOST_LEAF,
    MOST_UNITS,
    choice,
    flag,
    integer,
    number,
    refuse_together,
)
from treeselect.algorithms.references import DENG_2012, DENG_2013, HOTHORN_2003, ZHU_2009, Reference
from treeselect.algorithms.search.revision import DrawnMethod
from treeselect.algorithms.task import Step, Task, step_of_gains
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import FloatArray
from treeselect.engine.forest.bagging import ALL_ROWS, Sampling, bagged_forest
from treeselect.engine.forest.boosting import Boosting, boost, reweight
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.losses import GradientOnly
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import largest_in_row
from treeselect.engine.tree.nodes import group_gains
from treeselect.engine.tree.target import class_target, copies
from treeselect.engine.tree.used_groups import SplitPenalty, n_able
from treeselect.engine.tree.workspace import BEST_FIRST, Growth
from treeselect.errors import MethodError

_SHARE, _MOST_ROWS = 0.632, 10_000
"""Rows of a tree by default: this share, and at most so many."""

_TREES, _LEAST_TREES, _MOST_TREE_ROWS = 1_000, 200, 2_000_000
"""Trees by default, where few; fewer, but at least so many, where all together have more rows than
this. Each tree of long data sees what takes many trees of short data."""


@dataclass(frozen=True, kw_only=True)
class _RegularisedForest(DrawnMethod):
    """Options shared by RRF and GRRF."""

    n_trees: int | None = field(default=None, metadata=integer(least=1))
    mtry: int | None = field(default=None, metadata=integer(least=1, most=MOST_UNITS))
    sample_fraction: float | None = field(default=None, metadata=number(above=0.0, most=1.0))
    replace: bool = field(default=False, metadata=flag())
    max_depth: int | None = field(default=None, metadata=integer(least=1, most=MOST_DEPTH))
    min_leaf: int = field(default=1, metadata=integer(least=1, most=MOST_LEAF))
    criterion: scoring.Criterion = field(default="gini", metadata=choice("gini", "entropy"))
    gain: scoring.Gain = field(default="uncentred", metadata=choice("uncentred", "decrease"))
    ties: scoring.Ties = field(default="used", metadata=choice("used", "random"))
    screen: bool = field(default=True, metadata=flag())

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_together(self, criterion="entropy", gain="uncentred", way='Use `gain="decrease"`.')

    def _sizes(self, task: Task) -> tuple[int, float]:
        """Number of trees, and share of the rows of each."""
        n_rows = int((task.weight > 0).sum())
        share = self.sample_fraction
        if share is None:
            most = _MOST_ROWS / n_rows if task.weights.groups is None else 1.0
            share = min(_SHARE, most)
        affordable = int(_MOST_TREE_ROWS / (share * n_rows))
        return self.n_trees or max(_LEAST_TREES, min(_TREES, affordable)), share

    def _rules(self, task: Task) -> scoring.SharedRules:
        n_trees, share = self._sizes(task)
        n_groups = n_able(task.problem.exact or task.problem.data, task.weight)
        growth = scoring.open_growth(n_groups, self.mtry, self.max_depth, self.ties, self.min_leaf)
        sampling = Sampling(self.replace, share, task.weights.groups)
        return scoring.SharedRules(
            n_trees, growth, sampling, self.criterion, self.gain == "uncentred"
        )


@dataclass(frozen=True, kw_only=True)
class RRF(_RegularisedForest):
    """Regularised random forest (RRF).

    Trees are grown one after the other. At each node, the candidates are all terms already in use
    and `mtry` of the others, whose gain is multiplied by `lam`. A new term is thus used only if it
    is clearly better than those in use. The terms in use at the end are selected.

    Parameters
    ----------
    lam : float, optional
        Coefficient lambda of equation 2 of [1]_, from 0 (only terms forced in) to 1 (a new term
        must still be better than those in use). If None, `k` decides.
    n_trees : int, optional
        Trees, 1 to 1,000,000. More trees use more terms. By default 1,000, and fewer on more than
        3,000 rows: with all their rows the trees have two million, but they are 200 at least.
    mtry : int, optional
        Number of terms not yet in use that are tried at a node. The default is the square root of
        the number of terms, rounded up.
    sample_fraction : float, optional
        Share of the distinct rows on which each tree is grown, above 0, at most 1. By default 0.632
        of them, and at most 10,000 rows; with `fold_groups`, 0.632 of the clusters.
    replace : bool
        Whether these rows are drawn with replacement.
    max_depth : int, optional
        Maximum depth. By default, trees are fully grown.
    min_leaf : int
        Minimum number of rows in a leaf, at least 1. Where the terms in use cannot split a node any
        further, any other term enters, however small its (positive) coefficient. On data with many
        ties, larger leaves or fewer trees therefore give smaller selections. For the same reason,
        numeric columns are split at all their distinct values.
    criterion : {"gini", "entropy"}
        Impurity of classes. For numeric responses it is the sum of squares, and ``"entropy"`` is an
        error.
    gain : {"uncentred", "decrease"}
        What `lam` multiplies. ``"uncentred"``: the criterion of the children themselves,
        ``sum_k n_k**2 / n`` over both, as in the authors' package. Only this form reproduces the
        tables of [1]_; no new term enters a node whose purity is `lam` or more, if a term in use
        can split it. Numeric responses are centred first. ``"decrease"``: the decrease in impurity,
        as described in the papers.
    ties : {"used", "random"}
        Which of equal splits is made. ``"used"``: the split on a term in use, then on a term forced
        in, then on the cheapest, then the first in an order drawn from the seed. ``"random"``: one
        at random, as in the authors' package, so that exact copies enter.
    screen : bool
        Whether a new term must also be credible. A term with coefficient c may then enter only if
        the share of its gain that holds out of bag is at least ``1 - c`` of the largest such share,
        both measured in an ordinary forest of small trees. Without screening, as in the papers, a
        term enters at any positive coefficient where no term in use competes with it: at the first
        node, the best of `mtry` random terms; in small nodes, noise terms with many values.
    prune : bool
        Whether a backward pass is applied to each selection of at most 30 terms. It drops terms
        whose removal does not raise the out-of-bag error of an additive model plus forest by more
        than its standard error.
    refine : bool
        Whether each set is refined, as in :class:`ExchangeSearch`. It may be replaced by the first
        terms of a held-out ranking, by a set from a backward pass that starts from more of these or
        from a larger set of the path, or by the refined set of the next smaller size with one more
        term; then terms are exchanged. Every change must lower the out-of-bag error of such models
        of the sets by more than the standard error of the difference. At a fixed tuning parameter,
        the backward pass and exchanges alternate until nothing changes. Refinement includes
        `prune`, and a path over all sizes ends when three further terms do not lower the error.

    Raises
    ------
    MethodError
        If an option is out of range, if entropy is combined with the un-centred gain, or if entropy
        is used for a response without classes or with an offset.

    Notes
    -----
    Algorithm 1 of [1]_ and Algorithm 2 of [2]_, for classes and numeric responses.
    With ``lam=None``, a set of the path gives way to a larger one, cut to its most important terms,
    if such models of these have a lower out-of-bag error by more than the standard error of the
    difference, and if these cost no more: nothing competes with the first terms of a path, the best
    of `mtry` random ones.
    Costs are powers: a term of cost c has the coefficient ``lam ** c``, so cost 1 gives the rule of
    the papers and cost 0 no penalty. A cost shared by several terms is charged to each of them. A
    group (``groups=``) counts as one term. With an offset, trees are grown on the negative gradient
    at the null model. For right-censored times, this gradient is the martingale residual of the
    null model, within strata: the log-rank score of [3]_; nodes are split by its sum of squares.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="rrf", k=3, n_trees=50, seed=1)
    >>> fit.k
    3
    """

    lam: float | None = field(default=None, metadata=number(least=0.0, most=1.0))

    name: ClassVar[str] = "rrf"
    title: ClassVar[str] = "Regularised random forest (RRF)"
    references: ClassVar[tuple[Reference, ...]] = (DENG_2013,)
    cited: ClassVar[tuple[Reference, ...]] = (DENG_2013, DENG_2012, HOTHORN_2003)
    tuning_name: ClassVar[str] = "lam"
    splits_exactly: ClassVar[bool] = True

    def path(self, task: Task) -> tuple[Step, ...]:
        rules, groups = self._rules(task), task.problem.groups
        held = scoring.held_shares(task) if self.screen else None

        def step_at(lam: float) -> Step:
            forest = scoring.grow_shared(task, rules, scoring.screened(lam**groups.costs, held))
            return step_of_gains(lam, forest.gains, groups.keep, forest.train_score, held)

        return self.path_of(step_at, task, float)


@dataclass(frozen=True, kw_only=True)
class GRRF(_RegularisedForest):
    """Guided regularised random forest (GRRF).

    As :class:`RRF`, but each term has its own coefficient. An ordinary forest is grown first, and
    the more important a term is in it, the less the term is penalised.

    Parameters
    ----------
    gamma : float, optional
        Weight of the importance in equation 5 of [1]_, from 0 (all terms have the coefficient
        `lam`) to 1. If None, `k` decides.
    lam : float
        Base coefficient lambda_0, from 0 to 1.
    n_trees, mtry, sample_fraction, replace, max_depth, min_leaf, criterion, gain, ties
        As for :class:`RRF`, for both forests. The first forest tries `mtry` of all terms at each
        node, and always uses the decrease in impurity and random ties.
    screen, prune, refine
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, if entropy is combined with the un-centred gain, or if entropy
        is used for a response without classes or with an offset.

    Notes
    -----
    The importance of a term is its decrease in impurity, weighted by the in-bag rows of each node,
    summed over its columns and divided by the largest (equations 1 and 3 of [1]_, with the
    weights of the authors' package). With `costs`, importances are divided by costs before they are
    compared with the largest, and the base coefficient of a term of cost c is ``lam ** c``, as in
    :class:`RRF`. A group (``groups=``) counts as one term. With ``gamma=None``, sets of the path
    give way to larger ones as in :class:`RRF`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="grrf", gamma=0.5, n_trees=50, seed=1)
    >>> "sex" in fit.selected
    True
    """

    gamma: float | None = field(default=None, metadata=number(least=0.0, most=1.0))
    lam: float = field(default=1.0, metadata=number(least=0.0, most=1.0))

    name: ClassVar[str] = "grrf"
    title: ClassVar[str] = "Guided regularised random forest (GRRF)"
    references: ClassVar[tuple[Reference, ...]] = (DENG_2013,)
    tuning_name: ClassVar[str] = "gamma"
    splits_exactly: ClassVar[bool] = True

    def path(self, task: Task) -> tuple[Step, ...]:
        rules, groups = self._rules(task), task.problem.groups
        relative = self._relative_importance(task)
        held = scoring.held_shares(task) if self.screen else None

        def step_at(gamma: float) -> Step:
            coefficient = (1 - gamma) * self.lam**groups.costs + gamma * relative
            forest = scoring.grow_shared(task, rules, scoring.screened(coefficient, held))
            return step_of_gains(gamma, forest.gains, groups.keep, forest.train_score, held)

        return self.path_of(step_at, task, lambda at: 1.0 - at)

    def _relative_importance(self, task: Task) -> FloatArray:
        """Importance per cost in an ordinary forest, relative to the largest (equation 3).

        It is 1 for units without cost.
        """
        rules = self._rules(task)
        growth = rules.growth._replace(all_open=False, random_ties=True)
        rules = rules._replace(growth=growth, uncentred=False)
        costs = task.problem.groups.costs
        gains = scoring.grow_shared(task.seeded("guide"), rules, np.ones(len(costs))).gains
        is_free = costs == 0
        worth = np.where(is_free, 0.0, gains / np.where(is_free, 1.0, costs))
        largest = worth.max(initial=0.0)
        return np.where(is_free, 1.0, worth / largest if largest > 0 else 0.0)


Form = Literal["auto", "reweighting", "gradient"]

_GRADIENT_DEPTH = 4
_GRADIENT_RATE = 0.1


@dataclass(frozen=True, kw_only=True)
class RBoost(DrawnMethod):
    """Regularised boosted random trees (RBoost).

    As :class:`RRF`, but trees are boosted: each tree is grown on a bootstrap sample drawn with
    weights that increase where earlier trees were wrong.

    Parameters
    ----------
    lam : float, optional
        Coefficient lambda from 0 to 1, as for :class:`RRF`; the paper uses 0.5. If None, `k`
        decides.
    n_trees : int
        Trees, 1 to 1,000,000. More trees use more terms.
    mtry : int, optional
        Number of terms not yet in use that are tried at a node. The default is the square root of
        the number of terms, rounded up.
    max_depth : int, optional
        Maximum depth. By default, trees are fully grown, or to depth 4 in the gradient form.
    criterion : {"entropy", "gini"}
        Impurity of classes in the reweighting form. The gradient form uses the sum of squares.
    gain : {"decrease", "uncentred"}
        What `lam` multiplies, as for :class:`RRF`.
    ties : {"used", "random"}
        Which of equal splits is made, as for :class:`RRF`; the gradient form has ``"used"`` only.
    form : {"auto", "reweighting", "gradient"}
        ``"reweighting"``: AdaBoost, for classes without an offset. ``"gradient"``: gradient
        boosting with a learning rate of 0.1, also for numeric, count and survival responses (Cox's
        partial likelihood). ``"auto"``: reweighting where possible, otherwise gradient.
    screen, prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, if entropy is combined with the un-centred gain or the
        gradient form with random ties, or if the reweighting form or random ties are used for a
        response without classes or with an offset.

    Notes
    -----
    Algorithm 2 of [1]_ with boosted random trees. A fully grown tree makes no error on the weighted
    rows it was grown on, which would end AdaBoost at once. Each tree is therefore grown on a
    bootstrap sample with as many draws as there are rows, copies included. Its error is computed
    over all rows, and the weights are reset to their initial values where that error is 0 or no
    better than chance (SAMME [2]_). A row of weight 2 and two copies of a row are drawn equally
    often, but not in the same draws; rows of a cluster (`fold_groups`) are drawn one by one. Costs
    are powers of the coefficient, a group (``groups=``) counts as one term, and sets of a path
    (``lam=None``) give way to larger ones, as in :class:`RRF`. The training scores of a path are
    out of bag, those of forests of 100 trees on its sets; that of a given `lam` is of the ensemble
    on its own rows.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="rboost", k=3, n_trees=20, seed=1)
    >>> fit.k
    3
    """

    lam: float | None = field(default=None, metadata=number(least=0.0, most=1.0))
    n_trees: int = field(default=100, metadata=integer(least=1))
    mtry: int | None = field(default=None, metadata=integer(least=1, most=MOST_UNITS))
    max_depth: int | None = field(default=None, metadata=integer(least=1, most=MOST_DEPTH))
    criterion: scoring.Criterion = field(default="entropy", metadata=choice("entropy", "gini"))
    gain: scoring.Gain = field(default="decrease", metadata=choice("decrease", "uncentred"))
    ties: scoring.Ties = field(default="used", metadata=choice("used", "random"))
    form: Form = field(default="auto", metadata=choice("auto", "reweighting", "gradient"))
    screen: bool = field(default=True, metadata=flag())

    name: ClassVar[str] = "rboost"
    title: ClassVar[str] = "Regularised boosted trees (RBoost)"
    references: ClassVar[tuple[Reference, ...]] = (DENG_2012,)
    cited: ClassVar[tuple[Reference, ...]] = (DENG_2012, ZHU_2009)
    tuning_name: ClassVar[str] = "lam"
    splits_exactly: ClassVar[bool] = True
    scores_out_of_bag: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_together(self, criterion="entropy", gain="uncentred", way='Use `criterion="gini"`.')
        refuse_together(self, form="gradient", ties="random", way='Use `ties="used"`.')

    def path(self, task: Task) -> tuple[Step, ...]:
        can_reweight = task.problem.splits_classes
        for option, value in (("form", "reweighting"), ("ties", "random")):
            if getattr(self, option) == value and not can_reweight:
                raise MethodError(
                    f'`{option}="{value}"` needs a response with classes and no offset.\n'
                    "  Leave it out."
                )
        by_weights = can_reweight and self.form != "gradient"
        grow = self._reweighted if by_weights else self._by_gradient
        held = scoring.held_shares(task) if self.screen else None

        steps = self.path_of(lambda lam: grow(task, lam, held), task, float)
        if self.lam is not None:
            return steps
        return tuple(
            dataclasses.replace(step, train_score=scoring.score_of(task, step.selected))
            for step in steps
        )

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether training scores are out of bag: they are for a path, or for refined sets."""
        return self.lam is None or super().tells_out_of_bag

    def _growth(self, n_groups: int) -> Growth:
        return scoring.open_growth(n_groups, self.mtry, self.max_depth, self.ties)

    def _penalty(self, problem: Problem, lam: float, held: FloatArray | None) -> SplitPenalty:
        ids, scale = problem.groups.ids, scoring.screened(lam**problem.groups.costs, held)
        return SplitPenalty(scale[ids], np.zeros(len(ids)), uncentred=self.gain == "uncentred")

    def _reweighted(self, task: Task, lam: float, held: FloatArray | None) -> Step:
        problem, weight, seed = task.problem, task.weight, task.seed
        data, groups, family = problem.exact or problem.data, problem.groups, problem.family
        label, n_classes = problem.y.astype(np.int64), family.n_classes
        target = class_target(label, n_classes, entropy=self.criterion == "entropy")
        growth, penalty = self._growth(n_able(data, weight)), self._penalty(problem, lam, held)
        rows = np.flatnonzero(weight > 0)
        n_draws = int(copies(weight).sum())  # number of rows, copies included
        boosting = start = np.asarray(weight, dtype=np.float64) / weight.sum()
        is_open, gains = groups.keep.copy(), np.zeros(data.n_groups)
        rank = groups.ranks(seed)
        votes = np.zeros((len(label), n_classes))
        for round_ in range(self.n_trees):
            rng = np.random.default_rng(stream_seed(seed, "bag", round_))
            drawn = rng.multinomial(n_draws, boosting[rows] / boosting[rows].sum())
            counts = np.zeros(len(label), dtype=np.int64)
            counts[rows] = drawn
            tree = bagged_forest(
                data, target, counts, n_trees=1, growth=growth,
                seed=stream_seed(seed, "tree", round_), rank=rank,
                sampling=ALL_ROWS, penalty=penalty, is_open=is_open, shared=True,
            ).trees  # fmt: skip
            gains += group_gains(tree, data)[0]
            guess = largest_in_row(predict_mean(tree, data))
            new = reweight(boosting, guess != label, n_classes, start=start)
            votes[np.arange(len(label)), guess] += new.vote
            boosting = new.weight
        share = votes / votes[0].sum() if votes.any() else np.full_like(votes, 1 / n_classes)
        fitted = share[:, 1] if n_classes == 2 else share
        return scoring.boosted_step(problem, weight, lam, gains, fitted, held)

    def _by_gradient(self, task: Task, lam: float, held: FloatArray | None) -> Step:
        problem, weight, seed = task.problem, task.weight, task.seed
        data, groups, loss = problem.exact or problem.data, problem.groups, problem.family.loss
        depth = self.max_depth or _GRADIENT_DEPTH
        growth = self._growth(n_able(data, weight))._replace(
            max_depth=depth, order=BEST_FIRST, max_leaves=2 ** min(depth, 20)
        )
        found = boost(
            data, loss if loss.needs_curvature else GradientOnly(loss), problem.y, weight,
            problem.constant(weight),
            Boosting(self.n_trees, _GRADIENT_RATE, growth), seed=seed, rank=groups.ranks(seed),
            is_open=groups.keep.copy(), penalty=self._penalty(problem, lam, held),
        )  # fmt: skip
        gains = group_gains(found.trees, data).sum(axis=0)
        mean = problem.family.mean(found.eta)
        return scoring.boosted_step(problem, weight, lam, gains, mean, held)
