"""ControlBurn: feature selection by sparse forests."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from inspect import Signature
from typing import Any, ClassVar

import numpy as np

from treeselect.algorithms.burning.forests import FittedForest, Forest, GrownForest
from treeselect.algorithms.burning.keywords import DEFAULTS, SIGNATURE, strategies
from treeselect.algorithms.burning.penalties import Penalty
from treeselect.algorithms.burning.solver import Solver
from treeselect.algorithms.shared.base import Step
from treeselect.algorithms.shared.method import Method
from treeselect.algorithms.shared.references import Reference
from treeselect.algorithms.shared.refining import NO_FURTHER
from treeselect.algorithms.shared.task import Task
from treeselect.arguments.scalars import described
from treeselect.engine.blas import one_thread
from treeselect.errors import MethodError
from treeselect.models.forest import refit_forest
from treeselect.models.model import Model
from treeselect.models.weighted import WeightedForest, no_trees

_FOREST, _SOLVER = Forest(), Penalty()


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ControlBurn(Method):
    """Sparse forests by a non-negative lasso over trees.

    A forest of trees of growing depth is grown by bag-boosting; a lasso gives each tree a weight
    of at least 0, where a tree costs as much as the units it uses; what the trees with positive
    weight use is selected.

    Two objects say what is done: `forest`, where the trees come from, and `solver`, how some of
    them are chosen. Each has the options that go together, and no others. All other parameters are
    keywords for the options of these two: a keyword changes that option of the object, and one that
    the object does not have is refused.

    Parameters
    ----------
    solver : Penalty, Hinge, Constraints or BestSubset
        How trees are chosen, on which rows, and what then predicts: along a falling penalty
        (:class:`Penalty`, the default), with the hinge loss (:class:`Hinge`) or under constraints
        of one's own (:class:`Constraints`); or the best set of each size (:class:`BestSubset`).
    lam : float, optional
        Penalty of problem (2) of the paper, positive, in units of the mean loss (log loss, or half
        the squared error) per unit of tree weight and price. None: the number of units decides.
    forests : int
        Independent forests whose trees are pooled, 1 to 1,000. Five made the choice more stable
        than one.
    adaptive : bool
        Solve twice, the second time with each unit's price divided by the square root of its
        importance in the first solution, times the share of its gain that holds outside the bags
        of an ordinary forest: trees fit noise of many values better than a true binary term.
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
    forest : Forest, SingleFeature, str or fitted model
        Where the trees come from: :class:`Forest`, or by the name of its kind ``"bag-boosting"``
        (Algorithm 2), ``"bagging"`` (Algorithm 1) or ``"double bag-boosting"`` (as in the authors'
        software); :class:`SingleFeature`, or ``"single-feature"``, trees of one unit each. Or a
        forest or gradient boosting of scikit-learn or LightGBM, fitted on a data frame of the
        formula's terms, all of them numbers, and on the same response with its classes in the same
        order; its trees are taken as they are, and not grown again in resamples and folds, which
        therefore assess the choice among them alone.
    loss : {"family", "hinge"}
        Loss of the sparse-forest problem: that of the family (squared error, log loss of two or
        more classes, Poisson, Cox's partial likelihood), or for two classes the hinge loss, whose
        margins are no probabilities: a forest must predict. It is a linear program, fast for up to
        some thousands of rows; with more, take a `sketch`.
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
    refine : bool
        Whether each set is refined at the end, as in :class:`ExchangeSearch`: it gives way to the
        first units of a held-out ranking, to a set of the backward pass from more of these or from
        a larger set of the path, or to the refined set of one unit fewer with another one, and then
        to exchanges of one unit for another, wherever the out-of-bag error of forests on the sets
        falls by more than its standard error.
        At a fixed tuning value units that are not missed go, and others are exchanged, until
        nothing changes. It contains `prune`, and a path of all sizes ends where three further units
        do not help.

    Raises
    ------
    MethodError
        If an option is not in its range, or two keywords do not go together.
    TypeError
        If there is no such keyword.

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
    >>> from treeselect import BestSubset, ControlBurn, Forest
    >>> method = ControlBurn(forest=Forest("bagging", forests=3), solver=BestSubset(ridge=0.1))
    >>> method
    ControlBurn(forests=3, forest='bagging', ridge=0.1, best_subset=True)
    >>> method == ControlBurn(forest="bagging", forests=3, best_subset=True, ridge=0.1)
    True
    >>> ControlBurn(solver=BestSubset(), lam=0.1)
    Traceback (most recent call last):
    treeselect.errors.MethodError: ControlBurn can't have `best_subset=True` and `lam=0.1` together.
      One counts units, the other prices them.
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
        """What a keyword says, also where an object said it."""
        if name in DEFAULTS and name != "forest":
            return (DEFAULTS | self.forest.keywords() | self.solver.keywords())[name]
        raise AttributeError(f"ControlBurn has no attribute {name!r}")

    def __repr__(self) -> str:
        """The call that makes it, in keywords, without what is the default."""
        return self.text

    @classmethod
    def published(cls) -> ControlBurn:
        """The paper's form: one forest, all units tried at each split, no adaptive prices,
        convergence by the tail alone."""
        return cls(forest=Forest(forests=1, min_trees=1), solver=Penalty(adaptive=False))

    # --- what it is ---

    @property
    def reads_columns(self) -> bool:
        """Whether the trees of another library are to find their rows."""
        return self.forest.was_fitted

    @property
    def was_fitted(self) -> bool:
        """Whether the trees are those of a forest that was there before."""
        return self.forest.was_fitted

    @property
    def note(self) -> str | None:
        """What a reader should know of a forest that was there before."""
        return self.forest.note

    @property
    def tuning_value(self) -> float | None:
        """The fixed penalty, None for the whole path."""
        return self.solver.tuning_value

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether the training scores are out of bag: those of refined sets are."""
        return self.solver.refine

    @property
    def why_left_out(self) -> str:
        """Why units never enter the path: half a sentence."""
        return self.left_out + (NO_FURTHER if self.solver.refine else "")

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Keywords and what they are by default."""
        return dict(DEFAULTS)

    def options(self) -> dict[str, Any]:
        """All options as keywords; a fitted forest by its type."""
        said = DEFAULTS | self.forest.words() | self.solver.words()
        return {name: value for name, value in said.items() if name not in self.forest.idle}

    # --- what it does ---

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units along a falling penalty (see ``Method.path``)."""
        self.solver.check(task.problem)
        _check_weight(task)
        pool, warning = self.forest.pool(task)
        with one_thread():
            steps = self.solver.steps(task, pool)
        steps = self.solver.ended(task, steps)
        return tuple(dataclasses.replace(step, warning=warning) for step in steps)

    @property
    def predicts_any_set(self) -> bool:
        """Whether a forest is refitted: the sparse forest is that of a step."""
        return self.solver.refit_trees is not None

    def final_model(self, task: Task, step: Step) -> Model:
        """Forest on the selected units (paper, section 3.1: the final step), or the sparse forest
        of the step."""
        n_trees = self.solver.refit_trees
        if n_trees is not None:
            return refit_forest(
                task.problem, task.weights, step.selected, seed=task.seed, n_trees=n_trees,
                n_threads=task.n_threads,
            )  # fmt: skip
        if step.size == 0:
            return no_trees(task.problem, task.weight)
        own = step.ensemble
        if own is None or not np.array_equal(own.groups, step.selected):
            own = self._solved_again(dataclasses.replace(task, max_size=step.size), step)
        return dataclasses.replace(own, groups=step.selected)

    def _solved_again(self, task: Task, step: Step) -> WeightedForest:
        """The sparse forest of a set that is not one of its path: trees are grown again, and those
        that use nothing else solve a problem of their own, with prices of their own, at the same
        penalty."""
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
