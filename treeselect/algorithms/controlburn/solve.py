"""From a pool of trees, grown or imported, to a path of selections: the sparse-forest problem."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeselect.algorithms.task import Step, Task, first_units
from treeselect.arguments.checks import answer
from treeselect.designs.problem import CodedColumns, Problem
from treeselect.designs.row_sample import varies
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, LeafArray, WeightArray
from treeselect.engine.forest.bag_boosting import BagBoosting, BoostedBag, bag_boost
from treeselect.engine.forest.bagging import Sampling
from treeselect.engine.forest.walk import mark_leaves, narrow
from treeselect.engine.losses import Loss
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least, falling
from treeselect.engine.sparse.forest import ModelledForest, sparse_forest
from treeselect.engine.sparse.path import (
    SubsetValues,
    best_subset,
    last_solution,
    solution_path,
    support,
    weighted_importance,
)
from treeselect.engine.sparse.weights import SparseForest, TreeColumns, WeightedTrees
from treeselect.engine.tree.nodes import LEAF, Trees, group_gains
from treeselect.engine.tree.target import relative
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.errors import MethodError, listing, near_or, quoted, said_by
from treeselect.models.importing import ImportedBins, import_forest
from treeselect.models.model import WeightedForest

FIRST_PATH = 10
"""Least number of units at which the first of two solutions ends; with fewer units, it continues to
the end of the path, so that the last unit to enter gets an importance."""

_LEAST_IMPORTANCE = 1e-3
"""Lower bound of the relative importance in the second solution."""


@dataclass(frozen=True, slots=True)
class UnitWeights:
    """The weights of the trees as cvxpy expressions, for constraints.

    ``weights["age"]`` is the sum of the weights of the trees that use the unit `age`.
    """

    trees: Any  # (n_trees,)
    uses: BoolArray  # (n_trees, n_units)
    names: tuple[str, ...]  # the units

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            way = near_or(name, self.names, f"Available: {listing(self.names)}.")
            raise MethodError(
                f"Can't find {quoted(name)}, named in `constraints` of ControlBurn.\n  {way}"
            )
        return self.uses[:, self.names.index(name)].astype(np.float64) @ self.trees


class Sparsifier:
    """The sparse-forest problem of some trees."""

    def __init__(
        self,
        task: Task,
        pool: TreePool,
        rows: IntArray,
        *,
        held: FloatArray | None,
        ridge: float = 0.0,
        mixed: tuple[int, int] | None = None,
        loss: Loss | None = None,
        constrain: Callable[[UnitWeights], Sequence[Any]] | None = None,
    ) -> None:
        """With `held`, it is solved twice; `mixed` is a Gaussian sketch: its rows, and a seed."""
        problem, weight = task.problem, task.weight
        self._problem, self._pool, self._held, self._constrain = problem, pool, held, constrain
        self._weight, self._is_margin = weight[rows], loss is not None
        if not varies(problem, rows):
            lacking = (
                "none an event with others at risk at its time"
                if problem.family.has_times
                else "all with the same response"
            )
            raise MethodError(
                f"`sketch` of ControlBurn has {len(rows)} rows, {lacking}.\n  Use a larger one."
            )
        if loss is not None:
            family = dataclasses.replace(problem.family, loss=loss)
            problem = dataclasses.replace(problem, family=family)
        loss, groups, base = problem.family.loss, problem.groups, problem.constant(weight)
        every = np.flatnonzero(weight)
        self._beside = None  # what the score needs of the rows that are not in a sketch, too
        if len(every) > len(rows):
            whole = pool.columns(every, loss.n_outputs)
            self._beside = whole, base[every], problem.y[every], weight[every]
        prices = groups.prices(pool.uses, np.ones(len(groups.names)))
        columns, y = pool.columns(rows, loss.n_outputs), problem.y[rows]
        given = columns, loss, y, self._weight, base[rows], prices
        if constrain is None:
            self._forest = sparse_forest(*given, ridge=ridge, sketch=mixed)
        else:
            self._forest = ModelledForest(*given, ridge=ridge, constrain=self._constraints)
        self._constant = np.atleast_1d(loss.constant(problem.y, weight, problem.offset))

    def path(self, max_size: int, last_lam: float | None = None) -> tuple[Step, ...]:
        """The path up to a size, or to a penalty (see ``path.solution_path``)."""
        forest, keep = self._priced(max_size), self._problem.groups.keep
        solutions = solution_path(forest, self._pool.uses, keep, max_size, last_lam=last_lam)
        return tuple(self._step(forest, solution) for solution in solutions)

    def at(self, lam: float) -> Step:
        """The solution at a penalty alone."""
        forest = self._priced(len(self._problem.groups.names))
        empty = forest.empty()
        return self._step(forest, forest.solve(lam, empty) if np.isfinite(lam) else empty)

    def best_subsets(self, sizes: Sequence[int], time_limit: float) -> tuple[Step, ...]:
        """The empty step, and the best subset of each size at which a further unit helps."""
        uses, keep, forest = self._pool.uses, self._problem.groups.keep, self._forest
        steps = [self._step(forest, forest.empty())]
        path = self.path(max(sizes, default=0))
        order = falling(np.where(keep, np.inf, path[-1].importance))
        values = SubsetValues(forest, uses)
        for size in sizes:
            likely = first_units(order, size, len(keep))
            starts = [likely, *(s.selected for s in (*path, *steps) if s.size <= size)]
            found = best_subset(values, keep, size, starts, time_limit)
            step = self._step(forest, found.solution)
            if step.size > steps[-1].size:
                said = _gap_words(step.size, found.gap)
                steps.append(dataclasses.replace(step, gap=found.gap, notes=(said,)))
        return tuple(steps)

    def _constraints(self, trees: Any) -> Sequence[Any]:
        assert self._constrain is not None
        names = self._problem.groups.names
        weights = UnitWeights(trees, self._pool.uses, names)
        try:
            return list(self._constrain(weights))
        except (MethodError, MemoryError):
            raise
        except Exception as error:
            raise MethodError(
                "`constraints` of ControlBurn must be a function that returns cvxpy constraints on"
                f" the weights.\n  It failed: {said_by(error)}\n"
                '  Example: `lambda w: [w["age"] >= w["sex"]]`.'
            ) from error

    def _priced(self, max_size: int) -> SparseForest:
        """The problem with the costs of its second solution, if it is solved twice."""
        if self._held is None:
            return self._forest
        pool, groups = self._pool, self._problem.groups
        first = last_solution(self._forest, pool.uses, groups.keep, max(max_size, FIRST_PATH))
        importance = weighted_importance(first, self._forest.spread(), pool.gains)
        worth = importance * self._held
        return self._forest.with_prices(groups.prices(pool.uses, _discount(worth)))

    def _score(self, forest: SparseForest, solution: WeightedTrees) -> float:
        """Score on all rows with a weight; NaN for margins, which aren't probabilities."""
        y, eta, weight, family = forest.y, solution.eta, self._weight, self._problem.family
        if self._is_margin:
            return float("nan")
        if self._beside is not None:
            columns, base, y, weight = self._beside
            eta = base + solution.intercept + columns.combine(solution.weights)
        return family.score(y, family.mean(eta), weight)

    def _step(self, forest: SparseForest, solution: WeightedTrees) -> Step:
        pool, spread = self._pool, forest.spread()
        importance = weighted_importance(solution, spread, pool.gains)
        selected = support(solution, pool.uses, self._problem.groups.keep)
        used = np.flatnonzero(solution.weights)
        moved = (solution.weights * spread)[used]
        return Step(
            solution.lam, selected, importance, self._score(forest, solution),
            ensemble=WeightedForest(
                groups=selected, trees=tuple(pool.trees[t] for t in used),
                weights=solution.weights[used], gains=pool.gains[used],
                shares=moved / max(moved.sum(), 1e-300), group_of=pool.group_of,
                constant=self._constant + solution.intercept, importance=importance,
                family=self._problem.family, bins=pool.bins,
            ),
        )  # fmt: skip


