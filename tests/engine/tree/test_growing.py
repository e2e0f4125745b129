"""Trees against their naive twin, against scikit-learn, under constraints, and in limit cases."""

from unittest import mock

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import (
    EVERYTHING,
    assert_same,
    binned,
    both_targets,
    grow_fast,
    grow_forest,
    grow_target,
    make_data,
    problems,
)

from treeselect.engine.columns import pack_blocks, select_groups
from treeselect.engine.forest.bagging import BOOTSTRAP, first_gains
from treeselect.engine.forest.leaf_values import in_order_of
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.random import tree_seeds
from treeselect.engine.tree.best_first import SharedTree
from treeselect.engine.tree.nodes import Nodes, Trees, empty_nodes
from treeselect.engine.tree.target import (
    GINI,
    MEAN,
    NEWTON,
    VECTOR,
    class_target,
    mean_target,
    newton_target,
    vector_target,
)
from treeselect.engine.tree.used_groups import Opening, SplitPenalty, can_split, n_able, price_list
from treeselect.engine.tree.workspace import (
    BEST_FIRST,
    BREADTH_FIRST,
    DEPTH_FIRST,
    UNBOUNDED,
    Growth,
    Job,
    leaf_table,
    workspace,
)
from treeselect.errors import DataError

COMMON = settings(derandomize=True, max_examples=150)
FEWER = settings(COMMON, max_examples=60)
ORDERS = st.sampled_from([DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST])
KINDS = st.sampled_from([MEAN, NEWTON, GINI, VECTOR])


def assert_is_twin(fast, data, rows, growth, penalty=None, is_open=None, rank=None, seed=0):
    """Grow the naive twin of some nodes, which changes `is_open`, and compare."""
    n = len(data.codes)
    penalty = SplitPenalty(np.ones(n), np.zeros(n)) if penalty is None else penalty
    is_open = np.zeros(data.n_groups, dtype=np.bool_) if is_open is None else is_open
    rank = np.arange(data.n_groups) if rank is None else rank
    slow = naive.grow(data, rows, growth, penalty, is_open, rank, seed)
    assert len(fast.column) == len(slow)
    for i, node in enumerate(slow):
        assert fast.value[i].tolist() == node.pop("value").tolist()
        assert {name: getattr(fast, name)[i] for name in node} == node


def of_nodes(nodes):
    return Trees(nodes, np.array([0, len(nodes.column)]))


@given(
    problems(), KINDS, ORDERS, st.integers(0, 6), st.integers(1, 5),
    st.sampled_from([1, 2, 5, UNBOUNDED]),
)  # fmt: skip
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
    assert_is_twin(fast, data, rows, growth, rank=rank)


