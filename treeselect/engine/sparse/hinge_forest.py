"""The sparse forest of the hinge loss: a linear program in its dual form.

With s = 2 y - 1 the dual of problem (2) is::

    maximise sum_i alpha_i (1 - s_i F0_i)  over  0 <= alpha_i <= share_i,  sum_i s_i alpha_i = 0,
        sum_i alpha_i s_i A_it <= lam u_t  for every tree t

It has a row for each tree and a bounded variable for each row of the data; the weights are the
multipliers of its rows, the intercept that of the equation. Trees whose row is violated are added
until there are none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeselect.engine.arrays import BoolArray
from treeselect.engine.sparse.tree_weights import SparseForest, WeightedTrees
from treeselect.errors import MethodError

_AT_ONCE = 10
"""Violated trees that are added before the program is solved again."""

_ROUNDING = 1e-9


class HingeForest(SparseForest):
    """The problem of ``tree_weights`` for the hinge loss; without a ridge, which needs a quadratic
    program.

    The parameters are those of :class:`SparseForest`.
    """

    def empty(self) -> WeightedTrees:
        """Solution at an infinite penalty: only trees without a price, and the intercept."""
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
