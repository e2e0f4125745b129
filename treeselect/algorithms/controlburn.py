"""ControlBurn: feature selection by sparse forests."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from treeselect.algorithms.burning.pools import TreePool, check_kind, grown_pool, imported_pool
from treeselect.algorithms.burning.sparsify import FIRST_PATH, Sparsifier, SparsityRules
from treeselect.algorithms.shared.base import Step
from treeselect.algorithms.shared.options import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
)
from treeselect.algorithms.shared.pruning import BackwardPass, prune_path
from treeselect.algorithms.shared.task import Task
from treeselect.arguments.scalars import answer, described
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import WeightArray
from treeselect.engine.blas import one_thread
from treeselect.engine.ensembles.bag_boosting import BAG_BOOSTING, SCHEMES, SINGLE, BagBoosting
from treeselect.engine.splitting.candidates import n_able
from treeselect.errors import MethodError
from treeselect.models.forest import REFITTED_TREES, refit_forest
from treeselect.models.model import Model
from treeselect.models.weighted import no_trees

_MAX_DEPTH = 16
_MAX_TREES_PER_DEPTH = 200

_FITTED, _FUNCTION = "a fitted ", "a function"
_GROWING = (
    "forests", "tail", "tolerance", "min_trees", "max_depth", "max_features", "tree_cost",
)  # fmt: skip

_APART = (
    ("best_subset", "lam", "One counts units, the other prices them."),
    ("best_subset", "prune", "The best subset of a size is the best one without the pass."),
    ("best_subset", "constraints", "The search does not know them."),
    ("best_subset", "loss", "It needs a ridge, which the linear program does not have."),
    ("best_subset", "sketch_kind", "What is proved holds for all rows, or a sample of them."),
    ("best_subset", "refit", "Without a penalty its weights fit the training rows too well."),
    ("loss", "ridge", "With a ridge it is no linear program."),
    ("loss", "refit", "Margins are no probabilities: let the forest predict."),
    ("constraints", "sketch_kind", 'Use `sketch_kind="rows"`.'),
    ("refit", "n_trees", "The sparse forest has the trees that it has."),
)
"""Pairs of options of which one must have its default, and why."""


@dataclass(frozen=True, slots=True)
class ControlBurn:
    """Sparse forests by a non-negative lasso over trees.

    A forest of trees of growing depth is grown by bag-boosting; a lasso gives each tree a weight
    of at least 0, where a tree costs as much as the units it uses; what the trees with positive
    weight use is selected.

    Parameters
    ----------
    lam : float, optional
        Penalty of problem (2) of the paper, positive, in units of the mean loss (log loss, or half
        the squared error) per unit of tree weight and price. None: the number of units decides.
    forests : int
        Independent forests whose trees are pooled, 1 to 1,000. Five made the choice more stable
        than one.
    adaptive : bool
        Solve twice, the second time with each unit's price divided by the square root of its
        importance in the first solution.
    tail, tolerance : int, float
        Trees of one depth are added until the last `tail` training losses differ by at most
        `tolerance` times the loss of the constant model above that of a perfect fit, or there are
        200 of them, of which a ``TreeselectWarning`` tells.
    min_trees : int
        Least number of trees of each depth, 1 to 10,000.
    max_depth : int, optional
        Greatest depth, 1 to 16. None: as deep as the out-of-bag loss goes on falling. Either way
        depth ends where every tree uses more than ten units, and more than are asked for: such
        trees could not be part of the selection.
    forest : {"bag-boosting", "bagging", "double bag-boosting", "single-feature"} or fitted model
        How each forest is grown: incremental depth bag-boosting (Algorithm 2), incremental depth
        bagging (Algorithm 1), stages of bag-boosting at each depth until the out-of-bag loss no
        longer falls, as in the authors' software, or trees of one unit each, which the units grow
        in turn (section 3.2.4), up to four deep: additive models, like explainable boosting
        machines, whose terms :meth:`SelectionResult.shape` shows; copies of a unit have trees of
        their own, and may all be selected. Or a forest or gradient boosting of scikit-learn
        or LightGBM, fitted on a data frame of the formula's terms, all of them numbers, and on the
        same response with its classes in the same order; its trees are taken as they are, and not
        grown again in resamples and folds, which therefore assess the choice among them alone.
    loss : {"family", "hinge"}
        Loss of the sparse-forest problem: that of the family (squared error, log loss of two or
        more classes, Poisson), or for two classes the hinge loss, whose margins are no
        probabilities: a forest must predict. It is a linear program, fast for up to some thousands
        of rows; with more, take a `sketch`.
    ridge : float
        Ridge penalty on the weights of the trees, at least 0 (section 6.2): with it trees on
        correlated units share the weight instead of one taking all.
    constraints : callable, optional
        Constraints of one's own on the weights, through cvxpy: from ``weights`` to a sequence of
        cvxpy constraints, where ``weights["age"]`` is the sum of the weights of the trees that use
        the unit `age` and ``weights.trees`` are all of them, for example ``lambda weights:
        [weights["mri"] <= 0.5 * weights["age"]]``. An interior-point method then solves the
        problem, slower by orders of magnitude: take ``forests=1``, or a `sketch`.
    best_subset : bool
        Of all sets of a size the one whose trees have the least loss, by a mixed-integer program,
        in place of the path of the penalty, whose sets are where the search begins. It has a
        ridge, by default of a hundredth of the constant model's loss, and no prices. What is
        found by then may differ between runs if the time is over.
    time_limit : float
        Seconds that the search for the best subset of one size may take (in each fold and
        resample), above 0; then the best one so far is taken, and the summary tells its optimality
        gap.
    sketch : int, optional
        Rows of a sketch on which the sparse-forest problem is solved, 2 to 1,000,000 (section
        3.3.3). None: all rows.
    sketch_kind : {"rows", "gaussian"}
        A sample of the rows, or Gaussian combinations of them, which the squared error alone can
        have (problem 3).
    max_features : float
        Share of the units that each split chooses from at random, above 0, at most 1. One half is
        steadier and a little better on ordinary data (``benchmarks/papers/controlburn_pmlb.py``),
        but brings in near copies, which all of them keep apart (``controlburn_chess.py``).
    tree_cost : float
        What the first split of each tree on a unit of price 1 costs, at least 0, as a share of the
        mean squared gradient at the constant model (of the variance, for numbers): trees use fewer
        units (feature-sparse trees, section 3.2.4). 0 by default: the lasso has trees pay for what
        they use anyway.
    refit : {"forest", None}
        What predicts: a forest refitted on the selected terms, or, with None, the sparse forest
        itself, trees and weights (problem 2). Its penalty is that of the path at which the units
        are in: with few units it draws predictions towards the mean, with many hardly, and
        cross-validation then chooses penalty and units together.
    n_trees : int
        Trees of the refitted forest.
    prune : bool
        Whether units are dropped from each selection, of up to 30 units, whose removal does not
        raise the out-of-bag error of a forest by more than its standard error.

    Raises
    ------
    MethodError
        If an option is not in its range.

    Notes
    -----
    Growing is Algorithm 2 of [1]_ (incremental depth bag-boosting with its out-of-bag stop). The
    defaults pool five forests and use adaptive prices; :meth:`published` gives the paper's form.

    References
    ----------
    .. [1] B. Liu, M. Xie, M. Udell (2021). ControlBurn: Feature Selection by Sparse Forests.
       KDD '21, 1045-1054.

    Examples
    --------
    >>> from treeselect import ControlBurn
    >>> ControlBurn(forests=3).forests
    3
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
    sketch_kind: str = "rows"
    max_features: float = 1.0
    tree_cost: float = 0.0
    refit: str | None = "forest"
    n_trees: int = REFITTED_TREES
    prune: bool = False

    name: ClassVar[str] = "controlburn"
    title: ClassVar[str] = "ControlBurn"
    paper: ClassVar[str] = (
        "B. Liu, M. Xie, M. Udell (2021). ControlBurn: Feature Selection by Sparse Forests. "
        "KDD '21, 1045-1054."
    )
    tuning_name: ClassVar[str] = "lam"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = False
    left_out: ClassVar[str] = "the others are not used by any tree that helps"
    own_value: ClassVar[float | None] = None

    def __post_init__(self) -> None:
        check_number(self, "lam", above=0.0, optional=True)
        check_integer(self, "forests", least=1, limit=1_000)
        check_flag(self, "adaptive")
        check_integer(self, "tail", least=2, limit=10_000)
        check_number(self, "tolerance", above=0.0)
        check_integer(self, "min_trees", least=1, limit=10_000)
        check_integer(self, "max_depth", least=1, most=_MAX_DEPTH, optional=True)
        self._check_forest()
        check_choice(self, "loss", ("family", "hinge"))
        check_number(self, "ridge", least=0.0)
        check_flag(self, "best_subset")
        check_number(self, "time_limit", above=0.0, limit=1e7)
        check_integer(self, "sketch", least=2, optional=True)
        check_choice(self, "sketch_kind", ("rows", "gaussian"))
        check_number(self, "max_features", above=0.0, most=1.0)
        check_number(self, "tree_cost", least=0.0)
        check_choice(self, "refit", ("forest", None))
        check_integer(self, "n_trees", least=1)
        check_flag(self, "prune")
        self._check_together()

    @classmethod
    def published(cls) -> ControlBurn:
        """The paper's form: one forest, all units tried at each split, no adaptive prices,
        convergence by the tail alone."""
        return cls(forests=1, adaptive=False, min_trees=1, max_features=1.0)

    def _check_forest(self) -> None:
        """A way to grow one, or a forest that is there already and is not grown by any options."""
        is_model = any(callable(answer(self.forest, name)) for name in ("fit", "dump_model"))
        if not is_model:
            known = isinstance(self.forest, str) and (
                self.forest in SCHEMES or self.forest.startswith(_FITTED)
            )
            if not known:
                words = ", ".join(repr(scheme) for scheme in SCHEMES)
                raise MethodError(
                    f"`forest` of ControlBurn must be one of {words}, or a fitted forest of"
                    f" scikit-learn or LightGBM.\n  Found: {described(self.forest)}."
                )
            return
        default = {field.name: field.default for field in fields(self)}
        changed = [name for name in _GROWING if getattr(self, name) != default[name]]
        if changed:
            raise MethodError(
                f"`{changed[0]}` says how ControlBurn grows a forest, and `forest` is one.\n"
                f"  Found: `{changed[0]}={getattr(self, changed[0])!r}` with a"
                f" {type(self.forest).__name__}. Leave one of them out."
            )

    def _check_together(self) -> None:
        """No option is without effect beside the others."""
        if self.sketch is None and self.sketch_kind != "rows":
            raise MethodError(
                f"`sketch_kind={self.sketch_kind!r}` of ControlBurn needs a `sketch`.\n"
                "  Found: None. Give the number of its rows, for example `sketch=1000`."
            )
        is_known = self.constraints is None or callable(self.constraints)
        if not is_known and not (
            isinstance(self.constraints, str) and self.constraints.startswith(_FUNCTION)
        ):
            raise MethodError(
                "`constraints` of ControlBurn must be a function of the weights, or None.\n"
                f"  Found: {described(self.constraints)}."
            )
        default = {field.name: field.default for field in fields(self)}
        changed = {n for n, value in default.items() if getattr(self, n) != value}
        for first, second, why in _APART:
            if {first, second} <= changed:
                raise MethodError(
                    f"ControlBurn can't have `{first}={getattr(self, first)!r}` and"
                    f" `{second}={getattr(self, second)!r}` together.\n  {why}"
                )
        idle = changed & {"tail", "min_trees", "max_features"}
        if self.forest == SINGLE and idle:
            option = min(idle)
            raise MethodError(
                f"`{option}={getattr(self, option)!r}` of ControlBurn has no effect with"
                f' `forest="{SINGLE}"`, where each unit grows one tree at a time.\n'
                "  Leave one of them out."
            )
        if "time_limit" in changed and not self.best_subset:
            raise MethodError(
                f"`time_limit={self.time_limit:g}` of ControlBurn needs `best_subset=True`: nothing"
                " else takes that long."
            )

    @property
    def reads_columns(self) -> bool:
        """Whether the trees of another library are to find their rows."""
        return self.was_fitted

    @property
    def was_fitted(self) -> bool:
        """Whether the trees are those of a forest that was there before."""
        return not isinstance(self.forest, str)

    @property
    def note(self) -> str | None:
        """What a reader should know of a forest that was there before."""
        if not self.was_fitted:
            return None
        return (
            f"The trees are those of {_FITTED}{type(self.forest).__name__}, whatever rows it was"
            " fitted on: cross-validation and resamples assess the choice among them alone."
        )

    @property
    def tuning_value(self) -> float | None:
        """The fixed penalty, None for the whole path."""
        return self.lam

    def options(self) -> dict[str, Any]:
        """All options by name; a fitted forest by its type."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.reads_columns:
            options["forest"] = f"{_FITTED}{type(self.forest).__name__}"
            options = {name: value for name, value in options.items() if name not in _GROWING}
        if self.constraints is not None:
            options["constraints"] = f"{_FUNCTION} of the weights"
        return options

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units along a falling penalty (see ``base.SelectionMethod``)."""
        problem, weight, max_size, seed = task.problem, task.weight, task.max_size, task.seed
        self._check_problem(problem, weight)
        pool, converged = self._pool(problem, weight, seed, max_size, task.n_threads)
        with one_thread():
            sparsifier = self._sparsifier(problem, weight, pool, seed)
            if self.best_subset:
                least = max(1, int(problem.groups.keep.sum()) + 1)
                sizes = range(least if task.every_size else max(least, max_size), max_size + 1)
                steps = sparsifier.best_subsets(sizes, self.time_limit)
            else:
                steps = sparsifier.path(max_size, self.lam)
        if self.prune and self.lam is None:
            steps = prune_path(task, steps)
        elif self.prune:
            last = BackwardPass(task).chain(steps[-1])[-1]
            steps = (*(step for step in steps[:-1] if step.size < last.size), last)
        if converged:
            return steps
        return tuple(dataclasses.replace(step, warning=self._unconverged()) for step in steps)

    def _unconverged(self) -> str:
        """What is to be known if the trees of a depth did not suffice."""
        return (
            f"ControlBurn grew {_MAX_TREES_PER_DEPTH} trees of one depth, the most it does, and"
            " their training loss still moved: the selection stands on these trees. Give a"
            f" `tolerance` above {self.tolerance:g}, or a shorter `tail`."
        )

    def _check_problem(self, problem: Problem, weight: WeightArray) -> None:
        """Raise a MethodError if the options do not go with the response or the prices."""
        family = problem.family
        if self.sketch_kind == "gaussian" and not family.loss.is_squared:
            raise MethodError(
                '`sketch_kind="gaussian"` needs the squared error: a response of numbers.\n'
                f'  Found: {family.name}. Use `sketch_kind="rows"`.'
            )
        if self.loss == "hinge" and family.n_classes != 2:
            raise MethodError(
                '`loss="hinge"` of ControlBurn needs a response of two classes.\n'
                f"  Found: {family.name}. Leave `loss` out."
            )
        if self.loss == "hinge" and problem.offset is not None:
            raise MethodError(
                '`loss="hinge"` of ControlBurn has margins, and an `offset` is one of log-odds.\n'
                "  Leave one of them out."
            )
        if family.n_classes > 2 and not np.issubdtype(weight.dtype, np.integer):
            raise MethodError(
                "ControlBurn takes whole `weights` only if there are more than two classes: one"
                " tree serves all of them.\n"
                '  Use counts of rows, or another method, for example `method="grrf"`.'
            )
        if self.best_subset and (problem.groups.item_costs != 1).any():
            raise MethodError(
                "`best_subset` of ControlBurn counts units and has no part for `costs`.\n"
                "  Leave one of them out."
            )
        if isinstance(self.constraints, str):
            raise MethodError(
                "The constraints of this ControlBurn are a function, which is not kept in files.\n"
                "  Give it again: `ControlBurn(constraints=...)`."
            )

    def final_model(self, task: Task, step: Step) -> Model:
        """Forest on the selected units (paper, section 3.1: the final step), or the sparse forest
        of the step. Where that is cut or pruned, trees are grown again, and those that use nothing
        else solve a problem of their own, with prices of their own, at the same penalty."""
        problem, weight, seed, n_threads = task.problem, task.weight, task.seed, task.n_threads
        if self.refit is not None:
            return refit_forest(
                problem, weight, step.selected, seed=seed, n_trees=self.n_trees, n_threads=n_threads
            )
        if step.size == 0:
            return no_trees(problem, weight)
        own = step.ensemble
        if own is None or not np.array_equal(own.groups, step.selected):
            pool, _ = self._pool(problem, weight, seed, step.size, n_threads)
            inside = pool.within(step.selected)
            with one_thread():
                own = self._sparsifier(problem, weight, inside, seed).at(step.tuning).ensemble
            assert own is not None
            if not own.trees:
                raise MethodError(
                    f"No tree of ControlBurn uses nothing but the {step.size} units of the"
                    " selection, which was cut from a larger one: nothing predicts.\n"
                    '  Use `refit="forest"`, or a `k` that is not cut.'
                )
        return dataclasses.replace(own, groups=step.selected)

    def _sparsifier(
        self, problem: Problem, weight: WeightArray, pool: TreePool, seed: int
    ) -> Sparsifier:
        rules = SparsityRules(
            adaptive=self.adaptive,
            ridge=self.ridge,
            sketch=self.sketch,
            sketch_kind=self.sketch_kind,
            subset=self.best_subset,
            hinge=self.loss == "hinge",
            constrain=self.constraints,
        )
        return Sparsifier(problem, weight, pool, rules, seed)

    def _pool(
        self, problem: Problem, weight: WeightArray, seed: int, max_size: int, n_threads: int
    ) -> tuple[TreePool, bool]:
        """The trees to choose from, and whether they converged. Depth ends where every tree uses
        more units than could be selected: none of them could be in a selection of so few."""
        if self.reads_columns:
            assert problem.design is not None
            pool = imported_pool(self.forest, problem.design, problem.family.loss.n_outputs)
            check_kind(self.forest, pool, problem)
            return pool, True
        if self.forest.startswith(_FITTED):
            raise MethodError(
                f"This ControlBurn chose from {self.forest}, which is not kept in files.\n"
                "  Give the model again: `ControlBurn(forest=model)`."
            )
        rules = BagBoosting(
            tail=self.tail,
            tolerance=self.tolerance,
            min_trees=self.min_trees,
            max_trees=_MAX_TREES_PER_DEPTH,
            max_depth=self.max_depth or _MAX_DEPTH,
            min_weight=1,
            n_candidates=int(np.ceil(self.max_features * n_able(problem.data, weight))),
            most_groups=max(max_size, FIRST_PATH),
            scheme=self.forest,
        )
        return grown_pool(
            problem, weight, rules, forests=self.forests, tree_cost=self.tree_cost, seed=seed,
            n_threads=n_threads,
        )  # fmt: skip
