"""Partial dependence against setting columns by hand, and where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tree_data import make_data, problems

from treeselect.engine.columns import bin_columns, bin_edges, pack_blocks
from treeselect.engine.forest.bagging import ALL_ROWS, bagged_forest
from treeselect.engine.forest.dependence import partial_dependence
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.tree.target import class_target, mean_target
from treeselect.engine.tree.workspace import UNBOUNDED, Growth


def forest(data, target, weight, n_trees=3):
    return bagged_forest(
        data, target, weight, n_trees=n_trees, growth=Growth(UNBOUNDED, 1, 2, 0.0), seed=1,
        rank=np.arange(data.n_groups),
    )  # fmt: skip


@given(problems(max_rows=40))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_it_is_the_mean_prediction_with_columns_set(problem):
    data, gradient, weight, rng = problem
    trees = forest(data, class_target(gradient > 0, 2), weight)
    groups = [int(rng.integers(data.n_groups))]
    if data.n_groups > 1 and rng.random() < 0.5:
        groups.append((groups[0] + 1) % data.n_groups)
    before = [data.column(j).copy() for j in range(len(data.codes))]
    found = partial_dependence(lambda d: predict_mean(trees, d), data, weight, groups, max_points=6)
    for j, codes in enumerate(before):
        np.testing.assert_array_equal(data.column(j), codes)
    assert set(data.group_of[found.columns]) == set(groups)
    for point, mean in zip(found.points, found.mean, strict=True):
        changed = data._replace(codes=data.codes.copy(), wide=data.wide.copy())
        for j, code in zip(found.columns, point, strict=True):
            changed.column(int(j))[:] = code
        changed = changed._replace(blocks=pack_blocks(changed.codes))
        expected = np.average(predict_mean(trees, changed), axis=0, weights=weight)
        np.testing.assert_allclose(mean, expected, atol=1e-12)
    if len(groups) == 1:
        assert found.share.sum() == pytest.approx(1)
    assert len({tuple(point) for point in found.points}) == len(found.points)


def test_shape_of_a_known_effect():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(500, 3))
    columns = list(X.T)
    data = bin_columns(columns, [bin_edges(c) for c in columns], [0] * 3, np.arange(3))
    y, weight = X[:, 0] ** 2 + X[:, 1] * X[:, 2], np.ones(500, dtype=np.int64)
    trees = forest(data, mean_target(y), weight, 50)
    found = partial_dependence(lambda d: predict_mean(trees, d), data, weight, [0], max_points=9)
    assert len(found.points) == 9
    assert np.argmin(found.mean[:, 0]) in (3, 4, 5)
    assert found.mean[0, 0] > found.mean[4, 0] + 1.5
    pair = partial_dependence(lambda d: predict_mean(trees, d), data, weight, [1, 2], max_points=3)
    corners = pair.mean[:, 0].reshape(3, 3)
    assert corners[0, 0] + corners[2, 2] > corners[0, 2] + corners[2, 0] + 4
    assert pair.share.sum() == pytest.approx(1)  # rows between two points belong to the upper one


def test_rows_of_weight_0_have_no_part():
    rng = np.random.default_rng(1)
    data = make_data(rng.integers(1, 5, size=(2, 60)), [False, True], [0, 1])
    weight = (np.arange(60) < 30) * 2
    trees = bagged_forest(
        data, mean_target(rng.normal(size=60)), weight, n_trees=1, seed=1, rank=np.arange(2),
        growth=Growth(UNBOUNDED, 1, 2, 0.0), sampling=ALL_ROWS,
    )  # fmt: skip
    half = make_data(data.codes[:, :30], data.is_factor, data.group_of)
    a, b = (
        partial_dependence(lambda d: predict_mean(trees, d), d, w, [0])
        for d, w in ((data, weight), (half, np.ones(30)))
    )
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y)
