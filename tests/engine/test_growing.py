"""Trees against their naive twin, against scikit-learn, and in limit cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import grow_fast, make_data, problems

from treeselect.engine import naive
from treeselect.engine.bag_boosting import mark_leaves
from treeselect.engine.binning import bin_columns, bin_edges
from treeselect.engine.ensembles import Trees, bagged_forest, group_gains
from treeselect.engine.growing import Growth
from treeselect.engine.penalty import SplitPenalty
from treeselect.engine.prediction import predict_mean

COMMON = settings(deadline=None, derandomize=True, max_examples=150)
EVERYTHING = 1_000


def assert_same_tree(fast, slow):
    assert len(fast.column) == len(slow)
    for i, node in enumerate(slow):
        assert fast.column[i] == node["column"]
        assert fast.value[i] == node["value"]
        assert fast.weight[i] == node["weight"]
        if node["column"] >= 0:
            assert fast.code[i] == node["code"]
            assert fast.left[i] == node["left"]
            assert fast.missing_left[i] == node["missing_left"]
            assert fast.gain[i] == node["gain"]


@given(problems(), st.integers(0, 6), st.integers(1, 5))
@COMMON
def test_tree_is_its_naive_twin(problem, max_depth, min_weight):
    data, gradient, weight, rng = problem
    growth = Growth(max_depth, min_weight, EVERYTHING, 0.0)
    rank = rng.permutation(data.n_groups)
    fast = grow_fast(data, gradient, weight, growth, rank=rank)
    opened = np.zeros(data.n_groups, dtype=np.bool_)
    penalty = SplitPenalty(np.ones(len(data.codes)), np.zeros(len(data.codes)))
    slow = naive.grow(data, gradient * weight, weight, growth, penalty, opened, rank)
    assert_same_tree(fast, slow)


@given(problems(), st.sampled_from([0.0, 0.01, 0.2, 50.0]), st.sampled_from([0.0, 0.3, 0.9, 1.0]))
@COMMON
def test_penalised_tree_is_its_naive_twin(problem, cost, scale):
    data, gradient, weight, rng = problem
    growth = Growth(5, 1, EVERYTHING, 0.0)
    rank = rng.permutation(data.n_groups)
    opened = rng.random(data.n_groups) < 0.3
    penalty = SplitPenalty(np.full(len(data.codes), scale), np.full(len(data.codes), cost))
    fast_open, slow_open = opened.copy(), opened.copy()
    fast = grow_fast(data, gradient, weight, growth, penalty, fast_open, rank)
    slow = naive.grow(data, gradient * weight, weight, growth, penalty, slow_open, rank)
    assert_same_tree(fast, slow)
    np.testing.assert_array_equal(fast_open, slow_open)


@given(problems())
@COMMON
def test_leaves_are_the_naive_prediction(problem):
    data, gradient, weight, _ = problem
    nodes = grow_fast(data, gradient, weight, Growth(4, 1, EVERYTHING, 0.0))
    leaves = np.empty(data.n_rows, dtype=np.uint16)
    values = mark_leaves(nodes, data.codes, data.is_factor, leaves)
    slow = naive.grow(
        data,
        gradient * weight,
        weight,
        Growth(4, 1, EVERYTHING, 0.0),
        SplitPenalty(np.ones(len(data.codes)), np.zeros(len(data.codes))),
        np.zeros(data.n_groups, dtype=np.bool_),
        np.arange(data.n_groups),
    )
    expected = [naive.predict(slow, data, i) for i in range(data.n_rows)]
    np.testing.assert_array_equal(values[leaves], expected)
    tree = Trees(nodes, np.array([0, len(nodes.column)]))
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
    trees = one_tree(data, y, counts, Growth(depth, min_weight, EVERYTHING, 0.0))
    peer = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=min_weight, random_state=0)
    rows = np.repeat(np.arange(400), counts)
    X = np.column_stack(columns)
    peer.fit(X[rows], y[rows])
    inside = counts > 0
    # Our moments are rounded to 2**-40 of the largest; scikit-learn sums floats.
    np.testing.assert_allclose(
        predict_mean(trees, data)[inside], peer.predict(X)[inside], rtol=0, atol=1e-9
    )


def one_tree(data, y, weight, growth):
    """A tree on exactly the given rows, without a bag."""
    from treeselect.engine.growing import Nodes, empty_nodes, grow_tree, workspace
    from treeselect.engine.moments import choose_packing, pack_moments
    from treeselect.engine.penalty import no_penalty

    work = workspace(data.n_rows, data.n_groups)
    nodes = empty_nodes(2 * data.n_rows)
    shift, unit = choose_packing(y, int(weight.sum()))
    n_in = pack_moments(y, weight, np.ones_like(weight), shift, unit, work.moments, work.rows)
    n_nodes = grow_tree(
        data, n_in, shift, unit, growth, no_penalty(len(data.codes)),
        np.zeros(data.n_groups, dtype=np.bool_), np.arange(data.n_groups),
        np.zeros(1, dtype=np.uint64), work, nodes, 0,
    )  # fmt: skip
    return Trees(Nodes(*(a[:n_nodes] for a in nodes)), np.array([0, n_nodes]))


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
            data, y, weight, n_trees=13, growth=Growth(99, 2, 2, 0.0), seed=9,
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
    from treeselect.engine import ensembles

    rng = np.random.default_rng(6)
    columns, data = wide(rng)
    arguments = {"n_trees": 9, "growth": Growth(99, 1, 6, 0.0), "seed": 1, "rank": np.arange(6)}
    weight = np.ones(400, dtype=np.int64)
    whole = bagged_forest(data, columns[0], weight, **arguments)
    monkeypatch.setattr(ensembles, "_ROOM", 1)
    pieces = bagged_forest(data, columns[0], weight, **arguments)
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
    within = before - np.average((nodes.value[leaves] - mean) ** 2, weights=nodes.weight[leaves])
    assert gains.sum() == pytest.approx(before - within)
