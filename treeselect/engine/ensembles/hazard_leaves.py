"""Leaves of trees as logarithms of events over expected events, by the rows in each tree's bag."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.cache import kernel
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.targets import are_copies, copies
from treeselect.engine.ensembles.forests import Sampling, bags_of, draw
from treeselect.engine.ensembles.leaves import leaf_of
from treeselect.engine.ensembles.ordering import in_order_of
from treeselect.engine.ensembles.out_of_bag import add_out_of_bag, bag_room
from treeselect.engine.growing.nodes import Trees
from treeselect.engine.random import tree_seeds


class HazardTrees(NamedTuple):
    """Trees of log relative hazards, and their out-of-bag predictions.

    Attributes
    ----------
    trees : Trees
    total : ndarray of float64, shape (n_rows,)
        Sum of the values of a row over the trees for which it is out of bag.
    n_trees : ndarray of int64, shape (n_rows,)
        Number of these trees.
    """

    trees: Trees
    total: FloatArray
    n_trees: IntArray


def hazard_trees(
    trees: Trees,
    data: BinnedData,
    weight: WeightArray,
    sampling: Sampling,
    seed: int,
    observed: FloatArray,
    expected: FloatArray,
) -> HazardTrees:
    """The same trees, each leaf with ``log((O + m) / (E + m))``: O events of the rows in the bag, E
    expected ones, and one more row that had as many as the mean m of the expected ones.

    LeBlanc and Crowley (1992), with the hazard of the constant model. Under monotone constraints
    the values are then put in order (``ordering.in_order_of``).

    Parameters
    ----------
    trees : Trees
        From ``forests.bagged_forest`` with the `sampling`, `seed` and copies of rows given here,
        whose bags are drawn again.
    data : BinnedData
    weight : ndarray of int64 or float64, shape (n_rows,)
    sampling : Sampling
    seed : int
    observed, expected : ndarray of float64, shape (n_rows,)
        Events of each row, at least 0.
    """
    mass = weight * (1.0 if are_copies(weight) else 1 / weight[weight > 0].mean())
    mean = float(np.average(expected, weights=weight))
    found = trees._replace(nodes=trees.nodes._replace(value=np.zeros_like(trees.nodes.value)))
    total, count = np.zeros(data.n_rows), np.zeros(data.n_rows, dtype=np.int64)
    bags = bags_of(copies(weight), sampling, tree_seeds(seed, trees.n_trees))
    room = np.zeros((2, len(trees.nodes.column)))
    put_hazards(
        found, data, bags, bag_room(data.n_rows), mass * observed, mass * expected, mean, room,
        total, count,
    )  # fmt: skip
    if len(data.monotone):
        found, count = in_order_of(found, data.monotone), np.zeros_like(count)
        total = np.zeros((data.n_rows, 1))
        add_out_of_bag(found, data, bags, bag_room(data.n_rows), total, count)
        total = total[:, 0]
    return HazardTrees(found, total, count)


@kernel
def put_hazards(trees, data, bags, bag, observed, expected, mean, sums, total, count):
    """Write the values of the leaves, and add those of each tree to the rows outside its bag;
    `sums`, `total` and `count` are 0."""
    nodes = trees.nodes
    for tree in range(bags.seeds.shape[0]):
        draw(bags, tree, bag.state, bag.counts, bag.spare)
        first = trees.start[tree]
        for r in range(bags.in_rows.shape[0]):
            i = bags.in_rows[r]
            if bag.counts[i] > 0:
                at = leaf_of(nodes, first, data, i)
                sums[0, at] += bag.counts[i] * observed[i]
                sums[1, at] += bag.counts[i] * expected[i]
        for at in range(first, trees.start[tree + 1]):
            if nodes.column[at] < 0:
                nodes.value[at, 0] = np.log((sums[0, at] + mean) / (sums[1, at] + mean))
        for r in range(bags.in_rows.shape[0]):
            i = bags.in_rows[r]
            if bag.counts[i] == 0:
                total[i] += nodes.value[leaf_of(nodes, first, data, i), 0]
                count[i] += 1
