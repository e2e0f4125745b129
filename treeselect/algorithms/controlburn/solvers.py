"""How ControlBurn chooses among the trees: on which rows, with which loss and final model."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from treeselect.algorithms.controlburn.ranges import (
    FUNCTION,
    GAUSSIAN,
    MARGINS,
    PROVED,
    ROWS,
    TOO_WELL,
    Strategy,
    check_function,
    check_ranges,
)
from treeselect.algorithms.controlburn.solve import Sparsifier, SparsityRules
from treeselect.algorithms.controlburn.trees import TreePool
from treeselect.algorithms.forests.scoring import held_shares
from treeselect.algorithms.options import check_choice, check_integer, check_number
from treeselect.algorithms.search.revision import BackwardPass, Refinement, prune_path
from treeselect.algorithms.task import Step, Task
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import IntArray, WeightArray
from treeselect.engine.losses import HingeLoss, Loss
from treeselect.engine.random import stream_seed
from treeselect.engine.row_losses import explicable
from treeselect.errors import MethodError
from treeselect.models.forest import REFITTED_TREES


@dataclass(frozen=True, slots=True, repr=False)
class Sketch(Strategy):
    """A sketch: fewer rows on which ControlBurn solves the sparse-forest problem (section 3.3.3).

    Parameters
    ----------
    rows : int
        Number of rows, 2 to 1,000,000.
    kind : {"rows", "gaussian"}
        ``"rows"``: a sample of the rows. ``"gaussian"``: Gaussian combinations of the rows, for the
        squared error only, with :class:`Penalty` (problem 3 of the paper).

    Raises
    ------
    MethodError
        If an option is out of range.

    Examples
    --------
    >>> from treeselect import ControlBurn, Penalty, Sketch
    >>> ControlBurn(solver=Penalty(sketch=Sketch(1000, kind="gaussian"))).sketch_kind
    'gaussian'
    """

    rows: int
    kind: str = ROWS

    def __post_init__(self) -> None:
        check_integer(self, "rows", least=2)
        check_choice(self, "kind", (ROWS, GAUSSIAN))

    def sample(self, weight: WeightArray, seed: int) -> IntArray:
        """The rows with positive weight, or a sample of them."""
        rows = np.flatnonzero(weight)
        if self.kind != ROWS or self.rows >= len(rows):
            return rows
        rng = np.random.default_rng(stream_seed(seed, "sketch"))
        return np.sort(rng.choice(rows, self.rows, replace=False))

    def mixed(self, seed: int) -> tuple[int, int] | None:
        """Number and seed of the Gaussian combinations of rows, or None."""
        return None if self.kind == ROWS else (self.rows, stream_seed(seed, "sketch"))


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
