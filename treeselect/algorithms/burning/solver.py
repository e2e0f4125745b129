"""How ControlBurn chooses among the trees: rows, loss, and final model.

Each solver is a strategy (``penalties``, ``subsets``) with only the options that suit it.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeselect.algorithms.burning.ranges import FUNCTION, ROWS, check_ranges
from treeselect.algorithms.burning.sketch import Sketch
from treeselect.algorithms.burning.strategies import Strategy
from treeselect.algorithms.controlburn.solve import Sparsifier, SparsityRules
from treeselect.algorithms.controlburn.trees import TreePool
from treeselect.algorithms.forests.scoring import held_shares
from treeselect.algorithms.options import check_integer
from treeselect.algorithms.search.revision import Refinement
from treeselect.algorithms.task import Step, Task
from treeselect.designs.problem import Problem
from treeselect.engine.losses import Loss
from treeselect.errors import MethodError
from treeselect.models.forest import REFITTED_TREES


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Solver(Strategy, abc.ABC):
    """Options shared by all solvers."""

    adaptive: bool = True
    sketch: Sketch | int | None = None
    refit_trees: int | None = REFITTED_TREES
    refine: bool = False

    not_mixed: ClassVar[str | None] = None  # why Gaussian sketches are refused
    must_refit: ClassVar[str | None] = None  # why a forest must be refitted

    def __post_init__(self) -> None:
        check_ranges(self, "adaptive", "refine")
        self._check_sketch()
        if self.refit_trees is None and self.must_refit is not None:
            raise MethodError(
                f"`refit_trees` of {type(self).__name__} must be a whole number, at least 1.\n"
                f"  Found: None. {self.must_refit}"
            )
        check_integer(self, "refit_trees", least=1, optional=True)

    def _check_sketch(self) -> None:
        if not isinstance(self.sketch, Sketch):
            check_ranges(self, "sketch")
            if self.sketch is not None:  # the number of its rows
                object.__setattr__(self, "sketch", Sketch(self.sketch))
        elif self.sketch.kind != ROWS and self.not_mixed is not None:
            raise MethodError(
                f"`sketch` of {type(self).__name__} must be a sample of the rows.\n"
                f"  Found: {self.sketch}. {self.not_mixed}"
            )

    # --- for ControlBurn ---

    @property
    def tuning_value(self) -> float | None:
        """The fixed penalty, None for the whole path."""
        return None

    def check(self, problem: Problem) -> None:
        """Raise a MethodError if the response, costs or offset do not suit it."""

    @abc.abstractmethod
    def steps(self, task: Task, pool: TreePool) -> tuple[Step, ...]:
        """The path of selections through some trees (see ``Method.path``)."""

    def ended(self, task: Task, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """The path after refinement."""
        if not self.refine:
            return steps
        refinement = Refinement(task)
        if self.tuning_value is None:
            return refinement.path(steps)
        return (refinement.at(steps[-1]),)

    def sparsifier(self, task: Task, pool: TreePool) -> Sparsifier:
        """The sparse-forest problem of some trees."""
        own = self.sketch
        assert own is None or isinstance(own, Sketch)
        rules = SparsityRules(
            rows=np.flatnonzero(task.weight) if own is None else own.sample(task.weight, task.seed),
            held=held_shares(task) if self.adaptive else None,
            ridge=self._ridge_on(task),
            mixed=None if own is None else own.mixed(task.seed),
            loss=self._loss,
            constrain=self._constrain,
        )
        return Sparsifier(task.problem, task.weight, pool, rules)

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        own = self.sketch
        assert own is None or isinstance(own, Sketch)
        said: dict[str, Any] = {"adaptive": self.adaptive, "refine": self.refine}
        if own is not None:
            said |= {"sketch": own.rows, "sketch_kind": own.kind}
        if self.refit_trees is None:
            return said | {"refit": None}
        return said | {"n_trees": self.refit_trees}

    def words(self) -> dict[str, Any]:
        """The same for people and files."""
        said = self.keywords()
        if said.get("constraints") is not None:
            said["constraints"] = f"{FUNCTION} of the weights"
        return said

    # --- overridden by subclasses ---

    def _ridge_on(self, task: Task) -> float:
        """The ridge penalty, at least 0."""
        return 0.0

    @property
    def _loss(self) -> Loss | None:
        """The loss, if it differs from the family's."""
        return None

    @property
    def _constrain(self) -> Callable[..., Any] | None:
        """The constraints on the weights."""
        return None
