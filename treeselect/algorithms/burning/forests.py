"""Sources of trees for ControlBurn: forests that it grows, or a fitted model."""

from __future__ import annotations

import abc
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from treeselect.algorithms.burning.ranges import KINDS, MAX_DEPTH, check_ranges
from treeselect.algorithms.burning.strategies import Strategy
from treeselect.algorithms.controlburn.solve import FIRST_PATH
from treeselect.algorithms.controlburn.trees import TreePool, check_kind, grown_pool, imported_pool
from treeselect.algorithms.options import check_choice, check_integer
from treeselect.algorithms.task import Task
from treeselect.arguments.checks import answer
from treeselect.engine.ensembles.bag_boosting import (
    BAG_BOOSTING,
    SINGLE,
    SINGLE_MOST,
    BagBoosting,
)
from treeselect.engine.splitting.candidates import n_able
from treeselect.errors import MethodError

_MAX_TREES_PER_DEPTH = 200
_TAIL, _MIN_TREES = 5, 10

GROWING = (
    "forests", "tail", "tolerance", "min_trees", "max_depth", "max_features", "tree_cost",
)  # fmt: skip
"""Keywords for growing a forest."""

_FITTED = "a fitted "
"""How a fitted model starts in a model file, before its type."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GrownForest(Strategy, abc.ABC):
    """Options shared by all forests that are grown on the given rows."""

    forests: int = 5
    tolerance: float = 1e-3
    max_depth: int | None = None
    tree_cost: float = 0.0

    was_fitted: ClassVar[bool] = False
    idle: ClassVar[tuple[str, ...]] = ()
    note: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        check_ranges(self, "forests", "tolerance", "max_depth", "tree_cost")

    def pool(self, task: Task) -> tuple[TreePool, str | None]:
        """The trees to choose from, and a warning if they did not converge.

        Depth stops increasing once most trees use more terms than could be selected.
        """
        rules = self._rules(n_able(task.problem.data, task.weight), task.max_size)
        pool, converged = grown_pool(task, rules, forests=self.forests, tree_cost=self.tree_cost)
        return pool, None if converged else self._unconverged()

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        return {
            "forests": self.forests,
            "tolerance": self.tolerance,
            "max_depth": self.max_depth,
            "tree_cost": self.tree_cost,
        }

    def words(self) -> dict[str, Any]:
        """The same for people and files."""
        return self.keywords()

    @abc.abstractmethod
    def _rules(self, n_units: int, max_size: int) -> BagBoosting:
        """How the engine grows one."""

    def _bag_boosting(self, max_size: int) -> BagBoosting:
        """The part of these rules that all have in common."""
        return BagBoosting(
            tail=_TAIL,
            tolerance=self.tolerance,
            min_trees=_MIN_TREES,
            max_trees=_MAX_TREES_PER_DEPTH,
            max_depth=self.max_depth or MAX_DEPTH,
            min_weight=1,
            n_candidates=1,
            most_groups=max(max_size, FIRST_PATH),
        )

    def _unconverged(self) -> str:
        return (
            f"ControlBurn stopped at {_MAX_TREES_PER_DEPTH} trees of one depth, its maximum, before"
            " their training loss converged; the selection uses these trees. Set `tolerance` above"
            f" {self.tolerance:g}, or shorten `tail`."
        )


@dataclass(frozen=True, slots=True, repr=False)
class Forest(GrownForest):
    """Forests of trees of increasing depth, whose trees ControlBurn pools.

    Parameters
    ----------
    kind : {"bag-boosting", "bagging", "double bag-boosting"}
        ``"bag-boosting"``: incremental depth bag-boosting (Algorithm 2 of the paper).
        ``"bagging"``: incremental depth bagging (Algorithm 1). ``"double bag-boosting"``: stages of
        bag-boosting at each depth until the out-of-bag loss no longer falls, as in the authors'
        software.
    forests : int
        Independent forests, 1 to 1,000.
    tail, tolerance : int, float
        When a depth has enough trees; see :class:`ControlBurn`.
    min_trees : int
        Minimum number of trees of each depth, 1 to 10,000.
    max_depth : int, optional
        Maximum depth, 1 to 16.
    max_features : float
        Share of the terms from which each split chooses at random, above 0, at most 1.
    tree_cost : float
        Cost of the first split of each tree on a term, at least 0.

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

    kind: str = BAG_BOOSTING
    _: KW_ONLY
    tail: int = _TAIL
    min_trees: int = _MIN_TREES
    max_features: float = 1.0

    def __post_init__(self) -> None:
        GrownForest.__post_init__(self)
        check_choice(self, "kind", KINDS)
        check_ranges(self, "tail", "min_trees", "max_features")

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        return GrownForest.keywords(self) | {
            "forest": self.kind,
            "tail": self.tail,
            "min_trees": self.min_trees,
            "max_features": self.max_features,
        }

    def _rules(self, n_units: int, max_size: int) -> BagBoosting:
        return self._bag_boosting(max_size)._replace(
            tail=self.tail,
            min_trees=self.min_trees,
            n_candidates=int(np.ceil(self.max_features * n_units)),
            scheme=self.kind,
        )