def _discount(importance: FloatArray) -> FloatArray:
    """Factor of each unit's cost: one over the square root of its relative importance."""
    largest = importance.max(initial=0.0)
    relative = importance / largest if largest > 0 else np.ones_like(importance)
    return np.asarray(np.maximum(relative, _LEAST_IMPORTANCE) ** -0.5)


def _gap_words(size: int, gap: float) -> str:
    known = "proved optimal (with its ridge penalty)."
    if gap > 0:
        known = (
            f"not proved optimal; another set may have a loss up to {gap:.1%} lower. Allow the"
            " search more time (`time_limit`)."
        )
    return f"Best subset of size {size} by the training loss of its trees: {known}"


# --- The trees: forests that are grown, or a fitted model ----------------------------------------

_SMALLEST = 1e-300
"""Gain recorded for a split without gain, so that its group counts as used."""


@dataclass(frozen=True, slots=True)
class TreePool:
    """Trees, and the leaf of each row."""

    leaves: list[LeafArray]  # (n_rows,): leaf of each row in each tree
    values: list[FloatArray]  # (n_leaves, n_outputs)
    gains: FloatArray  # gain of each group in each tree, above 0 where the tree uses it
    trees: list[Trees]  # on the columns of the problem, or of ``bins``
    group_of: IntArray  # group of each of these columns
    bins: ImportedBins | None = None  # bins of the trees of another library

    @property
    def uses(self) -> BoolArray:
        """Which groups each tree uses, shape (n_trees, n_groups)."""
        return np.asarray(self.gains > 0)

    def columns(self, rows: IntArray, n_outputs: int) -> TreeColumns:
        return TreeColumns(self.leaves, self.values, rows, n_outputs)

    def within(self, groups: BoolArray) -> TreePool:
        """The trees that use some groups only."""
        inside = np.flatnonzero(~self.uses[:, ~groups].any(axis=1))
        return TreePool(
            [self.leaves[t] for t in inside], [self.values[t] for t in inside],
            self.gains[inside], [self.trees[t] for t in inside], self.group_of, self.bins,
        )  # fmt: skip


