"""Forests: kinds of target, bags, used-sets, against scikit-learn, and out-of-bag predictions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_data import EVERYTHING, bag_of, make_data

from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.forest.bagging import ALL_ROWS, BOOTSTRAP, Sampling, bagged_forest
from treeselect.engine.forest.out_of_bag import out_of_bag
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.random import tree_seeds
from treeselect.engine.tree.nodes import Trees, add_gains, empty_nodes, group_gains
from treeselect.engine.tree.target import (
    class_target,
    copies,
    mean_target,
    vector_target,
    weighted_mean_target,
)
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import (
    BEST_FIRST,
    BREADTH_FIRST,
    DEPTH_FIRST,
    UNBOUNDED,
    Growth,
)

N, P = 250, 8  # no more rows than bins: splits are exact


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    columns = [np.ascontiguousarray(c) for c in X.T]
    data = bin_columns(columns, [bin_edges(c) for c in columns], [0] * P, np.arange(P))
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=N)
    return X, data, score, rng.integers(0, 3, size=N)


def grow(data, target, weight, growth=None, n_trees=1, sampling=ALL_ROWS, **options):
    growth = growth or Growth(UNBOUNDED, 1, EVERYTHING, 0.0)
    return bagged_forest(
        data, target, weight, n_trees=n_trees, growth=growth, seed=3, rank=np.arange(P),
        sampling=sampling, **options,
    ).trees  # fmt: skip


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize(("depth", "min_weight"), [(2, 1), (9, 20)])
def test_classes_split_as_in_scikit_learn(numbers, criterion, depth, min_weight):
    from sklearn.tree import DecisionTreeClassifier

    X, data, score, weight = numbers
    label = np.searchsorted([-1.0, 0.3, 1.5], score)
    target = class_target(label, 4, entropy=criterion == "entropy")
    trees = grow(data, target, weight, Growth(depth, min_weight, EVERYTHING, 0.0))
    rows = np.repeat(np.arange(N), weight)
    peer = DecisionTreeClassifier(
        criterion=criterion, max_depth=depth, min_samples_leaf=min_weight, random_state=0
    ).fit(X[rows], label[rows])
    inside = weight > 0
    np.testing.assert_allclose(
        predict_mean(trees, data)[inside], peer.predict_proba(X[inside]), atol=1e-12
    )
    impurity, is_leaf = peer.tree_.impurity, peer.tree_.feature < 0
    after = np.average(impurity[is_leaf], weights=peer.tree_.n_node_samples[is_leaf])
    in_bits = np.log(2) if criterion == "entropy" else 1.0
    assert trees.nodes.gain.sum() == pytest.approx((impurity[0] - after) * in_bits, rel=1e-9)


@pytest.mark.parametrize(("depth", "min_weight"), [(3, 1), (9, 12)])
def test_several_outputs_split_as_in_scikit_learn(numbers, depth, min_weight):
    from sklearn.tree import DecisionTreeRegressor

    X, data, score, weight = numbers
    several = np.column_stack([score, X[:, 2] + 0.1 * score, score**2])
    growth = Growth(depth, min_weight, EVERYTHING, 0.0)
    trees = grow(data, vector_target(several), weight, growth)
    rows = np.repeat(np.arange(N), weight)
    peer = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=min_weight, random_state=0)
    peer.fit(X[rows], several[rows])
    inside = weight > 0
    np.testing.assert_allclose(
        predict_mean(trees, data)[inside], peer.predict(X[inside]), atol=1e-9
    )


def test_indicators_of_classes_split_as_the_gini_index(numbers):
    _, data, score, weight = numbers
    label = np.searchsorted([-1.0, 0.3, 1.5], score)
    growth = Growth(6, 2, 3, 0.0)
    a = grow(data, class_target(label, 4), weight, growth).nodes
    b = grow(data, vector_target(np.eye(4)[label]), weight, growth).nodes
    np.testing.assert_array_equal(a.column, b.column)
    np.testing.assert_allclose(a.value, b.value, atol=1e-12)
    np.testing.assert_allclose(a.gain, b.gain, rtol=1e-9)


def test_best_first_is_scikit_learns(numbers):
    from sklearn.tree import DecisionTreeRegressor

    X, data, score, _ = numbers
    growth = Growth(UNBOUNDED, 5, EVERYTHING, 0.0, order=BEST_FIRST, max_leaves=11)
    trees = grow(data, mean_target(score), np.ones(N, dtype=np.int64), growth)
    peer = DecisionTreeRegressor(max_leaf_nodes=11, min_samples_leaf=5, random_state=0)
    peer.fit(X, score)
    np.testing.assert_allclose(predict_mean(trees, data)[:, 0], peer.predict(X), atol=1e-9)


def test_without_a_price_all_orders_give_the_same_leaves(numbers):
    _, data, score, weight = numbers
    grown = [
        grow(data, mean_target(score), weight, Growth(5, 2, EVERYTHING, 0.0, order=order))
        for order in (DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST)
    ]
    assert len({len(trees.nodes.column) for trees in grown}) == 1
    first = predict_mean(grown[0], data)
    for other in grown[1:]:
        np.testing.assert_array_equal(predict_mean(other, data), first)
        assert not np.array_equal(other.nodes.column, grown[0].nodes.column)


@pytest.mark.parametrize("order", [DEPTH_FIRST, BEST_FIRST])
def test_real_weights_that_are_whole_are_copies(numbers, order):
    _, data, score, weight = numbers
    real = weight.astype(float)
    growth = Growth(4, 1, EVERYTHING, 0.0, order=order)
    label = (score > 0.2) * 1 + (score > 1.2)
    for whole, weighted in (
        (mean_target(score), weighted_mean_target(score, real)),
        (class_target(label, 3), class_target(label, 3, weight=real)),
        (
            class_target(label, 3, entropy=True),
            class_target(label, 3, entropy=True, weight=real),
        ),
    ):
        a = grow(data, whole, weight, growth)
        b = grow(data, weighted, copies(real), growth)
        np.testing.assert_array_equal(a.nodes.column, b.nodes.column)
        np.testing.assert_array_equal(a.nodes.code, b.nodes.code)
        np.testing.assert_allclose(a.nodes.value, b.nodes.value, atol=1e-10)
        np.testing.assert_allclose(a.nodes.gain, b.nodes.gain, rtol=1e-6)


def test_weights_are_relative(numbers):
    _, data, score, _ = numbers
    real = np.random.default_rng(1).random(N)
    small, large = (
        grow(data, weighted_mean_target(score, real * factor), copies(real)).nodes
        for factor in (1e-6, 1e6)
    )
    np.testing.assert_array_equal(small.column, large.column)
    np.testing.assert_allclose(small.gain, large.gain, rtol=1e-6)


def test_two_classes_split_as_their_indicator(numbers):
    """The Gini index of two classes is twice the variance of one of them."""
    _, data, score, weight = numbers
    y = (score > 0) * 1.0
    a = grow(data, mean_target(y), weight).nodes
    b = grow(data, class_target(y, 2), weight).nodes
    np.testing.assert_array_equal(a.column, b.column)
    np.testing.assert_allclose(2 * a.gain, b.gain, rtol=1e-9)
    np.testing.assert_allclose(a.value[:, 0], b.value[:, 1], atol=1e-12)


def test_the_used_set_is_the_trees_own_or_of_all(numbers):
    _, data, score, _ = numbers
    weight = np.ones(N, dtype=np.int64)
    penalty = SplitPenalty(np.full(P, 0.3), np.zeros(P))
    growth = Growth(6, 5, 3, 0.0, all_open=True)

    def columns(trees: Trees):
        return [
            set(trees.nodes.column[a:b][trees.nodes.column[a:b] >= 0].tolist())
            for a, b in zip(trees.start[:-1], trees.start[1:], strict=True)
        ]

    is_open = np.zeros(P, dtype=np.bool_)
    shared = columns(grow(
        data, mean_target(score), weight, growth, 12, BOOTSTRAP, penalty=penalty, is_open=is_open,
        shared=True,
    ))  # fmt: skip
    assert set().union(*shared) == set(np.flatnonzero(is_open))
    untouched = np.zeros(P, dtype=np.bool_)
    own = columns(grow(
        data, mean_target(score), weight, growth, 12, BOOTSTRAP, penalty=penalty,
        is_open=untouched,
    ))  # fmt: skip
    assert not untouched.any()
    assert own[0] == shared[0]
    assert len(set().union(*own)) > len(set().union(*shared))


def test_a_kept_group_is_free_from_the_start(numbers):
    _, data, score, _ = numbers
    is_open = np.arange(P) == 5
    trees = grow(
        data, mean_target(score), np.ones(N, dtype=np.int64), Growth(3, 5, 0, 0.0, all_open=True),
        5, BOOTSTRAP, is_open=is_open, shared=True,
    )  # fmt: skip
    assert set(trees.nodes.column.tolist()) == {-1, 5}


def test_scale_one_and_cost_zero_are_the_plain_forest(numbers):
    _, data, score, weight = numbers
    growth = Growth(UNBOUNDED, 1, 3, 0.0)
    plain = grow(data, mean_target(score), weight, growth, 5, BOOTSTRAP)
    priced = grow(
        data, mean_target(score), weight, growth, 5, BOOTSTRAP,
        penalty=SplitPenalty(np.ones(P), np.zeros(P)),
    )  # fmt: skip
    for a, b in zip(plain.nodes, priced.nodes, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("order", [DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST])
def test_a_full_discount_between_members_is_a_bag_that_costs_one_price(numbers, order):
    """Xu et al. 2014, section 4.2: bags are a special case of the price function."""
    _, data, score, weight = numbers
    bags = data._replace(
        group_of=np.repeat([0, 1], P // 2).astype(np.int32), group_start=np.array([0, P // 2, P])
    )
    first, second = range(P // 2), range(P // 2, P)
    discounts = {(f, g): 0.0 for bag in (first, second) for f in bag for g in bag}
    growth = Growth(5, 3, EVERYTHING, 0.0, order=order)
    ones, price = np.ones(P), np.full(P, 0.1)
    # Within a bag the ranks are alike, so that ties are no matter of members being open.
    together = bagged_forest(
        bags, mean_target(score), weight, n_trees=3, growth=growth, seed=3, shared=True,
        rank=np.arange(2), penalty=SplitPenalty(ones, price),
    ).trees  # fmt: skip
    apart = grow(
        data, mean_target(score), weight, growth, 3, BOOTSTRAP, shared=True,
        penalty=SplitPenalty(ones, price, discounts=discounts),
    )  # fmt: skip
    for a, b in zip(together.nodes, apart.nodes, strict=True):
        np.testing.assert_array_equal(a, b)


def test_random_ties_take_every_one_of_equal_columns():
    rng = np.random.default_rng(2)
    column = rng.integers(1, 6, size=60)
    data = make_data([column] * 4, [False] * 4, range(4))
    y, weight = rng.normal(size=60), np.ones(60, dtype=np.int64)
    for random_ties, expected in ((True, {0, 1, 2, 3}), (False, {2})):
        roots = bagged_forest(
            data, mean_target(y), weight, n_trees=60, seed=1, rank=np.array([3, 2, 0, 1]),
            growth=Growth(1, 1, EVERYTHING, 0.0, random_ties=random_ties), sampling=ALL_ROWS,
        ).nodes.column  # fmt: skip
        assert set(roots[roots >= 0].tolist()) == expected


@pytest.mark.parametrize(
    "sampling",
    [BOOTSTRAP, Sampling(False, 0.632), Sampling(True, 0.5), Sampling(groups=np.arange(N) % 40)],
)
def test_out_of_bag_rows_are_those_not_drawn(numbers, sampling):
    _, data, score, weight = numbers
    target = class_target(score > 0, 2)
    forest = bagged_forest(
        data, target, weight, n_trees=7, growth=Growth(4, 1, 3, 0.0), seed=3, rank=np.arange(P),
        sampling=sampling,
    )  # fmt: skip
    trees, found = forest.trees, out_of_bag(forest)
    total, count = np.zeros((N, 2)), np.zeros(N, dtype=np.int64)
    for tree in range(7):
        alone = Trees(
            type(trees.nodes)._make(a[trees.start[tree] : trees.start[tree + 1]]
                                    for a in trees.nodes),
            np.array([0, trees.start[tree + 1] - trees.start[tree]]),
        )  # fmt: skip
        # A tree that is grown on some rows gives the shares of exactly these.
        seen = bag_of(tree_seeds(3, 7)[tree], weight, sampling)
        assert alone.nodes.weight[0] == (weight * seen).sum()
        outside = (weight > 0) & (seen == 0)
        total[outside] += predict_mean(alone, data)[outside]
        count += outside
    np.testing.assert_array_equal(found.n_trees, count)
    known = count > 0
    np.testing.assert_allclose(
        found.prediction[known], (total / np.maximum(count, 1)[:, None])[known]
    )
    assert np.isnan(found.prediction[~known]).all()


def test_gains_of_groups_are_those_of_their_columns(numbers):
    _, data, score, weight = numbers
    together = data._replace(
        group_of=np.repeat(np.arange(4), 2).astype(np.int32), group_start=np.arange(0, 9, 2)
    )
    arguments = {"n_trees": 3, "growth": Growth(3, 1, EVERYTHING, 0.0), "seed": 3}
    apart = bagged_forest(data, mean_target(score), weight, rank=np.arange(P), **arguments).trees
    pairs = bagged_forest(
        together, mean_target(score), weight, rank=np.arange(4), **arguments
    ).trees
    np.testing.assert_allclose(
        group_gains(pairs, together), group_gains(apart, data).reshape(3, 4, 2).sum(axis=2)
    )


@pytest.mark.parametrize(("n_open", "share"), [(0, 0.0), (1, 0.5), (3, 0.875)])
def test_coins_between_closed_and_open_columns_fall_on_the_open_ones_last(n_open, share):
    """Ten equal columns, some of them open: each of those has a chance of one half at its turn."""
    code = np.tile([1, 2], 30)
    data = make_data([code] * 10, [False] * 10, np.arange(10))
    growth = Growth(1, 1, 4, 0.0, all_open=True, random_ties=True)
    opened = 0
    for seed in range(600):
        is_open = np.arange(10) < n_open
        trees = bagged_forest(
            data, mean_target(code * 1.0), np.ones(60, dtype=np.int64), n_trees=1, growth=growth,
            seed=seed, rank=np.arange(10), sampling=ALL_ROWS, is_open=is_open, shared=True,
        ).trees  # fmt: skip
        opened += trees.nodes.column[0] < n_open
    assert opened / 600 == pytest.approx(share, abs=0.06)


def test_two_classes_are_a_mean_about_one_half_also_where_the_criterion_is_not_centred():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6, 500))
    y = (X[0] + X[1] * X[2] + rng.normal(size=500) > 0) * 1.0
    data = bin_columns(list(X), [bin_edges(c) for c in X], [0] * 6, np.arange(6))
    ones = np.ones(500, dtype=np.int64)
    grown = []
    for target, level in ((class_target(y, 2), 0.0), (mean_target(y - 0.5), 0.25)):
        is_open = np.zeros(6, dtype=np.bool_)
        trees = bagged_forest(
            data, target, ones, n_trees=5, growth=Growth(6, 5, 3, 0.0, all_open=True), seed=1,
            rank=np.arange(6), is_open=is_open, shared=True,
            penalty=SplitPenalty(np.full(6, 0.75), np.zeros(6), True, level),
        ).trees  # fmt: skip
        grown.append((trees.nodes.column, trees.nodes.code, is_open))
    assert 1 <= grown[0][2].sum() < 6
    for a, b in zip(*grown, strict=True):
        np.testing.assert_array_equal(a, b)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_gains_of_groups_are_their_naive_twin(seed, n_trees):
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(rng.integers(1, 9, size=n_trees))])
    column = rng.integers(-1, 6, size=start[-1]).astype(np.int32)
    gain, group_of = rng.random(start[-1]), rng.integers(0, 3, size=6).astype(np.int32)
    gains = np.zeros((n_trees, 3))
    add_gains(column, gain, start, group_of, gains)
    naive = np.zeros((n_trees, 3))
    for tree in range(n_trees):
        for at in range(start[tree], start[tree + 1]):
            if column[at] >= 0:
                naive[tree, group_of[column[at]]] += gain[at]
    np.testing.assert_array_equal(gains, naive)


@pytest.mark.parametrize(("n_trees", "n_threads"), [(1, 1), (5, 2), (5, 1)])
def test_a_small_forest_asks_for_little_memory(numbers, monkeypatch, n_trees, n_threads):
    """What is asked for and not used stays with the process, once for each thread."""
    asked = []

    def counted(capacity, n_outputs):
        asked.append(capacity)
        return empty_nodes(capacity, n_outputs)

    monkeypatch.setattr("treeselect.engine.forest.bagging.empty_nodes", counted)
    _, data, score, _ = numbers
    weight = np.zeros(N, dtype=np.int64)
    weight[:20] = 1
    trees = grow(data, mean_target(score), weight, n_trees=n_trees, n_threads=n_threads)
    assert trees.n_trees == n_trees
    assert sum(asked) == n_trees * 2 * 20
