"""Quantiles in leaves against their naive twin."""

from __future__ import annotations

import naive
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import EVERYTHING, problems

from treeselect.engine.forest.bagging import bagged_forest
from treeselect.engine.forest.leaf_values import leaf_quantiles
from treeselect.engine.forest.walk import leaves_of
from treeselect.engine.tree.target import mean_target
from treeselect.engine.tree.workspace import Growth


@given(problems(max_rows=60), st.integers(1, 4))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_quantiles_are_their_naive_twin(problem, least):
    data, y, weight, _ = problem
    y = y.astype(float)
    trees = bagged_forest(
        data, mean_target(y), weight, n_trees=3, seed=1, rank=np.arange(data.n_groups),
        growth=Growth(4, least, EVERYTHING, 0.0),
    )  # fmt: skip
    shares = np.array([0.05, 0.3, 0.5, 0.95])
    found = leaf_quantiles(trees, data, y, weight, data, shares)
    leaves = np.array([leaves_of(trees, tree, data) for tree in range(3)])
    for i in range(min(data.n_rows, 10)):
        twin = [naive.leaf_quantile(leaves, y, weight, leaves[:, i], s) for s in shares]
        assert found[i].tolist() == twin