def grown_pool(
    task: Task, rules: BagBoosting, *, forests: int, tree_cost: float
) -> tuple[TreePool, bool]:
    """The trees of several independent forests, and whether all of them converged."""
    problem, weight, seed = task.problem, task.weight, task.seed
    if not task.weights.are_copies:
        weight = relative(weight)  # a leaf has one more row of weight 1
    base, rank = problem.constant(weight), problem.groups.ranks(seed)
    penalty = _tree_penalty(problem, weight, tree_cost) if tree_cost > 0 else None

    def grow(number: int) -> BoostedBag:
        return bag_boost(
            problem.data, problem.family.loss, problem.y, weight, base, rules,
            seed=stream_seed(seed, "forest", number), rank=rank, penalty=penalty,
            sampling=Sampling(groups=task.weights.groups),
        )  # fmt: skip

    with ThreadPoolExecutor(task.n_threads) as threads:
        bags = list(threads.map(grow, range(forests)))
    pool = TreePool(
        [leaf for bag in bags for leaf in bag.leaves],
        [value for bag in bags for value in bag.values], np.concatenate([b.gains for b in bags]),
        [tree for bag in bags for tree in bag.trees], problem.data.group_of.astype(np.int64),
    )  # fmt: skip
    return pool, all(bag.converged for bag in bags)


def _tree_penalty(problem: Problem, weight: WeightArray, tree_cost: float) -> SplitPenalty:
    """Costs of first splits within each tree, in units of what its splits could gain in all."""
    square, loss = problem.gradient(weight) ** 2, problem.family.loss
    if loss.needs_curvature and not loss.splits_on_means:
        square = square / np.maximum(problem.curvature(weight), 1e-300)
    unit = float(np.average(square.reshape(len(weight), -1).sum(axis=1), weights=weight))
    prices = np.where(problem.groups.keep, 0.0, problem.groups.costs)
    ids = problem.groups.ids
    return SplitPenalty(np.ones(len(ids)), tree_cost * unit * prices[ids])


def imported_pool(model: Any, coded: CodedColumns, n_outputs: int) -> TreePool:
    """The trees of a model fitted by another library, unchanged."""
    forest = import_forest(model)
    names = _feature_names(model, coded.column_names)
    forest = forest.with_features(_column_of_each(names, coded))
    data = forest.bins.bin(coded.columns, np.arange(len(coded.columns)).tolist())
    group_of, n_groups = coded.groups.ids[data.group_of], len(coded.groups.names)
    leaves: list[LeafArray] = []
    values, gains, trees = list[FloatArray](), list[FloatArray](), list[Trees]()
    for number in range(forest.trees.n_trees):
        tree = forest.trees.one(number)
        nodes = tree.nodes._replace(value=_wanted_outputs(tree.nodes.value, n_outputs))
        tree = tree._replace(nodes=nodes)
        leaf, value = mark_leaves(tree, data)
        if len(value) < 2:
            continue
        leaves.append(narrow(leaf, len(value)))
        values.append(value)
        trees.append(tree)
        used = np.unique(data.group_of[nodes.column[nodes.column != LEAF]])
        gain = np.zeros(len(coded.columns))
        gain[used] = np.maximum(group_gains(tree, data)[0, used], _SMALLEST)
        gains.append(np.bincount(coded.groups.ids, gain, n_groups).astype(np.float64))
    every = np.array(gains, dtype=np.float64).reshape(len(gains), n_groups)
    return TreePool(leaves, values, every, trees, group_of, forest.bins)


