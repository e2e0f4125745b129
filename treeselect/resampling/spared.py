"""Rows that a search spares: on long data, they score its sets.

A method that judges sets on a sample of the rows leaves the others untouched. They are held-out
rows of the very path that is reported, so the path need not be repeated in folds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from treeselect.algorithms.shared.method import Method
from treeselect.designs.problem import Problem
from treeselect.designs.strata import labels_of
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import IntArray
from treeselect.engine.random import stream_seed
from treeselect.resampling.folds import Folds, Split
from treeselect.resampling.splitting import assign_folds

LONG = 2
"""Data are long if they have more than so many times the rows that the search uses."""

_LEAST_RARE = 500
"""Rows of the rarest class that a sample must have, on average."""

_MOST_HELD_OUT = 100_000
"""Rows that score sets, at most: their number bounds the precision of the scores, not of the
models."""


class SparedRows(NamedTuple):
    """Rows that are searched, and parts of the others.

    Attributes
    ----------
    searched : ndarray of int64
    splits : tuple of Split
        All train on the rows searched; the held-out rows have none in common.
    """

    searched: IntArray
    splits: tuple[Split, ...]


def spared_rows(
    problem: Problem, method: Method, weights: RowWeights, folds: Folds, seed: int
) -> SparedRows | None:
    """A sample of the rows to search on, and the others in as many parts as there are folds.

    The sample is stratified by class. None if sets are to be scored by cross-validation: on data
    that are not long or have clusters, for survival times, if the sample would hold fewer than 500
    rows of a class, if the method searches on all rows, and if the folds are repeated or no number.
    """
    most, rows = method.searches_on, weights.rows
    if most is None or len(rows) <= LONG * most or not isinstance(folds.folds, int):
        return None
    if folds.repeats > 1 or weights.groups is not None or problem.family.has_times:
        return None
    if not problem.can_be_cut:
        return None
    n_parts = math.ceil(len(rows) / most)
    labels = labels_of(problem, rows)
    if labels is not None and np.unique(labels, return_counts=True)[1].min() < (
        _LEAST_RARE * n_parts
    ):
        return None
    part = assign_folds(problem, weights, n_parts, stream_seed(seed, "searched"))
    searched, others = np.flatnonzero(part == 0), np.flatnonzero(part > 0)
    n_pieces = folds.folds * math.ceil(len(others) / _MOST_HELD_OUT)
    piece = assign_folds(problem, weights.only(others), n_pieces, stream_seed(seed, "spared"))
    splits = [Split(searched, np.flatnonzero(piece == i)) for i in range(folds.folds)]
    return SparedRows(searched, tuple(splits))
