"""Out-of-bag predictions of a final forest, whose bags are drawn again."""

from __future__ import annotations

import numpy as np

from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import FloatArray
from treeselect.engine.data.targets import copies
from treeselect.engine.ensembles.forests import bags_of
from treeselect.engine.ensembles.leaves import leaves_of
from treeselect.engine.ensembles.out_of_bag import add_out_of_bag, bag_room
from treeselect.engine.growing.nodes import LEAF
from treeselect.engine.random import tree_seeds
from treeselect.models.capacity import n_first_trees, parts_of
from treeselect.models.forest import ForestModel, grower_of


def outside_bags(
    problem: Problem, weights: RowWeights, model: ForestModel, seed: int
) -> FloatArray | None:
    """Mean of the trees out of whose bag each row is, shape (n_rows,).

    Parameters
    ----------
    problem : Problem
        The rows that the forest was grown on.
    weights : RowWeights
        Rows of a cluster are out of a bag together.
    model : ForestModel
        With trees of one output.
    seed : int
        That of ``forest.refit_forest``.

    Returns
    -------
    ndarray of float64, or None
        NaN for rows in all bags. None if the forest was grown with other bags.
    """
    assert model.trees is not None
    grower = grower_of(problem, weights, model.groups, seed=seed)
    weight, n_rows = copies(grower.weight), len(problem.y)
    total, count = np.zeros((n_rows, 1)), np.zeros(n_rows, dtype=np.int64)
    n_first = n_first_trees(grower, model.trees.n_trees)
    for part, own in parts_of(grower, model.trees, n_first):
        room = bag_room(n_rows)
        bags = bags_of(weight, grower.sampling, tree_seeds(own, part.n_trees))
        add_out_of_bag(part, grower.data, bags, room, total, count)
        # The last bag is still there: its rows must fill the leaves of the last tree.
        last = part.n_trees - 1
        held = part.nodes.weight[part.start[last] :]
        leaf = leaves_of(part, last, grower.data)
        found = np.bincount(leaf, room.counts * weight, len(held))
        at = part.nodes.column[part.start[last] :] == LEAF
        if not np.array_equal(found[at], held[at]):
            return None
    return np.where(count > 0, total[:, 0] / np.maximum(count, 1), np.nan)
