"""Methods that work on their sets once more at the end: the backward pass, and exchanges."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treeselect.algorithms.shared.base import Step
from treeselect.algorithms.shared.method import Method
from treeselect.algorithms.shared.options import check_flag
from treeselect.algorithms.shared.pruning import BackwardPass, prune_path
from treeselect.algorithms.shared.refining import NO_FURTHER, Refinement
from treeselect.algorithms.shared.task import Task
from treeselect.algorithms.shared.tracing import rising, trace


@dataclass(frozen=True, kw_only=True)
class PrunedMethod(Method):
    """A method that can drop again what is not missed."""

    prune: bool = False

    def __post_init__(self) -> None:
        check_flag(self, "prune")

    def path_of(
        self,
        try_at: Callable[[float], Step],
        fixed: Step | None,
        task: Task,
    ) -> tuple[Step, ...]:
        """The step at a fixed tuning value, or a path; after the last step that was asked for.

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
        return trace(try_at, task, functools.partial(self._ended, task))

    def path_at(self, fixed: Step, task: Task) -> tuple[Step, ...]:
        """The step at a fixed tuning value, after the last step that was asked for."""
        return (self._ended_at(task, fixed),)

    def path_along(self, steps: Sequence[Step], task: Task) -> tuple[Step, ...]:
        """Steps that are there already, after the last step that was asked for; of each size one,
        up to the largest that is wanted."""
        return rising(self._ended(task, steps), task.max_size)

    @property
    def begins_above(self) -> bool:
        """Whether the last step begins with sets that are larger than what is wanted."""
        return self.prune

    def longest(self, task: Task) -> int:
        """Size up to which steps are needed."""
        most = 2 * task.max_size + 2 if self.begins_above else task.max_size
        return min(most, len(task.problem.groups.names))

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps of a path after the last step that was asked for."""
        return prune_path(task, steps) if self.prune else steps

    def _ended_at(self, task: Task, fixed: Step) -> Step:
        return BackwardPass(task).chain(fixed)[-1] if self.prune else fixed


@dataclass(frozen=True, kw_only=True)
class RefinedMethod(PrunedMethod):
    """A method whose sets can be refined at the end: by exchanges, which contain the backward
    pass."""

    refine: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(self, "refine")

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether the training scores are out of bag: those of refined sets are."""
        return self.scores_out_of_bag or self.refine

    @property
    def why_left_out(self) -> str:
        """Why units never enter the path: half a sentence."""
        return self.left_out + (NO_FURTHER if self.refine else "")

    @property
    def begins_above(self) -> bool:
        """Whether the last step begins with sets that are larger than what is wanted."""
        return self.prune or self.refine

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        return Refinement(task).path(steps) if self.refine else super()._ended(task, steps)

    def _ended_at(self, task: Task, fixed: Step) -> Step:
        return Refinement(task).at(fixed) if self.refine else super()._ended_at(task, fixed)
