"""GBFS: gradient boosted feature selection."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeselect.algorithms.options import (
    MOST_DEPTH,
    MOST_LEAF,
    check_flag,
    check_integer,
    check_number,
)
from treeselect.algorithms.references import Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import Step, Task, step_of_gains
from treeselect.arguments.checks import described, finite, members
from treeselect.designs.problem import Problem
from treeselect.designs.row_sample import units_of
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.data.binning import take_rows
from treeselect.engine.ensembles.boosting import BoostedTrees, Boosting, boost
from treeselect.engine.ensembles.prediction import predict_sum
from treeselect.engine.growing.growth import BEST_FIRST, UNBOUNDED, Growth
from treeselect.engine.growing.nodes import Trees, group_gains
from treeselect.engine.losses import GradientOnly
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least, first_smallest
from treeselect.engine.row_losses import mean_loss
from treeselect.engine.splitting.penalty import SplitPenalty
from treeselect.errors import MethodError, did_you_mean, listing, near, quoted

_MOST_TREES = 2000
_PATIENCE = 50
"""Rounds without a lower validation loss after which boosting ends."""

_LEAST_GAIN = 2e-3
"""Share of the decrease so far that so many rounds must add where the loss is that of one split:
on many rows it falls for thousands of rounds, by next to nothing."""

_FEW_ROWS = 2000
"""Most rows for which the losses of five splits are averaged, as in the paper; for more rows, one
split is enough."""

_DEPTHS = (2, 4, 6)
"""Depths from which validation chooses."""

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
        held-out fifth of the rows (with `fold_groups`, of the clusters). With up to 2,000 of these,
        the loss is averaged over five such splits; with more, boosting ends once 50 rounds add less
        than 0.2% to the decrease of the loss. All rows are then boosted for that number of
        rounds.
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
        (``benchmarks/papers/gbfs_synthetic.py``).
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

    References
    ----------
    .. [1] Z. Xu, G. Huang, K. Q. Weinberger, A. X. Zheng (2014). Gradient boosted feature
       selection. KDD '14, 522-531.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="gbfs", k=3, n_trees=100, seed=1)
    >>> fit.k
    3
    """

    mu: float | None = None
    n_trees: int | None = None
    max_depth: int | None = 4
    learning_rate: float = 0.1
    min_leaf: int = 1
    newton: bool | None = None
    charge_each_split: bool = False
    discounts: Mapping[tuple[str, str], float] | Discounts = ()
    prune: bool = True

    name: ClassVar[str] = "gbfs"
    title: ClassVar[str] = "Gradient boosted feature selection (GBFS)"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("Z. Xu", "G. Huang", "K. Q. Weinberger", "A. X. Zheng"),
            2014,
            "Gradient boosted feature selection",
            book="KDD '14",
            pages="522-531",
        ),
    )
    tuning_name: ClassVar[str] = "mu"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "mu", least=0.0, optional=True)
        check_integer(self, "n_trees", least=1, most=_MOST_TREES, optional=True)
        check_integer(self, "max_depth", least=1, limit=MOST_DEPTH, optional=True)
        check_number(self, "learning_rate", above=0.0, most=1.0)
        check_integer(self, "min_leaf", least=1, limit=MOST_LEAF)
        check_flag(self, "newton", optional=True)
        check_flag(self, "charge_each_split")
        object.__setattr__(self, "discounts", _read_discounts(self.discounts))

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units along a decreasing cost (see ``Method.path``)."""
        # With one ensemble, threads share the columns of each tree; with many, each has one.
        alone = task if self.mu is not None else dataclasses.replace(task, n_threads=1)
        ensembles = Ensembles(self, alone)
        fixed = None if self.mu is None else ensembles.step(self.mu)
        dearest = ensembles.dearest_price() if self.mu is None else self.mu

        def try_at(at: float) -> Step:
            return ensembles.step(dearest * 10 ** (-_DECADES * at) if at < 1 else 0.0)

        return self.path_of(try_at, fixed, task)


class Ensembles:
    """Boosted ensembles of one problem at any value of `mu`."""

    def __init__(self, method: GBFS, task: Task) -> None:
        problem, seed = task.problem, task.seed
        self._method, self._problem, self._weights, self._seed = method, problem, task.weights, seed
        self._weight = task.weight
        self._n_threads = task.n_threads
        groups = problem.groups
        self._prices = np.where(groups.keep, 0.0, groups.costs)
        self._rank = groups.ranks(seed)
        loss = problem.family.loss
        newton = loss.needs_curvature if method.newton is None else method.newton
        self._loss = loss if newton else GradientOnly(loss)
        self._base = problem.constant(task.weight)
        self._discounts = _numbered(method, groups.names)

    def dearest_price(self) -> float:
        """The value of `mu` at which nothing enters: the best gain of a first split, relative to
        the unit's own cost."""
        priced = self._prices > 0
        if not priced.any():
            return 1.0
        least = self._prices[priced].min()
        scale = np.where(priced, least / np.where(priced, self._prices, 1.0), 0.0)
        penalty = SplitPenalty(
            scale[self._problem.groups.ids], np.zeros(len(self._problem.groups.ids))
        )
        growth = self._growth(1)
        stump = self._boost(Boosting(1, 1.0, growth), penalty, np.zeros(len(priced), dtype=bool))
        gains = group_gains(stump.trees, self._problem.data).sum(axis=0)
        worth = gains[priced] / self._prices[priced]
        return float(worth.max()) / 2 * (1 + 1e-9) or 1.0

    def grow(self, mu: float) -> BoostedTrees:
        """The ensemble at a value of `mu`."""
        depth, n_trees = self._sizes(mu)
        rules = Boosting(n_trees, self._method.learning_rate, self._growth(depth))
        is_open = self._problem.groups.keep.copy()
        return self._boost(rules, self._penalty(mu), is_open, _ends_without_split)

    def step(self, mu: float) -> Step:
        """The step of the path at a value of `mu`."""
        problem = self._problem
        found = self.grow(mu)
        gains = group_gains(found.trees, problem.data).sum(axis=0)
        rows = self._weight > 0
        score = problem.family.score(
            problem.y[rows], problem.family.mean(found.eta)[rows], self._weight[rows]
        )
        return step_of_gains(mu, gains, problem.groups.keep, score)

    def _penalty(self, mu: float) -> SplitPenalty:
        # The engine's gain is the decrease in squared error, twice the unit of `mu`.
        ids = self._problem.groups.ids
        return SplitPenalty(
            np.ones(len(ids)), 2 * mu * self._prices[ids], discounts=self._discounts
        )

    def _growth(self, depth: int) -> Growth:
        return Growth(
            max_depth=depth,
            min_weight=self._method.min_leaf,
            n_candidates=UNBOUNDED,
            min_gain=0.0,
            order=BEST_FIRST,
            max_leaves=2 ** min(depth, 20),
            opens_late=self._method.charge_each_split,
        )

    def _boost(
        self, rules: Boosting, penalty: SplitPenalty, is_open: BoolArray, after_round: Any = None
    ) -> BoostedTrees:
        problem = self._problem
        return boost(
            problem.data, self._loss, problem.y, self._weight, self._base, rules, seed=self._seed,
            rank=self._rank, is_open=is_open, penalty=penalty, after_round=after_round,
            n_threads=self._n_threads,
        )  # fmt: skip

    def _sizes(self, mu: float) -> tuple[int, int]:
        """Depth and number of rounds, by validation unless given."""
        depth, n_trees = self._method.max_depth, self._method.n_trees
        if depth is not None and n_trees is not None:
            return depth, n_trees
        depths = (depth,) if depth is not None else _DEPTHS
        found = [self._validate(mu, d, n_trees or _MOST_TREES) for d in depths]
        best = first_smallest([loss for loss, _ in found])
        return depths[best], n_trees or found[best][1]

    def _validate(self, mu: float, depth: int, n_trees: int) -> tuple[float, int]:
        """Least mean loss on held-out rows, and its number of rounds."""
        n_splits = 5 if self._weights.n_units <= _FEW_ROWS else 1
        least_gain = _LEAST_GAIN if n_splits == 1 else 0.0
        curves = [self._curve(mu, depth, n_trees, split, least_gain) for split in range(n_splits)]
        length = min(len(curve) for curve in curves)
        mean = np.mean([curve[:length] for curve in curves], axis=0)
        return float(mean.min()), max(first_smallest(mean), 1)

    def _curve(
        self, mu: float, depth: int, n_trees: int, split: int, least_gain: float
    ) -> list[float]:
        """Loss on the held-out rows of one split, from the null model on."""
        problem, method = self._problem, self._method
        seed = stream_seed(self._seed, "validation", split)
        train, held_out = hold_rows_out(problem, self._weights, seed)
        judge = _Judge(problem, self._weight, self._base, held_out, least_gain)
        boost(
            problem.data, self._loss, problem.y, train, self._base,
            Boosting(n_trees, method.learning_rate, self._growth(depth)), seed=self._seed,
            rank=self._rank, is_open=problem.groups.keep.copy(), penalty=self._penalty(mu),
            after_round=judge.after_round, n_threads=self._n_threads,
        )  # fmt: skip
        return judge.losses


