"""Trees against their naive twin, against scikit-learn, under constraints, and in limit cases."""

from __future__ import annotations

from unittest import mock

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import in_order
from tree_data import EVERYTHING, both_targets, grow_fast, grow_target, make_data, problems

from treeselect.engine.columns import bin_columns, bin_edges, pack_blocks, select_groups
from treeselect.engine.forest.bagging import ALL_ROWS, bagged_forest, first_gains
from treeselect.engine.forest.leaf_values import in_order_of
from treeselect.engine.forest.walk import mark_leaves, predict_mean
from treeselect.engine.random import tree_seeds
from treeselect.engine.tree.nodes import Trees, group_gains
from treeselect.engine.tree.target import (
    GINI,
    MEAN,
    NEWTON,
    VECTOR,
    class_target,
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
from treeselect.errors import DataError

COMMON = settings(deadline=None, derandomize=True, max_examples=150)
FEWER = settings(deadline=None, derandomize=True, max_examples=60)
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
    ).trees  # fmt: skip
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
        ).trees
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
    whole = bagged_forest(data, mean_target(columns[0]), weight, **arguments).trees
    monkeypatch.setattr("treeselect.engine.forest.bagging._ROOM", 1)
    pieces = bagged_forest(data, mean_target(columns[0]), weight, **arguments).trees
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


@given(problems(), st.sampled_from([MEAN, NEWTON, GINI]), st.integers(1, 5))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_each_column_has_the_gain_of_its_best_split(problem, kind, min_weight):
    data, gradient, weight, rng = problem
    target, rows = both_targets(kind, gradient, weight, rng)
    growth = Growth(1, min_weight, 1, 0.0)
    gains = first_gains(data, target, weight, growth)
    inside = weight > 0
    size = rows.gradient[inside].sum() if kind == GINI else weight.sum()
    for j, gain in enumerate(gains):
        codes, is_factor = data.column(j)[inside], bool(data.is_factor[j])
        best = naive.best_split(codes, rows.take(inside), growth, is_factor=is_factor)
        # The kernel adds in packed units, so that the quotient may differ in its last bits.
        np.testing.assert_allclose(gain, best.gain / size, rtol=1e-12, atol=1e-12)


EVERY_GROUP = Growth(5, 1, 1_000, 0.0)


@given(problems())
@FEWER
def test_order_of_rows_does_not_change_the_tree(problem):
    data, gradient, weight, rng = problem
    order = rng.permutation(data.n_rows)
    columns = [data.column(j)[order] for j in range(len(data.codes))]
    shuffled = make_data(columns, data.is_factor, data.group_of)
    before = grow_fast(data, gradient, weight, EVERY_GROUP)
    after = grow_fast(shuffled, gradient[order], weight[order], EVERY_GROUP)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


@given(problems(), st.integers(0, 10))
@FEWER
def test_a_copy_of_a_column_does_not_change_the_gains(problem, copied):
    data, gradient, weight, _ = problem
    j = copied % len(data.codes)
    more = make_data(
        [*(data.column(k) for k in range(len(data.codes))), data.column(j)],
        [*data.is_factor, data.is_factor[j]],
        [*data.group_of, data.n_groups],
    )
    before = grow_fast(data, gradient, weight, EVERY_GROUP)
    after = grow_fast(more, gradient, weight, EVERY_GROUP)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_second_column_of_an_opened_group_is_free():
    x, z = np.repeat([1, 2], 40), np.tile([1, 2], 40)
    gradient, weight = 4 * (x == 2) + 1 * (z == 2), np.ones(80, dtype=np.int64)
    growth = Growth(2, 1, 1_000, 0.0)
    # Splitting on z gains 0.125 in each half: not worth opening a group at a price of 1.
    penalty = SplitPenalty(np.ones(2), np.ones(2))
    apart = grow_fast(make_data([x, z], [False] * 2, [0, 1]), gradient, weight, growth, penalty)
    together = grow_fast(make_data([x, z], [False] * 2, [0, 0]), gradient, weight, growth, penalty)
    assert apart.column[apart.column >= 0].tolist() == [0]
    assert together.column[together.column >= 0].tolist() == [0, 1, 1]


def two_classes(gradient, weight):
    label = (gradient > 0).astype(np.int64)
    return class_target(label, 2), naive.Rows(GINI, weight, 0 * weight, label, weight, 2)


@st.composite
def constrained(draw):
    """A problem with constraints on some of its numbers, its targets and rules of growth."""
    data, gradient, weight, rng = draw(problems())
    signs = rng.integers(-1, 2, len(data.codes)) * ~data.is_factor
    data = data._replace(monotone=signs.astype(np.int8))
    kind = draw(st.sampled_from([MEAN, NEWTON, GINI]))
    if kind == GINI:
        target, rows = two_classes(gradient, weight)
    else:
        target, rows = both_targets(kind, gradient, weight, rng)
    depth, least, most = (int(rng.choice(c)) for c in ([1, 3, 6], [1, 2, 5], [3, 8, 100]))
    order = draw(ORDERS)
    growth = Growth(depth, least, EVERYTHING, 0.0, order=order, max_leaves=most, min_curvature=0.5)
    return data, target, rows, weight, growth


