"""GBFS: gradient boosted feature selection."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np

from treeselect.algorithms.forests.scoring import boosted_step
from treeselect.algorithms.options import MOST_DEPTH, MOST_LEAF, flag, integer, number
from treeselect.algorithms.references import XU_2014, Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import Step, Task
from treeselect.arguments.checks import described, finite, members
from treeselect.engine.forest.boosting import BoostedTrees
from treeselect.engine.losses import GradientOnly
from treeselect.engine.tree.nodes import group_gains
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.errors import MethodError, listing, near_or, quoted
from treeselect.models.boosting import MOST_ROUNDS, Booster

_DECADES = 4.0
"""Powers of ten from the cost at which nothing enters down to the least one above 0."""

Discounts = tuple[tuple[str, str, float], ...]


@dataclass(frozen=True, kw_only=True)
class GBFS(RefinedMethod):
    """Gradient boosted feature selection (GBFS).

    Small trees are boosted. The first split on a term costs `mu` times the term's cost, and later
    splits on it are free. The terms in use at the end are selected.

    Parameters
    ----------
    mu : float, optional
        Cost of the first use of a term of cost 1, at least 0, in units of half the decrease in
        squared error between gradients and tree, per unit of weight: equation 14 of [1]_ divided by
        the sum of the weights. If None, `k` decides.
    n_trees : int, optional
        Boosting rounds, 1 to 2,000. If None: the number, up to 2,000, with the lowest loss on a
        held-out fifth of the rows (with `fold_groups`, of the clusters), on up to 2,000 of these
        averaged over five such splits. Boosting ends once 50 rounds add less than 0.2% to the
        decrease of the loss. All rows are then boosted for that number of rounds.
    max_depth : int, optional
        Depth of the trees, at least 1. If None: 2, 4 or 6, whichever gives the lowest such loss.
    learning_rate : float
        Share of each tree that is added, above 0, at most 1.
    min_leaf : int
        Minimum number of rows in a leaf, at least 1.
    newton : bool, optional
        Whether splits and leaf values are Newton steps instead of mean gradients. Newton steps need
        fewer trees, and `mu` is then in units of the loss. By default they are used for counts and
        right-censored times, whose gradients are unbounded. For times, splits still use mean
        gradients, in whose units `mu` is given, because some rows may have almost no curvature.
    charge_each_split : bool
        Whether a term is charged at every split until the first tree that uses it is complete,
        instead of at its first split only.
    discounts : dict of (str, str) to float
        ``{("a", "b"): 0.5}``: once term a is used, the cost of term b is multiplied by a factor
        from 0 to 1 (the general cost function of section 4.2). For bags of features, where using
        one makes the others free, use the `groups` argument of ``select()``.
    prune : bool
        As for :class:`RRF`, but True by default: a term that enters early and later becomes
        redundant would otherwise remain. With x, y and their sum, whose first split is the best,
        all three were selected without the backward pass, and x and y with it
        (``benchmarks/papers/gbfs.py``).
    refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, or if `discounts` names an unknown term.

    Notes
    -----
    Algorithm 1 of [1]_. For right-censored times, the loss is minus the log partial
    likelihood (Cox, with Efron ties, weights, late entry and strata), whose negative gradients are
    the martingale residuals. The path starts at the value of `mu` at which no term enters. A cost
    shared by several terms is charged to each of them. A group (``groups=``) counts as one term.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="gbfs", k=3, n_trees=100, seed=1)
    >>> fit.k
    3
    """

    mu: float | None = field(default=None, metadata=number(least=0.0))
    n_trees: int | None = field(default=None, metadata=integer(least=1, most=MOST_ROUNDS))
    max_depth: int | None = field(
        default=4, metadata=integer(least=1, most=MOST_DEPTH, optional=True)
    )
    learning_rate: float = field(default=0.1, metadata=number(above=0.0, most=1.0))
    min_leaf: int = field(default=1, metadata=integer(least=1, most=MOST_LEAF))
    newton: bool | None = field(default=None, metadata=flag())
    charge_each_split: bool = field(default=False, metadata=flag())
    discounts: Mapping[tuple[str, str], float] | Discounts = ()
    prune: bool = True

    name: ClassVar[str] = "gbfs"
    title: ClassVar[str] = "Gradient boosted feature selection (GBFS)"
    references: ClassVar[tuple[Reference, ...]] = (XU_2014,)
    tuning_name: ClassVar[str] = "mu"
    scores_out_of_bag: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "discounts", _read_discounts(self.discounts))

    def path(self, task: Task) -> tuple[Step, ...]:
        # With one ensemble, threads share the columns of each tree; with many, each has one.
        alone = task if self.mu is not None else dataclasses.replace(task, n_threads=1)
        ensembles = Ensembles(self, alone)
        dearest = ensembles.dearest_price() if self.mu is None else self.mu

        def price_at(at: float) -> float:
            return dearest * 10 ** (-_DECADES * at) if at < 1 else 0.0

        return self.path_of(ensembles.step, task, price_at)


class Ensembles:
    """Boosted ensembles of one problem at any value of `mu`."""

    def __init__(self, method: GBFS, task: Task) -> None:
        problem, groups = task.problem, task.problem.groups
        self._problem, self._weight = problem, task.weight
        self._prices = np.where(groups.keep, 0.0, groups.costs)
        self._discounts = _numbered(method, groups.names)
        loss = problem.family.loss
        newton = loss.needs_curvature if method.newton is None else method.newton
        self._booster = Booster(
            problem=problem, data=problem.data, weights=task.weights, is_open=groups.keep,
            loss=loss if newton else GradientOnly(loss), rank=groups.ranks(task.seed),
            seed=task.seed, n_threads=task.n_threads, n_trees=method.n_trees,
            max_depth=method.max_depth, learning_rate=method.learning_rate,
            min_leaf=method.min_leaf, opens_late=method.charge_each_split,
        )  # fmt: skip

    def dearest_price(self) -> float:
        """A value of `mu` at which nothing enters: the best gain of a first split, relative to the
        unit's own cost, or more."""
        priced = self._prices > 0
        if not priced.any():
            return 1.0
        least = self._prices[priced].min()
        scale = np.where(priced, least / np.where(priced, self._prices, 1.0), 0.0)
        ids = self._problem.groups.ids
        stump = self._booster.stump(SplitPenalty(scale[ids], np.zeros(len(ids))))
        gains = group_gains(stump.trees, self._problem.data).sum(axis=0)
        worth = gains[priced] / self._prices[priced]
        dearest = float(worth.max()) / 2 * (1 + 1e-9) or 1.0
        free = [pair for pair, factor in self._discounts.items() if factor == 0]
        dear = priced.copy()  # what units without a price make free enters at any `mu`
        while made_free := [other for one, other in free if dear[other] and not dear[one]]:
            dear[made_free] = False
        # Below splits on units without a price, others may gain more than at a root.
        while not priced.all() and self.step(dearest).selected[dear].any():
            dearest *= 4
        return dearest

    def grow(self, mu: float) -> BoostedTrees:
        # The engine's gain is the decrease in squared error, twice the unit of `mu`.
        prices = 2 * mu * self._prices[self._problem.groups.ids]
        penalty = SplitPenalty(np.ones(len(prices)), prices, discounts=self._discounts)
        return self._booster.grow(penalty)

    def step(self, mu: float) -> Step:
        problem, found = self._problem, self.grow(mu)
        gains = group_gains(found.trees, problem.data).sum(axis=0)
        return boosted_step(problem, self._weight, mu, gains, problem.family.mean(found.eta))


