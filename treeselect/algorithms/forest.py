"""The forest refitted on the selected units: what predicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.design import BoolArray, FloatArray, IntArray
from treeselect.engine.binning import BinnedData, select_groups
from treeselect.engine.ensembles import Trees, bagged_forest, group_gains
from treeselect.engine.growing import Growth
from treeselect.engine.prediction import predict_mean
from treeselect.families import Family

_UNBOUNDED = 1_000_000


@dataclass(frozen=True, slots=True)
class ForestModel:
    """A bagged forest on some of the groups, or a constant if there are none.

    Attributes
    ----------
    groups : ndarray of bool, shape (n_groups,)
        Groups that the trees may use; their columns are numbered among these groups only.
    trees : Trees or None
    constant : float
        Mean response.
    importance : ndarray of float, shape (n_groups,)
        Mean decrease of impurity of each group, in units of the gain; 0 for groups not used.
    """

    groups: BoolArray
    trees: Trees | None
    constant: float
    importance: FloatArray

    def predict(self, data: BinnedData, n_threads: int = 1) -> FloatArray:
        """Mean response of each row of `data`, which has all groups; shape (n_rows,)."""
        if self.trees is None:
            return np.full(data.n_rows, self.constant)
        return self.predict_selected(select_groups(data, self.groups), n_threads)

    def predict_selected(self, data: BinnedData, n_threads: int = 1) -> FloatArray:
        """The same for `data` that have :attr:`groups` only."""
        assert self.trees is not None
        return predict_mean(self.trees, data, n_threads)


def fit_forest(
    data: BinnedData,
    y: FloatArray,
    weight: IntArray,
    groups: BoolArray,
    family: Family,
    *,
    n_trees: int,
    seed: int,
    rank: IntArray,
    n_threads: int = 1,
) -> ForestModel:
    """Grow a forest on some groups.

    Trees are grown fully down to leaves of weight ``2 * family.min_leaf - 1``, on bootstrap bags
    of the distinct rows, trying at each node the square root of the number of groups (a third of
    them for numbers), rounded up.
    """
    constant = float(np.average(y, weights=weight))
    importance = np.zeros(len(groups))
    n_groups = int(groups.sum())
    if n_groups == 0:
        return ForestModel(groups, None, constant, importance)
    part = select_groups(data, groups)
    n_candidates = int(np.ceil(n_groups / 3 if not family.has_classes else np.sqrt(n_groups)))
    trees = bagged_forest(
        part,
        y,
        weight,
        n_trees=n_trees,
        growth=Growth(_UNBOUNDED, family.min_leaf, n_candidates, 0.0),
        seed=seed,
        rank=rank[groups],
        n_threads=n_threads,
    )
    importance[groups] = group_gains(trees, part).mean(axis=0)
    return ForestModel(groups, trees, constant, importance)
