"""Prediction of many rows against walking one row through one tree after the other."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from naive import left_side
from tree_data import problems

from treeselect.engine.forest import walk
from treeselect.engine.forest.bagging import bagged_forest
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.tree.nodes import Trees
from treeselect.engine.tree.target import mean_target
from treeselect.engine.tree.workspace import Growth


def one_by_one(trees: Trees, data, row: int):
    nodes, total = trees.nodes, np.zeros(1)
    for first in trees.start[:-1]:
        at = first
        while nodes.column[at] >= 0:
            j = nodes.column[at]
            code, missing_left = nodes.code[at], nodes.missing_left[at]
            left = left_side(data.column(j)[row : row + 1], code, missing_left, data.is_factor[j])
            at = first + nodes.left[at] + (0 if left[0] else 1)
        total = total + nodes.value[at]
    return total / trees.n_trees


def forest(data, gradient, weight, n_trees=5):
    return bagged_forest(
        data,
        mean_target(gradient.astype(float)),
        weight,
        n_trees=n_trees,
        growth=Growth(20, 1, 3, 0.0),
        seed=1,
        rank=np.arange(data.n_groups),
    )


@given(problems())
@settings(deadline=None, derandomize=True, max_examples=60)
def test_rows_in_eights_reach_the_leaves_of_single_rows(problem):
    data, gradient, weight, _ = problem
    trees = forest(data, gradient, weight)
    expected = [one_by_one(trees, data, row) for row in range(data.n_rows)]
    np.testing.assert_array_equal(predict_mean(trees, data), expected)
    np.testing.assert_array_equal(predict_mean(trees, data, n_threads=2), expected)


@given(problems())
@settings(deadline=None, derandomize=True, max_examples=20)
def test_the_order_of_rows_changes_nothing(problem):
    data, gradient, weight, _ = problem
    trees = forest(data, gradient, weight)
    expected = predict_mean(trees, data)
    with mock.patch("treeselect.engine.forest.walk._WORTH_ORDERING", 1):
        np.testing.assert_array_equal(predict_mean(trees, data), expected)


@given(problems(max_rows=30))
@settings(deadline=None, derandomize=True, max_examples=20)
def test_joining_equal_rows_changes_nothing(problem):
    data, gradient, weight, _ = problem
    assume(len(data.wide) == 0)
    trees = forest(data, gradient, weight)
    apart = predict_mean(trees, data)
    times = 5000 // data.n_rows + 1
    many = data._replace(
        codes=np.tile(data.codes, times), blocks=np.ascontiguousarray(np.tile(data.blocks, times))
    )
    assert walk._has_many_equal_rows(many.blocks) == (len(data.blocks) == 1)
    np.testing.assert_array_equal(predict_mean(trees, many), np.tile(apart, (times, 1)))


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 4095, 4096, 4097])
def test_any_number_of_rows(n_rows):
    rng = np.random.default_rng(0)
    from tree_data import make_data

    data = make_data(rng.integers(0, 9, size=(3, 5000)), [True, False, False], [0, 1, 2])
    trees = forest(data, rng.integers(-4, 5, size=5000), np.ones(5000, dtype=np.int64))
    some = data._replace(
        codes=np.ascontiguousarray(data.codes[:, :n_rows]),
        blocks=np.ascontiguousarray(data.blocks[:, :n_rows]),
    )
    np.testing.assert_array_equal(predict_mean(trees, some), predict_mean(trees, data)[:n_rows])
