"""Where the trees come from: forests that ControlBurn grows, or one that was there before."""

from __future__ import annotations

import abc
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from treeselect.algorithms.burning.pools import TreePool, check_kind, grown_pool, imported_pool
from treeselect.algorithms.burning.ranges import KINDS, MAX_DEPTH, check_ranges
from treeselect.algorithms.burning.sparsify import FIRST_PATH
from treeselect.algorithms.shared.options import check_choice
from treeselect.algorithms.shared.strategies import Strategy
from treeselect.algorithms.shared.task import Task
from treeselect.arguments.scalars import answer
from treeselect.engine.ensembles.bag_boosting import BAG_BOOSTING, SINGLE, BagBoosting
from treeselect.engine.splitting.candidates import n_able
from treeselect.errors import MethodError

_MAX_TREES_PER_DEPTH = 200
_TAIL, _MIN_TREES = 5, 10

GROWING = (
    "forests", "tail", "tolerance", "min_trees", "max_depth", "max_features", "tree_cost",
)  # fmt: skip
"""Keywords that say how a forest is grown."""

_FITTED = "a fitted "
"""What a forest is in a model file, before its type."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GrownForest(Strategy, abc.ABC):
    """What all forests have in common that are grown on the rows that are given."""

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
        """The trees to choose from, and a warning where they did not converge.

        Depth ends where every tree uses more units than could be selected: none of them could be
        in a selection of so few.
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
    """Forests of trees of growing depth, whose trees ControlBurn pools.

    Parameters
    ----------
    kind : {"bag-boosting", "bagging", "double bag-boosting"}
        Incremental depth bag-boosting (Algorithm 2 of the paper), incremental depth bagging
        (Algorithm 1), or stages of bag-boosting at each depth until the out-of-bag loss no longer
        falls, as in the authors' software.
    forests : int
        Independent forests, 1 to 1,000.
    tail, tolerance : int, float
        When a depth has trees enough; see :class:`ControlBurn`.
    min_trees : int
        Least number of trees of each depth, 1 to 10,000.
    max_depth : int, optional
        Greatest depth, 1 to 16.
    max_features : float
        Share of the units that each split chooses from at random, above 0, at most 1.
    tree_cost : float
        What the first split of each tree on a unit costs, at least 0.

    Raises
    ------
    MethodError
        If an option is not in its range.

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
    """Forests of trees of one unit each, which the units grow in turn: additive models.

    They are like explainable boosting machines (section 3.2.4 of the paper), their trees up to four
    deep; :meth:`SelectionResult.shape` shows the terms. Copies of a unit have trees of their own,
    and may all be selected.

    Parameters
    ----------
    forests : int
        Independent forests, 1 to 1,000.
    tolerance : float
        Least improvement for which a tree is kept, as a share of the loss of the constant model
        above that of a perfect fit.
    max_depth : int, optional
        Greatest depth, 1 to 16.
    tree_cost : float
        What the first split of each tree costs, at least 0.

    Raises
    ------
    MethodError
        If an option is not in its range.

    Examples
    --------
    >>> from treeselect import ControlBurn, SingleFeature
    >>> ControlBurn(forest=SingleFeature(max_depth=2))
    ControlBurn(max_depth=2, forest='single-feature')
    """

    def keywords(self) -> dict[str, Any]:
        """Itself as keywords of ControlBurn."""
        return GrownForest.keywords(self) | {"forest": SINGLE}

    def _rules(self, n_units: int, max_size: int) -> BagBoosting:
        return self._bag_boosting(max_size)._replace(n_candidates=n_units, scheme=SINGLE)


@dataclass(frozen=True, slots=True, repr=False)
class FittedForest(Strategy):
    """A forest or gradient boosting that another library has fitted, whose trees are taken as they
    are.

    Attributes
    ----------
    model : object
        The forest; of a model file, which holds none, what it was.
    """

    model: Any

    idle: ClassVar[tuple[str, ...]] = GROWING

    @property
    def was_fitted(self) -> bool:
        """Whether it is here."""
        return not isinstance(self.model, str)

    @property
    def note(self) -> str | None:
        """What a reader should know of a forest that was there before."""
        if not self.was_fitted:
            return None
        return (
            f"The trees come from {fitted_text(self.model)} and are not regrown: cross-validation"
            " and resampling assess only the choice among them."
        )

    def pool(self, task: Task) -> tuple[TreePool, str | None]:
        """All its trees; there is nothing to warn of."""
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
    """Whether it is a forest of another library, or was one before it went through a file."""
    is_lost = isinstance(forest, str) and forest.startswith(_FITTED)
    return is_lost or any(callable(answer(forest, name)) for name in ("fit", "dump_model"))


def fitted_text(forest: object) -> str:
    """Such a forest by its type."""
    return forest if isinstance(forest, str) else f"{_FITTED}{type(forest).__name__}"
