"""The trees that ControlBurn chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeselect.design import BoolArray, FloatArray, IntArray
from treeselect.engine._types import UInt8Array, UInt16Array
from treeselect.engine.bag_boosting import BoostedBag
from treeselect.engine.nodes import Trees
from treeselect.engine.tree_columns import TreeColumns


@dataclass(frozen=True, slots=True)
class TreePool:
    """Trees, and where they take the rows.

    Attributes
    ----------
    leaves : list of ndarray of uint8 or uint16, each of shape (n_rows,)
        Leaf of each row in each tree.
    values : list of ndarray of float, each of shape (n_leaves, n_outputs)
    gains : ndarray of float, shape (n_trees, n_groups)
        Gain of each group in each tree, above 0 where the tree uses it.
    trees : list of Trees
    """

    leaves: list[UInt8Array | UInt16Array]
    values: list[FloatArray]
    gains: FloatArray
    trees: list[Trees]

    @property
    def uses(self) -> BoolArray:
        """Which groups each tree uses, shape (n_trees, n_groups)."""
        return np.asarray(self.gains > 0)

    def columns(self, rows: IntArray, n_outputs: int) -> TreeColumns:
        """Predictions of the trees for some rows."""
        return TreeColumns(self.leaves, self.values, rows, n_outputs)


def pool_of(bags: Sequence[BoostedBag]) -> TreePool:
    """The trees of several forests together."""
    return TreePool(
        [leaf for bag in bags for leaf in bag.leaves],
        [value for bag in bags for value in bag.values],
        np.concatenate([bag.gains for bag in bags]),
        [tree for bag in bags for tree in bag.trees],
    )