@dataclass(frozen=True, slots=True, repr=False)
class SingleFeature(GrownForest):
    """Forests of trees of one term each, grown for one term after another: additive models.

    They resemble explainable boosting machines (section 3.2.4 of the paper) with trees of depth up
    to four; :meth:`SelectionResult.shape` shows the terms. Exact copies have their own trees, and
    all may be selected.

    Parameters
    ----------
    forests : int
        Independent forests, 1 to 1,000.
    tolerance : float
        Least improvement for which a tree is kept, as a share of the difference in loss between the
        null model and a perfect fit.
    max_depth : int, optional
        Maximum depth, 1 to 4; 4 by default. Deeper trees of one term would follow single rows.
    tree_cost : float
        Cost of the first split of each tree, at least 0.

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

    def __post_init__(self) -> None:
        GrownForest.__post_init__(self)
        check_integer(self, "max_depth", least=1, most=SINGLE_MOST, optional=True)

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        return GrownForest.keywords(self) | {"forest": SINGLE}

    def _rules(self, n_units: int, max_size: int) -> BagBoosting:
        return self._bag_boosting(max_size)._replace(n_candidates=n_units, scheme=SINGLE)


@dataclass(frozen=True, slots=True, repr=False)
class FittedForest(Strategy):
    """A forest or gradient boosting model fitted by another library; its trees are used unchanged.

    Attributes
    ----------
    model : object
        The fitted model; in a model file, which stores no models, its type.
    """

    model: Any

    idle: ClassVar[tuple[str, ...]] = GROWING

    @property
    def was_fitted(self) -> bool:
        """Whether the model is available."""
        return not isinstance(self.model, str)

    @property
    def note(self) -> str | None:
        """What a reader should know about trees that come from a fitted model."""
        if not self.was_fitted:
            return None
        return (
            f"The trees come from {fitted_text(self.model)} and are not regrown: cross-validation"
            " and resampling assess only the choice among them."
        )

    def pool(self, task: Task) -> tuple[TreePool, str | None]:
        """All trees of the model, without a warning."""
        if not self.was_fitted:
            raise MethodError(
                f"This ControlBurn used {self.model}, which model files don't store.\n"
                "  Pass the model again: `ControlBurn(forest=model)`."
            )
        problem = task.problem
        assert problem.columns is not None
        pool = imported_pool(self.model, problem.columns, problem.family.loss.n_outputs)
        check_kind(self.model, pool, problem)
        return pool, None

    def keywords(self) -> dict[str, Any]:
        """Itself as a keyword of ControlBurn."""
        return {"forest": self.model}

    def words(self) -> dict[str, Any]:
        """The same for people and files."""
        return {"forest": fitted_text(self.model)}


def is_fitted(forest: object) -> bool:
    """Whether it is a fitted model of another library, or the type of one from a model file."""
    is_lost = isinstance(forest, str) and forest.startswith(_FITTED)
    return is_lost or any(callable(answer(forest, name)) for name in ("fit", "dump_model"))


def fitted_text(forest: object) -> str:
    """The type of such a model."""
    return forest if isinstance(forest, str) else f"{_FITTED}{type(forest).__name__}"
