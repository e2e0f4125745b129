"""The best subset of each size, in place of a penalty path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from treeselect.algorithms.burning.ranges import PROVED, TOO_WELL, check_ranges
from treeselect.algorithms.burning.solver import Solver
from treeselect.algorithms.controlburn.trees import TreePool
from treeselect.algorithms.options import check_number
from treeselect.algorithms.task import Step, Task
from treeselect.designs.problem import Problem
from treeselect.engine.row_losses import explicable
from treeselect.errors import MethodError

_SUBSET_RIDGE = 0.01
"""Ridge of best subsets, where none is given, as a share of the constant model's loss. With it
the gap closes in seconds; with a tenth of it, minutes on 20 columns (see ``best_subset``)."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BestSubset(Solver):
    """For each size, the set of terms whose trees have the least loss, by a mixed-integer program.

    The search starts from the sets of the penalty path. It takes no costs.

    Parameters
    ----------
    time_limit : float
        Seconds that the search for one size may take, above 0. Then the best subset so far is used,
        and the summary gives its optimality gap.
    ridge : float, optional
        Ridge penalty on the weights of the trees, above 0. If None: a hundredth of the null model's
        loss.
    adaptive : bool
        Whether the penalty path from which the search starts is solved twice.
    sketch : Sketch or int, optional
        A sample of the rows. If None: all rows.
    refit_trees : int
        Trees of the final random forest, at least 1.
    refine : bool
        Whether each subset is refined by exchanges, which compare out-of-bag errors of forests.

    Raises
    ------
    MethodError
        If an option is out of range.

    Examples
    --------
    >>> from treeselect import BestSubset, ControlBurn
    >>> ControlBurn(solver=BestSubset(time_limit=10)).best_subset
    True
    """

    time_limit: float = 60.0
    ridge: float | None = None

    not_mixed: ClassVar[str | None] = PROVED
    must_refit: ClassVar[str | None] = TOO_WELL

    def __post_init__(self) -> None:
        Solver.__post_init__(self)
        check_ranges(self, "time_limit")
        check_number(self, "ridge", above=0.0, optional=True)

    def check(self, problem: Problem) -> None:
        """Raise a MethodError if there are costs."""
        if (problem.groups.item_costs != 1).any():
            raise MethodError(
                "`best_subset` of ControlBurn can't take `costs` into account.\n"
                "  Leave out one of them."
            )

    def steps(self, task: Task, pool: TreePool) -> tuple[Step, ...]:
        """The best subset of each size, or of one."""
        least, most = max(1, int(task.problem.groups.keep.sum()) + 1), task.max_size
        sizes = range(least if task.every_size else max(least, most), most + 1)
        return self.sparsifier(task, pool).best_subsets(sizes, self.time_limit)

    def _ridge_on(self, task: Task) -> float:
        if self.ridge is not None:
            return self.ridge
        problem, weight = task.problem, task.weight
        base = problem.constant(weight)
        return _SUBSET_RIDGE * explicable(problem.rows(weight), base, weight)

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        own = {"best_subset": True, "time_limit": self.time_limit, "ridge": self.ridge or 0.0}
        return Solver.keywords(self) | own
