"""The rows that sets are judged on: all with positive weight, or a random sample of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.algorithms.shared.task import Task
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.data.binning import BinnedData, take_rows


class Rows(NamedTuple):
    """Rows to judge sets on, stored separately, so that other rows cost nothing.

    Attributes
    ----------
    places : ndarray of int64, shape (n_own_rows,)
        In increasing order.
    n_all : int
        Number of rows of the task.
    data : BinnedData
    weights : RowWeights
        All above 0.
    """

    places: IntArray
    n_all: int
    data: BinnedData
    weights: RowWeights

    def among_all(self, values: FloatArray) -> FloatArray:
        """Values of these rows at their places among all rows; NaN elsewhere."""
        found = np.full((self.n_all, *values.shape[1:]), np.nan)
        found[self.places] = values
        return found


def rows_to_judge(task: Task, most: int | None = None) -> Rows:
    """The rows of a task with positive weight, or a random sample of at most `most` of them."""
    data, places = task.problem.data, np.flatnonzero(task.weight)
    if most is not None and len(places) > most:
        rng = np.random.default_rng(task.seeded("rows", most).seed)
        places = np.sort(rng.choice(places, most, replace=False))
    own = data if len(places) == data.n_rows else take_rows(data, places)
    return Rows(places, data.n_rows, own, task.weights.of(places))
