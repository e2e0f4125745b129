"""Methods that revise their sets at the end: by a backward pass, by exchanges, or by cuts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treeselect.algorithms.shared.base import Step
from treeselect.algorithms.shared.cutting import with_cuts
from treeselect.algorithms.shared.method import Method
from treeselect.algorithms.shared.options import check_flag
from treeselect.algorithms.shared.pruning import BackwardPass, prune_path
from treeselect.algorithms.shared.refining import NO_FURTHER, Refinement
from treeselect.algorithms.shared.task import Task
from treeselect.algorithms.shared.tracing import rising, trace


@dataclass(frozen=True, kw_only=True)
class PrunedMethod(Method):
    """A method with a backward pass that drops redundant units."""

    prune: bool = False

    def __post_init__(self) -> None:
        check_flag(self, "prune")

    def path_of(
        self,
        try_at: Callable[[float], Step],
        fixed: Step | None,
        task: Task,
    ) -> tuple[Step, ...]:
        """The step at a fixed tuning parameter, or a path, after the final revision.

        Parameters
        ----------
        try_at : callable
            See ``tracing.trace``.
        fixed : Step or None
            The step at the tuning parameter, if that is fixed.
        task : Task
        """
        if fixed is not None:
            return self.path_at(fixed, task)
        return trace(try_at, task, functools.partial(self._ended, task))

    def path_at(self, fixed: Step, task: Task) -> tuple[Step, ...]:
        """The step at a fixed tuning parameter, after the final revision."""
        return (self._ended_at(task, fixed),)

    def path_along(self, steps: Sequence[Step], task: Task) -> tuple[Step, ...]:
        """Given steps, after the final revision: one of each size, up to the largest that is
        wanted."""
        return rising(self._ended(task, steps), task.max_size)

    @property
    def begins_above(self) -> bool:
        """Whether the final revision starts from sets larger than wanted."""
        return self.prune

    def longest(self, task: Task) -> int:
        """Size up to which steps are needed."""
        most = 2 * task.max_size + 2 if self.begins_above else task.max_size
        return min(most, len(task.problem.groups.names))

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps of a path after the final revision."""
        return prune_path(task, steps) if self.prune else steps

    def _ended_at(self, task: Task, fixed: Step) -> Step:
        return BackwardPass(task).chain(fixed)[-1] if self.prune else fixed


@dataclass(frozen=True, kw_only=True)
class RefinedMethod(PrunedMethod):
    """A method whose sets can be refined by exchanges, which include the backward pass."""

    refine: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(self, "refine")

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether training scores are out of bag, as they are for refined sets."""
        return self.scores_out_of_bag or self.refine

    @property
    def why_left_out(self) -> str:
        """Why terms never enter the path, as a clause."""
        return self.left_out + (NO_FURTHER if self.refine else "")

    @property
    def begins_above(self) -> bool:
        """Whether the final revision starts from sets larger than wanted."""
        return self.prune or self.refine

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        return Refinement(task).path(steps) if self.refine else super()._ended(task, steps)

    def _ended_at(self, task: Task, fixed: Step) -> Step:
        return Refinement(task).at(fixed) if self.refine else super()._ended_at(task, fixed)


@dataclass(frozen=True, kw_only=True)
class DrawnMethod(RefinedMethod):
    """A method whose first units are the best of a few drawn at random.

    Small sets of its path give way to larger ones, cut to their size (``cutting.with_cuts``).
    """

    def _ended(self, task: Task, steps: Sequence[Step]) -> Sequence[Step]:
        return super()._ended(task, with_cuts(task, steps))
