"""Values of leaves: fitted, in the order of constraints, hazards, quantiles."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from tree_data import EVERYTHING, grow_forest, make_data, problems

from treeselect.engine.forest.bagging import BOOTSTRAP, Sampling, drawn
from treeselect.engine.forest.leaf_values import hazard_trees, leaf_quantiles, with_leaf_fits
from treeselect.engine.forest.out_of_bag import out_of_bag
from treeselect.engine.forest.walk import leaves_of
from treeselect.engine.losses import LogisticLoss, PoissonLoss
from treeselect.engine.tree.nodes import LEAF
from treeselect.engine.tree.target import copies, mean_target, target_of_mean
from treeselect.engine.tree.workspace import UNBOUNDED, Growth


@pytest.mark.parametrize("far", [0.0, -5.0])
@pytest.mark.parametrize("loss", [LogisticLoss(), PoissonLoss()])
def test_leaves_minimise_the_loss_of_their_rows(loss, far):
    rng = np.random.default_rng(1)
    data = make_data(rng.integers(1, 9, size=(2, 120)), [False, False], [0, 1])
    base, weight = far + rng.normal(size=120), rng.integers(0, 3, size=120)
    y = rng.integers(0, 2, size=120).astype(np.float64)
    gradient = loss.negative_gradient(y, base)
    trees = grow_forest(
        data, mean_target(gradient), weight, Growth(3, 5, 2, 0.0), 2, BOOTSTRAP
    ).trees
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
    target, growth = target_of_mean(event - expected, weight), Growth(UNBOUNDED, 5, 2, 0.0)
    forest = grow_forest(data, target, counts, growth, 1, sampling, seed=5)

    found = hazard_trees(forest, weight, event, expected)

    trees, outside = forest.trees, drawn(forest.bags, 0, n) == 0
    np.testing.assert_array_equal(out_of_bag(forest).n_trees, outside & (weight > 0))
    mass = weight / weight.mean() if kind == "real" else weight
    mean = np.average(expected, weights=weight)
    leaf = leaves_of(trees, 0, data)
    assert len(np.unique(leaf)) > 3
    for at in np.flatnonzero(trees.nodes.column == LEAF):
        own = (leaf == at) & ~outside
        value = np.log((mass[own] @ event[own] + mean) / (mass[own] @ expected[own] + mean))
        np.testing.assert_allclose(found.nodes.value[at, 0], value, rtol=1e-12)


@given(problems(max_rows=60), st.integers(1, 4))
@settings(derandomize=True, max_examples=40)
def test_quantiles_are_their_naive_twin(problem, least):
    data, y, weight, _ = problem
    y = y.astype(float)
    growth = Growth(4, least, EVERYTHING, 0.0)
    trees = grow_forest(data, mean_target(y), weight, growth, 3, BOOTSTRAP).trees
    shares = np.array([0.05, 0.3, 0.5, 0.95])
    found = leaf_quantiles(trees, data, y, weight, data, shares)
    leaves = np.array([leaves_of(trees, tree, data) for tree in range(3)])
    for i in range(min(data.n_rows, 10)):
        twin = [naive.leaf_quantile(leaves, y, weight, leaves[:, i], s) for s in shares]
        assert found[i].tolist() == twin
