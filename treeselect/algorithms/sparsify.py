"""From a pool of trees to a path of selections: the sparse-forest problem and its solutions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.algorithms.base import Problem, Step
from treeselect.algorithms.pools import TreePool
from treeselect.algorithms.weighted import WeightedForest
from treeselect.design import FloatArray, IntArray, WeightArray
from treeselect.engine.gram_forest import sparse_forest
from treeselect.engine.random import stream_seed
from treeselect.engine.tree_weights import SparseForest, WeightedTrees
from treeselect.engine.weight_path import (
    last_solution,
    solution_path,
    support,
    weighted_importance,
)

FIRST_PATH = 10
"""Units at which the first of the two solutions ends, at least; with fewer, it goes to the end of
the path, so that what enters last has an importance by then."""

_LEAST_IMPORTANCE = 1e-3
"""Least importance, relative to the largest, that the second solution reckons with."""


@dataclass(frozen=True, slots=True)
class SparsityRules:
    """How the problem is posed.

    Attributes
    ----------
    adaptive : bool
        Whether it is solved twice, the second time with prices by the importances of the first.
    ridge : float
        At least 0.
    sketch : int or None
        Rows of a sketch.
    sketch_kind : {"rows", "gaussian"}
    """

    adaptive: bool
    ridge: float
    sketch: int | None
    sketch_kind: str


class Sparsifier:
    """The sparse-forest problem of some trees.

    Parameters
    ----------
    problem : Problem
    weight : ndarray, shape (n_rows,)
    pool : TreePool
    rules : SparsityRules
    seed : int
        Of the sketch.
    """

    def __init__(
        self,
        problem: Problem,
        weight: WeightArray,
        pool: TreePool,
        rules: SparsityRules,
        seed: int,
    ) -> None:
        self._problem, self._pool, self._rules = problem, pool, rules
        rows = _rows(weight, rules, seed)
        self._weight = weight[rows]
        loss, groups = problem.family.loss, problem.groups
        self._forest = sparse_forest(
            pool.columns(rows, loss.n_outputs),
            loss,
            problem.y[rows],
            self._weight,
            problem.constant(weight)[rows],
            groups.prices(pool.uses, np.ones(len(groups.names))),
            ridge=rules.ridge,
            sketch=_gaussian_sketch(rules, seed),
        )
        self._constant = np.atleast_1d(loss.constant(problem.y, weight, problem.offset))

    def path(self, max_size: int, last_lam: float | None = None) -> tuple[Step, ...]:
        """The path up to a size, or to a penalty (see ``weight_path.solution_path``)."""
        forest, keep = self._priced(max_size), self._problem.groups.keep
        solutions = solution_path(forest, self._pool.uses, keep, max_size, last_lam=last_lam)
        return tuple(self._step(forest, solution) for solution in solutions)

    def at(self, lam: float) -> Step:
        """The solution at a penalty alone."""
        forest = self._priced(len(self._problem.groups.names))
        return self._step(forest, forest.solve(lam, forest.empty()))

    def _priced(self, max_size: int) -> SparseForest:
        """The problem at the prices of its second solution, if it is solved twice."""
        if not self._rules.adaptive:
            return self._forest
        pool, groups = self._pool, self._problem.groups
        first = last_solution(self._forest, pool.uses, groups.keep, max(max_size, FIRST_PATH))
        importance = weighted_importance(first, self._forest.spread(), pool.gains)
        return self._forest.with_prices(groups.prices(pool.uses, _discount(importance)))

    def _step(self, forest: SparseForest, solution: WeightedTrees) -> Step:
        family, pool = self._problem.family, self._pool
        spread = forest.spread()
        importance = weighted_importance(solution, spread, pool.gains)
        selected = support(solution, pool.uses, self._problem.groups.keep)
        used = np.flatnonzero(solution.weights)
        moved = (solution.weights * spread)[used]
        return Step(
            tuning=solution.lam,
            selected=selected,
            importance=importance,
            train_score=family.score(forest.y, family.mean(solution.eta), self._weight),
            ensemble=WeightedForest(
                groups=selected,
                trees=tuple(pool.trees[t] for t in used),
                weights=solution.weights[used],
                gains=pool.gains[used],
                shares=moved / max(moved.sum(), 1e-300),
                constant=self._constant + solution.intercept,
                importance=importance,
                group_of=pool.group_of,
                family=family,
                bins=pool.bins,
            ),
        )


def _rows(weight: WeightArray, rules: SparsityRules, seed: int) -> IntArray:
    """Rows of the problem: those with weight, or a sample of them."""
    rows = np.flatnonzero(weight)
    if rules.sketch is None or rules.sketch_kind != "rows" or rules.sketch >= len(rows):
        return rows
    rng = np.random.default_rng(stream_seed(seed, "sketch"))
    return np.sort(rng.choice(rows, rules.sketch, replace=False))


def _gaussian_sketch(rules: SparsityRules, seed: int) -> tuple[int, int] | None:
    """Rows and seed of a Gaussian sketch, if one was asked for."""
    if rules.sketch is None or rules.sketch_kind == "rows":
        return None
    return rules.sketch, stream_seed(seed, "sketch")


def _discount(importance: FloatArray) -> FloatArray:
    """Factor on each unit's price: one over the root of its relative importance."""
    largest = importance.max(initial=0.0)
    relative = importance / largest if largest > 0 else np.ones_like(importance)
    return np.asarray(np.maximum(relative, _LEAST_IMPORTANCE) ** -0.5)
