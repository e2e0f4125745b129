"""What units say alone, without any draw."""

from __future__ import annotations

import numpy as np

from treeselect.algorithms.shared.targets import target_of
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import BoolArray, FloatArray, WeightArray
from treeselect.engine.data.binning import select_groups
from treeselect.engine.data.targets import copies
from treeselect.engine.ensembles.forests import ALL_ROWS, bagged_forest
from treeselect.engine.ensembles.prediction import predict_mean
from treeselect.engine.growing.growth import Growth

_DEPTH, _LEAST_SHARE, _LEAST_ROWS = 3, 50, 5


class Alone:
    """How much of the response single units tell.

    A unit's measure is the share of the variance that one tree on it alone explains, adjusted for
    its number of leaves as R squared is for coefficients, so that a factor of many levels has no
    advantage. It depends on the rows only: nothing is drawn.

    Parameters
    ----------
    problem : Problem
    truth : ndarray of float, shape (n_rows, n_outputs)
        What is to be told.
    weight : ndarray, shape (n_rows,)
    """

    def __init__(self, problem: Problem, truth: FloatArray, weight: WeightArray) -> None:
        self._data, self._truth, self._weight = problem.data, truth, weight
        self._known: dict[int, float] = {}

    def of(self, selected: BoolArray) -> float:
        """Sum over the units of a set."""
        units = np.flatnonzero(selected).tolist()
        for unit in units:
            if unit not in self._known:
                self._known[unit] = self._measure(unit, len(selected))
        return float(sum(sorted(self._known[unit] for unit in units)))

    def _measure(self, unit: int, n_units: int) -> float:
        part = select_groups(self._data, np.arange(n_units) == unit)
        counts = copies(self._weight)
        n = int(counts.sum())
        tree = bagged_forest(
            part, target_of(self._truth, self._weight), counts, n_trees=1, seed=0,
            growth=Growth(_DEPTH, max(_LEAST_ROWS, n // _LEAST_SHARE), 1, 0.0),
            rank=np.zeros(1, dtype=np.int64), sampling=ALL_ROWS,
        )  # fmt: skip
        rows = counts > 0
        weight, truth = self._weight[rows], self._truth[rows]
        error = ((truth - predict_mean(tree, part)[rows]) ** 2).sum(axis=1) @ weight
        whole = ((truth - np.average(truth, axis=0, weights=weight)) ** 2).sum(axis=1) @ weight
        n_leaves = int((tree.nodes.column < 0).sum())
        if whole <= 0 or n <= n_leaves:
            return 0.0
        return float(1.0 - error / whole * (n - 1) / (n - n_leaves))