def along(data, j, row):
    """A row with every known code in column j."""
    n = int(data.n_codes[j]) - 1
    codes = np.repeat(data.codes[:, row : row + 1], n, axis=1)
    wide = np.repeat(data.wide[:, row : row + 1], n, axis=1)
    if data.wide_at[j] < 0:
        codes[j] = np.arange(1, n + 1)
    else:
        wide[data.wide_at[j]] = np.arange(1, n + 1)
    return data._replace(codes=codes, blocks=pack_blocks(codes), wide=wide)


def assert_monotone(trees, data):
    for j in np.flatnonzero(data.monotone):
        for row in range(min(data.n_rows, 5)):
            value = predict_mean(trees, along(data, j, row))[:, -1]
            assert (np.diff(value) * data.monotone[j] >= 0).all()


@given(constrained())
@FEWER
def test_bounded_tree_is_its_naive_twin_and_is_monotone(problem):
    data, target, rows, weight, growth = problem
    fast = grow_target(data, target, weight, growth)
    opened = np.zeros(data.n_groups, dtype=np.bool_)
    penalty = SplitPenalty(np.ones(len(data.codes)), np.zeros(len(data.codes)))
    slow = naive.grow(data, rows, growth, penalty, opened, np.arange(data.n_groups))
    assert len(fast.column) == len(slow)
    for i, node in enumerate(slow):
        assert fast.column[i] == node["column"]
        assert fast.value[i].tolist() == node["value"].tolist()
        if node["column"] >= 0:
            assert fast.code[i] == node["code"]
            assert fast.missing_left[i] == node["missing_left"]
            assert fast.gain[i] == node["gain"]
    assert_monotone(Trees(fast, np.array([0, len(slow)])), data)


@given(constrained())
@FEWER
def test_kept_histograms_change_nothing_under_bounds(problem):
    data, target, _, weight, growth = problem
    growth = growth._replace(order=BEST_FIRST)
    with mock.patch("treeselect.engine.tree.workspace.ENOUGH_ROWS", 0):
        kept = grow_target(data, target, weight, growth)
    for a, b in zip(kept, grow_target(data, target, weight, growth), strict=True):
        np.testing.assert_array_equal(a, b)


@given(constrained(), st.booleans())
@FEWER
def test_leaves_put_in_order_are_their_naive_twin(problem, scrambled):
    """Trees that obey the constraints stay as they are; with other values they are made to obey."""
    data, target, _, weight, growth = problem
    if target.n_classes > 1:
        target, _ = both_targets(MEAN, target.label.astype(np.int64), weight, None)
    nodes = grow_target(data, target, weight, growth)
    if scrambled:
        other = np.random.default_rng(len(nodes.value)).normal(size=nodes.value.shape)
        nodes = nodes._replace(value=other)
    trees = Trees(nodes, np.array([0, len(nodes.column)]))
    ordered = in_order_of(trees, data.monotone)
    assert_monotone(ordered, data)
    slow = [
        {"column": int(c), "code": int(k), "left": int(n), "value": v, "weight": int(w)}
        for c, k, n, v, w in zip(
            nodes.column, nodes.code, nodes.left, nodes.value, nodes.weight, strict=True
        )
    ]
    in_order(slow, data.monotone if len(data.monotone) else np.zeros(len(data.codes)))
    leaves = nodes.column < 0
    found = np.array([node["value"] for node in slow])
    # Sums of means may be added in another order.
    np.testing.assert_allclose(ordered.nodes.value[leaves], found[leaves], rtol=1e-9, atol=1e-12)
    if not scrambled:
        np.testing.assert_array_equal(ordered.nodes.value[leaves], nodes.value[leaves])


@given(constrained())
@FEWER
def test_no_constraint_is_no_field_of_zeros(problem):
    data, target, _, weight, growth = problem
    none = data._replace(monotone=np.zeros(0, dtype=np.int8))
    zeros = data._replace(monotone=np.zeros(len(data.codes), dtype=np.int8))
    found = [grow_target(d, target, weight, growth) for d in (none, zeros)]
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not len(select_groups(zeros, np.ones(data.n_groups, dtype=bool)).monotone)


def test_several_outputs_have_no_order():
    rng = np.random.default_rng(0)
    from tree_data import make_data

    data = make_data([rng.integers(1, 5, 30)], [False], [0])
    data = data._replace(monotone=np.ones(1, dtype=np.int8))
    target = class_target(rng.integers(0, 3, 30), 3)
    with pytest.raises(DataError, match="`monotone` must be empty for trees of several outputs"):
        grow_target(data, target, np.ones(30, dtype=np.int64), Growth(3, 1, 1, 0.0))