@given(
    problems(), KINDS, ORDERS, st.sampled_from([0.0, 0.01, 0.2, 50.0]),
    st.sampled_from([0.0, 0.3, 0.9, 1.0]), st.sampled_from([1, 2, EVERYTHING]),
    st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
@COMMON
def test_penalised_tree_is_its_naive_twin(
    problem, kind, order, cost, scale, n_candidates, all_open, uncentred, late
):
    data, gradient, weight, rng = problem
    target, rows = both_targets(kind, gradient, weight, rng)
    growth = Growth(
        5, 1, n_candidates, 0.0, all_open, order, 12, 0.5, False, late, int(rng.integers(9)) + 1
    )
    rank, n = rng.permutation(data.n_groups), len(data.codes)
    fast_open = rng.random(data.n_groups) < 0.3
    discounts = {
        (int(f), int(g)): float(rng.choice([0, 0.5, 0.9]))
        for f, g in rng.integers(0, data.n_groups, size=(int(rng.integers(5)), 2))
    }
    penalty = SplitPenalty(
        np.full(n, scale) * rng.choice([1, 0.5], n), np.full(n, cost), uncentred,
        float(rng.choice([0.0, 0.25])), discounts,
    )  # fmt: skip
    slow_open = fast_open.copy()
    fast = grow_target(data, target, weight, growth, penalty, fast_open, rank, seed=7)
    stream = int(tree_seeds(7, 1)[0])
    assert_is_twin(fast, data, rows, growth, penalty, slow_open, rank, stream)
    np.testing.assert_array_equal(fast_open, slow_open)


@given(
    st.integers(0, 1000), st.sampled_from([MEAN, NEWTON]),
    st.sampled_from([DEPTH_FIRST, BREADTH_FIRST]), st.integers(2, 40), st.sampled_from([1, 3]),
    st.booleans(), st.booleans(),
)  # fmt: skip
@settings(COMMON, max_examples=40)
def test_the_search_of_many_columns_ends_with_the_best_of_all_divisions(
    seed, kind, order, n_distinct, min_weight, all_open, priced
):
    """More columns than rows: the search of small nodes ends early. Few distinct values, copies of
    columns and whole gradients make many ties."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = 30, 50
    x = rng.integers(n_distinct, size=(n_columns, n_rows)).astype(np.float64)
    x[::5] = x[1]
    x[2, rng.random(n_rows) < 0.3] = np.nan
    data, weight = binned(x.T), rng.integers(3, size=n_rows)
    weight[0] = 1
    target, rows = both_targets(kind, rng.integers(-3, 4, n_rows) / 4, weight, rng)
    growth = Growth(8, min_weight, EVERYTHING, 0.0, all_open, order, min_curvature=0.5)
    rank = rng.permutation(n_columns)
    cost = rng.choice([0.0, 0.01], n_columns) if priced else np.zeros(n_columns)
    penalty = SplitPenalty(np.ones(n_columns), cost)
    fast_open = rng.random(n_columns) < 0.1
    slow_open = fast_open.copy()
    fast = grow_target(data, target, weight, growth, penalty, fast_open, rank)
    assert_is_twin(fast, data, rows, growth, penalty, slow_open, rank)
    np.testing.assert_array_equal(fast_open, slow_open)


@given(problems(max_rows=12), st.booleans())
@COMMON
def test_groups_that_can_split_are_those_of_the_naive_twin(problem, real):
    data, _, weight, rng = problem
    weight = weight * rng.integers(0, 2, len(weight)) * (0.5 if real else 1)
    expected = naive.can_split(data, weight)
    np.testing.assert_array_equal(can_split(data, weight), expected)
    assert n_able(data, weight) == max(expected.sum(), 1)


@given(problems(), ORDERS, st.integers(1, 3))
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
    penalty, fewer = (
        SplitPenalty(np.full(len(d.codes), 0.7), np.zeros(len(d.codes))) for d in (data, part)
    )
    a = grow_fast(data, gradient, weight, growth, penalty, is_open.copy(), rank)
    b = grow_fast(part, gradient, weight, growth, fewer, is_open[able], rank[able])
    kept = np.append(np.flatnonzero(able[data.group_of]), -1)  # -1 is a leaf, and stays one
    np.testing.assert_array_equal(a.column, kept[b.column])
    np.testing.assert_array_equal(a.gain, b.gain)


@given(problems(max_rows=300), st.sampled_from([MEAN, NEWTON]), st.booleans())
@COMMON
def test_kept_histograms_and_threads_change_nothing(problem, kind, is_priced):
    """Differences of histograms, shared between threads or not, against columns by themselves."""
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
            if n_threads == 1:
                nodes = grow_target(data, target, weight, growth, penalty, is_open)
            else:
                nodes = shared_tree(data, target, weight, growth, penalty, is_open, n_threads)
            grown.append((*nodes, is_open))
    for other in grown[1:]:
        assert_same(grown[0], other)


def shared_tree(data, target, weight, growth, penalty, is_open, n_threads):
    work = workspace(data, target, weight)
    table = leaf_table(data, target, growth, data.n_rows)
    nodes = empty_nodes(2 * data.n_rows)
    prices = price_list(penalty, data, is_open)
    opening = Opening(prices, is_open, np.arange(data.n_groups), True)
    with SharedTree(data, target, table, n_threads) as grower:
        n_nodes = grower.grow(Job(data, target, weight, growth), opening, work, nodes)
    return Nodes(*(a[:n_nodes] for a in nodes))


@given(problems(), st.sampled_from([MEAN, NEWTON, GINI]), st.integers(1, 5))
@FEWER
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


# --- what must not change a tree -----------------------------------------------------------------


@given(problems(), st.integers(0, 10))
@FEWER
def test_neither_the_order_of_rows_nor_a_copy_of_a_column_changes_the_tree(problem, copied):
    data, gradient, weight, rng = problem
    growth = Growth(5, 1, EVERYTHING, 0.0)
    before = grow_fast(data, gradient, weight, growth)
    order, j = rng.permutation(data.n_rows), copied % len(data.codes)
    columns = [data.column(k) for k in range(len(data.codes))]
    shuffled = make_data([c[order] for c in columns], data.is_factor, data.group_of)
    assert_same(before, grow_fast(shuffled, gradient[order], weight[order], growth))
    factors, groups = [*data.is_factor, data.is_factor[j]], [*data.group_of, data.n_groups]
    more = make_data([*columns, columns[j]], factors, groups)
    assert_same(before, grow_fast(more, gradient, weight, growth))


@given(problems(), st.sampled_from(["mean", "newton", "vector"]))
@FEWER
def test_a_row_that_counts_twice_is_two_rows_to_the_last_bit(problem, kind):
    data, gradient, weight, rng = problem
    exact = gradient * 0.1 + 0.037  # whole numbers have no rounding errors
    curved = 0.013 + 0.21 * rng.integers(0, 4, size=len(exact))

    def tree(rows, counts):
        target = {
            "mean": lambda: mean_target(exact[rows]),
            "newton": lambda: newton_target(exact[rows], curved[rows]),
            "vector": lambda: vector_target(np.stack([exact, curved, exact * curved], 1)[rows]),
        }[kind]()
        own = make_data([data.column(j)[rows] for j in range(len(data.codes))], data.is_factor,
                        data.group_of)  # fmt: skip
        return grow_target(own, target, counts, Growth(5, 1, EVERYTHING, 0.0))

    written_out = np.repeat(np.arange(len(exact)), weight)
    ones = np.ones(len(written_out), dtype=np.int64)
    assert_same(tree(np.arange(len(exact)), weight), tree(written_out, ones))


@pytest.mark.parametrize("weight", [1, 3, 200_000])
def test_rows_of_one_value_are_not_split(weight):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4))
    y, counts = np.where(x[:, 0] > 0, 1.3, 0.1), np.full(200, weight)
    forest = grow_forest(
        binned(x), mean_target(y), counts, Growth(UNBOUNDED, 1, EVERYTHING, 0.0), 20, BOOTSTRAP
    )
    assert np.diff(forest.trees.start).tolist() == [3] * 20


def test_columns_of_opened_groups_are_free_and_few_groups_are_tried():
    x, z = np.repeat([1, 2], 40), np.tile([1, 2], 40)
    gradient, weight = 4 * (x == 2) + 1 * (z == 2), np.ones(80, dtype=np.int64)
    # Splitting on z gains 0.125 in each half: not worth opening a group at a price of 1.
    penalty, growth = SplitPenalty(np.ones(2), np.ones(2)), Growth(2, 1, EVERYTHING, 0.0)
    for groups, split in (([0, 1], [0]), ([0, 0], [0, 1, 1])):
        data = make_data([x, z], [False] * 2, groups)
        found = grow_fast(data, gradient, weight, growth, penalty).column
        assert found[found >= 0].tolist() == split
    data, target, weight = some_numbers(5)
    growth = Growth(99, 2, 2, 0.0)
    first, *others = (
        grow_forest(data, target, weight, growth, 13, BOOTSTRAP, n_threads=n).trees
        for n in (1, 2, 3)
    )
    for other in others:
        assert_same(first.nodes, other.nodes)
    assert len(set(first.nodes.column[first.start[:-1]])) > 1  # roots did not all see the best
    np.testing.assert_array_equal(predict_mean(first, data), predict_mean(first, data, n_threads=2))


def some_numbers(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(400, 6)).round(1)
    return binned(x), mean_target(x[:, 0] + rng.normal(size=400)), rng.integers(0, 3, size=400)


def test_forest_in_small_chunks_is_the_same(monkeypatch):
    whole = grow_forest(*some_numbers(6), n_trees=9, sampling=BOOTSTRAP).trees
    monkeypatch.setattr("treeselect.engine.forest.bagging._ROOM", 1)
    pieces = grow_forest(*some_numbers(6), n_trees=9, sampling=BOOTSTRAP).trees
    np.testing.assert_array_equal(whole.start, pieces.start)
    assert_same(whole.nodes, pieces.nodes)


# --- monotone constraints ------------------------------------------------------------------------


@st.composite
def constrained(draw):
    """A problem with constraints on some of its numbers, its targets and rules of growth."""
    data, gradient, weight, rng = draw(problems())
    signs = rng.integers(-1, 2, len(data.codes)) * ~data.is_factor
    data = data._replace(monotone=signs.astype(np.int8))
    kind = draw(st.sampled_from([MEAN, NEWTON, GINI]))
    if kind == GINI:
        label = (gradient > 0).astype(np.int64)
        target = class_target(label, 2)
        rows = naive.Rows(GINI, weight, 0 * weight, label, weight, 2)
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
def test_bounded_tree_is_its_naive_twin_and_is_monotone_with_kept_histograms_too(problem):
    data, target, rows, weight, growth = problem
    fast = grow_target(data, target, weight, growth)
    assert_is_twin(fast, data, rows, growth)
    assert_monotone(of_nodes(fast), data)
    growth = growth._replace(order=BEST_FIRST)
    with mock.patch("treeselect.engine.tree.workspace.ENOUGH_ROWS", 0):
        kept = grow_target(data, target, weight, growth)
    assert_same(kept, grow_target(data, target, weight, growth))


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
    ordered = in_order_of(of_nodes(nodes), data.monotone)
    assert_monotone(ordered, data)
    slow = [
        {"column": int(c), "code": int(k), "left": int(n), "value": v, "weight": int(w)}
        for c, k, n, v, w in zip(
            nodes.column, nodes.code, nodes.left, nodes.value, nodes.weight, strict=True
        )
    ]
    naive.in_order(slow, data.monotone if len(data.monotone) else np.zeros(len(data.codes)))
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
    none, zeros = (data._replace(monotone=np.zeros(n, dtype=np.int8)) for n in (0, len(data.codes)))
    assert_same(*(grow_target(d, target, weight, growth) for d in (none, zeros)))
    assert not len(select_groups(zeros, np.ones(data.n_groups, dtype=bool)).monotone)


def test_several_outputs_have_no_order():
    rng = np.random.default_rng(0)
    data = make_data([rng.integers(1, 5, 30)], [False], [0])
    data = data._replace(monotone=np.ones(1, dtype=np.int8))
    target = class_target(rng.integers(0, 3, 30), 3)
    with pytest.raises(DataError, match="`monotone` must be empty for trees of several outputs"):
        grow_target(data, target, np.ones(30, dtype=np.int64), Growth(3, 1, 1, 0.0))
