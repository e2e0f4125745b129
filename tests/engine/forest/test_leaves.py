"""Values of leaves, against what minimises the loss of their rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tree_data import make_data

from treeselect.engine.forest.bagging import bagged_forest
from treeselect.engine.forest.leaf_values import with_leaf_fits
from treeselect.engine.forest.walk import leaves_of
from treeselect.engine.losses import LogisticLoss, PoissonLoss
from treeselect.engine.tree.target import mean_target
from treeselect.engine.tree.workspace import Growth


@pytest.mark.parametrize("far", [0.0, -5.0])
@pytest.mark.parametrize("loss", [LogisticLoss(), PoissonLoss()])
def test_leaves_minimise_the_loss_of_their_rows(loss, far):
    rng = np.random.default_rng(1)
    data = make_data(rng.integers(1, 9, size=(2, 120)), [False, False], [0, 1])
    base, weight = far + rng.normal(size=120), rng.integers(0, 3, size=120)
    y = rng.integers(0, 2, size=120).astype(np.float64)
    gradient = loss.negative_gradient(y, base)
    trees = bagged_forest(
        data, mean_target(gradient), weight, n_trees=2, growth=Growth(3, 5, 2, 0.0), seed=1,
        rank=np.arange(2),
    )  # fmt: skip
    found = with_leaf_fits(trees, data, loss, y, base, weight)
    prior = np.average(loss.curvature(y, base), weights=weight)
    for tree, first in enumerate(found.start[:-1]):
        leaf = leaves_of(found, tree, data)
        for at in np.unique(leaf[weight > 0]):
            rows = np.flatnonzero(leaf == at)

            def lost(value, rows=rows):
                return weight[rows] @ loss.value(y[rows], base[rows] + value) + prior * value**2 / 2

            expected = minimize_scalar(lost, bounds=(-30, 30), method="bounded").x
            assert found.nodes.value[first + at, 0] == pytest.approx(expected, abs=1e-3)
