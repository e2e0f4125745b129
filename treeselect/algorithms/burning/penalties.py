"""Solvers that choose trees along a decreasing penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from treeselect.algorithms.burning.ranges import MARGINS, ROWS, check_function, check_ranges
from treeselect.algorithms.burning.sketch import Sketch
from treeselect.algorithms.burning.solver import Solver
from treeselect.algorithms.controlburn.trees import TreePool
from treeselect.algorithms.search.revision import BackwardPass, prune_path
from treeselect.algorithms.task import Step, Task
from treeselect.designs.problem import Problem
from treeselect.engine.losses import HingeLoss, Loss
from treeselect.errors import MethodError


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Penalised(Solver):
    """Options and behaviour shared by all solvers along a decreasing penalty."""

    lam: float | None = None
    prune: bool = False

    def __post_init__(self) -> None:
        Solver.__post_init__(self)
        check_ranges(self, "lam", "prune")

    @property
    def tuning_value(self) -> float | None:
        """The fixed penalty, or None for the whole path."""
        return self.lam

    def check(self, problem: Problem) -> None:
        """Raise a MethodError if the constraints were lost in a model file."""
        if isinstance(self._constrain, str):
            raise MethodError(
                "The constraints of this ControlBurn are a function, and model files don't store"
                " functions.\n  Pass it again: `ControlBurn(constraints=...)`."
            )

    def steps(self, task: Task, pool: TreePool) -> tuple[Step, ...]:
        """The path up to a size, or to the fixed penalty."""
        return self.sparsifier(task, pool).path(task.max_size, self.lam)

    def ended(self, task: Task, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """The path after pruning or refinement; exchanges include the backward pass."""
        if self.refine or not self.prune:
            return Solver.ended(self, task, steps)
        if self.lam is None:
            return prune_path(task, steps)
        last = BackwardPass(task).chain(steps[-1])[-1]
        return (*(step for step in steps[:-1] if step.size < last.size), last)

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        return Solver.keywords(self) | {"lam": self.lam, "prune": self.prune}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Penalty(_Penalised):
    """The least loss with a penalty on the weights of the trees: the default of ControlBurn.

    Parameters
    ----------
    lam : float, optional
        Penalty, above 0. If None, `k` decides.
    adaptive : bool
        Whether the problem is solved twice, the second time with costs by the importances of the
        first solution, as far as these hold out of bag.
    ridge : float
        Ridge penalty on the weights of the trees, at least 0.
    sketch : Sketch or int, optional
        Fewer rows; an integer is the size of a sample. If None: all rows.
    refit_trees : int, optional
        Trees of the final random forest, which is refitted to the selected terms. If None: the
        sparse forest itself is the final model.
    prune : bool
        Whether a backward pass drops redundant terms from each selection.
    refine : bool
        Whether each selection is refined by exchanges.

    Raises
    ------
    MethodError
        If an option is out of range.

    Examples
    --------
    >>> from treeselect import ControlBurn, Penalty
    >>> ControlBurn(solver=Penalty(ridge=0.1)) == ControlBurn(ridge=0.1)
    True
    """

    ridge: float = 0.0

    def __post_init__(self) -> None:
        _Penalised.__post_init__(self)
        check_ranges(self, "ridge")

    def check(self, problem: Problem) -> None:
        """Raise a MethodError if a Gaussian sketch is used without the squared error."""
        family = problem.family
        is_mixed = isinstance(self.sketch, Sketch) and self.sketch.kind != ROWS
        if is_mixed and not family.loss.is_squared:
            raise MethodError(
                '`sketch_kind="gaussian"` needs the squared error, that is, a numeric response.\n'
                f'  Found: {family.name}. Use `sketch_kind="rows"`.'
            )

    def _ridge_on(self, task: Task) -> float:
        return self.ridge

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        return _Penalised.keywords(self) | {"ridge": self.ridge}


@dataclass(frozen=True, slots=True, repr=False)
class Constraints(_Penalised):
    """A penalty with user-defined constraints on the weights of the trees, through cvxpy.

    An interior-point method solves the problem, slower by orders of magnitude: use
    ``Forest(forests=1)`` or a `sketch`.

    Parameters
    ----------
    function : callable
        From ``weights`` to a sequence of cvxpy constraints. ``weights["age"]`` is the sum of the
        weights of the trees that use the term `age`, and ``weights.trees`` is the vector of all
        weights.
    sketch : Sketch or int, optional
        A sample of the rows. If None: all rows.
    lam, adaptive, ridge, refit_trees, prune, refine
        As for :class:`Penalty`.

    Raises
    ------
    MethodError
        If an option is out of range.

    Examples
    --------
    >>> from treeselect import Constraints, ControlBurn
    >>> cheap = Constraints(lambda weights: [weights["mri"] <= 0.5 * weights["age"]])
    >>> ControlBurn(solver=cheap).adaptive
    True
    """

    function: Callable[..., Any] | str
    _: KW_ONLY
    ridge: float = 0.0

    not_mixed: ClassVar[str | None] = 'Use `kind="rows"`.'

    def __post_init__(self) -> None:
        _Penalised.__post_init__(self)
        check_ranges(self, "ridge")
        check_function(self, "function")

    def _ridge_on(self, task: Task) -> float:
        return self.ridge

    @property
    def _constrain(self) -> Any:
        return self.function

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        return _Penalised.keywords(self) | {"ridge": self.ridge, "constraints": self.function}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hinge(_Penalised):
    """The least hinge loss of two classes with a penalty on the weights of the trees.

    It is a linear program, fast for up to some thousands of rows; with more, use `sketch`. Its
    margins are not probabilities, so that the final model is a refitted forest.

    Parameters
    ----------
    sketch : Sketch or int, optional
        A sample of the rows. If None: all rows.
    refit_trees : int
        Trees of the final random forest, at least 1.
    constraints : callable, optional
        Constraints on the weights, as for :class:`Constraints`.
    lam, adaptive, prune, refine
        As for :class:`Penalty`.

    Raises
    ------
    MethodError
        If an option is out of range.

    Examples
    --------
    >>> from treeselect import ControlBurn, Hinge
    >>> ControlBurn(solver=Hinge(sketch=2000)).loss
    'hinge'
    """

    constraints: Callable[..., Any] | str | None = None

    not_mixed: ClassVar[str | None] = (
        'A Gaussian sketch needs the squared error: use `kind="rows"`.'
    )
    must_refit: ClassVar[str | None] = MARGINS

    def __post_init__(self) -> None:
        _Penalised.__post_init__(self)
        if self.constraints is not None:
            check_function(self, "constraints")

    def check(self, problem: Problem) -> None:
        """Raise a MethodError unless there are two classes and no offset."""
        family = problem.family
        if family.n_classes != 2:
            raise MethodError(
                '`loss="hinge"` of ControlBurn needs a binary response.\n'
                f"  Found: {family.name}. Leave `loss` out."
            )
        if problem.offset is not None:
            raise MethodError(
                '`loss="hinge"` of ControlBurn can\'t be combined with an `offset`, which is on the'
                " log-odds scale.\n  Leave out one of them."
            )
        _Penalised.check(self, problem)

    @property
    def _loss(self) -> Loss:
        return HingeLoss()

    @property
    def _constrain(self) -> Any:
        return self.constraints

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        own = {"loss": "hinge", "constraints": self.constraints}
        return _Penalised.keywords(self) | own
