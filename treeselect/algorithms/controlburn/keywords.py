"""ControlBurn's options as keywords: shorthand for its strategies.

They can say what the strategies can't, such as a best subset by its penalty, and refuse it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from inspect import Parameter, Signature
from typing import Any, ClassVar

from treeselect.algorithms.controlburn.ranges import (
    MARGINS,
    PROVED,
    ROWS,
    TOO_WELL,
    check_function,
    check_ranges,
)
from treeselect.algorithms.controlburn.solvers import (
    BestSubset,
    Constraints,
    Hinge,
    Penalty,
    Sketch,
    Solver,
)
from treeselect.algorithms.controlburn.trees import (
    GROWING,
    FittedForest,
    Forest,
    GrownForest,
    SingleFeature,
    fitted_text,
    is_fitted,
)
from treeselect.arguments.checks import described
from treeselect.engine.ensembles.bag_boosting import BAG_BOOSTING, SCHEMES, SINGLE
from treeselect.errors import MethodError
from treeselect.models.forest import REFITTED_TREES

_APART = (
    ("best_subset", "lam", "One fixes the number of terms; the other penalises it."),
    ("best_subset", "prune", "A best subset is the best of its size without a backward pass."),
    ("best_subset", "constraints", "The search doesn't support constraints."),
    ("best_subset", "loss", "It needs a ridge penalty, which the hinge loss doesn't allow."),
    ("best_subset", "sketch_kind", PROVED),
    ("best_subset", "refit", TOO_WELL),
    ("loss", "ridge", "With a ridge penalty, the hinge loss is no longer a linear program."),
    ("loss", "refit", MARGINS),
    ("loss", "sketch_kind", 'A Gaussian sketch needs the squared error. Use `"rows"`.'),
    ("constraints", "sketch_kind", 'Use `sketch_kind="rows"`.'),
    ("refit", "n_trees", "`n_trees` sets the size of the refitted forest."),
)
"""Pairs of keywords that can't be combined, and why: fields of different strategies."""


@dataclass(frozen=True, slots=True)
class Keywords:
    """All options of :class:`ControlBurn`, checked.

    Raises
    ------
    MethodError
        If one is not in its range, or two do not go together.
    """

    lam: float | None = None
    forests: int = 5
    adaptive: bool = True
    tail: int = 5
    tolerance: float = 1e-3
    min_trees: int = 10
    max_depth: int | None = None
    forest: Any = BAG_BOOSTING
    loss: str = "family"
    ridge: float = 0.0
    constraints: Any = None
    best_subset: bool = False
    time_limit: float = 60.0
    sketch: int | None = None
    sketch_kind: str = ROWS
    max_features: float = 1.0
    tree_cost: float = 0.0
    refit: str | None = "forest"
    n_trees: int = REFITTED_TREES
    prune: bool = False
    refine: bool = False

    owner: ClassVar[str] = "ControlBurn"

    def __post_init__(self) -> None:
        check_ranges(self)
        self._check_forest()
        if self.constraints is not None:
            check_function(self, "constraints")
        default = {field.name: field.default for field in fields(self)}
        changed = {name for name, value in default.items() if getattr(self, name) != value}
        self._check_idle(changed)
        self._check_apart(changed)

    def grown(self) -> Forest | SingleFeature | FittedForest:
        """The strategy that the trees come from."""
        if is_fitted(self.forest):
            return FittedForest(self.forest)
        if self.forest == SINGLE:
            return SingleFeature(**self._of(SingleFeature))
        return Forest(self.forest, **self._of(Forest))

    def solver(self) -> Solver:
        """The strategy that chooses among them."""
        sketch = None if self.sketch is None else Sketch(self.sketch, self.sketch_kind)
        shared = {"sketch": sketch, "refit_trees": self.n_trees if self.refit else None}
        if self.best_subset:
            return BestSubset(**self._of(BestSubset) | shared | {"ridge": self.ridge or None})
        if self.loss == "hinge":
            return Hinge(**self._of(Hinge) | shared)
        if self.constraints is not None:
            return Constraints(self.constraints, **self._of(Constraints) | shared)
        return Penalty(**self._of(Penalty) | shared)

    def _of(self, kind: type[Any]) -> dict[str, Any]:
        """The keywords that a strategy has by the same name."""
        names = {field.name for field in fields(self)} & {field.name for field in fields(kind)}
        return {name: getattr(self, name) for name in names}

    def _check_forest(self) -> None:
        """Raise a MethodError unless it is a kind of forest or a fitted model."""
        known = isinstance(self.forest, str) and self.forest in SCHEMES
        if not known and not is_fitted(self.forest):
            words = ", ".join(repr(scheme) for scheme in SCHEMES)
            raise MethodError(
                f"`forest` of ControlBurn must be one of {words}, or a fitted forest from"
                f" scikit-learn or LightGBM.\n  Found: {described(self.forest)}."
            )

    def _check_apart(self, changed: set[str]) -> None:
        """Raise a MethodError for two keywords of different strategies."""
        for first, second, why in _APART:
            if {first, second} <= changed:
                raise MethodError(
                    f"ControlBurn can't have `{first}={getattr(self, first)!r}` and"
                    f" `{second}={getattr(self, second)!r}` together.\n  {why}"
                )

    def _check_idle(self, changed: set[str]) -> None:
        """Raise a MethodError for a keyword that the others make void."""
        growing = [name for name in GROWING if name in changed]
        if is_fitted(self.forest) and growing:
            raise MethodError(
                f"`{growing[0]}` controls how ControlBurn grows a forest, but `forest` is already"
                f" fitted.\n  Found: `{growing[0]}={getattr(self, growing[0])!r}` with"
                f" {fitted_text(self.forest)}. Leave out one of them."
            )
        idle = changed & {"tail", "min_trees", "max_features"}
        if idle and self.forest == SINGLE:
            option = min(idle)
            raise MethodError(
                f"`{option}={getattr(self, option)!r}` of ControlBurn has no effect with"
                f' `forest="{SINGLE}"`, which grows trees of one term each.\n'
                "  Leave out one of them."
            )
        if "sketch_kind" in changed and self.sketch is None:
            raise MethodError(
                f"`sketch_kind={self.sketch_kind!r}` of ControlBurn needs a `sketch`.\n"
                "  Found: None. Give the number of its rows, for example `sketch=1000`."
            )
        if "time_limit" in changed and not self.best_subset:
            raise MethodError(
                f"`time_limit={self.time_limit:g}` of ControlBurn has an effect only with"
                " `best_subset=True`.\n  Leave it out, or set `best_subset=True`."
            )


DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Keywords)}
"""All keywords, in their order."""

SIGNATURE = Signature(
    [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in {**DEFAULTS, "solver": Penalty()}.items()
    ]
)
"""Signature of ControlBurn in help."""


def strategies(
    forest: GrownForest | FittedForest, solver: Solver, given: dict[str, Any]
) -> tuple[GrownForest | FittedForest, Solver]:
    """Strategies with some of their options replaced by keywords.

    Raises
    ------
    MethodError
        If a keyword is not in its range, or does not go with the others.
    """
    if not given:
        return forest, solver
    said = Keywords(**DEFAULTS | forest.keywords() | solver.keywords() | given)
    return said.grown(), said.solver()
