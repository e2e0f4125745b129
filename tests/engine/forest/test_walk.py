"""Prediction, in and out of bag, against walking one row through one tree after the other."""

from unittest import mock

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import FULL, assert_same, grow_forest, make_data, problems

from treeselect.engine.columns import pack_blocks
from treeselect.engine.forest import walk
from treeselect.engine.forest.bagging import ALL_ROWS, BOOTSTRAP, Sampling
from treeselect.engine.forest.out_of_bag import (
    OutsideSums,
    cut_back,
    mean_errors_by_size,
    out_of_bag,
)
from treeselect.engine.forest.walk import mark_leaves, predict_mean
from treeselect.engine.tree.target import mean_target
from treeselect.engine.tree.workspace import Growth


def forest(data, gradient, weight, sampling=BOOTSTRAP, n_trees=4):
    target = mean_target(gradient.astype(float))
    return grow_forest(data, target, weight, Growth(20, 1, 3, 0.0), n_trees, sampling)


@given(problems())
@settings(derandomize=True, max_examples=60)
def test_rows_in_eights_in_any_order_and_joined_reach_the_leaves_of_single_rows(problem):
    data, gradient, weight, _ = problem
    trees = forest(data, gradient, weight).trees
    expected = naive.predictions(trees, data)
    one = trees.one(0)
    leaves, values = mark_leaves(one, data)
    np.testing.assert_array_equal(values[leaves], naive.predictions(one, data))
    np.testing.assert_array_equal(predict_mean(trees, data), expected)
    np.testing.assert_array_equal(predict_mean(trees, data, n_threads=2), expected)
    with mock.patch("treeselect.engine.forest.walk._WORTH_ORDERING", 1):
        np.testing.assert_array_equal(predict_mean(trees, data), expected)
    times = 5000 // data.n_rows + 1
    if data.n_rows <= 30 and not len(data.wide):
        many = data._replace(codes=np.tile(data.codes, times), blocks=np.tile(data.blocks, times))
        assert walk._has_many_equal_rows(many) == (len(data.blocks) == 1)
        np.testing.assert_array_equal(predict_mean(trees, many), np.tile(expected, (times, 1)))


def test_columns_beyond_a_million_are_told_apart():
    n, response = 2**20 + 1, np.arange(8.0)
    codes = np.ones((n, 8), dtype=np.uint8)
    codes[-1] += np.arange(8, dtype=np.uint8)
    data = make_data(codes[-1:], [False], [0])._replace(
        codes=codes, blocks=pack_blocks(codes), n_codes=np.full(n, 9, dtype=np.int32),
        is_factor=np.zeros(n, dtype=np.bool_), wide_at=np.full(n, -1, dtype=np.int32),
        group_of=np.arange(n, dtype=np.int32), group_start=np.arange(n + 1),
    )  # fmt: skip
    trees = grow_forest(data, mean_target(response), None, FULL, 1, ALL_ROWS).trees
    np.testing.assert_array_equal(predict_mean(trees, data)[:, 0], response)


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 4095, 4096, 4097])
def test_any_number_of_rows(n_rows):
    rng = np.random.default_rng(0)
    data = make_data(rng.integers(0, 9, size=(3, 5000)), [True, False, False], [0, 1, 2])
    trees = forest(data, rng.integers(-4, 5, size=5000), None).trees
    some = data._replace(
        codes=np.ascontiguousarray(data.codes[:, :n_rows]),
        blocks=np.ascontiguousarray(data.blocks[:, :n_rows]),
    )
    np.testing.assert_array_equal(predict_mean(trees, some), predict_mean(trees, data)[:n_rows])


COMMON = settings(derandomize=True, max_examples=40)


@given(problems(max_rows=60), st.integers(1, 40))
@COMMON
def test_rows_end_where_nodes_are_small(problem, size):
    data, gradient, weight, _ = problem
    trees = forest(data, gradient, weight).trees
    cut = cut_back(trees, size)
    expected = naive.predictions(trees, data, size)
    np.testing.assert_allclose(predict_mean(cut, data), expected, rtol=1e-12)
    split = cut.nodes.column >= 0
    assert (cut.nodes.weight[split] >= size).all()
    assert (cut.nodes.gain[~split] == 0).all()


@given(problems(max_rows=60))
@COMMON
def test_a_cut_at_one_row_changes_nothing(problem):
    data, gradient, weight, _ = problem
    trees = forest(data, gradient, weight).trees
    same = cut_back(trees, 1)
    np.testing.assert_array_equal(same.start, trees.start)
    assert_same(same.nodes, trees.nodes)


@given(problems(max_rows=60), st.integers(1, 3), st.integers(1, 60))
@COMMON
def test_one_walk_predicts_for_all_sizes(problem, n_threads, n_groups):
    data, gradient, weight, _ = problem
    sampling = Sampling(groups=np.arange(data.n_rows) % n_groups)
    grown, sizes = forest(data, gradient, weight, sampling), [50, 9, 4, 1]
    grown = grown._replace(n_threads=n_threads)
    centre, truth = np.array([0.5]), gradient.astype(float)[:, np.newaxis]
    means = mean_errors_by_size(grown, sizes, truth, weight)
    for size, mean in zip(sizes, means, strict=True):
        cut = grown._replace(trees=cut_back(grown.trees, size))
        found, expected = out_of_bag(cut, centre), out_of_bag(cut._replace(n_threads=1))
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(found.n_trees, expected.n_trees)
        errors = found.errors(truth)[:, 0]
        known = ~np.isnan(errors)
        own = np.average(errors[known], weights=weight[known]) if known.any() else np.nan
        np.testing.assert_allclose(mean, own, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 1000))
@COMMON
def test_errors_are_mean_products_of_those_of_two_trees(seed):
    rng = np.random.default_rng(seed)
    said = rng.normal(size=(5, 4, 2))  # trees, rows, outputs
    truth = rng.normal(size=(4, 2))
    sums = OutsideSums(
        (said - 1.0).sum(axis=0)[:, np.newaxis],
        ((said - 1.0) ** 2).sum(axis=(0, 2))[:, np.newaxis], np.full(4, 5), np.ones(2),
    )  # fmt: skip
    left = said - truth
    pairs = [(i, j) for i in range(5) for j in range(5) if i != j]
    expected = np.mean([(left[i] * left[j]).sum(axis=1) for i, j in pairs], axis=0)
    np.testing.assert_allclose(sums.errors(truth)[:, 0], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sums.mean[:, 0], said.mean(axis=0), rtol=1e-12)


def test_one_tree_tells_no_error():
    sums = OutsideSums(np.zeros((2, 1, 1)), np.zeros((2, 1)), np.array([0, 1]), np.zeros(1))
    assert np.isnan(sums.errors(np.ones((2, 1)))).all()
    assert np.isnan(sums.mean[0]).all()
    assert sums.mean[1] == 0
