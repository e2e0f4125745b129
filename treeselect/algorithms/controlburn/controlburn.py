"""ControlBurn: feature selection by sparse forests."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from inspect import Signature
from typing import Any, ClassVar

import numpy as np

from treeselect.algorithms.controlburn.keywords import DEFAULTS, SIGNATURE, strategies
from treeselect.algorithms.controlburn.solvers import Penalty, Solver
from treeselect.algorithms.controlburn.trees import FittedForest, Forest, GrownForest
from treeselect.algorithms.method import Method
from treeselect.algorithms.references import Reference
from treeselect.algorithms.search.revision import NO_FURTHER
from treeselect.algorithms.task import Step, Task
from treeselect.arguments.checks import described
from treeselect.engine.blas import one_thread
from treeselect.errors import MethodError
from treeselect.models.forest import refit_forest
from treeselect.models.model import TreeModel, WeightedForest, no_trees

_FOREST, _SOLVER = Forest(), Penalty()


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ControlBurn(Method):
    """ControlBurn: sparse forests by a non-negative lasso over trees.

    Bag-boosting grows a forest of trees of increasing depth. A lasso then gives each tree a weight
    of at least 0, where a tree costs as much as the terms that it uses. The terms used by trees
    with positive weight are selected.

    Two objects describe the procedure: `forest` says where the trees come from, and `solver` how
    some of them are chosen. Each has only the options that belong together. All other parameters
    are keywords for the options of these two objects. A keyword changes that option of the object;
    a keyword that the object does not have is an error.

    Parameters
    ----------
    solver : Penalty, Hinge, Constraints or BestSubset
        How trees are chosen, on which rows, and what the final model is: along a decreasing penalty
        (:class:`Penalty`, the default), with the hinge loss (:class:`Hinge`), under user-defined
        constraints (:class:`Constraints`), or as the best subset of each size
        (:class:`BestSubset`).
    lam : float, optional
        Penalty of problem (2) of [1]_, positive, in units of the mean loss (log loss, or half the
        squared error) per unit of tree weight and cost. If None, `k` decides.
    forests : int
        Independent forests whose trees are pooled, 1 to 1,000. Five made the selection more stable
        than one.
    adaptive : bool
        Whether the problem is solved twice. For the second solution, the cost of a term is divided
        by ``sqrt(importance) * share``: its importance in the first solution, and the share of its
        gain in an ordinary forest that is confirmed out of bag. Without this correction, trees fit
        noise terms with many values better than a true binary term.
    tail, tolerance : int, float
        Trees of one depth are added until the last `tail` training losses differ by at most
        `tolerance` times the difference in loss between the null model and a perfect fit. At 200
        trees of one depth, growth stops with a ``TreeselectWarning``.
    min_trees : int
        Minimum number of trees of each depth, 1 to 10,000.
    max_depth : int, optional
        Maximum depth, 1 to 16. If None, depth increases as long as the out-of-bag loss falls. In
        either case, depth stops increasing once most trees use more than ten terms and more than
        the requested number, since such trees could not be part of the selection.
    forest : Forest, SingleFeature, str or fitted model
        Where the trees come from. :class:`Forest`, or its kind by name: ``"bag-boosting"``
        (Algorithm 2), ``"bagging"`` (Algorithm 1) or ``"double bag-boosting"`` (as in the authors'
        software). :class:`SingleFeature`, or ``"single-feature"``: trees of one term each. Or a
        forest or gradient boosting model of scikit-learn or LightGBM, fitted to a data frame of the
        formula's terms, all numeric, and to the same response with its classes in the same order.
        The trees of a fitted model are not regrown in resamples and folds, which therefore assess
        only the choice among them.
    loss : {"family", "hinge"}
        Loss of the sparse-forest problem. ``"family"``: squared error, log loss of two or more
        classes, Poisson loss or Cox's partial likelihood. ``"hinge"``, for two classes: the hinge
        loss, whose margins are not probabilities, so that the final model must be a refitted
        forest. It is a linear program, fast for up to some thousands of rows; with more, use
        `sketch`.
    ridge : float
        Ridge penalty on the weights of the trees, at least 0 (section 6.2). With it, trees on
        correlated terms share the weight instead of one tree taking all of it.
    constraints : callable, optional
        User-defined constraints on the weights, through cvxpy: a function from ``weights`` to a
        sequence of cvxpy constraints. ``weights["age"]`` is the sum of the weights of the trees
        that use the term `age`, and ``weights.trees`` is the vector of all weights, for example
        ``lambda weights: [weights["mri"] <= 0.5 * weights["age"]]``. The problem is then solved by
        an interior-point method, which is slower by orders of magnitude: use ``forests=1`` or
        `sketch`.
    best_subset : bool
        Whether, for each size, the set of terms whose trees have the least loss is found by a
        mixed-integer program, which starts from the sets of the penalty path. It has a ridge
        penalty, by default a hundredth of the null model's loss, and takes no costs. If a search
        exceeds `time_limit`, results may differ between runs.
    time_limit : float
        Seconds that the search for the best subset of one size may take (in each fold and
        resample), above 0. Then the best subset so far is used, and the summary gives its
        optimality gap.
    sketch : int, optional
        Number of rows of a sketch on which the sparse-forest problem is solved, 2 to 1,000,000
        (section 3.3.3). If None: all rows.
    sketch_kind : {"rows", "gaussian"}
        ``"rows"``: a sample of the rows. ``"gaussian"``: Gaussian combinations of the rows, for the
        squared error only (problem 3).
    max_features : float
        Share of the terms from which each split chooses at random, above 0, at most 1. A share of
        0.5 was more stable and slightly more accurate on ordinary data
        (``benchmarks/papers/controlburn_pmlb.py``), but admits near-duplicate terms, which a share
        of 1 keeps out (``benchmarks/papers/controlburn_chess.py``).
    tree_cost : float
        Cost of the first split of each tree on a term of cost 1, at least 0, as a share of the mean
        squared gradient at the null model (for numeric responses, of the variance). Trees then use
        fewer terms (feature-sparse trees, section 3.2.4). The default is 0, as the lasso already
        charges trees for the terms they use.
    refit : {"forest", None}
        Final model. ``"forest"``: a random forest refitted to the selected terms. None: the sparse
        forest itself, with its trees and weights (problem 2), at the penalty of its step on the
        path. With few terms this penalty shrinks predictions towards the mean, with many hardly,
        and cross-validation then chooses the penalty and the number of terms together.
    n_trees : int
        Most trees of the refitted forest, 1 to 1,000,000. On long data, fewer are grown if more
        would lower its error by less than a tenth of the error's standard error.
    prune : bool
        Whether a backward pass is applied to each selection of at most 30 terms. It drops terms
        whose removal does not raise the out-of-bag error of a forest by more than its standard
        error.
    refine : bool
        Whether each set is refined, as in :class:`ExchangeSearch`. It may be replaced by the first
        terms of a held-out ranking, by a set from a backward pass that starts from more of these or
        from a larger set of the path, or by the refined set of the next smaller size with one more
        term; then terms are exchanged. Every change must lower the out-of-bag error of forests on
        the sets by more than the standard error of the difference. At a fixed tuning parameter,
        the backward pass and exchanges alternate until nothing changes. Refinement includes
        `prune`, and a path over all sizes ends when three further terms do not lower the error.

    Raises
    ------
    MethodError
        If an option is out of range, or if two keywords can't be combined.
    TypeError
        If a keyword is unknown.

    Notes
    -----
    Trees are grown by Algorithm 2 of [1]_ (incremental depth bag-boosting, stopped out of bag). The
    defaults differ from the paper in pooling five forests and in adaptive costs; :meth:`published`
    gives the paper's form. A group (``groups=``) counts as one term.

    References
    ----------
    .. [1] B. Liu, M. Xie, M. Udell (2021). ControlBurn: Feature Selection by Sparse Forests.
       KDD '21, 1045-1054.

    Examples
    --------
    >>> from treeselect import BestSubset, ControlBurn, Forest
    >>> method = ControlBurn(forest=Forest("bagging", forests=3), solver=BestSubset(ridge=0.1))
    >>> method
    ControlBurn(forests=3, forest='bagging', ridge=0.1, best_subset=True)
    >>> method == ControlBurn(forest="bagging", forests=3, best_subset=True, ridge=0.1)
    True
    >>> ControlBurn(solver=BestSubset(), lam=0.1)
    Traceback (most recent call last):
    treeselect.errors.MethodError: ControlBurn can't have `best_subset=True` and `lam=0.1` together.
      One fixes the number of terms; the other penalises it.
    """

    forest: GrownForest | FittedForest = _FOREST
    solver: Solver = _SOLVER

    __signature__: ClassVar[Signature] = SIGNATURE

    name: ClassVar[str] = "controlburn"
    title: ClassVar[str] = "ControlBurn"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("B. Liu", "M. Xie", "M. Udell"),
            2021,
            "ControlBurn: Feature Selection by Sparse Forests",
            book="KDD '21",
            pages="1045-1054",
        ),
    )
    tuning_name: ClassVar[str] = "lam"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = False

    def __init__(self, *, forest: Any = _FOREST, solver: Solver = _SOLVER, **keywords: Any) -> None:
        for name in keywords.keys() - DEFAULTS.keys():
            raise TypeError(f"ControlBurn() got an unexpected keyword argument {name!r}")
        if not isinstance(forest, GrownForest | FittedForest):
            forest, keywords = _FOREST, keywords | {"forest": forest}
        if not isinstance(solver, Solver):
            raise MethodError(
                "`solver` of ControlBurn must be Penalty(), Hinge(), Constraints(...) or"
                f" BestSubset().\n  Found: {described(solver)}."
            )
        grown, chosen = strategies(forest, solver, keywords)
        object.__setattr__(self, "forest", grown)
        object.__setattr__(self, "solver", chosen)

    def __getattr__(self, name: str) -> Any:
        """The value of a keyword, also where an object set it."""
        if name in DEFAULTS and name != "forest":
            return (DEFAULTS | self.forest.keywords() | self.solver.keywords())[name]
        raise AttributeError(f"ControlBurn has no attribute {name!r}")

    def __repr__(self) -> str:
        """The call that creates it, in keywords, without defaults."""
        return self.text

    @classmethod
    def published(cls) -> ControlBurn:
        """The form of the paper: one forest, all terms tried at each split, no adaptive costs,
        convergence by the tail alone.
        """
        return cls(forest=Forest(forests=1, min_trees=1), solver=Penalty(adaptive=False))

    # --- what it is ---

    @property
    def reads_columns(self) -> bool:
        """Whether rows must be passed to the trees of another library."""
        return self.forest.was_fitted

    @property
    def was_fitted(self) -> bool:
        """Whether the trees come from a fitted model."""
        return self.forest.was_fitted

    @property
    def note(self) -> str | None:
        """What a reader should know about trees that come from a fitted model."""
        return self.forest.note

    @property
    def tuning_value(self) -> float | None:
        """The fixed penalty, or None for the whole path."""
        return self.solver.tuning_value

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether training scores are out of bag, as they are for refined sets."""
        return self.solver.refine

    @property
    def why_left_out(self) -> str:
        """Why terms never enter the path, as a clause."""
        return self.left_out + (NO_FURTHER if self.solver.refine else "")

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Keywords and their defaults."""
        return dict(DEFAULTS)

    def options(self) -> dict[str, Any]:
        """All options as keywords, with a fitted model by its type."""
        said = DEFAULTS | self.forest.words() | self.solver.words()
        return {name: value for name, value in said.items() if name not in self.forest.idle}

    # --- what it does ---

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected terms along a decreasing penalty (see ``Method.path``)."""
        self.solver.check(task.problem)
        _check_weight(task)
        pool, warning = self.forest.pool(task)
        if len(task.problem.data.monotone) and pool.bins is not None and not self.predicts_any_set:
            raise MethodError(
                "`monotone` can't be observed by the trees of another library.\n"
                "  Refit a forest to the selected terms (the default), or leave `monotone` out."
            )
        with one_thread():
            steps = self.solver.steps(task, pool)
        steps = self.solver.ended(task, steps)
        return tuple(dataclasses.replace(step, warning=warning) for step in steps)

    @property
    def predicts_any_set(self) -> bool:
        """Whether a forest is refitted; a sparse forest belongs to its step."""
        return self.solver.refit_trees is not None

    def final_model(self, task: Task, step: Step) -> TreeModel:
        """A random forest on the selected terms (section 3.1 of the paper), or the sparse one."""
        n_trees = self.solver.refit_trees
        if n_trees is not None:
            return refit_forest(
                task.problem, task.weights, step.selected, seed=task.seed, n_trees=n_trees,
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
        pool, _ = self.forest.pool(task)
        with one_thread():
            inside = pool.within(step.selected)
            own = self.solver.sparsifier(task, inside).at(step.tuning).ensemble
        assert own is not None
        if not own.trees:
            raise MethodError(
                "The sparse forest can't predict from this selection, which isn't on ControlBurn's"
                f" path: no tree uses only the {step.size} selected terms.\n"
                '  Use `refit="forest"`, or a `k` that lies on the path, without `refine`.'
            )
        return own


def _check_weight(task: Task) -> None:
    """Raise a MethodError if the trees can't take the weights."""
    if task.problem.family.n_classes > 2 and not task.weights.are_copies:
        raise MethodError(
            "`weights` of ControlBurn must be whole numbers with more than two classes, as each"
            " tree serves all classes.\n"
            '  Use frequency weights, or another method, for example `method="grrf"`.'
        )
