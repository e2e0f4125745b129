"""The sparse forest in other forms: of the hinge loss, of the squared error, with constraints.

The hinge loss makes it a linear program; the squared error is solved exactly from the Gram matrix
of the trees. As a cvxpy problem, solved by CLARABEL's interior-point method, it takes constraints
of the user, and is the reference of the others: its matrix is written out, so that it is for some
thousands of rows and some hundreds of trees.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.linear.homotopy import Homotopy
from treeselect.engine.losses import HingeLoss, Loss
from treeselect.engine.sparse.weights import SparseForest, TreeColumns, WeightedTrees
from treeselect.errors import MethodError

if TYPE_CHECKING:
    from typing import Self

# --- the sparse forest of the hinge loss: a linear program in its dual form --------------------

# A linear program in its dual form: with s = 2 y - 1 the dual of problem (2) is
#
#     maximise sum_i alpha_i (1 - s_i F0_i)  over  0 <= alpha_i <= share_i,  sum_i s_i alpha_i = 0,
#         sum_i alpha_i s_i A_it <= lam u_t  for every tree t
#
# It has a row for each tree and a bounded variable for each row of the data; the weights are the
# multipliers of its rows, the intercept that of the equation. Trees whose row is violated are added
# until there are none.

_AT_ONCE = 10
"""Violated trees that are added before the program is solved again."""

_ROUNDING = 1e-9


class HingeForest(SparseForest):
    """The problem for the hinge loss; without a ridge, which needs a quadratic program."""

    def empty(self) -> WeightedTrees:
        return self._solve(0.0, self.prices == 0)._replace(lam=np.inf)

    def solve(self, lam: float, start: WeightedTrees) -> WeightedTrees:
        """Solution at `lam`; the trees of the start are looked at first."""
        inside = (start.weights > 0) | (self.prices == 0)
        while True:
            found = self._solve(lam, inside)
            excess = np.where(inside, 0.0, self.correlation(found.eta) - lam * self.prices)
            entering = np.argsort(-excess, kind="stable")[:_AT_ONCE]
            entering = entering[excess[entering] > self._tolerance]
            if len(entering) == 0:
                return found
            inside[entering] = True

    def _solve(self, lam: float, inside: BoolArray) -> WeightedTrees:
        """Solution with some trees alone; keeps the products of all trees with its multipliers."""
        from scipy.optimize import linprog

        trees, sign = np.flatnonzero(inside), 2.0 * self.y - 1.0
        columns = np.hstack([self.columns.block(trees, rows) for rows in self.columns.blocks()])
        found: Any = linprog(
            sign * self.base - 1.0,
            A_ub=columns * sign,
            b_ub=lam * self.prices[trees],
            A_eq=sign[np.newaxis],
            b_eq=[0.0],
            bounds=[(0.0, share) for share in self.share],
        )
        if found.status != 0:
            raise MethodError(
                "The linear program of the hinge loss could not be solved.\n"
                f"  The solver says: {found.message} Use a larger `lam`, or another `loss`."
            )
        weights = np.zeros(self.n_trees)
        weights[trees] = np.maximum(-found.ineqlin.marginals, 0.0)
        weights[weights < _ROUNDING * weights.max(initial=0.0)] = 0.0
        intercept = -np.asarray(found.eqlin.marginals)
        eta = self.predictor(weights, intercept)
        self._seen = (eta, self.columns.correlate(found.x * sign))
        return WeightedTrees(lam, weights, intercept, eta)


# --- the sparse forest of the squared error ----------------------------------------------------

_MOST_TREES = 3000
"""Larger forests are solved without their Gram matrix."""

_NEAR_END = 0.1
"""Where in a segment of the path its solution is looked at, from its end; at the end itself a
weight may be 0 again."""


class GramForest(SparseForest):
    """The problem for half the squared error, solved exactly. With `sketch`, a number of rows and a
    seed, the Gram matrix is that of so many Gaussian combinations of the rows (problem 3 of the
    paper)."""

    is_exact = True

    def _prepare(self, sketch: tuple[int, int] | None = None) -> None:
        columns, residual = self.columns, self.y - self.base
        self._mean = columns.correlate(self.share)
        self._middle = float(self.share @ residual)
        if sketch is None:
            self._linear = columns.correlate(self.share * (residual - self._middle))
            self._gram = columns.gram(self.share) - np.outer(self._mean, self._mean)
        else:
            rng = np.random.default_rng(sketch[1])
            mixed = columns.sketch(self.share, residual - self._middle, self._mean, sketch[0], rng)
            self._gram = mixed[:, :-1].T @ mixed[:, :-1] / sketch[0]
            self._linear = mixed[:, :-1].T @ mixed[:, -1] / sketch[0]
        self._gram[np.diag_indices_from(self._gram)] += self.ridge
        self._path = Homotopy(self._gram, self._linear, self.prices)

    def with_prices(self, prices: FloatArray) -> Self:
        other = super().with_prices(prices)
        other._path = Homotopy(self._gram, self._linear, prices)
        return other

    def empty(self) -> WeightedTrees:
        return self.solve(np.inf, None)

    def largest_lam(self, empty: WeightedTrees) -> float:
        first = self._path.segment(0)
        return 0.0 if first is None else first.low

    def solve(self, lam: float, start: WeightedTrees | None) -> WeightedTrees:
        """Solution at `lam`; the start has no influence."""
        weights = self._path.at(lam)
        intercept = self._middle - float(self._mean @ weights)
        eta = self.base + intercept + self.columns.combine(weights)
        return WeightedTrees(lam, weights, np.array([intercept]), eta)

    def penalties(self, largest: float, end: float) -> Iterator[float]:
        """One penalty inside each segment of the path, from the top."""
        number = 1
        while (found := self._path.segment(number)) is not None and found.high > end:
            number += 1
            if found.high - found.low > 1e-12 * found.high:
                yield max(found.low + _NEAR_END * (found.high - found.low), end)


def sparse_forest(
    columns: TreeColumns, loss: Loss, *problem: Any, ridge: float = 0.0,
    sketch: tuple[int, int] | None = None,
) -> SparseForest:  # fmt: skip
    """The problem of :class:`SparseForest` in the form that is fastest to solve; a Gaussian sketch
    needs squared error."""
    if isinstance(loss, HingeLoss):
        if ridge > 0 or sketch is not None:
            raise ValueError("the hinge loss allows neither a ridge penalty nor a Gaussian sketch")
        return HingeForest(columns, loss, *problem)
    if sketch is not None and not loss.is_squared:
        raise ValueError("a Gaussian sketch needs squared error")
    few = loss.is_squared and columns.n_trees <= _MOST_TREES
    if few or sketch is not None:
        return GramForest(columns, loss, *problem, ridge=ridge, sketch=sketch)
    return SparseForest(columns, loss, *problem, ridge=ridge)


_PATH_RATIO = 0.8

_SMALLEST = 1e-6
"""Weights that are smaller, as a share of the largest, are taken for 0: an interior-point method
comes near to it only."""

_USUAL = 0.1
"""Weight of which that share is taken if all are smaller. Trees are unshrunk predictions: those
that matter have weights of this size."""

_SOLVED = ("optimal", "optimal_inaccurate")
"""Inaccurate: to some millionths instead of hundred-millionths."""

_BEYOND = 2.0
"""Penalty of the empty forest, as a multiple of that at which the first tree would enter."""


class ModelledForest(SparseForest):
    """The problem with constraints on the weights: `constrain` is from their variable, (n_trees,),
    to a sequence of cvxpy constraints, none by default. Raises a MethodError if there are none in
    what it gives, or they are not convex; from its methods, if no weights meet them, or the solver
    fails."""

    def _prepare(self, constrain: Callable[[Any], Sequence[Any]] | None = None) -> None:
        import cvxpy

        weights = cvxpy.Variable(self.n_trees, nonneg=True)
        intercept = cvxpy.Variable(self.loss.n_outputs)
        price = cvxpy.Parameter(self.n_trees, nonneg=True)
        eta = self._predictor(cvxpy, weights, intercept)
        target = self.loss.modelled(self.y, eta, self.share) + price @ weights
        if self.ridge > 0:
            target += self.ridge / 2 * cvxpy.sum_squares(weights)
        target *= self.columns.n_rows  # coefficients near 1, by which the solver is more exact
        constraints = [] if constrain is None else _checked(constrain(weights))
        self._model = cvxpy.Problem(cvxpy.Minimize(target), constraints)
        self._variables = (weights, intercept, price)

    def _predictor(self, cvxpy: Any, weights: Any, intercept: Any) -> Any:
        """Linear predictor of the rows, shape (n_rows,) or (n_rows, n_outputs)."""
        columns = np.hstack(
            [self.columns.block(np.arange(self.n_trees), rows) for rows in self.columns.blocks()]
        )
        moved = columns.T @ weights
        if self.loss.n_outputs == 1:
            return self.base + moved + intercept[0]
        shape = (self.columns.n_rows, self.loss.n_outputs)
        eta = cvxpy.reshape(moved, shape, order="C") + self.base
        return eta + np.ones((shape[0], 1)) @ cvxpy.reshape(intercept, (1, shape[1]), order="C")

    def empty(self) -> WeightedTrees:
        """What the constraints and trees without a price leave at a very large penalty."""
        largest = super().largest_lam(self._start())
        return self.solve(_BEYOND * largest, self._start())._replace(lam=np.inf)

    def largest_lam(self, empty: WeightedTrees) -> float:
        """Penalty above which no priced tree has a weight that need not have one."""
        return max(super().largest_lam(self._start()), super().largest_lam(empty))

    def _start(self) -> WeightedTrees:
        return WeightedTrees(
            np.inf, np.zeros(self.n_trees), np.zeros(self.loss.n_outputs), self.base
        )

    def penalties(self, largest: float, end: float) -> Iterator[float]:
        """Penalties at which to look at the path: each eight tenths of the last."""
        lam = largest
        while lam > end:
            yield lam
            lam *= _PATH_RATIO

    def solve(self, lam: float, start: WeightedTrees | None) -> WeightedTrees:
        """Solution at `lam`; the start has no influence."""
        import cvxpy

        weights, intercept, price = self._variables
        price.value = lam * self.prices
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # the status says it, too
                self._model.solve(solver=cvxpy.CLARABEL)
            status = str(self._model.status)
        except cvxpy.SolverError as error:
            status = str(error)
        if status in ("infeasible", "infeasible_inaccurate"):
            raise MethodError(
                "`constraints` can't be met by any non-negative weights.\n"
                f"  Found: the problem is {status}. Relax one of them."
            )
        if status not in _SOLVED:
            raise MethodError(
                f"The sparse-forest problem could not be solved at the penalty {lam:g}.\n"
                f"  The solver says: {status}. Use fewer trees, a `sketch`, or a larger `lam`."
            )
        found = np.maximum(np.asarray(weights.value, dtype=np.float64), 0.0)
        found[found <= _SMALLEST * found.max(initial=_USUAL)] = 0.0
        shift = np.asarray(intercept.value, dtype=np.float64)
        if self.loss.n_outputs > 1:
            shift = shift - shift[-1]
        return WeightedTrees(lam, found, shift, self.predictor(found, shift))


def _checked(constraints: Any) -> list[Any]:
    """Constraints that cvxpy takes."""
    from cvxpy.constraints.constraint import Constraint

    found = list(constraints) if isinstance(constraints, list | tuple) else [constraints]
    for constraint in found:
        if not isinstance(constraint, Constraint) or not constraint.is_dcp():
            kind = "not convex" if isinstance(constraint, Constraint) else "no constraint"
            raise MethodError(
                "`constraints` must give a list of convex cvxpy constraints.\n"
                f"  Found: {constraint!s:.100}, which is {kind}."
            )
    return found
