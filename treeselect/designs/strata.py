"""Stratified draws: rows by class, or by whether they end in an event; clusters by the rarest of
their classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.designs.problem import Problem
from treeselect.designs.survival import tells_risks
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import IntArray
from treeselect.engine.survival.times import EVENT


class Units(NamedTuple):
    """What is drawn as a whole: rows, or clusters of rows.

    Attributes
    ----------
    of_row : ndarray of int64, shape (n_used,)
        Unit of each row with a weight; units are numbered in the order of their first rows.
    stratum : ndarray of int64, shape (n_units,)
        Number of the class among those that occur, in their order; of times whether there is an
        event; 0 for numbers.
    """

    of_row: IntArray
    stratum: IntArray


def labels_of(problem: Problem, rows: IntArray) -> IntArray | None:
    """What rows are spread by, shape (n_rows,): their class, or 1 for an event and 0 for none; None
    for numbers."""
    if problem.family.has_times:
        return problem.y[rows, EVENT].astype(np.int64)
    return problem.y[rows].astype(np.int64) if problem.family.has_classes else None


def varies(problem: Problem, rows: IntArray) -> bool:
    """Whether the response varies among these rows: different values, or for times an event while
    others are at risk."""
    if problem.family.has_times:
        return tells_risks(problem.y[rows])
    return len(np.unique(problem.y[rows])) > 1


def units_of(problem: Problem, weights: RowWeights) -> Units:
    """The units of the rows with a weight.

    A group with rows of several classes counts as one of the rarest of them, so that rare classes
    are spread.
    """
    rows, groups = weights.rows, weights.blocks
    of_row = np.arange(len(rows))
    if groups is not None:
        _, first, number = np.unique(groups[rows], return_index=True, return_inverse=True)
        of_row = np.argsort(np.argsort(first))[number]
    n = int(of_row.max(initial=-1)) + 1
    own = labels_of(problem, rows)
    if own is None:
        return Units(of_row, np.zeros(n, dtype=np.int64))
    classes, label = np.unique(own, return_inverse=True)
    from_rarest = np.argsort(np.bincount(label, weights=weights.values[rows]), kind="stable")
    place = np.full(n, len(classes))
    np.minimum.at(place, of_row, np.argsort(from_rarest)[label])
    return Units(of_row, from_rarest[place])