def check_kind(model: Any, pool: TreePool, problem: Problem) -> None:
    """Raise a MethodError if a fitted model does not predict the response."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.base import is_classifier, is_regressor

    family, kind = problem.family, type(model).__name__
    if family.has_times:
        raise MethodError(
            "`forest` of ControlBurn can't be a fitted forest for a survival response.\n"
            f"  Found: a {kind}, whose trees don't predict hazards. Leave `forest` out."
        )
    is_of_scikit_learn = hasattr(model, "get_params")
    wanted = is_classifier if family.has_classes else is_regressor
    if is_of_scikit_learn and not wanted(model):
        needed = "classifier" if family.has_classes else "regressor"
        raise MethodError(
            f"`forest` of ControlBurn must be a {needed} for this response.\n"
            f"  Found: a {kind}; the family is {family.name}."
        )
    if not family.has_classes or not pool.leaves:
        return
    mean = np.mean([v[leaf] for v, leaf in zip(pool.values, pool.leaves, strict=True)], axis=0)
    shares = mean if mean.shape[1] > 1 else np.hstack([-mean, mean])
    agreement = (shares - shares.mean(axis=0)).T @ np.eye(family.n_classes)[problem.y.astype(int)]
    if not at_least(np.trace(agreement), agreement[linear_sum_assignment(-agreement)].sum()):
        raise MethodError(
            "`forest` of ControlBurn must have been fitted to the same classes in the same order.\n"
            f"  Found: a {kind} that predicts the classes better in another order."
        )


def _feature_names(model: Any, columns: Sequence[str]) -> list[str]:
    booster = getattr(model, "booster_", model)
    if hasattr(booster, "feature_name"):
        own = {name.replace(" ", "_"): name for name in columns}  # LightGBM's names have no spaces
        return [own.get(name, name) for name in booster.feature_name()]
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise MethodError(
            "`forest` of ControlBurn must have been fitted to named columns.\n"
            f"  Found: a {type(model).__name__} fitted to an array. Fit it to a data frame."
        )
    return [str(name) for name in names]


def _column_of_each(names: Sequence[str], coded: CodedColumns) -> IntArray:
    numbers = {
        name: j
        for j, name in enumerate(coded.column_names)
        if coded.n_levels[j] is None and coded.column_names.count(name) == 1
    }
    foreign = [name for name in names if name not in numbers]
    unknown = [name for name in dict.fromkeys(coded.column_names) if name not in names]
    if foreign or unknown:
        found = [
            f"{quoted(name)} of the forest isn't a numeric term of the formula"
            for name in foreign[:1]
        ]
        found += [f"the forest lacks {quoted(name)}" for name in unknown[:1]]
        raise MethodError(
            "`forest` of ControlBurn must have been fitted to the terms of the formula, all"
            f" numeric.\n  Found: {'; '.join(found)}. Fit it to these columns of the data frame, or"
            " change the formula."
        )
    return np.array([numbers[name] for name in names], dtype=np.int64)


def _wanted_outputs(value: FloatArray, n_outputs: int) -> FloatArray:
    """Values with as many outputs as the loss has: of two classes the share of the second."""
    found = value.shape[1]
    if found == n_outputs:
        return value
    if n_outputs == 1 and found == 2:
        return np.ascontiguousarray(value[:, 1:])
    raise MethodError(
        f"`forest` of ControlBurn must predict {n_outputs} value{'s' * (n_outputs > 1)} per row for"
        f" this response.\n  Found: {found}. Fit it to this response."
    )


# --- models that others have fitted ---------------------------------------------------------------

_FITTED = "a fitted "
"""How a fitted model starts in a model file, before its type."""


def is_fitted(forest: object) -> bool:
    """Whether it is a fitted model of another library, or the type of one from a model file."""
    is_lost = isinstance(forest, str) and forest.startswith(_FITTED)
    return is_lost or any(callable(answer(forest, name)) for name in ("fit", "dump_model"))


def fitted_text(forest: object) -> str:
    return forest if isinstance(forest, str) else f"{_FITTED}{type(forest).__name__}"
