"""Forests of log relative hazards, scaled by their out-of-bag calibration slope."""

from __future__ import annotations

import numpy as np

from treeselect.designs.problem import Problem
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.ensembles.hazard_leaves import hazard_trees
from treeselect.engine.growing.nodes import Trees, join_trees
from treeselect.models.capacity import Grower, parts_of

_NARROWEST, _WIDEST = 0.1, 10.0
"""Bounds of the slope."""


def with_hazards(grower: Grower, trees: Trees, n_first: int, problem: Problem) -> Trees:
    """The same trees with log hazard ratios in their leaves, scaled out of bag.

    The value of a leaf is the log ratio of observed to expected events under the null model, times
    the slope that fits the out-of-bag values best. A mean over trees that were cut back against
    noise is shrunk too far towards 0; the slope of its out-of-bag values in the partial likelihood
    measures by how much (van Houwelingen 2000).

    Parameters
    ----------
    n_first : int
        See ``capacity.best_trees``.
    """
    weight = grower.weight
    base = problem.constant(weight)
    apart = problem.family.loss.apart(problem.y, weight, base)
    found = [
        hazard_trees(part, grower.data, weight, grower.sampling, seed, apart.y, np.exp(apart.base))
        for part, seed in parts_of(grower, trees, n_first)
    ]
    n_outside = sum((part.n_trees for part in found), np.zeros(len(weight), dtype=np.int64))
    outside = sum((part.total for part in found), np.zeros(len(weight)))
    known = np.where(n_outside > 0, weight, np.zeros_like(weight))
    slope = _slope(problem, known, base, outside / np.maximum(n_outside, 1))
    joined = join_trees([part.trees for part in found])
    return joined._replace(nodes=joined.nodes._replace(value=joined.nodes.value * slope))


def _slope(problem: Problem, weight: WeightArray, base: FloatArray, score: FloatArray) -> float:
    """The coefficient of a score that maximises the partial likelihood, between 0.1 and 10."""
    from scipy.optimize import brentq

    rows = problem.rows(weight)

    def climb(slope: float) -> float:
        return float((weight * score) @ rows.negative_gradient(base + slope * score))

    if not climb(_NARROWEST) > 0:
        return _NARROWEST
    if not climb(_WIDEST) < 0:
        return _WIDEST
    return float(brentq(climb, _NARROWEST, _WIDEST, xtol=1e-6))
