"""What one partition of the rows tells of another: cells of units, entropy, information."""

from __future__ import annotations

import numpy as np

from treeselect.algorithms.base import Problem
from treeselect.design import FloatArray, IntArray, WeightArray
from treeselect.engine.binning import BinnedData


def row_mass(weight: WeightArray) -> tuple[IntArray, FloatArray]:
    """The rows with weight and how often each counts: whole weights are copies, others have the
    mean 1."""
    rows = np.flatnonzero(weight > 0)
    scale = len(rows) / weight[rows].sum() if weight.dtype.kind == "f" else 1.0
    return rows, np.asarray(weight[rows] * scale)


def mutual_information(x: IntArray, y: IntArray, mass: FloatArray) -> float:
    """Mutual information of two partitions of the rows, in nats, less what is expected of
    independent ones.

    Parameters
    ----------
    x, y : ndarray of int64, shape (n_rows,)
        Cells, numbered from 0 without gaps.
    mass : ndarray of float, shape (n_rows,)
        How often each row counts.
    """
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
    """Cells of a unit: the combinations of its columns' bins that are there."""
    cells = np.zeros(len(rows), dtype=np.int64)
    for j in range(data.group_start[group], data.group_start[group + 1]):
        codes = data.column(j)[rows].astype(np.int64)
        if not data.is_factor[j]:
            known = codes > 0
            codes[known] = 1 + coarsened(codes[known], mass[known], n_bins)
        codes = np.unique(codes, return_inverse=True)[1]
        cells = np.unique(cells * (codes.max() + 1) + codes, return_inverse=True)[1]
    return cells


def coarsened(values: IntArray | FloatArray, mass: FloatArray, n_bins: int) -> IntArray:
    """Bins of about equal weight, numbered from 0 with gaps; equal values stay together, and few
    distinct ones as they are."""
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) <= n_bins:
        return np.asarray(place, dtype=np.int64)
    share = np.bincount(place, mass)
    middle = (np.cumsum(share) - share / 2) / share.sum()
    return np.asarray(np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)[place])


def response_cells(
    problem: Problem, weight: WeightArray, rows: IntArray, mass: FloatArray, n_bins: int
) -> IntArray:
    """Classes as they are, numbers and counts in bins; with an offset the bins are those of the
    negative gradient at the constant model."""
    if problem.family.has_classes and problem.offset is None:
        labels = problem.y[rows].astype(np.int64)
    else:
        eta = problem.constant(weight)
        left = problem.family.loss.negative_gradient(problem.y, eta)[rows]
        labels = coarsened(left, mass, n_bins)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)
