"""Tests of whether the response depends on a unit given others, on all rows, and the level of a
table of them.

The response, and functions of the unit, are each predicted from the other units for rows that the
prediction has not seen. If the response does not depend on the unit, what is left of one has mean
0 given what is left of the other, so that their products have mean 0 as well.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import scipy

from treeselect.designs.families import GAUSSIAN
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.columns import FREE, select_groups
from treeselect.engine.linear.additive import AdditiveColumns
from treeselect.engine.linear.additive_search import folds_of_clusters, ridge_outside
from treeselect.engine.random import stream_seed
from treeselect.models.forest import Grower, best_forest, n_trees_for
from treeselect.models.stacked import stack_outside

_MOST_ROWS, _TREES = 20_000, 100
"""Rows of a test, and trees of each forest: with as many, even weak dependence is found."""

_CURVES = 3
"""Most directions in which a number may bend."""

_FLAT, _FLAT_BY_PENALTY = 1e-4, 30.0
"""A function is tested if the others leave more of its variance than the first share, and than the
square of the second times its penalty over the number of rows, which is left even of copies."""

_SHARES = 0.5, 0.25, 0.25
"""Weights of levels and slopes, of bends, and of products with other units."""

_EXPECTED, _MOST = 8.0, 600.0
"""Prior variance of a standardised effect, by which e-values reach 20 as early as they can, and the
largest logarithm of an e-value, so that sums of them are numbers."""


class Tested(NamedTuple):
    """A p-value and an e-value."""

    p_value: float
    e_value: float


def dependence_given(
    problem: Problem,
    weights: RowWeights,
    given: BoolArray,
    unit: int,
    seed: int,
    *,
    n_threads: int = 1,
) -> Tested:
    """Test that the response is independent of a unit given some others, by products of
    out-of-sample residuals of both (Shah and Peters 2020): of levels and slopes, bends, and
    products with others (Scheidegger et al. 2022). P-values are combined by Cauchy's distribution,
    e-values by their mean."""
    problem, weights = _some_rows(problem, weights, seed)
    part = select_groups(problem.data, given) if given.any() else None
    others = np.flatnonzero(given).tolist()
    columns = AdditiveColumns(problem.data, weights.values)
    functions, basis = columns.group(unit)
    truth = np.ascontiguousarray(functions.T)
    folds = None if weights.blocks is None else folds_of_clusters(weights.blocks)
    left = np.ascontiguousarray(truth - ridge_outside(columns, others, truth, folds))
    if part is not None and truth.shape[1]:
        own_seed, rank = stream_seed(seed, "unit"), problem.groups.ranks(seed)[given]
        grower = Grower(part, left, weights, GAUSSIAN, own_seed, rank, n_threads)
        left = best_forest(grower, n_trees=n_trees_for(weights, _TREES)).rest(left, weights.values)
    mass = columns.weight
    bends = basis.penalty >= 1
    flat = np.maximum(_FLAT, (_FLAT_BY_PENALTY * basis.penalty / len(left)) ** 2)
    left[:, mass @ left**2 <= flat * (mass @ truth**2)] = 0.0
    slopes, curves = left[:, ~bends], left[:, bends]
    variance, vectors = np.linalg.eigh((curves.T * mass) @ curves)
    main = np.flatnonzero(variance > 1e-6 * variance.max(initial=0.0))[::-1][:_CURVES]
    curves = curves @ vectors[:, main]
    known = [columns.group(g) for g in others]
    beside = [z[:, None] for values, own in known for z in values[own.penalty < 1]]
    parts = [(slopes, 1.0)], [(c[:, None], 1.0) for c in curves.T], [(slopes, z) for z in beside]
    y_left = stack_outside(problem, weights, given, seed, _TREES, n_threads, False)[2]
    found = [
        (share / len(some), *tested)
        for share, some in zip(_SHARES, parts, strict=True)
        for tested in (_test(y_left * z, x, weights) for x, z in some)
        if tested is not None
    ]
    if not found:
        return Tested(1.0, 1.0)
    share, p_values, e_values = np.array(found).T
    share /= share.sum()
    cauchy = share @ (1 / np.tan(np.pi * np.clip(p_values, 1e-15, 0.99)))
    return Tested(float(scipy.stats.cauchy.sf(cauchy)), float(share @ e_values))


def _some_rows(problem: Problem, weights: RowWeights, seed: int) -> tuple[Problem, RowWeights]:
    """The rows with a weight, at most so many of them; no effect is constrained."""
    rows = weights.rows
    if len(rows) > _MOST_ROWS:
        rng = np.random.default_rng(stream_seed(seed, "tests"))
        rows = np.sort(rng.choice(rows, _MOST_ROWS, replace=False))
    free = problem.data._replace(monotone=FREE)
    problem = dataclasses.replace(problem, data=free, exact=None, columns=None)
    return problem.only(rows), weights.of(rows)


def _test(y_left: FloatArray, x: FloatArray, weights: RowWeights) -> Tested | None:
    """Test that products of residuals have mean 0, by Hotelling's statistic about 0; None if all
    are 0. The e-value is a mixture of likelihood ratios over normal effects: its mean is at most 1
    if products are as likely to have the other sign (de la Pena et al. 2004), or in the limit."""
    products = (y_left[:, :, np.newaxis] * x[:, np.newaxis]).reshape(len(x), -1)
    counts = weights.values.astype(np.float64)
    if weights.groups is not None or not weights.are_copies:
        products = products * (counts / counts.mean())[:, np.newaxis]
        counts = np.ones(len(x))
    if weights.groups is not None:
        _, own = np.unique(weights.groups, return_inverse=True)
        products = np.array([np.bincount(own, column) for column in products.T]).T
        counts = np.ones(len(products))
    scale = np.sqrt(counts @ products**2)
    products = products[:, scale > 0] / scale[scale > 0]
    if not products.size:
        return None
    variance, vectors = np.linalg.eigh((products.T * counts) @ products)
    kept = variance > 1e-6 * variance[-1]
    statistic = float((((counts @ products) @ vectors[:, kept]) ** 2 / variance[kept]).sum())
    n, d = float(counts.sum()), int(kept.sum())
    ratio = (n - d) * statistic / max(d * (n - statistic), 1e-12)
    prior = _EXPECTED / np.sqrt(d)
    log_e = (statistic * prior / (1 + prior) - d * np.log1p(prior)) / 2
    return Tested(
        float(scipy.stats.f.sf(ratio, d, max(n - d, 1.0))), float(np.exp(min(log_e, _MOST)))
    )


def closed_levels(e_values: FloatArray) -> FloatArray:
    """For each e-value the lowest false discovery rate, at most 1, at which closed e-BH calls it
    (Xu et al. 2025); of s others the smallest are the worst."""
    order = np.argsort(-e_values, kind="stable")
    falling, m = e_values[order], len(e_values)
    least = np.concatenate([[0.0], np.cumsum(falling[::-1])])  # sums of the smallest
    level = np.empty(m)
    for k in range(1, m + 1):
        called = np.cumsum(falling[:k][::-1])[:, np.newaxis]
        r, s = np.arange(1, k + 1)[:, np.newaxis], np.arange(m - k + 1)
        level[k - 1] = (r * (r + s) / k / np.maximum(called + least[s], 1e-300)).max()
    of_rank = np.minimum(np.minimum.accumulate(level[::-1])[::-1], 1.0)
    return of_rank[np.searchsorted(-falling, -e_values)]
