"""Predictions of each row by the trees that have not seen it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.cache import kernel
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.ensembles.forests import Sampling
from treeselect.engine.ensembles.leaves import leaf_of
from treeselect.engine.growing.nodes import Trees
from treeselect.engine.random import draw_bag, tree_seeds


class OutOfBag(NamedTuple):
    """Out-of-bag predictions of a forest.

    Attributes
    ----------
    prediction : ndarray of float64, shape (n_rows, n_outputs)
        Mean over the trees that have not seen the row; NaN where all have, or where its weight
        is 0.
    n_trees : ndarray of int64, shape (n_rows,)
        Number of these trees.
    """

    prediction: FloatArray
    n_trees: IntArray


def out_of_bag(
    trees: Trees, data: BinnedData, weight: IntArray, sampling: Sampling, seed: int
) -> OutOfBag:
    """Out-of-bag predictions of a forest that was grown on these data.

    Parameters
    ----------
    trees : Trees
        From ``forests.bagged_forest`` with the `weight`, `sampling` and `seed` given here, whose
        bags are drawn again.
    data : BinnedData
    weight : ndarray of int64, shape (n_rows,)
    sampling : Sampling
    seed : int

    Returns
    -------
    OutOfBag
    """
    total = np.zeros((data.n_rows, trees.nodes.value.shape[1]))
    count, bag = np.zeros((2, data.n_rows), dtype=np.int64)
    add_out_of_bag(
        trees.nodes, trees.start, data,
        np.flatnonzero(weight).astype(np.int64), sampling, tree_seeds(seed, trees.n_trees),
        np.zeros(1, dtype=np.uint64), bag, np.zeros(data.n_rows, dtype=np.uint32), total, count,
    )  # fmt: skip
    known = np.maximum(count, 1)[:, np.newaxis]
    return OutOfBag(np.where(count[:, np.newaxis] > 0, total / known, np.nan), count)


@kernel
def add_out_of_bag(
    nodes, start, data, in_rows, sampling, seeds, state, bag, spare, total, count
):  # fmt: skip
    """Add the value of every tree to the rows that are not in its bag."""
    for tree in range(seeds.shape[0]):
        state[0] = seeds[tree]
        draw_bag(state, in_rows, sampling.replace, sampling.share, bag, spare)
        for r in range(in_rows.shape[0]):
            i = in_rows[r]
            if bag[i] > 0:
                continue
            at = leaf_of(nodes, start[tree], data, i)
            count[i] += 1
            for k in range(total.shape[1]):
                total[i, k] += nodes.value[at, k]
