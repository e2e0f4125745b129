"""Trees against their naive twin, against scikit-learn, and in limit cases."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import EVERYTHING, both_targets, grow_fast, grow_target, make_data, problems

from treeselect.engine.columns import bin_columns, bin_edges, select_groups
from treeselect.engine.forest.bagging import ALL_ROWS, bagged_forest
from treeselect.engine.forest.walk import mark_leaves, predict_mean
from treeselect.engine.random import tree_seeds
from treeselect.engine.tree.nodes import Trees, group_gains
from treeselect.engine.tree.target import (
    GINI,
    MEAN,
    NEWTON,
    VECTOR,
    mean_target,
)
from treeselect.engine.tree.used_groups import Opening, SplitPenalty, can_split, n_able, price_list
from treeselect.engine.tree.workspace import (
    BEST_FIRST,
    BREADTH_FIRST,
    DEPTH_FIRST,
    UNBOUNDED,
    Growth,
)

COMMON = settings(deadline=None, derandomize=True, max_examples=150)
ORDERS = st.sampled_from([DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST])


def assert_same_tree(fast, slow):
    assert len(fast.column) == len(slow)
    for i, node in enumerate(slow):
        assert fast.column[i] == node["column"]
        assert fast.value[i].tolist() == node["value"].tolist()
        assert fast.weight[i] == node["weight"]
        if node["column"] >= 0:
            assert fast.code[i] == node["code"]
            assert fast.left[i] == node["left"]
            assert fast.missing_left[i] == node["missing_left"]
            assert fast.gain[i] == node["gain"]


@given(
    problems(),
    st.sampled_from([MEAN, NEWTON, GINI, VECTOR]),
    ORDERS,
    st.integers(0, 6),
    st.integers(1, 5),
    st.sampled_from([1, 2, 5, UNBOUNDED]),
)
@COMMON
def test_tree_is_its_naive_twin(problem, kind, order, max_depth, min_weight, max_leaves):
    data, gradient, weight, rng = problem
    target, rows = both_targets(kind, gradient, weight, rng)
    growth = Growth(
        max_depth, min_weight, EVERYTHING, 0.0, order=order, max_leaves=max_leaves,
        min_curvature=0.5,
    )  # fmt: skip
    rank = rng.permutation(data.n_groups)
    fast = grow_target(data, target, weight, growth, rank=rank)
    opened = np.zeros(data.n_groups, dtype=np.bool_)
    penalty = SplitPenalty(np.ones(len(data.codes)), np.zeros(len(data.codes)))
    assert_same_tree(fast, naive.grow(data, rows, growth, penalty, opened, rank))


@given(
    problems(),
    st.sampled_from([MEAN, NEWTON, GINI, VECTOR]),
    ORDERS,
    st.sampled_from([0.0, 0.01, 0.2, 50.0]),
    st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    st.sampled_from([1, 2, EVERYTHING]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@COMMON
def test_penalised_tree_is_its_naive_twin(
    problem, kind, order, cost, scale, n_candidates, all_open, uncentred, late
):
    data, gradient, weight, rng = problem
    target, rows = both_targets(kind, gradient, weight, rng)
    growth = Growth(
        5, 1, n_candidates, 0.0, all_open, order, 12, 0.5, False, late, int(rng.integers(9)) + 1
    )
    rank = rng.permutation(data.n_groups)
    opened = rng.random(data.n_groups) < 0.3
    n = len(data.codes)
    discounts = {
        (int(f), int(g)): float(rng.choice([0, 0.5, 0.9]))
        for f, g in rng.integers(0, data.n_groups, size=(int(rng.integers(5)), 2))
    }
    penalty = SplitPenalty(
        np.full(n, scale) * rng.choice([1, 0.5], n),
        np.full(n, cost),
        uncentred,
        float(rng.choice([0.0, 0.25])),
        discounts,
    )
    fast_open, slow_open = opened.copy(), opened.copy()
    fast = grow_target(data, target, weight, growth, penalty, fast_open, rank, seed=7)
    stream = int(tree_seeds(7, 1)[0])
    slow = naive.grow(data, rows, growth, penalty, slow_open, rank, stream)
    assert_same_tree(fast, slow)
    np.testing.assert_array_equal(fast_open, slow_open)


@given(
    st.integers(0, 1000),
    st.sampled_from([MEAN, NEWTON]),
    st.sampled_from([DEPTH_FIRST, BREADTH_FIRST]),
    st.integers(2, 40),
    st.sampled_from([1, 3]),
    st.booleans(),
    st.booleans(),
)
@settings(COMMON, max_examples=60)
def test_the_search_of_many_columns_ends_with_the_best_of_all_divisions(
    seed, kind, order, n_distinct, min_weight, all_open, priced
):
    # More columns than rows: the search of small nodes ends early. Few distinct values, copies of
    # columns and whole gradients make many ties.
    rng = np.random.default_rng(seed)
    n_rows, n_columns = 30, 50
    columns = [rng.integers(n_distinct, size=n_rows).astype(np.float64) for _ in range(n_columns)]
    columns[::5] = [columns[1]] * len(columns[::5])
    columns[2][rng.random(n_rows) < 0.3] = np.nan
    edges = [bin_edges(column) for column in columns]
    data = bin_columns(columns, edges, [0] * n_columns, np.arange(n_columns))
    weight = rng.integers(3, size=n_rows)
    weight[0] = 1
    target, rows = both_targets(kind, rng.integers(-3, 4, n_rows) / 4, weight, rng)
    growth = Growth(8, min_weight, EVERYTHING, 0.0, all_open, order, min_curvature=0.5)
    rank = rng.permutation(n_columns)
    cost = rng.choice([0.0, 0.01], n_columns) if priced else np.zeros(n_columns)
    penalty = SplitPenalty(np.ones(n_columns), cost)
    fast_open = rng.random(n_columns) < 0.1
    slow_open = fast_open.copy()
    fast = grow_target(data, target, weight, growth, penalty, fast_open, rank)
    assert_same_tree(fast, naive.grow(data, rows, growth, penalty, slow_open, rank))
    np.testing.assert_array_equal(fast_open, slow_open)


@given(problems(max_rows=12), st.booleans())
@COMMON
def test_groups_that_can_split_are_those_of_the_naive_twin(problem, real):
    data, _, weight, rng = problem
    weight = weight * rng.integers(0, 2, len(weight)) * (0.5 if real else 1)
    expected = naive.can_split(data, weight)
    np.testing.assert_array_equal(can_split(data, weight), expected)
    assert n_able(data, weight) == max(expected.sum(), 1)


@given(problems(), st.sampled_from([DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST]), st.integers(1, 3))
@COMMON
def test_groups_that_cant_split_take_no_place_in_a_draw(problem, order, n_candidates):
    """With them and without them the same columns, in the same places, are split."""
    data, gradient, weight, rng = problem
    able = can_split(data, weight)
    if not able.any():
        return
    part = select_groups(data, able)
    growth = Growth(6, 1, n_candidates, 0.0, bool(rng.integers(2)), order, 12)
    is_open, rank = rng.random(data.n_groups) < 0.3, rng.permutation(data.n_groups)
    penalty = SplitPenalty(np.full(len(data.codes), 0.7), np.zeros(len(data.codes)))
    fewer = SplitPenalty(np.full(len(part.codes), 0.7), np.zeros(len(part.codes)))
    a = grow_fast(data, gradient, weight, growth, penalty, is_open.copy(), rank)
    b = grow_fast(part, gradient, weight, growth, fewer, is_open[able], rank[able])
    kept = np.append(np.flatnonzero(able[data.group_of]), -1)  # -1 is a leaf, and stays one
    np.testing.assert_array_equal(a.column, kept[b.column])
    np.testing.assert_array_equal(a.gain, b.gain)


@given(problems(max_rows=300), st.sampled_from([MEAN, NEWTON]), st.booleans())
@COMMON
def test_kept_histograms_and_threads_change_nothing(problem, kind, is_priced):
    """Differences of histograms, shared between threads or not, against columns by themselves."""
    from unittest import mock

    data, gradient, weight, rng = problem
    target, _ = both_targets(kind, gradient, weight, rng)
    growth = Growth(9, 1, EVERYTHING, 0.0, order=BEST_FIRST, max_leaves=20, min_curvature=0.5)
    n = len(data.codes)
    penalty = SplitPenalty(np.ones(n), np.full(n, 0.05 * is_priced))
    grown = []
    shared = () if len(data.wide) else ((0, 2), (0, 3))
    for enough, n_threads in ((10**6, 1), (0, 1), *shared):
        with mock.patch("treeselect.engine.tree.workspace.ENOUGH_ROWS", enough):
            is_open = np.zeros(data.n_groups, dtype=np.bool_)
            rank = np.arange(data.n_groups)
            if n_threads == 1:
                nodes = grow_target(data, target, weight, growth, penalty, is_open)
            else:
                nodes = shared_tree(data, target, weight, growth, penalty, is_open, rank, n_threads)
            grown.append((*nodes, is_open))
    for other in grown[1:]:
        for a, b in zip(grown[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def shared_tree(data, target, weight, growth, penalty, is_open, rank, n_threads):
    from treeselect.engine.tree.best_first import SharedTree
    from treeselect.engine.tree.nodes import Nodes, empty_nodes
    from treeselect.engine.tree.workspace import Job, leaf_table, workspace

    work = workspace(data, target, weight)
    table = leaf_table(data, target, growth, data.n_rows)
    nodes = empty_nodes(2 * data.n_rows)
    opening = Opening(price_list(penalty, data, is_open), is_open, rank, True)
    with SharedTree(data, target, table, n_threads) as grower:
        n_nodes = grower.grow(Job(data, target, weight, growth), opening, work, nodes)
    return Nodes(*(a[:n_nodes] for a in nodes))


@given(problems())
@COMMON
def test_leaves_are_the_naive_prediction(problem):
    data, gradient, weight, _ = problem
    nodes = grow_fast(data, gradient, weight, Growth(4, 1, EVERYTHING, 0.0))
    leaves = np.empty(data.n_rows, dtype=np.uint16)
    tree = Trees(nodes, np.array([0, len(nodes.column)]))
    values = mark_leaves(tree, data, leaves)
    slow = naive.grow(
        data,
        naive.mean_rows(gradient, weight),
        Growth(4, 1, EVERYTHING, 0.0),
        SplitPenalty(np.ones(len(data.codes)), np.zeros(len(data.codes))),
        np.zeros(data.n_groups, dtype=np.bool_),
        np.arange(data.n_groups),
    )
    expected = np.array([naive.predict(slow, data, i) for i in range(data.n_rows)])
    np.testing.assert_array_equal(values[leaves], expected)
    np.testing.assert_array_equal(predict_mean(tree, data), expected)


def wide(rng, n=400, p=6):
    columns = [rng.normal(size=n).round(1) for _ in range(p)]
    edges = [bin_edges(c) for c in columns]
    return columns, bin_columns(columns, edges, [0] * p, np.arange(p))


@pytest.mark.parametrize(("depth", "min_weight"), [(1, 1), (3, 1), (6, 5), (30, 1)])
def test_same_tree_as_scikit_learn(depth, min_weight):
    """Continuous target, so no ties; the training rows fall into the same leaves."""
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(depth)
    columns, data = wide(rng)
    y = columns[0] + columns[1] * columns[2] + rng.normal(size=400)
    counts = rng.integers(0, 3, size=400)
    trees = bagged_forest(
        data, mean_target(y), counts, n_trees=1, seed=0, rank=np.arange(6), sampling=ALL_ROWS,
        growth=Growth(depth, min_weight, EVERYTHING, 0.0),
    )  # fmt: skip
    peer = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=min_weight, random_state=0)
    rows = np.repeat(np.arange(400), counts)
    X = np.column_stack(columns)
    peer.fit(X[rows], y[rows])
    inside = counts > 0
    # Our moments are rounded to 2**-40 of the largest; scikit-learn sums floats.
    np.testing.assert_allclose(
        predict_mean(trees, data)[inside, 0], peer.predict(X)[inside], rtol=0, atol=1e-9
    )


def test_weights_are_copies_of_rows():
    rng = np.random.default_rng(0)
    data, gradient, weight = small(rng)
    rows = np.repeat(np.arange(60), weight)
    copies = make_data(data.codes[:, rows], data.is_factor, data.group_of)
    growth = Growth(8, 2, EVERYTHING, 0.0)
    a = grow_fast(data, gradient, weight, growth)
    b = grow_fast(copies, gradient[rows], np.ones(len(rows), dtype=np.int64), growth)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


def small(rng):
    codes = rng.integers(0, 6, size=(5, 60))
    data = make_data(codes, [False, True, False, False, True], np.arange(5))
    return data, rng.integers(-4, 5, size=60), rng.integers(1, 4, size=60)


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(1)
    data, gradient, weight = small(rng)
    order = rng.permutation(60)
    shuffled = make_data(data.codes[:, order], data.is_factor, data.group_of)
    growth = Growth(8, 1, EVERYTHING, 0.0)
    a = grow_fast(data, gradient, weight, growth)
    b = grow_fast(shuffled, gradient[order], weight[order], growth)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_huge_cost_opens_nothing_and_open_groups_are_free():
    data, gradient, weight = small(np.random.default_rng(2))
    penalty = SplitPenalty(np.ones(5), np.full(5, 1e9))
    growth = Growth(5, 1, EVERYTHING, 0.0)
    assert len(grow_fast(data, gradient, weight, growth, penalty).column) == 1
    is_open = np.array([False, False, True, False, False])
    nodes = grow_fast(data, gradient, weight, growth, penalty, is_open)
    assert set(nodes.column[nodes.column >= 0]) == {2}


def test_recorded_gain_is_not_penalised():
    data, gradient, weight = small(np.random.default_rng(3))
    growth = Growth(1, 1, EVERYTHING, 0.0)
    plain = grow_fast(data, gradient, weight, growth)
    scaled = grow_fast(
        data, gradient, weight, growth, SplitPenalty(np.full(5, 0.5), np.full(5, 1e-6))
    )
    np.testing.assert_array_equal(plain.gain, scaled.gain)
    assert plain.gain[0] > 0


def test_a_tie_goes_to_the_open_group_and_else_by_rank():
    rng = np.random.default_rng(4)
    column = rng.integers(1, 6, size=50)
    data = make_data([column, column, column], [False] * 3, [0, 1, 2])
    gradient, weight = rng.integers(-4, 5, size=50), np.ones(50, dtype=np.int64)
    growth = Growth(1, 1, EVERYTHING, 0.0)
    rank = np.array([2, 0, 1])
    assert grow_fast(data, gradient, weight, growth, rank=rank).column[0] == 1
    is_open = np.array([True, False, False])
    assert grow_fast(data, gradient, weight, growth, is_open=is_open, rank=rank).column[0] == 0


def test_forest_tries_few_groups_and_gives_the_same_for_any_threads():
    rng = np.random.default_rng(5)
    columns, data = wide(rng)
    y = columns[0] + rng.normal(size=400)
    weight = rng.integers(0, 3, size=400)
    forests = [
        bagged_forest(
            data, mean_target(y), weight, n_trees=13, growth=Growth(99, 2, 2, 0.0), seed=9,
            rank=np.arange(6), n_threads=n,
        )
        for n in (1, 2, 3)
    ]  # fmt: skip
    for other in forests[1:]:
        for a, b in zip(forests[0].nodes, other.nodes, strict=True):
            np.testing.assert_array_equal(a, b)
    roots = forests[0].nodes.column[forests[0].start[:-1]]
    assert len(set(roots)) > 1  # not every tree saw the best group at its root
    np.testing.assert_array_equal(
        predict_mean(forests[0], data), predict_mean(forests[0], data, n_threads=2)
    )


def test_forest_in_small_chunks_is_the_same(monkeypatch):

    rng = np.random.default_rng(6)
    columns, data = wide(rng)
    arguments = {"n_trees": 9, "growth": Growth(99, 1, 6, 0.0), "seed": 1, "rank": np.arange(6)}
    weight = np.ones(400, dtype=np.int64)
    whole = bagged_forest(data, mean_target(columns[0]), weight, **arguments)
    monkeypatch.setattr("treeselect.engine.forest.bagging._ROOM", 1)
    pieces = bagged_forest(data, mean_target(columns[0]), weight, **arguments)
    np.testing.assert_array_equal(whole.start, pieces.start)
    for a, b in zip(whole.nodes, pieces.nodes, strict=True):
        np.testing.assert_array_equal(a, b)


def test_group_gains_add_up():
    data, gradient, weight = small(np.random.default_rng(7))
    nodes = grow_fast(data, gradient, weight, Growth(6, 1, EVERYTHING, 0.0))
    gains = group_gains(Trees(nodes, np.array([0, len(nodes.column)])), data)
    assert gains.sum() == pytest.approx(nodes.gain.sum())
    mean = np.average(gradient, weights=weight)
    before = np.average((gradient - mean) ** 2, weights=weight)
    leaves = nodes.column < 0
    within = before - np.average((nodes.value[leaves, 0] - mean) ** 2, weights=nodes.weight[leaves])
    assert gains.sum() == pytest.approx(before - within)