class _Judge:
    """Follows the loss on held-out rows, and ends boosting when it stops falling."""

    def __init__(
        self,
        problem: Problem,
        weight: WeightArray,
        base: FloatArray,
        rows: IntArray,
        least_gain: float,
    ) -> None:
        self._least_gain = least_gain
        self._data = take_rows(problem.data, rows)
        self._weight = weight[rows]
        self._rows = problem.family.loss.of(problem.y[rows], self._weight)
        self._eta = base[rows]
        self.losses = [self._value()]

    def _value(self) -> float:
        return mean_loss(self._rows, self._eta, self._weight)

    def after_round(self, number: int, eta: FloatArray, trees: Sequence[Trees]) -> bool:
        """Whether boosting should end."""
        for tree in trees:
            step = predict_sum(tree, self._data)
            self._eta += step if self._eta.ndim == 2 else step[:, 0]
        self.losses.append(self._value())
        best = first_smallest(self.losses)
        return (
            number - best >= _PATIENCE
            or self._hardly_falls(best)
            or _ends_without_split(number, eta, trees)
        )

    def _hardly_falls(self, best: int) -> bool:
        """Whether the last rounds have added next to nothing to the decrease of the loss."""
        if len(self.losses) <= _PATIENCE:
            return False
        decrease = self.losses[0] - self.losses[best]
        added = self.losses[-1 - _PATIENCE] - self.losses[best]
        return not at_least(added, self._least_gain * decrease)


