"""Trees under monotone constraints against their naive twin, and along the constrained columns."""

from __future__ import annotations

from unittest import mock

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_bounds import in_order
from tree_data import EVERYTHING, both_targets, grow_target, problems

from treeselect.engine.columns import pack_blocks, select_groups
from treeselect.engine.forest.leaf_values import in_order_of
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.tree.nodes import Trees
from treeselect.engine.tree.target import GINI, MEAN, NEWTON, class_target
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, BREADTH_FIRST, DEPTH_FIRST, Growth
from treeselect.errors import DataError

COMMON = settings(deadline=None, derandomize=True, max_examples=60)
ORDERS = st.sampled_from([DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST])


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
@COMMON
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
@COMMON
def test_kept_histograms_change_nothing_under_bounds(problem):
    data, target, _, weight, growth = problem
    growth = growth._replace(order=BEST_FIRST)
    with mock.patch("treeselect.engine.tree.workspace.ENOUGH_ROWS", 0):
        kept = grow_target(data, target, weight, growth)
    for a, b in zip(kept, grow_target(data, target, weight, growth), strict=True):
        np.testing.assert_array_equal(a, b)


@given(constrained(), st.booleans())
@COMMON
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
@COMMON
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
