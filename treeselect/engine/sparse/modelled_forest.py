"""The sparse forest as a cvxpy problem: the reference, and the way to user-defined constraints.

The problem is that of ``tree_weights``, of every loss, solved by CLARABEL's interior-point method.
Its matrix is written out, so that it is for some thousands of rows and some hundreds of trees.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.losses import Loss
from treeselect.engine.sparse.tree_columns import TreeColumns
from treeselect.engine.sparse.tree_weights import SparseForest, WeightedTrees
from treeselect.errors import MethodError

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
    """The problem of ``tree_weights`` with constraints on the weights.

    The parameters are those of :class:`SparseForest`, and ``constrain``: from the variable of the
    weights, shape (n_trees,), to a sequence of cvxpy constraints; none by default.

    Raises
    ------
    MethodError
        If there are no constraints in what `constrain` gives, or they are not convex; from its
        methods, if no weights meet them, or the solver fails.
    """

    def __init__(
        self,
        columns: TreeColumns,
        loss: Loss,
        y: FloatArray,
        weight: WeightArray,
        base: FloatArray,
        prices: FloatArray,
        *,
        ridge: float = 0.0,
        constrain: Callable[[Any], Sequence[Any]] | None = None,
    ) -> None:
        import cvxpy

        super().__init__(columns, loss, y, weight, base, prices, ridge=ridge)
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

    def with_prices(self, prices: FloatArray) -> ModelledForest:
        """The same trees and rows at other prices."""
        other = copy.copy(self)
        other.prices = prices
        return other

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
