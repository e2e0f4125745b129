"""Boosted trees fitted to the selected units: what `refit("boosting")` predicts by."""

from __future__ import annotations

import dataclasses

import numpy as np

from treeselect.algorithms.gbfs import GBFS, Ensembles
from treeselect.algorithms.shared.task import Task
from treeselect.designs.design import FeatureGroups
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray
from treeselect.engine.data.binning import select_groups
from treeselect.engine.growing.nodes import group_gains
from treeselect.engine.random import stream_seed
from treeselect.models.boosted import BoostedModel


def fit_boosted(
    problem: Problem, weights: RowWeights, groups: BoolArray, *, seed: int, n_threads: int = 1
) -> BoostedModel:
    """Boost trees on some groups.

    Newton steps with shrinkage 0.1 on trees of depth 2, 4 or 6, as many as give the lowest loss on
    a fifth of the rows (or groups of rows) that is held out
    (:class:`~treeselect.algorithms.gbfs.GBFS`), with the leaves of a refitted forest.
    """
    family = problem.family
    constant = np.atleast_1d(family.loss.constant(problem.y, weights.values, problem.offset))
    constant, importance = constant.astype(np.float64), np.zeros(len(groups))
    if not groups.any():
        return BoostedModel(groups, None, constant, importance, family)
    part = dataclasses.replace(
        problem,
        data=select_groups(problem.data, groups),
        groups=_free_groups(problem.groups, groups),
        exact=None,
        columns=None,
    )
    rules = GBFS(n_trees=None, max_depth=None, min_leaf=family.min_leaf, newton=True)
    task = Task(
        part,
        weights,
        max_size=len(groups),
        seed=stream_seed(seed, "boosting"),
        n_threads=n_threads,
    )
    trees = Ensembles(rules, task).grow(0.0).trees
    importance[groups] = group_gains(trees, part.data).sum(axis=0)
    return BoostedModel(groups, trees, constant, importance, family)


def _free_groups(groups: FeatureGroups, chosen: BoolArray) -> FeatureGroups:
    """Some of the groups, renumbered; each costs 1, which is not charged."""
    at = np.flatnonzero(chosen)
    used = chosen[groups.ids]
    return FeatureGroups(
        names=tuple(groups.names[g] for g in at),
        terms=tuple(groups.terms[g] for g in at),
        ids=(np.cumsum(chosen) - 1)[groups.ids[used]],
        items=tuple(np.array([g]) for g in range(len(at))),
        item_costs=np.ones(len(at)),
        keep=groups.keep[at],
        keys=tuple(groups.keys[g] for g in at),
    )
