"""ControlBurn: feature selection by sparse forests."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from treeselect.algorithms.controlburn.solve import (
    FIRST_PATH,
    Sparsifier,
    TreePool,
    check_kind,
    fitted_text,
    grown_pool,
    imported_pool,
    is_fitted,
)
from treeselect.algorithms.forests.scoring import held_shares
from treeselect.algorithms.method import Method
from treeselect.algorithms.options import by, choice, flag, integer, number
from treeselect.algorithms.references import LIU_2021, Reference
from treeselect.algorithms.search.revision import Ending
from treeselect.algorithms.task import Step, Task
from treeselect.arguments.checks import described
from treeselect.engine.forest.bag_boosting import (
    BAG_BOOSTING,
    SCHEMES,
    SINGLE,
    SINGLE_MOST,
    BagBoosting,
)
from treeselect.engine.losses import HingeLoss, explicable
from treeselect.engine.random import stream_seed
from treeselect.engine.threads import one_thread
from treeselect.engine.tree.used_groups import n_able
from treeselect.errors import MethodError
from treeselect.models.forest import REFITTED_TREES, refit_forest
from treeselect.models.model import TreeModel, WeightedForest, no_trees

MAX_DEPTH = 16
"""Greatest depth of trees."""

_ROWS = "rows"
"""The usual kind of sketch."""

_FUNCTION = "a function"
"""How a function starts in a model file."""

_MAX_TREES_PER_DEPTH = 200

_SUBSET_RIDGE = 0.01
"""Ridge of best subsets, where none is given, as a share of the constant model's loss. With it
the gap closes in seconds; with a tenth of it, minutes on 20 columns (see ``best_subset``)."""

_GROWING = (
    "forests", "tail", "tolerance", "min_trees", "max_depth", "max_features", "tree_cost",
)  # fmt: skip
"""Options for growing a forest."""

_APART = (
    ("best_subset", "lam", "One fixes the number of terms; the other penalises it."),
    ("best_subset", "prune", "A best subset is the best of its size without a backward pass."),
    ("best_subset", "constraints", "The search doesn't support constraints."),
    ("best_subset", "loss", "It needs a ridge penalty, which the hinge loss doesn't allow."),
    ("best_subset", "sketch_kind", "Optimality is proved for all rows, or a sample of rows."),
    ("best_subset", "refit", "Without a penalty, its weights overfit the training rows."),
    ("loss", "ridge", "With a ridge penalty, the hinge loss is no longer a linear program."),
    ("loss", "refit", "Margins aren't probabilities, so a refitted forest must predict."),
    ("loss", "sketch_kind", 'A Gaussian sketch needs the squared error. Use `"rows"`.'),
    ("constraints", "sketch_kind", 'Use `sketch_kind="rows"`.'),
    ("refit", "n_trees", "`n_trees` sets the size of the refitted forest."),
)
"""Pairs of keywords that can't be combined, and why."""


