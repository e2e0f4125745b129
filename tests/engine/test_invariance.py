"""What must not change a tree."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import grow_fast, make_data, problems

from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import Growth

COMMON = settings(deadline=None, derandomize=True, max_examples=60)
GROWTH = Growth(5, 1, 1_000, 0.0)


@given(problems())
@COMMON
def test_order_of_rows_does_not_change_the_tree(problem):
    data, gradient, weight, rng = problem
    order = rng.permutation(data.n_rows)
    columns = [data.column(j)[order] for j in range(len(data.codes))]
    shuffled = make_data(columns, data.is_factor, data.group_of)
    before = grow_fast(data, gradient, weight, GROWTH)
    after = grow_fast(shuffled, gradient[order], weight[order], GROWTH)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


@given(problems(), st.integers(0, 10))
@COMMON
def test_a_copy_of_a_column_does_not_change_the_gains(problem, copied):
    data, gradient, weight, _ = problem
    j = copied % len(data.codes)
    more = make_data(
        [*(data.column(k) for k in range(len(data.codes))), data.column(j)],
        [*data.is_factor, data.is_factor[j]],
        [*data.group_of, data.n_groups],
    )
    before = grow_fast(data, gradient, weight, GROWTH)
    after = grow_fast(more, gradient, weight, GROWTH)
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