def _ends_without_split(number: int, eta: FloatArray, trees: Sequence[Trees]) -> bool:
    """Whether no tree of the round was split; then no later tree will be."""
    return all(len(tree.nodes.column) == tree.n_trees for tree in trees)


def _read_discounts(given: Any) -> Discounts:
    """Discounts as a tuple, which a frozen record can hold."""
    listed = list(given.items()) if isinstance(given, Mapping) else None
    rows = members(given) if isinstance(given, tuple | list) else None
    if rows is not None:
        triples = [d for d in rows if isinstance(d, tuple | list) and len(d) == 3]
        listed = [((d[0], d[1]), d[2]) for d in triples]
        listed = listed if len(listed) == len(rows) else None
    if listed is None:
        raise MethodError(
            "`discounts` of GBFS must be a dictionary.\n"
            f"  Found: {described(given)}. Write, for example, `{{('a', 'b'): 0.5}}`."
        )
    for pair, factor in listed:
        names = isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(n, str) for n in pair)
        found = finite(factor)
        if not names or found is None or not 0 <= found <= 1:
            raise MethodError(
                "`discounts` of GBFS must give a factor from 0 to 1 for each pair of terms.\n"
                f"  Found: {described(pair)}: {described(factor)}."
            )
    return tuple((str(pair[0]), str(pair[1]), float(factor)) for pair, factor in listed)


def _numbered(method: GBFS, names: Sequence[str]) -> dict[tuple[int, int], float]:
    """Discounts by the numbers of the units."""
    listed = _read_discounts(method.discounts)
    number = {name: g for g, name in enumerate(names)}
    for name in (name for *pair, _ in listed for name in pair):
        if name not in number:
            close = near(name, names)
            raise MethodError(
                f"Can't find {quoted(name)}, named in `discounts`.\n"
                f"  {did_you_mean(close) if close else f'Available: {listing(names)}.'}"
            )
    return {(number[a], number[b]): factor for a, b, factor in listed}


# --- Rows held out to choose the sizes of an ensemble --------------------------------------------

_SHARE = 5
"""One row in five is held out."""


def hold_rows_out(problem: Problem, weights: RowWeights, seed: int) -> tuple[WeightArray, IntArray]:
    """Weights without a held-out fifth of the rows, and the held-out rows.

    A row is held out with all its copies and with all rows of its cluster. A fifth of each class is
    held out, at least one row (or cluster) where there are two. If none can be held out, the
    training rows are used instead.
    """
    units, rows = units_of(problem, weights), weights.rows
    order = np.random.default_rng(seed).permutation(len(units.stratum))
    order = order[np.argsort(units.stratum[order], kind="stable")]
    place = np.concatenate([np.arange(n) for n in np.bincount(units.stratum)])
    held_out = rows[np.isin(units.of_row, order[place % _SHARE == 1])]
    train = weights.values.copy()
    train[held_out] = 0
    return train, held_out if len(held_out) else rows
