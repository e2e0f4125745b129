"""The task of a method."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from treeselect.brief import brief
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import WeightArray
from treeselect.engine.random import stream_seed


@dataclass(frozen=True, slots=True)
class Task:
    """A task: find the path of a problem, or fit the final model at one of its steps.

    Attributes
    ----------
    problem : Problem
    weights : RowWeights
        Weights of the rows; rows of weight 0 are ignored.
    max_size : int
        Largest number of units for which steps are wanted.
    seed : int
        Seed of all random numbers.
    every_size : bool
        Whether smaller sizes are wanted, too, if they take extra work to find.
    n_threads : int
        Threads that may be used; results do not depend on them.
    wants_importance : bool
        Whether the importances of the final model are needed; they are not where it is only scored.
    n_final_trees : int or None
        Most trees of a final forest; None leaves them to the method.
    n_judge_trees : int or None
        Most trees of a forest that judges a set, where nothing but the sets is needed; None leaves
        them to the method.
    """

    problem: Problem
    weights: RowWeights
    _: KW_ONLY
    max_size: int
    seed: int
    every_size: bool = True
    n_threads: int = 1
    wants_importance: bool = True
    n_final_trees: int | None = None
    n_judge_trees: int | None = None
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    __repr__ = brief

    def once(self, make: Callable[..., Any], *given: Hashable) -> Any:
        """``make(self, *given)``, made at the first call and then kept with this task."""
        key = (make, *given)
        if key not in self._made:
            self._made[key] = make(self, *given)
        return self._made[key]

    @property
    def weight(self) -> WeightArray:
        """Weights as trees use them: integers count copies."""
        return self.weights.values

    def seeded(self, *names: str | int) -> Task:
        """The same task with its own seed, derived from the names and the seed of this one."""
        return dataclasses.replace(self, seed=stream_seed(self.seed, *names))
