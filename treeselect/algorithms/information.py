"""Information between partitions of the rows: cells of units, entropy, mutual information."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.columns import BinnedData
from treeselect.engine.rounding import PRECISION, levels

_MOST_EMPTY = 100
"""Cells per row up to which empty cells are counted, too."""

_ROUNDING = 1e-12
"""Information up to this is rounding error."""


def row_mass(weights: RowWeights) -> tuple[IntArray, FloatArray]:
    """The rows with positive weight, and their masses: integer weights count copies, others have
    mean 1."""
    rows = weights.rows
    own = weights.values[rows]
    scale = 1.0 if weights.are_copies else len(rows) / own.sum()
    return rows, np.asarray(own * scale)


def mutual_information(x: IntArray, y: IntArray, mass: FloatArray) -> float:
    """Mutual information of two partitions of the rows, in nats, minus its expectation under
    independence."""
    n_x, n_y = int(x.max()) + 1, int(y.max()) + 1
    total = mass.sum()
    both = np.bincount(x * n_y + y, mass, n_x * n_y).reshape(n_x, n_y) / total
    apart = both.sum(axis=1, keepdims=True) * both.sum(axis=0, keepdims=True)
    there = both > 0
    plain = float((both[there] * np.log(both[there] / apart[there])).sum())
    return plain - (n_x - 1) * (n_y - 1) / (2 * float(total))


def unit_cells(
    data: BinnedData, group: int, rows: IntArray, mass: FloatArray, n_bins: int
) -> IntArray:
    """Cells of a unit: the observed combinations of its columns' bins."""
    columns = []
    for j in range(data.group_start[group], data.group_start[group + 1]):
        codes = data.column(j)[rows].astype(np.int64)
        if not data.is_factor[j]:
            known = codes > 0
            codes[known] = 1 + coarsened(codes[known], mass[known], n_bins)
        columns.append(codes)
    return joint_cells(columns, len(rows))


def joint_cells(columns: Iterable[IntArray], n_rows: int) -> IntArray:
    """Number, from 0 without gaps, of the combination of codes that each row has."""
    cells = np.zeros(n_rows, dtype=np.int64)
    for column in columns:
        codes = np.unique(column, return_inverse=True)[1]
        cells = np.unique(cells * (codes.max() + 1) + codes, return_inverse=True)[1]
    return cells


def coarsened(values: IntArray | FloatArray, mass: FloatArray, n_bins: int) -> IntArray:
    """Bins of about equal weight, numbered from 0 with gaps; ties share a bin, and few distinct
    values keep one each."""
    place = levels(np.asarray(values, dtype=np.float64))
    if place.max(initial=0) < n_bins:
        return place
    share = np.bincount(place, mass)
    middle = (np.cumsum(share) - share / 2) / share.sum()
    return np.asarray(
        np.minimum(((middle + PRECISION) * n_bins).astype(np.int64), n_bins - 1)[place]
    )


def response_cells(
    problem: Problem, weight: WeightArray, rows: IntArray, mass: FloatArray, n_bins: int
) -> IntArray:
    """Cells of the response: classes, or bins of numbers and counts; with an offset, and for
    survival times, bins of the negative gradient at the null model."""
    if problem.splits_classes:
        labels = problem.y[rows].astype(np.int64)
    else:
        labels = coarsened(problem.gradient(weight)[rows], mass, n_bins)
    return joint_cells([labels], len(rows))


class Uncertainties:
    """Symmetrical uncertainty of units with the response and with each other, computed as needed.

    It is ``I(x, y) / H``, where I is the mutual information of the two partitions and H the mean of
    their entropies: 0 under independence, 1 if each determines the other. The expectation under
    independence (see :func:`mutual_information`) is subtracted from both; otherwise it would be 1
    for units with many cells. Values are at least 0 and rounded to 12 digits, so that exact copies
    are equal.
    """

    def __init__(self, cells: Sequence[IntArray], response: IntArray, mass: FloatArray) -> None:
        # The smallest sufficient integer type: there may be thousands of units.
        self.n_cells = np.array([c.max() + 1 for c in cells])
        self._cells = [c.astype(np.min_scalar_type(int(c.max()))) for c in cells]
        self._mass = mass
        self._entropy = _entropies(cells, self.n_cells, mass)
        self._n_response = int(response.max()) + 1
        self._response = response

    def relevance(self) -> FloatArray:
        """Symmetrical uncertainty of each unit with the response, shape (n_units,)."""
        own = _entropies([self._response], np.array([self._n_response]), self._mass)
        everything = np.arange(len(self._cells))
        return self._with(self._response, self._n_response, float(own[0]), everything)

    def between(self, unit: int, others: IntArray) -> FloatArray:
        """Symmetrical uncertainty of a unit with some units, shape (n_others,)."""
        cells = self._cells[unit].astype(np.int64)
        return self._with(cells, int(self.n_cells[unit]), float(self._entropy[unit]), others)

    def _with(self, y: IntArray, n_y: int, entropy: float, units: IntArray) -> FloatArray:
        n_cells = self.n_cells[units]
        joint = (self._cells[u] * np.int64(n_y) + y for u in units)
        apart = self._entropy[units] + entropy
        by_chance = (n_cells - 1) * (n_y - 1) / (2 * self._mass.sum())
        shared = apart - _entropies(joint, n_cells * n_y, self._mass) - by_chance
        # I is at most H: if I remains positive, so does H.
        most = np.maximum(apart / 2 - by_chance, _ROUNDING)
        found = np.where(shared > _ROUNDING, np.minimum(shared / most, 1.0), 0.0)
        return np.asarray(np.round(found, 12))


def uncertainties(problem: Problem, weights: RowWeights, n_bins: int) -> Uncertainties:
    """The symmetrical uncertainties of a problem, from the rows with weight."""
    rows, mass = row_mass(weights)
    units = range(len(problem.groups.names))
    cells = [unit_cells(problem.data, g, rows, mass, n_bins) for g in units]
    return Uncertainties(cells, response_cells(problem, weights.values, rows, mass, n_bins), mass)


def _entropies(cells: Iterable[IntArray], n_cells: IntArray, mass: FloatArray) -> FloatArray:
    """Entropy of each partition, in nats; cells may be empty."""
    found = np.empty(len(n_cells))
    total = mass.sum()
    for at, (own, n) in enumerate(zip(cells, n_cells, strict=True)):
        if n > _MOST_EMPTY * len(own):
            own = np.unique(own, return_inverse=True)[1]
        share = np.bincount(own, mass) / total
        share = share[share > 0]
        found[at] = -(share @ np.log(share))
    return found
