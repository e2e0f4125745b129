"""The model that predicts from what a method has selected."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from treeselect.algorithms.shared.base import Step
from treeselect.algorithms.shared.pruning import BackwardPass, prune_path
from treeselect.algorithms.shared.task import Task
from treeselect.algorithms.shared.tracing import rising, trace
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
        task: Task,
    ) -> tuple[Step, ...]:
        """The step at a fixed tuning value, or a path; after the backward pass if it was asked
        for.

        Parameters
        ----------
        try_at : callable
            See ``tracing.trace``.
        fixed : Step or None
            The step at the tuning value, if one was asked for.
        task : Task
        """
        if fixed is not None:
            return self.path_at(fixed, task)
        prune = functools.partial(prune_path, task) if self.prune else None
        return trace(try_at, task, prune)

    def path_at(self, fixed: Step, task: Task) -> tuple[Step, ...]:
        """The step at a fixed tuning value, after the backward pass if it was asked for."""
        return (BackwardPass(task).chain(fixed)[-1] if self.prune else fixed,)

    def path_along(self, steps: Sequence[Step], task: Task) -> tuple[Step, ...]:
        """Steps that are there already, after the backward pass if it was asked for; of each size
        one, up to the largest that is wanted."""
        if self.prune:
            steps = prune_path(task, steps)
        return rising(steps, task.max_size)

    def longest(self, task: Task) -> int:
        """Size up to which steps are needed: the backward pass begins with larger ones."""
        most = 2 * task.max_size + 2 if self.prune else task.max_size
        return min(most, len(task.problem.groups.names))

    def options(self) -> dict[str, Any]:
        """All options by name."""
        return asdict(self)

    def final_model(self, task: Task, step: Step) -> ForestModel:
        """Forest of 200 trees on the selected units."""
        return refit_forest(
            task.problem, task.weight, step.selected, seed=task.seed, n_threads=task.n_threads
        )


@dataclass(frozen=True, kw_only=True)
class ReadsColumns(RefitsForest):
    """The same of methods that look at the columns themselves: bins are not enough."""

    @property
    def reads_columns(self) -> bool:
        """They must be there."""
        return True