def check_function(record: object, option: str, *, optional: bool) -> None:
    """Raise a MethodError unless it is a function, was one before it went through a file, or is
    None."""
    value = getattr(record, option)
    was_one = isinstance(value, str) and value.startswith(_FUNCTION)
    if not (value is None or callable(value) or was_one):
        raise MethodError(
            f"`{option}` of ControlBurn must be a function of the weights, or None.\n"
            f"  Found: {described(value)}."
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ControlBurn(Ending, Method):
    """ControlBurn: sparse forests by a non-negative lasso over trees.

    Bag-boosting grows a forest of trees of increasing depth. A lasso then gives each tree a weight
    of at least 0, where a tree costs as much as the terms that it uses. The terms used by trees
    with positive weight are selected.

    `forest` and the options of growing say where the trees come from. They are chosen along a
    decreasing penalty (the default), with the hinge loss (`loss`), under user-defined constraints
    (`constraints`), or as the best subset of each size (`best_subset`).

    Parameters
    ----------
    lam : float, optional
        Penalty of problem (2) of [1]_, positive, in units of the mean loss (log loss, or half the
        squared error) per unit of tree weight and cost. If None, `k` decides.
    forests : int
        Independent forests whose trees are pooled, 1 to 1,000. Five made the selection more stable
        than one.
    adaptive : bool
        Whether the problem is solved twice. For the second solution, the cost of a term is divided
        by ``sqrt(importance * share)``: its importance in the first solution, and the share of its
        gain in an ordinary forest that is confirmed out of bag. Without this correction, trees fit
        noise terms with many values better than a true binary term.
    tail, tolerance : int, float
        Trees of one depth are added until the last `tail` training losses, 2 to 200, differ by at
        most `tolerance` times the difference in loss between the null model and a perfect fit. At
        200 trees of one depth, growth stops with a ``TreeselectWarning``.
    min_trees : int
        Minimum number of trees of each depth, 1 to 200.
    max_depth : int, optional
        Maximum depth, 1 to 16 (of trees of one term 1 to 4). If None, 16. Depth stops increasing
        once the out-of-bag loss no longer falls (not with ``"bagging"``), or once most trees use
        more than ten terms and more than the requested number, since such trees could not be part
        of the selection.
    forest : str or fitted model
        Where the trees come from. ``"bag-boosting"``: incremental depth bag-boosting (Algorithm 2
        of the paper). ``"bagging"``: incremental depth bagging (Algorithm 1). ``"double
        bag-boosting"``: stages of bag-boosting at each depth until the out-of-bag loss no longer
        falls, as in the authors' software. ``"single-feature"``: trees of one term each, grown for
        one term after another: additive models, like explainable boosting machines (section 3.2.4)
        with trees of depth up to four; exact copies have their own trees, and all may be selected.
        Or a forest or gradient boosting model of scikit-learn or LightGBM, fitted to a data frame
        of the formula's terms, all numeric, and to the same response with its classes in the same
        order. The trees of a fitted model are not regrown in resamples and folds, which therefore
        assess only the choice among them.
    loss : {"family", "hinge"}
        Loss of the sparse-forest problem. ``"family"``: squared error, log loss of two or more
        classes, Poisson loss or Cox's partial likelihood. ``"hinge"``, for two classes: the hinge
        loss, a linear program, fast for up to some thousands of rows (with more, use `sketch`);
        its margins are not probabilities, so that forests score the sets and predict.
    ridge : float
        Ridge penalty on the weights of the trees, at least 0 (section 6.2). With it, trees on
        correlated terms share the weight instead of one tree taking all of it.
    constraints : callable, optional
        From ``weights`` to a sequence of cvxpy constraints, for example ``lambda weights:
        [weights["mri"] <= 0.5 * weights["age"]]``, where ``weights["age"]`` is the sum of the
        weights of the trees that use `age`, and ``weights.trees`` is the vector of all weights. An
        interior-point method solves the problem, slower by orders of magnitude: use ``forests=1``
        or a `sketch`.
    best_subset : bool
        Whether, for each size, the set of terms whose trees have the least loss is found, by a
        mixed-integer program that starts from the sets of the penalty path. It takes no costs; a
        `ridge` of 0 stands for a hundredth of the null model's loss. If a search exceeds
        `time_limit`, results may differ between runs.
    time_limit : float
        Seconds that the search for the best subset of one size may take (in each fold and
        resample), above 0. Then the best subset so far is used, and the summary gives its
        optimality gap.
    sketch : int, optional
        Number of rows of a sketch on which the sparse-forest problem is solved, 2 to 1,000,000
        (section 3.3.3). If None: all rows.
    sketch_kind : {"rows", "gaussian"}
        What these rows are: a sample, or Gaussian combinations of all rows, for the squared error
        only and along a penalty (problem 3).
    max_features : float
        Share of the terms from which each split chooses at random, above 0, at most 1. A share of
        0.5 was more stable and slightly more accurate on ordinary data
        (``benchmarks/papers/controlburn_sets.py``), but admits near-duplicate terms, which a share
        of 1 keeps out.
    tree_cost : float
        Cost of the first split of each tree on a term of cost 1, at least 0, as a share of the mean
        squared gradient at the null model: for numeric responses, of the variance; for counts, of
        the mean squared Pearson residual. Trees then use fewer terms (feature-sparse trees, section
        3.2.4). The default is 0, as the lasso already charges trees for the terms they use.
    refit : {"forest", None}
        Final model. ``"forest"``: a random forest refitted to the selected terms. None: the sparse
        forest itself, with its trees and weights (problem 2), at the penalty of its step on the
        path. With few terms this penalty shrinks predictions towards the mean, with many hardly,
        and cross-validation then chooses the penalty and the number of terms together.
    n_trees : int
        Most trees of the refitted forest, or that of ``model=``, 1 to 1,000,000. On long data,
        fewer are grown if more would lower its error by less than a tenth of the error's standard
        error.
    prune, refine : bool
        As for :class:`RRF`: whether each selection passes a backward pass, and whether each set is
        refined by exchanges.

    Raises
    ------
    MethodError
        If an option is out of range, or if two keywords can't be combined.
    TypeError
        If a keyword is unknown.

    Notes
    -----
    Trees are grown by Algorithm 2 of [1]_ (incremental depth bag-boosting, stopped out of bag). The
    defaults differ from the paper in pooling five forests, at least ten trees of each depth, and
    adaptive costs; :meth:`published` gives the paper's form. A group (``groups=``) is one term.

    Examples
    --------
    >>> from treeselect import ControlBurn
    >>> ControlBurn(forest="bagging", forests=3, best_subset=True, ridge=0.1)
    ControlBurn(forests=3, forest='bagging', ridge=0.1, best_subset=True)
    >>> ControlBurn(best_subset=True, lam=0.1)
    Traceback (most recent call last):
    treeselect.errors.MethodError: ControlBurn can't have `best_subset=True` and `lam=0.1` together.
      One fixes the number of terms; the other penalises it.
    """

    lam: float | None = field(default=None, metadata=number(above=0.0))
    forests: int = field(default=5, metadata=integer(least=1, most=1_000))
    adaptive: bool = field(default=True, metadata=flag())
    tail: int = field(default=5, metadata=integer(least=2, most=_MAX_TREES_PER_DEPTH))
    tolerance: float = field(default=1e-3, metadata=number(above=0.0))
    min_trees: int = field(default=10, metadata=integer(least=1, most=_MAX_TREES_PER_DEPTH))
    max_depth: int | None = field(default=None, metadata=integer(least=1, most=MAX_DEPTH))
    forest: Any = BAG_BOOSTING
    loss: str = field(default="family", metadata=choice("family", "hinge"))
    ridge: float = field(default=0.0, metadata=number(least=0.0))
    constraints: Any = field(default=None, metadata=by(check_function))
    best_subset: bool = field(default=False, metadata=flag())
    time_limit: float = field(default=60.0, metadata=number(above=0.0, most=1e7))
    sketch: int | None = field(default=None, metadata=integer(least=2))
    sketch_kind: str = field(default=_ROWS, metadata=choice(_ROWS, "gaussian"))
    max_features: float = field(default=1.0, metadata=number(above=0.0, most=1.0))
    tree_cost: float = field(default=0.0, metadata=number(least=0.0))
    refit: str | None = field(default="forest", metadata=choice("forest", None))
    n_trees: int = field(default=REFITTED_TREES, metadata=integer(least=1))
    prune: bool = field(default=False, metadata=flag())
    refine: bool = field(default=False, metadata=flag())

    name: ClassVar[str] = "controlburn"
    title: ClassVar[str] = "ControlBurn"
    references: ClassVar[tuple[Reference, ...]] = (LIU_2021,)
    tuning_name: ClassVar[str] = "lam"
    scores_out_of_bag: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Method.__post_init__(self)
        self._check_forest()
        default = self.defaults()
        changed = {name for name, value in default.items() if getattr(self, name) != value}
        self._check_idle(changed)
        self._check_apart(changed)

    def __repr__(self) -> str:
        """Its keywords without defaults."""
        return super(ControlBurn, self).text

    def _check_forest(self) -> None:
        known = isinstance(self.forest, str) and self.forest in SCHEMES
        if not known and not is_fitted(self.forest):
            words = ", ".join(repr(scheme) for scheme in SCHEMES)
            raise MethodError(
                f"`forest` of ControlBurn must be one of {words}, or a fitted forest from"
                f" scikit-learn or LightGBM.\n  Found: {described(self.forest)}."
            )

    def _check_apart(self, changed: set[str]) -> None:
        """Raise a MethodError for two keywords that can't be combined."""
        for first, second, why in _APART:
            if {first, second} <= changed:
                raise MethodError(
                    f"ControlBurn can't have `{first}={getattr(self, first)!r}` and"
                    f" `{second}={getattr(self, second)!r}` together.\n  {why}"
                )

    def _check_idle(self, changed: set[str]) -> None:
        """Raise a MethodError for a keyword that the others make void."""
        growing = [name for name in _GROWING if name in changed]
        if is_fitted(self.forest) and growing:
            raise MethodError(
                f"`{growing[0]}` controls how ControlBurn grows a forest, but `forest` is already"
                f" fitted.\n  Found: `{growing[0]}={getattr(self, growing[0])!r}` with"
                f" {fitted_text(self.forest)}. Leave out one of them."
            )
        idle = changed & {"tail", "min_trees", "max_features"}
        if self.forest == SINGLE and (self.max_depth or 1) > SINGLE_MOST:
            raise MethodError(
                f"`max_depth` of ControlBurn must be from 1 to {SINGLE_MOST} with"
                f' `forest="{SINGLE}"`.\n  Found: {self.max_depth}. Deeper trees of one term would'
                " follow single rows."
            )
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

    @classmethod
    def published(cls) -> ControlBurn:
        """The form of the paper: one forest, all terms tried at each split, no adaptive costs,
        convergence by the tail alone.
        """
        return cls(forests=1, min_trees=1, adaptive=False)

    # --- what it is ---

    @property
    def was_fitted(self) -> bool:
        """Whether the trees come from a fitted model, which must be available."""
        return not isinstance(self.forest, str)

    @property
    def reads_columns(self) -> bool:
        """Whether rows must be passed to the trees of another library."""
        return self.was_fitted

    @property
    def note(self) -> str | None:
        if not self.was_fitted:
            return None
        return (
            f"The trees come from {fitted_text(self.forest)} and are not regrown: cross-validation"
            " and resampling assess only the choice among them."
        )

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether training scores are out of bag: of refined sets, or because margins have none."""
        return self.refine or self.loss == "hinge"

    @property
    def predicts_any_set(self) -> bool:
        """Whether a forest is refitted; a sparse forest belongs to its step."""
        return self.refit is not None

    @property
    def n_final_trees(self) -> int:
        return self.n_trees

    @property
    def text(self) -> str:
        """The call that creates it; a function, or a fitted model, has none."""
        is_code = self.constraints is None and not is_fitted(self.forest)
        return repr(self) if is_code else "<...>"

    def options(self) -> dict[str, Any]:
        """All options, with a fitted model by its type."""
        said = Method.options(self)
        if self.constraints is not None:
            said["constraints"] = f"{_FUNCTION} of the weights"
        if not is_fitted(self.forest):
            return said
        said["forest"] = fitted_text(self.forest)
        return {name: value for name, value in said.items() if name not in _GROWING}

    # --- what it does ---

    def path(self, task: Task) -> tuple[Step, ...]:
        self._check_task(task)
        pool, warning = self.pool(task)
        if len(task.problem.data.monotone) and pool.bins is not None and not self.predicts_any_set:
            raise MethodError(
                "`monotone` can't be observed by the trees of another library.\n"
                "  Refit a forest to the selected terms (the default), or leave `monotone` out."
            )
        with one_thread():
            steps: Sequence[Step] = self._steps(task, self.sparsifier(task, pool))
        if self.lam is None:
            steps = self._ended(task, steps)
        elif self.refine or self.prune:
            last = self._ended_at(task, steps[-1])
            smaller = [] if self.refine else [s for s in steps[:-1] if s.size < last.size]
            steps = [*smaller, last]
        return tuple(dataclasses.replace(step, warning=warning) for step in steps)

    def pool(self, task: Task) -> tuple[TreePool, str | None]:
        """The trees to choose from, and a warning if they did not converge."""
        problem = task.problem
        if self.was_fitted:
            assert problem.columns is not None
            pool = imported_pool(self.forest, problem.columns, problem.family.loss.n_outputs)
            check_kind(self.forest, pool, problem)
            return pool, None
        if is_fitted(self.forest):
            raise MethodError(
                f"This ControlBurn used {self.forest}, which model files don't store.\n"
                "  Pass the model again: `ControlBurn(forest=model)`."
            )
        n_units = n_able(problem.data, task.weight)
        rules = BagBoosting(
            self.tail, self.tolerance, self.min_trees, _MAX_TREES_PER_DEPTH,
            max_depth=self.max_depth or MAX_DEPTH, min_weight=1, scheme=self.forest,
            n_candidates=int(np.ceil(self.max_features * n_units)),
            most_groups=max(task.max_size, FIRST_PATH),
        )  # fmt: skip
        pool, converged = grown_pool(task, rules, forests=self.forests, tree_cost=self.tree_cost)
        return pool, None if converged else (
            f"ControlBurn stopped at {_MAX_TREES_PER_DEPTH} trees of one depth, its maximum, before"
            " their training loss converged; the selection uses these trees. Set `tolerance` above"
            f" {self.tolerance:g}, or shorten `tail`."
        )

    def sparsifier(self, task: Task, pool: TreePool) -> Sparsifier:
        rows, mixed = np.flatnonzero(task.weight), None
        if self.sketch is not None:
            seed = stream_seed(task.seed, "sketch")
            if self.sketch_kind != _ROWS:
                mixed = (self.sketch, seed)
            elif self.sketch < len(rows):
                rng = np.random.default_rng(seed)
                rows = np.sort(rng.choice(rows, self.sketch, replace=False))
        return Sparsifier(
            task, pool, rows, held=held_shares(task) if self.adaptive else None,
            ridge=self._ridge_on(task), mixed=mixed, constrain=self.constraints,
            loss=HingeLoss() if self.loss == "hinge" else None,
        )  # fmt: skip

    def _ridge_on(self, task: Task) -> float:
        """The ridge penalty, of best subsets above 0."""
        if self.ridge or not self.best_subset:
            return self.ridge
        problem, weight = task.problem, task.weight
        base = problem.constant(weight)
        return _SUBSET_RIDGE * explicable(problem.rows(weight), base, weight)

    def _steps(self, task: Task, sparsifier: Sparsifier) -> tuple[Step, ...]:
        """The path up to a size or to the fixed penalty, or the best subsets."""
        if not self.best_subset:
            return sparsifier.path(task.max_size, self.lam)
        least, most = max(1, int(task.problem.groups.keep.sum()) + 1), task.max_size
        sizes = range(least if task.every_size else max(least, most), most + 1)
        return sparsifier.best_subsets(sizes, self.time_limit)

    def final_model(self, task: Task, step: Step) -> TreeModel:
        """A random forest on the selected terms (section 3.1 of the paper), or the sparse one."""
        if self.refit is not None:
            return refit_forest(
                task.problem, task.weights, step.selected, seed=task.seed, n_trees=self.n_trees,
                n_threads=task.n_threads, wants_importance=task.wants_importance,
            )  # fmt: skip
        if step.size == 0:
            return no_trees(task.problem, task.weight)
        own = step.ensemble
        if own is None or not np.array_equal(own.groups, step.selected):
            own = self._solved_again(dataclasses.replace(task, max_size=step.size), step)
        return dataclasses.replace(own, groups=step.selected)

    def _solved_again(self, task: Task, step: Step) -> WeightedForest:
        """The sparse forest of a set that is not on its path.

        Trees are grown again, and those that use no other terms are weighted in a problem of their
        own, with its own adaptive costs, at the same penalty.
        """
        pool, _ = self.pool(task)
        with one_thread():
            inside = pool.within(step.selected)
            own = self.sparsifier(task, inside).at(step.tuning).ensemble
        assert own is not None
        if not own.trees:
            raise MethodError(
                "The sparse forest can't predict from this selection, which isn't on ControlBurn's"
                f" path: no tree uses only the {step.size} selected terms.\n"
                '  Use `refit="forest"`, or a `k` that lies on the path, without `refine`.'
            )
        return own

    def _check_task(self, task: Task) -> None:
        problem = task.problem
        family = problem.family
        if self.loss == "hinge" and family.n_classes != 2:
            raise MethodError(
                '`loss="hinge"` of ControlBurn needs a binary response.\n'
                f"  Found: {family.name}. Leave `loss` out."
            )
        if self.loss == "hinge" and problem.offset is not None:
            raise MethodError(
                '`loss="hinge"` of ControlBurn can\'t be combined with an `offset`, which is on the'
                " log-odds scale.\n  Leave out one of them."
            )
        if isinstance(self.constraints, str):
            raise MethodError(
                "The constraints of this ControlBurn are a function, and model files don't store"
                " functions.\n  Pass it again: `ControlBurn(constraints=...)`."
            )
        if self.best_subset and (problem.groups.item_costs != 1).any():
            raise MethodError(
                "`best_subset` of ControlBurn can't take `costs` into account.\n"
                "  Leave out one of them."
            )
        if self.sketch_kind != _ROWS and not family.loss.is_squared:
            raise MethodError(
                '`sketch_kind="gaussian"` needs the squared error, that is, a numeric response.\n'
                f'  Found: {family.name}. Use `sketch_kind="rows"`.'
            )
        if family.n_classes > 2 and not task.weights.are_copies:
            raise MethodError(
                "`weights` of ControlBurn must be frequencies with more than two classes, as each"
                " tree serves all classes.\n"
                '  Give `weights_kind="frequency"` if they count rows, or use `method="grrf"`.'
            )
