"""ControlBurn's options as objects, which stand for its keywords, and the ranges of both."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar

from treeselect.algorithms.options import (
    by,
    check_choice,
    check_flag,
    check_integer,
    check_number,
    check_options,
    choice,
    integer,
    number,
    owner_of,
)
from treeselect.arguments.checks import described
from treeselect.engine.forest.bag_boosting import BAG_BOOSTING, BAGGING, DOUBLE, SINGLE, SINGLE_MOST
from treeselect.errors import MethodError
from treeselect.models.forest import REFITTED_TREES

MAX_DEPTH = 16
"""Greatest depth of trees."""

ROWS, GAUSSIAN = "rows", "gaussian"
"""Kinds of sketches."""

FUNCTION = "a function"
"""How a function starts in a model file."""

MARGINS = "Margins aren't probabilities, so a refitted forest must predict."
PROVED = "Optimality can be proved only for all rows, or for a sample of rows."
TOO_WELL = "Without a penalty, its weights overfit the training rows."


def check_function(record: object, option: str, *, optional: bool = False) -> None:
    """Raise a MethodError unless an option is a function, or was one before it went through a
    file."""
    value = getattr(record, option)
    if value is None and optional:
        return
    was_one = isinstance(value, str) and value.startswith(FUNCTION)
    if not callable(value) and not was_one:
        raise MethodError(
            f"`{option}` of {owner_of(record)} must be a function of the weights"
            f"{', or None' if optional else ''}.\n  Found: {described(value)}."
        )


RANGES: dict[str, Callable[[object, str], None]] = {
    "lam": partial(check_number, above=0.0, optional=True),
    "forests": partial(check_integer, least=1, limit=1_000),
    "adaptive": check_flag,
    "tail": partial(check_integer, least=2, limit=10_000),
    "tolerance": partial(check_number, above=0.0),
    "min_trees": partial(check_integer, least=1, limit=10_000),
    "max_depth": partial(check_integer, least=1, most=MAX_DEPTH, optional=True),
    "loss": partial(check_choice, allowed=("family", "hinge")),
    "ridge": partial(check_number, least=0.0),
    "best_subset": check_flag,
    "time_limit": partial(check_number, above=0.0, limit=1e7),
    "sketch": partial(check_integer, least=2, optional=True),
    "sketch_kind": partial(check_choice, allowed=(ROWS, GAUSSIAN)),
    "max_features": partial(check_number, above=0.0, most=1.0),
    "tree_cost": partial(check_number, least=0.0),
    "refit": partial(check_choice, allowed=("forest", None)),
    "n_trees": partial(check_integer, least=1),
    "prune": check_flag,
    "refine": check_flag,
    "constraints": partial(check_function, optional=True),
}


"""Of each keyword, also where it is a field of an object by the same name."""


class Strategy:
    """A frozen record of options of ControlBurn that belong together.

    Options that can't be combined are fields of different strategies, so they can't be written
    together.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        for own in dataclasses.fields(self):  # type: ignore[arg-type]  # children are dataclasses
            if own.name in RANGES and not own.metadata and own.name != "sketch":
                RANGES[own.name](self, own.name)
        check_options(self)

    def __repr__(self) -> str:
        needed, changed = [], []
        for own in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, own.name)
            if own.default is dataclasses.MISSING:
                needed.append(_text(value))
            elif value is not own.default and value != own.default:
                changed.append(f"{own.name}={_text(value)}")
        return f"{type(self).__name__}({', '.join(needed + changed)})"

    def keywords(self) -> dict[str, Any]:
        """The keywords of ControlBurn that it stands for."""
        return {own.name: getattr(self, own.name) for own in dataclasses.fields(self)}  # type: ignore[arg-type]


def _text(value: Any) -> str:
    """A value as it would be typed; a function by its name."""
    if callable(value):
        name = getattr(value, "__name__", "")
        return name if name.isidentifier() else "function"
    return repr(value)


