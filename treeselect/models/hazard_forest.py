"""Forests of log relative hazards, as wide apart as the rows outside the bags say."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from treeselect.designs.problem import Problem
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.ensembles.hazard_leaves import hazard_trees
from treeselect.engine.growing.nodes import Trees, join_trees
from treeselect.models.capacity import Grower, parts_of

_NARROWEST, _WIDEST = 0.1, 10.0
"""Between these the slope is sought."""


def with_hazards(grower: Grower, trees: Trees, n_first: int, problem: Problem) -> Trees:
    """The same trees, with the logarithm of events over those that the constant model expects in
    each leaf, times the slope that fits the rows outside the bags best.

    A mean over trees that were cut back for noise is nearer to 0 than what it tells: the slope of
    its out-of-bag values in the partial likelihood says how much (van Houwelingen 2000).

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
    """The coefficient of a score of the largest partial likelihood, from 0.1 to 10."""
    rows = problem.rows(weight)

    def climb(slope: float) -> float:
        return float((weight * score) @ rows.negative_gradient(base + slope * score))

    if not climb(_NARROWEST) > 0:
        return _NARROWEST
    if not climb(_WIDEST) < 0:
        return _WIDEST
    return float(brentq(climb, _NARROWEST, _WIDEST, xtol=1e-6))
