"""The forest refitted on the selected units: what predicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.design import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.binning import BinnedData, select_groups
from treeselect.engine.forests import bagged_forest
from treeselect.engine.growth import UNBOUNDED, Growth
from treeselect.engine.leaves import with_newton_steps
from treeselect.engine.nodes import Trees, group_gains
from treeselect.engine.prediction import predict_mean
from treeselect.engine.targets import copies, target_of_mean
from treeselect.families import Family


@dataclass(frozen=True, slots=True)
class ForestModel:
    """A bagged forest on some of the groups, or a constant if there are none.

    Attributes
    ----------
    groups : ndarray of bool, shape (n_groups,)
        Groups that the trees may use; their columns are numbered among these groups only.
    trees : Trees or None
    constant : float
        Mean response; with an offset, the linear predictor of the constant model without it.
    importance : ndarray of float, shape (n_groups,)
        Mean decrease of impurity of each group, in units of the gain; 0 for groups not used.
    family : Family
    has_offset : bool
        Whether the trees add to a linear predictor instead of giving the mean response.
    """

    groups: BoolArray
    trees: Trees | None
    constant: float
    importance: FloatArray
    family: Family
    has_offset: bool = False

    def predict(
        self, data: BinnedData, offset: FloatArray | None = None, n_threads: int = 1
    ) -> FloatArray:
        """Mean response of each row of `data`, which has all groups; shape (n_rows,)."""
        part = data if self.trees is None else select_groups(data, self.groups)
        return self.predict_selected(part, offset, n_threads)

    def predict_selected(
        self, data: BinnedData, offset: FloatArray | None = None, n_threads: int = 1
    ) -> FloatArray:
        """The same for `data` that have :attr:`groups` only."""
        if self.trees is None:
            found = np.zeros(data.n_rows)
        else:
            found = predict_mean(self.trees, data, n_threads)[:, 0]
        return self.on_response_scale(found, offset)

    def on_response_scale(self, found: FloatArray, offset: FloatArray | None) -> FloatArray:
        """Mean response from the mean of the trees."""
        if self.has_offset:
            assert offset is not None
            return np.asarray(self.family.mean(self.constant + offset + found))
        return found if self.trees is not None else np.full(len(found), self.constant)


def fit_forest(
    data: BinnedData,
    y: FloatArray,
    weight: WeightArray,
    groups: BoolArray,
    family: Family,
    *,
    n_trees: int,
    seed: int,
    rank: IntArray,
    offset: FloatArray | None = None,
    n_threads: int = 1,
) -> ForestModel:
    """Grow a forest on some groups.

    Trees are grown fully down to leaves of weight ``2 * family.min_leaf - 1``, on bootstrap bags
    of the distinct rows, trying at each node the square root of the number of groups (a third of
    them for numbers), rounded up.

    With an offset the trees are grown on the negative gradient at the constant model and add to the
    linear predictor: for numbers the mean residual of a leaf, for classes its Newton step (Friedman
    2001, Algorithm 5), with one more row of mean curvature so that pure leaves stay finite.
    """
    has_offset = offset is not None
    constant, target, eta = float(np.average(y, weights=weight)), y, np.zeros(0)
    if offset is not None:
        constant = float(family.loss.constant(y, weight, offset))
        eta = constant + offset
        target = family.loss.negative_gradient(y, eta)
    importance = np.zeros(len(groups))
    n_groups = int(groups.sum())
    if n_groups == 0:
        return ForestModel(groups, None, constant, importance, family, has_offset)
    part = select_groups(data, groups)
    n_candidates = int(np.ceil(n_groups / 3 if not family.has_classes else np.sqrt(n_groups)))
    trees = bagged_forest(
        part,
        target_of_mean(target, weight),
        copies(weight),
        n_trees=n_trees,
        growth=Growth(UNBOUNDED, family.min_leaf, n_candidates, 0.0),
        seed=seed,
        rank=rank[groups],
        n_threads=n_threads,
    )
    importance[groups] = group_gains(trees, part).mean(axis=0)
    if has_offset and family.has_classes:
        curvature = family.loss.curvature(y, eta)
        trees = with_newton_steps(trees, part, target, curvature, weight)
    return ForestModel(groups, trees, constant, importance, family, has_offset)
