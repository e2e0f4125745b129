"""Single bagged trees of a stage, and the sums of what they predict."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import (
    FloatArray,
    IntArray,
    LeafArray,
    UInt16Array,
    WeightArray,
)
from treeselect.engine.cache import kernel
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.targets import (
    Target,
    are_copies,
    copies,
    newton_target,
    target_of_mean,
    vector_target,
)
from treeselect.engine.ensembles.forests import Bags, grow_bagged_trees
from treeselect.engine.ensembles.ordering import in_order_of
from treeselect.engine.ensembles.prediction import mark_leaves
from treeselect.engine.growing.growth import Growth, Job, workspace
from treeselect.engine.growing.leaf_table import leaf_table
from treeselect.engine.growing.nodes import Nodes, Trees, empty_nodes, group_gains
from treeselect.engine.losses import Loss
from treeselect.engine.splitting.penalty import Opening, SplitPenalty, price_list

_LEAST_CURVATURE = 1e-12
"""Something to divide by where no row of a bag is ever at risk."""


class GrownTree(NamedTuple):
    """A tree, the leaf of each row, and the values of the leaves."""

    tree: Trees
    leaf: LeafArray
    value: FloatArray
    gains: FloatArray
    depth: int = 0
    stage: int = 0


def of_all_groups(grown: GrownTree, columns: IntArray, group: int, n_groups: int) -> GrownTree:
    """A tree that was grown on the columns of one group, in terms of all columns and groups."""
    nodes = grown.tree.nodes
    column = np.where(nodes.column < 0, nodes.column, columns[nodes.column]).astype(np.int32)
    gains = np.zeros(n_groups)
    gains[group] = grown.gains[0]
    return grown._replace(
        tree=grown.tree._replace(nodes=nodes._replace(column=column)), gains=gains
    )


class Sums(NamedTuple):
    """Sums of the predictions of a stage's trees for each row.

    Attributes
    ----------
    total, outside : ndarray of float64, shape (n_rows, n_outputs)
        Of all trees, and of those out of whose bag the row is.
    n_outside : ndarray of int64, shape (n_rows,)
        How many the latter are.
    """

    total: FloatArray
    outside: FloatArray
    n_outside: IntArray


def no_sums(n_rows: int, n_outputs: int) -> Sums:
    """No predictions yet."""
    shape = (n_rows, n_outputs)
    return Sums(np.zeros(shape), np.zeros(shape), np.zeros(n_rows, dtype=np.int64))


@kernel
def add_tree(leaf, value, bag, weight, sums):
    """Add a tree's prediction of each row; rows without weight are in no bag, nor out of it."""
    for i in range(leaf.shape[0]):
        is_outside = bag[i] == 0 and weight[i] > 0
        for k in range(value.shape[1]):
            prediction = value[leaf[i], k]
            sums.total[i, k] += prediction
            sums.outside[i, k] += prediction if is_outside else 0.0
        sums.n_outside[i] += int(is_outside)


class BaggedTree:
    """Grows single bagged trees and adds up what they predict."""

    def __init__(
        self,
        data: BinnedData,
        loss: Loss,
        weight: WeightArray,
        bags: Bags,
        penalty: SplitPenalty,
        rank: IntArray,
    ) -> None:
        self._data, self._loss, self._weight, self._bags = data, loss, weight, bags
        n_outputs = loss.n_outputs
        self._copies = copies(weight)
        shape = (data.n_rows, n_outputs) if n_outputs > 1 else data.n_rows
        zero = np.zeros(shape)
        target = self._target(zero, zero if loss.needs_curvature else None)
        self._work = workspace(data, target, weight)
        self._table = leaf_table(data, target, Growth(0, 1, 0, 0.0), 0)
        closed = np.zeros(data.n_groups, dtype=np.bool_)
        self._opening = Opening(price_list(penalty, data, closed), closed, rank, False)
        self._room = empty_nodes(2 * len(bags.in_rows), n_outputs)
        self._leaf = np.empty(data.n_rows, dtype=np.uint16)

    def grow(
        self,
        gradient: FloatArray,
        curvature: FloatArray | None,
        growth: Growth,
        seed: int,
        sums: Sums,
    ) -> GrownTree:
        """One tree on a bag drawn from the stream `seed`; its predictions are added to `sums`."""
        data = self._data
        job = Job(data, self._target(gradient, curvature), self._copies, growth)
        bags = self._bags._replace(seeds=np.array([seed], dtype=np.uint64))
        grown = Trees(self._room, np.zeros(2, dtype=np.int64))
        grow_bagged_trees(job, bags, self._opening, self._work, self._table, grown)
        n_nodes = int(grown.start[1])
        nodes = Nodes._make(array[:n_nodes].copy() for array in self._room)
        tree = Trees(nodes, np.array([0, n_nodes]))
        leaf = self._leaf
        value = mark_leaves(tree, data, leaf)
        if curvature is not None:
            value = self._steps(leaf, gradient, curvature, len(value))
            node_value = nodes.value.copy()
            node_value[nodes.column < 0] = value
            tree = in_order_of(Trees(nodes._replace(value=node_value), tree.start), data.monotone)
            value = tree.nodes.value[nodes.column < 0]
        add_tree(leaf, value, self._work.counts, self._copies, sums)
        kept = leaf.astype(np.uint8) if len(value) <= 256 else leaf.copy()
        return GrownTree(tree, kept, value, group_gains(tree, data)[0])

    def _target(self, gradient: FloatArray, curvature: FloatArray | None) -> Target:
        if self._loss.n_outputs > 1:
            return vector_target(gradient)
        if curvature is None or self._loss.splits_on_means:
            return target_of_mean(gradient, self._weight)
        if are_copies(self._weight):
            return newton_target(gradient, curvature)
        scaled = self._weight / np.mean(self._weight[self._weight > 0])
        return newton_target(gradient * scaled, curvature * scaled)

    def _steps(
        self,
        leaf: UInt16Array,
        gradient: FloatArray,
        curvature: FloatArray,
        n_leaves: int,
    ) -> FloatArray:
        """Steps of the leaves by the rows in the bag and one more of mean curvature, so that they
        are finite."""
        bag = self._work.counts.astype(np.float64)
        if not are_copies(self._weight):
            bag *= self._weight
        prior = max(float(np.average(curvature, weights=bag)), _LEAST_CURVATURE)
        slope = np.bincount(leaf, bag * gradient, n_leaves)
        step = slope / (np.bincount(leaf, bag * curvature, n_leaves) + prior)
        return self._loss.exact_step(step)[:, np.newaxis]
