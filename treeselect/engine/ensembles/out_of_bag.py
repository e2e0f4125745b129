"""Out-of-bag predictions: of each row by the trees whose bootstrap sample does not contain it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, FloatArray, IntArray, UInt64Array
from treeselect.engine.cache import kernel
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.ensembles.forests import Sampling, bags_of, draw
from treeselect.engine.ensembles.leaves import leaf_of
from treeselect.engine.growing.nodes import Trees
from treeselect.engine.random import tree_seeds


class OutOfBag(NamedTuple):
    """Out-of-bag predictions of a forest.

    Attributes
    ----------
    prediction : ndarray of float64, shape (n_rows, n_outputs)
        Mean over the trees for which the row is out of bag; NaN if none, or where its weight
        is 0.
    n_trees : ndarray of int64, shape (n_rows,)
        Number of these trees.
    """

    prediction: FloatArray
    n_trees: IntArray


class BagRoom(NamedTuple):
    """Memory for a bag that is drawn again.

    Attributes
    ----------
    state : ndarray of uint64, shape (1,)
        Random stream.
    counts : ndarray of int64, shape (n_rows,)
        How often each row is in the bag.
    spare : ndarray of uint32, shape (n_rows,)
    """

    state: UInt64Array
    counts: IntArray
    spare: AnyArray


def bag_room(n_rows: int) -> BagRoom:
    """Memory for bags of so many rows."""
    return BagRoom(
        np.zeros(1, dtype=np.uint64),
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(n_rows, dtype=np.uint32),
    )


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
    count = np.zeros(data.n_rows, dtype=np.int64)
    bags = bags_of(weight, sampling, tree_seeds(seed, trees.n_trees))
    add_out_of_bag(trees, data, bags, bag_room(data.n_rows), total, count)
    known = np.maximum(count, 1)[:, np.newaxis]
    return OutOfBag(np.where(count[:, np.newaxis] > 0, total / known, np.nan), count)


@kernel
def add_out_of_bag(trees, data, bags, room, total, count):
    """Add the value of every tree to the rows that are not in its bag."""
    nodes = trees.nodes
    for tree in range(bags.seeds.shape[0]):
        draw(bags, tree, room.state, room.counts, room.spare)
        for r in range(bags.in_rows.shape[0]):
            i = bags.in_rows[r]
            if room.counts[i] > 0:
                continue
            at = leaf_of(nodes, trees.start[tree], data, i)
            count[i] += 1
            for k in range(total.shape[1]):
                total[i, k] += nodes.value[at, k]
