"""What a method is asked to do."""

from __future__ import annotations

import dataclasses
from dataclasses import KW_ONLY, dataclass

from treeselect.brief import brief
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import WeightArray
from treeselect.engine.random import stream_seed


@dataclass(frozen=True, slots=True)
class Task:
    """What a method is asked for: the path of one problem, or the model at one of its steps.

    Attributes
    ----------
    problem : Problem
    weights : RowWeights
        How much each row counts; rows without weight are not there.
    max_size : int
        Number of units up to which steps are wanted.
    seed : int
        Of all that is drawn.
    every_size : bool
        Whether smaller sizes are wanted, too, where they have to be looked for.
    n_threads : int
        Threads that may be used. No answer depends on them.
    """

    problem: Problem
    weights: RowWeights
    _: KW_ONLY
    max_size: int
    seed: int
    every_size: bool = True
    n_threads: int = 1

    __repr__ = brief

    @property
    def weight(self) -> WeightArray:
        """Weights as trees take them: whole numbers are copies."""
        return self.weights.values

    def seeded(self, *names: str | int) -> Task:
        """The same with a seed of its own, which depends on the names and the seed of this one."""
        return dataclasses.replace(self, seed=stream_seed(self.seed, *names))