# --- where the trees come from -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Grown(Strategy):
    """Options shared by all forests that are grown on the given rows."""

    forests: int = 5
    tolerance: float = 1e-3
    max_depth: int | None = None
    tree_cost: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Forest(_Grown):
    """Forests of trees of increasing depth, whose trees ControlBurn pools.

    Parameters
    ----------
    kind : {"bag-boosting", "bagging", "double bag-boosting"}
        ``"bag-boosting"``: incremental depth bag-boosting (Algorithm 2 of the paper).
        ``"bagging"``: incremental depth bagging (Algorithm 1). ``"double bag-boosting"``: stages of
        bag-boosting at each depth until the out-of-bag loss no longer falls, as in the authors'
        software.
    forests, tail, tolerance, min_trees, max_depth, max_features, tree_cost
        As for :class:`ControlBurn`.

    Raises
    ------
    MethodError
        If an option is out of range.

    Examples
    --------
    >>> from treeselect import ControlBurn, Forest
    >>> ControlBurn(forest=Forest("bagging", forests=2)).forests
    2
    """

    kind: str = field(default=BAG_BOOSTING, metadata=choice(BAG_BOOSTING, BAGGING, DOUBLE))
    _: KW_ONLY
    tail: int = 5
    min_trees: int = 10
    max_features: float = 1.0

    def keywords(self) -> dict[str, Any]:
        said = Strategy.keywords(self)
        return said | {"forest": said.pop("kind")}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SingleFeature(_Grown):
    """Forests of trees of one term each, grown for one term after another: additive models.

    They resemble explainable boosting machines (section 3.2.4 of the paper) with trees of depth up
    to four; :meth:`SelectionResult.shape` shows the terms. Exact copies have their own trees, and
    all may be selected.

    Parameters
    ----------
    tolerance : float
        Least improvement for which a tree is kept, as a share of the difference in loss between the
        null model and a perfect fit.
    max_depth : int, optional
        Maximum depth, 1 to 4; 4 by default. Deeper trees of one term would follow single rows.
    forests, tree_cost
        As for :class:`ControlBurn`.

    Raises
    ------
    MethodError
        If an option is out of range.

    Examples
    --------
    >>> from treeselect import ControlBurn, SingleFeature
    >>> ControlBurn(forest=SingleFeature(max_depth=2))
    ControlBurn(max_depth=2, forest='single-feature')
    """

    max_depth: int | None = field(default=None, metadata=integer(least=1, most=SINGLE_MOST))

    def keywords(self) -> dict[str, Any]:
        return Strategy.keywords(self) | {"forest": SINGLE}


# --- how some of them are chosen -----------------------------------------------------------------


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

    rows: int = field(metadata=integer(least=2))
    kind: str = field(default=ROWS, metadata=choice(ROWS, GAUSSIAN))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Solver(Strategy):
    """Options shared by all solvers."""

    adaptive: bool = True
    sketch: Sketch | int | None = None
    refit_trees: int | None = field(
        default=REFITTED_TREES, metadata=integer(least=1, optional=True)
    )
    refine: bool = False

    not_mixed: ClassVar[str | None] = None  # why Gaussian sketches are refused
    must_refit: ClassVar[str | None] = None  # why a forest must be refitted

    def __post_init__(self) -> None:
        Strategy.__post_init__(self)
        if not isinstance(self.sketch, Sketch):
            RANGES["sketch"](self, "sketch")
            if self.sketch is not None:  # the number of its rows
                object.__setattr__(self, "sketch", Sketch(self.sketch))
        elif self.sketch.kind != ROWS and self.not_mixed is not None:
            raise MethodError(
                f"`sketch` of {type(self).__name__} must be a sample of the rows.\n"
                f"  Found: {self.sketch}. {self.not_mixed}"
            )
        if self.refit_trees is None and self.must_refit is not None:
            raise MethodError(
                f"`refit_trees` of {type(self).__name__} must be a whole number, at least 1.\n"
                f"  Found: None. {self.must_refit}"
            )

    def keywords(self) -> dict[str, Any]:
        said = Strategy.keywords(self)
        sketch, n_trees = said.pop("sketch"), said.pop("refit_trees")
        if sketch is not None:
            said |= {"sketch": sketch.rows, "sketch_kind": sketch.kind}
        return said | ({"refit": None} if n_trees is None else {"n_trees": n_trees})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Penalised(Solver):
    """Options shared by all solvers along a decreasing penalty."""

    lam: float | None = None
    prune: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Penalty(_Penalised):
    """The least loss with a penalty on the weights of the trees: the default of ControlBurn.

    Parameters
    ----------
    sketch : Sketch or int, optional
        Fewer rows; an integer is the size of a sample. If None: all rows.
    refit_trees : int, optional
        Trees of the final random forest, which is refitted to the selected terms. If None: the
        sparse forest itself is the final model.
    lam, adaptive, ridge, prune, refine
        As for :class:`ControlBurn`.

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

    function: Callable[..., Any] | str = field(metadata=by(check_function))
    _: KW_ONLY
    ridge: float = 0.0

    not_mixed: ClassVar[str | None] = 'Use `kind="rows"`.'

    def keywords(self) -> dict[str, Any]:
        said = Solver.keywords(self)
        return said | {"constraints": said.pop("function")}


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

    constraints: Callable[..., Any] | str | None = field(default=None, metadata=by(check_function))

    not_mixed: ClassVar[str | None] = (
        'A Gaussian sketch needs the squared error: use `kind="rows"`.'
    )
    must_refit: ClassVar[str | None] = MARGINS

    def keywords(self) -> dict[str, Any]:
        return Solver.keywords(self) | {"loss": "hinge"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BestSubset(Solver):
    """For each size, the set of terms whose trees have the least loss, by a mixed-integer program.

    The search starts from the sets of the penalty path. It takes no costs.

    Parameters
    ----------
    time_limit : float
        As for :class:`ControlBurn`.
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
    ridge: float | None = field(default=None, metadata=number(above=0.0))

    not_mixed: ClassVar[str | None] = PROVED
    must_refit: ClassVar[str | None] = TOO_WELL

    def keywords(self) -> dict[str, Any]:
        return Solver.keywords(self) | {"best_subset": True, "ridge": self.ridge or 0.0}
