"""Wide columns: exact splits of columns with more than 254 values."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tree_data import grow_target

from treeselect.engine import columns
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.tree.nodes import Trees
from treeselect.engine.tree.target import class_target, mean_target
from treeselect.engine.tree.workspace import Growth


@pytest.fixture(scope="module")
def problem():
    """Continuous columns, one of them with few values, and responses."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 4))
    x[:, 2] = x[:, 2].round(1)
    return x, np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=1500)


def exact(x):
    edges = [columns.bin_edges(column, max_bins=None) for column in x.T]
    return columns.bin_columns(list(x.T), edges, [0] * x.shape[1], np.arange(x.shape[1])), edges


def trees_of(nodes):
    return Trees(nodes, np.array([0, len(nodes.column)]))


def test_columns_of_many_values_are_wide_and_groups_keep_them(problem):
    data, edges = exact(problem[0])
    assert data.wide_at.tolist() == [0, 1, -1, 2]
    assert [len(e) for e in edges] == [1499, 1499, len(np.unique(problem[0][:, 2])) - 1, 1499]
    assert not data.codes[[0, 1, 3]].any()
    data, _ = exact(problem[0])
    part = columns.select_groups(data, np.array([False, True, True, True]))
    assert part.wide_at.tolist() == [0, -1, 1]
    for j in range(3):
        np.testing.assert_array_equal(part.column(j), data.column(j + 1))


@pytest.mark.parametrize("n", [columns.MAX_BINS, columns.MAX_BINS + 1, 5000])
def test_codes_are_ranks(n):
    values = np.random.default_rng(n).permutation(n).astype(float)
    values[3] = np.nan
    codes = columns.bin_numbers(values, columns.bin_edges(values, max_bins=None))
    known = ~np.isnan(values)
    assert codes[3] == 0
    assert codes[known].tolist() == (1 + np.unique(values[known], return_inverse=True)[1]).tolist()
    assert codes.dtype == (np.uint8 if n - 1 <= columns.MAX_BINS else np.uint16)


def test_columns_with_still_more_values_follow_the_quantiles():
    values = np.random.default_rng(0).normal(size=100_000)
    edges = columns.bin_edges(values, max_bins=None)
    assert 0.9 * columns.MOST_BINS < len(edges) < columns.MOST_BINS
    assert np.bincount(columns.bin_numbers(values, edges)).max() <= 4


@pytest.mark.parametrize("depth", [1, 3, 100])
def test_trees_are_those_of_scikit_learn(problem, depth):
    x, y = problem
    data, edges = exact(x)
    ones = np.ones(len(y), dtype=np.int64)
    growth = Growth(depth, 50, 99, 0.0)  # small nodes have ties
    for target, peer, truth in (
        (mean_target(y), DecisionTreeRegressor, y),
        (class_target(y > 0, 2), DecisionTreeClassifier, y > 0),
    ):
        nodes = grow_target(data, target, ones, growth)
        tree = peer(max_depth=depth, min_samples_leaf=50, random_state=0).fit(x, truth)
        ours = predict_mean(trees_of(nodes), data)[:, -1]
        theirs = tree.predict_proba(x)[:, 1] if peer is DecisionTreeClassifier else tree.predict(x)
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
        root = nodes.column[0]
        assert edges[root][nodes.code[0] - 1] == pytest.approx(tree.tree_.threshold[0])