def _read_discounts(given: Any) -> Discounts:
    """Discounts as a tuple, which a frozen record can hold."""
    if isinstance(given, Mapping):
        given = [(*(p if isinstance(p, tuple) else [p]), by) for p, by in given.items()]
    rows, found = members(given), []
    for row in [given] if rows is None else rows:
        *pair, factor = row if isinstance(row, tuple | list) and row else [row]
        value = finite(factor)
        names = len(pair) == 2 and all(isinstance(n, str) for n in pair) and pair[0] != pair[1]
        if not names or value is None or not 0 <= value <= 1:
            raise MethodError(
                "`discounts` of GBFS must give a factor from 0 to 1 for each pair of terms.\n"
                f"  Found: {described(row)}. Write, for example, `{{('a', 'b'): 0.5}}`, or in a"
                ' shell `[["a", "b", 0.5]]`.'
            )
        found.append((str(pair[0]), str(pair[1]), float(value)))
    return tuple(found)


def _numbered(method: GBFS, names: Sequence[str]) -> dict[tuple[int, int], float]:
    listed, number = cast(Discounts, method.discounts), {name: g for g, name in enumerate(names)}
    for name in (name for *pair, _ in listed for name in pair):
        if name not in number:
            raise MethodError(
                f"Can't find {quoted(name)}, named in `discounts`.\n"
                f"  {near_or(name, names, f'Available: {listing(names)}.')}"
            )
    return {(number[a], number[b]): factor for a, b, factor in listed}
