"""From a pool of trees to a path of selections: the sparse-forest problem and its solutions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeselect.algorithms.controlburn.trees import TreePool
from treeselect.algorithms.task import Step, Task
from treeselect.arguments.checks import described
from treeselect.designs.row_sample import varies
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.losses import Loss
from treeselect.engine.rounding import falling
from treeselect.engine.sparse.forest import ModelledForest, sparse_forest
from treeselect.engine.sparse.path import (
    SubsetValues,
    best_subset,
    last_solution,
    solution_path,
    support,
    weighted_importance,
)
from treeselect.engine.sparse.weights import SparseForest, WeightedTrees
from treeselect.errors import MethodError, did_you_mean, listing, near, quoted, said_by
from treeselect.models.model import WeightedForest

FIRST_PATH = 10
"""Least number of units at which the first of two solutions ends; with fewer units, it continues to
the end of the path, so that the last unit to enter gets an importance."""

_LEAST_IMPORTANCE = 1e-3
"""Lower bound of the relative importance in the second solution."""


def _constraint(made: object) -> object:
    from cvxpy.constraints.constraint import Constraint

    if not isinstance(made, Constraint):
        raise TypeError(f"{described(made)} isn't a cvxpy constraint")
    return made


@dataclass(frozen=True, slots=True)
class UnitWeights:
    """The weights of the trees as cvxpy expressions, for constraints.

    ``weights["age"]`` is the sum of the weights of the trees that use the unit `age`.
    """

    trees: Any  # (n_trees,)
    uses: BoolArray  # (n_trees, n_units)
    names: tuple[str, ...]  # the units

    def __getitem__(self, name: str) -> Any:
        """Sum of the weights of the trees that use a unit."""
        if name not in self.names:
            close = near(name, self.names)
            way = did_you_mean(close) if close else f"Available: {listing(self.names)}."
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
        self._weight = weight[rows]
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
        loss, groups = problem.family.loss, problem.groups
        given = (
            pool.columns(rows, loss.n_outputs),
            loss,
            problem.y[rows],
            self._weight,
            problem.constant(weight)[rows],
            groups.prices(pool.uses, np.ones(len(groups.names))),
        )
        if constrain is None:
            self._forest = sparse_forest(*given, ridge=ridge, sketch=mixed)
        else:
            self._forest = ModelledForest(*given, ridge=ridge, constrain=self._constraints)
        self._constant = np.atleast_1d(loss.constant(problem.y, weight, problem.offset))

    def path(self, max_size: int, last_lam: float | None = None) -> tuple[Step, ...]:
        """The path up to a size, or to a penalty (see ``weight_path.solution_path``)."""
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
            likely = np.zeros_like(keep)
            likely[order[:size]] = True
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
            return [_constraint(made) for made in self._constrain(weights)]
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


def _discount(importance: FloatArray) -> FloatArray:
    """Factor of each unit's cost: one over the square root of its relative importance."""
    largest = importance.max(initial=0.0)
    relative = importance / largest if largest > 0 else np.ones_like(importance)
    return np.asarray(np.maximum(relative, _LEAST_IMPORTANCE) ** -0.5)


def _gap_words(size: int, gap: float) -> str:
    """Whether a best subset is proved optimal, in words."""
    if gap > 0:
        known = (
            f"not proved optimal; another set may have a loss up to {gap:.1%} lower. Allow the"
            " search more time (`time_limit`)."
        )
    else:
        known = "proved optimal (with its ridge penalty)."
    return f"Best subset of size {size} by the training loss of its trees: {known}"
