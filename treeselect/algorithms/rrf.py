"""RRF and GRRF: regularised random forests, and guided ones."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeselect.algorithms.shared.base import Step, step_of_gains
from treeselect.algorithms.shared.ending import RefinedMethod
from treeselect.algorithms.shared.options import (
    MOST_DEPTH,
    MOST_LEAF,
    MOST_UNITS,
    check_choice,
    check_flag,
    check_integer,
    check_number,
    refuse_together,
)
from treeselect.algorithms.shared.references import Reference
from treeselect.algorithms.shared.regularised import (
    Criterion,
    ForestRules,
    Gain,
    Ties,
    grow_shared,
)
from treeselect.algorithms.shared.reliability import held_shares, screened
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class _RegularisedForest(RefinedMethod):
    """What RRF and GRRF have in common."""

    n_trees: int = 1000
    mtry: int | None = None
    sample_fraction: float = 0.632
    replace: bool = False
    max_depth: int | None = None
    min_leaf: int = 1
    criterion: Criterion = "gini"
    gain: Gain = "uncentred"
    ties: Ties = "used"
    screen: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer(self, "n_trees", least=1)
        check_integer(self, "mtry", least=1, limit=MOST_UNITS, optional=True)
        check_number(self, "sample_fraction", above=0.0, most=1.0)
        check_flag(self, "replace")
        check_integer(self, "max_depth", least=1, limit=MOST_DEPTH, optional=True)
        check_integer(self, "min_leaf", least=1, limit=MOST_LEAF)
        check_choice(self, "criterion", ("gini", "entropy"))
        check_choice(self, "gain", ("uncentred", "decrease"))
        check_choice(self, "ties", ("used", "random"))
        check_flag(self, "screen")
        refuse_together(self, criterion="entropy", gain="uncentred", way='Use `gain="decrease"`.')

    def _rules(self) -> ForestRules:
        return ForestRules(
            n_trees=self.n_trees,
            mtry=self.mtry,
            sample_fraction=self.sample_fraction,
            replace=self.replace,
            max_depth=self.max_depth,
            min_leaf=self.min_leaf,
            criterion=self.criterion,
            gain=self.gain,
            ties=self.ties,
        )


@dataclass(frozen=True, kw_only=True)
class RRF(_RegularisedForest):
    """Regularised random forest.

    Trees grow one after the other. At each node all units in use are candidates, and `mtry` of the
    others, whose gain is multiplied by `lam`: a unit comes into use only where it is clearly
    better than those that are. What is in use at the end is selected.

    Parameters
    ----------
    lam : float, optional
        Coefficient lambda of equation 2 of [1]_, from 0 (only kept units) to 1 (a new unit must
        still be better than those in use). None: the number of units decides.
    n_trees : int
        Trees, 1 to 1,000,000. More trees use more units.
    mtry : int, optional
        Units not yet in use that are tried at a node; the root of the number of units, rounded
        up, by default.
    sample_fraction : float
        Share of the distinct rows that each tree grows on, above 0, at most 1.
    replace : bool
        Whether these are drawn with replacement.
    max_depth : int, optional
        Greatest depth; trees grow fully by default.
    min_leaf : int
        Least number of rows in a leaf, at least 1. Where the units in use can't split a node any
        more, any other one comes in, whatever its coefficient: on data with many equal values
        larger leaves, or fewer trees, leave smaller selections. For the same reason numbers are
        split at all their values.
    criterion : {"gini", "entropy"}
        Impurity of classes. For numbers it is the sum of squares, whatever is said.
    gain : {"uncentred", "decrease"}
        What `lam` multiplies. ``"uncentred"``: the criterion of the children themselves,
        ``sum_k n_k**2 / n`` over both, as the authors' package does, the only form that gives the
        tables of [1]_; nothing new enters a node whose purity is `lam` or more. For numbers it is
        taken about their mean. ``"decrease"``: the decrease of impurity, as the texts say.
    ties : {"used", "random"}
        Which of equal splits is taken: that of a unit in use, then the lower rank; or one that
        coins decide for, as in the authors' package, which lets exact copies in.
    screen : bool
        Whether a unit must be credible to come into use: with the coefficient c it may only if the
        share of its gain that holds on rows outside the bags is at least ``1 - c`` of the largest
        such share, both in an ordinary forest of small trees. Without it, as in the papers, what
        no unit in use competes with comes in at any coefficient: in the first node the best of
        `mtry` random units, and noise of many values where nodes are small.
    prune : bool
        Whether units are dropped from each selection, of up to 30 units, whose removal does not
        raise the out-of-bag error of a forest by more than its standard error.
    refine : bool
        Whether each set is refined at the end, as in :class:`ExchangeSearch`: it gives way to the
        first units of a held-out ranking, to a set of the backward pass from more of these or from
        a larger set of the path, or to the refined set of one unit fewer with another one, and then
        to exchanges of one unit for another, wherever the out-of-bag error of forests on the sets
        falls by more than its standard error.
        At a fixed tuning value units that are not missed go, and others are exchanged, until
        nothing changes. It contains `prune`, and a path of all sizes ends where three further units
        do not help.

    Raises
    ------
    MethodError
        If an option is not in its range, or entropy is to be un-centred, or is asked for numbers.

    Notes
    -----
    Algorithm 1 of [1]_ and Algorithm 2 of [2]_, for classes and numbers alike. A price in `costs`
    is a power: the coefficient of a unit of price c is ``lam ** c``, so that price 1 is the
    paper's rule and price 0 none. A price that several units share is paid by each of them. With
    an offset the trees grow on the negative gradient at the constant model; so they do for times to
    an event, where these are the martingale residuals of the null model, within strata: the
    log-rank scores of [3]_, by whose sum of squares nodes are split.

    References
    ----------
    .. [1] H. Deng, G. Runger (2013). Gene selection with guided regularized random forest.
       Pattern Recognition 46, 3483-3489.
    .. [2] H. Deng, G. Runger (2012). Feature selection via regularized trees. IJCNN 2012.
    .. [3] T. Hothorn, B. Lausen (2003). On the exact distribution of maximally selected rank
       statistics. Computational Statistics & Data Analysis 43, 121-137.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="rrf", k=3, n_trees=50, seed=1)
    >>> fit.k
    3
    """

    lam: float | None = None

    name: ClassVar[str] = "rrf"
    title: ClassVar[str] = "Regularised random forest (RRF)"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("H. Deng", "G. Runger"),
            2013,
            "Gene selection with guided regularized random forest",
            journal="Pattern Recognition",
            volume="46",
            pages="3483-3489",
        ),
    )
    tuning_name: ClassVar[str] = "lam"
    splits_exactly: ClassVar[bool] = True
    scores_out_of_bag: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "lam", least=0.0, most=1.0, optional=True)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units along a rising coefficient (see ``Method.path``)."""
        rules, groups = self._rules(), task.problem.groups
        held = held_shares(task) if self.screen else None

        def try_at(lam: float) -> Step:
            forest = grow_shared(task, rules, screened(lam**groups.costs, held))
            return step_of_gains(lam, forest.gains, groups.keep, forest.train_score, held)

        fixed = None if self.lam is None else try_at(self.lam)
        return self.path_of(try_at, fixed, task)


