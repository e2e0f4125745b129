"""Leaves of log relative hazards against a plain sum over the rows of the bag."""

import numpy as np
import pytest
from tree_data import make_data

from treeselect.engine.forest.bagging import Sampling, bagged_forest
from treeselect.engine.forest.leaf_values import hazard_trees
from treeselect.engine.forest.out_of_bag import out_of_bag
from treeselect.engine.forest.walk import leaves_of
from treeselect.engine.tree.nodes import LEAF
from treeselect.engine.tree.target import copies, target_of_mean
from treeselect.engine.tree.workspace import UNBOUNDED, Growth


@pytest.mark.parametrize("kind", ["one", "copies", "real"])
def test_a_leaf_is_the_log_of_events_over_those_expected_in_the_bag(kind):
    rng = np.random.default_rng(3)
    n = 80
    data = make_data(rng.integers(1, 9, size=(2, n)), [False, False], [0, 1])
    event = rng.integers(0, 2, size=n).astype(float)
    expected = rng.exponential(size=n)
    weight = {
        "one": np.ones(n, dtype=np.int64),
        "copies": rng.integers(0, 4, size=n),
        "real": rng.uniform(0.1, 2, size=n),
    }[kind]
    sampling, counts = Sampling(replace=False, share=0.6), copies(weight)
    trees = bagged_forest(
        data, target_of_mean(event - expected, weight), counts, n_trees=1, seed=5,
        rank=np.arange(2), growth=Growth(UNBOUNDED, 5, 2, 0.0), sampling=sampling,
    )  # fmt: skip

    found = hazard_trees(trees, data, weight, sampling, 5, event, expected)

    outside = out_of_bag(trees, data, counts, sampling, 5).n_trees > 0
    np.testing.assert_array_equal(found.n_trees, outside)
    mass = weight / weight.mean() if kind == "real" else weight
    mean = np.average(expected, weights=weight)
    leaf = leaves_of(trees, 0, data)
    assert len(np.unique(leaf)) > 3
    for at in np.flatnonzero(trees.nodes.column == LEAF):
        own = (leaf == at) & ~outside
        value = np.log((mass[own] @ event[own] + mean) / (mass[own] @ expected[own] + mean))
        np.testing.assert_allclose(found.trees.nodes.value[at, 0], value, rtol=1e-12)
    np.testing.assert_allclose(
        found.total, np.where(outside, found.trees.nodes.value[leaf, 0], 0.0)
    )
