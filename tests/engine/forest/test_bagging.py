"""Forests: kinds of target, bags, used-sets, against scikit-learn, and out-of-bag predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tree_data import EVERYTHING, FULL, assert_same, bag_of, binned, grow_forest, make_data

from treeselect.engine.forest.bagging import BOOTSTRAP, Sampling
from treeselect.engine.forest.out_of_bag import out_of_bag
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.random import tree_seeds
from treeselect.engine.tree.nodes import add_gains, empty_nodes
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
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=N)
    return X, binned(X), score, rng.integers(0, 3, size=N)


def grow(data, target, weight, growth=FULL, n_trees=1, *options, **more):
    return grow_forest(data, target, weight, growth, n_trees, *options, seed=3, **more).trees


@pytest.mark.parametrize(
    ("kind", "depth", "least", "leaves"),
    [
        *((kind, *rules, None) for kind in ("gini", "entropy") for rules in ((2, 1), (9, 20))),
        *(("several", *rules, None) for rules in ((3, 1), (9, 12))),
        *(("mean", *rules, None) for rules in ((1, 1), (3, 1), (6, 5), (30, 1))),
        ("mean", None, 5, 11),
    ],
)
def test_trees_are_those_of_scikit_learn(numbers, kind, depth, least, leaves):
    """In all orders, which matter only where the leaves are counted."""
    X, data, score, weight = numbers
    label = np.searchsorted([-1.0, 0.3, 1.5], score)
    several = np.column_stack([score, X[:, 2] + 0.1 * score, score**2])
    truth, target = {
        "mean": lambda: (score, mean_target(score)),
        "several": lambda: (several, vector_target(several)),
        "gini": lambda: (label, class_target(label, 4)),
        "entropy": lambda: (label, class_target(label, 4, entropy=True)),
    }[kind]()
    order = DEPTH_FIRST if leaves is None else BEST_FIRST
    growth = Growth(
        depth or UNBOUNDED, least, EVERYTHING, 0.0, order=order, max_leaves=leaves or UNBOUNDED
    )
    trees = grow(data, target, weight, growth)
    rules = {"max_depth": depth, "min_samples_leaf": least, "max_leaf_nodes": leaves}
    if kind in ("gini", "entropy"):
        peer = DecisionTreeClassifier(criterion=kind, random_state=0, **rules)
    else:
        peer = DecisionTreeRegressor(random_state=0, **rules)
    rows, inside = np.repeat(np.arange(N), weight), weight > 0
    peer.fit(X[rows], truth[rows])
    said = (peer.predict_proba if kind in ("gini", "entropy") else peer.predict)(X[inside])
    # Our moments are rounded to 2**-40 of the largest; scikit-learn sums floats.
    found = predict_mean(trees, data)[inside]
    np.testing.assert_allclose(found, said.reshape(found.shape), atol=1e-9)
    impurity, is_leaf = peer.tree_.impurity, peer.tree_.feature < 0
    after = np.average(impurity[is_leaf], weights=peer.tree_.weighted_n_node_samples[is_leaf])
    unit = {"entropy": np.log(2), "several": 3.0}.get(kind, 1.0)  # bits; a mean of three outputs
    assert trees.nodes.gain.sum() == pytest.approx((impurity[0] - after) * unit, rel=1e-6)
    if leaves is None:
        for other in (BREADTH_FIRST, BEST_FIRST):
            again = grow(data, target, weight, growth._replace(order=other))
            np.testing.assert_array_equal(predict_mean(again, data)[inside], found)


@pytest.mark.parametrize("order", [DEPTH_FIRST, BEST_FIRST])
def test_real_weights_that_are_whole_are_copies(numbers, order):
    _, data, score, weight = numbers
    real = weight.astype(float)
    growth = Growth(4, 1, EVERYTHING, 0.0, order=order)
    label = (score > 0.2) * 1 + (score > 1.2)
    pairs = [(mean_target(score), weighted_mean_target(score, real))] + [
        tuple(class_target(label, 3, entropy=entropy, weight=own) for own in (None, real))
        for entropy in (False, True)
    ]
    for whole, weighted in pairs:
        a = grow(data, whole, weight, growth).nodes
        b = grow(data, weighted, copies(real), growth).nodes
        np.testing.assert_array_equal(a.column, b.column)
        np.testing.assert_array_equal(a.code, b.code)
        np.testing.assert_allclose(a.value, b.value, atol=1e-10)
        np.testing.assert_allclose(a.gain, b.gain, rtol=1e-6)


def test_weights_are_relative_and_used_and_kept_groups_free(numbers):
    _, data, score, _ = numbers
    real = np.random.default_rng(1).random(N)
    small, large = (
        grow(data, weighted_mean_target(score, real * factor), copies(real)).nodes
        for factor in (1e-6, 1e6)
    )
    np.testing.assert_array_equal(small.column, large.column)
    np.testing.assert_allclose(small.gain, large.gain, rtol=1e-6)
    penalty = SplitPenalty(np.full(P, 0.3), np.zeros(P))
    growth = Growth(6, 5, 3, 0.0, all_open=True)
    columns, opened = {}, {}
    for shared in (True, False):
        opened[shared] = np.zeros(P, dtype=np.bool_)
        nodes, start = grow(
            data, mean_target(score), None, growth, 12, BOOTSTRAP, penalty=penalty,
            is_open=opened[shared], shared=shared,
        )  # fmt: skip
        columns[shared] = [set(own[own >= 0].tolist()) for own in np.split(nodes.column, start[1:])]
    assert set().union(*columns[True]) == set(np.flatnonzero(opened[True]))
    assert not opened[False].any()
    assert columns[False][0] == columns[True][0]
    assert len(set().union(*columns[False])) > len(set().union(*columns[True]))
    trees = grow(
        data, mean_target(score), None, Growth(3, 5, 0, 0.0, all_open=True), 5, BOOTSTRAP,
        is_open=np.arange(P) == 5, shared=True,
    )  # fmt: skip
    assert set(trees.nodes.column.tolist()) == {-1, 5}


@pytest.mark.parametrize("order", [DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST])
def test_a_full_discount_between_members_is_a_bag_that_costs_one_price(numbers, order):
    """Xu et al. 2014, section 4.2: bags are a special case of the price function."""
    X, data, score, weight = numbers
    bags = binned(X, np.repeat([0, 1], P // 2))
    first, second = range(P // 2), range(P // 2, P)
    discounts = {(f, g): 0.0 for bag in (first, second) for f in bag for g in bag}
    growth = Growth(5, 3, EVERYTHING, 0.0, order=order)
    ones, price = np.ones(P), np.full(P, 0.1)
    # Within a bag the ranks are alike, so that ties are no matter of members being open.
    together, apart = (
        grow(d, mean_target(score), weight, growth, 3, BOOTSTRAP, shared=True, penalty=penalty)
        for d, penalty in (
            (bags, SplitPenalty(ones, price)),
            (data, SplitPenalty(ones, price, discounts=discounts)),
        )
    )
    assert_same(together.nodes, apart.nodes)


def test_random_ties_take_every_one_of_equal_columns():
    rng = np.random.default_rng(2)
    data = make_data([rng.integers(1, 6, size=60)] * 4, [False] * 4, range(4))
    target, rank = mean_target(rng.normal(size=60)), np.array([3, 2, 0, 1])
    for random_ties, expected in ((True, {0, 1, 2, 3}), (False, {2})):
        growth = Growth(1, 1, EVERYTHING, 0.0, random_ties=random_ties)
        roots = grow(data, target, None, growth, 60, rank=rank).nodes.column
        assert set(roots[roots >= 0].tolist()) == expected


@pytest.mark.parametrize(("n_open", "share"), [(0, 0.0), (1, 0.5), (3, 0.875)])
def test_coins_between_closed_and_open_columns_fall_on_the_open_ones_last(n_open, share):
    """Ten equal columns, some of them open: each of those has a chance of one half at its turn."""
    code = np.tile([1, 2], 30)
    data, target = make_data([code] * 10, [False] * 10, np.arange(10)), mean_target(code * 1.0)
    growth = Growth(1, 1, 4, 0.0, all_open=True, random_ties=True)
    roots = [
        grow_forest(
            data, target, None, growth, seed=seed, is_open=np.arange(10) < n_open, shared=True
        ).trees.nodes.column[0]
        for seed in range(600)
    ]
    assert np.mean(np.array(roots) < n_open) == pytest.approx(share, abs=0.06)


@pytest.mark.parametrize(
    "sampling",
    [BOOTSTRAP, Sampling(False, 0.632), Sampling(True, 0.5), Sampling(groups=np.arange(N) % 40)],
)
def test_out_of_bag_rows_are_those_not_drawn(numbers, sampling):
    _, data, score, weight = numbers
    forest = grow_forest(
        data, class_target(score > 0, 2), weight, Growth(4, 1, 3, 0.0), 7, sampling, seed=3
    )
    found = out_of_bag(forest)
    total, count = np.zeros((N, 2)), np.zeros(N, dtype=np.int64)
    for tree in range(7):
        alone = forest.trees.one(tree)
        # A tree that is grown on some rows gives the shares of exactly these.
        seen = bag_of(tree_seeds(3, 7)[tree], weight, sampling)
        assert alone.nodes.weight[0] == (weight * seen).sum()
        outside = (weight > 0) & (seen == 0)
        total[outside] += predict_mean(alone, data)[outside]
        count += outside
    np.testing.assert_array_equal(found.n_trees, count)
    known = count > 0
    np.testing.assert_allclose(found.mean[known, 0], (total / np.maximum(count, 1)[:, None])[known])
    assert np.isnan(found.mean[~known]).all()


def test_two_classes_are_a_mean_about_one_half_also_where_the_criterion_is_not_centred():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=500) > 0) * 1.0
    growth, grown = Growth(6, 5, 3, 0.0, all_open=True), []
    for target, level in ((class_target(y, 2), 0.0), (mean_target(y - 0.5), 0.25)):
        is_open = np.zeros(6, dtype=np.bool_)
        nodes = grow(
            binned(X), target, None, growth, 5, BOOTSTRAP, is_open=is_open, shared=True,
            penalty=SplitPenalty(np.full(6, 0.75), np.zeros(6), True, level),
        ).nodes  # fmt: skip
        grown.append((nodes.column, nodes.code, is_open))
    assert 1 <= grown[0][2].sum() < 6
    assert_same(*grown)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_gains_of_groups_are_their_naive_twin(seed, n_trees):
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(rng.integers(1, 9, size=n_trees))])
    column = rng.integers(-1, 6, size=start[-1]).astype(np.int32)
    gain, group_of = rng.random(start[-1]), rng.integers(0, 3, size=6).astype(np.int32)
    gains, naive = np.zeros((2, n_trees, 3))
    add_gains(column, gain, start, group_of, gains)
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
    weight = (np.arange(N) < 20).astype(np.int64)
    trees = grow(data, mean_target(score), weight, n_trees=n_trees, n_threads=n_threads)
    assert trees.n_trees == n_trees
    assert sum(asked) == n_trees * 2 * 20