@dataclass(frozen=True, kw_only=True)
class GRRF(_RegularisedForest):
    """Guided regularised random forest.

    As :class:`RRF` with a coefficient for each unit: an ordinary forest is grown first, and the
    more important a unit is there, the less it is penalised.

    Parameters
    ----------
    gamma : float, optional
        Weight of the importance, equation 6 of [1]_, from 0 (all units have the coefficient `lam`)
        to 1. None: the number of units decides.
    lam : float
        Base coefficient lambda_0, from 0 to 1.
    n_trees, mtry, sample_fraction, replace, max_depth, min_leaf, criterion, gain, ties
        As for :class:`RRF`, of both forests; the first one tries `mtry` of all units at a node.
    screen, prune, refine
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is not in its range, or entropy is to be un-centred, or is asked for numbers.

    Notes
    -----
    The importance of a unit is its decrease of impurity, weighted by the nodes' rows in the bag
    and summed over its columns, relative to the largest (equations 1, 4 and 5 of [1]_, with the
    weights of the authors' package). Where there are prices, it is the importance per price that
    is relative to the largest, and a price is a power of `lam`, as in :class:`RRF`.

    References
    ----------
    .. [1] H. Deng, G. Runger (2013). Gene selection with guided regularized random forest.
       Pattern Recognition 46, 3483-3489.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="grrf", gamma=0.5, n_trees=50, seed=1)
    >>> "sex" in fit.selected
    True
    """

    gamma: float | None = None
    lam: float = 1.0

    name: ClassVar[str] = "grrf"
    title: ClassVar[str] = "Guided regularised random forest (GRRF)"
    references: ClassVar[tuple[Reference, ...]] = RRF.references
    tuning_name: ClassVar[str] = "gamma"
    splits_exactly: ClassVar[bool] = True
    scores_out_of_bag: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "gamma", least=0.0, most=1.0, optional=True)
        check_number(self, "lam", least=0.0, most=1.0)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units along a falling `gamma` (see ``Method.path``)."""
        rules, groups = self._rules(), task.problem.groups
        relative = self._relative_importance(task)
        held = held_shares(task) if self.screen else None

        def try_with(gamma: float) -> Step:
            coefficient = (1 - gamma) * self.lam**groups.costs + gamma * relative
            forest = grow_shared(task, rules, screened(coefficient, held))
            return step_of_gains(gamma, forest.gains, groups.keep, forest.train_score, held)

        fixed = None if self.gamma is None else try_with(self.gamma)
        return self.path_of(lambda at: try_with(1.0 - at), fixed, task)

    def _relative_importance(self, task: Task) -> FloatArray:
        """Importance in an ordinary forest per price, relative to the largest; 1 for units that
        cost nothing (equations 4 and 5)."""
        rules = dataclasses.replace(self._rules(), all_open=False, gain="decrease", ties="random")
        costs = task.problem.groups.costs
        gains = grow_shared(task.seeded("guide"), rules, np.ones(len(costs))).gains
        is_free = costs == 0
        worth = np.where(is_free, 0.0, gains / np.where(is_free, 1.0, costs))
        largest = worth.max(initial=0.0)
        return np.where(is_free, 1.0, worth / largest if largest > 0 else 0.0)
