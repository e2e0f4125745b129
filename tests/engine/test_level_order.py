"""Factors by ordered levels: the best of all sets of levels, guarded, and never from other rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import grow_target, make_data

from treeselect.engine.data.binning import OTHER
from treeselect.engine.data.targets import class_target, mean_target
from treeselect.engine.ensembles.forests import bagged_forest
from treeselect.engine.ensembles.prediction import predict_mean
from treeselect.engine.growing.growth import UNBOUNDED, Growth
from treeselect.engine.level_order import learn_order, order_levels
from treeselect.errors import DataError

STUMP = Growth(1, 1, 99, 0.0)


@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.booleans())
@settings(deadline=None, derandomize=True, max_examples=60)
def test_the_first_split_is_the_best_of_all_sets_of_levels(seed, n_levels, two_classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(1, n_levels + 1, size=60)
    y = rng.integers(0, 2, size=60).astype(float) if two_classes else rng.normal(size=60)
    weight = rng.integers(0, 3, size=60)
    weight[0] = 1
    data = make_data([codes], [True], [0])
    ordered = order_levels(data, learn_order(data, y, weight, prior=0.0))
    assert not ordered.is_factor[0]
    gain = grow_target(ordered, mean_target(y), weight, STUMP).gain[0]
    best = 0.0
    levels = np.unique(codes[weight > 0])
    for size in range(1, len(levels)):
        for left in combinations(levels, size):
            inside = np.isin(codes, left)
            parts = [(y[side], weight[side]) for side in (inside, ~inside)]
            centre = np.average(y, weights=weight)
            within = [np.sum(w) * (np.average(v, weights=w) - centre) ** 2 for v, w in parts]
            best = max(best, sum(within) / weight.sum())
    assert gain == pytest.approx(best, rel=1e-6, abs=1e-12)


def test_levels_of_three_classes_lie_along_their_main_direction():
    """Shares of the classes that differ in one direction only are ordered by it."""
    codes = np.repeat(np.arange(1, 6), 200)
    share = np.array([0.5, 0.1, 0.9, 0.3, 0.7])[codes - 1]
    rng = np.random.default_rng(0)
    first = rng.random(1000) < share
    label = np.where(rng.random(1000) < 0.2, 2, first.astype(int))
    data = make_data([codes], [True], [0])
    new = learn_order(data, np.eye(3)[label], np.ones(1000))[0, 1:6].tolist()
    assert new in ([3, 1, 5, 2, 4], [3, 5, 1, 4, 2])


def test_rare_levels_stand_in_the_middle():
    codes = np.concatenate([np.repeat([1, 2], 100), [3]])
    y = np.concatenate([np.zeros(100), np.ones(100), [5.0]])
    data = make_data([codes], [True], [0])
    ones = np.ones(201)
    assert learn_order(data, y, ones, prior=0.0)[0, 1:4].tolist() == [1, 2, 3]
    assert learn_order(data, y, ones, prior=20.0)[0, 1:4].tolist() == [1, 3, 2]


def test_numbers_missing_and_other_rows_stay_as_they_are():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 6, size=(3, 50))
    columns[2, :9] = OTHER
    data = make_data(columns, [True, False, True], [0, 1, 2])
    y, weight = rng.normal(size=50), (np.arange(50) < 30) * 1
    new = learn_order(data, y, weight)
    y[30:] = 100.0
    np.testing.assert_array_equal(learn_order(data, y, weight), new)
    ordered = order_levels(data, new)
    np.testing.assert_array_equal(ordered.codes[1:], data.codes[1:])
    np.testing.assert_array_equal(ordered.codes[0] == 0, data.codes[0] == 0)
    assert ordered.is_factor.tolist() == [False, False, True]


def test_many_levels_in_two_kinds_are_told_apart_by_fewer_splits():
    rng = np.random.default_rng(1)
    kind = rng.random(80) < 0.5
    codes = rng.integers(1, 81, size=4000)
    y = kind[codes - 1] + rng.normal(size=4000)
    data = make_data([codes, rng.integers(1, 9, size=4000)], [True, True], [0, 1])
    ones, growth = np.ones(4000, dtype=np.int64), Growth(2, 5, 2, 0.0)
    errors = []
    for used in (data, order_levels(data, learn_order(data, y, ones))):
        trees = bagged_forest(
            used, mean_target(y), ones, n_trees=20, growth=growth, seed=1, rank=np.arange(2)
        )
        errors.append(np.mean((predict_mean(trees, used)[:, 0] - kind[codes - 1]) ** 2))
    assert errors[1] < 0.2 * errors[0]


def test_forests_of_classes_grow_on_ordered_levels():
    rng = np.random.default_rng(2)
    codes = rng.integers(1, 21, size=2000)
    label = (codes % 3 + (rng.random(2000) < 0.2)) % 3
    data = make_data([codes], [True], [0])
    ones = np.ones(2000, dtype=np.int64)
    ordered = order_levels(data, learn_order(data, np.eye(3)[label], ones))
    trees = bagged_forest(
        ordered, class_target(label, 3), ones, n_trees=5, growth=Growth(UNBOUNDED, 1, 1, 0.0),
        seed=1, rank=np.arange(1),
    )  # fmt: skip
    assert np.mean(predict_mean(trees, ordered).argmax(axis=1) == label) > 0.78


@pytest.mark.parametrize("prior", [-1.0, np.nan, np.inf])
def test_a_prior_that_is_no_number_of_rows_is_refused(prior):
    data = make_data([[1, 2]], [True], [0])
    with pytest.raises(DataError, match="number of rows"):
        learn_order(data, np.zeros(2), np.ones(2), prior=prior)
