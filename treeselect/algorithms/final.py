"""The model that predicts from what a method has selected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from treeselect.algorithms.base import Problem, Step
from treeselect.algorithms.forest import ForestModel, fit_forest
from treeselect.algorithms.pruning import BackwardPass
from treeselect.design import BoolArray, WeightArray
from treeselect.engine.random import stream_seed

REFITTED_TREES = 200
"""Trees of the forest that is refitted on the selected units."""


def refit_forest(
    problem: Problem,
    weight: WeightArray,
    selected: BoolArray,
    *,
    seed: int,
    n_trees: int = REFITTED_TREES,
    n_threads: int = 1,
) -> ForestModel:
    """Forest on the selected units."""
    return fit_forest(
        problem.data,
        problem.y,
        weight,
        selected,
        problem.family,
        n_trees=n_trees,
        seed=stream_seed(seed, "refit"),
        rank=problem.groups.ranks(seed),
        offset=problem.offset,
        n_threads=n_threads,
    )


@dataclass(frozen=True, kw_only=True)
class RefitsForest:
    """What methods have in common whose final model is such a forest."""

    prune: bool = False

    def finisher(
        self, problem: Problem, weight: WeightArray, seed: int, max_size: int
    ) -> Callable[[Step], Step]:
        """What ends each step of a path: the backward pass if that was asked for."""
        return BackwardPass(problem, weight, seed, max_size) if self.prune else lambda step: step

    def options(self) -> dict[str, Any]:
        """All options by name."""
        return asdict(self)

    def refit(
        self,
        problem: Problem,
        weight: WeightArray,
        selected: BoolArray,
        *,
        seed: int,
        n_threads: int = 1,
    ) -> ForestModel:
        """Forest of 200 trees on the selected units."""
        return refit_forest(problem, weight, selected, seed=seed, n_threads=n_threads)
