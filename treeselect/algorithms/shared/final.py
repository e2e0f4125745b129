"""The model that predicts from what a method has selected."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from treeselect.algorithms.shared.base import Step
from treeselect.algorithms.shared.pruning import BackwardPass, prune_path
from treeselect.algorithms.shared.tracing import rising, trace
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import WeightArray
from treeselect.models.forest import ForestModel, refit_forest


@dataclass(frozen=True, kw_only=True)
class RefitsForest:
    """What methods have in common whose final model is such a forest."""

    prune: bool = False

    tuning_name: ClassVar[str]
    left_out: ClassVar[str] = "the others are not used by any tree that helps"
    own_value: ClassVar[float | None] = None

    @property
    def tuning_value(self) -> float | str | None:
        """The option of that name: what the user fixed, None for the path."""
        fixed: float | str | None = getattr(self, self.tuning_name)
        return fixed

    @property
    def was_fitted(self) -> bool:
        """Trees are grown anew on the rows that are given."""
        return False

    @property
    def note(self) -> str | None:
        """Nothing."""
        return None

    @property
    def reads_columns(self) -> bool:
        """Binned columns are enough."""
        return False

    def path_of(
        self,
        try_at: Callable[[float], Step],
        fixed: Step | None,
        problem: Problem,
        weight: WeightArray,
        *,
        max_size: int,
        seed: int,
        every_size: bool,
        n_threads: int,
    ) -> tuple[Step, ...]:
        """The step at a fixed tuning value, or a path; after the backward pass if it was asked
        for.

        Parameters
        ----------
        try_at : callable
            See ``tracing.trace``.
        fixed : Step or None
            The step at the tuning value, if one was asked for.
        problem, weight, max_size, seed, every_size, n_threads
            As for ``base.SelectionMethod.path``.
        """
        if fixed is not None:
            return self.path_at(fixed, problem, weight, seed=seed)
        prune = functools.partial(prune_path, problem, weight, seed=seed, max_size=max_size)
        return trace(
            try_at,
            max_size,
            every_size=every_size,
            n_threads=n_threads,
            prune=prune if self.prune else None,
        )

    def path_at(
        self, fixed: Step, problem: Problem, weight: WeightArray, *, seed: int
    ) -> tuple[Step, ...]:
        """The step at a fixed tuning value, after the backward pass if it was asked for."""
        return (BackwardPass(problem, weight, seed).chain(fixed)[-1] if self.prune else fixed,)

    def path_along(
        self,
        steps: Sequence[Step],
        problem: Problem,
        weight: WeightArray,
        *,
        max_size: int,
        seed: int,
    ) -> tuple[Step, ...]:
        """Steps that are there already, after the backward pass if it was asked for; of each size
        one, up to `max_size`."""
        if self.prune:
            steps = prune_path(problem, weight, steps, seed=seed, max_size=max_size)
        return rising(steps, max_size)

    def longest(self, max_size: int, n_groups: int) -> int:
        """Size up to which steps are wanted: the backward pass begins with larger ones."""
        return min(2 * max_size + 2 if self.prune else max_size, n_groups)

    def options(self) -> dict[str, Any]:
        """All options by name."""
        return asdict(self)

    def final_model(
        self,
        problem: Problem,
        weight: WeightArray,
        step: Step,
        *,
        seed: int,
        n_threads: int = 1,
    ) -> ForestModel:
        """Forest of 200 trees on the selected units."""
        return refit_forest(problem, weight, step.selected, seed=seed, n_threads=n_threads)


@dataclass(frozen=True, kw_only=True)
class ReadsColumns(RefitsForest):
    """The same of methods that look at the columns themselves: bins are not enough."""

    @property
    def reads_columns(self) -> bool:
        """They must be there."""
        return True
